//! Chunks inside shards, found by the index of their shard.

use super::codecs::{Codecs, check_known, is_sharding, natural, once};
use super::{OrMalformed, malformed};
use crate::error::{Error, Result};
use crate::memory::list;
use ::zarrs::array::codec::{ShardingCodecConfiguration, ShardingIndexLocation, TransposeCodec};
use ::zarrs::array::{
    Array, ArrayError, ArrayToBytesCodecTraits, BytesRepresentation, CodecChain,
    CodecMetadataOptions, FillValue, data_type,
};
use ::zarrs::metadata::ConfigurationSerialize;
use ::zarrs::storage::byte_range::ByteRange;
use ::zarrs::storage::{Bytes, ReadableStorageTraits};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers of a chunk or shard, as zarrs counts.
pub(super) type ChunkIndex = SmallVec<[u64; 4]>;

/// Largest index of a shard, in bytes.
const LIMIT_BYTES: u64 = 1 << 28;
/// Bytes of indexes that are kept, and what each of them takes besides its own.
const KEPT_BYTES: u64 = 1 << 26;
const ENTRY_BYTES: u64 = 1 << 7;

/// Where the chunks of shards are.
pub(super) struct Shards {
    /// Extents of a chunk.
    pub(super) inner: Vec<usize>,
    pub(super) codecs: Codecs,
    /// For each axis of a shard as it is stored, the one of the array, and how many chunks lie along it.
    axes: Vec<(usize, u64)>,
    index: CodecChain,
    index_shape: Vec<NonZeroU64>,
    index_bytes: u64,
    location: ShardingIndexLocation,
    /// Indexes that were read; of many, the last ones.
    known: Mutex<HashMap<ChunkIndex, Arc<Index>>>,
}

/// The index of a shard.
struct Index {
    /// Where each chunk begins, in bytes, and how many it has.
    chunks: Vec<[u64; 2]>,
    /// Bytes of the shard.
    held: u64,
}

impl Shards {
    /// Those of an array in shards of these extents and elements of so many bytes.
    pub(super) fn of<S: ?Sized>(
        array: &Array<S>,
        path: &str,
        shard: &[usize],
        size: usize,
    ) -> Result<Self> {
        let refused = |reason: &str| malformed(Some(path), reason);
        let whole = array.codecs();
        let configuration =
            whole.array_to_bytes_codec().configuration_v3(&CodecMetadataOptions::default());
        let configuration = configuration.ok_or_else(|| refused("its shards are of no kind"))?;
        let configuration = ShardingCodecConfiguration::try_from_configuration(configuration);
        let ShardingCodecConfiguration::V1(own) = configuration.or_malformed(path)? else {
            return Err(refused("its shards are of no kind that is known"));
        };
        if !whole.bytes_to_bytes_codecs().is_empty() {
            return Err(refused("its shards are packed as a whole"));
        }
        // What becomes of extents becomes of the numbers of axes.
        let mut order = natural(1..=shard.len());
        for codec in whole.array_to_array_codecs() {
            if !codec.as_any().is::<TransposeCodec>() {
                return Err(refused("its shards are of no one shape"));
            }
            order = codec.encoded_shape(&order).or_malformed(path)?;
        }
        let (mut inner, mut axes) = (shard.to_vec(), Vec::new());
        for (axis, extent) in order.iter().zip(&own.chunk_shape) {
            let (axis, extent) = (axis.get() as usize - 1, extent.get());
            axes.push((axis, shard[axis] as u64 / extent));
            inner[axis] = usize::try_from(extent).unwrap_or(usize::MAX);
        }
        let multiple = shard.iter().zip(&inner).all(|(shard, inner)| shard % inner == 0);
        if own.chunk_shape.len() != shard.len() || !multiple {
            return Err(Error::Blocks { extents: shard.to_vec(), block: inner });
        }

        let chain = |codecs| CodecChain::from_metadata(codecs).or_malformed(path);
        let bytes = inner.iter().product::<usize>() * size;
        let shape = natural(inner.iter().copied());
        let around = whole.array_to_array_codecs();
        let codecs = Codecs::new(array, around, &chain(&own.codecs)?, shape, bytes as u64);
        let codecs = codecs.or_malformed(path)?;

        let index = chain(&own.index_codecs)?;
        let index_shape = natural(axes.iter().map(|(_, count)| *count as usize).chain([2]));
        let index_bytes = index_bytes(path, &index, &index_shape)?;
        let (location, known) = (own.index_location, Mutex::default());
        Ok(Self { inner, codecs, axes, index, index_shape, index_bytes, location, known })
    }

    /// What is stored of a chunk, if it is in its shard.
    pub(super) fn get<S>(&self, array: &Array<S>, at: &[u64]) -> Result<Option<Bytes>, ArrayError>
    where
        S: ReadableStorageTraits + ?Sized + 'static,
    {
        let mut shard: ChunkIndex = at.into();
        let mut position = 0;
        for &(axis, count) in &self.axes {
            shard[axis] = at[axis] / count;
            position = position * count + at[axis] % count;
        }
        let Some(index) = self.index(array, &shard)? else { return Ok(None) };
        let [start, len] = index.chunks.get(position as usize).copied().unwrap_or([u64::MAX; 2]);
        if start == u64::MAX && len == u64::MAX {
            return Ok(None);
        }
        if start.checked_add(len).is_none_or(|end| end > index.held) {
            let held = index.held;
            let text = format!("{len} bytes from {start} of a shard that has {held} are its place");
            return Err(ArrayError::Other(text));
        }
        self.codecs.check_stored(len)?;
        let range = ByteRange::FromStart(start, Some(len));
        Ok(array.storage().get_partial(&array.chunk_key(&shard), range)?)
    }

    /// The index of a shard, if that is in the store.
    fn index<S>(&self, array: &Array<S>, shard: &[u64]) -> Result<Option<Arc<Index>>, ArrayError>
    where
        S: ReadableStorageTraits + ?Sized + 'static,
    {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = known().get(shard) {
            return Ok(Some(index.clone()));
        }
        let (key, bytes) = (array.chunk_key(shard), self.index_bytes);
        let Some(held) = array.storage().size_key(&key)? else { return Ok(None) };
        if held < bytes {
            let text = format!("its shard has {held} bytes, and the index alone {bytes}");
            return Err(ArrayError::Other(text));
        }
        let range = match self.location {
            ShardingIndexLocation::Start => ByteRange::FromStart(0, Some(bytes)),
            ShardingIndexLocation::End => ByteRange::Suffix(bytes),
        };
        let Some(encoded) = array.storage().get_partial(&key, range)? else { return Ok(None) };
        let (dtype, none) = (data_type::uint64(), FillValue::from(u64::MAX));
        let encoded = Cow::Owned(encoded.into());
        let decoded = self.index.decode(encoded, &self.index_shape, &dtype, &none, &once())?;
        let decoded = decoded.into_fixed()?;
        let (numbers, _) = decoded.as_chunks::<8>();
        let (pairs, _) = numbers.as_chunks::<2>();
        let chunks = list(pairs.iter().map(|pair| pair.map(u64::from_ne_bytes)));
        let chunks = chunks.map_err(|error| ArrayError::Other(error.to_string()))?;
        let index = Arc::new(Index { chunks, held });
        let mut known = known();
        if known.len() as u64 >= KEPT_BYTES / (bytes + ENTRY_BYTES) {
            known.clear();
        }
        // Without memory for it, it is read once more.
        if known.try_reserve(1).is_ok() {
            known.insert(shard.into(), index.clone());
        }
        Ok(Some(index))
    }
}

/// Bytes of the index of a shard, packed by codecs that are read.
fn index_bytes(path: &str, index: &CodecChain, shape: &[NonZeroU64]) -> Result<u64> {
    let refused = |reason: &str| malformed(Some(path), reason);
    check_known(index).or_malformed(path)?;
    if is_sharding(index) {
        return Err(refused("the index of its shards is in shards"));
    }
    let (dtype, none) = (data_type::uint64(), FillValue::from(u64::MAX));
    let encoded = index.encoded_representation(shape, &dtype, &none);
    match encoded.or_malformed(path)? {
        BytesRepresentation::FixedSize(bytes) if bytes <= LIMIT_BYTES => Ok(bytes),
        BytesRepresentation::FixedSize(bytes) => {
            Err(refused(&format!("the index of its shards has {bytes} bytes")))
        }
        _ => Err(refused("the index of its shards is of no one size")),
    }
}
