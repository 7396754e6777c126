//! Reductions: folds along axes, made of pieces.

mod across;
mod along;
mod axes;
mod fold;
mod reducer;
mod reduction;
mod tree;

pub use axes::Axes;
pub use reducer::{Reducer, Undefined};
pub use reduction::Reduction;

use crate::expr::{Expr, IntoExpr, Lazy};
use crate::storage::Reader;
use crate::tensor::Tensor;

/// Reductions as methods of tensors and expressions.
pub trait Reduce: IntoExpr + Sized {
    /// Folds the elements along `axes` with a reducer.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::Sum;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(t.reduce(0, Sum).eval()?.to_vec()?, [4, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn reduce<R: Reducer<Self::Elem>>(
        self,
        axes: impl Into<Axes>,
        reducer: R,
    ) -> Reduction<Self::Expr, R> {
        Reduction::new(self.into_expr(), axes.into(), reducer)
    }
}

impl<S: Reader> Reduce for Tensor<S> {}
impl<S: Reader> Reduce for &Tensor<S> {}
impl<E: Expr> Reduce for Lazy<E> {}
impl<E: Expr> Reduce for &Lazy<E> {}
