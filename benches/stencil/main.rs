//! Stencils and products against memcpy, plain loops and ndarray, interleaved in one run on one thread.
//!
//! `cargo bench --bench stencil [-- --quick] [-- FILTER]`. Every result is checked before it is timed.
//! Times are medians. Gradients are compared with memcpy of as many bytes, the rest with a peer: more than
//! 1 is faster than that.

#[allow(dead_code, reason = "shared by benches that use parts of it")]
#[path = "../kernels/report.rs"]
mod timing;

use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::stencil::{Edge, EdgeOrder, Mode, Spacing, Stencil};
use ndarray::{Array2, ArrayView2, s};
use std::hint::black_box;
use std::time::Instant;

type Contestant<'a> = (&'a str, Box<dyn FnMut() + 'a>);

struct Bench {
    quick: bool,
    filter: Option<String>,
}

impl Bench {
    /// Prints the median time of each contestant, and that of the second over that of the first.
    fn run(&self, name: &str, mut contestants: Vec<Contestant<'_>>) {
        if self.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            return;
        }
        let rounds = if self.quick { 3 } else { 11 };
        let mut times = vec![Vec::new(); contestants.len()];
        for _ in 0..rounds {
            for ((_, contestant), times) in contestants.iter_mut().zip(&mut times) {
                let start = Instant::now();
                contestant();
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        let medians: Vec<f64> = times
            .into_iter()
            .map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            })
            .collect();
        let all: Vec<String> = contestants
            .iter()
            .zip(&medians)
            .map(|((name, _), time)| format!("{name} {time:.3} ms"))
            .collect();
        println!("{name:<34} {:>6.2}x   {}", medians[1] / medians[0], all.join(", "));
    }

    fn side(&self) -> usize {
        if self.quick { 256 } else { 4096 }
    }
}

fn main() {
    let timing::Arguments { quick, filter, .. } = timing::Arguments::read();
    let bench = Bench { quick, filter };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread pool");
    pool.install(|| {
        gradient(&bench);
        convolution(&bench);
        stacks(&bench, 8, 20_000);
        stacks(&bench, 16, 5_000);
        product(&bench);
    });
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
fn gradient(bench: &Bench) {
    let n = bench.side();
    let t = noise(&[n, n]);
    let spacing = [Spacing::Uniform(1.0), Spacing::Uniform(1.0)];
    let mut planes = Tensor::full([2, n, n], 0.0).expect("memory");
    let mut out = planes.view_mut().move_axis(0, 2).expect("three axes");
    t.view().gradient(&spacing, EdgeOrder::First).assign_to(&mut out).expect("a gradient");
    for [i, j] in [[0, 0], [1, 1], [n - 1, n / 2], [n / 3, n - 1]] {
        let slope = |low: [usize; 2], high: [usize; 2]| {
            let steps = (high[0] - low[0] + high[1] - low[1]) as f64;
            (t.get(&high).expect("inside") - t.get(&low).expect("inside")) / steps
        };
        let down = slope([i.saturating_sub(1), j], [(i + 1).min(n - 1), j]);
        let right = slope([i, j.saturating_sub(1)], [i, (j + 1).min(n - 1)]);
        assert_eq!([out.get(&[i, j, 0]), out.get(&[i, j, 1])], [Ok(down), Ok(right)]);
    }
    let (from, mut to) = (vec![1.0; 3 * n * n / 2], vec![2.0; 3 * n * n / 2]);
    let ours =
        || t.view().gradient(&spacing, EdgeOrder::First).assign_to(&mut out).expect("a gradient");
    let memcpy = || black_box(&mut to).copy_from_slice(black_box(&from));
    bench.run("gradient/f64", vec![("ours", Box::new(ours)), ("memcpy", Box::new(memcpy))]);
}

/// A kernel of 5 by 5 with zeros beyond the border.
fn convolution(bench: &Bench) {
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
    t.view().convolve(&turned, Mode::Same(Edge::Zero)).assign_to(&mut out).expect("sums");
    assert!(out.storage().iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-12), "convolve");
    let ours = || {
        t.view().convolve(&turned, Mode::Same(Edge::Zero)).assign_to(&mut out).expect("sums");
    };
    bench.run(
        "convolve/5x5/f64",
        vec![("ours", Box::new(ours)), ("ndarray windows", Box::new(|| by_windows(&mut sums)))],
    );
}

/// Matrix number `k` of a stack.
fn square(stack: &[f64], side: usize, k: usize) -> ArrayView2<'_, f64> {
    let one = &stack[k * side * side..][..side * side];
    ArrayView2::from_shape((side, side), one).expect("a square")
}

/// Many small matrices.
fn stacks(bench: &Bench, side: usize, count: usize) {
    let count = if bench.quick { count / 100 } else { count };
    let (a, b) = (noise(&[count, side, side]), noise(&[count, side, side]));
    let mut out = Tensor::full([count, side, side], 0.0).expect("memory");
    a.view().matmul(&b).assign_to(&mut out).expect("a product");
    for k in [0, count / 2, count - 1] {
        let expected = square(a.storage(), side, k).dot(&square(b.storage(), side, k));
        let found = square(out.storage(), side, k);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "product {k}");
    }
    let mut other = Array2::zeros((side, side));
    let ours = || a.view().matmul(&b).assign_to(&mut out).expect("a product");
    let ndarray = || {
        for k in 0..count {
            let (a, b) = (square(a.storage(), side, k), square(b.storage(), side, k));
            ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, &mut other);
        }
    };
    let name = format!("matmul/{side}x{side}/f64/{count}");
    bench.run(&name, vec![("ours", Box::new(ours)), ("ndarray", Box::new(ndarray))]);
}

/// One large product, in place and with a turned operand.
fn product(bench: &Bench) {
    let n = if bench.quick { 64 } else { 1024 };
    let (a, b) = (noise(&[n, n]), noise(&[n, n]));
    let turned = b.view().transpose(&[1, 0]).expect("two axes");
    let mut out = Tensor::full([n, n], 0.0).expect("memory");
    let view = |t| ArrayView2::from_shape((n, n), t).expect("a square");
    let expected = view(a.storage()).dot(&view(b.storage()).t());
    a.view().matmul(&turned).assign_to(&mut out).expect("a product");
    assert!(out.storage().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "product");
    let mut other = Array2::zeros((n, n));
    let ours = || a.view().matmul(&b).assign_to(&mut out).expect("a product");
    let ndarray = || {
        let (a, b) = (view(a.storage()), view(b.storage()));
        ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, &mut other);
    };
    let contestants: Vec<Contestant<'_>> =
        vec![("ours", Box::new(ours)), ("ndarray", Box::new(ndarray))];
    bench.run(&format!("matmul/{n}/f64"), contestants);
}
