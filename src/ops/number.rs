//! One bound for code that is generic over numbers.

use crate::dtype::{Cast, Divisor, FileElement, Measure, Order, Ranged, Real, Signed, Sortable};
use crate::expr::{IntoExpr, Pairs, Scalar};
use crate::ops::reduce::Summable;
use std::fmt::Display;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

/// Numbers that everything works with: `i8` to `i64`, `u8` to `u64`, `f32` and `f64`. Sealed.
///
/// A function of `T: Number` may use operators and comparisons of tensors with one another and with a `T` on the
/// right, assignment, folds, scans, windows and segments, sorts and searches, products, casts to the other
/// numbers, sparse storage and files. Sums and products are of type [`T::Sum`](Number::Sum), which is a number
/// too, means and the like of type [`T::Mean`](Number::Mean). For a `T:` [`Float`], which has elementary
/// functions besides, both are `T`.
///
/// ```
/// use lensor::prelude::*;
///
/// /// The rows in which every element is less than `limit`, counted, and the sum of all elements.
/// fn survey<T: Number, S: Reader<Elem = T>>(
///     t: &Tensor<S>,
///     limit: T,
/// ) -> Result<(u64, T::Sum), Error> {
///     let small = t.less(limit).all(1).eval()?;
///     Ok((small.sum(0).eval()?.item()?, t.sum(..).eval()?.item()?))
/// }
/// let bytes = Tensor::from_nested([[200_u8, 100], [50, 60]])?;
/// assert_eq!(survey(&bytes, 150)?, (1, 410_u64));
/// assert_eq!(survey(&bytes.view().cast::<f32>().eval()?, 150.0)?, (1, 410.0_f32));
/// # Ok::<(), Error>(())
/// ```
///
/// # What differs from code for one type
///
/// - Literals are [`T::of_i8(2)`](Number::of_i8) and, for a [`Float`], [`T::of_f64(0.5)`](Measure::of_f64).
/// - A number cannot stand on the left: Rust's rules for implementations do not allow `k - &t` for every `T`.
///   Write `Lazy::new(k) - &t`.
/// - `+ - * / %` of two `T`, in closures for example, are those of Rust, which panic where integers overflow in debug
///   builds; [`plus`](crate::dtype::Arithmetic::plus) and its siblings wrap, as operators of tensors do.
/// - What one kind of numbers has alone is asked for besides: `T: Number + Bits`, `CompensatedSum: Reducer<T>`;
///   for casts from a type, and for [`range`](crate::generate::range), `usize: Cast<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one of the numbers that everything works with",
    note = "`i8` to `i64`, `u8` to `u64`, `f32` and `f64` are; for others ask for what is used, for example `lensor::dtype::Arithmetic`"
)]
// With `Pairs<Self>` alone, the compiler would take whatever stands right of an operator for a `Self`.
pub trait Number:
    FileElement
    + Signed
    + Order
    + Sortable
    + Measure<Float = <Self as Number>::Mean>
    + Ranged
    + Summable<Total = <Self as Number>::Sum>
    + Pairs<Self, Expr = Scalar<Self>, Divisor = Scalar<Divisor<Self>>>
    + Pairs<Scalar<Self>>
    + IntoExpr<Elem = Self, Expr = Scalar<Self>>
    + Cast<bool>
    + Cast<i8>
    + Cast<i16>
    + Cast<i32>
    + Cast<i64>
    + Cast<isize>
    + Cast<u8>
    + Cast<u16>
    + Cast<u32>
    + Cast<u64>
    + Cast<usize>
    + Cast<f32>
    + Cast<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Default
    + Display
{
    /// Type of sums and products: 64 bits for integers, else the type itself.
    type Sum: Number<Sum = Self::Sum, Mean = Self::Mean>;
    /// Type of means and the like: `f64` for integers, else the type itself.
    type Mean: Float;

    /// A whole number, for literals in generic code; negative ones wrap around where there are none.
    ///
    /// ```
    /// use lensor::Number;
    /// assert_eq!((u8::of_i8(3), f32::of_i8(-3)), (3, -3.0));
    /// ```
    fn of_i8(literal: i8) -> Self;
}

/// `f32` and `f64`: a [`Number`] with elementary functions, whose sums and means are of its own type. Sealed.
///
/// ```
/// use lensor::prelude::*;
///
/// /// Every column with mean 0 and standard deviation 1.
/// fn standardise<T: Float, S: Reader<Elem = T>>(
///     t: &Tensor<S>,
/// ) -> Result<Tensor<Vec<T>>, Error> {
///     let centred = t - t.mean(0).eval()?;
///     (&centred / t.std(0).eval()?.maximum(T::of_f64(1e-9))).eval()
/// }
/// let t = Tensor::from_nested([[1.0_f32, 10.0], [3.0, 10.0]])?;
/// assert_eq!(standardise(&t)?.to_vec()?, [-1.0, 0.0, 1.0, 0.0]);
/// assert_eq!(standardise(&t.cast::<f64>().eval()?.flip(0)?)?.to_vec()?, [1.0, 0.0, -1.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `f32` or `f64`",
    note = "cast first, for example `t.cast::<f64>()`; integers are a `lensor::Number`"
)]
pub trait Float: Number<Sum = Self, Mean = Self> + Real + Neg<Output = Self> {}

macro_rules! numbers {
    ($($type:ty => $sum:ty, $mean:ty;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Number for $type {
            type Sum = $sum;
            type Mean = $mean;

            #[inline(always)]
            fn of_i8(literal: i8) -> Self {
                literal as Self
            }
        }
    )* };
}
numbers! {
    i8 => i64, f64; i16 => i64, f64; i32 => i64, f64; i64 => i64, f64;
    u8 => u64, f64; u16 => u64, f64; u32 => u64, f64; u64 => u64, f64;
    f32 => f32, f32; f64 => f64, f64;
}

impl Float for f32 {}
impl Float for f64 {}
