//! Arrays in files, each of which is old or new at any time.

use super::malformed;
use crate::error::{Error, Result};
use crate::interop::file;
use crate::memory::{push, zeros};
use ::zarrs::filesystem::FilesystemStore;
use ::zarrs::storage::byte_range::{ByteRange, ByteRangeIterator, InvalidByteRangeError};
use ::zarrs::storage::{
    Bytes, ListableStorageTraits, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits,
    StorageError, StoreKey, StoreKeys, StoreKeysPrefixes, StorePrefix, WritableStorageTraits,
    store_set_partial_many,
};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

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

    /// The place of a file.
    pub(super) fn path(&self, key: &StoreKey) -> PathBuf {
        self.0.key_to_fspath(key)
    }
}

/// The part of something of this size that a range selects.
pub(super) fn selected(range: ByteRange, size: u64) -> Result<Range<u64>, StorageError> {
    let (start, end) = match range {
        ByteRange::FromStart(start, None) => (Some(start), Some(size)),
        ByteRange::FromStart(start, Some(len)) => (Some(start), start.checked_add(len)),
        ByteRange::Suffix(len) => (size.checked_sub(len), Some(size)),
    };
    match start.zip(end).filter(|(start, end)| start <= end && *end <= size) {
        Some((start, end)) => Ok(start..end),
        None => Err(InvalidByteRangeError::new(range, size).into()),
    }
}

/// An error of ours as one of a store.
pub(super) fn refused(error: Error) -> StorageError {
    StorageError::Other(error.to_string())
}

/// The size of a file, if there is one; zarrs takes one that cannot be looked at for none, and waits for those who
/// write to pipes.
fn size_of(path: &Path) -> Result<Option<u64>, StorageError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found.len())),
        Ok(_) => {
            let text = format!("{} exists, and is no regular file", path.display());
            Err(StorageError::Other(text))
        }
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
        let path = self.path(key);
        if size_of(&path)?.is_none() {
            return Ok(None);
        }
        // Files are replaced, not written: what is open stays whole.
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let parts = ranges.map(move |range| {
            let part = selected(range, size)?;
            let len = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
            let mut bytes = zeros::<u8>(len).map_err(refused)?;
            file.seek(SeekFrom::Start(part.start))?;
            file.read_exact(&mut bytes)?;
            Ok(bytes.into())
        });
        Ok(Some(Box::new(parts)))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        size_of(&self.path(key))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

impl WritableStorageTraits for FolderStore {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        let path = self.path(key);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::create_dir_all(folder)?;
        }
        // As many folders brought to disk as files would cost more than the files.
        let written = file::save_in(&path, false, |mut file: &File| Ok(file.write_all(&value)?));
        written.map_err(refused)
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
        let (mut keys, mut prefixes) = (Vec::new(), Vec::new());
        // The store of zarrs takes it that all names are text.
        for entry in fs::read_dir(self.0.prefix_to_fs_path(prefix)).into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(StorageError::Other(format!("{name:?} is no text")));
            };
            let key = format!("{}{name}", prefix.as_str());
            let pushed = match entry.path().is_dir() {
                true => push(&mut prefixes, StorePrefix::new(key + "/")?),
                false => push(&mut keys, StoreKey::new(key)?),
            };
            pushed.map_err(refused)?;
        }
        Ok(StoreKeysPrefixes::new(keys, prefixes))
    }

    fn size_prefix(&self, prefix: &StorePrefix) -> Result<u64, StorageError> {
        self.0.size_prefix(prefix)
    }
}
