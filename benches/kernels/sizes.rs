//! The same operations at sizes from one element to ten million, as curves.

use lensor::prelude::*;
use ndarray::{Array2, Axis, Zip, s};
use report::{Bench, check};
use std::hint::black_box;

const SIZES: [usize; 13] =
    [1, 4, 16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 10_000_000];

/// Times an operation at about so many elements.
type Row = fn(&mut Bench, &str, usize);

pub(crate) fn run(bench: &mut Bench) {
    let rows: [(&str, Row); 9] = [
        ("sum", sum),
        ("sum over axis 0", |bench, name, n| sums(bench, name, n, 0)),
        ("sum over axis 1", |bench, name, n| sums(bench, name, n, 1)),
        ("a + b, new", fresh),
        ("a + b into", |bench, name, n| added(bench, name, n, false)),
        ("aT + b into", |bench, name, n| added(bench, name, n, true)),
        ("copy", |bench, name, n| copied(bench, name, n, [1, 1])),
        ("a[::2, ::3] into", |bench, name, n| copied(bench, name, n, [2, 3])),
        ("(a*2+b)*c - d/2 into", fused),
    ];
    let largest = if bench.quick { 1 << 12 } else { usize::MAX };
    for (name, row) in rows {
        if !bench.wants(name) {
            continue;
        }
        SIZES.iter().filter(|&&n| n <= largest).for_each(|&n| row(bench, name, n));
    }
}

/// A matrix of about so many elements.
fn square(count: usize) -> [usize; 2] {
    let side = (count as f64).sqrt() as usize;
    [side, count / side]
}

fn matrix([rows, columns]: [usize; 2], seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        ((i * 7 + j * 5 + seed * 13) % 1009) as f64 * 0.25
    })
}

fn tensor(a: &Array2<f64>) -> Tensor<Vec<f64>> {
    let shape = [a.nrows(), a.ncols()];
    Tensor::from_vec(shape, a.iter().copied().collect()).expect("an input")
}

fn sum(bench: &mut Bench, name: &str, count: usize) {
    let a = matrix(square(count), 1);
    let t = tensor(&a);
    assert_eq!(t.sum(..).item(), Ok(a.sum()), "{name}");
    bench.at_size(
        name,
        t.len(),
        &mut || drop(black_box(black_box(&t).sum(..).item())),
        &mut || _ = black_box(black_box(&a).sum()),
        &mut || _ = black_box(black_box(t.storage()).iter().sum::<f64>()),
    );
}

fn sums(bench: &mut Bench, name: &str, count: usize, axis: usize) {
    let a = matrix(square(count), 1);
    let t = tensor(&a);
    check(name, t.sum(axis).eval().expect("sums").storage(), &a.sum_axis(Axis(axis)).to_vec());
    let columns = a.ncols();
    let plain = |a: &[f64]| -> Vec<f64> {
        if axis == 1 {
            return a.chunks_exact(columns).map(|row| row.iter().sum()).collect();
        }
        let mut sums = vec![0.0; columns];
        for row in a.chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        sums
    };
    bench.at_size(
        name,
        t.len(),
        &mut || drop(black_box(black_box(&t).sum(axis).eval())),
        &mut || drop(black_box(black_box(&a).sum_axis(Axis(axis)))),
        &mut || drop(black_box(plain(black_box(t.storage())))),
    );
}

fn fresh(bench: &mut Bench, name: &str, count: usize) {
    let [a, b] = [1, 2].map(|seed| matrix(square(count), seed));
    let [t, u] = [&a, &b].map(tensor);
    check(
        name,
        (&t + &u).eval().expect("a sum").storage(),
        (&a + &b).as_slice().expect("in order"),
    );
    bench.at_size(
        name,
        t.len(),
        &mut || drop(black_box((black_box(&t) + black_box(&u)).eval())),
        &mut || drop(black_box(black_box(&a) + black_box(&b))),
        &mut || {
            let both = black_box(t.storage()).iter().zip(black_box(u.storage()));
            drop(black_box(both.map(|(x, y)| x + y).collect::<Vec<f64>>()));
        },
    );
}

fn added(bench: &mut Bench, name: &str, count: usize, turned: bool) {
    let side = (count as f64).sqrt() as usize;
    let [a, b] = [1, 2].map(|seed| matrix([side, side], seed));
    let [t, u] = [&a, &b].map(tensor);
    let (mut theirs, mut plain) = (Array2::zeros((side, side)), vec![0.0; side * side]);
    let mut out = Tensor::full([side, side], 0.0).expect("an output");
    let order = if turned { [1, 0] } else { [0, 1] };
    let left = t.view().transpose(order).expect("a view");
    let e = &left + &u;
    let their_left = a.view().permuted_axes(order);
    e.assign_to(&mut out).expect("a sum");
    check(
        name,
        out.storage(),
        (&their_left + &b).as_standard_layout().as_slice().expect("in order"),
    );
    let (x, y) = (t.storage(), u.storage());
    bench.at_size(
        name,
        t.len(),
        &mut || black_box(&e).assign_to(black_box(&mut out)).expect("a sum"),
        &mut || {
            let zip = Zip::from(black_box(&mut theirs)).and(black_box(&their_left));
            zip.and(black_box(&b)).for_each(|z, x, y| *z = x + y);
        },
        &mut || {
            let (x, y) = (black_box(x), black_box(y));
            for (i, (z, y)) in plain.chunks_exact_mut(side).zip(y.chunks_exact(side)).enumerate() {
                if turned {
                    let x = x[i..].iter().step_by(side);
                    z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = x + y);
                } else {
                    let x = &x[i * side..];
                    z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = x + y);
                }
            }
        },
    );
}

fn copied(bench: &mut Bench, name: &str, count: usize, [down, along]: [usize; 2]) {
    let shape = square(count);
    let a = matrix([shape[0] * down, shape[1] * along], 1);
    let t = tensor(&a);
    let their_view = a.slice(s![..;down, ..;along]);
    let view = t.view().select((Select::every(down), Select::every(along)));
    let view = view.expect("a view");
    let mut theirs = Array2::zeros((shape[0], shape[1]));
    let mut plain = vec![0.0; shape[0] * shape[1]];
    let mut out = Tensor::full(shape, 0.0).expect("an output");
    let e = view.lazy();
    e.assign_to(&mut out).expect("a copy");
    check(name, out.storage(), their_view.as_standard_layout().as_slice().expect("in order"));
    bench.at_size(
        name,
        shape[0] * shape[1],
        &mut || black_box(&e).assign_to(black_box(&mut out)).expect("a copy"),
        &mut || theirs.assign(black_box(&their_view)),
        &mut || {
            let rows = black_box(t.storage()).chunks_exact(shape[1] * along).step_by(down);
            for (z, x) in plain.chunks_exact_mut(shape[1]).zip(rows) {
                z.iter_mut().zip(x.iter().step_by(along)).for_each(|(z, x)| *z = *x);
            }
        },
    );
}

fn fused(bench: &mut Bench, name: &str, count: usize) {
    let all = [1, 2, 3, 4].map(|seed| matrix(square(count), seed));
    let [a, b, c, d] = &all;
    let [t, u, v, w] = [a, b, c, d].map(tensor);
    let (mut theirs, mut plain) = (Array2::zeros(a.raw_dim()), vec![0.0; a.len()]);
    let mut out = Tensor::full(t.shape(), 0.0).expect("an output");
    let e = (&t * 2.0 + &u) * &v - &w / 2.0;
    e.assign_to(&mut out).expect("a result");
    check(name, out.storage(), ((a * 2.0 + b) * c - d / 2.0).as_slice().expect("in order"));
    bench.at_size(
        name,
        t.len(),
        &mut || black_box(&e).assign_to(black_box(&mut out)).expect("a result"),
        &mut || {
            let zip = Zip::from(black_box(&mut theirs)).and(a).and(b).and(c).and(d);
            zip.for_each(|z, a, b, c, d| *z = (a * 2.0 + b) * c - d / 2.0);
        },
        &mut || {
            let [a, b, c, d] = [&t, &u, &v, &w].map(|t| &black_box(t.storage())[..plain.len()]);
            for (k, z) in plain.iter_mut().enumerate() {
                *z = (a[k] * 2.0 + b[k]) * c[k] - d[k] / 2.0;
            }
        },
    );
}
