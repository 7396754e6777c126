//! Reductions against memcpy, a naive loop and ndarray, interleaved in one run.
//!
//! `cargo bench --bench reduce [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed. A ratio is the median over rounds of the time divided by the time in which memcpy moves as many
//! bytes as are read (half of them read, half written) in the same round: lower is better.

mod small;

use lensor::prelude::*;
use lensor::reduce::{ArgMax, CompensatedSum, Min, Sum, Variance};
use ndarray::{ArrayView2, Axis};
use report::{Bench, Case};
use std::hint::black_box;

fn main() {
    let mut bench = Bench::from_arguments();
    let n = bench.side();
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7) % 1009) as f64 * 0.25).collect();
    sums(&mut bench, n, &data);
    fused(&mut bench, n, &data);
    several(&mut bench, n, &data);
    let count = if bench.quick { 2000 } else { 200_000 };
    inner_products(&mut bench, count);
    small::run(&mut bench);
}

/// Whether results agree as far as rounding lets them.
fn close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(expected) {
        let size = found.abs().max(expected.abs());
        assert!((found - expected).abs() <= 1e-9 * size, "{name}: {found}, expected {expected}");
    }
}

/// Checks a contestant against the naive loop, then times both.
fn row(
    bench: &mut Bench,
    name: &str,
    bytes: usize,
    reach: f64,
    ours: &(impl Fn() -> Vec<f64> + Sync),
    naive: &(impl Fn() -> Vec<f64> + Sync),
    ndarray: Option<&(dyn Fn() -> Vec<f64> + Sync)>,
) {
    if !bench.wants(name) {
        return;
    }
    close(name, &ours(), &naive());
    let mut theirs = ndarray.map(|run| move || drop(black_box(run())));
    bench.run(Case {
        name,
        bytes,
        reach,
        ours: &mut || drop(black_box(ours())),
        naive: &mut || drop(black_box(naive())),
        ndarray: theirs.as_mut().map(|run| run as &mut (dyn FnMut() + Send)),
    });
}

fn evaluated<E: Expr, R>(reduction: &lensor::reduce::Reduction<E, R>) -> Vec<f64>
where
    R: lensor::reduce::Reducer<E::Elem, Out = f64>,
{
    reduction.eval().expect("a reduction").into_storage()
}

fn sums(bench: &mut Bench, n: usize, data: &[f64]) {
    let t = Tensor::new([n, n], data).expect("an input");
    let array = ArrayView2::from_shape((n, n), data).expect("an input");
    let columns = || {
        let mut sums = vec![0.0; n];
        for row in data.chunks(n) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        sums
    };
    let rows = || data.chunks(n).map(|row| row.iter().sum()).collect();
    let all = || vec![data.iter().sum()];
    let bytes = 8 * n * n;
    row(
        bench,
        "sum over axis 0",
        bytes,
        1.15,
        &|| evaluated(&t.sum(0)),
        &columns,
        Some(&|| array.sum_axis(Axis(0)).to_vec()),
    );
    row(
        bench,
        "sum over axis 1",
        bytes,
        0.95,
        &|| evaluated(&t.sum(1)),
        &rows,
        Some(&|| array.sum_axis(Axis(1)).to_vec()),
    );
    row(
        bench,
        "sum of all",
        bytes,
        0.95,
        &|| evaluated(&t.sum(..)),
        &all,
        Some(&|| vec![array.sum()]),
    );
    row(
        bench,
        "sum of all, compensated",
        bytes,
        1.3,
        &|| evaluated(&t.fold(.., CompensatedSum)),
        &all,
        None,
    );
    let turned = t.view().transpose([1, 0]).expect("a view");
    row(
        bench,
        "sum over axis 0, transposed",
        bytes,
        2.0,
        &|| evaluated(&turned.view().sum(0)),
        &rows,
        None,
    );
    row(
        bench,
        "sum of all, transposed",
        bytes,
        2.0,
        &|| evaluated(&turned.view().sum(..)),
        &all,
        None,
    );
    let square = t.view().reshape([n * n / 64, 64]).expect("a view");
    let short = || data.chunks(64).map(|row| row.iter().sum()).collect();
    row(bench, "sum of rows of 64", bytes, 1.0, &|| evaluated(&square.view().sum(1)), &short, None);
}

fn fused(bench: &mut Bench, n: usize, data: &[f64]) {
    let other: Vec<f64> = data.iter().rev().copied().collect();
    let a = Tensor::new([n, n], data).expect("an input");
    let b = Tensor::new([n, n], &other).expect("an input");
    let mean = a.mean(..).eval().expect("a mean").item().expect("one");
    let fused = || {
        let e = (&a - mean) * b.view().transpose([1, 0]).expect("a view");
        evaluated(&e.sum(..))
    };
    let naive = || {
        let products = |i: usize| (0..n).map(move |j| (i, j));
        let product = |(i, j): (usize, usize)| (data[i * n + j] - mean) * other[j * n + i];
        vec![(0..n).flat_map(products).map(product).sum()]
    };
    row(bench, "sum of (a-mean)*b^T, fused", 16 * n * n, 2.0, &fused, &naive, None);
    let variance = || evaluated(&a.var(0));
    let two_passes = || {
        let mut means = vec![0.0; n];
        for row in data.chunks(n) {
            means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n as f64);
        }
        let mut squares = vec![0.0; n];
        for row in data.chunks(n) {
            for ((square, mean), x) in squares.iter_mut().zip(&means).zip(row) {
                *square += (x - mean) * (x - mean) / n as f64;
            }
        }
        squares
    };
    let array = ArrayView2::from_shape((n, n), data).expect("an input");
    row(
        bench,
        "variance over axis 0",
        8 * n * n,
        1.6,
        &variance,
        &two_passes,
        Some(&|| array.var_axis(Axis(0), 0.0).to_vec()),
    );
}

fn several(bench: &mut Bench, n: usize, data: &[f64]) {
    let t = Tensor::new([n, n], data).expect("an input");
    let ours = || {
        let all = t.fold(.., (Sum, Min, ArgMax, Variance { ddof: 0 })).eval().expect("results");
        let (sum, least, position, variance) = all.item().expect("one");
        vec![sum, least, position as f64, variance]
    };
    let naive = || {
        let (mut sum, mut least, mut most, mut position) = (0.0, f64::INFINITY, -1.0, 0);
        let (mut mean, mut squares) = (0.0, 0.0);
        for (k, &x) in data.iter().enumerate() {
            sum += x;
            if x < least {
                least = x;
            }
            if x > most {
                (most, position) = (x, k);
            }
            let apart = x - mean;
            mean += apart / (k + 1) as f64;
            squares += apart * (x - mean);
        }
        vec![sum, least, position as f64, squares / data.len() as f64]
    };
    row(bench, "sum, min, argmax, variance", 8 * n * n, 1.3, &ours, &naive, None);
}

fn inner_products(bench: &mut Bench, count: usize) {
    let data = |seed: usize| -> Vec<f64> {
        (0..count * 64).map(|i| ((i * 7 + seed) % 1009) as f64 * 0.25).collect()
    };
    let (x, y) = (data(1), data(5));
    let a = Tensor::new([count, 64], &x).expect("an input");
    let b = Tensor::new([count, 64], &y).expect("an input");
    let naive = || {
        let pairs = x.chunks(64).zip(y.chunks(64));
        pairs.map(|(x, y)| x.iter().zip(y).map(|(x, y)| x * y).sum()).collect()
    };
    row(
        bench,
        "inner products of rows of 64",
        16 * count * 64,
        1.0,
        &|| evaluated(&a.view().dot(&b, 1)),
        &naive,
        None,
    );
}
