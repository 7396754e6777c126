//! Short lanes along the last axis, many of which are computed together.

use super::along::{Compose, InOrder, Largest, Small, each_lane, result};
use lensor::prelude::*;
use lensor::reduce::Reducer;
use std::fmt::Debug;

/// Shapes below and above what is read without a plan.
const SHAPES: [[usize; 2]; 11] = [
    [1, 5],
    [2, 1],
    [8, 8],
    [9, 3],
    [40, 7],
    [3000, 1],
    [1500, 2],
    [1000, 3],
    [1100, 4],
    [150, 33],
    [70, 70],
];

fn numbers([rows, extent]: [usize; 2]) -> Vec<i32> {
    (0..rows * extent).map(|k| (k * k * 31 + k * 7) as i32 % 19 - 9).collect()
}

/// Holds what comes of every lane along the last axis against lanes that are copied out.
fn is_as_alone<E, R>(e: &Lazy<E>, shape: [usize; 2], data: &[i32], reducer: R, what: &str)
where
    E: Expr<Elem = i32>,
    R: Reducer<i32, Out: PartialEq + Debug + Send> + Copy,
{
    let extent = shape[1];
    let (_, expected) = each_lane(&shape, data, 1, extent, |lane| {
        (1..=extent).map(|n| result(&reducer, &lane[..n])).collect()
    });
    assert_eq!(e.scan(1, reducer).to_vec().unwrap(), expected, "scan of {shape:?} {what}");
    for window in [1, 2, 3, 8, 9].into_iter().filter(|&window| window <= extent) {
        let (_, expected) = each_lane(&shape, data, 1, extent - window + 1, |lane| {
            lane.windows(window).map(|x| result(&reducer, x)).collect()
        });
        let found = e.rolling(1, window).fold(reducer).to_vec().unwrap();
        assert_eq!(found, expected, "windows of {window} of {shape:?} {what}");
    }
    for offsets in [vec![0, extent], vec![0, extent.div_ceil(2), extent], vec![extent - 1, extent]]
    {
        if offsets.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let (_, expected) = each_lane(&shape, data, 1, offsets.len() - 1, |lane| {
            offsets.windows(2).map(|pair| result(&reducer, &lane[pair[0]..pair[1]])).collect()
        });
        let found = e.segments(1, &offsets).fold(reducer).to_vec().unwrap();
        assert_eq!(found, expected, "segments {offsets:?} of {shape:?} {what}");
    }
}

/// Elements that lie in order, in rows apart from one another, in columns, and results.
fn is_as_alone_wherever<R: Reducer<i32, Out: PartialEq + Debug + Send> + Copy>(reducer: R) {
    for shape in SHAPES {
        let data = numbers(shape);
        let t = Tensor::from_vec(shape, data.clone()).unwrap();
        is_as_alone(&t.view().lazy(), shape, &data, reducer, "in order");
        let wide = Tensor::from_index([shape[0], shape[1] + 3], |i| {
            i[1].checked_sub(1).and_then(|k| data[i[0] * shape[1]..][..shape[1]].get(k)).copied()
        });
        let apart = wide.unwrap().lazy().map(|x| x.unwrap_or(77)).eval().unwrap();
        let apart = apart.view().slice(1, 1..=shape[1]).unwrap().lazy();
        is_as_alone(&apart, shape, &data, reducer, "apart");
        let columns = t.view().transpose([1, 0]).unwrap().eval().unwrap();
        let turned = columns.view().transpose([1, 0]).unwrap().lazy();
        is_as_alone(&turned, shape, &data, reducer, "in columns");
        is_as_alone(&(&t + 0).boxed(), shape, &data, reducer, "results");
    }
}

#[test]
fn lanes_together_are_as_lanes_alone() {
    is_as_alone_wherever(Compose);
    is_as_alone_wherever(InOrder);
    is_as_alone_wherever(Largest);
}

#[test]
fn segments_without_elements_lie_between_others() {
    let t = Tensor::from_vec([3, 2], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let sums = t.segments(1, [0, 0, 1, 2, 2]).sum().to_vec().unwrap();
    assert_eq!(sums, [0_i64, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0]);
}

/// Which is the first in row-major order, whatever is computed together; windows and segments of two lanes do not exist.
#[test]
fn the_first_result_that_does_not_exist_is_found() {
    for shape in [[9, 4], [1100, 4]] {
        for place in [0, 5, 11, 4 * shape[0] - 1] {
            let mut data = vec![1; 4 * shape[0]];
            data[place] = 200;
            data[4 * shape[0] - 1] = 200;
            let t = Tensor::from_vec(shape, data).unwrap();
            let (row, column) = (place / 4, place % 4);
            let at = |index: usize, error: lensor::Result<Vec<i8>>| match error {
                Err(Error::Overflow { index: found, .. }) => assert_eq!(found, [row, index]),
                other => panic!("{other:?}"),
            };
            at(column, t.scan(1, Small).to_vec());
            at(column.saturating_sub(1), t.rolling(1, 2).fold(Small).to_vec());
            at(column / 2, t.segments(1, [0, 2, 4]).fold(Small).to_vec());
        }
    }
}

/// A sum that may not overflow.
#[derive(Debug, Clone, Copy)]
struct Checked;

impl Reducer<i32> for Checked {
    type State = i32;
    type Out = i32;

    fn empty(&self) -> Option<i32> {
        Some(0)
    }

    fn first(&self, x: i32) -> i32 {
        x
    }

    fn combine(&self, state: &mut i32, later: i32) {
        *state = state.checked_add(later).unwrap();
    }

    fn finish(&self, state: i32) -> i32 {
        state
    }
}

/// The last element of a lane and the first of the next are in no window, nor ever joined.
#[test]
fn elements_of_two_lanes_are_not_joined() {
    let t = Tensor::from_vec([2, 2], vec![0, i32::MAX, i32::MAX, 0]).unwrap();
    assert_eq!(t.rolling(1, 2).fold(Checked).to_vec().unwrap(), [i32::MAX; 2]);
    assert_eq!(t.scan(1, Checked).to_vec().unwrap(), [0, i32::MAX, i32::MAX, i32::MAX]);
    assert_eq!(t.segments(1, [0, 2]).fold(Checked).to_vec().unwrap(), [i32::MAX; 2]);
}
