//! The arrays of a group.

use super::metadata::{Described, read};
use super::{OrMalformed, malformed, store};
use crate::dtype::DType;
use crate::error::Result;
use crate::memory::push;
use crate::shape::Shape;
use ::zarrs::storage::{ListableStorageTraits, ReadableStorageTraits, StorePrefix};
use serde_json::{Map, Value};
use std::path::Path;

/// Deepest groups in groups that are listed.
const DEPTH: usize = 32;
/// Most folders that are looked into: links may lead round and round.
const FOLDERS: usize = 1 << 16;

/// An array of a group: its path, type and shape. No chunk was read.
#[derive(Debug, Clone)]
pub struct Entry {
    path: String,
    described: Described,
}

impl Entry {
    /// Its path, which begins with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.described.shape
    }

    /// The shape of its chunks, or of its shards.
    pub fn chunks(&self) -> &[usize] {
        &self.described.chunks
    }

    /// The type of its elements, if it is one of ours.
    pub fn dtype(&self) -> Option<DType> {
        self.described.dtype()
    }

    /// The type of its elements as the format names it.
    pub fn stored_type(&self) -> &str {
        &self.described.stored
    }

    /// The name of each axis, as far as it has one.
    pub fn names(&self) -> &[Option<String>] {
        &self.described.names
    }

    /// What it says of itself, as JSON.
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.described.attributes
    }
}

/// Lists the arrays of the group in a folder, and of the groups in it, in the order of their paths.
///
/// # Errors
///
/// As for [`list_in`].
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::zarr::{self, Options};
/// let dir = tempfile::tempdir()?;
/// zarr::write(dir.path().join("a/t"), Tensor::full([5, 7], 1_i32)?, &Options::new([2, 3]))?;
/// let found = zarr::list(dir.path())?;
/// assert_eq!((found[0].path(), found[0].shape()), ("/a/t", &[5, 7].into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn list(path: impl AsRef<Path>) -> Result<Vec<Entry>> {
    list_in(&*store(path.as_ref())?, "/")
}

/// Lists the arrays of a store at a path and below.
///
/// # Errors
///
/// [`Error::Malformed`](crate::Error::Malformed) for metadata that cannot be read, for groups more than 32 deep, for more
/// than 65,536 folders and if the store refuses; [`Error::HeaderTooLarge`](crate::Error::HeaderTooLarge) for metadata of more than 16 MiB,
/// [`Error::RankLimit`](crate::Error::RankLimit).
///
/// ```
/// use lensor::interop::zarr::{self, Options, zarrs::storage::store::MemoryStore};
/// use std::sync::Arc;
/// let store = Arc::new(MemoryStore::new());
/// for path in ["/runs/b", "/runs/a", "/other"] {
///     zarr::create_in::<f32, _>(store.clone(), path, [4, 4], &Options::new([2, 2]))?;
/// }
/// let found = zarr::list_in(&*store, "/runs")?;
/// let paths: Vec<&str> = found.iter().map(|entry| entry.path()).collect();
/// assert_eq!(paths, ["/runs/a", "/runs/b"]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn list_in<S>(store: &S, path: &str) -> Result<Vec<Entry>>
where
    S: ListableStorageTraits + ReadableStorageTraits + ?Sized,
{
    let path = format!("/{}", path.trim_matches('/'));
    let mut walk = Walk { store, found: Vec::new(), left: FOLDERS };
    walk.visit(&path, DEPTH)?;
    Ok(walk.found)
}

/// A walk through groups in groups.
struct Walk<'w, S: ?Sized> {
    store: &'w S,
    found: Vec<Entry>,
    /// Folders that may still be looked into.
    left: usize,
}

impl<S: ListableStorageTraits + ReadableStorageTraits + ?Sized> Walk<'_, S> {
    /// Adds the arrays at a path and below.
    fn visit(&mut self, path: &str, depth: usize) -> Result<()> {
        if depth == 0 || self.left == 0 {
            return Err(malformed(Some(path), "too many groups lie in groups"));
        }
        self.left -= 1;
        if let Some((metadata, version_3)) = read(self.store, path)?
            && (!version_3 || metadata["node_type"] == "array")
        {
            let described = Described::new(path, &metadata)?;
            return push(&mut self.found, Entry { path: path.into(), described });
        }
        let folder = path.trim_matches('/');
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let prefix = StorePrefix::new(prefix).or_malformed(path)?;
        let inside = self.store.list_dir(&prefix).or_malformed(path)?;
        let mut inside: Vec<&str> = inside.prefixes().iter().map(StorePrefix::as_str).collect();
        inside.sort_unstable();
        for folder in inside {
            self.visit(&format!("/{}", folder.trim_matches('/')), depth - 1)?;
        }
        Ok(())
    }
}
