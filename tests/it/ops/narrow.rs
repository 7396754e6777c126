//! Products of few rows or columns: sums of promised order, however the matrices lie.

use crate::support::Random;
use lensor::linalg::{Linalg, einsum};
use lensor::prelude::*;

/// Numbers whose sums depend on their order, some of them zeros of either sign.
fn numbers(shape: [usize; 2], seed: u64) -> Tensor<Vec<f64>> {
    let mut random = Random(seed);
    let mut number = || match random.below(9) {
        0 => -0.0,
        1 => 0.0,
        _ => (random.below(1 << 30) as f64 / 7.0 - 6e7) / 10_f64.powi(random.below(12) as i32),
    };
    let data = (0..shape[0] * shape[1]).map(|_| number()).collect();
    Tensor::from_vec(shape, data).unwrap()
}

/// The same in memory of the other order.
fn turned(t: &Tensor<Vec<f64>>) -> Tensor<Vec<f64>> {
    let copy = t.view().transpose([1, 0]).unwrap().eval().unwrap();
    copy.transpose([1, 0]).unwrap()
}

fn in_order(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| sum + term)
}

fn in_lanes(terms: impl Iterator<Item = f64>) -> f64 {
    let mut lanes = [0.0; 32];
    terms.enumerate().for_each(|(k, term)| lanes[k % 32] += term);
    in_order(lanes.into_iter())
}

#[track_caller]
fn same(found: Vec<f64>, expected: impl Iterator<Item = f64>, what: &str) {
    let bits: Vec<u64> = expected.map(f64::to_bits).collect();
    assert_eq!(found.into_iter().map(f64::to_bits).collect::<Vec<_>>(), bits, "{what}");
}

#[test]
fn sums_of_a_few_columns_are_joined_from_lanes() {
    let sides = [
        (4, 1, 3),
        (5, 3, 2),
        (70, 3, 3),
        (9, 31, 1),
        (6, 32, 3),
        (5, 33, 2),
        (16, 70, 3),
        (17, 70, 2),
        (3, 513, 1),
        (3, 600, 3),
        (1, 1000, 2),
    ];
    for (m, k, n) in sides {
        let (a, b) = (numbers([m, k], 1), numbers([k, n], 2));
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            in_lanes((0..k).map(|p| a.get([i, p]).unwrap() * b.get([p, j]).unwrap()))
        };
        for (left, a) in [("plain", a.clone()), ("turned", turned(&a))] {
            for (right, b) in [("plain", b.clone()), ("turned", turned(&b))] {
                let what = format!("{m} x {k} x {n}, {left} {right}");
                same(a.matmul(&b).to_vec().unwrap(), (0..m * n).map(entry), &what);
            }
        }
    }
}

/// Sums of products without other axes, next to one another and each by itself, short and long.
#[test]
fn sums_side_by_side_are_those_of_single_ones() {
    let shapes =
        [(1, 5), (3, 1), (9, 7), (40, 65), (513, 9), (600, 2), (8, 512), (65, 511), (3, 130)];
    for (rows, columns) in shapes {
        let (a, b) = (numbers([rows, columns], 3), numbers([rows, columns], 4));
        let (other, plain) = (turned(&b), (a.to_vec().unwrap(), b.to_vec().unwrap()));
        let term = |i: usize, j: usize| plain.0[i * columns + j] * plain.1[i * columns + j];
        let down = |j: usize| {
            let terms = (0..rows).map(|i| term(i, j));
            if rows < 512 { in_order(terms) } else { in_lanes(terms) }
        };
        let along = |i: usize| {
            let terms = (0..columns).map(|j| term(i, j));
            if columns < 512 { in_order(terms) } else { in_lanes(terms) }
        };
        let what = format!("{rows} x {columns}");
        for b in [&b, &other] {
            let sums = einsum("ij,ij->j", (&a, b)).to_vec().unwrap();
            same(sums, (0..columns).map(down), &what);
            let sums = einsum("ij,ij->i", (&a, b)).to_vec().unwrap();
            same(sums, (0..rows).map(along), &what);
            let sums = einsum("ij,ij->i", (b, &a)).to_vec().unwrap();
            same(sums, (0..rows).map(along), &what);
        }
    }
}

/// A stack of which a row ends with a single product, and one that steps back.
#[test]
fn single_products_of_rows_are_exact() {
    let a = Tensor::from_index([3, 5, 65], |i| (i[0] * 7 + i[1] * 3 + i[2]) as i64).unwrap();
    let model = |i: usize, k: usize| -> i64 {
        (0..5).map(|j| ((i * 7 + j * 3 + k) * (i * 7 + j * 3 + 64 - k)) as i64).sum()
    };
    let back = a.view().flip(2).unwrap();
    let expected: Vec<i64> =
        (0..3).flat_map(|i| (0..65).map(move |k| (i, k))).map(|(i, k)| model(i, k)).collect();
    assert_eq!(einsum("ijk,ijk->ik", (&a, &back)).to_vec().unwrap(), expected);
    assert_eq!(einsum("ijk,ijk->ik", (&back, &a)).to_vec().unwrap(), expected);
}

#[test]
fn sums_side_by_side_are_told() {
    let t = numbers([8, 70], 5);
    let rows = t.view().transpose([1, 0]).unwrap();
    let (a, b) = (rows.clone().insert_axis(1).unwrap(), rows.insert_axis(2).unwrap());
    let told = a.matmul(&b).explain().unwrap().to_string();
    assert!(told.contains("kernel: sums side by side"), "{told}");
    assert!(told.contains("operand 1: direct, with strides [0, 70]"), "{told}");
}
