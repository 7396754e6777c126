//! Folds of entries that are broadcast along the last axis, against loops.

use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::reduce::Reducer;
use lensor::storage::Duplicates;

/// The elements of a cell as they come. Its state is on the heap.
struct Gathered;

impl Reducer<i64> for Gathered {
    type State = Vec<i64>;
    type Out = u64;
    fn empty(&self) -> Option<Vec<i64>> {
        None
    }
    fn first(&self, x: i64) -> Vec<i64> {
        vec![x]
    }
    fn step(&self, state: &mut Vec<i64>, x: i64) {
        state.push(x);
    }
    fn combine(&self, state: &mut Vec<i64>, later: Vec<i64>) {
        state.extend(later);
    }
    fn finish(&self, mut state: Vec<i64>) -> u64 {
        state.sort_unstable();
        state.iter().fold(7, |hash: u64, x| hash.wrapping_mul(31) ^ *x as u64)
    }
}

/// Fibers of all lengths, of more entries than are located at once, that have runs of one cell or none.
#[test]
fn fibers_of_many_entries_are_folded_like_loops() {
    let (rows, columns) = (40_usize, 60_usize);
    let at: Vec<usize> =
        (0..rows * columns).filter(|k| k * k % 7 < 3 || k / columns == 5).collect();
    let indexes: Vec<[usize; 2]> = at.iter().map(|k| [k / columns, k % columns]).collect();
    let values: Vec<i64> = at.iter().map(|k| *k as i64 % 13 + 1).collect();
    assert!(values.len() > 1024);
    let x =
        Tensor::from_coordinates([rows, columns], 0, &indexes, values.clone(), Duplicates::Refuse);
    let x = x.unwrap();
    for len in [2, 3, 4, 5, 16, 17, 21, 40, 600] {
        let table =
            Tensor::from_index([columns, len], |i| (i[0] * 5 + i[1]) as i64 % 11 - 5).unwrap();
        let spread = x.view().insert_axis(2).unwrap();
        let terms = zip_stored((spread, &table), 0, |(x, y)| x * y);
        let mut dense = vec![0; rows * columns * len];
        for (&[i, j], x) in indexes.iter().zip(&values) {
            for k in 0..len {
                dense[(i * columns + j) * len + k] = x * table.get([j, k]).unwrap();
            }
        }
        let dense = Tensor::from_vec([rows, columns, len], dense).unwrap();
        for axis in [0, 1] {
            assert_eq!(terms.view().sum(axis).to_vec(), dense.sum(axis).to_vec(), "{len}, {axis}");
            let gathered = terms.view().fold(axis, Gathered).to_vec();
            assert_eq!(gathered, dense.fold(axis, Gathered).to_vec(), "{len}, {axis}");
        }
    }
}

/// A box takes the place of the operands in it, whatever is evaluated together.
#[test]
fn fibers_of_boxes_are_those_of_what_is_in_them() {
    let indexes = [[0, 1], [1, 0], [1, 2]];
    let x = Tensor::from_coordinates([2, 3], 0, &indexes, vec![2, 3, 5], Duplicates::Refuse);
    let x = x.unwrap().insert_axis(2).unwrap();
    let table = Tensor::from_index([3, 4], |i| (i[0] * 4 + i[1]) as i64).unwrap();
    let expected = zip_stored((&x, &table * 2), 0, |(x, y)| x * y).sum(1).to_vec().unwrap();
    assert_eq!(expected, [16, 20, 24, 28, 80, 96, 112, 128]);
    let boxed = (&table * 2).boxed();
    let terms = zip_stored((&x, boxed), 0, |(x, y)| x * y);
    assert_eq!(terms.sum(1).to_vec().unwrap(), expected);
    let terms = zip_stored(((&x * 1).boxed(), &table * 2), 0, |(x, y)| x * y);
    assert_eq!(terms.sum(1).to_vec().unwrap(), expected);
}
