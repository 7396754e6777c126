//! Products of matrices of 1 % and 0.01 % stored elements.

use crate::cases::{Matrix, addresses, check, matrix, peer, side};
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::storage::{Duplicates, Sparse};
use report::{Bench, Match};
use sprs::CsMat;
use std::hint::black_box;

/// Columns of the dense matrix.
const WIDTH: usize = 64;

pub(crate) fn run(bench: &mut Bench) {
    if bench.wants("mttkrp") {
        mttkrp(bench);
    }
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

/// A matricised tensor of 5e5 entries times a Khatri-Rao product of rank 16, as the documentation of `zip_stored` has it,
/// against the loop over entries.
fn mttkrp(bench: &mut Bench) {
    const RANK: usize = 16;
    let (shape, count) =
        if bench.quick { ([50, 60, 70], 5_000) } else { ([1000, 1200, 1500], 500_000) };
    let mut state = 1_u64;
    let mut below = |extent: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % extent
    };
    let mut indexes: Vec<[usize; 3]> = (0..count).map(|_| shape.map(&mut below)).collect();
    indexes.sort_unstable();
    indexes.dedup();
    let values: Vec<f64> = (0..indexes.len()).map(|k| (k % 17) as f64).collect();
    let x = Tensor::from_coordinates(shape, 0.0, &indexes, values.clone(), Duplicates::Refuse)
        .expect("entries");
    let factor = |rows: usize, modulus: usize| -> Vec<f64> {
        (0..rows * RANK).map(|k| (k * 7919 % modulus) as f64).collect()
    };
    let (rows_b, rows_c) = (factor(shape[1], 13), factor(shape[2], 11));
    let b = Tensor::from_vec([shape[1], RANK], rows_b.clone()).expect("a factor");
    let c = Tensor::from_vec([shape[2], RANK], rows_c.clone()).expect("a factor");
    let product = || {
        let x = x.view().insert_axis(3)?;
        let terms = zip_stored((x, b.view().insert_axis(1)?, &c), 0.0, |(x, b, c)| x * b * c);
        terms.sum([1, 2]).eval()
    };
    let by_hand = || {
        let mut out = vec![0.0; shape[0] * RANK];
        for (&[i, j, k], x) in indexes.iter().zip(&values) {
            let factors = rows_b[j * RANK..][..RANK].iter().zip(&rows_c[k * RANK..][..RANK]);
            let own = &mut out[i * RANK..][..RANK];
            own.iter_mut().zip(factors).for_each(|(own, (b, c))| *own += x * b * c);
        }
        out
    };
    assert!(product().expect("a product").storage() == &by_hand(), "mttkrp");
    bench.run_match(Match {
        name: "mttkrp, 5e5 entries, rank 16",
        reach: 1.5,
        ours: &mut || drop(black_box(product())),
        peer: ("by hand", &mut || drop(black_box(by_hand()))),
        naive: None,
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
