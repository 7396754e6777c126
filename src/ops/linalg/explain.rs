//! How products would be computed, in words.

#[cfg(doc)]
use super::Linalg;
use super::{chained, paired, stack};
use crate::dtype::Arithmetic;
use crate::error::Result;
use crate::expr::{Explanation, Expr, IntoExpr, Lazy, bytes_read};
use crate::ops::explain::{Explained, report};
use crate::shape::Shape;
use std::any::type_name;

/// Products of [`Linalg`]. Errors are those that they report before they read an element.
impl<E: Expr<Elem: Arithmetic + 'static>> Explained<E> {
    /// How [`Linalg::matmul`] would go about it.
    ///
    /// # Errors
    ///
    /// As `matmul`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let a = Tensor::full([2, 3], 1)?;
    /// let turned = a.view().transpose(&[1, 0])?;
    /// let text = a.explained().matmul(&turned)?.to_string();
    /// assert!(text.contains("1 of 2 x 3 times 3 x 2, by own loops"));
    /// assert!(text.contains("operand 1: direct"));
    /// assert!(text.contains("operand 2: copied because its strides are [1, 3]"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn matmul<R: IntoExpr<Elem = E::Elem>>(&self, other: R) -> Result<Explanation> {
        let other = Lazy(other.into_expr());
        let (a, b) = (Lazy(self.0.0.by_ref()), Lazy(other.0.by_ref()));
        self.product(&other, chained(a, b)?)
    }

    /// How [`Linalg::tensordot`] would go about it.
    ///
    /// # Errors
    ///
    /// As `tensordot`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let a = Tensor::full([2, 3, 4], 1.0)?;
    /// let text = a.explained().tensordot(&a, &[(0, 0), (1, 1)])?.to_string();
    /// assert!(text.starts_with("product of f64 [2, 3, 4] and [2, 3, 4] to [4, 4]"));
    /// assert!(text.contains("1 of 4 x 6 times 6 x 4"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn tensordot<R: IntoExpr<Elem = E::Elem>>(
        &self,
        other: R,
        pairs: &[(usize, usize)],
    ) -> Result<Explanation> {
        let other = Lazy(other.into_expr());
        let (a, b) = (Lazy(self.0.0.by_ref()), Lazy(other.0.by_ref()));
        self.product(&other, paired(a, b, pairs)?)
    }

    /// The product with `other`, both as stacks of matrices, to this shape.
    fn product<R, A, B>(
        &self,
        other: &Lazy<R>,
        (a, b, shape): (Lazy<A>, Lazy<B>, Shape),
    ) -> Result<Explanation>
    where
        R: Expr,
        A: Expr<Elem = E::Elem>,
        B: Expr<Elem = E::Elem>,
    {
        let (how, threads) = stack::explain(&a, &b)?;
        let (left, right, element) = (self.0.shape()?, other.shape()?, type_name::<E::Elem>());
        Ok(report(
            format!("product of {element} {left:?} and {right:?} to {shape:?}"),
            how,
            threads,
            [
                bytes_read(&self.0.0).saturating_add(bytes_read(&other.0)),
                shape.count()?.saturating_mul(size_of::<E::Elem>()),
            ],
        ))
    }
}
