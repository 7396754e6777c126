//! Numbers as measurements: what means, variances and norms are made of.

use super::{Real, Sortable};

/// Elements that statistics take: `bool`, integers of up to 64 bits, and floats.
///
/// Statistics are computed in `f64` and given in [`Self::Float`].
#[diagnostic::on_unimplemented(
    message = "there are no statistics of elements of type `{Self}`",
    note = "`bool`, integers of up to 64 bits, and floats have: cast first, for example `t.cast::<f64>()`, or convert by `map`",
    note = "complex numbers become real ones by `map`, for example `z.map(|z| z.norm())`; their mean is `z.sum(..)` over a count"
)]
pub trait Measure: Copy + Send + Sync {
    /// What statistics are given in: the type itself for floats, `f64` for others.
    type Float: Real + Sortable;

    /// What leaves every sum as it is: 0, of floats -0.0.
    const NEUTRAL: Self;

    /// The nearest `f64`.
    fn to_f64(self) -> f64;

    /// The nearest result to an `f64`.
    fn of_f64(x: f64) -> Self::Float;

    /// Whether this is neither `false` nor 0.
    fn is_true(self) -> bool;
}

macro_rules! measures {
    ($($(#[$cfg:meta])? $type:ty => $float:ty, $neutral:expr, $to:expr, $of:expr, $truth:expr;)*) => { $(
        $(#[$cfg])?
        impl Measure for $type {
            type Float = $float;
            const NEUTRAL: Self = $neutral;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to(self)
            }

            #[inline(always)]
            fn of_f64(x: f64) -> $float {
                $of(x)
            }

            #[inline(always)]
            fn is_true(self) -> bool {
                $truth(self)
            }
        }
    )* };
}

macro_rules! integers {
    ($($type:ty)*) => {
        measures! { $($type => f64, 0, |x| x as f64, |x| x, |x| x != 0;)* }
    };
}
integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
measures! {
    bool => f64, false, |x| if x { 1.0 } else { 0.0 }, |x| x, |x| x;
    f32 => f32, -0.0, f64::from, |x| x as f32, |x| x != 0.0;
    f64 => f64, -0.0, |x| x, |x| x, |x| x != 0.0;
    #[cfg(feature = "half")] half::f16 => half::f16, half::f16::NEG_ZERO, half::f16::to_f64, <f64 as super::Cast<half::f16>>::cast_unchecked, |x| x != half::f16::ZERO;
    #[cfg(feature = "half")] half::bf16 => half::bf16, half::bf16::NEG_ZERO, half::bf16::to_f64, <f64 as super::Cast<half::bf16>>::cast_unchecked, |x| x != half::bf16::ZERO;
}
