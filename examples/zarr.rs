//! An array of 288 MB on disk, in chunks: made, and then a new one computed of two views of it, with a few chunks in
//! memory at a time. `cargo run --release --example zarr --features zarr`

use indicatif::{ProgressBar, ProgressStyle};
use lensor::interop::zarr::{self, Options};
use lensor::prelude::*;
use std::path::Path;

const SIDE: usize = 6000;
const CHUNK: usize = 500;

/// Options whose progress a bar shows.
fn shown(what: &'static str) -> Options<f64> {
    let style = ProgressStyle::with_template("{msg:20} {bar:40} {pos}/{len} chunks {elapsed}");
    let bar = ProgressBar::new(0).with_style(style.unwrap()).with_message(what);
    Options::new([CHUNK, CHUNK]).zstd(1).on_progress(move |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if done == total {
            bar.finish();
        }
    })
}

/// The most memory that this process has held, in MiB, where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// An array that keeps 16 MiB of its chunks.
fn open(path: &Path) -> lensor::Result<zarr::Array<f64>> {
    let t = zarr::open(path)?;
    Tensor::new(t.shape(), t.into_storage().with_budget(16 << 20))
}

/// The element at an index.
fn element(i: usize, j: usize) -> f64 {
    ((i * 7 + j * 3) % 1000) as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let (input, output) = (dir.path().join("input.zarr"), dir.path().join("output.zarr"));

    // Computed where it is written: nothing of this size is ever in memory.
    let made = Tensor::from_fn([SIDE, SIDE], |k| element(k / SIDE, k % SIDE))?;
    zarr::write(&input, &made, &shown("writing the input"))?;

    // Each operand keeps a few chunks of its own.
    let (a, b) = (open(&input)?, open(&input)?);
    let turned = a.view().transpose([1, 0])?;
    let rotated = b.view().rotate([0, 1500])?;
    let e = turned * 0.5 + rotated;
    println!("{}", e.explain()?);
    zarr::write(&output, &e, &shown("computing the output"))?;
    println!("chunks loaded: {} and {}", a.storage().stats().loads, b.storage().stats().loads);
    let chunks = (SIDE / CHUNK) * (SIDE / CHUNK);
    assert_eq!([a.storage().stats().loads, b.storage().stats().loads], [chunks; 2]);

    let result = open(&output)?;
    assert!(result.storage().storage().missing()?.is_empty());
    for (i, j) in [(0, 0), (1, 2), (499, 500), (1500, 1499), (4321, 1234), (SIDE - 1, SIDE - 1)] {
        let expected = 0.5 * element(j, i) + element(i, (j + SIDE - 1500) % SIDE);
        assert_eq!(result.get([i, j])?, expected, "[{i}, {j}]");
    }
    let (sum, whole) = (result.sum(..).eval()?.item()?, made.sum(..).eval()?.item()?);
    println!("sum {sum}, expected {}", 1.5 * whole);
    assert_eq!(sum, 1.5 * whole);

    if let Some(peak) = peak() {
        let whole = (SIDE * SIDE * 8) >> 20;
        println!("peak memory: {peak:.0} MiB of {whole} on disk before packing");
        assert!(peak < 200.0, "{peak} MiB");
    }
    Ok(())
}
