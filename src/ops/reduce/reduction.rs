//! A reduction that is not computed yet.

use super::fold;
use super::{Axes, Filtered, Mapped, Reducer};
use crate::error::Result;
use crate::expr::{Apply, Expr, IntoExpr, Op};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Brings operands together as a tuple.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair;

impl<X: Copy + Send + Sync> Op<X> for Pair {
    type Out = X;

    #[inline(always)]
    fn call(&self, x: X) -> X {
        x
    }
}

/// A fold of an expression along some axes, not yet computed.
///
/// It is no expression itself: its result is a new tensor, to which views and operators apply. What it
/// folds is computed block by block, so a reduction of an expression needs no memory for the operand.
#[derive(Debug, Clone)]
pub struct Reduction<E, R> {
    e: E,
    axes: Axes,
    reducer: R,
    keepdims: bool,
}

impl<E: Expr, R: Reducer<E::Elem>> Reduction<E, R> {
    pub(super) fn new(e: E, axes: Axes, reducer: R) -> Self {
        Self { e, axes, reducer, keepdims: false }
    }

    /// Keeps the reduced axes with extent 1, so that the result aligns with the operand.
    #[must_use]
    pub fn keepdims(self) -> Self {
        Self { keepdims: true, ..self }
    }

    /// Takes only the elements beside which `mask` is true. The others are skipped, whatever they are.
    ///
    /// The mask is stretched as operators do.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// let first_column = Tensor::from_vec([2], vec![true, false])?;
    /// assert_eq!(t.sum(..).filter(&first_column).eval()?.item()?, 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter<M: IntoExpr<Elem = bool>>(
        self,
        mask: M,
    ) -> Reduction<Apply<Pair, (E, M::Expr)>, Filtered<R>> {
        Reduction {
            e: Apply::new(Pair, (self.e, mask.into_expr())),
            axes: self.axes,
            reducer: Filtered(self.reducer),
            keepdims: self.keepdims,
        }
    }

    /// Sends every result through a function, in the same pass.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0, 4.0], [6.0, 8.0]])?;
    /// let lengths = (&t * &t).sum(1).map(f64::sqrt);
    /// assert_eq!(lengths.eval()?.to_vec()?, [5.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn map<U, F>(self, function: F) -> Reduction<E, Mapped<R, F>>
    where
        U: Copy + Send + Sync,
        F: Fn(R::Out) -> U + Send + Sync,
    {
        Reduction {
            e: self.e,
            axes: self.axes,
            reducer: Mapped { reducer: self.reducer, function },
            keepdims: self.keepdims,
        }
    }

    /// Shape of the result.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`](crate::Error::Axis) and [`Error::RepeatedAxis`](crate::Error::RepeatedAxis) for
    /// axes that the operand has not, and the error that the operand carries.
    pub fn shape(&self) -> Result<Shape> {
        let shape = self.e.shape()?;
        let reduced = self.axes.mask(shape.rank())?;
        let axes = shape.iter().zip(&reduced);
        Ok(if self.keepdims {
            axes.map(|(&extent, &reduced)| if reduced { 1 } else { extent }).collect()
        } else {
            axes.filter(|(_, reduced)| !**reduced).map(|(&extent, _)| extent).collect()
        })
    }

    /// Computes the results, in row-major order, into a new tensor.
    ///
    /// # Errors
    ///
    /// What [`Self::shape`] reports; [`Error::EmptyReduction`](crate::Error::EmptyReduction) if there is
    /// no result for no elements; [`Error::Order`](crate::Error::Order) for several axes of a reducer that
    /// is not commutative; [`Error::Overflow`](crate::Error::Overflow) for a result that does not fit its
    /// type; and what evaluating the operand reports.
    pub fn eval(&self) -> Result<Tensor<Vec<R::Out>>> {
        let shape = self.e.shape()?;
        let reduced = self.axes.mask(shape.rank())?;
        let results = fold::fold(&self.e, &shape, &reduced, &self.reducer)?;
        Ok(Tensor::of_parts(AddressMap::row_major(&self.shape()?)?, results))
    }
}
