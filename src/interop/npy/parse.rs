//! The text of a header: one Python dict literal, read from left to right without recursion.

use crate::error::{Error, Result};
use crate::shape::Shape;

/// Longest string, in bytes. Names of fields may be longer than any key or type.
const STRING_LIMIT: usize = 256;
/// Most digits of an extent: those of 2^64 - 1.
const DIGIT_LIMIT: usize = 20;
/// Longest word, in bytes.
const WORD_LIMIT: usize = 8;
/// How much of a type that is no string is shown, in bytes.
const SHOWN: usize = 64;

/// The three values of the dict.
pub(super) struct Fields {
    pub(super) descr: String,
    pub(super) fortran: bool,
    pub(super) shape: Shape,
}

/// Reads the dict in `header[start..]`, where `header` starts with the file, so that positions are
/// those in the file.
pub(super) fn parse(header: &[u8], start: usize) -> Result<Fields> {
    Parser { header, at: start }.dict()
}

struct Parser<'a> {
    header: &'a [u8],
    /// Position of the next byte.
    at: usize,
}

impl<'a> Parser<'a> {
    fn dict(&mut self) -> Result<Fields> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{', "'{'")?;
        while !self.accept(b'}') {
            let offset = self.at;
            let key = self.string()?;
            self.expect(b':', "':'")?;
            match key {
                b"descr" if descr.is_none() => descr = Some(self.descr()?),
                b"fortran_order" if fortran.is_none() => fortran = Some(self.boolean()?),
                b"shape" if shape.is_none() => shape = Some(self.shape()?),
                _ => {
                    let expected = "'descr', 'fortran_order' and 'shape', once each";
                    return Err(Error::Header { offset, expected });
                }
            }
            if !self.accept(b',') {
                self.expect(b'}', "',' or '}'")?;
                break;
            }
        }
        self.skip_space();
        if self.at < self.header.len() {
            return Err(self.error("white space up to the end of the header"));
        }
        Ok(Fields {
            descr: descr.ok_or_else(|| self.error("a value for 'descr'"))?,
            fortran: fortran.ok_or_else(|| self.error("a value for 'fortran_order'"))?,
            shape: shape.ok_or_else(|| self.error("a value for 'shape'"))?,
        })
    }

    /// The name of a type; of a type with structure, its text, shortened.
    fn descr(&mut self) -> Result<String> {
        self.skip_space();
        let start = self.at;
        if !matches!(self.peek(), Some(b'[' | b'(')) {
            return Ok(String::from_utf8_lossy(self.string()?).into_owned());
        }
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.error("a closing bracket")),
                Some(b'\'' | b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'[' | b'(') => depth += 1,
                Some(b']' | b')') => depth -= 1,
                Some(_) => {}
            }
            self.at += 1;
            if depth == 0 {
                let shown = &self.header[start..self.at.min(start + SHOWN)];
                return Ok(String::from_utf8_lossy(shown).into_owned());
            }
        }
    }

    fn boolean(&mut self) -> Result<bool> {
        self.skip_space();
        let start = self.at;
        match self.run(WORD_LIMIT, u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(Error::Header { offset: start, expected: "True or False" }),
        }
    }

    /// A tuple: with one extent it needs its comma, `(3)` is a number.
    fn shape(&mut self) -> Result<Shape> {
        let mut extents = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.accept(b')') {
            extents.push(self.extent()?);
            if !self.accept(b',') {
                if extents.len() == 1 {
                    return Err(self.error("','"));
                }
                self.expect(b')', "',' or ')'")?;
                break;
            }
        }
        Ok(Shape::from(extents))
    }

    /// A number, with the suffix that Python 2 gave to long ones.
    fn extent(&mut self) -> Result<usize> {
        self.skip_space();
        let start = self.at;
        let digits = self.run(DIGIT_LIMIT, u8::is_ascii_digit);
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        let fits = !self.peek().is_some_and(|byte| byte.is_ascii_digit());
        if self.peek() == Some(b'L') {
            self.at += 1;
        }
        let expected = "an extent that fits in usize";
        value.filter(|_| fits).ok_or(Error::Header { offset: start, expected })
    }

    /// A string in either quotes. Neither keys nor types need an escape, so there are none.
    fn string(&mut self) -> Result<&'a [u8]> {
        self.skip_space();
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.error("a string")),
        };
        self.at += 1;
        let text = self.run(STRING_LIMIT, |&byte| byte != quote && byte != b'\\');
        if self.peek() != Some(quote) {
            return Err(self.error("a closing quote"));
        }
        self.at += 1;
        Ok(text)
    }

    /// The next bytes that are as `wanted`, at most `limit` of them.
    fn run(&mut self, limit: usize, wanted: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.header[self.at..];
        let len = rest.iter().take(limit).take_while(|byte| wanted(byte)).count();
        self.at += len;
        &rest[..len]
    }

    /// Skips white space; says whether `byte` followed, and skips it too.
    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<()> {
        if self.accept(byte) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn skip_space(&mut self) {
        self.run(usize::MAX, u8::is_ascii_whitespace);
    }

    fn peek(&self) -> Option<u8> {
        self.header.get(self.at).copied()
    }

    fn error(&self, expected: &'static str) -> Error {
        Error::Header { offset: self.at, expected }
    }
}
