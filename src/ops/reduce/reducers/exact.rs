//! Sums of integers, exact or refused.

use super::super::{Padding, Reducer, Undefined, VisitReducer};
use super::by_element::SumOf;
use super::lanes::{few, in_columns};
use crate::dtype::Measure;

/// Exact sums: in 64 bits while a run cannot overflow them, in 128 bits across runs.
macro_rules! exact_sums {
    ($($element:ty => $total:ty, $wide:ty, $Few:expr;)*) => { $(
        impl Reducer<$element> for SumOf {
            type State = $wide;
            type Out = $total;
            const EXACT: bool = true;
            const PADDING: Padding<$element> = Padding::Value(<$element as Measure>::NEUTRAL);

            #[inline]
            fn empty(&self) -> Option<$wide> {
                Some(0)
            }

            #[inline]
            fn neutral(&self) -> Option<$wide> {
                Some(0)
            }

            #[inline]
            fn is_idempotent(&self, x: $element) -> bool {
                x as $wide == 0
            }

            #[inline(always)]
            fn first(&self, x: $element) -> $wide {
                (x as $wide)
            }

            #[inline(always)]
            fn combine(&self, state: &mut $wide, later: $wide) {
                *state = state.wrapping_add(later);
            }

            fn undefined(&self, state: &$wide) -> Option<Undefined> {
                <$total>::try_from(*state).is_err().then_some(Undefined::Overflow)
            }

            #[inline]
            fn finish(&self, state: $wide) -> $total {
                state as $total
            }

            fn of_up_to<V: VisitReducer<$element, $total>>(&self, most: usize, visit: V) -> V::Result {
                if most <= SAFE { visit.visit(&$Few) } else { visit.visit(self) }
            }

            fn repeat(&self, x: $element, _position: usize, count: usize) -> $wide {
                (x as $wide).wrapping_mul(count as $wide)
            }

            #[inline(always)]
            fn fold(&self, run: &[$element], _position: usize) -> $wide {
                let all = run.chunks(SAFE).map(|run| match size_of::<$element>() < 8 {
                    true => run.iter().fold(0, |sum: $total, &x| sum + x as $total) as $wide,
                    false => {
                        let numbers = run.iter().map(|&x| x as u64 ^ <$total>::MIN as u64);
                        let (sum, highs) = numbers.fold((0, 0), |(sum, highs): (u64, u64), x| {
                            (sum.wrapping_add(x), highs + (x >> 32))
                        });
                        exact(sum, highs, <$total>::MIN as u64, run.len()) as $wide
                    }
                });
                all.sum()
            }

            #[inline(always)]
            fn fold_few(&self, run: &[$element; 8], count: usize) -> $wide {
                few(run.map(|x| x as $wide), count, 0, <$wide>::wrapping_add)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[$element]], _position: usize, states: &mut Vec<$wide>) {
                let (mut sums, mut highs) = (Vec::new(), Vec::new());
                states.clear();
                for rows in rows.chunks(SAFE) {
                    states.resize(rows[0].len(), 0);
                    if size_of::<$element>() < 8 {
                        in_columns(rows, &mut sums, |x| x as $total as u64, u64::wrapping_add);
                        let sums = sums.iter().map(|&sum| sum as $total as $wide);
                        states.iter_mut().zip(sums).for_each(|(state, sum)| *state += sum);
                    } else {
                        let number = |x: $element| x as u64 ^ <$total>::MIN as u64;
                        in_columns(rows, &mut sums, number, u64::wrapping_add);
                        in_columns(rows, &mut highs, |x| number(x) >> 32, |a, b| a + b);
                        for (state, (&sum, &highs)) in states.iter_mut().zip(sums.iter().zip(&highs)) {
                            *state += exact(sum, highs, <$total>::MIN as u64, rows.len()) as $wide;
                        }
                    }
                }
            }
        }
    )* };
}

/// Numbers of 32 bits that can be summed in 64.
const SAFE: usize = 1 << 30;

/// The sum of at most [`SAFE`] numbers of 64 bits, from its value modulo 2^64 and the sum of their high halves: it exceeds
/// `highs * 2^32` by less than 2^62. Each number was increased by `more` before.
#[inline(always)]
fn exact(sum: u64, highs: u64, more: u64, count: usize) -> i128 {
    let least = i128::from(highs) << 32;
    let all = least + i128::from(sum.wrapping_sub(least as u64));
    all - i128::from(more) * count as i128
}

exact_sums! {
    i8 => i64, i128, Narrow; i16 => i64, i128, Narrow; i32 => i64, i128, Narrow; i64 => i64, i128, SumOf;
    u8 => u64, u128, Narrow; u16 => u64, u128, Narrow; u32 => u64, u128, Narrow; u64 => u64, u128, SumOf;
    isize => i64, i128, SumOf; usize => u64, u128, SumOf; bool => u64, u128, Narrow;
}

/// Sums of at most [`SAFE`] numbers of 32 bits.
struct Narrow;

macro_rules! narrow_sums {
    ($($element:ty => $total:ty;)*) => { $(
        impl Reducer<$element> for Narrow {
            type State = $total;
            type Out = $total;

            fn empty(&self) -> Option<$total> {
                Some(0)
            }

            #[inline(always)]
            fn first(&self, x: $element) -> $total {
                x as $total
            }

            #[inline(always)]
            fn combine(&self, state: &mut $total, later: $total) {
                *state = state.wrapping_add(later);
            }

            #[inline(always)]
            fn finish(&self, state: $total) -> $total {
                state
            }
        }
    )* };
}
narrow_sums! { i8 => i64; i16 => i64; i32 => i64; u8 => u64; u16 => u64; u32 => u64; bool => u64; }
