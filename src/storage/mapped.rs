//! Elements of a file mapped into memory.
#![allow(unsafe_code, reason = "mapping a file is a promise about what others do to it")]

use super::Encoded;
use super::stream::check_present;
use crate::dtype::{ByteOrder, MapElement};
use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::fs::File;
use std::sync::Arc;

/// Elements of a file, mapped read-only. The safe twin
/// [`read_elements_at`](super::read_elements_at) takes the same arguments and copies.
///
/// ```
/// use lensor::dtype::ByteOrder;
/// use lensor::storage::{Mapped, read_elements_at};
/// use lensor::Tensor;
/// use std::io::Write;
///
/// let mut file = tempfile::tempfile()?;
/// file.write_all(&[0xff, 0, 1, 0, 2])?;
///
/// // SAFETY: the file has no name, so nobody else can change it.
/// let numbers = unsafe { Mapped::<i16>::map(&file, 1, 2, ByteOrder::Big) }?;
/// assert_eq!(Tensor::new([2], numbers)?.to_vec()?, [1, 2]);
/// assert_eq!(read_elements_at::<i16>(&file, 1, 2, ByteOrder::Big)?, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Mapped<T> = Encoded<T, Mmap>;

/// Elements of a file, mapped so that writing them writes the file.
///
/// ```
/// use lensor::dtype::ByteOrder;
/// use lensor::storage::{MappedMut, read_elements_at};
/// use lensor::Writer;
///
/// let file = tempfile::tempfile()?;
/// file.set_len(16)?;
/// // SAFETY: the file has no name, so nobody else can change it.
/// let mut numbers = unsafe { MappedMut::<f64>::map_mut(&file, 0, 2, ByteOrder::Little) }?;
/// numbers.write(1, 2.5);
/// numbers.flush()?;
/// assert_eq!(read_elements_at::<f64>(&file, 0, 2, ByteOrder::Little)?, [0.0, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MappedMut<T> = Encoded<T, MmapMut>;

impl<T: MapElement> Encoded<T, Mmap> {
    /// Maps `len` elements of `file` from `offset_bytes` on. Reads nothing yet.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] if the elements reach beyond the end of the
    /// file, [`Error::Io`] if the operating system refuses.
    ///
    /// # Safety
    ///
    /// For as long as the result lives, nobody, in this process or another, may truncate the file
    /// or modify the mapped bytes. Reading pages that were cut off kills the process (SIGBUS), and
    /// a slice of elements that change under it is undefined behaviour. File locks are advisory and
    /// prevent neither.
    ///
    /// ```
    /// use lensor::dtype::ByteOrder;
    /// use lensor::{Error, Tensor, storage::Mapped};
    /// use std::io::Write;
    /// let mut file = tempfile::tempfile()?;
    /// file.write_all(b"head\x01\x00\x02\x00")?;
    /// // SAFETY: the file has no name, so nobody else can change it.
    /// let numbers = unsafe { Mapped::<u16>::map(&file, 4, 2, ByteOrder::Little) }?;
    /// assert_eq!(Tensor::new([2], numbers)?.flip(0)?.to_vec()?, [2, 1]);
    /// // SAFETY: as above.
    /// let beyond = unsafe { Mapped::<u16>::map(&file, 4, 3, ByteOrder::Little) };
    /// assert_eq!(beyond.unwrap_err(), Error::Truncated { expected: 10, found: 8 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn map(
        file: &File,
        offset_bytes: u64,
        len: usize,
        order: ByteOrder,
    ) -> Result<Self> {
        let window = window::<T>(file, offset_bytes, len)?;
        // SAFETY: `window` checked that the range lies inside the file; that it stays so, and that
        // nobody writes to it, is the contract of this function.
        Self::new(unsafe { window.map(file) }?, 0, len, order)
    }
}

impl<T: MapElement> Encoded<T, MmapMut> {
    /// Maps `len` elements of `file`, opened for reading and writing, from `offset_bytes` on.
    ///
    /// # Errors
    ///
    /// As for [`Mapped::map`].
    ///
    /// # Safety
    ///
    /// As for [`Mapped::map`], and no other map of these bytes may be read while this one is written.
    /// Writing to a hole of a sparse file on a full disk kills the process as well.
    ///
    /// ```
    /// use lensor::dtype::ByteOrder;
    /// use lensor::storage::{MappedMut, read_elements_at};
    /// use lensor::Tensor;
    /// let file = tempfile::tempfile()?;
    /// file.set_len(6)?; // of zeros
    /// // SAFETY: the file has no name, so nobody else can change it.
    /// let numbers = unsafe { MappedMut::<u16>::map_mut(&file, 2, 2, ByteOrder::Big) }?;
    /// Tensor::new([2], numbers)?.assign(&Tensor::from(vec![1, 2]))?;
    /// assert_eq!(read_elements_at::<u8>(&file, 0, 6, ByteOrder::Big)?, [0, 0, 0, 1, 0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn map_mut(
        file: &File,
        offset_bytes: u64,
        len: usize,
        order: ByteOrder,
    ) -> Result<Self> {
        let window = window::<T>(file, offset_bytes, len)?;
        // SAFETY: `window` checked that the range lies inside the file; that it stays so, and that
        // nobody else writes to it or maps it, is the contract of this function.
        Self::new(unsafe { window.map_mut(file) }?, 0, len, order)
    }

    /// Waits until everything written so far has reached the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with what the operating system reports.
    ///
    /// ```
    /// use lensor::dtype::ByteOrder;
    /// use lensor::{Tensor, storage::MappedMut};
    /// let file = tempfile::tempfile()?;
    /// file.set_len(4)?;
    /// // SAFETY: the file has no name, so nobody else can change it.
    /// let numbers = unsafe { MappedMut::<u8>::map_mut(&file, 0, 4, ByteOrder::NATIVE) }?;
    /// let mut t = Tensor::new([2, 2], numbers)?;
    /// t.view_mut().select((1,))?.fill(7)?;
    /// let mut numbers = t.into_storage();
    /// numbers.flush()?; // from here on it outlives a loss of power
    /// assert_eq!(numbers.bytes()[..], [0, 0, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.bytes_mut().flush()?)
    }
}

/// A whole file mapped read-only, shared by all who hold a clone: the tensors of one file, say.
///
/// ```
/// use lensor::dtype::ByteOrder;
/// use lensor::storage::{Encoded, SharedMap};
/// use lensor::Tensor;
/// use std::io::Write;
///
/// let mut file = tempfile::tempfile()?;
/// file.write_all(&[1, 2, 3, 0, 4, 0])?;
/// // SAFETY: the file has no name, so nobody else can change it.
/// let map = unsafe { SharedMap::map(&file) }?;
/// let bytes = Tensor::new([2], Encoded::<u8, _>::new(map.clone(), 0, 2, ByteOrder::Little)?)?;
/// let words = Tensor::new([2], Encoded::<u16, _>::new(map, 2, 2, ByteOrder::Little)?)?;
/// assert_eq!((bytes.to_vec()?, words.to_vec()?), (vec![1, 2], vec![3, 4]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedMap(Arc<Mmap>);

impl SharedMap {
    /// Maps all of `file`. Reads nothing yet.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the operating system refuses.
    ///
    /// # Safety
    ///
    /// As for [`Mapped::map`], for as long as a clone lives.
    pub unsafe fn map(file: &File) -> Result<Self> {
        // SAFETY: that nobody truncates or writes the file is the contract of this function.
        Ok(Self(Arc::new(unsafe { Mmap::map(file) }?)))
    }
}

impl AsRef<[u8]> for SharedMap {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The range of `file` to map, checked here before the operating system sees it.
fn window<T>(file: &File, offset_bytes: u64, len: usize) -> Result<MmapOptions> {
    check_present::<T>(offset_bytes, len, file.metadata()?.len())?;
    let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
    let mut window = MmapOptions::new();
    window.offset(offset_bytes).len(bytes);
    Ok(window)
}
