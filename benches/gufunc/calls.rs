//! Rows in nanoseconds: of a call of the elementary function, of a result, of a whole call on tiny operands.

use crate::{close, quarters};
use lensor::gufunc::{self, Gufunc};
use lensor::prelude::*;
use ndarray::{Array1, ArrayView3, ArrayViewMut3, linalg::general_mat_mul};
use report::{Bench, pool};
use std::hint::black_box;

const PRODUCTS: &str = "matmul of 20000 8 x 8, each";
const SMALL: [&str; 2] =
    ["a call, cores of 3, two in, one out", "a call, scalars, two in, one out"];

/// Writes the same results elsewhere.
type Peer<'a> = &'a dyn Fn(&mut [f64]);

pub(crate) fn run(bench: &mut Bench) {
    let (count, points) = if bench.quick { (200, 50) } else { (20_000, 2000) };
    // The table speaks of one thread.
    pool(1).install(|| {
        if bench.wants(PRODUCTS) {
            products(bench, count);
        }
        distances(bench, points);
        if SMALL.iter().any(|name| bench.wants(name)) {
            small_cores(bench, 50 * count);
        }
        tiny(bench);
    });
}

/// Checks contestants against the plain loop, then times all of them. They write to outputs of their own.
fn row(
    bench: &mut Bench,
    (name, reach, per): (&str, f64, usize),
    shape: &[usize],
    ours: impl Fn(&mut Tensor<Vec<f64>>) -> Result<(), Error>,
    naive: impl Fn(&mut [f64]),
    ndarray: Option<Peer<'_>>,
) {
    if !bench.wants(name) {
        return;
    }
    let mut out = Tensor::full(shape, f64::NAN).expect("an output");
    let (mut plain, mut peer) = (out.storage().clone(), out.storage().clone());
    ours(&mut out).expect("results");
    naive(&mut plain);
    close(name, out.storage(), &plain);
    let mut ours = || ours(black_box(&mut out)).expect("results");
    let mut naive = || naive(black_box(&mut plain));
    let mut contestants: Vec<(&str, &mut dyn FnMut())> =
        vec![("ours", &mut ours), ("loop", &mut naive)];
    let mut theirs;
    if let Some(ndarray) = ndarray {
        ndarray(&mut peer);
        theirs = || ndarray(black_box(&mut peer));
        contestants.push(("ndarray", &mut theirs));
    }
    bench.small(name, reach, per, &mut contestants);
}

fn products(bench: &mut Bench, count: usize) {
    let (x, y) = (quarters(64 * count, 1), quarters(64 * count, 5));
    let [a, b] = [&x, &y].map(|data| Tensor::new([count, 8, 8], data).expect("an input"));
    let naive = |out: &mut [f64]| {
        let operands = x.as_chunks::<64>().0.iter().zip(y.as_chunks::<64>().0);
        for ((x, y), out) in operands.zip(out.as_chunks_mut::<64>().0) {
            for (x, out) in x.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<8>().0) {
                *out = [0.0; 8];
                for (x, y) in x.iter().zip(y.as_chunks::<8>().0) {
                    (0..8).for_each(|k| out[k] += x * y[k]);
                }
            }
        }
    };
    let views = [&x, &y].map(|data| ArrayView3::from_shape((count, 8, 8), data).expect("an input"));
    let theirs = |out: &mut [f64]| {
        let mut out = ArrayViewMut3::from_shape((count, 8, 8), out).expect("an output");
        let operands = views[0].outer_iter().zip(views[1].outer_iter());
        for ((x, y), mut out) in operands.zip(out.outer_iter_mut()) {
            general_mat_mul(1.0, &x, &y, 0.0, &mut out);
        }
    };
    let (matmul, shape) = (gufunc::matmul(), [count, 8, 8]);
    let ours = |out: &mut Tensor<Vec<f64>>| matmul.call([&a, &b]).assign_to(out);
    row(bench, (PRODUCTS, 46.0, count), &shape, ours, naive, Some(&theirs));
}

fn distances(bench: &mut Bench, count: usize) {
    let (x, y) = (quarters(3 * count, 1), quarters(3 * count, 500));
    let [a, b] = [&x, &y].map(|data| Tensor::new([count, 3], data).expect("an input"));
    let naive = |out: &mut [f64]| {
        let (points, rows) = (x.as_chunks::<3>().0.iter(), out.chunks_exact_mut(count));
        for (&[a, b, c], row) in points.zip(rows) {
            for (&[d, e, f], out) in y.as_chunks::<3>().0.iter().zip(row) {
                *out = ((a - d) * (a - d) + (b - e) * (b - e) + (c - f) * (c - f)).sqrt();
            }
        }
    };
    let cdist = gufunc::cdist();
    let ours = |out: &mut Tensor<Vec<f64>>| cdist.call([&a, &b]).assign_to(out);
    let title = ("cdist of 2000 x 2000, d = 3, a result", 1.2, count * count);
    row(bench, title, &[count, count], ours, naive, None);
}

/// Two inputs, one output, and next to nothing to do: what a call costs.
fn small_cores(bench: &mut Bench, count: usize) {
    let (x, y) = (quarters(3 * count, 1), quarters(3 * count, 5));
    let [a, b] = [&x, &y].map(|data| Tensor::new([count, 3], data).expect("an input"));
    let naive = |out: &mut [f64]| {
        let operands = x.as_chunks::<3>().0.iter().zip(y.as_chunks::<3>().0);
        for ((x, y), out) in operands.zip(out.as_chunks_mut::<3>().0) {
            *out = [x[0] + y[0], x[1] + y[1], x[2] + y[2]];
        }
    };
    let threes = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),(n)->(n)", |[a, b], [mut out]| {
        out.iter_mut().zip(a.iter().zip(b.iter())).for_each(|(out, (x, y))| *out = x + y);
    })
    .expect("a signature");
    let ours = |out: &mut Tensor<Vec<f64>>| threes.call([&a, &b]).assign_to(out);
    let title = (SMALL[0], 4.0, count);
    row(bench, title, &[count, 3], ours, naive, None);

    let [a, b] = [&x, &y].map(|data| Tensor::new([count], &data[..count]).expect("an input"));
    let naive = |out: &mut [f64]| {
        out.iter_mut().zip(x.iter().zip(&y)).for_each(|(out, (x, y))| *out = x + y);
    };
    let ones = Gufunc::<[f64; 2], [f64; 1], _>::each("(),()->()", |[a, b], [mut out]| {
        out[0] = a[0] + b[0];
    })
    .expect("a signature");
    let ours = |out: &mut Tensor<Vec<f64>>| ones.call([&a, &b]).assign_to(out);
    row(bench, (SMALL[1], 2.5, count), &[count], ours, naive, None);
}

fn tiny(bench: &mut Bench) {
    let a = Tensor::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("an input");
    let b = Tensor::from(vec![1.0, 10.0, 100.0]);
    let m = ndarray::arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let v = Array1::from(vec![1.0, 10.0, 100.0]);
    let mut out = Tensor::full([2], 0.0).expect("an output");
    let inner = gufunc::inner1d();
    let [found] = inner.call([&a, &b]).eval().expect("results");
    close("tiny", found.storage(), &[321.0, 654.0]);
    close("tiny", &m.dot(&v).to_vec(), &[321.0, 654.0]);
    bench.small(
        "a whole call, [2, 3] by [3], eval",
        300.0,
        1,
        &mut [
            ("ours", &mut || drop(black_box(inner.call([black_box(&a), &b]).eval()))),
            ("t.dot", &mut || drop(black_box(black_box(&a).dot(&b, 1).eval()))),
            ("ndarray", &mut || drop(black_box(black_box(&m).dot(&v)))),
        ],
    );
    let call = inner.call([&a, &b]);
    let mut other = out.clone();
    bench.small(
        "a whole call, [2, 3] by [3], assign_to",
        300.0,
        1,
        &mut [
            ("ours", &mut || _ = black_box(inner.call([black_box(&a), &b]).assign_to(&mut out))),
            ("made before", &mut || _ = black_box(black_box(&call).assign_to(&mut other))),
        ],
    );
    bench.small(
        "a gufunc of the library, made",
        300.0,
        1,
        &mut [("ours", &mut || drop(black_box(gufunc::inner1d::<f64>())))],
    );
}
