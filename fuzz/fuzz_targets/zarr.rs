//! Any metadata and chunks as a Zarr array: an error, or elements. Two bytes say how long the metadata is.
#![no_main]

use lensor::interop::zarr::zarrs::storage::{StoreKey, WritableStorageTraits, store::MemoryStore};
use lensor::interop::zarr::{self, ZarrElement};
use lensor::storage::Blocks as _;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Most elements that are read.
const COUNT: usize = 1 << 12;

fn read<T: ZarrElement>(store: &Arc<MemoryStore>) {
    let Ok(t) = zarr::open_in::<T, _>(store.clone(), "/") else { return };
    let each: usize = t.storage().storage().block().iter().product();
    if t.len() <= COUNT && each <= COUNT {
        let _ = t.to_vec();
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [low, high, rest @ ..] = bytes else { return };
    let (metadata, chunks) =
        rest.split_at(rest.len().min(u16::from_le_bytes([*low, *high]) as usize));
    let store = Arc::new(MemoryStore::new());
    let set = |key: &str, value: &[u8]| {
        let key = StoreKey::new(key).expect("a good key");
        store.set(&key, value.to_vec().into()).expect("memory does not fail");
    };
    set("zarr.json", metadata);
    for key in ["c", "c/0", "c/1", "c/0/0", "c/0/1", "c/1/0", "c/0/0/0"] {
        set(key, chunks);
    }
    let _ = zarr::list_in(&*store, "/");
    read::<f64>(&store);
    read::<i16>(&store);
    read::<bool>(&store);
});
