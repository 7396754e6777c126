//! Determinants, inverses and solutions against exact rational arithmetic, and what they must not depend on.

use super::exact::{KINDS, exact, exact_inverse, largest, matrix, norm, uniform};
use crate::support::Random;
use lensor::dtype::Real;
use lensor::gufunc::{det, inv, solve};
use lensor::prelude::*;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

/// How many matrices of each kind and size are checked.
const TIMES: usize = if cfg!(debug_assertions) { 1 } else { 12 };

/// What a type rounds to.
#[derive(Clone, Copy)]
struct Format<T> {
    round: fn(f64) -> T,
    /// Distance from 1 to the next number.
    ulp: f64,
    /// The smallest positive number.
    least: f64,
    /// The largest number.
    most: f64,
}

const F64: Format<f64> = Format { round: |x| x, ulp: f64::EPSILON, least: 5e-324, most: f64::MAX };
const F32: Format<f32> = Format {
    round: |x| x as f32,
    ulp: f32::EPSILON as f64,
    least: f32::from_bits(1) as f64,
    most: f32::MAX as f64,
};

/// Elements of a matrix type.
trait Number: Real + Default + Into<f64> + std::fmt::Debug + 'static {}
impl Number for f64 {}
impl Number for f32 {}

fn tensor<T: Copy + Send + Sync>(shape: &[usize], data: &[T]) -> Tensor<Vec<T>> {
    Tensor::from_vec(shape.to_vec(), data.to_vec()).unwrap()
}

fn det_of<T: Number>(n: usize, a: &[T]) -> T {
    let [det] = det().call([&tensor(&[n, n], a)]).eval().unwrap();
    det.item().unwrap()
}

/// None if the matrix is singular.
fn regular<T: Number>(result: Result<[Tensor<Vec<T>>; 1], Error>) -> Option<Vec<T>> {
    match result {
        Ok([t]) => Some(t.to_vec().unwrap()),
        Err(error) => {
            assert_eq!(error.to_string(), "elementary function failed at []: matrix is singular");
            None
        }
    }
}

fn inverse_of<T: Number>(n: usize, a: &[T]) -> Option<Vec<T>> {
    regular(inv().call([&tensor(&[n, n], a)]).eval())
}

fn solution_of<T: Number>(n: usize, k: usize, a: &[T], b: &[T]) -> Option<Vec<T>> {
    regular(solve().call([&tensor(&[n, n], a), &tensor(&[n, k], b)]).eval())
}

/// The largest error of any of some results over what is allowed: `bound` relative to the largest
/// exact one, and the smallest positive number. Infinity stands for results out of range.
fn excess<T: Number>(
    results: &[T],
    expected: &[BigRational],
    bound: &BigRational,
    format: Format<T>,
) -> f64 {
    let scale = largest(expected);
    let allowed = &scale * bound + exact(format.least);
    if scale.clone() + &allowed > exact(format.most) {
        return 0.0;
    }
    let mut worst = 0.0;
    for (&x, expected) in results.iter().zip(expected) {
        if !x.is_finite() {
            return f64::INFINITY;
        }
        let error = ((exact(x) - expected).abs() / &allowed).to_f64().expect("a ratio");
        worst = f64::max(worst, error);
    }
    worst
}

/// Worst errors of determinant, inverse and solution over their bounds.
fn check<T: Number>(n: usize, a: &[T], random: &mut Random, format: Format<T>) -> [f64; 3] {
    let exact_a: Vec<BigRational> = a.iter().map(|&x| exact(x)).collect();
    let (exact_det, exact_inv) = exact_inverse(n, &exact_a);
    let got = det_of(n, a);
    let k = 1 + random.below(3);
    let b: Vec<T> = (0..n * k).map(|_| (format.round)(uniform(random))).collect();
    let (inverted, solved) = (inverse_of(n, a), solution_of(n, k, a, &b));
    assert!(inverted.is_some() || solved.is_none());
    if exact_inv.is_empty() {
        return [0.0; 3]; // no condition number
    }
    let square = exact(8.0 * (n * n) as f64 * format.ulp);
    let bound = square * norm(n, &exact_a) * norm(n, &exact_inv);
    let of_det = excess(&[got], &[exact_det], &bound, format);
    let (Some(inverse), Some(solution)) = (inverted, solved) else {
        // Rounding may make a singular matrix of one that is nearly so.
        let near = bound >= exact(0.5);
        return [of_det, if near { 0.0 } else { f64::INFINITY }, 0.0];
    };
    let exact_b: Vec<BigRational> = b.iter().map(|&x| exact(x)).collect();
    let mut of_solve = 0.0;
    for c in 0..k {
        let got: Vec<T> = solution.iter().skip(c).step_by(k).copied().collect();
        let row = |r: usize| (0..n).map(|j| &exact_inv[r * n + j] * &exact_b[j * k + c]).sum();
        let expected: Vec<BigRational> = (0..n).map(row).collect();
        of_solve = f64::max(of_solve, excess(&got, &expected, &bound, format));
    }
    [of_det, excess(&inverse, &exact_inv, &bound, format), of_solve]
}

/// Checks all kinds of matrices of a type.
fn check_all<T: Number>(kinds: &[&str], format: Format<T>) {
    let mut random = Random(7);
    for n in 1..=if cfg!(debug_assertions) { 4 } else { 6 } {
        for kind in kinds {
            for _ in 0..TIMES {
                let a = matrix(kind, n, &mut random);
                let a: Vec<T> = a.into_iter().map(format.round).collect();
                let errors = check(n, &a, &mut random, format);
                assert!(errors.iter().all(|&x| x <= 1.0), "{kind} {n}: {errors:?} {a:?}");
            }
        }
    }
}

#[test]
fn errors_of_f64() {
    check_all(&KINDS, F64);
}

#[test]
fn errors_of_f32() {
    let narrow: Vec<&str> = KINDS.into_iter().filter(|kind| !kind.contains("200")).collect();
    check_all(&narrow, F32);
}

/// What lies beside a matrix, how many there are, under which view: none of it changes a bit.
#[test]
fn several_are_the_bits_of_one() {
    fn of<T: Number>(format: Format<T>) {
        let mut random = Random(11);
        let bits =
            |x: &[T]| x.iter().map(|x| Into::<f64>::into(*x).to_bits()).collect::<Vec<u64>>();
        for n in 0..=5 {
            for (count, gap) in [(0, 0), (1, 0), (2, 3), (15, 0), (16, 1), (17, 0), (100, 2)] {
                let step = n * n + gap;
                let (mut a, mut only) = (Vec::new(), Vec::new());
                for _ in 0..count {
                    let kind = KINDS[random.below(KINDS.len())];
                    let mut one: Vec<T> =
                        matrix(kind, n, &mut random).into_iter().map(format.round).collect();
                    if n > 0 && random.below(20) == 0 {
                        let odd = [f64::NAN, f64::INFINITY, -0.0, 5e-324][random.below(4)];
                        one[random.below(n * n)] = (format.round)(odd);
                    }
                    a.extend_from_slice(&one);
                    a.resize(a.len() + gap, (format.round)(f64::NAN));
                    only.push(one);
                }
                let singly: Vec<T> = only.iter().map(|a| det_of(n, a)).collect();
                let whole = tensor(&[count, step], &a);
                let stack = whole.view().slice(1, 0..n * n).unwrap().split_axis(1, [n, n]).unwrap();
                let [together] = det().call([&stack]).eval().unwrap();
                assert_eq!(bits(&together.to_vec().unwrap()), bits(&singly), "{n} {count} {gap}");
                let [backwards] = det().call([&stack.flip(0).unwrap()]).eval().unwrap();
                let mut found = backwards.to_vec().unwrap();
                found.reverse();
                assert_eq!(bits(&found), bits(&singly), "{n} {count} {gap}");
            }
        }
    }
    of(F64);
    of(F32);
}

/// Determinant and inverse of a matrix.
fn both(n: usize, a: &[f64]) -> (f64, Option<Vec<f64>>) {
    (det_of(n, a), inverse_of(n, a))
}

#[test]
fn singular_matrices() {
    assert_eq!(both(1, &[0.0]), (0.0, None));
    assert_eq!(both(2, &[1.0, 2.0, 2.0, 4.0]), (0.0, None));
    assert_eq!(both(2, &[0.0; 4]), (0.0, None));
    let counted: Vec<f64> = (1..=16).map(f64::from).collect();
    assert_eq!(both(3, &counted[..9]).0, 0.0);
    assert_eq!(both(4, &counted).0, 0.0);
    for n in 2..=6 {
        let multiples: Vec<f64> = (0..n * n).map(|k| ((k / n + 1) * (k % n + 1)) as f64).collect();
        if n <= 4 {
            assert_eq!(both(n, &multiples).0, 0.0);
        }
        assert_eq!(both(n, &vec![3.0; n * n]), (0.0, None));
        let mut empty_row: Vec<f64> = (0..n * n).map(|k| (k as f64).sin()).collect();
        empty_row[n..2 * n].fill(0.0);
        assert_eq!(both(n, &empty_row), (0.0, None));
    }
    // The first of several, at its index.
    let mut stack = [[1.0, 0.0, 0.0, 2.0]; 6].concat();
    stack[15] = 0.0;
    stack[19] = 0.0;
    let error = inv().call([&tensor(&[2, 3, 2, 2], &stack)]).eval().unwrap_err();
    assert_eq!(error.to_string(), "elementary function failed at [1, 0]: matrix is singular");
}

#[test]
fn ranges() {
    let diagonal = |x: &[f64]| {
        let n = x.len();
        (0..n * n).map(|k| if k / n == k % n { x[k / n] } else { 0.0 }).collect::<Vec<f64>>()
    };
    let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-14, "{x} {y}");
    near(both(4, &diagonal(&[1e200, 1e200, 1e-200, 1e-200])).0, 1.0);
    near(both(4, &diagonal(&[1e-200, 1e-200, 1e200, 1e200])).0, 1.0);
    near(both(6, &diagonal(&[1e200, 1e200, 1e200, 1e-200, 1e-200, 1e-200])).0, 1.0);
    assert_eq!(both(2, &diagonal(&[1e200, 1e200])).0, f64::INFINITY);
    assert_eq!(both(3, &diagonal(&[1e200, -1e200, 1.0])).0, f64::NEG_INFINITY);
    assert_eq!(both(5, &diagonal(&[1e-200, 1e-200, 1.0, 1.0, 1.0])).0, 0.0);
    near(both(3, &diagonal(&[5e-324, 1e308, 1e-10])).0, 5e-324 * 1e308 * 1e-10);
    let inverse = both(3, &diagonal(&[1e-307, 2.0, 1e307])).1.expect("an inverse");
    let expected = diagonal(&[1e307, 0.5, 1e-307]);
    inverse.iter().zip(&expected).for_each(|(x, y)| assert!((x - y).abs() <= 1e-15 * y));
    // Solutions within range, though A or B or what lies between is not.
    for (a, b) in [(1e-300, 1e-310), (1e300, 1e300), (1e-300, 1e-300), (1e-320, 1e-320)] {
        let (system, right) = ([a, a, a, -a], [2.0 * b, 2.0 * b, 0.0, b]);
        let out = solution_of(2, 2, &system, &right).expect("a solution");
        for (x, y) in out.into_iter().zip([b / a, 1.5 * (b / a), b / a, 0.5 * (b / a)]) {
            assert!((x - y).abs() <= 1e-14 * y, "{a} {b}: {x} {y}");
        }
    }
}

#[test]
fn subnormal_pivots() {
    for n in 2..=6 {
        for tiny in [5e-324, 1e-310, 2.5e-308] {
            let mut a = vec![0.0; n * n];
            a.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
            a[n] = 1.0; // so that the second row is not scaled
            a[n + 1] = tiny;
            assert_eq!(det_of(n, &a), tiny);
            a[n * n - 1] *= 1e200;
            let got = det_of(n, &a);
            assert!((got / (tiny * 1e200) - 1.0).abs() < 1e-15, "{n} {tiny}: {got}");
        }
    }
}

#[test]
fn formulas_refuse_what_overflows() {
    let mut random = Random(21);
    let times = if cfg!(debug_assertions) { 2_000 } else { 100_000 };
    for n in 2..=4 {
        let scale = [1e160, 1e-160, 1e100, 1e-300, 1.0, 0.0];
        let a: Vec<f64> =
            (0..times * n * n).map(|_| uniform(&mut random) * scale[random.below(6)]).collect();
        let [dets] = det().call([&tensor(&[times, n, n], &a)]).eval().unwrap();
        let nan = dets.to_vec().unwrap().iter().position(|x| x.is_nan());
        assert!(nan.is_none(), "{:?}", nan.map(|k| &a[k * n * n..(k + 1) * n * n]));
    }
}

#[test]
fn larger_matrices() {
    let mut random = Random(15);
    for n in [7, 8, 13, 40] {
        let a = matrix("uniform", n, &mut random);
        let b: Vec<f64> = (0..3 * n).map(|_| uniform(&mut random)).collect();
        let inverse = inverse_of(n, &a).expect("an inverse");
        let x = solution_of(n, 3, &a, &b).expect("a solution");
        let product = |x: &[f64], k: usize, r: usize, c: usize| -> f64 {
            (0..n).map(|j| a[r * n + j] * x[j * k + c]).sum()
        };
        for r in 0..n {
            for c in 0..n {
                let unit = if r == c { 1.0 } else { 0.0 };
                assert!((product(&inverse, n, r, c) - unit).abs() < 1e-10);
            }
            for c in 0..3 {
                assert!((product(&x, 3, r, c) - b[r * 3 + c]).abs() < 1e-10);
            }
        }
        assert!((det_of(n, &a) * det_of(n, &inverse) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn neither_nan_nor_infinity_panics() {
    let mut random = Random(9);
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 5e-324, f64::MAX, 1.0];
    for n in 1..=6 {
        for _ in 0..100 {
            let mut a = matrix("integers", n, &mut random);
            for _ in 0..random.below(n * n + 1) {
                a[random.below(n * n)] = odd[random.below(7)];
            }
            let has = |what: fn(f64) -> bool| a.iter().any(|&x| what(x));
            let (got, inverted) = both(n, &a);
            let solved = solution_of(n, 1, &a, &a[..n]);
            assert_eq!(inverted.is_some(), solved.is_some());
            if has(f64::is_nan) {
                assert!(got.is_nan(), "{a:?}");
                assert!(inverted.is_some_and(|out| out.iter().any(|x| x.is_nan())), "{a:?}");
            } else if has(f64::is_infinite) {
                assert!(!got.is_finite() && inverted.is_some(), "{a:?}: {got}");
            }
        }
    }
}

#[test]
fn nothing_of_nothing() {
    assert_eq!(both(0, &[]), (1.0, Some(vec![])));
    let [dets] = det().call([&tensor::<f64>(&[3, 0, 0], &[])]).eval().unwrap();
    assert_eq!(dets.to_vec().unwrap(), [1.0; 3]);
    assert_eq!(solution_of::<f64>(0, 2, &[], &[]), Some(vec![]));
    assert_eq!(solution_of(2, 0, &[1.0, 2.0, 3.0, 4.0], &[]), Some(vec![]));
    assert_eq!(solution_of(1, 0, &[0.0], &[]), None);
    let [x] = solve()
        .call([&tensor(&[2, 2], &[2.0, 0.0, 0.0, 4.0]), &tensor(&[2], &[1.0, 1.0])])
        .eval()
        .unwrap();
    assert_eq!((x.shape().to_vec(), x.to_vec().unwrap()), (vec![2], vec![0.5, 0.25]));
}
