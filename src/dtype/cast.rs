//! Conversion of elements: checked by default, unchecked by name.

use num_traits::{AsPrimitive, NumCast};
use std::fmt::Debug;

/// An element that has no counterpart in the target type.
#[derive(Debug, Clone, PartialEq)]
pub struct CastFault {
    /// The value, rendered.
    pub value: String,
    /// Name of the target type.
    pub target: &'static str,
}

/// Conversion of an element to `U`.
///
/// Float to integer truncates toward zero and must then fit; `bool` is 0 or 1 and every nonzero
/// number is `true`; integer to float and float to float round to nearest.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` cannot be cast to `{U}`",
    note = "numbers and `bool` can, to one another; convert others by `map`"
)]
pub trait Cast<U>: Copy + Send + Sync + Debug {
    /// Whether some value has no counterpart.
    const FAULTS: bool;

    /// The counterpart as Rust's `as` gives it: out of range saturates from floats and wraps from
    /// integers, NaN becomes 0.
    fn cast_unchecked(self) -> U;

    /// Whether the value has no counterpart.
    fn is_uncastable(self) -> bool;
}

#[inline(always)]
fn is_nonzero<F: PartialEq + Default>(value: F) -> bool {
    value != F::default()
}

/// Casts of all of some types to all of others: whether every value has a counterpart, and which.
macro_rules! casts {
    (@total $($of:tt)*) => { false };
    (@checked) => { true };
    (@checked $to:ty, $value:expr) => { <$to as NumCast>::from($value).is_none() };
    (@ $from:ty => [$($to:ty)*], $kind:ident, |$x:ident| $cast:expr) => { $(
        impl Cast<$to> for $from {
            const FAULTS: bool = casts!(@$kind);
            #[inline(always)]
            fn cast_unchecked(self) -> $to { let $x = self; $cast }
            #[inline(always)]
            fn is_uncastable(self) -> bool { casts!(@$kind $to, self) }
        }
    )* };
    ($($from:ty)* => $to:tt, $kind:ident, |$x:ident| $cast:expr) => {
        $(casts!(@ $from => $to, $kind, |$x| $cast);)*
    };
}
casts!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64
    => [i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128], checked, |x| x.as_());
casts!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64 => [f32 f64], total, |x| x.as_());
casts!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64 bool => [bool], total, |x| is_nonzero(x));
casts!(bool => [i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128], total, |x| x.as_());
casts!(bool => [f32 f64], total, |x| if x { 1.0 } else { 0.0 });

/// Half precision converts to others through `f32`, which holds every value of it. What converts to it is rounded to odd
/// first, and so as if once (Boldo and Melquiond, *Emulation of FMA and correctly rounded sums*).
#[cfg(feature = "half")]
pub(super) mod half_precision {
    use super::Cast;
    use half::{bf16, f16};
    use std::cmp::Ordering;

    /// A rounded number or, where it is even, its neighbour on the side of the exact one.
    fn to_odd(rounded: f64, exact: Ordering) -> f64 {
        let bits = rounded.to_bits();
        if exact.is_eq() || bits & 1 == 1 {
            return rounded;
        }
        f64::from_bits(if exact.is_gt() == (rounded > 0.0) { bits + 1 } else { bits - 1 })
    }

    /// As [`to_odd`], of single precision.
    #[inline(always)]
    pub(in crate::dtype) fn single(x: f64) -> f32 {
        let rounded = x as f32;
        let (bits, back) = (rounded.to_bits(), f64::from(rounded));
        match back == x || x.is_nan() || bits & 1 == 1 {
            true => rounded,
            false => f32::from_bits(if back.abs() < x.abs() { bits + 1 } else { bits - 1 }),
        }
    }

    /// A sum, rounded to odd.
    pub(in crate::dtype) fn sum(a: f64, b: f64) -> f64 {
        let sum = a + b;
        let added = sum - a;
        let error = (a - (sum - added)) + (b - added);
        to_odd(sum, error.partial_cmp(&0.0).unwrap_or(Ordering::Equal))
    }

    macro_rules! halves {
        ($($half:ident)*) => { $(
            casts!(f16 bf16 => [$half], total, |x| $half::from_f32(x.to_f32()));
            casts!(f32 => [$half], total, |x| $half::from_f32(x));
            casts!(i8 i16 i32 u8 u16 u32 f64 bool => [$half], total,
                |x| $half::from_f32(single(x.cast_unchecked())));
            casts!(i64 isize i128 u64 usize u128 => [$half], total, |x| {
                let rounded = x as f64;
                $half::from_f32(single(to_odd(rounded, x.cmp(&(rounded as _)))))
            });
        )* };
    }
    halves!(f16 bf16);

    macro_rules! through_f32 {
        ($($half:ty: $($other:ty)*;)*) => { $($(
            impl Cast<$other> for $half {
                const FAULTS: bool = <f32 as Cast<$other>>::FAULTS;
                #[inline(always)]
                fn cast_unchecked(self) -> $other { self.to_f32().cast_unchecked() }
                #[inline(always)]
                fn is_uncastable(self) -> bool { <f32 as Cast<$other>>::is_uncastable(self.to_f32()) }
            }
        )*)* };
    }
    through_f32! {
        f16: i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64 bool;
        bf16: i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64 bool;
    }
}

/// Real to complex; complex to real only where the imaginary part is 0; complex to `bool`, and back.
#[cfg(feature = "complex")]
mod complex {
    use super::Cast;
    use num_complex::Complex;

    casts!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 => [Complex<f32> Complex<f64>], total,
        |x| Complex::new(x.cast_unchecked(), 0.0));
    casts!(Complex<f32> Complex<f64> => [Complex<f32> Complex<f64>], total,
        |x| Complex::new(x.re.cast_unchecked(), x.im.cast_unchecked()));
    casts!(Complex<f32> Complex<f64> => [bool], total, |x| super::is_nonzero(x));
    casts!(bool => [Complex<f32> Complex<f64>], total, |x| Complex::new(x.cast_unchecked(), 0.0));

    macro_rules! to_real {
        ($part:ty: $($real:ty)*) => { $(
            impl Cast<$real> for Complex<$part> {
                const FAULTS: bool = true;
                #[inline(always)]
                fn cast_unchecked(self) -> $real { self.re.cast_unchecked() }
                #[inline(always)]
                fn is_uncastable(self) -> bool {
                    self.im != 0.0 || <$part as Cast<$real>>::is_uncastable(self.re)
                }
            }
        )* };
    }
    to_real!(f32: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    to_real!(f64: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
}
