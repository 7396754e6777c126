//! Elements in the bytes of a chunk.

use super::ZarrElement;
use crate::dtype::{ByteOrder, DType};
use crate::storage::{Block, read_elements};
use ::zarrs::storage::Bytes;
use bytemuck::checked::try_cast_slice;
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::Arc;

/// Bytes that were seen to be elements.
struct Elements<T> {
    bytes: Bytes,
    elements: PhantomData<fn() -> T>,
}

impl<T: ZarrElement> AsRef<[T]> for Elements<T> {
    fn as_ref(&self) -> &[T] {
        try_cast_slice(&self.bytes).unwrap_or_default()
    }
}

/// The elements that these bytes are, where they lie if that is possible.
pub(super) fn elements<T: ZarrElement>(bytes: Bytes) -> Result<Block<'static, T>, String> {
    if !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(format!("{} bytes are no whole elements", bytes.len()));
    }
    // Answers are looked at once, here, and no more.
    if T::DTYPE != DType::Bool && try_cast_slice::<_, T>(&bytes).is_ok() {
        return Ok(Block::Shared(Arc::new(Elements { bytes, elements: PhantomData })));
    }
    let copied = read_elements(&bytes[..], bytes.len() / size_of::<T>(), ByteOrder::NATIVE);
    copied.map(Block::from).map_err(|error| error.to_string())
}

/// Whether chunks of this metadata are the bytes of their elements `T` as they are in memory.
pub(super) fn is_raw<T>(metadata: &Value) -> bool {
    let Some([codec]) = metadata["codecs"].as_array().map(Vec::as_slice) else { return false };
    let endian = &codec["configuration"]["endian"];
    let native = if cfg!(target_endian = "little") { "little" } else { "big" };
    (codec == "bytes" || codec["name"] == "bytes")
        && (size_of::<T>() == 1 || endian == native)
        && metadata["storage_transformers"].as_array().is_none_or(Vec::is_empty)
}
