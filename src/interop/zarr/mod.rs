//! Zarr arrays (feature `zarr`): chunks in files or any other store, which [`zarrs`] decodes, as storage in blocks.
//!
//! | | what it gives |
//! |---|---|
//! | [`open`], [`open_in`] | an array as a tensor: chunks are loaded when they are read, and the last ones are kept |
//! | `map` (feature `mmap`) | the same of files that nobody changes: chunks that are not encoded stay in them |
//! | [`create`], [`create_in`] | a new array as a tensor: assign to it, or to views of it |
//! | [`write()`] | a new array of any expression, chunk by chunk in parallel, however large |
//! | [`list`], [`list_in`] | names, types and shapes of the arrays of a group; no chunk is read |
//!
//! Version 3 is read and written, and version 2 read, as far as [`zarrs`] does with the codecs `bytes`, `transpose`, `gzip`,
//! `zlib`, `zstd`, `crc32c` and `sharding_indexed`. Of an array in shards, the chunks inside are what is read; shards that
//! hold shards, or are packed as a whole, are refused. A chunk that is missing, in a shard or with it, is the fill value,
//! and takes no memory. Chunks are decoded to memory, each once as long as the cache of [`Chunked`] keeps it; what is stored
//! as it is in memory is shared with the store, if that has it there.
//!
//! A store may come from a stranger: chunks are found by the keys `default` and `v2`, which stay in the folder of their
//! array, and other encodings of keys are refused, as are codecs that believe what metadata says: `packbits`,
//! `numcodecs.shuffle`, `optional` and `zarrs.vlen`, and all codecs of elements but `transpose` and `squeeze`:
//! `reshape`, and those that compute, such as `fixedscaleoffset`. Metadata ends at 16 MiB, chunks at 4 GiB, indexes of
//! shards at 256 MiB, and those lead nowhere but into their shards. Files and places in shards that are larger than any
//! chunk are refused, as are frames of Zstandard that become more than their chunk, whether they say so or not and
//! below whatever codecs they are. What gzip inflates to zarrs believes, and what other codecs do that features of its
//! own add: arrays of strangers that use those can ask for much memory. A store is asked for the size of what it holds
//! before it is asked for that; in a folder, what is no regular file is refused.
//!
//! ```
//! use lensor::interop::zarr::{self, Options};
//! use lensor::prelude::*;
//! let dir = tempfile::tempdir()?;
//! let (a, b) = (dir.path().join("a.zarr"), dir.path().join("b.zarr"));
//! let t = Tensor::from_index([30, 20], |index| (index[0] * 20 + index[1]) as f64)?;
//! zarr::write(&a, &t, &Options::new([8, 8]).zstd(3))?;
//!
//! // From disk to disk, a box at a time.
//! let turned = zarr::open::<f64>(&a)?.transpose([1, 0])?;
//! zarr::write(&b, &turned * 2.0 + 1.0, &Options::new([10, 10]))?;
//! assert_eq!(zarr::open::<f64>(&b)?.get([3, 4])?, 2.0 * 83.0 + 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunks;
mod codecs;
mod folder;
mod frame;
mod list;
#[cfg(feature = "mmap")]
mod map;
mod metadata;
mod options;
mod shards;
mod share;

pub use ::zarrs;
pub use chunks::{Chunks, ZarrElement};
pub use folder::FolderStore;
pub use list::{Entry, list, list_in};
#[cfg(feature = "mmap")]
pub use map::{MappedStore, map};
pub use options::Options;

use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::shape::Shape;
use crate::storage::Chunked;
use crate::tensor::Tensor;
use ::zarrs::storage::{ReadableStorageTraits, ReadableWritableStorageTraits};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// What errors call the format.
const FORMAT: &str = "Zarr array";

/// An array of a store as a tensor.
pub type Array<T, S = FolderStore> = Tensor<Chunked<Chunks<T, S>>>;

/// Opens the array of a folder. It can be written too, unless it is in shards: those are written as they are created.
///
/// # Errors
///
/// As for [`open_in`].
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::zarr::{self, Options};
/// let dir = tempfile::tempdir()?;
/// zarr::write(dir.path(), Tensor::full([5, 7], 1.5)?, &Options::new([2, 3]))?;
/// let mut t = zarr::open::<f64>(dir.path())?;
/// t.view_mut().select((0,))?.fill(2.0)?;
/// assert_eq!(zarr::open::<f64>(dir.path())?.select((.., 6))?.to_vec()?, [2.0, 1.5, 1.5, 1.5, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open<T: ZarrElement>(path: impl AsRef<Path>) -> Result<Array<T>> {
    open_in(store(path.as_ref())?, "/")
}

/// Opens an array of a store, at a path that begins with `/`.
///
/// # Errors
///
/// [`Error::Malformed`] for what is no array or one that cannot be read, [`Error::ElementType`] for elements of
/// another type, [`Error::HeaderTooLarge`] for metadata of more than 16 MiB, [`Error::Blocks`],
/// [`Error::RankLimit`] and [`Error::ShapeOverflow`] for shapes that no tensor has.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::zarr::{self, Options, zarrs::storage::store::MemoryStore};
/// use std::sync::Arc;
/// let store = Arc::new(MemoryStore::new());
/// let mut t = zarr::create_in::<f32, _>(store.clone(), "/x", [4, 4], &Options::new([2, 2]))?;
/// t.view_mut().select((1,))?.fill(7.0)?;
/// drop(t);
/// let t = zarr::open_in::<f32, _>(store, "/x")?;
/// assert_eq!(t.select((.., 3))?.to_vec()?, [0.0, 7.0, 0.0, 0.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn open_in<T, S>(store: Arc<S>, path: &str) -> Result<Array<T, S>>
where
    T: ZarrElement,
    S: ReadableStorageTraits + ?Sized + 'static,
{
    let chunks = Chunks::open(store, path)?;
    tensor(chunks)
}

/// Creates an array of fill values in a folder, to be written.
///
/// # Errors
///
/// As for [`create_in`], and [`Error::Io`].
///
/// ```
/// use lensor::interop::zarr::{self, Options};
/// use lensor::prelude::*;
/// let dir = tempfile::tempdir()?;
/// let mut t = zarr::create::<f64>(dir.path(), [4, 6], &Options::new([2, 3]))?;
/// t.view_mut().select((1,))?.assign(&Tensor::full([6], 2.5)?)?;
/// assert_eq!(zarr::open::<f64>(dir.path())?.sum(1).to_vec()?, [0.0, 15.0, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create<T: ZarrElement>(
    path: impl AsRef<Path>,
    shape: impl Into<Shape>,
    options: &Options<T>,
) -> Result<Array<T>> {
    create_in(store(path.as_ref())?, "/", shape, options)
}

/// Creates an array of fill values in a store, to be written: assignments store each chunk once, before they return. A
/// shard is written as a whole. Whether an error or a signal leaves parts of a chunk is up to the store: [`FolderStore`] has
/// the old one then, or none.
///
/// # Errors
///
/// [`Error::Malformed`] if there is something of that name, in a [`FolderStore`] also a folder `c`, where chunks
/// would lie, for codecs that do not fit, and if the store refuses; [`Error::Blocks`] for chunks that do not fit
/// the shape, [`Error::RankLimit`] and [`Error::ShapeOverflow`] for a shape that no tensor has.
///
/// ```
/// use lensor::interop::zarr::{self, Options, zarrs::storage::store::MemoryStore};
/// use std::sync::Arc;
/// let store = Arc::new(MemoryStore::new());
/// let mut t = zarr::create_in::<i32, _>(store.clone(), "/x", [4, 4], &Options::new([2, 2]).fill(-1))?;
/// t.set([0, 3], 7)?; // one of four chunks
/// t.storage().flush()?;
/// let found = zarr::open_in::<i32, _>(store, "/x")?;
/// assert_eq!(found.view().select((..2, 3))?.to_vec()?, [7, -1]);
/// assert_eq!(found.storage().storage().missing()?.len(), 3);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn create_in<T, S>(
    store: Arc<S>,
    path: &str,
    shape: impl Into<Shape>,
    options: &Options<T>,
) -> Result<Array<T, S>>
where
    T: ZarrElement,
    S: ReadableWritableStorageTraits + ?Sized + 'static,
{
    tensor(Chunks::create(store, path, &shape.into(), options)?)
}

/// Writes a tensor, a view of any storage or an expression as a new array of a folder: chunk by chunk, several at
/// once, in the memory of a few chunks, or shards if it has them, and of the results of deferred operands.
/// [`Options::on_progress`] tells how far it is.
///
/// Every chunk is written, those of fill values as well, and each is written beside its place and moved there once it is
/// whole: after an error, or where the process was killed, there is an array in which [`Chunks::missing`] finds the chunks
/// that lack. All others are as they should be.
///
/// # Errors
///
/// As for [`create`], and what evaluating reports.
///
/// ```
/// use lensor::interop::zarr::{self, Options};
/// use lensor::prelude::*;
/// let dir = tempfile::tempdir()?;
/// let t = Tensor::from_index([4, 6], |index| index[0] as f64)?;
/// zarr::write(dir.path(), (&t + 1.0).sqrt(), &Options::new([2, 3]).zstd(3))?;
/// let written = zarr::open::<f64>(dir.path())?;
/// assert_eq!(written.view().select((.., 5))?.to_vec()?[3], 2.0);
/// assert!(written.storage().storage().missing()?.is_empty());
/// assert!(zarr::write(dir.path(), &t, &Options::new([2, 3])).is_err()); // what is there is not replaced
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<T, X>(path: impl AsRef<Path>, x: X, options: &Options<T>) -> Result<()>
where
    T: ZarrElement,
    X: IntoExpr<Elem = T>,
{
    let x = Lazy(x.into_expr());
    let mut out = create(path, x.shape()?, options)?;
    x.assign_to(&mut out)
}

fn tensor<T, S>(chunks: Chunks<T, S>) -> Result<Array<T, S>>
where
    T: ZarrElement,
    S: ReadableStorageTraits + ?Sized + 'static,
{
    let shape = chunks.shape().clone();
    Tensor::new(shape, Chunked::new(chunks)?)
}

fn store(path: &Path) -> Result<Arc<FolderStore>> {
    FolderStore::new(path).map(Arc::new)
}

fn malformed(name: Option<&str>, error: impl Display) -> Error {
    Error::Malformed { format: FORMAT, name: name.map(Into::into), reason: error.to_string() }
}

/// What a store, zarrs or a parser reports, as an error of the array at a path.
trait OrMalformed<T> {
    fn or_malformed(self, path: &str) -> Result<T>;
}

impl<T, E: Display> OrMalformed<T> for Result<T, E> {
    fn or_malformed(self, path: &str) -> Result<T> {
        self.map_err(|error| malformed(Some(path), error))
    }
}
