//! Ragged tensors: tables, views, expressions, folds, sorts and assignment.

use super::{COUNT, every_shortage};
use lensor::gufunc::convolve_full;
use lensor::lanes::{Interpolation, SortOrder, Uniform};
use lensor::prelude::*;
use lensor::ragged::{
    ElementwiseRagged, LanesRagged, Offsets, Ragged, ReduceRagged, concat, repeat,
};

type View<'r> = Ragged<&'r Vec<f64>>;

/// Lengths from 0 to 8.
fn lengths() -> impl ExactSizeIterator<Item = usize> + Clone {
    (0..COUNT / 4).map(|k| k * 7 % 9)
}

fn rows() -> Ragged<Vec<f64>> {
    let items = lengths().sum();
    let content = Tensor::from_vec([items], (0..items).map(|k| (k % 1009) as f64).collect());
    Ragged::new([lengths().len()], Offsets::from_lengths(lengths()).unwrap(), content.unwrap())
        .unwrap()
}

/// The same rows in another order, with gaps.
fn views(r: &Ragged<Vec<f64>>) -> lensor::Result<View<'_>> {
    r.view().flip(0)?.clip(1, 1..6)
}

pub(crate) fn tables() {
    every_shortage("from_lengths", 1, || Offsets::from_lengths(lengths()));
    let numbers: Vec<u64> = (0..COUNT as u64).collect();
    every_shortage("Offsets::new", 1, || Offsets::new(&numbers));
    let large: Vec<u64> = (0..COUNT as u64).map(|k| k << 20).collect();
    every_shortage("Offsets::new of large numbers", 1, || Offsets::new(&large));
    let texts: Vec<Vec<u8>> = lengths().map(|n| vec![7; n]).collect();
    every_shortage("from_rows", 2, || Ragged::from_rows(&texts)?.to_vec());
    let r = rows();
    every_shortage("form of views", 1, || views(&r)?.form());
    let view = |what, f: fn(View<'_>) -> lensor::Result<View<'_>>| {
        every_shortage(&format!("{what} of rows"), 1, || f(r.view())?.to_vec());
        every_shortage(&format!("{what} of views"), 1, || f(views(&r)?)?.to_vec());
    };
    view("flip", |r| r.flip(1));
    view("clip", |r| r.clip(1, ..3));
    view("rotate", |r| r.rotate([1, 2]));
    view("keep", |r| {
        let mask = r.view().greater(500.0).eval()?;
        r.keep(1, mask)
    });
    view("take", |r| {
        let picks = r.view().argsort(1, SortOrder::Descending).eval()?;
        r.take(1, picks)
    });
    view("flatten", |r| r.flatten(1));
    every_shortage("concat of rows", 2, || concat(0, [r.view(), views(&r)?])?.to_vec());
    every_shortage("concat of items", 2, || concat(1, [r.view(), r.view()])?.to_vec());
}

pub(crate) fn computing() {
    let (r, s) = (rows(), rows());
    let bins = Uniform::new(0.0, 1009.0, 3).unwrap();
    let column = Tensor::from_vec([lengths().len(), 1], lengths().map(|n| n as f64).collect());
    let column = column.unwrap();
    every_shortage("an expression", 1, || ((&r * 2.0 + &s) * &column).eval()?.to_vec());
    let ones = r.sum(1).keepdims().eval().unwrap().into_tensor().unwrap();
    let ones = Ragged::new(
        [ones.len()],
        Offsets::from_lengths(ones.to_vec().unwrap().iter().map(|_| 1)).unwrap(),
        Tensor::from(ones.to_vec().unwrap()),
    )
    .unwrap();
    every_shortage("rows that stretch", 2, || (&r + &ones).eval()?.to_vec());
    every_shortage("an expression of views", 2, || (views(&r)? + 1.0).eval()?.to_vec());
    every_shortage("a view of an expression", 2, || (&r + &column).flip(1)?.eval()?.to_vec());
    every_shortage("sum of rows", 1, || r.sum(1).eval()?.to_vec());
    every_shortage("max of rows or", 2, || r.max(1).or(-1.0).eval()?.to_vec());
    every_shortage("sum of columns", 2, || r.sum(0).eval()?.to_vec());
    every_shortage("sort", 1, || r.sort(1, SortOrder::Ascending).eval()?.to_vec());
    every_shortage("top_k", 2, || r.top_k(1, 2, SortOrder::Descending).eval()?.to_vec());
    every_shortage("sort_by_key of rows", 1, || {
        r.sort_by_key(1, SortOrder::Descending, |x| x as u32).eval()?.to_vec()
    });
    every_shortage("sort_by of rows", 1, || r.sort_by(1, f64::total_cmp).eval()?.to_vec());
    every_shortage("partition of rows", 1, || {
        r.partition(1, 3, SortOrder::Ascending).eval()?.to_vec()
    });
    every_shortage("median of columns", 3, || r.median(0).eval()?.to_vec());
    every_shortage("median of all", 1, || r.median(..).eval()?.to_vec());
    let full = r.sum(1).keepdims().eval().unwrap();
    let full = concat(1, [r.view(), full.view()]).unwrap().eval().unwrap();
    every_shortage("quantiles of rows", 2, || {
        full.quantiles(1, [0.25, 0.5], Interpolation::Linear).eval()?.to_vec()
    });
    every_shortage("mode of rows", 1, || full.mode(1).eval()?.to_vec());
    every_shortage("histogram of rows", 1, || r.histogram_along(1, &bins).eval()?.to_vec());
    every_shortage("cumsum of views", 2, || (&views(&r)?).cumsum(1).eval()?.to_vec());
    every_shortage("padded", 1, || r.view().padded(1, None, 0.0)?.to_vec());
    every_shortage("mask", 1, || r.mask(1)?.to_vec());
    every_shortage("assignment", 1, || {
        let mut out = r.view().map(|x| x).eval()?;
        out.view_mut().flip(1)?.assign(&s)?;
        out.to_vec()
    });
    every_shortage("a gufunc", 3, || {
        let [out] = convolve_full().call_ragged((&r, Tensor::from(vec![1.0, 2.0]))).eval()?;
        out.to_vec()
    });
    let counts: Vec<usize> = lengths().collect();
    let t = Tensor::from_vec([counts.len()], lengths().map(|n| n as f64).collect()).unwrap();
    every_shortage("repeat", 1, || repeat(&t, 0, &counts[..])?.to_vec());
}
