//! A reduction that is not computed yet.

use super::fold;
use super::{Axes, Reducer};
use crate::error::Result;
use crate::expr::Expr;
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::tensor::Tensor;

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
