//! How a new array is kept.

use super::metadata::name_of;
use super::{ZarrElement, malformed};
use crate::dtype::ByteOrder;
use crate::error::{Error, Result};
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Told how many chunks are written, and of how many.
type Tell = dyn Fn(usize, usize) + Send + Sync;

/// Chunks, codecs and attributes of a new array.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::zarr::{self, Options};
/// let dir = tempfile::tempdir()?;
/// let options = Options::new([16, 16])
///     .shards([64, 64])
///     .zstd(3)
///     .fill(f32::NAN)
///     .names(["y", "x"])
///     .attribute("units", "K");
/// zarr::write(dir.path().join("t"), Tensor::full([100, 100], 280.0_f32)?, &options)?;
/// let t = zarr::open::<f32>(dir.path().join("t"))?;
/// assert_eq!(t.storage().storage().attributes()["units"], "K");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Options<T> {
    chunks: Vec<usize>,
    shards: Option<Vec<usize>>,
    order: ByteOrder,
    transposed: Option<Vec<usize>>,
    packed: Vec<Value>,
    fill: T,
    names: Option<Vec<String>>,
    attributes: Map<String, Value>,
    tell: Option<Arc<Tell>>,
}

debug_of_fields!([T: Debug] Options<T> |own| chunks: own.chunks, shards: own.shards, packed: own.packed, fill: own.fill);

impl<T: ZarrElement> Options<T> {
    /// Chunks of this shape, stored as they are, with the fill value 0.
    pub fn new(chunks: impl Into<Shape>) -> Self {
        Self {
            chunks: chunks.into().extents().to_owned(),
            shards: None,
            order: ByteOrder::Little,
            transposed: None,
            packed: Vec::new(),
            fill: T::ZERO,
            names: None,
            attributes: Map::new(),
            tell: None,
        }
    }

    /// Several chunks in one file: shards of this shape, a multiple of that of chunks.
    #[must_use]
    pub fn shards(mut self, shape: impl Into<Shape>) -> Self {
        self.shards = Some(shape.into().extents().to_owned());
        self
    }

    /// Elements in this byte order; little-endian if nothing else is said.
    #[must_use]
    pub fn byte_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }

    /// Chunks that are stored with their axes in this order. What is none of those that there are is refused as the array is
    /// created.
    #[must_use]
    pub fn transposed(mut self, order: &[usize]) -> Self {
        self.transposed = Some(order.to_owned());
        self
    }

    /// Packs chunks by gzip, at a level from 0 to 9.
    #[must_use]
    pub fn gzip(self, level: u32) -> Self {
        self.packed(json!({"name": "gzip", "configuration": {"level": level}}))
    }

    /// Packs chunks by Zstandard, at a level up to 22.
    #[must_use]
    pub fn zstd(self, level: i32) -> Self {
        self.packed(json!({"name": "zstd", "configuration": {"level": level, "checksum": false}}))
    }

    /// Adds a checksum to chunks, which is verified where they are read.
    #[must_use]
    pub fn crc32c(self) -> Self {
        self.packed(json!({"name": "crc32c"}))
    }

    fn packed(mut self, codec: Value) -> Self {
        self.packed.push(codec);
        self
    }

    /// What chunks hold that are missing.
    #[must_use]
    pub fn fill(mut self, value: T) -> Self {
        self.fill = value;
        self
    }

    /// Names of the axes.
    #[must_use]
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Something that the array says of itself.
    #[must_use]
    pub fn attribute(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(key.into(), value.into());
        self
    }

    /// Calls `tell` whenever a chunk, or shard, is written, with how many are and of how many: from several threads, in
    /// any order.
    #[must_use]
    pub fn on_progress(mut self, tell: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        self.tell = Some(Arc::new(tell));
        self
    }

    pub(super) fn progress(&self, total: usize) -> Option<Arc<Progress>> {
        let tell = self.tell.clone()?;
        Some(Arc::new(Progress { done: AtomicUsize::new(0), total, tell }))
    }

    /// The metadata of an array.
    pub(super) fn metadata(&self, shape: &Shape) -> Result<Value> {
        let outer = self.shards.as_ref().unwrap_or(&self.chunks);
        let wrong = |block: &[usize]| block.len() != shape.rank() || block.contains(&0);
        if wrong(outer) || wrong(&self.chunks) {
            return Err(Error::Blocks { extents: shape.to_vec(), block: self.chunks.clone() });
        }
        let multiple = outer.iter().zip(&self.chunks).all(|(outer, inner)| outer % inner == 0);
        if !multiple {
            return Err(Error::Blocks { extents: outer.clone(), block: self.chunks.clone() });
        }
        let mut codecs = Vec::new();
        if let Some(order) = &self.transposed {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..shape.rank()) {
                let rank = shape.rank();
                return Err(malformed(None, format!("{order:?} is no order of {rank} axes")));
            }
            if sorted != *order {
                codecs.push(json!({"name": "transpose", "configuration": {"order": order}}));
            }
        }
        let endian = if self.order == ByteOrder::Little { "little" } else { "big" };
        codecs.push(match size_of::<T>() {
            1 => json!({"name": "bytes"}),
            _ => json!({"name": "bytes", "configuration": {"endian": endian}}),
        });
        codecs.extend(self.packed.iter().cloned());
        if self.shards.is_some() {
            let index = [
                json!({"name": "bytes", "configuration": {"endian": "little"}}),
                json!({"name": "crc32c"}),
            ];
            codecs = Vec::from([json!({"name": "sharding_indexed", "configuration": {
                "chunk_shape": self.chunks, "codecs": codecs, "index_codecs": index,
                "index_location": "end",
            }})]);
        }
        let mut metadata = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape.extents(),
            "data_type": name_of(T::DTYPE),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": outer}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill_value(self.fill)?,
            "codecs": codecs,
            "attributes": self.attributes,
        });
        if let Some(names) = &self.names {
            metadata["dimension_names"] = json!(names);
        }
        Ok(metadata)
    }
}

/// An element as the format writes it in metadata.
fn fill_value<T: ZarrElement>(value: T) -> Result<Value> {
    let mut text = String::new();
    value.push_words(&mut text);
    let numbers = text.split_ascii_whitespace().map(|word| match word {
        "NaN" => Ok(json!("NaN")),
        "inf" => Ok(json!("Infinity")),
        "-inf" => Ok(json!("-Infinity")),
        _ if T::DTYPE.kind() == 'b' => Ok(json!(word == "1")),
        number => serde_json::from_str(number).map_err(|error| malformed(None, error)),
    });
    let numbers = numbers.collect::<Result<Vec<Value>>>()?;
    Ok(match <[Value; 1]>::try_from(numbers) {
        Ok([number]) => number,
        Err(parts) => Value::from(parts),
    })
}

/// How far writing is.
pub(super) struct Progress {
    done: AtomicUsize,
    total: usize,
    tell: Arc<Tell>,
}

impl Progress {
    pub(super) fn step(&self) {
        (self.tell)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.total);
    }
}
