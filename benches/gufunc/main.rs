//! Generalized ufuncs against memcpy, plain loops and ndarray, interleaved in one run.
//!
//! `cargo bench --bench gufunc [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is timed. A
//! ratio is the median over rounds of the time divided by the time in which memcpy moves as many bytes as are read and
//! written (half of them read, half written) in the same round: lower is better. Rows in ns are of one call of the
//! elementary function, or of one result. `gufunc.py` times the same rows in NumPy and SciPy.

mod calls;

use lensor::gufunc::{self, Gufunc};
use lensor::prelude::*;
use ndarray::{ArrayView2, Axis, Zip};
use report::{Bench, Case, check};
use std::hint::black_box;

/// Rows of inner products, and of matrices and vectors of three.
const INNER: [&str; 5] = [
    "inner1d, [200000, 64]",
    "inner1d by a closure",
    "inner1d by a closure of one sum",
    "inner1d, core axis first",
    "by a closure, core axis first",
];
const MATRICES: [&str; 3] = ["det of 1e6 3 x 3", "cross of 1e6", "cross by a closure"];

fn main() {
    let mut bench = Bench::from_arguments();
    let part = |count: usize| if bench.quick { count / 100 } else { count };
    let (rows, million, ten) = (part(200_000), part(1_000_000), part(10_000_000));
    inner(&mut bench, rows);
    matrices(&mut bench, million);
    polynomials(&mut bench, ten);
    sorts(&mut bench, rows);
    calls::run(&mut bench);
}

/// Writes the same results elsewhere.
type Peer<'a> = &'a mut (dyn FnMut(&mut [f64]) + Send);

/// Quarters that repeat after 1009.
pub(crate) fn quarters(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + seed) % 1009) as f64 * 0.25).collect()
}

/// Whether results agree as far as rounding lets them, held against the largest.
pub(crate) fn close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let largest = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-12 * largest, "{name}: {k}: {found}, {expected}");
    }
}

/// Checks contestants against the naive loop, then times all of them. They write to outputs of their own.
fn row(
    bench: &mut Bench,
    (name, bytes, reach): (&str, usize, f64),
    shape: &[usize],
    mut ours: impl FnMut(&mut Tensor<Vec<f64>>) + Send,
    mut naive: impl FnMut(&mut [f64]) + Send,
    ndarray: Option<Peer<'_>>,
) {
    if !bench.wants(name) {
        return;
    }
    let mut out = Tensor::full(shape, f64::NAN).expect("an output");
    let (mut plain, mut peer) = (out.storage().clone(), out.storage().clone());
    ours(&mut out);
    naive(&mut plain);
    close(name, out.storage(), &plain);
    let mut theirs = ndarray.map(|run| {
        run(&mut peer);
        close(name, &peer, &plain);
        || run(black_box(&mut peer))
    });
    bench.run(Case {
        name,
        bytes,
        reach,
        ours: &mut || ours(black_box(&mut out)),
        naive: &mut || naive(black_box(&mut plain)),
        ndarray: theirs.as_mut().map(|run| run as &mut (dyn FnMut() + Send)),
    });
}

fn inner(bench: &mut Bench, count: usize) {
    if !INNER.iter().any(|name| bench.wants(name)) {
        return;
    }
    let (x, y) = (quarters(count * 64, 1), quarters(count * 64, 5));
    let a = Tensor::new([count, 64], &x).expect("an input");
    let b = Tensor::new([count, 64], &y).expect("an input");
    let bytes = 8 * (2 * 64 + 1) * count;
    let naive = |out: &mut [f64]| {
        for ((x, y), out) in x.chunks_exact(64).zip(y.chunks_exact(64)).zip(out) {
            *out = x.iter().zip(y).map(|(x, y)| x * y).sum();
        }
    };
    let nd = [&x, &y].map(|data| ArrayView2::from_shape((count, 64), data).expect("an input"));
    let mut theirs = |out: &mut [f64]| {
        let out = ndarray::ArrayViewMut1::from(out);
        Zip::from(out).and(nd[0].rows()).and(nd[1].rows()).for_each(|out, x, y| *out = x.dot(&y));
    };
    let library = gufunc::inner1d();
    let ours = |out: &mut Tensor<Vec<f64>>| library.call([&a, &b]).assign_to(out).expect("results");
    row(bench, (INNER[0], bytes, 1.0), &[count], ours, naive, Some(&mut theirs));

    // As a user writes it: eight sums, so that additions do not wait for each other.
    let closure = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),(n)->()", |[a, b], [mut out]| {
        let mut sums = [0.0; 8];
        for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
            (0..8).for_each(|k| sums[k] += x[k] * y[k]);
        }
        let tail = a.as_chunks::<8>().1.iter().zip(b.as_chunks::<8>().1);
        out[0] = sums.iter().sum::<f64>() + tail.map(|(x, y)| x * y).sum::<f64>();
    })
    .expect("a signature");
    let ours = |out: &mut Tensor<Vec<f64>>| closure.call([&a, &b]).assign_to(out).expect("results");
    row(bench, (INNER[1], bytes, 1.2), &[count], ours, naive, None);
    let shortest = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),(n)->()", |[a, b], [mut out]| {
        out[0] = a.iter().zip(b.iter()).map(|(x, y)| x * y).sum();
    })
    .expect("a signature");
    let ours =
        |out: &mut Tensor<Vec<f64>>| shortest.call([&a, &b]).assign_to(out).expect("results");
    row(bench, (INNER[2], bytes, 1.2), &[count], ours, naive, None);

    // The same products with the core axis first: columns of [64, rows].
    let turned = |data: &[f64]| -> Vec<f64> {
        (0..64)
            .flat_map(|j| (0..count).map(move |i| (i, j)))
            .map(|(i, j)| data[i * 64 + j])
            .collect()
    };
    let (x, y) = (turned(&x), turned(&y));
    let first = [&x, &y].map(|data| Tensor::new([64, count], data).expect("an input"));
    let naive = |out: &mut [f64]| {
        out.fill(0.0);
        for (x, y) in x.chunks_exact(count).zip(y.chunks_exact(count)) {
            out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (x, y))| *out += x * y);
        }
    };
    let nd = [&x, &y].map(|data| ArrayView2::from_shape((64, count), data).expect("an input"));
    let mut theirs = |out: &mut [f64]| {
        let out = ndarray::ArrayViewMut1::from(out);
        let lanes = nd.each_ref().map(|array| array.lanes(Axis(0)));
        let [x, y] = lanes;
        Zip::from(out).and(x).and(y).for_each(|out, x, y| *out = x.dot(&y));
    };
    let operands = || first.each_ref().map(Tensor::view);
    let ours = |out: &mut Tensor<Vec<f64>>| {
        library.call(operands()).axis(0).assign_to(out).expect("results")
    };
    row(bench, (INNER[3], bytes, 1.8), &[count], ours, naive, Some(&mut theirs));
    let ours = |out: &mut Tensor<Vec<f64>>| {
        closure.call(operands()).axis(0).assign_to(out).expect("results")
    };
    row(bench, (INNER[4], bytes, 1.8), &[count], ours, naive, None);
}

fn matrices(bench: &mut Bench, count: usize) {
    if !MATRICES.iter().any(|name| bench.wants(name)) {
        return;
    }
    let data: Vec<f64> =
        (0..9 * count).map(|i| ((i * i * 31 + i * 17) % 97) as f64 * 0.125 - 5.0).collect();
    let t = Tensor::new([count, 3, 3], &data).expect("an input");
    let naive = |out: &mut [f64]| {
        for (&[a, b, c, d, e, f, g, h, i], out) in data.as_chunks::<9>().0.iter().zip(out) {
            *out = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
        }
    };
    let det = gufunc::det();
    let ours = |out: &mut Tensor<Vec<f64>>| det.call([&t]).assign_to(out).expect("results");
    row(bench, (MATRICES[0], 80 * count, 1.3), &[count], ours, naive, None);

    let (x, y) = (quarters(3 * count, 1), quarters(3 * count, 5));
    let [a, b] = [&x, &y].map(|data| Tensor::new([count, 3], data).expect("an input"));
    let naive = |out: &mut [f64]| {
        let operands = x.as_chunks::<3>().0.iter().zip(y.as_chunks::<3>().0);
        for (([a, b, c], [d, e, f]), out) in operands.zip(out.as_chunks_mut::<3>().0) {
            *out = [b * f - c * e, c * d - a * f, a * e - b * d];
        }
    };
    let cross = gufunc::cross();
    let ours = |out: &mut Tensor<Vec<f64>>| cross.call([&a, &b]).assign_to(out).expect("results");
    row(bench, (MATRICES[1], 72 * count, 1.2), &[count, 3], ours, naive, None);

    // The same by a closure: what one call costs beyond its work.
    let closure = Gufunc::<[f64; 2], [f64; 1], _>::each("(3),(3)->(3)", |[a, b], [mut out]| {
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            out[k] = a[i] * b[j] - a[j] * b[i];
        }
    })
    .expect("a signature");
    let ours = |out: &mut Tensor<Vec<f64>>| closure.call([&a, &b]).assign_to(out).expect("results");
    row(bench, (MATRICES[2], 72 * count, 1.2), &[count, 3], ours, naive, None);
}

fn polynomials(bench: &mut Bench, count: usize) {
    let name = "polyval of degree 5, 1e7";
    if !bench.wants(name) {
        return;
    }
    let x: Vec<f64> = (0..count).map(|i| (i % 2003) as f64 / 1001.5 - 1.0).collect();
    let t = Tensor::new([count], &x).expect("an input");
    let coefficients = [0.5, -1.0, 2.0, 0.25, -3.0, 1.0];
    let c = Tensor::new([6], coefficients).expect("an input");
    let naive = |out: &mut [f64]| {
        for (out, x) in out.iter_mut().zip(&x) {
            *out = coefficients.iter().fold(0.0, |value, c| value * x + c);
        }
    };
    let nd = ndarray::ArrayView1::from(&x);
    let mut theirs = |out: &mut [f64]| {
        let value = |x: &f64| coefficients.iter().fold(0.0, |value, c| value * x + c);
        Zip::from(ndarray::ArrayViewMut1::from(out)).and(&nd).for_each(|out, x| *out = value(x));
    };
    let polyval = gufunc::polyval();
    let ours = |out: &mut Tensor<Vec<f64>>| polyval.call((&c, &t)).assign_to(out).expect("results");
    row(bench, (name, 16 * count, 1.2), &[count], ours, naive, Some(&mut theirs));
}

/// The two faces of one sort.
fn sorts(bench: &mut Bench, count: usize) {
    let name = "sort, [200000, 64]";
    if !bench.wants(name) {
        return;
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64
    };
    let data: Vec<f64> = std::iter::repeat_with(next).take(count * 64).collect();
    let t = Tensor::new([count, 64], &data).expect("an input");
    let (sort, lanes) = (gufunc::sort(), t.view().sort(1, SortOrder::Ascending));
    let mut out = Tensor::full([count, 64], 0.0).expect("an output");
    let (mut other, mut plain) = (out.clone(), data.clone());
    sort.call([&t]).assign_to(&mut out).expect("a sort");
    lanes.assign_to(&mut other).expect("a sort");
    plain.chunks_exact_mut(64).for_each(|row| row.sort_unstable_by(f64::total_cmp));
    check(name, out.storage(), &plain);
    check(name, other.storage(), &plain);
    bench.run_match(report::Match {
        name,
        reach: 1.0,
        ours: &mut || sort.call([&t]).assign_to(black_box(&mut out)).expect("a sort"),
        peer: ("t.sort", &mut || lanes.assign_to(black_box(&mut other)).expect("a sort")),
        naive: Some(&mut || {
            plain.copy_from_slice(&data);
            plain.chunks_exact_mut(64).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        }),
    });
}
