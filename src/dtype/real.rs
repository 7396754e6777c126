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
    note = "floats have: cast first, for example `t.cast::<f64>().sqrt()`; in generic code ask for `T: lensor::Float`"
)]
pub trait Real: Signed + Order + Measure<Float = Self> {
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
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
    fn powf(self, exponent: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn trunc(self) -> Self;
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
}

macro_rules! reals {
    ($type:ty: $atan2:path, $powf:path; [$($looped:ident $vector:path;)*] $($name:ident $function:path;)*) => {
        #[diagnostic::do_not_recommend]
        impl Real for $type {
            #[inline(always)]
            fn sqrt(self) -> Self { <$type>::sqrt(self) }
            #[inline(always)]
            fn floor(self) -> Self { <$type>::floor(self) }
            #[inline(always)]
            fn ceil(self) -> Self { <$type>::ceil(self) }
            #[inline(always)]
            fn round(self) -> Self { <$type>::round(self) }
            #[inline(always)]
            fn trunc(self) -> Self { <$type>::trunc(self) }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self { <$type>::mul_add(self, factor, summand) }
            #[inline(always)]
            fn is_nan(self) -> bool { <$type>::is_nan(self) }
            #[inline(always)]
            fn is_finite(self) -> bool { <$type>::is_finite(self) }
            fn atan2(self, x: Self) -> Self { $atan2(self, x) }
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self { $powf(self, exponent) }
            $(fn $name(self) -> Self { $function(self) })*
            $(#[inline(always)] fn $looped(self) -> Self { $vector(self) })*
        }
    };
}
reals! { f64: libm::atan2, exponential::powf; [exp exponential::exp; ln exponential::ln; tanh exponential::tanh;]
    log2 libm::log2; log10 libm::log10; sin libm::sin; cos libm::cos;
    tan libm::tan; asin libm::asin; acos libm::acos; atan libm::atan; sinh libm::sinh;
    cosh libm::cosh;
}
reals! { f32: libm::atan2f, exponential::powf_f32; [exp exponential::exp_f32; ln exponential::ln_f32; tanh exponential::tanh_f32;]
    log2 libm::log2f; log10 libm::log10f; sin libm::sinf;
    cos libm::cosf; tan libm::tanf; asin libm::asinf; acos libm::acosf; atan libm::atanf;
    sinh libm::sinhf; cosh libm::coshf;
}

#[cfg(feature = "half")]
macro_rules! halves {
    ($($type:ty: $($name:ident)*;)*) => { $(
        impl Real for $type {
            $(fn $name(self) -> Self { Self::from_f32(Real::$name(self.to_f32())) })*
            fn atan2(self, x: Self) -> Self { Self::from_f32(Real::atan2(self.to_f32(), x.to_f32())) }
            fn powf(self, exponent: Self) -> Self {
                Self::from_f32(Real::powf(self.to_f32(), exponent.to_f32()))
            }
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                // The product is exact in f64.
                super::cast::half_precision::sum(self.to_f64() * factor.to_f64(), summand.to_f64())
                    .cast_unchecked()
            }
            fn is_nan(self) -> bool { self.to_f32().is_nan() }
            fn is_finite(self) -> bool { self.to_f32().is_finite() }
        }
    )* };
}
#[cfg(feature = "half")]
halves! {
    half::f16: sqrt exp ln log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil round trunc;
    half::bf16: sqrt exp ln log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil round trunc;
}
