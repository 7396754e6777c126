//! Smallest and largest elements, and where they are.

use super::super::Reducer;
use super::lanes::{in_columns, in_lanes};
use crate::dtype::Order;

/// The smallest element, NaN if there is one. Of nothing there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Min;

/// The largest element, NaN if there is one. Of nothing there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Max;

/// Position of the first smallest element in row-major order, or of the first NaN.
#[derive(Debug, Clone, Copy, Default)]
pub struct ArgMin;

/// Position of the first largest element in row-major order, or of the first NaN.
#[derive(Debug, Clone, Copy, Default)]
pub struct ArgMax;

macro_rules! extremum {
    ($($Reducer:ident $better:ident $sign:tt;)*) => { $(
        impl<T: Order> Reducer<T> for $Reducer {
            type State = T;
            type Out = T;

            fn empty(&self) -> Option<T> {
                None
            }

            #[inline(always)]
            fn first(&self, x: T) -> T {
                x
            }

            #[inline(always)]
            fn step(&self, state: &mut T, x: T) {
                *state = state.$better(x);
            }

            #[inline(always)]
            fn combine(&self, state: &mut T, later: T) {
                *state = state.$better(later);
            }

            fn finish(&self, state: T) -> T {
                state
            }

            fn repeat(&self, x: T, _position: usize, _count: usize) -> T {
                x
            }

            #[inline(always)]
            fn fold(&self, run: &[T], _position: usize) -> T {
                best(run, |a, b| a $sign b)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<T>) {
                in_columns(rows, states, |x| x, T::$better);
            }
        }
    )* };
}
extremum! { Min minimum <; Max maximum >; }

/// The best element of a run, or its first NaN: one comparison an element, and a look for NaN beside it.
#[inline(always)]
fn best<T: Order>(run: &[T], better: impl Fn(T, T) -> bool) -> T {
    let mut unordered = false;
    let best = in_lanes(
        run,
        |x| x,
        |best, x| if better(x, best) { x } else { best },
        |a, b| if better(b, a) { b } else { a },
    );
    for part in run.chunks(64) {
        unordered |= part.iter().fold(false, |nan, &x| nan | is_nan(x));
    }
    let nan = if unordered { run.iter().find(|x| is_nan(**x)) } else { None };
    nan.copied().unwrap_or(best)
}

/// An element and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Found<T> {
    value: T,
    position: usize,
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x != x
}

macro_rules! position {
    ($($Reducer:ident $sign:tt;)*) => { $(
        impl<T: Order> Reducer<T> for $Reducer {
            type State = Found<T>;
            type Out = usize;
            const POSITIONS: bool = true;

            fn empty(&self) -> Option<Found<T>> {
                None
            }

            #[inline(always)]
            fn first(&self, value: T) -> Found<T> {
                Found { value, position: 0 }
            }

            #[inline(always)]
            fn step(&self, state: &mut Found<T>, x: T) {
                self.step_at(state, x, state.position + 1);
            }

            #[inline(always)]
            fn combine(&self, state: &mut Found<T>, later: Found<T>) {
                let wins = later.value $sign state.value || is_nan(later.value);
                if wins && !is_nan(state.value) {
                    *state = later;
                }
            }

            fn finish(&self, state: Found<T>) -> usize {
                state.position
            }

            #[inline(always)]
            fn first_at(&self, value: T, position: usize) -> Found<T> {
                Found { value, position }
            }

            #[inline(always)]
            fn step_at(&self, state: &mut Found<T>, value: T, position: usize) {
                self.combine(state, Found { value, position });
            }

            fn repeat(&self, value: T, position: usize, _count: usize) -> Found<T> {
                Found { value, position }
            }

            /// The value first, then where it is: two passes over what lies in the cache.
            #[inline(always)]
            fn fold(&self, run: &[T], position: usize) -> Found<T> {
                let value = best(run, |a, b| a $sign b);
                let nan = is_nan(value);
                let is_it = |x: T| if nan { is_nan(x) } else { x == value };
                let mut at = 0;
                for part in run.chunks(64) {
                    // A bit an element, without a branch before the last part.
                    let bits = part.iter().enumerate();
                    let bits = bits.fold(0, |bits, (k, &x)| bits | u64::from(is_it(x)) << k);
                    if bits != 0 {
                        at += bits.trailing_zeros() as usize;
                        break;
                    }
                    at += part.len();
                }
                Found { value, position: position + at }
            }
        }
    )* };
}
position! { ArgMin <; ArgMax >; }
