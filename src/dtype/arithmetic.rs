//! What operators do to elements: wrapping integers, NaN-propagating minima.

#[macro_use]
mod divisor;

use super::Cast;
pub use divisor::{DivideBy, Divisor};

/// Elements with `+ - * / %`. Integers wrap around, in debug and release builds alike.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no arithmetic",
    note = "numbers have: cast first, for example `t.cast::<i64>()`; in generic code ask for `T: lensor::Number`"
)]
pub trait Arithmetic: Copy + Send + Sync {
    /// What products are summed up in, and rounded from once: `f32` for half precision, else the type itself.
    type Wide: Arithmetic + From<Self> + RoundTo<Self>;

    /// Whether a divisor of zero is a fault, as for integers.
    const FAULTS: bool;

    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Difference.
    fn minus(self, other: Self) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// Quotient, truncated for integers; any value where [`Self::is_faulty_divisor`] holds. Of complex numbers NaN in
    /// both parts where the divisor is 0 or has an infinite part.
    fn over(self, divisor: Self) -> Self;
    /// Remainder with the sign of the dividend; any value where [`Self::is_faulty_divisor`] holds.
    fn modulo(self, divisor: Self) -> Self;
    /// Whether dividing by this is a fault.
    fn is_faulty_divisor(self) -> bool;
    /// The number 1.
    fn one() -> Self;

    /// `r` such that `x * r` is `x / self` to the last bit for every `x`: known for the powers of two
    /// among the floats.
    #[inline]
    fn exact_reciprocal(self) -> Option<Self> {
        None
    }

    /// This number, to divide many by.
    #[inline]
    fn into_divisor(self) -> Divisor<Self> {
        Divisor { value: self, reciprocal: self.exact_reciprocal(), shifts: [0; 2] }
    }

    /// [`Self::over`] what a divisor was made of.
    #[inline(always)]
    fn over_divisor(self, divisor: Divisor<Self>) -> Self {
        match divisor.reciprocal {
            Some(reciprocal) => self.times(reciprocal),
            None => self.over(divisor.value),
        }
    }

    /// [`Self::modulo`] what a divisor was made of.
    #[inline(always)]
    fn modulo_divisor(self, divisor: Divisor<Self>) -> Self {
        self.modulo(divisor.value)
    }

    /// `self + step * count`: of real floats in `f64` and rounded once, as narrower ones hold no large `count`.
    #[inline(always)]
    fn after(self, step: Self, count: usize) -> Self
    where
        usize: Cast<Self>,
    {
        self.plus(step.times(count.cast_unchecked()))
    }
}

/// What is rounded to a `T`: every type to itself, and `f32` to half precision.
pub trait RoundTo<T> {
    /// The nearest `T`.
    fn rounded(self) -> T;
}

impl<T> RoundTo<T> for T {
    #[inline(always)]
    fn rounded(self) -> T {
        self
    }
}

#[cfg(feature = "half")]
impl RoundTo<half::f16> for f32 {
    #[inline(always)]
    fn rounded(self) -> half::f16 {
        half::f16::from_f32(self)
    }
}

#[cfg(feature = "half")]
impl RoundTo<half::bf16> for f32 {
    #[inline(always)]
    fn rounded(self) -> half::bf16 {
        half::bf16::from_f32(self)
    }
}

/// Elements with a sign to change. Unsigned integers wrap around.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no sign",
    note = "numbers have: cast first, for example `t.cast::<i64>()`"
)]
pub trait Signed: Arithmetic {
    /// The number with the other sign.
    fn negated(self) -> Self;
    /// Absolute value; the smallest integer wraps to itself.
    fn magnitude(self) -> Self;
    /// -1, 0 or 1 as the sign; zeros and NaN are as they were. Of a complex number the one of length 1 in its direction.
    fn signum(self) -> Self;
}

/// Elements with an order. NaN wins both minimum and maximum.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no smaller and larger of two",
    note = "integers, floats and `bool` have; of others take what you compare by `map` first"
)]
pub trait Order: Copy + PartialOrd + Send + Sync {
    /// Whether equal values are the same, bit by bit, and none is NaN: of integers and `bool`.
    #[doc(hidden)]
    const EXACT: bool = false;

    /// The smaller of two, NaN if either is.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    fn minimum(self, other: Self) -> Self {
        if self < other || self != self { self } else { other }
    }

    /// The larger of two, NaN if either is.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    fn maximum(self, other: Self) -> Self {
        if self > other || self != self { self } else { other }
    }
}

/// Elements with `& | ^ !`: `bool` and integers.
pub trait Bits: Copy + Send + Sync {
    /// Bitwise or logical and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or logical or.
    fn or(self, other: Self) -> Self;
    /// Bitwise or logical exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise or logical complement.
    fn complement(self) -> Self;
}

macro_rules! integers {
    ($magnitude:ident: $($type:ty $([$unsigned:ty, $wide:ty])?),*) => { $(
        impl Arithmetic for $type {
            type Wide = Self;
            const FAULTS: bool = true;
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn over(self, divisor: Self) -> Self {
                if divisor == 0 { 0 } else { self.wrapping_div(divisor) }
            }
            #[inline(always)]
            fn modulo(self, divisor: Self) -> Self {
                if divisor == 0 { 0 } else { self.wrapping_rem(divisor) }
            }
            #[inline(always)]
            fn is_faulty_divisor(self) -> bool { self == 0 }
            #[inline(always)]
            fn one() -> Self { 1 }
            $(by_multiplication!($magnitude $type, $unsigned, $wide);)?
        }
        impl Signed for $type {
            #[inline(always)]
            fn negated(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn magnitude(self) -> Self { integers!(@$magnitude self) }
            #[inline(always)]
            fn signum(self) -> Self { integers!(@$magnitude signum self) }
        }
        impl Order for $type {
            const EXACT: bool = true;
        }
        bits!($type);
    )* };
    (@signed signum $x:expr) => { $x.signum() };
    (@unsigned signum $x:expr) => { $x.min(1) };
    (@signed $x:expr) => { $x.wrapping_abs() };
    (@unsigned $x:expr) => { $x };
}

macro_rules! bits {
    ($type:ty) => {
        impl Bits for $type {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn complement(self) -> Self {
                !self
            }
        }
    };
}

macro_rules! floats {
    ($($(#[$cfg:meta])? $type:ty => $wide:ty: $one:expr, $magnitude:expr, $signum:expr, $reciprocal:expr, $quotient:expr, $remainder:expr $(, $after:expr)?;)*) => { $(
        $(#[$cfg])?
        impl Arithmetic for $type {
            type Wide = $wide;
            const FAULTS: bool = false;
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn over(self, divisor: Self) -> Self { $quotient(self, divisor) }
            #[inline(always)]
            fn modulo(self, divisor: Self) -> Self { $remainder(self, divisor) }
            #[inline(always)]
            fn is_faulty_divisor(self) -> bool { false }
            #[inline(always)]
            fn one() -> Self { $one }
            #[inline]
            fn exact_reciprocal(self) -> Option<Self> { $reciprocal(self) }
            $(#[inline(always)]
            fn after(self, step: Self, count: usize) -> Self { $after(self, step, count) })?
        }
        $(#[$cfg])?
        impl Signed for $type {
            #[inline(always)]
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn magnitude(self) -> Self { $magnitude(self) }
            #[inline(always)]
            fn signum(self) -> Self { $signum(self) }
        }
    )* };
}

integers!(signed: i8 [u8, u16], i16 [u16, u32], i32 [u32, u64], i64 [u64, u128], i128, isize [usize, u128]);
integers!(unsigned: u8 [u8, u16], u16 [u16, u32], u32 [u32, u64], u64 [u64, u128], u128, usize [usize, u128]);
bits!(bool);
impl Order for bool {
    const EXACT: bool = true;
}
impl Order for f32 {}
impl Order for f64 {}
#[cfg(feature = "half")]
impl Order for half::f16 {}
#[cfg(feature = "half")]
impl Order for half::bf16 {}

floats! {
    f32 => f32: 1.0, f32::abs, |x: f32| if x == 0.0 { x } else { x.signum() }, |x: f32| {
        let power_of_two = x.is_normal() && x.to_bits().trailing_zeros() >= f32::MANTISSA_DIGITS - 1;
        Some(1.0 / x).filter(|reciprocal| power_of_two && reciprocal.is_normal())
    }, std::ops::Div::div, std::ops::Rem::rem, in_f64;
    f64 => f64: 1.0, f64::abs, |x: f64| if x == 0.0 { x } else { x.signum() }, |x: f64| {
        let power_of_two = x.is_normal() && x.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
        Some(1.0 / x).filter(|reciprocal| power_of_two && reciprocal.is_normal())
    }, std::ops::Div::div, std::ops::Rem::rem, in_f64;
    #[cfg(feature = "half")] half::f16 => f32: half::f16::ONE, |x: half::f16| half::f16::from_bits(x.to_bits() & 0x7fff),
        |x: half::f16| if x == half::f16::ZERO { x } else { x.signum() }, |_| None, std::ops::Div::div, std::ops::Rem::rem, in_f64;
    #[cfg(feature = "half")] half::bf16 => f32: half::bf16::ONE, |x: half::bf16| half::bf16::from_bits(x.to_bits() & 0x7fff),
        |x: half::bf16| if x == half::bf16::ZERO { x } else { x.signum() }, |_| None, std::ops::Div::div, std::ops::Rem::rem, in_f64;
}

/// [`Arithmetic::after`] of floats.
#[inline(always)]
fn in_f64<T: Into<f64>>(start: T, step: T, count: usize) -> T
where
    f64: Cast<T>,
{
    (start.into() + step.into() * count as f64).cast_unchecked()
}

/// Complex numbers: their magnitude is a complex number with imaginary part 0.
#[cfg(feature = "complex")]
mod complex {
    use super::{Arithmetic, Signed};
    use num_complex::Complex;

    /// The number of length 1 in the same direction; 0, and what has a NaN, as they are.
    macro_rules! direction {
        ($T:ty, $hypot:path) => {
            |x: Complex<$T>| {
                let part = |part: $T| match part.is_infinite() {
                    true => (1.0 as $T).copysign(part),
                    false if x.re.is_infinite() || x.im.is_infinite() => (0.0 as $T).copysign(part),
                    false => part,
                };
                let (re, im) = (part(x.re), part(x.im));
                // The larger part becomes 1, so that the length is neither lost nor infinite.
                let largest = re.abs().max(im.abs());
                if largest == 0.0 || x.re.is_nan() || x.im.is_nan() {
                    return x;
                }
                let (re, im) = (re / largest, im / largest);
                let length = $hypot(re, im);
                Complex::new(re / length, im / length)
            }
        };
    }

    /// The quotient by the formula, of numbers times powers of two with which squares neither overflow nor vanish: 1 for
    /// dividends of usual size, so that those have the bits of the formula. Without branches, for vectors of elements.
    macro_rules! quotient {
        ($T:ty, $Bits:ty, [$small:literal by $up:literal, $large:literal]) => {
            |a: Complex<$T>, b: Complex<$T>| {
                const DIGITS: u32 = <$T>::MANTISSA_DIGITS - 1;
                const LARGEST: $Bits = 2 * <$T>::MAX_EXP as $Bits - 2;
                let power = |exponent: i32| {
                    <$T>::from_bits(((exponent + <$T>::MAX_EXP - 1) as $Bits) << DIGITS)
                };
                let size = |x: Complex<$T>| x.re.abs().max(x.im.abs());
                // The larger part of the divisor lies between 1 and 2 then, unless it is subnormal.
                let exponent = (size(b).to_bits() >> DIGITS).min(LARGEST - 1);
                let scale = <$T>::from_bits((LARGEST - exponent) << DIGITS);
                let (by, back) = match size(a) {
                    own if own < power($small) => (power($up), power(-$up)),
                    // Room for a sum of two products, and no more: the other part may be small.
                    own if own > power($large) => (power(-3), power(3)),
                    _ => (1.0, 1.0),
                };
                a * by / (b * scale) * scale * back
            }
        };
    }

    /// What remains of a quotient whose parts are truncated.
    macro_rules! remainder {
        ($T:ty) => {
            |a: Complex<$T>, b: Complex<$T>| {
                let quotient = a.over(b);
                let whole = |x: $T| x - x % 1.0;
                a - b * Complex::new(whole(quotient.re), whole(quotient.im))
            }
        };
    }

    floats! {
        Complex<f32> => Complex<f32>: Complex::new(1.0, 0.0), |x: Complex<f32>| Complex::new(libm::hypotf(x.re, x.im), 0.0),
            direction!(f32, libm::hypotf), |_| None, quotient!(f32, u32, [-100 by 60, 120]), remainder!(f32);
        Complex<f64> => Complex<f64>: Complex::new(1.0, 0.0), |x: Complex<f64>| Complex::new(libm::hypot(x.re, x.im), 0.0),
            direction!(f64, libm::hypot), |_| None, quotient!(f64, u64, [-900 by 200, 1016]), remainder!(f64);
    }
}
