//! Products of few rows or columns: sums of promised order, however the matrices lie.

use crate::support::Random;
use lensor::linalg::Linalg;
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
