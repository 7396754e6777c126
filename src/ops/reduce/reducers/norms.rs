//! Norms, and the logarithm of a sum of exponentials.

use super::super::Reducer;
use super::lanes::in_lanes;
use crate::dtype::{Measure, Order, Real};

/// The Euclidean norm: the square root of the sum of squares, without overflow or underflow on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Norm;

/// The sum of absolute values, computed in `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NormL1;

/// The largest absolute value, computed in `f64`; NaN if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NormMax;

/// The logarithm of the sum of exponentials, without overflow on the way; `-inf` of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LogSumExp;

macro_rules! absolute {
    ($($Reducer:ident $join:expr, $repeat:expr;)*) => { $(
        impl<T: Measure> Reducer<T> for $Reducer {
            type State = f64;
            type Out = T::Float;

            fn empty(&self) -> Option<f64> {
                Some(0.0)
            }

            #[inline(always)]
            fn first(&self, x: T) -> f64 {
                x.to_f64().abs()
            }

            #[inline(always)]
            fn combine(&self, state: &mut f64, later: f64) {
                *state = $join(*state, later);
            }

            fn finish(&self, state: f64) -> T::Float {
                T::of_f64(state)
            }

            fn repeat(&self, x: T, _position: usize, count: usize) -> f64 {
                $repeat(x.to_f64().abs(), count)
            }

            #[inline(always)]
            fn fold(&self, run: &[T], _position: usize) -> f64 {
                in_lanes(run, |x| x.to_f64().abs(), |state, x| $join(state, x.to_f64().abs()), $join)
            }
        }
    )* };
}
absolute! {
    NormL1 |a: f64, b: f64| a + b, |x: f64, count: usize| x * count as f64;
    NormMax Order::maximum, |x: f64, _count: usize| x;
}

/// A sum of squares of elements that were divided by a power of two.
#[derive(Debug, Clone, Copy)]
pub struct Squares {
    scale: f64,
    sum: f64,
}

impl Squares {
    /// A scale at which squares of numbers up to `largest` neither overflow nor vanish.
    #[inline(always)]
    fn scale(largest: f64) -> f64 {
        const BIG: f64 = f64::from_bits((1023 + 480) << 52);
        const SMALL: f64 = f64::from_bits((1023 - 480) << 52);
        if largest > BIG {
            f64::from_bits((1023 + 600) << 52)
        } else if largest < SMALL && largest > 0.0 {
            f64::from_bits((1023 - 600) << 52)
        } else {
            1.0
        }
    }

    #[inline(always)]
    fn one(x: f64) -> Self {
        let scale = Self::scale(x.abs());
        Self { scale, sum: (x / scale) * (x / scale) }
    }

    #[inline(always)]
    fn join(&mut self, later: Self) {
        if self.scale == later.scale {
            self.sum += later.sum;
            return;
        }
        let (large, small) = if self.scale > later.scale { (*self, later) } else { (later, *self) };
        if large.sum == 0.0 {
            *self = small;
            return;
        }
        let ratio = small.scale / large.scale;
        *self = Self { scale: large.scale, sum: large.sum + small.sum * ratio * ratio };
    }
}

impl<T: Measure> Reducer<T> for Norm {
    type State = Squares;
    type Out = T::Float;

    fn empty(&self) -> Option<Squares> {
        Some(Squares { scale: 1.0, sum: 0.0 })
    }

    #[inline(always)]
    fn first(&self, x: T) -> Squares {
        Squares::one(x.to_f64())
    }

    #[inline(always)]
    fn combine(&self, state: &mut Squares, later: Squares) {
        state.join(later);
    }

    fn finish(&self, state: Squares) -> T::Float {
        T::of_f64(state.sum.sqrt() * state.scale)
    }

    fn repeat(&self, x: T, _position: usize, count: usize) -> Squares {
        let one = Squares::one(x.to_f64());
        Squares { sum: one.sum * count as f64, ..one }
    }

    #[inline(always)]
    fn fold(&self, run: &[T], _position: usize) -> Squares {
        let largest = in_lanes(
            run,
            |x| x.to_f64().abs(),
            |largest: f64, x| {
                let x = x.to_f64().abs();
                if x > largest { x } else { largest }
            },
            |a, b| if b > a { b } else { a },
        );
        let scale = Squares::scale(largest);
        let square = |x: T| (x.to_f64() / scale) * (x.to_f64() / scale);
        let sum = if scale == 1.0 {
            let square = |x: T| x.to_f64() * x.to_f64();
            in_lanes(run, square, |sum, x| sum + square(x), |a, b| a + b)
        } else {
            in_lanes(run, square, |sum, x| sum + square(x), |a, b| a + b)
        };
        Squares { scale, sum }
    }
}

/// A sum of exponentials, divided by that of the largest exponent.
#[derive(Debug, Clone, Copy)]
pub struct Exponentials {
    largest: f64,
    sum: f64,
}

impl Exponentials {
    #[inline(always)]
    fn join(&mut self, later: Self) {
        let largest = Order::maximum(self.largest, later.largest);
        let of = |part: Self| {
            if part.largest == largest {
                part.sum
            } else {
                part.sum * Real::exp(part.largest - largest)
            }
        };
        *self = Self { largest, sum: of(*self) + of(later) };
    }
}

impl<T: Measure> Reducer<T> for LogSumExp {
    type State = Exponentials;
    type Out = T::Float;

    fn empty(&self) -> Option<Exponentials> {
        Some(Exponentials { largest: f64::NEG_INFINITY, sum: 0.0 })
    }

    #[inline(always)]
    fn first(&self, x: T) -> Exponentials {
        Exponentials { largest: x.to_f64(), sum: 1.0 }
    }

    #[inline(always)]
    fn combine(&self, state: &mut Exponentials, later: Exponentials) {
        state.join(later);
    }

    fn finish(&self, state: Exponentials) -> T::Float {
        let infinite = state.largest.is_infinite();
        T::of_f64(if infinite { state.largest } else { state.largest + Real::ln(state.sum) })
    }

    fn repeat(&self, x: T, _position: usize, count: usize) -> Exponentials {
        Exponentials { largest: x.to_f64(), sum: count as f64 }
    }

    #[inline(always)]
    fn fold(&self, run: &[T], _position: usize) -> Exponentials {
        let largest = in_lanes(
            run,
            Measure::to_f64,
            |largest: f64, x| Order::maximum(largest, x.to_f64()),
            Order::maximum,
        );
        let term = |x: T| {
            let x = x.to_f64();
            // Without a branch. The difference of infinities is no number.
            let term = Real::exp(x - largest);
            if x == largest { 1.0 } else { term }
        };
        let sum = in_lanes(run, term, |sum, x| sum + term(x), |a, b| a + b);
        Exponentials { largest, sum }
    }
}
