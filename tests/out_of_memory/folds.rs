//! Reductions, scans, windows, segments, stencils, products, differences.

use super::{FEW as COUNT, FEW_SIDE as SIDE, every_shortage, square_of};
use lensor::diff::Diff;
use lensor::gufunc;
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::reduce::{Max, Mean, Separate, Sum, WrappingSum};
use lensor::rolling::{Rolling, WindowEdge};
use lensor::scan::Scan;
use lensor::segments::Segments;
use lensor::stencil::{self, EdgeOrder, Mode, Spacing, Stencil};

pub(crate) fn reducing() {
    let t = square_of(SIDE);
    let floats = t.view().cast::<f64>().eval().unwrap();
    let wide = Tensor::from_index([2, 9000], |i| (i[0] * 9000 + i[1]) as u64).unwrap();
    let deep = Tensor::from_index([SIDE / 10, 10, SIDE], |i| (i[0] + i[1] + i[2]) as u64).unwrap();
    every_shortage("sum across", 1, || wide.view().fold(0, WrappingSum).eval());
    every_shortage("sum along", 0, || wide.view().transpose([1, 0])?.fold(1, WrappingSum).eval());
    for axes in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
        every_shortage("sum of three axes", 0, || deep.sum(axes).eval());
        every_shortage("std of three axes", 0, || {
            deep.view().cast::<f64>().std(axes).ddof(1).eval()
        });
        every_shortage("argmax of three axes", 0, || deep.argmax(axes).eval());
        every_shortage("moved", 0, || deep.view().transpose([2, 0, 1])?.lazy().min(axes).eval());
    }
    every_shortage("sum of an expression", 0, || {
        (&t % 7 + t.view().transpose([1, 0])?).sum(0).eval()
    });
    every_shortage("filtered", 0, || t.max(0).filter(t.view().greater(0)).eval());
    every_shortage("variance of rows", 0, || floats.var(1).eval());
    every_shortage("tuple", 1, || wide.view().fold(0, (Max, WrappingSum)).eval());
    every_shortage("separated", 3, || wide.view().fold(0, (Max, WrappingSum)).eval()?.separate());
    every_shortage("dot", 0, || floats.dot(&floats, 1).eval());
    every_shortage("matmul", 1, || {
        (&t.view().slice(1, 0..20)?).matmul(&t.view().slice(0, 0..20)?).eval()
    });
    every_shortage("tensordot", 0, || t.tensordot(&t.view().slice(1, 0..7)?, &[(1, 0)]).eval());
    let long = floats.view().reshape([SIDE * SIDE]).unwrap().eval().unwrap();
    every_shortage("gufunc sort", 1, || gufunc::sort().call([&long]).deferred().eval());
    every_shortage("gufunc argsort", 1, || gufunc::argsort().call([&long]).deferred().eval());
    every_shortage("gufunc inv", 1, || gufunc::inv().call([&floats + 1.0]).deferred().eval());
    let points = floats.view().slice(1, 0..3).unwrap().eval().unwrap();
    every_shortage("gufunc cdist", 1, || {
        gufunc::cdist().call([&points, &points]).deferred().eval()
    });
}

pub(crate) fn scanning() {
    let t = square_of(SIDE);
    let flat = t.view().reshape([COUNT]).unwrap();
    let floats = t.view().cast::<f64>().eval().unwrap();
    let small = (&t % 1000).eval().unwrap();
    for axis in [0, 1] {
        every_shortage("cumsum", 1, || small.cumsum(axis).eval());
        every_shortage("reverse", 1, || small.cumsum(axis).reverse().eval());
        every_shortage("exclusive", 1, || small.cumsum(axis).exclusive().eval());
        every_shortage("scan", 1, || floats.scan(axis, Mean).eval());
        every_shortage("scan of an expression", 1, || (&small * 3).cumsum(axis).eval());
        every_shortage("scan of a view", 1, || small.view().flip(1)?.lazy().cumsum(axis).eval());
        for window in [3, 30, 100] {
            every_shortage("rolling sum", 0, || small.rolling(axis, window).sum().eval());
            every_shortage("rolling max", 0, || {
                small.rolling(axis, window).centred().edge(WindowEdge::Cut).max().eval()
            });
            every_shortage("rolling std", 0, || floats.rolling(axis, window).std().ddof(1).eval());
            every_shortage("rolling mean of an expression", 0, || {
                (&floats * 2.0).rolling(axis, window).edge(WindowEdge::Wrap).mean().eval()
            });
        }
    }
    every_shortage("long scan", 1, || flat.view().cumsum(0).eval());
    every_shortage("long windows", 1, || flat.view().rolling(0, 1000).max().eval());
    let table = t.view().reshape([COUNT / 4, 4]).unwrap();
    every_shortage("narrow scan", 1, || (&table % 1000).cumsum(0).eval());
    every_shortage("narrow windows", 1, || table.view().rolling(0, 9).min().eval());

    let offsets: Vec<usize> = (0..=COUNT / 2).map(|k| 2 * k).collect();
    every_shortage("segments", 0, || flat.view().segments(0, &offsets).fold(WrappingSum).eval());
    let keys: Vec<usize> = (0..COUNT).map(|k| k * 7919 % 1000).collect();
    every_shortage("fold_by_key", 1, || flat.view().by_key(0, &keys, 1000).fold(Max).eval());
    every_shortage("group_by", 2, || {
        let (found, groups) = flat.view().group_by(0, &keys)?;
        Ok((found, groups.fold(WrappingSum).eval()?))
    });
    for axis in [0, 1] {
        let offsets = [0, 1, 100, SIDE];
        every_shortage("segments of rows", 0, || small.segments(axis, offsets).fold(Sum).eval());
        every_shortage("keys of rows", 0, || {
            small.by_key(axis, &keys[..SIDE], 1000).fold(Sum).eval()
        });
    }
}

pub(crate) fn stencils() {
    let t = square_of(SIDE);
    let flat = || t.view().reshape([COUNT]);
    let floats = t.view().cast::<f64>().eval().unwrap();
    let places: Vec<f64> = (0..SIDE).map(|k| (k * k + k) as f64).collect();
    for spacing in [Spacing::Uniform(2.0), Spacing::At(places)] {
        for axis in [0, 1] {
            every_shortage("derivative", 1, || {
                floats.derivative(axis, spacing.clone(), EdgeOrder::Second).eval()
            });
        }
        let spacing = [spacing.clone(), spacing];
        every_shortage("gradient", 1, || floats.gradient(&spacing, EdgeOrder::First).eval());
        every_shortage("hessian", 1, || floats.hessian(&spacing, EdgeOrder::First).eval());
        every_shortage("laplacian", 1, || floats.laplacian(&spacing).eval());
    }
    let long = Spacing::At((0..COUNT).map(|k| (k * k + k) as f64).collect());
    every_shortage("long derivative", 2, || {
        flat()?.lazy().cast::<f64>().gradient(std::slice::from_ref(&long), EdgeOrder::Second).eval()
    });
    every_shortage("derivative of an expression", 1, || {
        (&floats * 2.0).derivative(0, 1.0, EdgeOrder::First).eval()
    });
    let kernel = Tensor::from_index([3, 5], |i| (i[0] + i[1]) as f64).unwrap();
    every_shortage("convolve", 1, || {
        floats.convolve(&kernel, Mode::Full(stencil::Border::Clamp)).eval()
    });
    every_shortage("correlate", 1, || floats.correlate(&kernel, Mode::Valid).eval());
    every_shortage("convolve by much", 1, || {
        flat()?
            .lazy()
            .cast::<f64>()
            .convolve(
                flat()?.lazy().slice(0, 0..200)?.cast::<f64>(),
                Mode::Same(stencil::Border::Zero),
            )
            .eval()
    });
    every_shortage("stencil", 1, || {
        t.stencil([[-1, 0], [0, 1]], |[a, b]| a.wrapping_add(b)).eval()
    });
    for n in [1, 5, 6, 13] {
        every_shortage("diff", 1, || t.diff(0, n).eval());
    }
}
