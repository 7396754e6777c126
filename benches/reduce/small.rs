//! What takes nanoseconds before the first element: folds of small tensors, and what else is computed of lanes.

use lensor::lanes::SortOrder;
use lensor::prelude::*;
use ndarray::{ArrayD, Axis, IxDyn};
use report::{Bench, check};
use std::hint::black_box;

pub(crate) fn run(bench: &mut Bench) {
    for side in [2, 8] {
        let data: Vec<f64> = (0..side * side).map(|i| ((i * 7) % 10) as f64).collect();
        let t = Tensor::from_vec([side, side], data.clone()).expect("an input");
        let nd = ArrayD::from_shape_vec(IxDyn(&[side, side]), data).expect("an input");
        let sums = |axis: usize| t.sum(axis).to_vec().expect("sums");
        check("sum of all", &[t.sum(..).item().expect("a sum")], &[nd.sum()]);
        check("sum over axis 0", &sums(0), &nd.sum_axis(Axis(0)).into_raw_vec_and_offset().0);
        bench.small(
            &format!("sum of all {side} x {side}"),
            60.0,
            1,
            &mut [
                ("ours", &mut || drop(black_box(black_box(&t).sum(..).item()))),
                ("ndarray", &mut || _ = black_box(black_box(&nd).sum())),
            ],
        );
        for axis in [0, 1] {
            bench.small(
                &format!("sum over axis {axis} of {side} x {side}"),
                if side == 2 { 200.0 } else { 300.0 },
                1,
                &mut [
                    ("ours", &mut || drop(black_box(black_box(&t).sum(axis).eval()))),
                    ("ndarray", &mut || drop(black_box(black_box(&nd).sum_axis(Axis(axis))))),
                ],
            );
        }
    }
    let t = Tensor::from_index([8, 8], |i| ((i[0] * 11 + i[1] * 7) % 13) as f64).expect("an input");
    let flat = t.view().reshape([64]).expect("a view");
    let offsets: Vec<usize> = (0..=4).map(|k| 16 * k).collect();
    let four = t.view().select((0..4, 0..4)).and_then(|t| t.eval()).expect("an input");
    let rows: [(&str, &mut dyn FnMut()); 10] = [
        ("variance over axis 0", &mut || drop(black_box(black_box(&t).var(0).eval()))),
        ("argmax over axis 1", &mut || drop(black_box(black_box(&t).argmax(1).eval()))),
        ("sum over axis 0 of an expression", &mut || {
            drop(black_box((black_box(&t) * 2.0).sum(0).eval()));
        }),
        ("cumsum over axis 0", &mut || drop(black_box(black_box(&t).cumsum(0).eval()))),
        ("cumsum over axis 1", &mut || drop(black_box(black_box(&t).cumsum(1).eval()))),
        ("rolling sum of 3", &mut || drop(black_box(black_box(&t).rolling(1, 3).sum().eval()))),
        ("sort over axis 1", &mut || {
            drop(black_box(black_box(&t).sort(1, SortOrder::Ascending).eval()));
        }),
        ("median over axis 1", &mut || drop(black_box(black_box(&t).median(1).eval()))),
        ("matrix product 4 x 4", &mut || drop(black_box(black_box(&four).matmul(&four).eval()))),
        ("segments of 16", &mut || {
            drop(black_box(flat.view().segments(0, &offsets).fold(lensor::reduce::Sum).eval()));
        }),
    ];
    for (name, run) in rows {
        bench.small(&format!("{name}, 8 x 8"), 300.0, 1, &mut [("ours", run)]);
    }
}
