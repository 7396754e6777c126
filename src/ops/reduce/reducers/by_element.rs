//! Sums and products of whatever element type has them: what generic code can ask for.

use super::super::{Padding, Reducer, Undefined, VisitReducer};
use super::adapters::delegate;
use super::{Product, Sum};

/// Elements that have sums and products: `bool`, integers of up to 64 bits, floats and complex numbers.
///
/// With it come [`Sum`] and [`Product`] in reductions, scans, windows and segments. [`Number`](crate::Number)
/// asks for it.
#[diagnostic::on_unimplemented(
    message = "there are no sums and products of elements of type `{Self}`",
    note = "`bool`, integers of up to 64 bits, floats and complex numbers have: cast first, for example `t.cast::<i64>()`"
)]
pub trait Summable: Copy + Send + Sync {
    /// Type of sums and products: 64 bits for integers and `bool`, `f32` for half precision, else the type itself.
    type Total: Copy + Send + Sync;
    /// How elements are added up.
    #[doc(hidden)]
    type SumOf: Reducer<Self, Out = Self::Total> + Default;
    /// How they are multiplied.
    #[doc(hidden)]
    type ProductOf: Reducer<Self, Out = Self::Total> + Default;
}

/// The sum, for each element type apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SumOf;

/// The product, for each element type apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ProductOf;

macro_rules! summable {
    ($($(#[$cfg:meta])? $element:ty => $total:ty;)*) => { $(
        $(#[$cfg])?
        #[diagnostic::do_not_recommend]
        impl Summable for $element {
            type Total = $total;
            type SumOf = SumOf;
            type ProductOf = ProductOf;
        }
    )* };
}
summable! {
    i8 => i64; i16 => i64; i32 => i64; i64 => i64;
    u8 => u64; u16 => u64; u32 => u64; u64 => u64; isize => i64; usize => u64; bool => u64;
    f32 => f32; f64 => f64;
    #[cfg(feature = "half")] half::f16 => f32;
    #[cfg(feature = "half")] half::bf16 => f32;
    #[cfg(feature = "complex")] num_complex::Complex32 => num_complex::Complex32;
    #[cfg(feature = "complex")] num_complex::Complex64 => num_complex::Complex64;
}

macro_rules! by_element {
    ($($Reducer:ident $Of:ident;)*) => { $(
        impl<T: Summable> Reducer<T> for $Reducer {
            type State = <T::$Of as Reducer<T>>::State;
            type Out = T::Total;
            const EXACT: bool = <T::$Of as Reducer<T>>::EXACT;
            const BESIDE: bool = <T::$Of as Reducer<T>>::BESIDE;
            const PADDING: Padding<T> = <T::$Of as Reducer<T>>::PADDING;

            delegate!(T, self => T::$Of::default());

            #[inline]
            fn finish(&self, state: Self::State) -> T::Total {
                T::$Of::default().finish(state)
            }

            #[inline]
            fn of_up_to<V: VisitReducer<T, T::Total>>(&self, most: usize, visit: V) -> V::Result {
                T::$Of::default().of_up_to(most, visit)
            }
        }
    )* };
}
by_element! { Sum SumOf; Product ProductOf; }

/// States of which one is chosen by bits.
pub(super) trait Choice: Copy {
    /// `self` where `mask` is all ones, `other` where it is 0.
    fn or(self, other: Self, mask: u64) -> Self;
}

macro_rules! choices {
    ($($(#[$cfg:meta])? $type:ty, $x:ident, $y:ident, $mask:ident => $chosen:expr;)*) => { $(
        $(#[$cfg])?
        impl Choice for $type {
            #[inline(always)]
            fn or(self, other: Self, $mask: u64) -> Self {
                let ($x, $y) = (self, other);
                $chosen
            }
        }
    )* };
}
choices! {
    f32, x, y, mask => Self::from_bits(x.to_bits() & mask as u32 | y.to_bits() & !mask as u32);
    f64, x, y, mask => Self::from_bits(x.to_bits() & mask | y.to_bits() & !mask);
    bool, x, y, mask => x & (mask != 0) | y & (mask == 0);
    i64, x, y, mask => x & mask as i64 | y & !mask as i64;
    u64, x, y, mask => x & mask | y & !mask;
    // Of a mask of all ones the sign is extended.
    i128, x, y, mask => x & i128::from(mask as i64) | y & !i128::from(mask as i64);
    u128, x, y, mask => (x as i128).or(y as i128, mask) as u128;
    #[cfg(feature = "complex")] num_complex::Complex32, x, y, mask => Self { re: x.re.or(y.re, mask), im: x.im.or(y.im, mask) };
    #[cfg(feature = "complex")] num_complex::Complex64, x, y, mask => Self { re: x.re.or(y.re, mask), im: x.im.or(y.im, mask) };
}
