//! Many axes of a few indexes each: what loops that are merged compute is what single elements are.

use crate::support::{Random, planned, spread};
use lensor::lanes::SortOrder::Ascending;
use lensor::prelude::*;

type View<'v> = Tensor<&'v Vec<i64>>;

/// A view of some axes, changed at random.
fn changed<'v>(mut view: View<'v>, random: &mut Random) -> View<'v> {
    for _ in 0..random.below(4) {
        let shape = view.shape();
        let axis = random.below(shape.rank());
        let extent = shape[axis];
        view = match random.below(6) {
            0 => {
                let mut order: Vec<usize> = (0..shape.rank()).collect();
                (1..order.len()).for_each(|k| order.swap(k, random.below(k + 1)));
                view.transpose(order).unwrap()
            }
            1 => {
                let shifts: Vec<isize> = shape.iter().map(|_| random.below(3) as isize).collect();
                view.rotate(shifts).unwrap()
            }
            2 => view.flip(axis).unwrap(),
            3 => {
                let list: Vec<usize> = (0..extent).map(|_| random.below(extent)).collect();
                let mut parts = vec![Select::All; shape.rank()];
                parts[axis] = Select::List(list);
                view.select(parts).unwrap()
            }
            4 if axis > 0 => view.merge_axes(axis - 1..axis + 1).unwrap(),
            _ => view.slice(axis, 0..extent.max(2) - 1).unwrap(),
        };
    }
    view
}

fn elements(view: &View<'_>) -> Vec<i64> {
    view.shape().indexes().unwrap().map(|index| view.get(&index).unwrap()).collect()
}

/// Copies, expressions, folds, scans and sorts of views are those of their elements one by one.
#[test]
fn merged_loops_compute_what_elements_are() {
    for seed in 0..600 {
        let mut random = Random(seed);
        let shape: Vec<usize> = (0..5 + random.below(5)).map(|_| 1 + random.below(3)).collect();
        let count = shape.iter().product::<usize>();
        let data: Vec<i64> = (0..count).map(|_| random.below(50) as i64 - 20).collect();
        let t = Tensor::from_vec(shape, data).unwrap();
        let view = &changed(t.view(), &mut random);
        let copy = Tensor::from_vec(view.shape(), elements(view)).unwrap();
        let axis = random.below(view.shape().rank());
        let mut out = Tensor::full(view.shape(), 0).unwrap();
        out.assign(view).unwrap();
        assert_eq!(out.storage(), copy.storage(), "{seed}");
        assert_eq!(view.to_vec().unwrap(), elements(view), "{seed}");
        assert_eq!(planned(&view.clone().lazy()), elements(view), "{seed}");
        assert_eq!(spread(&view.clone().lazy()), elements(view), "{seed}");
        let least = view.clone().min(axis).keepdims();
        let apart = (view - least).to_vec().unwrap();
        let flipped = view + view.clone().flip(axis).unwrap();
        let by_plan = planned(&flipped);
        let flipped = flipped.to_vec().unwrap();
        assert_eq!(flipped, by_plan, "{seed}");
        for (number, index) in view.shape().indexes().unwrap().enumerate() {
            let mut other = index.clone();
            other[axis] = view.shape()[axis] - 1 - index[axis];
            let own = view.get(&index).unwrap();
            assert_eq!(flipped[number], own + view.get(&other).unwrap(), "{seed}");
            let lane = (0..view.shape()[axis]).map(|k| {
                other[axis] = k;
                view.get(&other).unwrap()
            });
            assert_eq!(apart[number], own - lane.min().unwrap(), "{seed}");
        }
        let same =
            |a: Result<Vec<i64>, Error>, b: Result<Vec<i64>, Error>| assert_eq!(a, b, "{seed}");
        same(view.sum(axis).to_vec(), copy.sum(axis).to_vec());
        same(view.sum(..).to_vec(), copy.sum(..).to_vec());
        same(view.cumsum(axis).to_vec(), copy.cumsum(axis).to_vec());
        same(view.rolling(axis, 1).max().to_vec(), copy.rolling(axis, 1).max().to_vec());
        same(view.sort(axis, Ascending).to_vec(), copy.sort(axis, Ascending).to_vec());
        let [deep, flat] = [view.var(axis).to_vec(), copy.var(axis).to_vec()];
        let bits = |all: Result<Vec<f64>, Error>| all.unwrap().into_iter().map(f64::to_bits);
        assert!(bits(deep).eq(bits(flat)), "{seed}");
    }
}

/// What is copied or read in windows for being in short pieces says so.
#[test]
fn short_pieces_are_told() {
    let t = Tensor::full([2; 16], 1.0).unwrap();
    let order = [9, 3, 12, 0, 15, 7, 4, 1, 10, 6, 2, 13, 8, 5, 14, 11];
    let turned = &t.view().transpose(order).unwrap();
    let text = turned.cumsum(4).explain().unwrap().to_string();
    assert!(text.contains("operand: copied to memory first, in order"), "{text}");
    let copied = turned.sum(4).explain().unwrap().to_string();
    assert!(copied.contains("operand: copied to memory first, in order"), "{copied}");
    let text = turned.sum(15).explain().unwrap().to_string();
    assert!(text.contains("evaluated window by window, as runs of rows are short"), "{text}");
    let cube = Tensor::full([64, 64, 64], 1.0).unwrap();
    let turned = cube.view().transpose([2, 1, 0]).unwrap();
    let text = turned.cumsum(1).explain().unwrap().to_string();
    assert!(text.contains("operand: copied to memory first, in order"), "{text}");
}

/// An element that cannot be computed is reported before a result that does not exist, wherever they are.
#[test]
fn operands_fail_before_results() {
    let mut data = vec![1_i64; 100 * 2 * 8];
    let ones = Tensor::from_vec([100, 2, 8], vec![1_i64; 1600]).unwrap();
    (data[16 * 40], data[16 * 40 + 8]) = (i64::MAX, i64::MAX);
    let large = Tensor::from_vec([100, 2, 8], data).unwrap();
    let mut zero = ones.clone();
    zero.set([41, 0, 3], 0).unwrap();
    let overflow = Error::Overflow { index: vec![40, 0], target: "i64" };
    assert_eq!((&large / &ones).sum(1).eval().unwrap_err(), overflow);
    let divided = (&large / &zero).sum(1).eval().unwrap_err();
    assert_eq!(divided, Error::Arithmetic { index: vec![41, 0, 3] });
    zero.set([39, 1, 7], 0).unwrap();
    let divided = (&large / &zero).sum(1).eval().unwrap_err();
    assert_eq!(divided, Error::Arithmetic { index: vec![39, 1, 7] });
}

/// Maps of several stages whose neighbouring positions lie across the rows of a result.
#[test]
fn stages_are_read_along_their_positions() {
    let (rows, columns) = (70, 90);
    let data: Vec<i64> = (0..rows * columns).collect();
    let t = Tensor::from_vec([rows as usize, columns as usize], data).unwrap();
    let windows = t.view().rotate([4, 23]).unwrap().windows(0, 2).unwrap().flip(2).unwrap();
    let at = |i: i64, j: i64| (i + rows - 4) % rows * columns + (j + columns - 23) % columns;
    for (index, found) in windows.shape().indexes().unwrap().zip(windows.to_vec().unwrap()) {
        let [i, j, k] = [index[0] as i64, index[1] as i64, index[2] as i64];
        assert_eq!(found, at(i + 1 - k, j), "{index:?}");
    }
    let shape = [rows as usize * columns as usize / 9, 9];
    let folded = t.view().rotate([1, 2]).unwrap().reshape(shape).unwrap().flip(0).unwrap();
    let turned = folded.clone().transpose([1, 0]).unwrap();
    let [whole, sum] = [folded.to_vec().unwrap(), (&turned + &turned).to_vec().unwrap()];
    let expected = |k: usize| 2 * whole[k % shape[0] * 9 + k / shape[0]];
    assert!((0..whole.len()).all(|k| sum[k] == expected(k)));
    let first = (rows - 1) as usize * columns as usize;
    assert_eq!(
        whole[whole.len() - 9..][..2],
        [first as i64 + columns - 2, first as i64 + columns - 1]
    );
}
