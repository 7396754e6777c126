//! Files of tensors that stay where they are.
#![allow(
    unsafe_code,
    reason = "hands on the promise that mapping a file asks for, unsafe to unsafe"
)]

use super::Archive;
use crate::error::Result;
use crate::interop::file;
use crate::storage::SharedMap;
use std::io::Cursor;
use std::path::Path;

/// Maps a file into memory and lists its tensors; [`open`](super::open) is the safe twin. All tensors share the map.
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
/// use lensor::{Tensor, interop::safetensors};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("x.safetensors");
/// let mut writer = safetensors::Writer::new();
/// writer.add("x", Tensor::from(vec![1.5, 2.5]))?;
/// writer.save(&path)?;
/// // SAFETY: the file is in a directory of our own.
/// let archive = unsafe { safetensors::map(&path) }?;
/// assert_eq!(archive.tensor::<f64>("x")?.storage().try_slice()?, [1.5, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn map(path: impl AsRef<Path>) -> Result<Archive<Cursor<SharedMap>>> {
    file::open(path.as_ref(), |file| {
        // SAFETY: that the file stays as it is is the contract of this function.
        Archive::new(Cursor::new(unsafe { SharedMap::map(file) }?))
    })
}
