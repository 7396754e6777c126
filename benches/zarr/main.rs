//! Zarr arrays in the page cache against the same operation on memory, and against `zarrs`, which decodes all chunks first.
//!
//! `cargo bench --features zarr --bench zarr [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed; arrays are opened anew each time. `zarr_python.py` times the same rows in zarr-python.
#![allow(unsafe_code, reason = "maps files of a directory of its own")]

use lensor::interop::zarr::zarrs::array::Array;
use lensor::interop::zarr::zarrs::filesystem::FilesystemStore;
use lensor::interop::zarr::{self, Options};
use lensor::prelude::*;
use report::{Bench, Match};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// Sides of a chunk: 2 MiB.
const CHUNK: usize = 512;

fn main() {
    let mut bench = Bench::from_arguments();
    let side = bench.side().max(2 * CHUNK);
    let data = (0..side * side).map(|k| (k % 1009) as f64).collect();
    let t = Tensor::from_vec([side, side], data).expect("a square");
    let dir = tempfile::tempdir().expect("a directory");
    let [raw, zstd] = ["raw", "zstd"].map(|name| dir.path().join(name));
    let options = Options::new([CHUNK, CHUNK]);
    zarr::write(&raw, &t, &options).expect("chunks");
    zarr::write(&zstd, &t, &options.zstd(1)).expect("chunks");

    let open = |path: &Path| zarr::open::<f64>(path).expect("an array");
    // SAFETY: nobody else knows the directory.
    let map = |path: &Path| unsafe { zarr::map::<f64>(path) }.expect("an array");
    rows(&mut bench, "raw, mapped", 1.3, &t, &raw, &map);
    rows(&mut bench, "raw, opened", 1.3, &t, &raw, &open);
    rows(&mut bench, "zstd, opened", 1.3, &t, &zstd, &open);
}

/// A sum, a copy and a transposed copy.
fn rows<S: Reader<Elem = f64>>(
    bench: &mut Bench,
    what: &str,
    reach: f64,
    t: &Tensor<Vec<f64>>,
    path: &Path,
    open: &(dyn Fn(&Path) -> Tensor<S> + Sync),
) {
    let side = t.shape()[0];
    let keep = |x: lensor::Result<f64>| {
        black_box(x.expect("a sum"));
    };
    let expected = t.sum(..).item().expect("a sum");
    assert_eq!(open(path).sum(..).item().expect("a sum").to_bits(), expected.to_bits(), "{what}");
    bench_row(
        bench,
        &format!("sum: {what}"),
        reach,
        &mut || keep(open(path).sum(..).item()),
        &mut || keep(t.sum(..).item()),
        &mut || keep(decoded(path, side).sum(..).item()),
    );
    let copied = open(path).eval().expect("a copy");
    assert!(copied.storage() == t.storage(), "{what}");
    bench_row(
        bench,
        &format!("copy: {what}"),
        reach,
        &mut || drop(black_box(open(path).eval().expect("a copy"))),
        &mut || drop(black_box(t.eval().expect("a copy"))),
        &mut || drop(black_box(decoded(path, side))),
    );
    let turned = open(path).transpose([1, 0]).expect("a view").eval().expect("a copy");
    assert_eq!(turned.get([3, 5]), t.get([5, 3]), "{what}");
    bench_row(
        bench,
        &format!("transposed: {what}"),
        reach,
        &mut || {
            let view = open(path).transpose([1, 0]).expect("a view");
            black_box(view.eval().expect("a copy"));
        },
        &mut || {
            let view = t.view().transpose([1, 0]).expect("a view");
            black_box(view.eval().expect("a copy"));
        },
        &mut || {
            let view = decoded(path, side).transpose([1, 0]).expect("a view");
            black_box(view.eval().expect("a copy"));
        },
    );
}

fn bench_row(
    bench: &mut Bench,
    name: &str,
    reach: f64,
    ours: &mut (dyn FnMut() + Send),
    memory: &mut (dyn FnMut() + Send),
    alone: &mut (dyn FnMut() + Send),
) {
    if bench.wants(name) {
        bench.run_match(Match { name, reach, ours, peer: ("memory", memory), naive: Some(alone) });
    }
}

/// All chunks as `zarrs` alone decodes them, one after another, in one tensor.
fn decoded(path: &Path, side: usize) -> Tensor<Vec<f64>> {
    let store = Arc::new(FilesystemStore::new(path).expect("a folder"));
    let array = Array::open(store, "/").expect("an array");
    let all = array.retrieve_array_subset::<Vec<f64>>(&array.subset_all()).expect("chunks");
    Tensor::from_vec([side, side], all).expect("a square")
}
