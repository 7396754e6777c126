//! Text files, read line by line in memory that follows what is there, and written in blocks.

use crate::dtype::{SameBits, TextElement};
use crate::error::{Error, Result};
use crate::memory::text;
use crate::shape::Shape;
use crate::storage::{Checked, Duplicates, Reader, Sparse};
use crate::tensor::Tensor;
use crate::tensor::stored::{Entries, entries_of};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{BufRead, BufReader, Read, Write};

/// Longest line accepted, in bytes.
const LINE_LIMIT: usize = 1 << 12;
/// How much of a line an error shows, in bytes.
const SHOWN: usize = 64;
/// Bytes from which on text is handed to the sink.
const BLOCK_BYTES: usize = 1 << 16;

/// The lines of a stream, counted.
pub(super) struct Lines<R> {
    source: BufReader<Checked<R>>,
    line: Vec<u8>,
    /// Number of the current line, from 1.
    number: usize,
    /// What begins a line that is no content.
    comment: u8,
    /// Bytes read so far.
    read: usize,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R, comment: u8) -> Self {
        let source = BufReader::new(Checked(source));
        Self { source, line: Vec::new(), number: 0, comment, read: 0 }
    }

    /// The next line as it is, without white space around it; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Cow<'_, str>>> {
        let found = self.advance()?;
        Ok(found.then(|| String::from_utf8_lossy(self.line.trim_ascii())))
    }

    /// The next line that is neither empty nor a comment, with its number; `None` at the end.
    pub(super) fn next_content(&mut self) -> Result<Option<Content<'_>>> {
        while self.advance()? {
            let first = self.line.trim_ascii().first();
            if first.is_some_and(|&first| first != self.comment) {
                let text = String::from_utf8_lossy(self.line.trim_ascii());
                return Ok(Some(Content { text, line: self.number }));
            }
        }
        Ok(None)
    }

    /// Reads a line, and returns whether there was one.
    fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        // The longest line, with its end.
        let limit = LINE_LIMIT as u64 + 2;
        let read = (&mut self.source).take(limit).read_until(b'\n', &mut self.line)?;
        self.number = self.number.saturating_add(usize::from(read > 0));
        self.read = self.read.saturating_add(read);
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        if text.strip_suffix(b"\r").unwrap_or(text).len() > LINE_LIMIT {
            return Err(self.error("a line of at most 4096 bytes"));
        }
        Ok(read > 0)
    }

    /// Number of the line read last, from 1.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Bytes of the lines read so far.
    pub(super) fn bytes(&self) -> usize {
        self.read
    }

    /// An error at the line read last.
    pub(super) fn error(&self, expected: &'static str) -> Error {
        error(self.number, expected, &String::from_utf8_lossy(self.line.trim_ascii()))
    }

    /// An error at the end of the file.
    pub(super) fn end(&self, expected: &'static str) -> Error {
        error(self.number.saturating_add(1), expected, "")
    }
}

/// A line with its number.
pub(super) struct Content<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) line: usize,
}

impl Content<'_> {
    /// An error at this line.
    pub(super) fn error(&self, expected: &'static str) -> Error {
        error(self.line, expected, &self.text)
    }

    /// An index of a file, from 1, as one from 0.
    pub(super) fn index(&self, word: &str, axis: usize, extent: usize) -> Result<usize> {
        let index = self.number(word, "an index, a positive integer")?;
        match index.checked_sub(1).filter(|&index| index < extent) {
            Some(index) => Ok(index),
            None => Err(Error::LineIndex { line: self.line, axis, index, extent }),
        }
    }

    /// A word of digits alone.
    pub(super) fn number(&self, word: &str, expected: &'static str) -> Result<usize> {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|_| digits).ok_or_else(|| self.error(expected))
    }
}

fn error(line: usize, expected: &'static str, found: &str) -> Error {
    let end = (0..=SHOWN.min(found.len())).rev().find(|&end| found.is_char_boundary(end));
    Error::Line { line, expected, found: found[..end.unwrap_or(0)].to_owned() }
}

/// The tensor of these entries and zeros; entries of one address are merged.
pub(super) fn sparse<T: TextElement>(
    shape: &Shape,
    addresses: Vec<usize>,
    values: Vec<T>,
) -> Result<Tensor<Sparse<T>>> {
    let merge = Duplicates::Combine(T::merged);
    let count = shape.count()?;
    Tensor::new(shape, Sparse::from_coordinates(count, T::ZERO, addresses, values, merge)?)
}

/// The stored entries of a tensor, as files list them: those of which all others are zero. They are borrowed where they
/// lie in memory in row-major order from address 0 on.
pub(super) fn entries<'t, S: Reader<Elem: SameBits>>(
    tensor: &'t Tensor<S>,
    what: &'static str,
    zero: S::Elem,
) -> Result<Entries<'t, S::Elem>> {
    let stored = tensor.storage().stored().ok_or(Error::NotSparse { what, argument: 1 })?;
    if stored.fill().same_bits(zero) {
        entries_of(tensor.address_map(), stored)
    } else {
        Err(Error::FillNotZero { what, argument: 1 })
    }
}

/// Text on its way to a file, handed over in blocks of lines.
pub(super) struct TextWriter<W> {
    sink: Checked<W>,
    text: String,
}

impl<W: Write> TextWriter<W> {
    pub(super) fn new(sink: W) -> Result<Self> {
        Ok(Self { sink: Checked(sink), text: text(BLOCK_BYTES + LINE_LIMIT)? })
    }

    pub(super) fn push(&mut self, words: impl Display) {
        // Strings take everything.
        let _ = write!(self.text, "{words}");
    }

    pub(super) fn push_value(&mut self, value: impl TextElement) {
        value.push_words(&mut self.text);
    }

    pub(super) fn end_line(&mut self) -> Result<()> {
        self.text.push('\n');
        if self.text.len() >= BLOCK_BYTES {
            self.sink.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    /// Hands over the rest, and all that the sink keeps for later: its errors would be lost.
    pub(super) fn finish(mut self) -> Result<()> {
        self.sink.write_all(self.text.as_bytes())?;
        Ok(self.sink.flush()?)
    }
}
