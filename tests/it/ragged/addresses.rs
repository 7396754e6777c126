//! Errors of storage below ragged tensors: the address is that of the storage, the index that of the tensor.

use crate::support::offline;
use lensor::prelude::*;
use lensor::ragged::{Offsets, Ragged, zip_ragged};
use lensor::storage::BoxReader;
use lensor::{Result, StorageError};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Rows `[0 1] [2] [3 4 5]` of addresses, of which 4 cannot be read, and whether the error names it and index `at`.
#[track_caller]
fn named<T: std::fmt::Debug>(result: Result<T>, at: [usize; 2]) {
    let source = StorageError::new(4, "offline");
    assert_eq!(result.unwrap_err(), Error::Storage { index: Some(at.to_vec()), source });
}

fn broken() -> Ragged<BoxReader<'static, i32>> {
    let content = Tensor::new([6], offline(6, 4..5)).unwrap();
    Ragged::new([3], Offsets::new(vec![0_usize, 2, 3, 6]).unwrap(), content).unwrap()
}

/// Rows that are gathered, whatever is computed of them.
#[test]
fn gathered_rows_name_the_address_of_the_storage() {
    let r = broken();
    let v = r.view().select((vec![2_usize, 0], ..)).unwrap();
    named(v.to_vec(), [0, 1]);
    named(v.eval(), [0, 1]);
    named((&v + 1).eval(), [0, 1]);
    named(v.view().sum(1).eval(), [0, 1]);
    named(v.view().max(0).eval(), [0, 1]);
    named(v.view().cumsum(1).eval(), [0, 1]);
    named(v.view().sort(1, SortOrder::Ascending).eval(), [0, 1]);
    named(v.view().median(1).eval(), [0, 1]);
    named(zip_ragged((&v, &v), |(x, y): (i32, i32)| x.max(y)).eval(), [0, 1]);
    named(v.try_equal(&v), [0, 1]);
    named(v.view().clip(1, 1..).unwrap().eval(), [0, 0]);
    named(v.view().flip(1).unwrap().eval(), [0, 1]);
    let mut to = Ragged::from_nested(vec![vec![0; 3], vec![0; 2]]).unwrap();
    named(to.assign(&v), [0, 1]);
}

/// Rows that are repeated, and rows with items of two elements.
#[test]
fn repeated_rows_name_the_address_of_the_storage() {
    let column = Tensor::new([5, 1], offline(5, 4..5)).unwrap();
    let rows = Ragged::from_nested(vec![vec![1], vec![], vec![2, 3], vec![], vec![4, 5]]).unwrap();
    named((&rows + &column).eval(), [4, 0]);
    let content = Tensor::new([3, 2], offline(6, 4..5)).unwrap();
    let pairs = Ragged::new([2], Offsets::new(vec![0_usize, 1, 3]).unwrap(), content).unwrap();
    let error = pairs.view().select((vec![1_usize, 0],)).unwrap().eval().unwrap_err();
    let source = StorageError::new(4, "offline");
    assert_eq!(error, Error::Storage { index: Some(vec![0, 1, 0]), source });
}

/// Padded rows are storage with addresses of its own.
#[test]
fn padded_rows_name_their_own_address() {
    let padded = broken().padded(1, Some(4), 0).unwrap();
    let source = StorageError::new(9, "offline");
    let error = Error::Storage { index: Some(vec![2, 1]), source };
    assert_eq!(padded.get([2, 1]).unwrap_err(), error);
    assert_eq!(padded.to_vec().unwrap_err(), error);
    assert_eq!((&padded + 1).eval().unwrap_err(), error);
}

/// All elements, and whether they equal others, at an index of all axes.
#[test]
fn elements_name_the_index_of_all_axes() {
    // [[[0, 1], [2, 3]], [], [[4, 5], [6, 7], [8, 9]]]
    let content = Tensor::new([5, 2], offline(10, 7..8)).unwrap();
    let offsets = Offsets::new(vec![0_usize, 2, 2, 5]).unwrap();
    let r = Ragged::new([3], offsets, content).unwrap();
    let source = StorageError::new(7, "offline");
    let at =
        |index: [usize; 3]| Error::Storage { index: Some(index.to_vec()), source: source.clone() };
    assert_eq!(r.eval().unwrap_err(), at([2, 1, 1]));
    assert_eq!(r.to_vec().unwrap_err(), at([2, 1, 1]));
    assert_eq!(r.try_equal(&r).unwrap_err(), at([2, 1, 1]));
    let turned = r.view().flip(1).unwrap().clip(1, 1..).unwrap();
    assert_eq!(turned.to_vec().unwrap_err(), at([2, 0, 1]));
}

/// Addresses; the `fail`th reading fails.
#[derive(Debug)]
struct Once {
    readings: AtomicUsize,
    fail: usize,
}

impl Reader for Once {
    type Elem = i64;

    fn len(&self) -> usize {
        6
    }

    fn read(&self, address: usize) -> i64 {
        address as i64
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        match self.readings.fetch_add(1, Relaxed) == self.fail {
            true => Err(StorageError::new(address, "busy")),
            false => Ok(self.read(address)),
        }
    }
}

/// An element that can be read when it is asked for again.
#[test]
fn a_single_failure_names_its_address_and_index() {
    for run in 0..3 {
        let mut found = 0;
        for fail in 0..5 {
            let content = Tensor::new([6], Once { readings: AtomicUsize::new(0), fail }).unwrap();
            let offsets = Offsets::new(vec![0_usize, 2, 3, 6]).unwrap();
            let r = Ragged::new([3], offsets, content).unwrap();
            let v = r.view().select((vec![2_usize, 0], ..)).unwrap();
            let result = match run {
                0 => v.eval(),
                1 => (&v + 1).eval(),
                _ => v.sort(1, SortOrder::Ascending).eval(),
            };
            let Err(error) = result else { continue };
            let Error::Storage { index: Some(index), source } = error else { panic!("{error}") };
            let address = [[3, 4, 5], [0, 1, 6]][index[0]][index[1]];
            assert_eq!(source.address, address, "{run}, reading {fail}: {index:?}");
            found += 1;
        }
        assert!(found > 0, "{run}");
    }
}
