//! Comparison of ragged operands.

use super::apply::ApplyRagged;
use super::eval::{at_path, joined};
use super::expr::{IntoRagged, LazyRagged, RaggedExpr};
use super::{DeferredRagged, Ragged, RaggedCompute, Stretch, zip_ragged};
use crate::dtype::Real;
use crate::error::Result;
use crate::expr::{EqualOp, Lazy};
use crate::ops::compare::{all, is_close};
use crate::storage::Reader;

/// Ragged tensors are equal if their rows have the same lengths and all elements are equal; NaN differs from NaN.
///
/// What cannot be compared is not equal: a storage that fails to read, more than 2^33 elements of sparse content beside
/// dense content, or in more than 2^24 items that are not packed. [`Ragged::try_equal`] returns the error instead.
impl<S: Reader, R: Reader<Elem = S::Elem>> PartialEq<Ragged<R>> for Ragged<S>
where
    S::Elem: PartialEq,
{
    fn eq(&self, other: &Ragged<R>) -> bool {
        self.try_equal(other).unwrap_or(false)
    }
}

/// The methods of a type whose references are operands.
macro_rules! comparisons {
    ([$($generics:tt)*] $Type:ty, $Elem:ty) => {
        impl<$($generics)*> $Type {
            /// Whether the rows have the same lengths and all elements are equal; NaN differs from NaN.
            ///
            /// # Errors
            ///
            /// What evaluating either operand reports, see [`LazyRagged::eval`](crate::ragged::LazyRagged::eval).
            ///
            /// ```
            /// use lensor::ragged::{LanesRagged, Ragged};
            /// let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![3]])?;
            /// assert!(r.try_equal(r.view().flip(1)?.flip(1)?)?);
            /// assert!(!r.try_equal(&Ragged::from_nested(vec![vec![1_i64], vec![2, 3]])?)?);
            /// assert!((&r * 2).try_equal(&r + &r)? && r.cummax(1).try_equal(&r)?);
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "array_equal")]
            pub fn try_equal<X: IntoRagged<Elem = $Elem>>(&self, other: X) -> $crate::Result<bool>
            where
                $Elem: PartialEq,
            {
                $crate::ragged::compare::equal(self.into_ragged_expr(), other.into_ragged_expr())
            }

            /// Whether elements differ by at most `absolute + relative * |other|`, rows of one item and extents of 1
            /// stretched. Equal infinities are close, NaN is close to nothing.
            ///
            /// # Errors
            ///
            /// [`Error::Operands`](crate::Error::Operands) and [`Error::RaggedOperands`](crate::Error::RaggedOperands)
            /// if the rows do not align, and what [`Self::try_equal`] reports.
            ///
            /// ```
            /// use lensor::ragged::{Ragged, ReduceRagged};
            /// let r = Ragged::from_nested(vec![vec![1.0, 2.0], vec![3.0]])?;
            /// assert!(r.all_close(&r + 1e-9, 1e-6, 0.0)?);
            /// assert!(r.mean(1).keepdims().all_close(&r, 0.0, 0.5)?);
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "allclose")]
            pub fn all_close<X>(&self, other: X, relative: $Elem, absolute: $Elem) -> $crate::Result<bool>
            where
                X: IntoRagged<Elem = $Elem>,
                $Elem: $crate::dtype::Real,
            {
                $crate::ragged::compare::close((self, other), relative, absolute)
            }
        }
    };
}
pub(super) use comparisons;

comparisons!([S: Reader] Ragged<S>, S::Elem);
comparisons!([E: RaggedExpr] LazyRagged<E>, E::Elem);
comparisons!([C: RaggedCompute] DeferredRagged<C>, C::Elem);

pub(super) fn equal<A, B>(a: A, b: B) -> Result<bool>
where
    A: RaggedExpr<Elem: PartialEq>,
    B: RaggedExpr<Elem = A::Elem>,
{
    let alike = a.outline(Stretch::Rows)?.form == b.outline(Stretch::Rows)?.form;
    Ok(alike && everywhere(&LazyRagged(ApplyRagged::new(EqualOp, (a, b))))?)
}

pub(super) fn close<A, B>(operands: (A, B), relative: A::Elem, absolute: A::Elem) -> Result<bool>
where
    A: IntoRagged<Elem: Real>,
    B: IntoRagged<Elem = A::Elem>,
{
    everywhere(&zip_ragged(operands, is_close(relative, absolute)))
}

/// Whether an expression is true everywhere; stops at the first piece where it is not.
fn everywhere<E: RaggedExpr<Elem = bool>>(e: &LazyRagged<E>) -> Result<bool> {
    let joint = joined(&e.0, Stretch::Rows)?;
    let flat = Lazy(e.0.flat(&joint)?);
    all(&flat, &flat.shape()?).map_err(|error| at_path(error, &joint))
}
