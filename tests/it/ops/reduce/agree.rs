//! Every reducer against a fold of each group of elements.

use super::{SHAPES, axis_sets, disguises, floats, groups};
use lensor::prelude::*;
use lensor::reduce::*;

/// Checks a reducer against a fold of each group, for all shapes, axes and disguises.
fn check<R, F>(reducer: R, name: &str, empty: bool, agrees: F)
where
    R: Reducer<f64> + Copy,
    R::Out: std::fmt::Debug,
    F: Fn(&[f64], R::Out) -> bool,
{
    for (seed, shape) in SHAPES.iter().enumerate() {
        let data = floats(shape.iter().product(), seed as u64 + 1);
        for axes in axis_sets(shape.len()) {
            let groups = groups(shape, &data, &axes);
            for (disguise, t) in disguises(shape, &data) {
                let case = format!("{name} of {shape:?} along {axes:?}, {disguise}");
                let found = t.view().fold(axes.clone(), reducer).eval();
                let nothing = axes.iter().any(|&axis| shape[axis] == 0);
                if nothing && !empty {
                    assert!(matches!(found, Err(Error::EmptyReduction { .. })), "{case}");
                    continue;
                }
                let found = found.unwrap_or_else(|e| panic!("{case}: {e}"));
                assert_eq!(found.len(), groups.len(), "{case}");
                for (result, group) in found.storage().iter().zip(&groups) {
                    assert!(agrees(group, *result), "{case}: {result:?} of {group:?}");
                }
                let kept = t.fold(axes.clone(), reducer).keepdims();
                let expected: Vec<usize> = (0..shape.len())
                    .map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] })
                    .collect();
                assert_eq!(kept.shape().unwrap().to_vec(), expected, "{case}");
            }
        }
    }
}

/// The exact sum in double-double arithmetic, and the sum of absolute values.
fn exact(group: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut high, mut low, mut size) = (0.0_f64, 0.0_f64, 0.0_f64);
    for x in group {
        let sum = high + x;
        let added = sum - high;
        low += (high - (sum - added)) + (x - added);
        high = sum;
        size += x.abs();
    }
    (high + low, size)
}

#[test]
fn sums_are_within_their_bounds() {
    let within = |bound: f64| {
        move |group: &[f64], sum: f64| {
            let (exact, size) = exact(group.iter().copied());
            (sum - exact).abs() <= bound * f64::EPSILON * size + f64::MIN_POSITIVE
        }
    };
    // Pairs: one rounding for each level of the tree, lanes included. Compensated: one at the end.
    check(Sum, "sum", true, within(32.0));
    check(CompensatedSum, "compensated", true, within(1.0));
    check(NaiveSum, "naive", true, |group, sum| {
        let naive = group.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0);
        naive.to_bits() == sum.to_bits()
    });
}

#[test]
fn means_and_variances_agree_with_two_passes() {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0);
    let mean = |group: &[f64]| exact(group.iter().copied()).0 / group.len() as f64;
    let squares = move |group: &[f64]| {
        let mean = mean(group);
        exact(group.iter().map(|x| (x - mean) * (x - mean))).0
    };
    check(Mean, "mean", false, |group, found| close(mean(group), found));
    check(Variance { ddof: 1 }, "variance", true, |group, found| match group.len() {
        0 | 1 => found.is_nan(),
        n => close(squares(group) / (n - 1) as f64, found),
    });
    check(StandardDeviation { ddof: 0 }, "std", true, |group, found| match group.len() {
        0 => found.is_nan(),
        n => close((squares(group) / n as f64).sqrt(), found),
    });
}

#[test]
fn extrema_and_their_positions_agree() {
    let first = |group: &[f64], best: f64| group.iter().position(|&x| x == best);
    let least = |group: &[f64]| group.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |group: &[f64]| group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    check(Min, "min", false, |group, found| found == least(group));
    check(Max, "max", false, |group, found| found == most(group));
    check(PeakToPeak, "ptp", false, |group, found| found == most(group) - least(group));
    check(ArgMin, "argmin", false, |group, found| Some(found) == first(group, least(group)));
    check(ArgMax, "argmax", false, |group, found| Some(found) == first(group, most(group)));
}

#[test]
fn norms_and_counts_agree() {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    check(Norm, "norm", true, |group, found| {
        close(exact(group.iter().map(|x| x * x)).0.sqrt(), found)
    });
    check(NormL1, "l1", true, |group, found| close(exact(group.iter().map(|x| x.abs())).0, found));
    check(NormMax, "max norm", true, |group, found| {
        found == group.iter().fold(0.0, |a: f64, x| a.max(x.abs()))
    });
    check(CountNonzero, "count", true, |group, found| {
        found == group.iter().filter(|x| **x != 0.0).count() as u64
    });
    check(Any, "any", true, |group, found| found == group.iter().any(|x| *x != 0.0));
    check(All, "all", true, |group, found| found == group.iter().all(|x| *x != 0.0));
    check(LogSumExp, "logsumexp", true, |group, found| {
        let most = group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = group.iter().map(|x| (x - most).exp()).sum();
        if group.is_empty() { found == f64::NEG_INFINITY } else { close(most + sum.ln(), found) }
    });
}

/// A fold that depends on order: the elements as digits of a hash.
#[derive(Clone, Copy)]
struct Digest;

impl Reducer<f64> for Digest {
    type State = (u64, u64);
    type Out = u64;
    const COMMUTATIVE: bool = false;

    fn empty(&self) -> Option<(u64, u64)> {
        Some((0, 1))
    }

    fn first(&self, x: f64) -> (u64, u64) {
        (x.to_bits() >> 7, 31)
    }

    fn step(&self, state: &mut (u64, u64), x: f64) {
        self.combine(state, self.first(x));
    }

    fn combine(&self, state: &mut (u64, u64), later: (u64, u64)) {
        *state =
            (state.0.wrapping_mul(later.1).wrapping_add(later.0), state.1.wrapping_mul(later.1));
    }

    fn finish(&self, state: (u64, u64)) -> u64 {
        state.0
    }
}

/// The same, one element after another.
#[derive(Clone, Copy)]
struct InOrder;

impl Reducer<f64> for InOrder {
    type State = u64;
    type Out = u64;
    const ASSOCIATIVE: bool = false;

    fn empty(&self) -> Option<u64> {
        Some(0)
    }

    fn first(&self, x: f64) -> u64 {
        x.to_bits() >> 7
    }

    fn step(&self, state: &mut u64, x: f64) {
        *state = state.wrapping_mul(31).wrapping_add(x.to_bits() >> 7);
    }

    fn combine(&self, _state: &mut u64, _later: u64) {
        panic!("never joined");
    }

    fn finish(&self, state: u64) -> u64 {
        state
    }
}

#[test]
fn order_is_kept() {
    let digest = |group: &[f64]| {
        group.iter().fold(0_u64, |sum, x| sum.wrapping_mul(31).wrapping_add(x.to_bits() >> 7))
    };
    check(InOrder, "in order", true, |group, found| found == digest(group));
    for (seed, shape) in SHAPES.iter().enumerate() {
        let data = floats(shape.iter().product(), seed as u64 + 9);
        for axis in 0..shape.len() {
            for (_, t) in disguises(shape, &data) {
                let expected: Vec<u64> =
                    groups(shape, &data, &[axis]).iter().map(|group| digest(group)).collect();
                assert_eq!(t.fold(axis, Digest).eval().unwrap().into_storage(), expected);
            }
        }
    }
    let t = Tensor::from_vec([2, 3], floats(6, 1)).unwrap();
    let error = t.view().fold(.., Digest).eval().unwrap_err();
    assert_eq!(
        error.to_string(),
        "axes [0, 1] cannot be reduced at once: the result depends on the order of the elements"
    );
    assert!(t.reshape([1, 6]).unwrap().fold(.., Digest).eval().is_ok());
}

/// Makes no states of columns.
struct Lacking;

impl Reducer<i64> for Lacking {
    type State = i64;
    type Out = i64;

    fn empty(&self) -> Option<i64> {
        Some(0)
    }

    fn first(&self, x: i64) -> i64 {
        x
    }

    fn step(&self, state: &mut i64, x: i64) {
        *state += x;
    }

    fn combine(&self, state: &mut i64, later: i64) {
        *state += later;
    }

    fn fold_columns(&self, _: &[&[i64]], _: usize, states: &mut Vec<i64>) {
        states.clear();
    }

    fn finish(&self, state: i64) -> i64 {
        state
    }
}

#[test]
fn results_that_a_reducer_owes_are_an_error() {
    let t = Tensor::full([2, 8], 1_i64).unwrap();
    assert_eq!(t.fold(0, Lacking).eval().map(drop), Err(Error::OutOfSpan { span: 0..8, len: 0 }));
    assert!((&t + 1).fold(0, Lacking).eval().is_err());
}
