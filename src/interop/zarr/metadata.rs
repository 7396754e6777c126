//! What the metadata of arrays says.

use super::{OrMalformed, malformed};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::Shape;
use ::zarrs::storage::{ReadableStorageTraits, StoreKey};
use serde_json::{Map, Value};

/// Files of metadata, of version 3 and of version 2.
pub(super) const FILES: [&str; 4] = ["zarr.json", ".zarray", ".zgroup", ".zattrs"];
/// Largest file of metadata, in bytes.
const LIMIT_BYTES: u64 = 16 << 20;

/// Shape, type and the like of an array.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) shape: Shape,
    pub(super) chunks: Vec<usize>,
    /// The type as the format names it.
    pub(super) stored: String,
    pub(super) names: Vec<Option<String>>,
    pub(super) attributes: Map<String, Value>,
}

impl Described {
    /// From metadata of version 3 or 2.
    pub(super) fn new(path: &str, metadata: &Value) -> Result<Self> {
        let wrong = |what: &str| malformed(Some(path), format!("its metadata has no {what}"));
        let shape = numbers(&metadata["shape"]).ok_or_else(|| wrong("shape"))?;
        Shape::check_rank(shape.len())?;
        let (chunks, stored) = match metadata["zarr_format"].as_u64() {
            Some(2) => (&metadata["chunks"], &metadata["dtype"]),
            _ => {
                check_grid(path, metadata)?;
                let grid = &metadata["chunk_grid"]["configuration"];
                (&grid["chunk_shape"], &metadata["data_type"])
            }
        };
        let chunks = numbers(chunks).ok_or_else(|| wrong("shape of chunks"))?;
        let names = metadata["dimension_names"].as_array();
        let names = names.into_iter().flatten().map(|name| name.as_str().map(Into::into)).collect();
        let attributes = metadata["attributes"].as_object().cloned().unwrap_or_default();
        // The name alone, where an object has no more.
        let plain = stored.get("configuration").is_none_or(|own| *own == Value::Object(Map::new()));
        let name = if plain { stored.get("name").unwrap_or(stored) } else { stored };
        let stored = name.as_str().map_or_else(|| name.to_string(), Into::into);
        Ok(Self { shape: shape.into(), chunks, stored, names, attributes })
    }

    /// The type of elements, if it is one of ours.
    pub(super) fn dtype(&self) -> Option<DType> {
        // What zarrs calls complex numbers by their parts as well.
        let parts = |dtype: &DType| format!("complex_float{}", 4 * dtype.size_bytes());
        // In version 2, behind a byte order.
        let numpy = |dtype: &DType| format!("{}{}", dtype.kind(), dtype.size_bytes());
        let ours = |dtype: &&DType| {
            self.stored == name_of(**dtype)
                || self.stored.get(1..) == numpy(dtype).get(..)
                || (dtype.kind() == 'c' && self.stored == parts(dtype))
        };
        DType::ALL.iter().find(ours).copied()
    }
}

/// The name of a type in version 3.
pub(super) fn name_of(dtype: DType) -> String {
    let bits = 8 * dtype.size_bytes();
    match dtype.kind() {
        'b' => "bool".into(),
        'i' => format!("int{bits}"),
        'u' => format!("uint{bits}"),
        'f' => format!("float{bits}"),
        'c' => format!("complex{bits}"),
        _ => "bfloat16".into(),
    }
}

/// Refuses chunks of several shapes in metadata of version 3.
pub(super) fn check_grid(path: &str, metadata: &Value) -> Result<()> {
    match metadata["chunk_grid"]["name"] == "regular" {
        true => Ok(()),
        false => Err(malformed(Some(path), "its chunks are not of one shape")),
    }
}

fn numbers(list: &Value) -> Option<Vec<usize>> {
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    list.as_array()?.iter().map(number).collect()
}

/// The key of a file at a path that begins with `/`.
pub(super) fn key(path: &str, file: &str) -> Result<StoreKey> {
    let folder = path.trim_matches('/');
    let key = if folder.is_empty() { file.into() } else { format!("{folder}/{file}") };
    StoreKey::new(key).or_malformed(path)
}

/// Metadata of the array or the group at a path, and whether it is of version 3; `None` if there is neither, or a group of
/// version 2. Larger metadata than any array has is refused.
pub(super) fn read<S>(store: &S, path: &str) -> Result<Option<(Value, bool)>>
where
    S: ReadableStorageTraits + ?Sized,
{
    for file in FILES {
        let claimed = store.size_key(&key(path, file)?).or_malformed(path)?.unwrap_or(0);
        if claimed > LIMIT_BYTES {
            return Err(Error::HeaderTooLarge { claimed, limit: LIMIT_BYTES });
        }
    }
    let read = |file: &str| -> Result<Option<Value>> {
        let text = store.get(&key(path, file)?).or_malformed(path)?;
        text.map(|text| serde_json::from_slice(&text)).transpose().or_malformed(path)
    };
    if let Some(metadata) = read("zarr.json")? {
        return Ok(Some((metadata, true)));
    }
    let Some(mut metadata) = read(".zarray")? else { return Ok(None) };
    if metadata.is_object() {
        metadata["attributes"] = read(".zattrs")?.unwrap_or_default();
    }
    Ok(Some((metadata, false)))
}
