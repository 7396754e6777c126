//! What views that lie across the order of storage, or in none, ask of it: calls for runs, and loads of blocks.

use crate::storage::chunked::blocks_of;
use crate::support::pool;
use lensor::prelude::*;
use lensor::storage::{Chunked, read_each};
use lensor::{Reader, StorageError, Tensor};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Storage that counts calls for runs.
struct Calls(Vec<f64>, AtomicUsize);

impl Reader for Calls {
    type Elem = f64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> f64 {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0[address]
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [f64]) -> Result<(), StorageError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        read_each(&self.0, start, step, out)
    }
}

type Asked<'a> = Tensor<&'a dyn Reader<Elem = f64>>;
type Run<'r> = &'r (dyn Fn(Asked<'_>) -> lensor::Result<Vec<f64>> + Sync);

fn numbers(shape: &[usize]) -> Vec<f64> {
    (0..shape.iter().product()).map(|k| (k * 7919 % 5003) as f64).collect()
}

/// Runs an operation on a storage, by so many threads. It has the same results on memory.
fn ask(shape: &[usize], storage: &dyn Reader<Elem = f64>, threads: usize, run: Run<'_>) {
    let on = |storage| run(Tensor::new(shape, storage).unwrap()).unwrap();
    let memory = numbers(shape);
    assert!(pool(threads).install(|| on(storage)) == on(&memory));
}

/// Calls for runs or elements of an operation by one thread.
fn calls(shape: &[usize], run: Run<'_>) -> usize {
    let storage = Calls(numbers(shape), AtomicUsize::new(0));
    ask(shape, &storage, 1, run);
    storage.1.into_inner()
}

/// Loads of an operation by so many threads, over the blocks there are, of which so many are held.
fn loads([shape, block]: [&[usize]; 2], [held, threads]: [usize; 2], run: Run<'_>) -> f64 {
    let blocks = blocks_of(shape, block, &numbers(shape));
    let chunked = Chunked::new(blocks).unwrap().with_blocks(held);
    ask(shape, &chunked, threads, run);
    let counts = shape.iter().zip(block).map(|(extent, side)| extent.div_ceil(*side));
    chunked.stats().loads as f64 / counts.product::<usize>() as f64
}

/// Rows of one element are read many at a time, and as parts of lines of blocks.
#[test]
fn rows_of_one_element_are_read_together() {
    let shape = [32, 512];
    let runs: [Run<'_>; 4] = [
        &|t| t.insert_axis(2)?.sum(2).to_vec(),
        &|t| t.insert_axis(2)?.cumsum(2).to_vec(),
        &|t| t.reshape([32 * 512, 1])?.var(1).to_vec(),
        &|t| t.reshape([32 * 512, 1])?.rolling(1, 1).sum().to_vec(),
    ];
    for run in runs {
        assert!(calls(&shape, run) <= 20);
    }
    let sides = [&[192, 704][..], &[64, 64]];
    let runs: [Run<'_>; 3] = [
        &|t| t.reshape([192 * 704, 1])?.cumsum(1).to_vec(),
        &|t| t.insert_axis(0)?.sum(0).to_vec(),
        &|t| t.reshape([48, 4, 704])?.max(1).to_vec(),
    ];
    for run in runs {
        assert_eq!(loads(sides, [2, 1], run), 1.0);
    }
    let volume = [&[32, 64, 64][..], &[16, 16, 16]];
    let scan: Run<'_> = &|t| t.reshape([32 * 64, 64, 1])?.cumsum(0).to_vec();
    assert_eq!(loads(volume, [16, 1], scan), 1.0);
}

/// What is transposed and then reshaped is read in as long runs as what is transposed alone.
#[test]
fn reshaped_after_transposed_is_read_in_long_runs() {
    let shape = [144, 1024];
    let runs: [Run<'_>; 2] =
        [&|t| t.transpose([1, 0])?.reshape([144, 1024])?.sum(1).to_vec(), &|t| {
            t.transpose([1, 0])?.reshape([144, 1024])?.cumsum(0).to_vec()
        }];
    for run in runs {
        assert!(calls(&shape, run) <= 20);
        assert_eq!(loads([&shape, &[4, 1024]], [16, 1], run), 1.0);
        // By three threads a block may be loaded again in between.
        assert!(loads([&shape, &[4, 1024]], [16, 3], run) <= 2.0);
    }
}

/// Rows that a list brings to blocks in no order are copied first, and so are volumes whose axes are rotated.
#[test]
fn rows_in_no_order_load_each_block_once() {
    let sides = [&[256, 576][..], &[64, 64]];
    let orders: [fn(usize) -> usize; 2] = [|k| k * 79 % 256, |k| k * (k + 1) / 2 % 256];
    for order in orders {
        let rows: Vec<usize> = (0..256).map(order).collect();
        let runs: [Run<'_>; 4] = [
            &|t| t.select((&rows[..], ..))?.sum(0).to_vec(),
            &|t| t.select((&rows[..], ..))?.sum(1).to_vec(),
            &|t| t.select((&rows[..], ..))?.rolling(1, 5).sum().to_vec(),
            &|t| t.by_key(0, rows.iter().map(|row| row % 5).collect::<Vec<_>>(), 5).sum().to_vec(),
        ];
        for run in runs {
            assert_eq!(loads(sides, [9, 1], run), 1.0);
        }
    }
    let volume = [&[32, 64, 64][..], &[1, 64, 64]];
    let runs: [Run<'_>; 2] =
        [&|t| t.rotate([5, 10, 0])?.cumsum(0).to_vec(), &|t| t.rotate([5, 10, 0])?.sum(0).to_vec()];
    for run in runs {
        assert_eq!(loads(volume, [2, 1], run), 1.0);
    }
}

/// Threads that come to the same blocks, as these are as tall as all rows, share them out in few parts.
#[test]
fn tall_blocks_are_loaded_once_a_thread() {
    let sides = [&[512, 512][..], &[512, 8]];
    let runs: [Run<'_>; 2] = [&|t| t.sum(1).to_vec(), &|t| t.sum(..).to_vec()];
    for run in runs {
        assert_eq!(loads(sides, [8, 1], run), 1.0);
        let found = loads(sides, [8, 3], run);
        assert!(found <= 4.0, "{found}");
    }
}

/// Along the rows of a transposed view as many are read at once as a window holds.
#[test]
fn transposed_rows_are_read_together() {
    let runs: [Run<'_>; 7] = [
        &|t| t.transpose([1, 0])?.cumsum(1).to_vec(),
        &|t| t.transpose([1, 0])?.rolling(1, 5).sum().to_vec(),
        &|t| t.transpose([1, 0])?.segments(1, [0, 7, 256]).sum().to_vec(),
        &|t| t.transpose([1, 0])?.derivative(1, 1.0, lensor::stencil::EdgeOrder::First).to_vec(),
        &|t| t.transpose([1, 0])?.greater(2500.0).nonzero()?.map(|k| k as f64).to_vec(),
        &|t| Ok(vec![f64::from(t.transpose([1, 0])?.all_close(0.0, 0.0, 5003.0)?)]),
        &|t| t.transpose([1, 0])?.try_iter().collect(),
    ];
    for run in runs {
        assert!(calls(&[256, 512], run) <= 60);
    }
}

/// Elements that windows of a rotated view share are read once, in runs.
#[test]
fn windows_of_rotated_views_are_read_in_runs() {
    let runs: [Run<'_>; 2] = [&|t| t.rotate([10, 33])?.windows(1, 3)?.to_vec(), &|t| {
        t.rotate([10, 33])?.windows(1, 9)?.mean(2).to_vec()
    }];
    for run in runs {
        assert!(calls(&[32, 256], run) <= 64);
    }
}

/// A column that is repeated does not lie across rows: no more of it is read than asked for.
#[test]
fn repeated_columns_are_read_in_small_parts() {
    let read = AtomicUsize::new(0);
    let column = Tensor::from_fn([512, 1], |k| {
        read.fetch_add(1, Ordering::Relaxed);
        k as f64
    });
    let column = column.unwrap().broadcast([512, 256]).unwrap();
    let sum = column + Tensor::full([512, 256], 1.0).unwrap();
    let first = sum.for_each_box(1024, |_, _| Err(Error::Axis { axis: 0, rank: 0 }));
    assert!(first.is_err());
    assert!(read.into_inner() <= 8);
}
