//! Means.

use super::super::{Padding, Reducer, VisitReducer};
use super::lanes::{few, in_columns, in_lanes, in_lanes_beside};
use crate::dtype::Measure;

/// The arithmetic mean, computed in `f64` by sums in pairs. Of nothing there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mean;

/// A sum and how many were added.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    sum: f64,
    count: f64,
}

impl<T: Measure> Reducer<T> for Mean {
    type State = Total;
    type Out = T::Float;
    const BESIDE: bool = true;
    const PADDING: Padding<T> = Padding::Value(T::NEUTRAL);

    #[inline(always)]
    fn unpad(&self, state: &mut Total, count: usize) {
        state.count -= count as f64;
    }

    fn empty(&self) -> Option<Total> {
        None
    }

    #[inline(always)]
    fn first(&self, x: T) -> Total {
        Total { sum: x.to_f64(), count: 1.0 }
    }

    #[inline(always)]
    fn combine(&self, state: &mut Total, later: Total) {
        state.sum += later.sum;
        state.count += later.count;
    }

    fn finish(&self, state: Total) -> T::Float {
        T::of_f64(state.sum / state.count)
    }

    fn of_count<V: VisitReducer<T, T::Float>>(&self, count: usize, visit: V) -> V::Result {
        visit.visit(&MeanOf { count: count as f64 })
    }

    fn repeat(&self, x: T, _position: usize, count: usize) -> Total {
        Total { sum: x.to_f64() * count as f64, count: count as f64 }
    }

    #[inline(always)]
    fn fold(&self, run: &[T], _position: usize) -> Total {
        Total { sum: sum(run, T::to_f64), count: run.len() as f64 }
    }

    #[inline(always)]
    fn fold_few(&self, run: &[T; 8], count: usize) -> Total {
        Total { sum: few(run.map(T::to_f64), count, -0.0, |a, b| a + b), count: count as f64 }
    }

    #[inline(always)]
    fn fold_beside(&self, rows: &[&[T]], states: &mut Vec<Total>) {
        let mut sums = Vec::new();
        in_lanes_beside(rows, &mut sums, T::to_f64, |sum, x| sum + x.to_f64(), |a, b| a + b);
        let count = rows.len() as f64;
        states.clear();
        states.extend(sums.into_iter().map(|sum| Total { sum, count }));
    }

    #[inline(always)]
    fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<Total>) {
        let mut sums = Vec::new();
        in_columns(rows, &mut sums, T::to_f64, |a, b| a + b);
        let count = rows.len() as f64;
        states.clear();
        states.extend(sums.into_iter().map(|sum| Total { sum, count }));
    }
}

/// [`Mean`] of a known number of elements.
struct MeanOf {
    count: f64,
}

impl<T: Measure> Reducer<T> for MeanOf {
    type State = f64;
    type Out = T::Float;

    fn empty(&self) -> Option<f64> {
        None
    }

    #[inline(always)]
    fn first(&self, x: T) -> f64 {
        x.to_f64()
    }

    #[inline(always)]
    fn combine(&self, state: &mut f64, later: f64) {
        *state += later;
    }

    #[inline(always)]
    fn finish(&self, state: f64) -> T::Float {
        T::of_f64(state / self.count)
    }

    #[inline(always)]
    fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<f64>) {
        in_columns(rows, states, T::to_f64, |a, b| a + b);
    }
}

/// The sum of a function of the elements of a run.
#[inline(always)]
pub(super) fn sum<X: Copy>(run: &[X], f: impl Fn(X) -> f64) -> f64 {
    in_lanes(run, &f, |sum, x| sum + f(x), |a, b| a + b)
}
