//! Elementary functions of real numbers, one implementation for every machine.

#[cfg(feature = "half")]
use super::Cast;
use super::exponential;
use super::{Measure, Order, Signed};

/// Floating-point elements with elementary functions.
///
/// Roots and roundings are exact. `exp` and `ln` are within 1 ulp and `tanh` within 3, in loops of vector instructions, as is
/// `powf`, within 1; the other transcendental functions are those of the `libm` crate. A result does not depend on the CPU
/// or the C library. A literal in generic code is
/// `T::of_f64(0.5)`, see [`Measure::of_f64`].
#[allow(missing_docs, reason = "the names are those of the functions in std")]
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no roots, logarithms, roundings and the like",
    note = "floats have: cast first, for example `t.cast::<f64>().sqrt()`; in generic code ask for `T: lensor::Float`",
    note = "those of complex numbers are taken by `map`, `z.map(|z| z.sqrt())`; these are close where `(&z - &w).map(|d| d.norm())` is close to 0"
)]
pub trait Real: Signed + Order + Measure<Float = Self> {
    fn sqrt(self) -> Self;
    fn cbrt(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_normal(self) -> bool;
}

/// That of libm gives numbers below 1.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

fn acosh_f32(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}

macro_rules! reals {
    ($type:ty: $hypot:path, $atan2:path, $powf:path; [$($looped:ident $vector:path;)*] $($name:ident $function:path;)*) => {
        #[diagnostic::do_not_recommend]
        impl Real for $type {
            reals!(@same $type: sqrt() -> Self; floor() -> Self; ceil() -> Self; round() -> Self; trunc() -> Self;
                round_ties_even() -> Self; copysign(sign) -> Self; mul_add(factor, summand) -> Self;
                is_nan() -> bool; is_infinite() -> bool; is_finite() -> bool; is_normal() -> bool;);
            fn hypot(self, other: Self) -> Self { $hypot(self, other) }
            fn atan2(self, x: Self) -> Self { $atan2(self, x) }
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self { $powf(self, exponent) }
            $(fn $name(self) -> Self { $function(self) })*
            $(#[inline(always)] fn $looped(self) -> Self { $vector(self) })*
        }
    };
    // What the standard library rounds the same on every processor.
    (@same $type:ty: $($name:ident($($argument:ident),*) -> $out:ty;)*) => { $(
        #[inline(always)]
        fn $name(self $(, $argument: Self)*) -> $out { <$type>::$name(self $(, $argument)*) }
    )* };
}
reals! { f64: libm::hypot, libm::atan2, exponential::powf;
    [exp exponential::exp; ln exponential::ln; tanh exponential::tanh;]
    cbrt libm::cbrt; exp2 libm::exp2; exp_m1 libm::expm1; ln_1p libm::log1p; log2 libm::log2; log10 libm::log10;
    sin libm::sin; cos libm::cos; tan libm::tan; asin libm::asin; acos libm::acos; atan libm::atan; sinh libm::sinh;
    cosh libm::cosh; asinh libm::asinh; acosh acosh; atanh libm::atanh;
}
reals! { f32: libm::hypotf, libm::atan2f, exponential::powf_f32;
    [exp exponential::exp_f32; ln exponential::ln_f32; tanh exponential::tanh_f32;]
    cbrt libm::cbrtf; exp2 libm::exp2f; exp_m1 libm::expm1f; ln_1p libm::log1pf; log2 libm::log2f; log10 libm::log10f;
    sin libm::sinf; cos libm::cosf; tan libm::tanf; asin libm::asinf; acos libm::acosf; atan libm::atanf;
    sinh libm::sinhf; cosh libm::coshf; asinh libm::asinhf; acosh acosh_f32; atanh libm::atanhf;
}

#[cfg(feature = "half")]
macro_rules! halves {
    ($($type:ty)*: $names:tt) => { $( halves!(@each $type: $names); )* };
    (@each $type:ty: [$($name:ident)* ; $($binary:ident)*]) => {
        impl Real for $type {
            $(fn $name(self) -> Self { Self::from_f32(Real::$name(self.to_f32())) })*
            $(fn $binary(self, other: Self) -> Self {
                Self::from_f32(Real::$binary(self.to_f32(), other.to_f32()))
            })*
            fn cbrt(self) -> Self {
                // No root is so near to half way between two numbers that `f64` rounds it there.
                libm::cbrt(self.to_f64()).cast_unchecked()
            }
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                // The product is exact in f64.
                super::cast::half_precision::sum(self.to_f64() * factor.to_f64(), summand.to_f64())
                    .cast_unchecked()
            }
            fn is_nan(self) -> bool { self.to_f32().is_nan() }
            fn is_infinite(self) -> bool { self.to_f32().is_infinite() }
            fn is_finite(self) -> bool { self.to_f32().is_finite() }
            fn is_normal(self) -> bool { <$type>::is_normal(self) }
        }
    };
}
#[cfg(feature = "half")]
halves! {
    half::f16 half::bf16: [
        sqrt exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        floor ceil round round_ties_even trunc; hypot atan2 powf copysign
    ]
}
