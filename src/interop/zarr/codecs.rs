//! What was done to the elements of a chunk, undone one codec after another.

use super::frame;
use ::zarrs::array::codec::{
    OptionalCodec, PackBitsCodec, ShardingCodec, ShuffleCodec, SqueezeCodec, TransposeCodec,
    VlenCodec, ZstdCodec,
};
use ::zarrs::array::{
    Array, ArrayError, ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, BytesRepresentation,
    BytesToBytesCodecTraits, CodecChain, CodecError, CodecOptions,
};
use ::zarrs::storage::Bytes;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;

/// What stored chunks, and frames, may have beyond twice their chunk: checksums and filters add a little.
const FRAME_BYTES: u64 = 1 << 16;

/// The codecs of chunks, as zarrs found them: it orders them by their kind and passes over some that it does not know.
pub(super) struct Codecs {
    /// What makes bytes of elements.
    chain: CodecChain,
    /// What packs bytes, each with what it was given.
    packing: Vec<(Arc<dyn BytesToBytesCodecTraits>, BytesRepresentation)>,
    /// Extents of a chunk.
    shape: Vec<NonZeroU64>,
    /// Bytes of a chunk in memory.
    bytes: u64,
    /// Most bytes that the codecs make of it, as far as they know.
    encoded: u64,
}

/// Refuses codecs that zarrs always has and that divide by, index with or believe what metadata says, those that have
/// others inside, and those that compute elements, which zarrs does in `f32`.
pub(super) fn check_known(chain: &CodecChain) -> Result<(), CodecError> {
    let bytes = chain.array_to_bytes_codec().as_any();
    let mut arrays = chain.array_to_array_codecs().iter().map(|codec| codec.as_any());
    let unknown = !arrays.all(|codec| codec.is::<TransposeCodec>() || codec.is::<SqueezeCodec>())
        || bytes.is::<PackBitsCodec>()
        || bytes.is::<OptionalCodec>()
        || bytes.is::<VlenCodec>()
        || chain.bytes_to_bytes_codecs().iter().any(|codec| codec.as_any().is::<ShuffleCodec>());
    match unknown {
        true => Err(CodecError::Other("one of its codecs is not read".into())),
        false => Ok(()),
    }
}

/// Whether elements become shards; what those take is not asked of zarrs, as its products may overflow.
pub(super) fn is_sharding(chain: &CodecChain) -> bool {
    chain.array_to_bytes_codec().as_any().is::<ShardingCodec>()
}

impl Codecs {
    /// Those of chunks of a shape, inside a shard below what is done to the shard.
    pub(super) fn new<S: ?Sized>(
        array: &Array<S>,
        around: &[Arc<dyn ArrayToArrayCodecTraits>],
        inside: &CodecChain,
        shape: Vec<NonZeroU64>,
        bytes: u64,
    ) -> Result<Self, CodecError> {
        check_known(inside)?;
        let arrays = [around, inside.array_to_array_codecs()].concat();
        let chain = CodecChain::new(arrays, inside.array_to_bytes_codec().clone(), Vec::new());
        let mut packing = Vec::new();
        if is_sharding(&chain) {
            // Those of an array that is written, whose chunks may have one byte, and take a place in the index each.
            let encoded = bytes.saturating_mul(64);
            return Ok(Self { chain, packing, shape, bytes, encoded });
        }
        let (dtype, fill) = (array.data_type(), array.fill_value());
        let mut size = chain.encoded_representation(&shape, dtype, fill)?;
        for codec in inside.bytes_to_bytes_codecs() {
            let next = codec.encoded_representation(&size);
            packing.push((codec.clone(), std::mem::replace(&mut size, next)));
        }
        let encoded = size.size().unwrap_or(0);
        Ok(Self { chain, packing, shape, bytes, encoded })
    }

    /// Whether bytes are made of elements in shards, whose chunks zarrs decodes without anybody looking at them.
    pub(super) fn are_shards(&self) -> bool {
        is_sharding(&self.chain)
    }

    /// Most bytes of what becomes a chunk.
    fn most(&self) -> u64 {
        2 * self.bytes + FRAME_BYTES
    }

    /// Refuses chunks that are stored in more bytes than any needs, before memory is taken for them.
    pub(super) fn check_stored(&self, stored: u64) -> Result<(), ArrayError> {
        if stored <= self.most().max(self.encoded) {
            return Ok(());
        }
        let text = format!("it is stored in {stored} bytes, and a chunk has {}", self.bytes);
        Err(ArrayError::Other(text))
    }

    /// The bytes of the elements of a chunk.
    pub(super) fn decode<S: ?Sized>(
        &self,
        array: &Array<S>,
        encoded: Bytes,
    ) -> Result<Bytes, ArrayError> {
        let once = once();
        let mut bytes = Cow::Owned(encoded.into());
        for (codec, size) in self.packing.iter().rev() {
            if codec.as_any().is::<ZstdCodec>() {
                self.check_frames(&bytes)?;
            }
            bytes = codec.decode(bytes, size, &once)?;
        }
        let (dtype, fill) = (array.data_type(), array.fill_value());
        let decoded = self.chain.decode(bytes, &self.shape, dtype, fill, &once)?;
        Ok(decoded.into_fixed()?.into_owned().into())
    }

    /// Refuses frames that say they become more than their chunk.
    fn check_frames(&self, encoded: &[u8]) -> Result<(), ArrayError> {
        match frame::bound(encoded) {
            Some(claimed) if claimed <= self.most() => Ok(()),
            Some(claimed) => {
                let text =
                    format!("its frames claim {claimed} bytes for a chunk of {}", self.bytes);
                Err(ArrayError::Other(text))
            }
            None => Err(ArrayError::Other("it is no sequence of frames".into())),
        }
    }
}

/// Decodes by this thread alone: chunks are what threads share.
pub(super) fn once() -> CodecOptions {
    CodecOptions::default().with_concurrent_target(1)
}

/// Extents that are not 0, as zarrs has them.
pub(super) fn natural(extents: impl IntoIterator<Item = usize>) -> Vec<NonZeroU64> {
    extents.into_iter().filter_map(|extent| NonZeroU64::new(extent as u64)).collect()
}
