//! Chunks as blocks.

use super::codecs::{Codecs, natural};
use super::metadata::{self, Described, check_grid};
use super::options::{Options, Progress};
use super::shards::{ChunkIndex, Shards};
use super::share::{elements, is_raw};
use super::{FORMAT, OrMalformed, malformed};
use crate::dtype::FileElement;
use crate::error::{Error, Result, StorageError};
use crate::memory::{debug_of_fields, push};
use crate::shape::Shape;
use crate::storage::{Block, BlockIndex, Blocks, BlocksMut};
use ::zarrs::array::{Array, ArrayError, ArrayShardedExt, CodecOptions, ElementOwned};
use ::zarrs::storage::{Bytes, ReadableStorageTraits, ReadableWritableStorageTraits};
use bytemuck::CheckedBitPattern;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Elements of Zarr arrays: those of files, `bool` included.
pub trait ZarrElement: FileElement + ElementOwned + CheckedBitPattern {}

impl<T: FileElement + ElementOwned + CheckedBitPattern> ZarrElement for T {}

/// Largest chunk or shard, in bytes: codecs take none that is larger.
const LIMIT_BYTES: u64 = 1 << 32;

/// The chunks of an array in a store `S`.
pub struct Chunks<T, S: ?Sized> {
    array: Array<S>,
    described: Described,
    /// Extents of what is read or written at once.
    block: Vec<usize>,
    codecs: Codecs,
    /// Shards whose chunks are read.
    shards: Option<Shards>,
    fill: T,
    /// Whether chunks are stored as they are in memory.
    raw: bool,
    progress: Option<Arc<Progress>>,
}

debug_of_fields!([T, S: ?Sized] Chunks<T, S> |own| shape: own.described.shape, block: own.block);

impl<T, S: ?Sized> Chunks<T, S> {
    /// Shape of the array.
    pub fn shape(&self) -> &Shape {
        &self.described.shape
    }

    /// The name of each axis, as far as it has one.
    pub fn names(&self) -> &[Option<String>] {
        &self.described.names
    }

    /// What the array says of itself, as JSON.
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.described.attributes
    }

    /// The array of zarrs.
    pub fn array(&self) -> &Array<S> {
        &self.array
    }
}

impl<T: ZarrElement, S: ReadableStorageTraits + ?Sized + 'static> Chunks<T, S> {
    pub(super) fn open(store: Arc<S>, path: &str) -> Result<Self> {
        // Of chunks of several shapes zarrs adds up the extents, which may overflow.
        if let Some((metadata, true)) = metadata::read(&*store, path)?
            && metadata["node_type"] == "array"
        {
            check_grid(path, &metadata)?;
        }
        let array = Array::open(store, path).or_malformed(path)?;
        let mut chunks = Self::new(array, path)?;
        if chunks.array.is_sharded() {
            let shards = Shards::of(&chunks.array, path, &chunks.block, size_of::<T>())?;
            chunks.block = shards.inner.clone();
            chunks.shards = Some(shards);
        }
        let codecs = chunks.shards.as_ref().map_or(&chunks.codecs, |shards| &shards.codecs);
        if codecs.are_shards() {
            return Err(malformed(Some(path), "its shards hold shards"));
        }
        Ok(chunks)
    }

    fn new(array: Array<S>, path: &str) -> Result<Self> {
        let metadata = serde_json::to_value(array.metadata()).or_malformed(path)?;
        // Other encodings may lead out of the folder of an array.
        if let Some(encoding) = metadata.get("chunk_key_encoding") {
            let name = encoding.get("name").unwrap_or(encoding).as_str();
            if !matches!(name, Some("default" | "v2")) {
                let text = format!("its chunks are found by {encoding}, which is not read");
                return Err(malformed(Some(path), text));
            }
        }
        let described = Described::new(path, &metadata)?;
        let raw = is_raw::<T>(&metadata);
        // Integers of fewer bits and times are integers to zarrs.
        let dtype = described.dtype();
        if dtype != Some(T::DTYPE) || T::validate_data_type(array.data_type()).is_err() {
            let found = dtype.map_or(described.stored, |dtype| dtype.name().into());
            return Err(Error::ElementType { expected: T::DTYPE.name(), found });
        }
        described.shape.count()?;
        let bytes = array.fill_value().as_ne_bytes();
        let fill = (bytes.len() == size_of::<T::Bytes>())
            .then(|| T::from_bytes(bytemuck::pod_read_unaligned(bytes)).ok())
            .flatten();
        let fill =
            fill.ok_or_else(|| malformed(Some(path), "its fill value is none of its type"))?;
        let block = described.chunks.clone();
        let bytes = block.iter().try_fold(size_of::<T>(), |all, side| all.checked_mul(*side));
        let Some(bytes) = bytes.filter(|bytes| *bytes as u64 <= LIMIT_BYTES) else {
            return Err(Error::Blocks { extents: described.shape.to_vec(), block });
        };
        let shape = natural(block.iter().copied());
        let codecs = Codecs::new(&array, &[], &array.codecs(), shape, bytes as u64);
        let codecs = codecs.or_malformed(path)?;
        Ok(Self { array, described, block, codecs, shards: None, fill, raw, progress: None })
    }

    /// The fill value: what chunks that are missing hold.
    pub fn fill(&self) -> T {
        self.fill
    }

    /// The chunks, or shards, that are in the array and not in the store, in row-major order: all of them are fill
    /// values to a reader. Of an array of [`write`](super::write()) that is whole there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the store refuses, [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::interop::zarr::{self, Options, zarrs::storage::store::MemoryStore};
    /// use std::sync::Arc;
    /// let store = Arc::new(MemoryStore::new());
    /// let mut t = zarr::create_in::<f32, _>(store, "/x", [2, 4], &Options::new([2, 2]))?;
    /// t.view_mut().slice(1, ..2)?.fill(7.0)?; // one of two chunks
    /// assert_eq!(t.storage().storage().missing()?[0][..], [0, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn missing(&self) -> Result<Vec<BlockIndex>> {
        let grid: Shape =
            self.array.chunk_grid_shape().iter().map(|&extent| extent as usize).collect();
        let mut missing = Vec::new();
        for index in grid.indexes()? {
            let key = self.array.chunk_key(&numbers(&index));
            let size = self.array.storage().size_key(&key);
            if size.map_err(|error| malformed(None, error))?.is_none() {
                push(&mut missing, index.iter().copied().collect())?;
            }
        }
        Ok(missing)
    }

    /// The decoded bytes of a chunk, if it is in the store.
    fn bytes(&self, at: &[u64]) -> Result<Option<Bytes>, ArrayError> {
        let (codecs, encoded) = match &self.shards {
            Some(shards) => (&shards.codecs, shards.get(&self.array, at)?),
            None => {
                let (store, key) = (self.array.storage(), self.array.chunk_key(at));
                let Some(stored) = store.size_key(&key)? else { return Ok(None) };
                self.codecs.check_stored(stored)?;
                (&self.codecs, store.get(&key)?)
            }
        };
        match encoded {
            Some(encoded) if !self.raw => codecs.decode(&self.array, encoded).map(Some),
            as_it_is => Ok(as_it_is),
        }
    }

    fn failed(&self, index: &[usize], error: ArrayError) -> StorageError {
        let corner = index.iter().zip(&self.block).map(|(digit, extent)| digit * extent);
        let address =
            self.described.shape.iter().zip(corner).fold(0, |address: usize, (extent, at)| {
                address.saturating_mul(*extent).saturating_add(at)
            });
        let text = format!("chunk {index:?} of a {FORMAT}: {error}");
        StorageError::new(address, text)
    }
}

impl<T: ZarrElement, S: ReadableWritableStorageTraits + ?Sized + 'static> Chunks<T, S> {
    pub(super) fn create(
        store: Arc<S>,
        path: &str,
        shape: &Shape,
        options: &Options<T>,
    ) -> Result<Self> {
        // The last is what the keys of all chunks begin with: a folder of a store that has some, which has no size.
        for file in metadata::FILES.into_iter().chain(["c"]) {
            if store.size_key(&metadata::key(path, file)?).or_malformed(path)?.is_some() {
                return Err(malformed(Some(path), "something of that name exists"));
            }
        }
        let text = serde_json::to_vec_pretty(&options.metadata(shape)?).or_malformed(path)?;
        let metadata = serde_json::from_slice(&text).or_malformed(path)?;
        let array = Array::new_with_metadata(store.clone(), path, metadata).or_malformed(path)?;
        let mut chunks = Self::new(array, path)?;
        // As we wrote it: zarrs shortens codecs without parameters, which zarr-python does not read.
        store.set(&metadata::key(path, "zarr.json")?, text.into()).or_malformed(path)?;
        let grid = chunks.array.chunk_grid_shape().iter();
        let total = grid.fold(1_usize, |all, &extent| all.saturating_mul(extent as usize));
        chunks.progress = options.progress(total);
        Ok(chunks)
    }
}

impl<T: ZarrElement, S: ReadableStorageTraits + ?Sized + 'static> Blocks for Chunks<T, S> {
    type Elem = T;

    fn extents(&self) -> &[usize] {
        self.described.shape.extents()
    }

    fn block(&self) -> &[usize] {
        &self.block
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        let found = self.bytes(&numbers(index)).map_err(|error| self.failed(index, error))?;
        let Some(bytes) = found else { return Ok(Block::Fill(self.fill)) };
        elements(bytes).map_err(|error| self.failed(index, ArrayError::Other(error)))
    }
}

impl<T: ZarrElement, S: ReadableWritableStorageTraits + ?Sized + 'static> BlocksMut
    for Chunks<T, S>
{
    fn store(&self, index: &[usize], from: &[T]) -> Result<(), StorageError> {
        let options =
            CodecOptions::default().with_concurrent_target(1).with_store_empty_chunks(true);
        if self.shards.is_some() {
            return Err(StorageError::new(0, "an array in shards is written as it is created"));
        }
        let stored = self.array.store_chunk_opt(&numbers(index), from, &options);
        stored.map_err(|error| self.failed(index, error))?;
        if let Some(progress) = &self.progress {
            progress.step();
        }
        Ok(())
    }
}

fn numbers(index: &[usize]) -> ChunkIndex {
    index.iter().map(|&digit| digit as u64).collect()
}
