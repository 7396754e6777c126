//! Reductions: folds along axes, made of pieces.
//!
//! A [`Reducer`] is a fold in pieces; [`Reduce`] has the ones that most programs need as methods, and
//! [`Reduce::fold`] takes any other. A [`Reduction`] is deferred: it is computed by [`Reduction::eval`], block
//! by block, fused with the expression it folds.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::reduce::{ArgMax, Mean};
//! let t = Tensor::from_nested([[1.0, 2.0, 6.0], [3.0, 5.0, 4.0]])?;
//!
//! assert_eq!((&t * 2.0).sum(1).eval()?.to_vec()?, [18.0, 24.0]);
//! let centred = &t - t.mean(1).keepdims();
//! assert_eq!(centred.eval()?.to_vec()?, [-2.0, -1.0, 3.0, -1.0, 1.0, 0.0]);
//!
//! // Several in one pass, of those elements only where a mask is true.
//! let of_large = t.fold(0, (Mean, ArgMax)).filter(t.greater(1.5)).eval()?;
//! assert_eq!(of_large.to_vec()?, [(3.0, 1), (3.5, 1), (5.0, 0)]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Bits
//!
//! How elements are grouped depends on the shape of the operand and the axes alone: results have the same
//! bits with any number of threads, with and without `rayon`, and for any view that has the same elements
//! in the same order. Only which of 0.0 and -0.0, which are equal, is the smallest or largest element may be another for
//! sparse operands than for dense ones.

mod across;
mod along;
mod axes;
mod direct;
mod fold;
mod folding;
mod leaves;
pub(crate) mod loops;
mod modes;
mod reducer;
pub(crate) mod reducers;
mod reduces;
mod reduction;
mod sparse;
mod table;
mod tasks;
mod tree;

pub use axes::{Axes, IntoAxes};
pub use modes::{Accumulate, AxisOrder, Modes};
#[doc(hidden)]
pub use reducer::Padding;
pub use reducer::{Reducer, Undefined, VisitReducer};
pub use reducers::*;
pub(crate) use reduces::reduces;
pub use reduces::{Pair, Paired, Reduces, Refolded};
pub(crate) use reduction::fold_dense;
pub use reduction::{Fold, Reduction};
pub(crate) use table::{fold_methods, named_folds};
pub(crate) use tasks::undefined;
pub(crate) use tree::Pairwise;

use crate::compute::Deferred;
use crate::dtype::Arithmetic;
#[cfg(doc)]
use crate::error::Error;
#[cfg(doc)]
use crate::expr::Lazy;
use crate::expr::{Apply, IntoExpr, MulOp};
use table::folds;

/// The products of two operands.
pub type Products<A, B> = Apply<MulOp, (<A as IntoExpr>::Expr, <B as IntoExpr>::Expr)>;

/// Reductions as methods of tensors and expressions.
///
/// Axes are `..` for all, `1` for one, `[0, 2]` or `0..2` for several, `[]` for none. Nothing is computed before
/// [`Reduction::eval`].
///
/// # Errors
///
/// When they are computed, all of them report [`Error::Axis`] for an axis that the operand has not,
/// [`Error::RepeatedAxis`] for one that is given twice, [`Error::EmptyReduction`] if there is no result for no
/// elements, [`Error::Order`] for several axes of a reducer that is not commutative, [`Error::Overflow`] for the
/// first result that does not fit its type, [`Error::NothingLeft`] for the first of elements that were all left
/// out, [`Error::OutOfMemory`], and what the evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be folded along axes",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these can; a `Ragged` has `ReduceRagged`"
)]
pub trait Reduce: IntoExpr + Sized {
    /// Folds the elements along `axes` with a reducer, or with several at once if it is a tuple of two to six of them.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::{Max, Min};
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(t.fold(0, (Min, Max)).eval()?.to_vec()?, [(1, 3), (2, 4)]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fold<R: Reducer<Self::Elem>>(
        self,
        axes: impl IntoAxes,
        reducer: R,
    ) -> Reduction<Self::Expr, R> {
        Deferred::new(Fold::new(self.into_expr(), axes.into_axes(), reducer))
    }

    named_folds!(folds);

    /// The sum of products with another operand of the same element type, stretched as operators do.
    ///
    /// Products are those of the type of the elements: integers wrap, floats may be infinite. Cast what may not.
    ///
    /// All products count: of a sparse and a dense operand every element is computed, as 0 times infinity is NaN.
    /// [`Tensor::times_dense`](crate::Tensor::times_dense) adds up those of entries alone, in their time.
    ///
    /// NumPy's `dot` of matrices is [`matmul`](crate::linalg::Linalg::matmul). Axes come last, as the other operand comes
    /// first in a product.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
    /// let weights = Tensor::from_vec([2], vec![10.0, 1.0])?;
    /// assert_eq!(t.dot(&weights, 1).eval()?.to_vec()?, [12.0, 34.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "inner")]
    fn dot<X: IntoExpr<Elem = Self::Elem>>(
        self,
        other: X,
        axes: impl IntoAxes,
    ) -> Reduction<Products<Self, X>, Sum>
    where
        Self::Elem: Arithmetic,
        Sum: Reducer<Self::Elem>,
    {
        let products = Apply::new(MulOp, (self.into_expr(), other.into_expr()));
        Deferred::new(Fold::new(products, axes.into_axes(), Sum))
    }

    /// The covariance with another operand; see [`Covariance`]. Axes come last, as in [`Self::dot`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let x = Tensor::from(vec![1.0_f64, 2.0, 3.0]);
    /// let y = Tensor::from(vec![2.0, 4.0, 9.0]);
    /// assert_eq!(x.covariance(&y, ..).ddof(1).item()?, 3.5);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "cov")]
    fn covariance<X: IntoExpr<Elem = Self::Elem>>(
        self,
        other: X,
        axes: impl IntoAxes,
    ) -> Reduction<Paired<Self::Expr, X>, Covariance>
    where
        Covariance: Reducer<(Self::Elem, Self::Elem)>,
    {
        let pairs = Apply::new(Pair, (self.into_expr(), other.into_expr()));
        Deferred::new(Fold::new(pairs, axes.into_axes(), Covariance::default()))
    }
}

crate::compute::for_operands!(Reduce);
