//! Arrays of strangers: what small files could ask for much memory with, or make zarrs panic.

use lensor::interop::zarr;
use lensor::interop::zarr::zarrs::array::Array;
use lensor::interop::zarr::zarrs::storage::store::MemoryStore;
use lensor::interop::zarr::zarrs::storage::{StoreKey, WritableStorageTraits};
use lensor::prelude::*;
use lensor::storage::{Block, Blocks};
use std::sync::Arc;

const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const ZSTD: &str = r#"{"name":"zstd","configuration":{"level":1,"checksum":false}}"#;

/// Metadata of one array, and its only chunk.
fn stranger(metadata: &str, chunk: &[u8]) -> Result<zarr::Array<f64, MemoryStore>, Error> {
    let store = Arc::new(MemoryStore::new());
    let set = |key: &str, value: &[u8]| {
        store.set(&StoreKey::new(key).unwrap(), value.to_vec().into()).unwrap();
    };
    set("zarr.json", metadata.as_bytes());
    set("c/0", chunk);
    zarr::open_in(store, "/")
}

fn metadata(shape: &str, chunks: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"float64",
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks}}}}},
        "chunk_key_encoding":{{"name":"default"}},"fill_value":0.0,"codecs":[{codecs}]}}"#
    )
}

fn shards(inner: &str, codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{inner},"codecs":[{codecs}],
        "index_codecs":[{BYTES}],"index_location":"end"}}}}"#
    )
}

/// A frame of Zstandard that claims 2^50 bytes.
fn large() -> Vec<u8> {
    [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 50).to_le_bytes(), &[1, 0, 0]].concat()
}

const CRC32: u32 = 0xedb8_8320;
const CRC32C: u32 = 0x82f6_3b78;

/// A cyclic checksum of 32 bits, by its polynomial.
fn checksum(polynomial: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (polynomial * (sum & 1)))
    })
}

/// What inflates to these bytes: one block that is not compressed.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len() as u16;
    let (sum, size) = (checksum(CRC32, bytes).to_le_bytes(), u32::from(len).to_le_bytes());
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    [&header[..], &len.to_le_bytes(), &(!len).to_le_bytes(), bytes, &sum, &size].concat()
}

/// What small files could ask for much memory with, or make zarrs panic.
#[test]
fn strangers_are_refused() {
    for (shape, chunks, inner) in
        [("[4,4]", "[4,4]", "[2]"), ("[4]", "[4]", "[3]"), ("[4]", "[4]", "[2,2]")]
    {
        let error = stranger(&metadata(shape, chunks, &shards(inner, BYTES)), &[]).unwrap_err();
        assert!(matches!(error, Error::Blocks { .. } | Error::Malformed { .. }), "{error}");
    }
    let huge = 1_u64 << 40;
    for codecs in [BYTES.to_string(), shards(&format!("[{huge}]"), BYTES)] {
        let error = stranger(&metadata("[1]", &format!("[{huge}]"), &codecs), &[]).unwrap_err();
        assert!(matches!(error, Error::Blocks { .. }), "{error}");
    }
    let zstd = format!("{BYTES},{ZSTD}");
    let summed = format!(r#"{zstd},{{"name":"crc32c"}}"#);
    let refused = |frames: &[u8]| {
        let sum = checksum(CRC32C, frames).to_le_bytes();
        let [alone, summed] =
            [(&zstd, frames), (&summed, &[frames, &sum].concat())].map(|(codecs, stored)| {
                let t = stranger(&metadata("[4]", "[4]", codecs), stored).unwrap();
                t.to_vec().unwrap_err().to_string()
            });
        assert_eq!(alone, summed);
        alone
    };
    // A frame of one segment that claims 2^50 bytes, also behind one that is skipped; and 10,000 blocks of 128 KiB, each
    // of one byte, without a claim.
    let large = large();
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    for frames in [large.clone(), [&skipped[..], &large].concat()] {
        let error = refused(&frames);
        assert!(error.contains("claim 1125899906842624 bytes for a chunk of 32"), "{error}");
    }
    let block = |last: u8| [2 | last, 0, 0x10, 7];
    let blocks = [[block(0); 9_999].concat(), block(1).to_vec()].concat();
    let error = refused(&[&[0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3], &blocks[..]].concat());
    assert!(error.contains("claim 1310720000 bytes for a chunk of 32"), "{error}");
    assert!(refused(b"none of this").contains("it is no sequence of frames"));
}

/// What is decoded first is none of the names in the metadata but what zarrs makes of them, and what is below it is
/// decoded as well.
#[test]
fn frames_are_looked_at_wherever_they_are() {
    let refused = |codecs: &str, chunk: &[u8]| {
        let t = stranger(&metadata("[4]", "[4]", codecs), chunk);
        t.and_then(|t| t.to_vec()).unwrap_err().to_string()
    };
    let claims = "claim 1125899906842624 bytes for a chunk of 32";
    let gzip = r#"{"name":"gzip","configuration":{"level":1}}"#;
    let unknown = r#"{"name":"x","must_understand":false}"#;
    for codecs in [format!("{ZSTD},{BYTES}"), format!("{BYTES},{ZSTD},{unknown}")] {
        let error = refused(&codecs, &large());
        assert!(error.contains(claims), "{error}");
    }
    let error = refused(&format!("{BYTES},{ZSTD},{gzip}"), &gzipped(&large()));
    assert!(error.contains(claims), "{error}");
    // Around shards, in them, and in shards in them.
    let error = refused(&format!("{},{ZSTD}", shards("[4]", BYTES)), &large());
    assert!(error.contains("packed as a whole"), "{error}");
    let index = |start: u64, len: u64| [start.to_le_bytes(), len.to_le_bytes()].concat();
    let packed = format!("{BYTES},{ZSTD}");
    let shard = [large(), index(0, large().len() as u64)].concat();
    let error = refused(&shards("[4]", &packed), &shard);
    assert!(error.contains(claims), "{error}");
    let error = refused(&shards("[4]", &shards("[4]", &packed)), &shard);
    assert!(error.contains("its shards hold shards"), "{error}");
    // Version 2 has filters besides its compressor.
    let store = Arc::new(MemoryStore::new());
    let set = |key: &str, value: &[u8]| {
        store.set(&StoreKey::new(key).unwrap(), value.to_vec().into()).unwrap();
    };
    let filters = r#"{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"<f8","compressor":null,
        "filters":[{"id":"zstd","level":1}],"fill_value":0.0,"order":"C"}"#;
    set(".zarray", filters.as_bytes());
    set("0", &large());
    let error = zarr::open_in::<f64, _>(store, "/").unwrap().to_vec().unwrap_err().to_string();
    assert!(error.contains(claims), "{error}");
}

/// An index that leads out of its shard is an error, however far.
#[test]
fn shards_end_where_they_end() {
    let elements = [1.5_f64; 4].map(f64::to_le_bytes).concat();
    let read = |index: &[u64]| {
        let index = index.iter().map(|number| number.to_le_bytes());
        let shard = [elements.clone(), index.flatten().collect()].concat();
        stranger(&metadata("[4]", "[4]", &shards("[4]", BYTES)), &shard).unwrap().to_vec()
    };
    assert_eq!(read(&[0, 32]).unwrap(), [1.5; 4]);
    assert_eq!(read(&[u64::MAX, u64::MAX]).unwrap(), [0.0; 4]);
    for place in [[17, 32], [0, 1 << 62], [1 << 63, 1 << 63], [u64::MAX, 1], [u64::MAX, 0]] {
        let error = read(&place).unwrap_err().to_string();
        let [start, len] = place;
        let expected = format!("{len} bytes from {start} of a shard that has 48 are its place");
        assert!(error.contains(&expected), "{error}");
    }
    assert!(read(&[0, 31]).is_err());
    let short = stranger(&metadata("[4]", "[4]", &shards("[4]", BYTES)), &[0; 15]).unwrap();
    let error = short.to_vec().unwrap_err().to_string();
    assert!(error.contains("its shard has 15 bytes, and the index alone 16"), "{error}");
}

/// Chunks that a shard lacks are fill values and take no memory, like those of shards that are missing.
#[test]
fn chunks_that_shards_lack_are_fill_values() {
    let elements = [1.5_f64; 2].map(f64::to_le_bytes).concat();
    let index = [u64::MAX, u64::MAX, 0, 16].map(u64::to_le_bytes).concat();
    let shard = [elements, index].concat();
    let t = stranger(&metadata("[8]", "[4]", &shards("[2]", BYTES)), &shard).unwrap();
    let chunks = t.storage().storage();
    for lacking in [0, 2, 3] {
        let block = chunks.load(&[lacking]).unwrap();
        assert!(matches!(block, Block::Fill(0.0)), "{block:?}");
    }
    assert_eq!(t.to_vec().unwrap(), [0.0, 0.0, 1.5, 1.5, 0.0, 0.0, 0.0, 0.0]);
}

/// Shards whose axes are in another order, and whose chunks are in yet another one; the index first or last.
#[test]
fn shards_are_read_in_any_order() {
    for location in ["start", "end"] {
        let transposed =
            |order: &str| format!(r#"{{"name":"transpose","configuration":{{"order":{order}}}}}"#);
        let (around, inside) = (transposed("[1,2,0]"), transposed("[2,0,1]"));
        let gzip = r#"{"name":"gzip","configuration":{"level":1}}"#;
        // Chunks are (2, 1, 3) of the array, and shards (4, 3, 6).
        let codecs = format!(
            r#"{around},{{"name":"sharding_indexed","configuration":{{"chunk_shape":[1,3,2],
            "codecs":[{inside},{BYTES},{gzip}],"index_codecs":[{BYTES},{{"name":"crc32c"}}],
            "index_location":"{location}"}}}}"#
        );
        let (store, shape) = (Arc::new(MemoryStore::new()), [7, 5, 11]);
        let text = metadata("[7,5,11]", "[4,3,6]", &codecs);
        let array =
            Array::new_with_metadata(store.clone(), "/", serde_json::from_str(&text).unwrap())
                .unwrap();
        array.store_metadata().unwrap();
        let elements: Vec<f64> = (0..385).map(f64::from).collect();
        array.store_array_subset(&array.subset_all(), &elements).unwrap();
        let t = zarr::open_in::<f64, _>(store, "/").unwrap();
        assert_eq!(t.storage().storage().block(), [2, 1, 3]);
        assert_eq!(t.to_vec().unwrap(), elements);
        let turned = Tensor::from_vec(shape, elements).unwrap().transpose([2, 0, 1]).unwrap();
        assert_eq!(t.transpose([2, 0, 1]).unwrap().to_vec(), turned.to_vec());
    }
}
