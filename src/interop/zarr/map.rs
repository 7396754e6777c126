//! Chunks that stay in their files.
#![allow(unsafe_code, reason = "hands on the promise that mapping a file asks for")]

use super::folder::{refused, selected};
use super::{Array, FolderStore, ZarrElement, open_in};
use crate::error::Result;
use crate::storage::SharedMap;
use ::zarrs::storage::byte_range::ByteRangeIterator;
use ::zarrs::storage::{Bytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Smaller files are read: a process has a limited number of maps.
const LEAST_BYTES: u64 = 1 << 16;

/// A folder whose larger files are mapped into memory; of [`map`].
#[derive(Debug)]
pub struct MappedStore(FolderStore);

impl MappedStore {
    /// Files of this folder.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`](crate::Error::Malformed) if there is none.
    ///
    /// # Safety
    ///
    /// As for [`SharedMap::map`], for every file of the folder: nobody may truncate or modify one while the store or a
    /// tensor of it lives.
    ///
    /// ```
    /// use lensor::interop::zarr::{self, MappedStore, Options};
    /// use lensor::prelude::*;
    /// use std::sync::Arc;
    /// let dir = tempfile::tempdir()?;
    /// zarr::write(dir.path().join("a"), Tensor::full([300, 500], 1.5)?, &Options::new([256, 256]))?;
    /// // SAFETY: the files are in a directory of our own.
    /// let store = unsafe { MappedStore::new(dir.path()) }?; // of all arrays below
    /// let t = zarr::open_in::<f64, _>(Arc::new(store), "/a")?;
    /// assert_eq!(t.get([299, 499])?, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn new(path: impl AsRef<Path>) -> Result<Self> {
        FolderStore::new(path).map(Self)
    }
}

impl ReadableStorageTraits for MappedStore {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        if self.size_key(key)?.is_none_or(|size| size < LEAST_BYTES) {
            return self.0.get_partial_many(key, ranges);
        }
        let file = File::open(self.0.path(key))?;
        // SAFETY: that nobody truncates or writes a file of the folder is the contract of `new`.
        let map = unsafe { SharedMap::map(&file) };
        let bytes = Bytes::from_owner(map.map_err(refused)?);
        let parts = ranges.map(move |range| {
            let part = selected(range, bytes.len() as u64)?;
            Ok(bytes.slice(part.start as usize..part.end as usize))
        });
        Ok(Some(Box::new(parts)))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        self.0.size_key(key)
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

/// The array of a folder whose chunks stay in their files; [`open`](super::open()) is the safe twin. Chunks that are not
/// encoded lie in the map and are shared, others are decoded from it.
///
/// # Errors
///
/// As for [`open_in`].
///
/// # Safety
///
/// As for [`MappedStore::new`].
///
/// ```
/// use lensor::interop::zarr::{self, Options};
/// use lensor::prelude::*;
/// let dir = tempfile::tempdir()?;
/// zarr::write(dir.path(), Tensor::full([300, 500], 1.5)?, &Options::new([256, 256]))?;
/// // SAFETY: the files are in a directory of our own.
/// let t = unsafe { zarr::map::<f64>(dir.path()) }?;
/// assert_eq!(t.sum(..).item()?, 225_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub unsafe fn map<T: ZarrElement>(path: impl AsRef<Path>) -> Result<Array<T, MappedStore>> {
    // SAFETY: the contract of this function.
    open_in(Arc::new(unsafe { MappedStore::new(path) }?), "/")
}
