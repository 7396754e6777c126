//! Disks that are full and processes that are killed within a chunk: the test runs itself as another process that may
//! write only so many bytes to a file.

use crate::support::test_name;
use lensor::interop::zarr::{self, Options};
use lensor::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What the other process is to do, and where.
const ORDER: &str = "TEST_ZARR_ORDER";
const PATH: &str = "TEST_ZARR_STOPPED";

/// Runs another process that beyond 8 to 16 KiB of a file gets an error or, if it is `killed`, a signal.
fn elsewhere(order: &str, path: &Path, killed: bool) -> ExitStatus {
    let trap = if killed { "" } else { "trap '' XFSZ;" };
    let script = format!("ulimit -f 16; ulimit -c 0; {trap} exec \"$0\" --exact \"$1\"");
    Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .arg(test_name(module_path!(), "the_other_process"))
        .env(ORDER, order)
        .env(PATH, path)
        .output()
        .unwrap()
        .status
}

/// Chunks of 32 KiB if they are not packed; those of numbers that are small pack to little.
fn options() -> Options<u64> {
    Options::new([16, 256]).gzip(1)
}

/// Eight chunks, of which every other one is of numbers of which gzip makes nothing.
fn elements() -> Tensor<Vec<u64>> {
    let mix = |k: u64| (k ^ (k >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31) | 1;
    Tensor::from_index([128, 256], |index| {
        let k = (index[0] * 256 + index[1]) as u64;
        if index[0] / 16 % 2 == 0 { 7 } else { mix(mix(k + 1)) }
    })
    .unwrap()
}

/// Fails unless writing does, with an error that names a file.
#[test]
fn the_other_process() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let error = match order.as_str() {
        "write" => zarr::write(&path, elements(), &options()).unwrap_err(),
        "assign" => zarr::open::<u64>(&path).unwrap().assign(elements()).unwrap_err(),
        _ => zarr::create(&path, [8, 8], &large()).unwrap_err(),
    };
    let text = error.to_string();
    assert!(text.contains("cannot write ") && text.contains("File too large"), "{text}");
}

/// Metadata that is more than a file may have.
fn large() -> Options<u64> {
    Options::new([8, 8]).attribute("a", "b".repeat(50_000))
}

/// The array of a folder, chunk by chunk what it was or what it should become.
fn is_old_or_new(path: &Path, old: u64) {
    let t = zarr::open::<u64>(path).unwrap();
    let (missing, new) = (t.storage().storage().missing().unwrap(), elements());
    for row in 0..8 {
        let rows = 16 * row..16 * row + 16;
        let found = t.view().slice(0, rows.clone()).unwrap().to_vec().unwrap();
        let is_new = found == new.view().slice(0, rows).unwrap().to_vec().unwrap();
        let is_old = found.iter().all(|x| *x == old);
        assert!(is_old || is_new, "{row}");
        if old == 0 {
            assert_eq!(is_old, missing.iter().any(|index| index[..] == [row, 0]), "{row}");
        }
        // Of these no other process could write one.
        assert!(is_old || row % 2 == 0, "{row}");
    }
}

/// Names in the folders of an array that begin with a dot.
fn hidden(path: &Path) -> usize {
    let inside = std::fs::read_dir(path).into_iter().flatten().flatten();
    inside
        .map(|entry| {
            let own = entry.file_name().to_string_lossy().starts_with('.');
            usize::from(own) + if entry.path().is_dir() { hidden(&entry.path()) } else { 0 }
        })
        .sum()
}

#[test]
fn chunks_are_old_or_new() {
    use std::os::unix::process::ExitStatusExt;
    for killed in [false, true] {
        let stopped = |order: &str, path: &Path| {
            let status = elsewhere(order, path, killed);
            assert!(
                if killed { status.signal().is_some() } else { status.success() },
                "{status:?}"
            );
            assert!(killed || hidden(path) == 0, "{order}");
        };
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new"), dir.path().join("old"));
        stopped("write", &new);
        is_old_or_new(&new, 0);
        zarr::write(&old, Tensor::full([128, 256], 9).unwrap(), &options()).unwrap();
        stopped("assign", &old);
        is_old_or_new(&old, 9);
        // What was left does not hinder who writes again.
        zarr::open::<u64>(&old).unwrap().assign(elements()).unwrap();
        assert_eq!(zarr::open::<u64>(&old).unwrap().to_vec(), elements().to_vec());
        // Without metadata there is no array, and room for one.
        let other = dir.path().join("other");
        stopped("create", &other);
        assert!(!other.join("zarr.json").exists());
        zarr::create(&other, [8, 8], &large()).unwrap();
    }
}
