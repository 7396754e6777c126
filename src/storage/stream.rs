//! Elements copied from streams and files, with memory that follows what is there.

use crate::dtype::{ByteOrder, FileElement};
use crate::error::{Error, Result};
use crate::memory::{try_reserve_exact, try_with_capacity};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Checks that `len` elements from `offset_bytes` on lie inside the `found` bytes there are.
pub(super) fn check_present<T>(offset_bytes: u64, len: usize, found: u64) -> Result<()> {
    let expected = data_bytes::<T>(len).saturating_add(offset_bytes);
    if expected > found { Err(Error::Truncated { expected, found }) } else { Ok(()) }
}

fn data_bytes<T>(len: usize) -> u64 {
    (len as u64).saturating_mul(size_of::<T>() as u64)
}

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Copies the next `len` elements of a stream.
///
/// A stream does not say how long it is, so memory grows with what arrives: at most twice the bytes
/// present, and a constant. What follows the elements stays unread.
///
/// # Errors
///
/// [`Error::Truncated`] if the stream ends early (both numbers count bytes of elements),
/// [`Error::InvalidValue`] for a byte that is no value, [`Error::OutOfMemory`], and [`Error::Io`].
///
/// ```
/// use lensor::{dtype::ByteOrder, storage::read_elements};
/// let mut stream = &[0_u8, 1, 0, 2, 9][..];
/// assert_eq!(read_elements::<i16>(&mut stream, 2, ByteOrder::Big)?, [1, 2]);
/// assert_eq!(stream, [9]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read_elements<T: FileElement>(
    source: impl Read,
    len: usize,
    order: ByteOrder,
) -> Result<Vec<T>> {
    read_into(Vec::new(), source, len, order)
}

/// Copies `len` elements of a file from `offset_bytes` on: the safe twin of a memory map.
///
/// The position of the file is moved.
///
/// # Errors
///
/// As for [`read_elements`], but truncation is found before anything is allocated, and
/// [`Error::Truncated`] counts from the start of the file.
///
/// ```
/// use lensor::{Error, dtype::ByteOrder, storage::read_elements_at};
/// use std::io::Write;
/// let mut file = tempfile::tempfile()?;
/// file.write_all(b"head\x01\x00\x02\x00")?;
/// assert_eq!(read_elements_at::<u16>(&file, 4, 2, ByteOrder::Little)?, [1, 2]);
/// let error = read_elements_at::<u16>(&file, 4, 3, ByteOrder::Little).unwrap_err();
/// assert_eq!(error, Error::Truncated { expected: 10, found: 8 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_elements_at<T: FileElement>(
    mut file: &File,
    offset_bytes: u64,
    len: usize,
    order: ByteOrder,
) -> Result<Vec<T>> {
    check_present::<T>(offset_bytes, len, file.metadata()?.len())?;
    file.seek(SeekFrom::Start(offset_bytes))?;
    read_into(try_with_capacity(len)?, file, len, order)
}

fn read_into<T: FileElement>(
    mut out: Vec<T>,
    mut source: impl Read,
    len: usize,
    order: ByteOrder,
) -> Result<Vec<T>> {
    let size = size_of::<T>();
    let mut block = try_with_capacity(len.min(BLOCK_BYTES / size))?;
    block.resize(len.min(BLOCK_BYTES / size), <T::Bytes as bytemuck::Zeroable>::zeroed());
    while out.len() < len {
        let count = block.len().min(len - out.len());
        let found = fill(&mut source, bytemuck::cast_slice_mut(&mut block[..count]))?;
        if found < count * size {
            let found = data_bytes::<T>(out.len()) + found as u64;
            return Err(Error::Truncated { expected: data_bytes::<T>(len), found });
        }
        if out.capacity() - out.len() < count {
            let growth = out.len().max(count).min(len - out.len());
            try_reserve_exact(&mut out, growth)?;
        }
        for &bytes in &block[..count] {
            let index = out.len();
            let value = T::from_bytes(order.convert::<T>(bytes));
            out.push(value.map_err(|byte| Error::InvalidValue { index, byte })?);
        }
    }
    Ok(out)
}

/// Fills `buffer` as far as the source goes; returns how far.
pub(crate) fn fill(source: impl Read, buffer: &mut [u8]) -> Result<usize> {
    let (mut source, mut filled) = (Checked(source), 0);
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// A stream of others. One that reports more bytes than it was given room for fails; the standard library
/// would believe it, and panic.
pub(crate) struct Checked<S>(pub(crate) S);

impl<S: Read> Read for Checked<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        checked(self.0.read(buffer)?, buffer.len())
    }
}

impl<S: Write> Write for Checked<S> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        checked(self.0.write(buffer)?, buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn checked(count: usize, limit: usize) -> io::Result<usize> {
    if count <= limit {
        return Ok(count);
    }
    let text = format!("a stream reported {count} bytes of at most {limit}");
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}
