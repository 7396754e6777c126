//! Random matrices of many kinds, their exact determinants and inverses.

use crate::support::Random;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A number from -1 until 1.
pub(super) fn uniform(random: &mut Random) -> f64 {
    let bits = random.below(1 << 26) << 26 | random.below(1 << 26);
    bits as f64 / (1_u64 << 51) as f64 - 1.0
}

/// Names of the kinds of matrices.
pub(super) const KINDS: [&str; 16] = [
    "uniform",
    "near rows",
    "near rank 1",
    "near rank 2",
    "Hilbert",
    "integers",
    "large integers",
    "times 1e-200",
    "times 1e200",
    "scaled rows",
    "scaled columns",
    "permutation",
    "upper triangular",
    "lower triangular",
    "small first row",
    "growing",
];

/// A random matrix of a kind.
pub(super) fn matrix(kind: &str, n: usize, random: &mut Random) -> Vec<f64> {
    let mut a: Vec<f64> = (0..n * n).map(|_| uniform(random)).collect();
    let small = 10f64.powi(-(random.below(17) as i32));
    let at = |k: usize| (k / n, k % n);
    match kind {
        "near rows" => {
            for k in n..n * n {
                a[k] = a[k % n] + if k < 2 * n { small * a[k] } else { a[k] };
            }
        }
        "near rank 1" | "near rank 2" => {
            let u: Vec<f64> = (0..4 * n).map(|_| uniform(random)).collect();
            for (k, x) in a.iter_mut().enumerate() {
                let (r, c) = at(k);
                let second = if kind == "near rank 2" { u[2 * n + r] * u[3 * n + c] } else { 0.0 };
                *x = u[r] * u[n + c] + second + small * *x;
            }
        }
        "Hilbert" => {
            let first = random.below(5);
            for (k, x) in a.iter_mut().enumerate() {
                *x = 1.0 / (k / n + k % n + 1 + first) as f64;
            }
        }
        "integers" => a.iter_mut().for_each(|x| *x = (*x * 10.0).round()),
        "large integers" => a.iter_mut().for_each(|x| *x = (*x * 1e6).round()),
        "times 1e-200" => a.iter_mut().for_each(|x| *x *= 1e-200),
        "times 1e200" => a.iter_mut().for_each(|x| *x *= 1e200),
        "scaled rows" | "scaled columns" => {
            let scale: Vec<f64> = (0..n).map(|_| 10f64.powf(7.0 * uniform(random))).collect();
            for (k, x) in a.iter_mut().enumerate() {
                *x *= scale[if kind == "scaled rows" { at(k).0 } else { at(k).1 }];
            }
        }
        "permutation" => {
            let mut places: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                places.swap(i, random.below(i + 1));
            }
            for (k, x) in a.iter_mut().enumerate() {
                *x = if places[at(k).0] == at(k).1 { 1.0 } else { 0.0 };
            }
        }
        "upper triangular" => (0..n * n).filter(|&k| at(k).0 > at(k).1).for_each(|k| a[k] = 0.0),
        "lower triangular" => (0..n * n).filter(|&k| at(k).0 < at(k).1).for_each(|k| a[k] = 0.0),
        "small first row" => {
            a[..n].iter_mut().for_each(|x| *x *= 1e-20);
            for k in n..n * n {
                a[k] = a[n + k % n] + if k < 2 * n { 0.0 } else { small * a[k] };
            }
        }
        "growing" => {
            // Partial pivots let the last column double in every step.
            for (k, x) in a.iter_mut().enumerate() {
                let (r, c) = at(k);
                let one = if r == c || c + 1 == n { 1.0 } else { -1.0 };
                *x = if r < c && c + 1 < n { 0.0 } else { one } + small * *x;
            }
        }
        _ => {}
    }
    a
}

/// The exact value of a float.
pub(super) fn exact(x: impl Into<f64>) -> BigRational {
    BigRational::from_float(x.into()).expect("finite")
}

/// Exact determinant and, unless that is 0, inverse.
pub(super) fn exact_inverse(n: usize, a: &[BigRational]) -> (BigRational, Vec<BigRational>) {
    let width = 2 * n;
    let mut rows: Vec<Vec<BigRational>> = (0..n)
        .map(|r| {
            let unit = (0..n).map(|c| BigRational::from_integer(i32::from(r == c).into()));
            a[r * n..(r + 1) * n].iter().cloned().chain(unit).collect()
        })
        .collect();
    let mut det = BigRational::one();
    for c in 0..n {
        let Some(p) = (c..n).find(|&r| !rows[r][c].is_zero()) else {
            return (BigRational::zero(), Vec::new());
        };
        if p != c {
            rows.swap(p, c);
            det = -det;
        }
        det *= rows[c][c].clone();
        let pivots = rows[c].clone();
        for j in c..width {
            rows[c][j] = &pivots[j] / &pivots[c];
        }
        let pivots = rows[c].clone();
        for r in (0..n).filter(|&r| r != c) {
            let factor = rows[r][c].clone();
            if !factor.is_zero() {
                for j in c..width {
                    rows[r][j] -= &factor * &pivots[j];
                }
            }
        }
    }
    (det, rows.into_iter().flat_map(|row| row.into_iter().skip(n)).collect())
}

/// Largest sum of magnitudes in a row.
pub(super) fn norm(n: usize, a: &[BigRational]) -> BigRational {
    let sums = a.chunks(n).map(|row| row.iter().map(BigRational::abs).sum::<BigRational>());
    sums.fold(BigRational::zero(), |x, y| if x > y { x } else { y })
}

/// Largest magnitude.
pub(super) fn largest(a: &[BigRational]) -> BigRational {
    a.iter().map(BigRational::abs).fold(BigRational::zero(), |x, y| if x > y { x } else { y })
}
