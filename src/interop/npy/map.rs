//! Arrays that stay in their files.
#![allow(
    unsafe_code,
    reason = "hands on the promise that mapping a file asks for, unsafe to unsafe"
)]

use super::Header;
use crate::dtype::{ByteOrder, FileElement, MapElement};
use crate::error::Result;
use crate::interop::file;
use crate::shape::Shape;
use crate::storage::{Mapped, MappedMut};
use crate::tensor::Tensor;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Maps the array of a file into memory; [`open`](super::open) is the safe twin that copies.
///
/// NumPy aligns data to 64 bytes, so a file of this machine's byte order is one slice.
///
/// # Errors
///
/// As for [`open`](super::open).
///
/// # Safety
///
/// As for [`Mapped::map`]: nobody may truncate or modify the file while the tensor lives.
/// [`save`](super::save) to its name does neither: it makes another file.
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, &Tensor::from_vec([2], vec![1.5, 2.5])?)?;
/// // SAFETY: the file is in a directory of our own.
/// let t = unsafe { npy::map::<f64>(&path) }?;
/// assert_eq!(t.storage().try_slice()?, [1.5, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn map<T>(path: impl AsRef<Path>) -> Result<Tensor<Mapped<T>>>
where
    T: MapElement,
{
    file::open(path.as_ref(), |file| {
        let header = checked::<T>(file)?;
        let (offset, order) = (header.data_offset() as u64, header.byte_order());
        // SAFETY: `Mapped::map` checks the range; that the file stays is the contract of this function.
        header.tensor(unsafe { Mapped::map(file, offset, header.count(), order) }?)
    })
}

/// Maps the array of a file into memory, so that writing the tensor writes the file.
///
/// # Errors
///
/// As for [`open`](super::open).
///
/// # Safety
///
/// As for [`MappedMut::map_mut`]: while the tensor lives, nobody may truncate or modify the file, or
/// map it a second time.
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, &Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?)?;
/// // SAFETY: the file is in a directory of our own, and there is no other map of it.
/// let mut t = unsafe { npy::map_mut::<f64>(&path) }?;
/// t.view_mut().select((.., 0))?.fill(0.0)?;
/// t.into_storage().flush()?;
/// assert_eq!(npy::open::<f64>(&path)?.to_vec()?, [0.0, 2.0, 0.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn map_mut<T>(path: impl AsRef<Path>) -> Result<Tensor<MappedMut<T>>>
where
    T: MapElement,
{
    file::open_with(File::options().read(true).write(true), path.as_ref(), |file| {
        let header = checked::<T>(file)?;
        let (offset, order) = (header.data_offset() as u64, header.byte_order());
        // SAFETY: as in `map`.
        header.tensor(unsafe { MappedMut::map_mut(file, offset, header.count(), order) }?)
    })
}

/// Makes a file of zeros, which replaces one of the same name as [`save`](super::save) does, and maps it so that
/// it can be written.
///
/// Blocks of zeros take no room on most file systems until they are written.
///
/// # Errors
///
/// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) and [`Error::RankLimit`](crate::Error::RankLimit) for a
/// shape of too many elements or axes, [`Error::Io`](crate::Error::Io), also for what is no regular file. No file
/// is made then, and an old one is as it was.
///
/// # Safety
///
/// As for [`map_mut`]. Maps of a file that was replaced keep what they show.
///
/// ```
/// use lensor::{Writer, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// // SAFETY: the file is in a directory of our own.
/// let mut storage = unsafe { npy::create_mut::<u16>(&path, [2, 2]) }?.into_storage();
/// storage.write(3, 7);
/// storage.flush()?;
/// assert_eq!(npy::open::<u16>(&path)?.to_vec()?, [0, 0, 0, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn create_mut<T>(
    path: impl AsRef<Path>,
    shape: impl Into<Shape>,
) -> Result<Tensor<MappedMut<T>>>
where
    T: MapElement,
{
    let header = Header::new(T::DTYPE, ByteOrder::NATIVE, false, shape)?;
    let irregular = || Err(io::Error::other("not a regular file"));
    file::replace(path.as_ref(), true, irregular, |mut file| {
        file.write_all(&header.to_bytes())?;
        file.set_len(header.file_bytes())?;
        let (offset, order) = (header.data_offset() as u64, header.byte_order());
        // SAFETY: as in `map`.
        header.tensor(unsafe { MappedMut::map_mut(file, offset, header.count(), order) }?)
    })
}

/// The header of a file whose elements are `T` and that ends with its data.
fn checked<T: FileElement>(file: &File) -> Result<Header> {
    let header = Header::read(file)?;
    header.check_type::<T>()?;
    file::check_end(file.metadata()?.len(), header.file_bytes())?;
    Ok(header)
}
