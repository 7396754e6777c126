//! Whether, and how many, elements are true.

use super::super::Reducer;
use super::lanes::{in_columns, in_lanes};
use crate::dtype::Measure;

/// Whether any element is true: not `false`, not 0. Of nothing, none is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Any;

/// Whether all elements are true: not `false`, not 0. Of nothing, all are.
#[derive(Debug, Clone, Copy, Default)]
pub struct All;

/// How many elements are true: not `false`, not 0. NaN is not 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountNonzero;

macro_rules! counting {
    ($($Reducer:ident $state:ty, $empty:expr, $one:expr, $join:expr, $repeat:expr;)*) => { $(
        impl<T: Measure> Reducer<T> for $Reducer {
            type State = $state;
            type Out = $state;

            fn empty(&self) -> Option<$state> {
                Some($empty)
            }

            #[inline(always)]
            fn first(&self, x: T) -> $state {
                $one(x.is_true())
            }

            #[inline(always)]
            fn step(&self, state: &mut $state, x: T) {
                *state = $join(*state, $one(x.is_true()));
            }

            #[inline(always)]
            fn combine(&self, state: &mut $state, later: $state) {
                *state = $join(*state, later);
            }

            fn finish(&self, state: $state) -> $state {
                state
            }

            fn repeat(&self, x: T, _position: usize, count: usize) -> $state {
                $repeat($one(x.is_true()), count)
            }

            #[inline(always)]
            fn fold(&self, run: &[T], _position: usize) -> $state {
                in_lanes(run, |x| $one(x.is_true()), |state, x: T| $join(state, $one(x.is_true())), $join)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<$state>) {
                in_columns(rows, states, |x| $one(x.is_true()), $join);
            }
        }
    )* };
}
counting! {
    Any bool, false, |x: bool| x, |a: bool, b: bool| a | b, |x: bool, _count| x;
    All bool, true, |x: bool| x, |a: bool, b: bool| a & b, |x: bool, _count| x;
    CountNonzero u64, 0, u64::from, |a: u64, b: u64| a + b, |x: u64, count: usize| x * count as u64;
}
