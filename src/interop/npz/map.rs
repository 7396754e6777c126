//! Archives that stay in their files.
#![allow(
    unsafe_code,
    reason = "hands on the promise that mapping a file asks for, unsafe to unsafe"
)]

use super::{Archive, find, malformed};
use crate::dtype::MapElement;
use crate::error::Result;
use crate::interop::file;
use crate::storage::{Encoded, SharedMap};
use crate::tensor::Tensor;
use std::io::Cursor;
use std::path::Path;

/// Maps an archive into memory and lists it; [`open`](super::open) is the safe twin. All arrays share the map.
///
/// # Errors
///
/// As for [`Archive::new`]; [`Error::Io`](crate::Error::Io) names the file.
///
/// # Safety
///
/// As for [`SharedMap::map`]: nobody may truncate or modify the file while the archive or one of its tensors lives.
///
/// ```
/// use lensor::{Tensor, interop::npz};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("x.npz");
/// npz::save(&path, |archive| archive.add("x", &Tensor::from(vec![1.5, 2.5])))?;
/// // SAFETY: the file is in a directory of our own.
/// let archive = unsafe { npz::map(&path) }?;
/// assert_eq!(archive.map::<f64>("x")?.storage().try_slice()?, [1.5, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn map(path: impl AsRef<Path>) -> Result<Archive<Cursor<SharedMap>>> {
    file::open(path.as_ref(), |file| {
        // SAFETY: that the file stays as it is is the contract of this function.
        Archive::new(Cursor::new(unsafe { SharedMap::map(file) }?))
    })
}

impl Archive<Cursor<SharedMap>> {
    /// An array where it lies in the file. Nothing is read, so its checksum is not verified.
    ///
    /// NumPy does not align arrays in archives; those of [`Writer`](super::Writer) are. One that is not aligned is read
    /// all the same, a little slower, and is no slice.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`](crate::Error::NoArray), what [`Entry::header`](super::Entry::header) reports,
    /// [`Error::Malformed`](crate::Error::Malformed) for an array that is deflated: [`Archive::read`] inflates it.
    pub fn map<T: MapElement>(&self, name: &str) -> Result<Tensor<Encoded<T, SharedMap>>> {
        let entry = find(self.entries(), name)?;
        let header = entry.checked::<T>()?;
        let start =
            entry.stored_at.ok_or_else(|| malformed(Some(name), "it is deflated: read it"))?;
        let offset =
            usize::try_from(start).unwrap_or(usize::MAX).saturating_add(header.data_offset());
        let map = self.zip.clone().into_inner().into_inner();
        header.tensor(Encoded::new(map, offset, header.count(), header.byte_order())?)
    }
}
