//! Products of matrices of 1 % and 0.01 % stored elements.

use crate::cases::{Matrix, addresses, check, matrix, peer, side};
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::storage::Sparse;
use report::{Bench, Match};
use sprs::CsMat;
use std::hint::black_box;

/// Columns of the dense matrix.
const WIDTH: usize = 64;

pub(crate) fn run(bench: &mut Bench) {
    let side = side(bench);
    for (percent, share) in [("1%", 100), ("0.01%", 10_000)] {
        let a = matrix(side, &addresses(side, side * side / share, 1));
        let x = peer(&a);
        for width in [1, WIDTH] {
            let name = format!("times dense [{side}, {width}]/{percent}");
            if bench.wants(&name) {
                dense(bench, name, &a, &x, width);
            }
        }
        let name = format!("sparse x sparse/{percent}");
        if bench.wants(&name) {
            // At 1 % a result of 10 000 x 10 000 is as good as dense: rows of a quarter do.
            let side = if share == 100 { side / 4 } else { side };
            let a = matrix(side, &addresses(side, side * side / share, 1));
            let b = matrix(side, &addresses(side, side * side / share, 2));
            sparse(bench, name, &a, &b);
        }
    }
}

fn dense(bench: &mut Bench, name: String, a: &Matrix, x: &CsMat<f64>, width: usize) {
    let side = a.shape()[0];
    let element = |k: usize| ((k * 7919) % 1013) as f64 - 500.0;
    let right: Vec<f64> = (0..side * width).map(element).collect();
    let ours = Tensor::from_vec([side, width], right.clone()).expect("a matrix");
    let theirs = ndarray::Array2::from_shape_vec((side, width), right.clone()).expect("a matrix");
    let naive = || {
        let mut out = vec![0.0; side * width];
        for (address, value) in a.storage().iter() {
            let (row, column) = (address / side, address % side);
            for k in 0..width {
                out[row * width + k] += value * right[column * width + k];
            }
        }
        out
    };
    let product = || a.times_dense(&ours, PlusTimes).eval().expect("a product");
    let peer = || {
        if width > 1 {
            return x * &theirs;
        }
        let column = x * &theirs.column(0);
        column.into_shape_with_order((side, 1)).expect("a column")
    };
    let found = product().into_storage();
    assert!(found == naive() && found == peer().into_raw_vec_and_offset().0, "{name}");
    bench.run_match(Match {
        name: &name,
        reach: 1.0,
        ours: &mut || drop(black_box(product())),
        peer: ("sprs", &mut || drop(black_box(peer()))),
        naive: Some(&mut || drop(black_box(naive()))),
    });
}

fn sparse(bench: &mut Bench, name: String, a: &Matrix, b: &Matrix) {
    let (x, y) = (peer(a), peer(b));
    let product = || a.times_sparse(b, PlusTimes).expect("a product");
    let naive = || {
        let (side, mut out) = (a.shape()[0], std::collections::BTreeMap::new());
        let first = |row: usize| b.storage().addresses().partition_point(|k| *k < row * side);
        for (address, value) in a.storage().iter() {
            let (row, column) = (address / side, address % side);
            for k in first(column)..first(column + 1) {
                let position = row * side + b.storage().addresses()[k] % side;
                *out.entry(position).or_insert(0.0) += value * b.storage().values()[k];
            }
        }
        let (addresses, values) = out.into_iter().unzip();
        Sparse::from_sorted(a.len(), 0.0, addresses, values).expect("in order")
    };
    let found = product();
    check(&name, &found, &(&x * &y));
    assert_eq!(found.storage().values(), naive().values(), "{name}");
    bench.run_match(Match {
        name: &name,
        reach: 1.0,
        ours: &mut || drop(black_box(product())),
        peer: ("sprs", &mut || drop(black_box(&x * &y))),
        naive: Some(&mut || drop(black_box(naive()))),
    });
}
