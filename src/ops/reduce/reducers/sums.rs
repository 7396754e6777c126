//! Sums and products; whether, and how many, elements are true.

use super::super::{Padding, Reducer};
use super::by_element::{ProductOf, SumOf};
use super::lanes::{
    Apart, LANES, all, any, apart, few, in_columns, in_lanes, in_lanes_beside, in_registers,
};
use crate::dtype::{SameBits, Truth};
use crate::kernel::{compensate_f32, compensate_f64, prefetch_row};
use std::array::from_fn;

/// The sum, added in pairs: the error grows with the logarithm of the number of elements.
///
/// Integers are summed exactly and given in 64 bits; a sum that does not fit is
/// [`Error::Overflow`](crate::Error::Overflow). [`SameType`](crate::reduce::SameType) gives sums the type of the elements.
/// The sum of nothing is 0. See [`CompensatedSum`] for sums of floats that cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sum;

/// The sum of integers in 64 bits, wrapping around on overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WrappingSum;

/// The sum of floats with the errors of all additions added up beside it (Neumaier).
///
/// ```
/// use lensor::prelude::*;
/// use lensor::reduce::CompensatedSum;
/// let t = Tensor::from(vec![1.0_f64, 1e100, 1.0, -1e100]);
/// assert_eq!(t.view().sum(..).eval()?.item()?, 0.0);
/// assert_eq!(t.fold(.., CompensatedSum).eval()?.item()?, 2.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CompensatedSum;

/// The sum of floats added one after another, as a plain loop does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NaiveSum;

/// The product. Integers are given in 64 bits; a product that does not fit is
/// [`Error::Overflow`](crate::Error::Overflow). The product of nothing is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Product;

/// The product of integers in 64 bits, wrapping around on overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WrappingProduct;

/// Whether any element is true: not `false`, not 0. Of nothing, none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Any;

/// Whether all elements are true: not `false`, not 0. Of nothing, all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct All;

/// How many elements are true: not `false`, not 0. NaN is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CountNonzero;

/// Folds whose state is the result and whose one operation joins states.
macro_rules! monoid {
    (fold $run:ident, $one:expr, $join:expr) => { in_lanes($run, $one, |state, x| $join(state, $one(x)), $join) };
    (fold $run:ident, $one:expr, $join:expr, $fold:ident) => {
        if $run.len() < LANES { monoid!(fold $run, $one, $join) } else { $fold($run, $one) }
    };
    ($exact:literal $Reducer:ty: $($(#[$cfg:meta])? $({$($generics:tt)*})? $element:ty => $total:ty, $zero:expr, $neutral:expr, $one:expr, $join:expr, $repeat:expr $(=> $padding:expr)? $(, $fold:ident until $last:expr)?;)*) => { $(
        $(#[$cfg])?
        impl $(<$($generics)*>)? Reducer<$element> for $Reducer {
            type State = $total;
            type Out = $total;
            const EXACT: bool = $exact;
            const BESIDE: bool = !$exact;

            #[inline]
            fn empty(&self) -> Option<$total> {
                Some($zero)
            }

            #[inline]
            fn neutral(&self) -> Option<$total> {
                $neutral
            }

            /// Nothing changes if it is joined with itself.
            #[inline]
            fn is_idempotent(&self, x: $element) -> bool {
                $join($one(x), $one(x)).same_bits($one(x))
            }

            #[inline(always)]
            fn first(&self, x: $element) -> $total {
                $one(x)
            }

            #[inline(always)]
            fn combine(&self, state: &mut $total, later: $total) {
                *state = $join(*state, later);
            }

            #[inline]
            fn finish(&self, state: $total) -> $total {
                state
            }

            $(
                const PADDING: Padding<$element> = Padding::Value($padding);
            )?

            $(
                const PADDING: Padding<$element> = Padding::Repeated;

                #[inline(always)]
                fn is_final(&self, state: &$total) -> bool {
                    *state == $last
                }
            )?

            fn repeat(&self, x: $element, _position: usize, count: usize) -> $total {
                $repeat($one(x), count)
            }

            #[inline(always)]
            fn fold(&self, run: &[$element], _position: usize) -> $total {
                monoid!(fold run, $one, $join $(, $fold)?)
            }

            #[inline(always)]
            fn fold_beside(&self, rows: &[&[$element]], states: &mut Vec<$total>) {
                in_lanes_beside(rows, states, $one, |state, x| $join(state, $one(x)), $join);
            }

            #[inline(always)]
            fn fold_few(&self, run: &[$element; 8], count: usize) -> $total {
                match $neutral {
                    Some(neutral) => few(run.map($one), count, neutral, $join),
                    None => self.fold(&run[..count], 0),
                }
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[$element]], _position: usize, states: &mut Vec<$total>) {
                in_columns(rows, states, $one, $join);
            }
        }
    )* };
}

fn same<T>(x: T) -> T {
    x
}

monoid! { false SumOf:
    f32 => f32, 0.0, Some(-0.0), same, |a: f32, b: f32| a + b, |x: f32, count| x * count as f32 => -0.0;
    f64 => f64, 0.0, Some(-0.0), same, |a: f64, b: f64| a + b, |x: f64, count| x * count as f64 => -0.0;
    #[cfg(feature = "half")] half::f16 => f32, 0.0, Some(-0.0), half::f16::to_f32, |a: f32, b: f32| a + b, |x: f32, count| x * count as f32 => half::f16::NEG_ZERO;
    #[cfg(feature = "half")] half::bf16 => f32, 0.0, Some(-0.0), half::bf16::to_f32, |a: f32, b: f32| a + b, |x: f32, count| x * count as f32 => half::bf16::NEG_ZERO;
    #[cfg(feature = "complex")] num_complex::Complex32 => num_complex::Complex32, num_complex::Complex::ZERO, Some(num_complex::Complex::new(-0.0, -0.0)), same,
        |a: num_complex::Complex32, b: num_complex::Complex32| a + b, |x: num_complex::Complex32, count| x * count as f32 => num_complex::Complex::new(-0.0, -0.0);
    #[cfg(feature = "complex")] num_complex::Complex64 => num_complex::Complex64, num_complex::Complex::ZERO, Some(num_complex::Complex::new(-0.0, -0.0)), same,
        |a: num_complex::Complex64, b: num_complex::Complex64| a + b, |x: num_complex::Complex64, count| x * count as f64 => num_complex::Complex::new(-0.0, -0.0);
}

monoid! { false ProductOf:
    f32 => f32, 1.0, Some(1.0), same, |a: f32, b: f32| a * b, |x: f32, count| power(x, count, |a, b| a * b);
    f64 => f64, 1.0, Some(1.0), same, |a: f64, b: f64| a * b, |x: f64, count| power(x, count, |a, b| a * b);
    #[cfg(feature = "half")] half::f16 => f32, 1.0, Some(1.0), half::f16::to_f32, |a: f32, b: f32| a * b, |x: f32, count| power(x, count, |a, b| a * b);
    #[cfg(feature = "half")] half::bf16 => f32, 1.0, Some(1.0), half::bf16::to_f32, |a: f32, b: f32| a * b, |x: f32, count| power(x, count, |a, b| a * b);
    #[cfg(feature = "complex")] num_complex::Complex32 => num_complex::Complex32, num_complex::Complex::ONE, None, same,
        |a: num_complex::Complex32, b: num_complex::Complex32| a * b,
        |x: num_complex::Complex32, count| power(x, count, |a, b| a * b);
    #[cfg(feature = "complex")] num_complex::Complex64 => num_complex::Complex64, num_complex::Complex::ONE, None, same,
        |a: num_complex::Complex64, b: num_complex::Complex64| a * b,
        |x: num_complex::Complex64, count| power(x, count, |a, b| a * b);
}

monoid! { true Any: {T: Truth} T => bool, false, None, T::is_nonzero, |a: bool, b: bool| a | b, |x: bool, _count| x, any until true; }
monoid! { true All: {T: Truth} T => bool, true, None, T::is_nonzero, |a: bool, b: bool| a & b, |x: bool, _count| x, all until false; }
monoid! { true CountNonzero: {T: Truth} T => u64, 0, None, |x: T| u64::from(x.is_nonzero()), |a: u64, b: u64| a + b, |x: u64, count| x * count as u64; }

macro_rules! wrapping {
    ($($element:ty => $total:ty;)*) => {
        monoid! { true WrappingSum: $(
            $element => $total, 0, Some(0), |x: $element| x as $total, <$total>::wrapping_add, |x: $total, count| x.wrapping_mul(count as $total);
        )* }
        monoid! { true WrappingProduct: $(
            $element => $total, 1, Some(1), |x: $element| x as $total, <$total>::wrapping_mul, |x: $total, count| power(x, count, <$total>::wrapping_mul);
        )* }
    };
}
wrapping! {
    i8 => i64; i16 => i64; i32 => i64; i64 => i64;
    u8 => u64; u16 => u64; u32 => u64; u64 => u64; isize => i64; usize => u64; bool => u64;
}

/// `x` to the power of `count >= 1`, by squaring.
fn power<T: Copy>(x: T, count: usize, times: impl Fn(T, T) -> T) -> T {
    let mut result = x;
    for bit in (0..count.ilog2()).rev() {
        result = times(result, result);
        if count >> bit & 1 == 1 {
            result = times(result, x);
        }
    }
    result
}

/// Lanes of compensated sums: with their errors they fill the registers.
const FEW: usize = LANES / 2;

/// A sum and the error of its additions so far.
#[derive(Debug, Clone, Copy)]
pub struct Compensated<T> {
    sum: T,
    error: T,
}

macro_rules! float_sums {
    ($($float:ty: $compensate:ident;)*) => { $(
        impl Compensated<$float> {
            /// The rounded sum and the exact rest, without a branch (Knuth's two-sum).
            #[inline(always)]
            fn plus(self, x: $float) -> Self {
                let sum = self.sum + x;
                let added = sum - self.sum;
                let error = (self.sum - (sum - added)) + (x - added);
                Self { sum, error: self.error + error }
            }

            #[inline(always)]
            fn join(self, later: Self) -> Self {
                let joined = self.plus(later.sum);
                Self { error: joined.error + later.error, ..joined }
            }
        }

        impl Reducer<$float> for CompensatedSum {
            type State = Compensated<$float>;
            type Out = $float;

            fn empty(&self) -> Option<Self::State> {
                Some(Compensated { sum: 0.0, error: 0.0 })
            }

            #[inline(always)]
            fn first(&self, x: $float) -> Self::State {
                Compensated { sum: x, error: -0.0 }
            }

            #[inline(always)]
            fn step(&self, state: &mut Self::State, x: $float) {
                *state = state.plus(x);
            }

            #[inline(always)]
            fn combine(&self, state: &mut Self::State, later: Self::State) {
                *state = state.join(later);
            }

            /// Infinities leave no error to speak of.
            fn finish(&self, state: Self::State) -> $float {
                if state.sum.is_finite() { state.sum + state.error } else { state.sum }
            }

            /// Sums and errors in lanes of their own, as vectors hold one kind of number.
            #[inline(always)]
            fn fold(&self, run: &[$float], _position: usize) -> Self::State {
                let Some((head, rest)) = run.split_first_chunk::<FEW>() else {
                    let mut state = self.first(run[0]);
                    run[1..].iter().for_each(|&x| self.step(&mut state, x));
                    return state;
                };
                prefetch_row(head);
                let (mut sums, mut errors) = (*head, [-0.0; FEW]);
                let (chunks, tail) = rest.as_chunks::<FEW>();
                if !$compensate(chunks, &mut sums, &mut errors) {
                    for chunk in chunks {
                        for k in 0..FEW {
                            let lane = Compensated { sum: sums[k], error: errors[k] };
                            let Compensated { sum, error } = lane.plus(chunk[k]);
                            (sums[k], errors[k]) = (sum, error);
                        }
                    }
                }
                let (Apart(sums), Apart(errors)) = (apart(sums), apart(errors));
                let mut lanes: [Self::State; FEW] =
                    from_fn(|k| Compensated { sum: sums[k], error: errors[k] });
                lanes.iter_mut().zip(tail).for_each(|(lane, &x)| self.step(lane, x));
                in_registers(lanes, Compensated::<$float>::join)
            }
        }

        impl Reducer<$float> for NaiveSum {
            type State = $float;
            type Out = $float;
            const ASSOCIATIVE: bool = false;

            fn empty(&self) -> Option<$float> {
                Some(0.0)
            }

            #[inline(always)]
            fn first(&self, x: $float) -> $float {
                x
            }

            #[inline(always)]
            fn combine(&self, state: &mut $float, later: $float) {
                *state += later;
            }

            fn finish(&self, state: $float) -> $float {
                state
            }

            fn repeat(&self, x: $float, _position: usize, count: usize) -> $float {
                let mut sum = x;
                if count > 1 {
                    self.step_copies(&mut sum, x, 1, count - 1);
                }
                sum
            }

            /// As copies are added one by one, in a few steps for each power of two that the sum passes: between two of
            /// them, all steps are of one size but the first, which may round a half to an even number.
            fn step_copies(&self, state: &mut $float, x: $float, _position: usize, count: usize) {
                let exponent = |x: $float| x.abs().to_bits() >> (<$float>::MANTISSA_DIGITS - 1);
                let (mut sum, mut left) = (*state, count);
                while left > 0 {
                    let next = sum + x;
                    if next.to_bits() == sum.to_bits() {
                        break;
                    }
                    let (step, power) = (next + x - next, exponent(next));
                    left -= 1;
                    if exponent(sum) == power && exponent(next + x) == power {
                        // To the power of two that the sum goes towards; from above not all the way, as sums below
                        // it are rounded to closer neighbours.
                        let apart = (next < 0.0) == (x < 0.0);
                        let end = power + if apart { 1 } else { 0 };
                        let end = <$float>::from_bits(end << (<$float>::MANTISSA_DIGITS - 1));
                        let most = ((end - next.abs()) / step).abs();
                        let most = if apart { most as usize } else { (most.ceil() as usize).saturating_sub(1) };
                        let steps = left.min(most);
                        left -= steps;
                        sum = next + step * steps as $float;
                    } else {
                        sum = next;
                    }
                }
                *state = sum;
            }
        }
    )* };
}
float_sums! { f32: compensate_f32; f64: compensate_f64; }
