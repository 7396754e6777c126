//! Comparison of tensors.

use crate::compute::{Compute, Deferred};
use crate::dtype::Real;
use crate::error::{Error, Result};
use crate::expr::{
    Apply, EqualOp, Expr, IntoExpr, Lazy, TRANSPOSED, for_each_box, for_each_stored,
    goes_by_entries, lies_transposed, zip_with,
};
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;

/// Elements that are compared at once.
const PIECE: usize = 1 << 16;

/// Tensors are equal if their shapes and all their elements are; NaN differs from NaN.
///
/// What cannot be compared is not equal: a storage that fails to read, memory that cannot be had, more than 2^33 elements
/// of a sparse tensor beside a dense one. [`Tensor::try_equal`] returns the error instead.
impl<S: Reader, R: Reader<Elem = S::Elem>> PartialEq<Tensor<R>> for Tensor<S>
where
    S::Elem: PartialEq,
{
    fn eq(&self, other: &Tensor<R>) -> bool {
        self.try_equal(other).unwrap_or(false)
    }
}

/// The methods of a type whose references are operands.
macro_rules! comparisons {
    ([$($generics:tt)*] $Type:ty, $Elem:ty) => {
        impl<$($generics)*> $Type {
            /// Whether shapes and all elements are equal; NaN differs from NaN. Of operands that are not
            /// sparse, stops at the first block with others.
            ///
            /// # Errors
            ///
            /// What evaluating either operand reports, [`Error::Storage`] if a storage fails for example, and
            /// [`Error::WouldDensify`] for more than 2^33 elements of a sparse one beside a dense one, see
            /// [`Lazy::densely`].
            ///
            /// ```
            /// use lensor::prelude::*;
            /// let t = Tensor::from(vec![1, 2]);
            /// assert!(t.try_equal(&t.view().flip(0)?.flip(0)?)?);
            /// assert!(!t.try_equal(&t.view().flip(0)?)?);
            /// assert!((&t * 2).try_equal(&t + &t)? && t.cummax(0).try_equal(&t)?);
            /// # Ok::<(), Error>(())
            /// ```
            #[doc(alias = "array_equal")]
            pub fn try_equal<X: IntoExpr<Elem = $Elem>>(&self, other: X) -> $crate::error::Result<bool>
            where
                $Elem: PartialEq,
            {
                $crate::ops::compare::equal(Lazy(self.into_expr()), Lazy(other.into_expr()))
            }

            /// Whether elements differ by at most `absolute + relative * |other|`, shapes stretched to one
            /// another. Equal infinities are close, NaN is close to nothing. Complex numbers are close where the lengths
            /// of their differences, `(&z - &w).map(|d| d.norm())`, are close to 0.
            ///
            /// # Errors
            ///
            /// [`Error::Operands`] if the shapes do not align, and what [`Self::try_equal`] reports.
            ///
            /// ```
            /// use lensor::prelude::*;
            /// let t = Tensor::from_vec([2], vec![1.0, 2.0])?;
            /// assert!(t.all_close(&t + 1e-9, 1e-6, 0.0)?);
            /// assert!(t.mean(..).all_close(&t, 0.0, 0.5)?);
            /// # Ok::<(), Error>(())
            /// ```
            #[doc(alias = "allclose")]
            pub fn all_close<X>(&self, other: X, relative: $Elem, absolute: $Elem) -> $crate::error::Result<bool>
            where
                X: IntoExpr<Elem = $Elem>,
                $Elem: Real,
            {
                $crate::ops::compare::close((self, other), relative, absolute)
            }
        }
    };
}
pub(crate) use comparisons;

comparisons!([S: Reader] Tensor<S>, S::Elem);
comparisons!([E: Expr] Lazy<E>, E::Elem);
comparisons!([C: Compute] Deferred<C>, C::Elem);

/// Whether the first of two elements is close to the second.
pub(crate) fn is_close<T: Real>(relative: T, absolute: T) -> impl Fn((T, T)) -> bool + Send + Sync {
    move |(a, b)| {
        a == b
            || a.minus(b).magnitude() <= absolute.plus(relative.times(b.magnitude()))
                && b.is_finite()
    }
}

pub(crate) fn equal<A, B>(a: Lazy<A>, b: Lazy<B>) -> Result<bool>
where
    A: Expr<Elem: PartialEq>,
    B: Expr<Elem = A::Elem>,
{
    let shape = a.shape()?;
    Ok(shape == b.shape()? && all(&Lazy(Apply::new(EqualOp, (a.0, b.0))), &shape)?)
}

pub(crate) fn close<A, B>(operands: (A, B), relative: A::Elem, absolute: A::Elem) -> Result<bool>
where
    A: IntoExpr<Elem: Real>,
    B: IntoExpr<Elem = A::Elem>,
{
    let pairs = zip_with(operands, is_close(relative, absolute));
    let shape = pairs.shape()?;
    all(&pairs, &shape)
}

/// Whether an expression is true everywhere; stops at the first piece where it is not. Of sparse operands
/// all entries are compared, and the fill values once, unless elements are read sooner.
pub(crate) fn all<E: Expr<Elem = bool>>(e: &Lazy<E>, shape: &Shape) -> Result<bool> {
    if goes_by_entries(e, shape) {
        let (mut all, mut count) = (true, 0);
        let elsewhere = for_each_stored(e, shape, &mut |_, _, block| {
            all &= block.iter().all(|&holds| holds);
            count += block.len();
            Ok(())
        })?;
        return Ok(all && (elsewhere || count == shape.count()?));
    }
    let most = if lies_transposed(e) { TRANSPOSED } else { PIECE };
    // It ends with an error, or with none where an element does not hold.
    let done: Result<(), Option<Error>> = for_each_box(e, most, &mut |_, piece: &[bool]| {
        // A loop that ends at the first would not be one of vector instructions.
        let all = piece.iter().fold(true, |all, &holds| all & holds);
        if all { Ok(()) } else { Err(None) }
    });
    match done {
        Ok(()) => Ok(true),
        Err(None) => Ok(false),
        Err(Some(error)) => Err(error),
    }
}
