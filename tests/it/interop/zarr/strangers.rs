//! Arrays of strangers: what small files could ask for much memory with, or make zarrs panic.

use lensor::dtype::DType;
use lensor::interop::zarr;
use lensor::interop::zarr::zarrs::array::Array;
use lensor::interop::zarr::zarrs::storage::byte_range::ByteRangeIterator;
use lensor::interop::zarr::zarrs::storage::store::MemoryStore;
use lensor::interop::zarr::zarrs::storage::{
    MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey, WritableStorageTraits,
};
use lensor::prelude::*;
use lensor::storage::{Block, Blocks};
use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Files that are larger than any chunk, and places in shards that are, are refused before memory is taken for them.
#[test]
fn files_larger_than_their_chunks_are_refused() {
    let first_of_shards = shards("[4]", BYTES).replace(r#""end""#, r#""start""#);
    for (codecs, start, found) in [
        (BYTES, vec![], 1_u64 << 34),
        (&format!("{BYTES},{ZSTD}"), vec![], 1 << 34),
        (&first_of_shards, [16, 1_u64 << 33].map(u64::to_le_bytes).concat(), 1 << 33),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("zarr.json"), metadata("[4]", "[4]", codecs)).unwrap();
        fs::create_dir(dir.path().join("c")).unwrap();
        let chunk = dir.path().join("c/0");
        fs::write(&chunk, start).unwrap();
        File::options().write(true).open(&chunk).unwrap().set_len(1 << 34).unwrap();
        let error = zarr::open::<f64>(dir.path()).unwrap().get([0]).unwrap_err().to_string();
        let expected = format!("it is stored in {found} bytes, and a chunk has 32");
        assert!(error.contains(&expected), "{error}");
    }
    let error = stranger(&metadata("[1]", "[536870912]", &shards("[1]", BYTES)), &[]).unwrap_err();
    assert!(error.to_string().contains("the index of its shards has 8589934592 bytes"), "{error}");
}

/// A store in which all chunks are the first one, and which counts how often it is asked for parts of them.
struct Alike(MemoryStore, AtomicUsize);

impl Alike {
    fn key(key: &StoreKey) -> StoreKey {
        StoreKey::new(if key.as_str().starts_with('c') { "c/0" } else { key.as_str() }).unwrap()
    }
}

impl ReadableStorageTraits for Alike {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        self.1.fetch_add(usize::from(key.as_str().starts_with('c')), Ordering::Relaxed);
        self.0.get_partial_many(&Self::key(key), ranges)
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        self.0.size_key(&Self::key(key))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

/// Indexes of shards are kept, but not more than 64 MiB of them.
#[test]
fn some_indexes_of_shards_are_kept() {
    let store = MemoryStore::new();
    let metadata = metadata("[8388608]", "[1048576]", &shards("[1]", BYTES));
    for (key, value) in [("zarr.json", metadata.into_bytes()), ("c/0", vec![0xff; 16 << 20])] {
        store.set(&StoreKey::new(key).unwrap(), value.into()).unwrap();
    }
    let store = Arc::new(Alike(store, AtomicUsize::new(0)));
    let t = zarr::open_in::<f64, _>(store.clone(), "/").unwrap();
    let reads = [0, 1, 2, 0, 1, 2, 3, 3, 0].map(|shard| {
        t.storage().storage().load(&[shard << 20]).unwrap();
        store.1.load(Ordering::Relaxed)
    });
    assert_eq!(reads, [1, 2, 3, 3, 3, 3, 4, 4, 5]);
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

/// Codecs that zarrs has whatever its features are, with what would make them panic or ask for much.
#[test]
fn codecs_that_believe_metadata_are_refused() {
    let reshape = r#"{"name":"reshape","configuration":{"shape":[4294967296,4294967296,-1]}}"#;
    let shuffle = r#"{"name":"numcodecs.shuffle","configuration":{"elementsize":0}}"#;
    let packbits = r#"{"name":"packbits","configuration":{"last_bit":1000}}"#;
    // In `f32`, whatever the types.
    let scaled = r#"{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":10,"dtype":"<f8",
        "astype":"<f8"}}"#;
    let none = format!("{reshape},{BYTES}");
    for codecs in [
        none.clone(),
        format!("{scaled},{BYTES}"),
        shards("[2]", &format!("{scaled},{BYTES}")),
        format!("{BYTES},{shuffle}"),
        packbits.to_string(),
        shards("[2]", &none),
        shards("[2]", packbits),
        shards("[1]", &shards("[1]", packbits)),
        shards("[2]", BYTES)
            .replace(&format!("\"index_codecs\":[{BYTES}]"), &format!("\"index_codecs\":[{none}]")),
    ] {
        let error = stranger(&metadata("[4]", "[4]", &codecs), &[0; 501]).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{codecs}: {error}");
    }
}

/// Zarr has types of its own that are kept as integers of ours.
#[test]
fn other_types_are_refused() {
    fn refused<T: zarr::ZarrElement>(dtype: &str, endian: &str) {
        let codec = format!(r#"{{"name":"bytes"{endian}}}"#);
        let text = metadata("[4]", "[4]", &codec).replace("0.0", "0");
        let store = Arc::new(MemoryStore::new());
        let text = text.replace(r#""float64""#, dtype).into_bytes();
        store.set(&StoreKey::new("zarr.json").unwrap(), text.into()).unwrap();
        let error = zarr::open_in::<T, _>(store.clone(), "/").unwrap_err();
        let Error::ElementType { expected, found } = error else { panic!("{error}") };
        assert_eq!(expected, T::DTYPE.name());
        assert!(dtype.contains(&found) || found.contains("numpy."), "{found}");
        assert_eq!(zarr::list_in(&*store, "/").unwrap()[0].dtype(), None);
    }
    for bits in [2, 4] {
        refused::<i8>(&format!(r#""int{bits}""#), "");
        refused::<u8>(&format!(r#""uint{bits}""#), "");
    }
    for name in ["datetime64", "timedelta64"] {
        let dtype =
            format!(r#"{{"name":"numpy.{name}","configuration":{{"unit":"s","scale_factor":1}}}}"#);
        refused::<i64>(&dtype, r#","configuration":{"endian":"little"}"#);
    }
}

/// Types may be objects with a name.
#[test]
fn types_are_known_by_their_names() {
    for dtype in [r#"{"name":"float64"}"#, r#"{"name":"float64","configuration":{}}"#] {
        let text = metadata("[4]", "[4]", BYTES).replace(r#""float64""#, dtype);
        let t = stranger(&text, &[0; 32]).unwrap();
        assert_eq!(t.to_vec().unwrap(), [0.0; 4]);
        let store = MemoryStore::new();
        store.set(&StoreKey::new("zarr.json").unwrap(), text.into_bytes().into()).unwrap();
        let entry = &zarr::list_in(&store, "/").unwrap()[0];
        assert_eq!((entry.dtype(), entry.stored_type()), (Some(DType::F64), "float64"));
    }
}

/// Chunks lie in the folder of their array.
#[test]
fn chunks_are_not_looked_for_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    fs::create_dir_all(array.join("c/0")).unwrap();
    fs::write(folder.path().join("other"), [7; 32]).unwrap();
    let encoding = r#"{"name":"zarrs.default_suffix","configuration":{"separator":"/","suffix":"/../../../other"}}"#;
    let text = metadata("[4]", "[4]", BYTES).replace(r#"{"name":"default"}"#, encoding);
    fs::write(array.join("zarr.json"), text).unwrap();
    let error = zarr::open::<f64>(&array).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("which is not read"), "{error}");
    assert_eq!(fs::read(folder.path().join("other")).unwrap(), [7; 32]);
}

/// The extents of chunks of several shapes may add up to more than there are numbers.
#[test]
fn chunks_of_several_shapes_are_refused() {
    let regular = r#"{"name":"regular","configuration":{"chunk_shape":[4]}}"#;
    let most = u64::MAX;
    let several = format!(
        r#"{{"name":"rectangular","configuration":{{"chunk_shape":[[{most},{most},6]]}}}}"#
    );
    let text = metadata("[4]", "[4]", BYTES).replace(regular, &several);
    let error = stranger(&text, &[0; 32]).unwrap_err();
    assert!(error.to_string().ends_with("its chunks are not of one shape"), "{error}");
}
