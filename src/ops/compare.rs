//! Comparison of tensors.

use crate::dtype::{Arithmetic, Real, Signed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{
    Elementwise, Expr, IntoExpr, Lazy, Stop, check_copies, for_each_block, for_each_stored,
    prepare, zip_with,
};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;

/// Tensors are equal if their shapes and all their elements are; NaN differs from NaN.
///
/// A storage that fails to read equals nothing; [`Tensor::try_equal`] returns the error instead.
impl<S: Reader, R: Reader<Elem = S::Elem>> PartialEq<Tensor<R>> for Tensor<S>
where
    S::Elem: PartialEq,
{
    fn eq(&self, other: &Tensor<R>) -> bool {
        self.try_equal(other).unwrap_or(false)
    }
}

impl<S: Reader> Tensor<S> {
    /// Whether shapes and all elements are equal; NaN differs from NaN.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if a storage fails.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from(vec![1, 2]);
    /// assert!(t.try_equal(&t.view().flip(0)?.flip(0)?)?);
    /// assert!(!t.try_equal(&t.view().flip(0)?)?);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn try_equal<R: Reader<Elem = S::Elem>>(&self, other: &Tensor<R>) -> Result<bool>
    where
        S::Elem: PartialEq,
    {
        let shape = self.shape();
        Ok(shape == other.shape() && all(&self.equal(other), &shape)?)
    }

    /// Whether elements differ by at most `absolute + relative * |other|`, shapes stretched to one
    /// another. Equal infinities are close, NaN is close to nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if the shapes do not align, and what the evaluation of `other` reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([2], vec![1.0, 2.0])?;
    /// assert!(t.all_close(&(&t + 1e-9), 1e-6, 0.0)?);
    /// assert!(t.all_close(t.mean(..), 0.0, 0.5)?);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "allclose")]
    pub fn all_close<X>(&self, other: X, relative: S::Elem, absolute: S::Elem) -> Result<bool>
    where
        X: IntoExpr<Elem = S::Elem>,
        S::Elem: Real,
    {
        let close = move |(a, b): (S::Elem, S::Elem)| {
            a == b
                || a.minus(b).magnitude() <= absolute.plus(relative.times(b.magnitude()))
                    && b.is_finite()
        };
        let pairs = zip_with((self, other), close);
        let shape = pairs.shape()?;
        all(&pairs, &shape)
    }
}

/// Whether an expression is true everywhere; stops at the first block where it is not. Of sparse operands
/// all entries are compared, and the fill values once.
fn all<E: Expr<Elem = bool>>(e: &Lazy<E>, shape: &Shape) -> Result<bool> {
    let map = AddressMap::row_major(shape)?;
    let mut all = true;
    if e.is_sparse() {
        let mut count = 0;
        let elsewhere = for_each_stored(e, shape, &mut |_, _, block| {
            all &= block.iter().all(|&holds| holds);
            count += block.len();
            Ok(())
        })?;
        return Ok(all && (elsewhere || count == map.count()));
    }
    check_copies(e, map.count())?;
    let _results = prepare(e)?;
    for_each_block(e, shape, &map, |_, _, block| {
        all = block.iter().all(|&holds| holds);
        if all { Ok(()) } else { Err(Stop::Done) }
    })?;
    Ok(all)
}
