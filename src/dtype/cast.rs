//! Conversion of elements: checked by default, unchecked by name.

use num_traits::{AsPrimitive, ToPrimitive};
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

macro_rules! numbers {
    ($($from:ty => [$($to:ty, $check:ident)*];)*) => { $($(
        impl Cast<$to> for $from {
            const FAULTS: bool = true;
            #[inline(always)]
            fn cast_unchecked(self) -> $to { AsPrimitive::<$to>::as_(self) }
            #[inline(always)]
            fn is_uncastable(self) -> bool { ToPrimitive::$check(&self).is_none() }
        }
    )*)* };
}

macro_rules! to_integers {
    ($($from:ty)*) => {
        numbers! { $($from => [
            i8, to_i8 i16, to_i16 i32, to_i32 i64, to_i64 isize, to_isize i128, to_i128
            u8, to_u8 u16, to_u16 u32, to_u32 u64, to_u64 usize, to_usize u128, to_u128
        ];)* }
    };
}
to_integers!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64);

macro_rules! total {
    ($($from:ty => [$($to:ty)*];)*) => { $($(
        impl Cast<$to> for $from {
            const FAULTS: bool = false;
            #[inline(always)]
            fn cast_unchecked(self) -> $to { AsPrimitive::<$to>::as_(self) }
            #[inline(always)]
            fn is_uncastable(self) -> bool { false }
        }
    )*)* };
}
total! {
    i8 => [f32 f64]; i16 => [f32 f64]; i32 => [f32 f64]; i64 => [f32 f64]; isize => [f32 f64]; i128 => [f32 f64];
    u8 => [f32 f64]; u16 => [f32 f64]; u32 => [f32 f64]; u64 => [f32 f64]; usize => [f32 f64]; u128 => [f32 f64];
    f32 => [f32 f64];
    f64 => [f32 f64];
    bool => [i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128];
}

macro_rules! with_bool {
    ($($type:ty)*) => { $(
        impl Cast<bool> for $type {
            const FAULTS: bool = false;
            #[inline(always)]
            fn cast_unchecked(self) -> bool { self != <$type>::default() }
            #[inline(always)]
            fn is_uncastable(self) -> bool { false }
        }
    )* };
}
with_bool!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128 f32 f64 bool);

macro_rules! from_bool {
    ($($type:ty)*) => { $(
        impl Cast<$type> for bool {
            const FAULTS: bool = false;
            #[inline(always)]
            fn cast_unchecked(self) -> $type { if self { 1.0 } else { 0.0 } }
            #[inline(always)]
            fn is_uncastable(self) -> bool { false }
        }
    )* };
}
from_bool!(f32 f64);

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

    macro_rules! to_half {
        ($($half:ty: $($other:ty)*;)* |$x:ident| $single:expr) => { $($(
            impl Cast<$half> for $other {
                const FAULTS: bool = false;
                #[inline(always)]
                fn cast_unchecked(self) -> $half {
                    let $x = self;
                    <$half>::from_f32($single)
                }
                #[inline(always)]
                fn is_uncastable(self) -> bool { false }
            }
        )*)* };
    }
    to_half! { f16: f16 bf16; bf16: f16 bf16; |x| x.to_f32() }
    to_half! { f16: f32; bf16: f32; |x| x }
    to_half! { f16: i8 i16 i32 u8 u16 u32 f64 bool; bf16: i8 i16 i32 u8 u16 u32 f64 bool; |x| single(x.cast_unchecked()) }

    macro_rules! wide {
        ($($integer:ty)*) => { $(
            to_half! { f16: $integer; bf16: $integer; |x| {
                let rounded = x as f64;
                single(to_odd(rounded, x.cmp(&(rounded as $integer))))
            } }
        )* };
    }
    wide! { i64 isize i128 u64 usize u128 }

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

/// Real to complex; complex to real only where the imaginary part is 0.
#[cfg(feature = "complex")]
mod complex {
    use super::Cast;
    use num_complex::Complex;

    macro_rules! complex {
        ($part:ty: $($real:ty)*) => { $(
            impl Cast<Complex<$part>> for $real {
                const FAULTS: bool = false;
                #[inline(always)]
                fn cast_unchecked(self) -> Complex<$part> { Complex::new(self.cast_unchecked(), 0.0) }
                #[inline(always)]
                fn is_uncastable(self) -> bool { false }
            }
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
    complex!(f32: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    complex!(f64: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

    macro_rules! between {
        ($($from:ty => $to:ty;)*) => { $(
            impl Cast<Complex<$to>> for Complex<$from> {
                const FAULTS: bool = false;
                #[inline(always)]
                fn cast_unchecked(self) -> Complex<$to> {
                    Complex::new(self.re.cast_unchecked(), self.im.cast_unchecked())
                }
                #[inline(always)]
                fn is_uncastable(self) -> bool { false }
            }
        )* };
    }
    between! { f32 => f32; f32 => f64; f64 => f32; f64 => f64; }
}
