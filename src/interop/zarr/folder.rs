//! Arrays in files, each of which is old or new at any time.

use super::malformed;
use crate::error::{Error, Result};
use crate::interop::file;
use ::zarrs::filesystem::FilesystemStore;
use ::zarrs::storage::byte_range::ByteRangeIterator;
use ::zarrs::storage::{
    Bytes, ListableStorageTraits, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits,
    StorageError, StoreKey, StoreKeys, StoreKeysPrefixes, StorePrefix, WritableStorageTraits,
    store_set_partial_many,
};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// A folder of files; of [`open`](super::open()) and [`create`](super::create()).
///
/// A file is written beside its place, brought to disk and then moved there: wherever a process is killed, finds the disk
/// full or fails otherwise, each file is as it was before, or as it should become. One that is killed may leave a hidden
/// file named `.*.tmp`, and where the whole system stops, what was written last may be as it was before. The store of
/// zarrs empties a file and writes it in its place.
#[derive(Debug)]
pub struct FolderStore(FilesystemStore);

impl FolderStore {
    /// Files of this folder, which need not be there yet.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for a name that is no text.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::zarr::{self, FolderStore, Options};
    /// use std::sync::Arc;
    /// let dir = tempfile::tempdir()?;
    /// let store = Arc::new(FolderStore::new(dir.path())?);
    /// for name in ["/a", "/b"] {
    ///     zarr::create_in::<f32, _>(store.clone(), name, [4, 4], &Options::new([2, 2]))?.fill(1.0)?;
    /// }
    /// assert_eq!(zarr::list(dir.path())?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(path: impl AsRef<Path>) -> Result<Self> {
        let found = FilesystemStore::new(path.as_ref()).map_err(|error| malformed(None, error));
        found.map(Self)
    }
}

/// The size of a file, if there is one; zarrs takes one that cannot be looked at for none.
pub(super) fn size_of(path: &Path) -> Result<Option<u64>, StorageError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl ReadableStorageTraits for FolderStore {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        self.0.get_partial_many(key, ranges)
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        size_of(&self.0.key_to_fspath(key))
    }

    fn supports_get_partial(&self) -> bool {
        self.0.supports_get_partial()
    }
}

impl WritableStorageTraits for FolderStore {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        let path = self.0.key_to_fspath(key);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::create_dir_all(folder)?;
        }
        // As many folders brought to disk as files would cost more than the files.
        let written = file::save_in(&path, false, |mut file: &File| Ok(file.write_all(&value)?));
        written.map_err(|error: Error| StorageError::Other(error.to_string()))
    }

    fn set_partial_many(
        &self,
        key: &StoreKey,
        values: OffsetBytesIterator<'_>,
    ) -> Result<(), StorageError> {
        store_set_partial_many(self, key, values)
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        self.0.erase(key)
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        self.0.erase_prefix(prefix)
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}

impl ListableStorageTraits for FolderStore {
    fn list(&self) -> Result<StoreKeys, StorageError> {
        self.0.list()
    }

    fn list_prefix(&self, prefix: &StorePrefix) -> Result<StoreKeys, StorageError> {
        self.0.list_prefix(prefix)
    }

    fn list_dir(&self, prefix: &StorePrefix) -> Result<StoreKeysPrefixes, StorageError> {
        self.0.list_dir(prefix)
    }

    fn size_prefix(&self, prefix: &StorePrefix) -> Result<u64, StorageError> {
        self.0.size_prefix(prefix)
    }
}
