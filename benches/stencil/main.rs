//! Stencils and products against memcpy, plain loops and ndarray, interleaved in one run.
//!
//! `cargo bench --bench stencil [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is timed.
//! A ratio is the median over rounds of our time divided by that of ndarray, or of memcpy of as many bytes
//! as a gradient reads and writes, in the same round: lower is better.

use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode, Spacing, Stencil};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};
use report::{Bench, Case, Match, check};

fn main() {
    let mut bench = Bench::from_arguments();
    gradient(&mut bench);
    convolution(&mut bench);
    stacks(&mut bench, 8, 20_000);
    stacks(&mut bench, 16, 5_000);
    product(&mut bench);
    for n in [64, 512, 2048] {
        by_vector(&mut bench, n);
    }
}

fn noise(shape: &[usize]) -> Tensor<Vec<f64>> {
    let mut state = 1_u32;
    let next = |_: &[usize]| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    Tensor::from_index(shape, next).expect("memory")
}

/// Both components of a gradient: one read, two writes.
fn gradient(bench: &mut Bench) {
    let name = "gradient/f64";
    if !bench.wants(name) {
        return;
    }
    let n = bench.side();
    let t = noise(&[n, n]);
    let spacing = [Spacing::Uniform(1.0), Spacing::Uniform(1.0)];
    let mut planes = Tensor::full([2, n, n], 0.0).expect("memory");
    let mut naive = vec![0.0; 2 * n * n];
    let loops = |out: &mut [f64]| {
        let (down, right) = out.split_at_mut(n * n);
        let slope = |low: usize, high: usize, steps: usize| {
            (t.storage()[high] - t.storage()[low]) / steps as f64
        };
        for i in 0..n {
            let (above, below) = (i.saturating_sub(1), (i + 1).min(n - 1));
            for j in 0..n {
                let (before, after) = (j.saturating_sub(1), (j + 1).min(n - 1));
                down[i * n + j] = slope(above * n + j, below * n + j, below - above);
                right[i * n + j] = slope(i * n + before, i * n + after, after - before);
            }
        }
    };
    let ours = |planes: &mut Tensor<Vec<f64>>| {
        let mut out = planes.view_mut().move_axis(0, 2).expect("three axes");
        t.view().gradient(&spacing, EdgeOrder::First).assign_to(&mut out).expect("a gradient");
    };
    ours(&mut planes);
    loops(&mut naive);
    check(name, planes.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 24 * n * n,
        reach: 1.2,
        ours: &mut || ours(&mut planes),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

/// A kernel of 5 by 5 with zeros beyond the border.
fn convolution(bench: &mut Bench) {
    let name = "convolve/5x5/f64";
    if !bench.wants(name) {
        return;
    }
    let n = bench.side() / 2;
    let (t, kernel) = (noise(&[n, n]), noise(&[5, 5]));
    let mut out = Tensor::full([n, n], 0.0).expect("memory");
    let plain = ArrayView2::from_shape((n, n), t.storage()).expect("a square");
    let weights = ArrayView2::from_shape((5, 5), kernel.storage()).expect("a square");
    let mut padded = Array2::<f64>::zeros((n + 4, n + 4));
    let mut sums = Array2::<f64>::zeros((n, n));
    let mut by_windows = |sums: &mut Array2<f64>| {
        padded.slice_mut(s![2..n + 2, 2..n + 2]).assign(&plain);
        ndarray::Zip::from(sums).and(padded.windows((5, 5))).for_each(|sum, window| {
            *sum = window.iter().zip(weights.iter()).map(|(x, weight)| x * weight).sum();
        });
    };
    by_windows(&mut sums);
    let turned = kernel.view().flip(0).and_then(|kernel| kernel.flip(1)).expect("two axes");
    t.view().convolve(&turned, Mode::Same(Border::Zero)).assign_to(&mut out).expect("sums");
    assert!(out.storage().iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
    bench.run_match(Match {
        name,
        reach: 0.1,
        ours: &mut || {
            t.view().convolve(&turned, Mode::Same(Border::Zero)).assign_to(&mut out).expect("sums");
        },
        peer: ("windows", &mut || by_windows(&mut sums)),
        naive: None,
    });
}

/// Matrix number `k` of a stack.
fn square(stack: &[f64], side: usize, k: usize) -> ArrayView2<'_, f64> {
    let one = &stack[k * side * side..][..side * side];
    ArrayView2::from_shape((side, side), one).expect("a square")
}

/// Many small matrices.
fn stacks(bench: &mut Bench, side: usize, count: usize) {
    let count = if bench.quick { count / 100 } else { count };
    let name = format!("matmul/{side}x{side}/f64/{count}");
    if !bench.wants(&name) {
        return;
    }
    let (a, b) = (noise(&[count, side, side]), noise(&[count, side, side]));
    let mut out = Tensor::full([count, side, side], 0.0).expect("memory");
    a.view().matmul(&b).assign_to(&mut out).expect("a product");
    for k in [0, count / 2, count - 1] {
        let expected = square(a.storage(), side, k).dot(&square(b.storage(), side, k));
        let found = square(out.storage(), side, k);
        assert!(
            found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
            "{name}, matrix {k}"
        );
    }
    let mut other = Array2::zeros((side, side));
    let mut ndarray = || {
        for k in 0..count {
            let (a, b) = (square(a.storage(), side, k), square(b.storage(), side, k));
            ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, &mut other);
        }
    };
    bench.run_match(Match {
        name: &name,
        reach: 1.0,
        ours: &mut || a.view().matmul(&b).assign_to(&mut out).expect("a product"),
        peer: ("ndarray", &mut ndarray),
        naive: None,
    });
}

/// One large product, in place and with a turned operand.
fn product(bench: &mut Bench) {
    let n = if bench.quick { 64 } else { 1024 };
    let name = format!("matmul/{n}/f64");
    if !bench.wants(&name) {
        return;
    }
    let (a, b) = (noise(&[n, n]), noise(&[n, n]));
    let turned = b.view().transpose([1, 0]).expect("two axes");
    let mut out = Tensor::full([n, n], 0.0).expect("memory");
    let view = |t| ArrayView2::from_shape((n, n), t).expect("a square");
    let expected = view(a.storage()).dot(&view(b.storage()).t());
    a.view().matmul(&turned).assign_to(&mut out).expect("a product");
    assert!(out.storage().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "{name}");
    let mut other = Array2::zeros((n, n));
    bench.run_match(Match {
        name: &name,
        reach: 1.0,
        ours: &mut || a.view().matmul(&b).assign_to(&mut out).expect("a product"),
        peer: ("ndarray", &mut || {
            let (a, b) = (view(a.storage()), view(b.storage()));
            ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, &mut other);
        }),
        naive: None,
    });
}

/// A vector times a matrix, on either side of it, and turned.
fn by_vector(bench: &mut Bench, n: usize) {
    let n = if bench.quick { n / 8 } else { n };
    let (a, x) = (noise(&[n, n]), noise(&[n]));
    let turned = a.view().transpose([1, 0]).expect("two axes");
    let mut out = Tensor::full([n], 0.0).expect("memory");
    let matrix = ArrayView2::from_shape((n, n), a.storage()).expect("a square");
    let vector = ArrayView1::from(x.storage());
    let mut other = Array1::zeros(n);
    let mut row = |name: &str,
                   ours: &mut (dyn FnMut(&mut Tensor<Vec<f64>>) + Send),
                   peer: ArrayView2<'_, f64>| {
        let name = format!("{name}/{n}/f64");
        if !bench.wants(&name) {
            return;
        }
        ours(&mut out);
        let expected = peer.dot(&vector);
        assert!(out.storage().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "{name}");
        bench.run_match(Match {
            name: &name,
            reach: 1.0,
            ours: &mut || ours(&mut out),
            peer: ("ndarray", &mut || {
                ndarray::linalg::general_mat_vec_mul(1.0, &peer, &vector, 0.0, &mut other);
            }),
            naive: None,
        });
    };
    row("matrix times vector", &mut |out| a.matmul(&x).assign_to(out).expect("a product"), matrix);
    row(
        "vector times matrix",
        &mut |out| x.matmul(&a).assign_to(out).expect("a product"),
        matrix.t(),
    );
    row(
        "transposed matrix times vector",
        &mut |out| turned.view().matmul(&x).assign_to(out).expect("a product"),
        matrix.t(),
    );
}
