//! Sorts, selections and searches of lanes.

use super::{FEW as COUNT, FEW_SIDE as SIDE, every_shortage, short_of_memory, square_of};
use lensor::Result;
use lensor::lanes::{Edges, Interpolation, Lanes, Side, SortOrder, Uniform};
use lensor::prelude::*;

/// Lanes of all kinds: one long one, and many across and along.
fn each_axis(
    what: &str,
    expected: isize,
    f: impl Fn(&Tensor<Vec<u64>>, usize) -> Result<Vec<u64>>,
) {
    let long = Tensor::from_vec([COUNT], scrambled().to_vec().unwrap()).unwrap();
    every_shortage(&format!("{what} of one lane"), expected, || f(&long, 0));
    let t = scrambled();
    every_shortage(&format!("{what} across"), expected, || f(&t, 0));
    every_shortage(&format!("{what} along"), expected, || f(&t, 1));
}

/// Elements in no order, few of them equal.
fn scrambled() -> Tensor<Vec<u64>> {
    let mix = |k: usize| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    Tensor::from_vec([SIDE, SIDE], (0..COUNT).map(mix).collect()).unwrap()
}

/// Positions as elements, in their own memory.
fn numbers(positions: Tensor<Vec<usize>>) -> Vec<u64> {
    positions.into_storage().into_iter().map(|position| position as u64).collect()
}

/// What changes a tensor along an axis.
type Change<'f> = &'f dyn Fn(&mut Tensor<Vec<u64>>, usize) -> Result<()>;

pub(crate) fn sorting() {
    for order in [SortOrder::Ascending, SortOrder::Descending] {
        each_axis("sort", 1, |t, axis| t.sort(axis, order).to_vec());
        each_axis("argsort", 1, |t, axis| Ok(numbers(t.argsort(axis, order).eval()?)));
    }
    let key = |x: u64| x % 1000;
    each_axis("sort_by_key", 1, |t, axis| t.sort_by_key(axis, SortOrder::Ascending, key).to_vec());
    each_axis("sort_by", 1, |t, axis| t.sort_by(axis, |a, b| b.cmp(a)).to_vec());
    each_axis("argsort_by", 1, |t, axis| Ok(numbers(t.argsort_by(axis, |a, b| b.cmp(a)).eval()?)));
    each_axis("partition", 1, |t, axis| t.partition(axis, 7, SortOrder::Ascending).to_vec());
    each_axis("argpartition", 1, |t, axis| {
        Ok(numbers(t.argpartition(axis, 7, SortOrder::Ascending).eval()?))
    });
    each_axis("top_k", 0, |t, axis| t.top_k(axis, 7, SortOrder::Ascending).to_vec());
    each_axis("arg_top_k", 0, |t, axis| {
        Ok(numbers(t.arg_top_k(axis, 7, SortOrder::Descending).eval()?))
    });
    each_axis("sort of an expression", 1, |t, axis| {
        (t * 3).sort_by(axis, |a, b| b.cmp(a)).to_vec()
    });
    let in_place = |what, f: Change<'_>| {
        each_axis(what, 1, |t, axis| {
            let mut t = t.eval()?;
            f(&mut t, axis)?;
            Ok(t.into_storage())
        });
    };
    in_place("sort_in_place", &|t, axis| t.sort_in_place(axis, SortOrder::Descending));
    in_place("sort_by_key_in_place", &|t, axis| {
        t.sort_by_key_in_place(axis, SortOrder::Ascending, key)
    });
    in_place("sort_by_in_place", &|t, axis| t.sort_by_in_place(axis, |a, b| b.cmp(a)));
    in_place("partition_in_place", &|t, axis| t.partition_in_place(axis, 9, SortOrder::Ascending));
    // Indexes and values in order are not copied: there is memory for the positions, and for finding repeats.
    let (mut t, at) =
        (square_of(SIDE), Tensor::from_index([SIDE, SIDE], |i| SIDE - 1 - i[1]).unwrap());
    let values = t.view().flip(1).unwrap().eval().unwrap();
    let expected = t.to_vec().unwrap();
    t.fill(0).unwrap();
    short_of_memory(1, false, || t.put_along(1, &at, &values)).unwrap();
    assert_eq!(t.to_vec().unwrap(), expected);
    in_place("put_along", &|t, axis| {
        let shape = t.shape().to_vec();
        let indexes = Tensor::from_index(shape.clone(), |index| (7 * index[axis]) % shape[axis])?;
        t.put_along(axis, &indexes, 5)
    });
}

pub(crate) fn picking() {
    let t = scrambled();
    every_shortage("unique", 4, || {
        let found = t.unique()?;
        Ok((found.values, found.first, found.counts, found.inverse))
    });
    every_shortage("unique of an expression", 5, || Ok((&t + 1).unique()?.inverse));
    every_shortage("unique of close elements", 2, || Ok((&t % 9).unique()?.inverse));
    each_axis("mode", 0, |t, axis| t.mode(axis).to_vec());
    each_axis("take_along", 2, |t, axis| {
        t.take_along(axis, &t.argsort(axis, SortOrder::Ascending).eval()?).to_vec()
    });
    let sorted = t.sort(1, SortOrder::Ascending).eval().unwrap();
    let list = Tensor::from_vec([COUNT], (0..COUNT as u64).collect()).unwrap();
    every_shortage("search_sorted", 1, || list.search_sorted(&t, Side::Left).to_vec());
    every_shortage("search_sorted of an expression", 2, || {
        (&list + 1).search_sorted(&t, Side::Left).to_vec()
    });
    every_shortage("search_sorted_along", 1, || {
        sorted.search_sorted_along(1, &t, Side::Right).to_vec()
    });
    let floats = t.view().cast::<f64>().eval().unwrap();
    for axis in [0, 1] {
        every_shortage("quantiles", 0, || {
            floats.quantiles(axis, &[0.1, 0.5, 0.75], Interpolation::Linear).to_vec()
        });
        every_shortage("nan_median", 0, || floats.nan_median(axis).to_vec());
    }
    let flat = floats.view().reshape([COUNT]).unwrap();
    every_shortage("median", 1, || flat.view().median(0).to_vec());
    let uniform = || Uniform::new(0.0, 1e9, COUNT);
    every_shortage("uniform histogram", 2, || t.histogram(uniform()?).to_vec());
    let edges = Edges::new((0..COUNT as u64).collect::<Vec<_>>()).unwrap();
    every_shortage("histogram", 1, || t.histogram(&edges).to_vec());
    every_shortage("histogram_along", 1, || {
        t.histogram_along(0, Uniform::new(0.0, 1e9, SIDE)?).to_vec()
    });
}
