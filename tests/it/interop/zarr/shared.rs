//! Chunks that are not decoded.

use lensor::dtype::ByteOrder;
use lensor::interop::zarr::zarrs::storage::byte_range::ByteRange;
use lensor::interop::zarr::zarrs::storage::store::MemoryStore;
use lensor::interop::zarr::zarrs::storage::{
    ReadableStorageTraits, StoreKey, WritableStorageTraits,
};
use lensor::interop::zarr::{self, FolderStore, MappedStore, Options};
use lensor::prelude::*;
use lensor::storage::{Block, Blocks};
use std::sync::Arc;

/// Chunks that are not encoded are shared with the store, of which a folder can be mapped; all others are decoded.
#[test]
fn raw_chunks_are_shared() {
    let shape = [200, 150];
    let t = Tensor::from_index(shape, |index| (index[0] * 150 + index[1]) as f64).unwrap();
    let chunks = || Options::new([100, 100]);
    for (options, shared) in [
        (chunks(), true),
        (chunks().byte_order(ByteOrder::Big), false),
        (chunks().gzip(1), false),
        (chunks().crc32c(), false),
        (chunks().transposed(&[1, 0]), false),
        (chunks().shards([200, 100]), false),
        (chunks().shards([100, 200]).zstd(1), false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        zarr::write(dir.path(), &t, &options).unwrap();
        assert_eq!(zarr::open::<f64>(dir.path()).unwrap().eval().unwrap(), t);
        #[allow(unsafe_code, reason = "maps files of the test")]
        // SAFETY: nobody else knows the directory.
        let mapped = unsafe { zarr::map::<f64>(dir.path()) }.unwrap();
        assert_eq!(mapped.eval().unwrap(), t);
        assert_eq!(mapped.view().transpose([1, 0]).unwrap().sum(..).item(), t.sum(..).item());

        let store = Arc::new(MemoryStore::new());
        let mut out = zarr::create_in::<f64, _>(store.clone(), "/", shape, &options).unwrap();
        out.assign(&t).unwrap();
        drop(out);
        let in_memory = zarr::open_in::<f64, _>(store.clone(), "/").unwrap();
        assert_eq!(in_memory.eval().unwrap(), t);
        let block = in_memory.storage().storage().load(&[0, 0]).unwrap();
        let Block::Shared(elements) = block else { panic!("{block:?}") };
        let stored = store.get(&StoreKey::new("c/0/0").unwrap()).unwrap().unwrap();
        let lies = (*elements).as_ref().as_ptr().addr() == stored.as_ptr().addr();
        assert_eq!(lies, shared, "{options:?}");
    }
    // A small file is read, one that vanishes is a fill value, one that is too short an error.
    let dir = tempfile::tempdir().unwrap();
    zarr::write(dir.path(), &t, &Options::new([200, 75])).unwrap();
    let open = || {
        #[allow(unsafe_code, reason = "maps files of the test")]
        // SAFETY: nobody else knows the directory, and no file is changed while it is mapped.
        unsafe { zarr::map::<f64>(dir.path()) }.unwrap()
    };
    std::fs::remove_file(dir.path().join("c/0/1")).unwrap();
    assert_eq!(open().get([3, 80]).unwrap(), 0.0);
    std::fs::File::options()
        .write(true)
        .open(dir.path().join("c/0/0"))
        .unwrap()
        .set_len(119_992)
        .unwrap();
    let error = open().get([3, 4]).unwrap_err();
    assert!(error.to_string().contains("a block has 14999 elements instead of 15000"), "{error}");
    for bytes in [15, 120_004] {
        std::fs::write(dir.path().join("c/0/0"), vec![0; bytes]).unwrap();
        let error = open().get([3, 4]).unwrap_err();
        let expected = format!("chunk [0, 0] of a Zarr array: {bytes} bytes are no whole elements");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

/// Parts of files are what they say, or an error: no memory is taken for what is not there.
#[test]
fn parts_of_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let folder = FolderStore::new(dir.path()).unwrap();
    #[allow(unsafe_code, reason = "maps files of the test")]
    // SAFETY: nobody else knows the directory, and no file is changed while it is mapped.
    let mapped = unsafe { MappedStore::new(dir.path()) }.unwrap();
    for len in [100, 100_000] {
        let bytes: Vec<u8> = (0..len).map(|k| k as u8).collect();
        let key = StoreKey::new(format!("of/{len}")).unwrap();
        folder.set(&key, bytes.clone().into()).unwrap();
        let size = len as u64;
        for store in [&folder as &dyn ReadableStorageTraits, &mapped] {
            for (range, part) in [
                (ByteRange::FromStart(0, None), 0..len),
                (ByteRange::FromStart(7, Some(5)), 7..12),
                (ByteRange::FromStart(size, None), len..len),
                (ByteRange::FromStart(3, Some(size - 3)), 3..len),
                (ByteRange::Suffix(9), len - 9..len),
            ] {
                assert_eq!(store.get_partial(&key, range).unwrap().unwrap(), bytes[part]);
            }
            for range in [
                ByteRange::FromStart(1, Some(size)),
                ByteRange::FromStart(1, Some(u64::MAX)),
                ByteRange::FromStart(size + 1, None),
                ByteRange::Suffix(size + 1),
            ] {
                store.get_partial(&key, range).unwrap_err();
            }
            assert!(store.get(&StoreKey::new("none").unwrap()).unwrap().is_none());
        }
    }
}

/// Bytes that are no answer are an error.
#[test]
fn answers_are_checked() {
    let t = Tensor::from_vec([4], vec![true, false, true, true]).unwrap();
    let store = Arc::new(MemoryStore::new());
    let mut out = zarr::create_in::<bool, _>(store.clone(), "/", [4], &Options::new([4])).unwrap();
    out.assign(&t).unwrap();
    drop(out);
    let open = || zarr::open_in::<bool, _>(store.clone(), "/").unwrap();
    assert_eq!(open().eval().unwrap(), t);
    store.set(&StoreKey::new("c/0").unwrap(), vec![0, 1, 2, 0].into()).unwrap();
    assert!(open().to_vec().unwrap_err().to_string().contains("chunk [0]"));
}
