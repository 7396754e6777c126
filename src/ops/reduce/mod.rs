//! Reductions: folds along axes, made of pieces.
//!
//! A [`Reducer`] is a fold in pieces; [`Reduce`] has the ones that most programs need as methods, and
//! [`Reduce::fold`] takes any other. A [`Reduction`] is lazy: it is computed by [`Reduction::eval`], block
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
//!
//! Longer than 400 lines because it is one table of methods.

mod across;
mod along;
mod axes;
mod direct;
mod fold;
mod folding;
pub(crate) mod loops;
mod modes;
mod reducer;
mod reducers;
mod reduces;
mod reduction;
mod sparse;
mod table;
mod tasks;
mod tree;

pub use axes::{Axes, IntoAxes};
pub use modes::{Accumulate, AxisOrder, Modes};
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

/// The products of two operands.
pub type Products<A, B> = Apply<MulOp, (<A as IntoExpr>::Expr, <B as IntoExpr>::Expr)>;

/// Folds with a reducer each as methods, with their documentation.
macro_rules! folds {
    ($($(#[$about:meta])* $name:ident: $Reducer:ty = $value:expr;)*) => { $(
        $(#[$about])*
        fn $name(self, axes: impl IntoAxes) -> Reduction<Self::Expr, $Reducer>
        where
            $Reducer: Reducer<Self::Elem>,
        {
            self.fold(axes, $value)
        }
    )* };
}

/// Reductions as methods of tensors and expressions.
///
/// Axes are `..` for all, `1` for one, `[0, 2]` or `0..2` for several, `[]` for none. Nothing is computed before
/// [`Reduction::eval`]. A tensor is borrowed; `t.lazy()` gives it away.
///
/// When they are computed, all of them report [`Error::Axis`] and [`Error::RepeatedAxis`] for axes that the operand has
/// not, [`Error::EmptyReduction`] if there is no result for no elements, [`Error::Order`] for several axes of a reducer
/// that is not commutative, [`Error::Overflow`] for the first result that does not fit its type,
/// [`Error::NothingLeft`] for the first of elements that were all left out, [`Error::OutOfMemory`], and what the
/// evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be folded along axes",
    note = "`&Tensor`, `Lazy` expressions, deferred operations and references to these can; a `Ragged` has `ReduceRagged`"
)]
pub trait Reduce: IntoExpr + Sized {
    /// Folds the elements along `axes` with a reducer, or with several at once if it is a tuple of them.
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

    /// The sum, added in pairs. Integers are summed exactly; see [`Sum`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// assert_eq!(t.sum(0).eval()?.to_vec()?, [4, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sum(self, axes: impl IntoAxes) -> Reduction<Self::Expr, Sum>
    where
        Sum: Reducer<Self::Elem>,
    {
        self.fold(axes, Sum)
    }

    /// The arithmetic mean; see [`Mean`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 5.0]])?;
    /// assert_eq!(t.mean(0).eval()?.to_vec()?, [2.0, 3.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "average")]
    fn mean(self, axes: impl IntoAxes) -> Reduction<Self::Expr, Mean>
    where
        Mean: Reducer<Self::Elem>,
    {
        self.fold(axes, Mean)
    }

    /// The smallest element, NaN if there is one.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3, 1], [2, 4]])?;
    /// assert_eq!(t.min(1).eval()?.to_vec()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "amin")]
    fn min(self, axes: impl IntoAxes) -> Reduction<Self::Expr, Min>
    where
        Min: Reducer<Self::Elem>,
    {
        self.fold(axes, Min)
    }

    /// The largest element, NaN if there is one.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3, 1], [2, 4]])?;
    /// assert_eq!(t.max(1).eval()?.to_vec()?, [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "amax")]
    fn max(self, axes: impl IntoAxes) -> Reduction<Self::Expr, Max>
    where
        Max: Reducer<Self::Elem>,
    {
        self.fold(axes, Max)
    }

    folds! {
        /// The product. Integers must fit 64 bits; see [`Product`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
        /// assert_eq!(t.prod(1).eval()?.to_vec()?, [2, 12]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "product")]
        prod: Product = Product;

        /// The largest element less the smallest; see [`PeakToPeak`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[3, 1], [2, 9]])?;
        /// assert_eq!(t.ptp(1).to_vec()?, [2, 7]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "peak to peak")]
        ptp: PeakToPeak = PeakToPeak;

        /// Position of the first smallest element in row-major order of the reduced axes, or of the first NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[3, 1], [2, 4]])?;
        /// assert_eq!(t.argmin(1).eval()?.to_vec()?, [1, 0]);
        /// # Ok::<(), Error>(())
        /// ```
        argmin: ArgMin = ArgMin;

        /// Position of the first largest element in row-major order of the reduced axes, or of the first NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[3, 1], [2, 4]])?;
        /// assert_eq!(t.argmax(1).eval()?.to_vec()?, [0, 1]);
        /// # Ok::<(), Error>(())
        /// ```
        argmax: ArgMax = ArgMax;

        /// Whether any element is neither `false` nor 0.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[0, 0], [2, 0]])?;
        /// assert_eq!(t.any(1).eval()?.to_vec()?, [false, true]);
        /// # Ok::<(), Error>(())
        /// ```
        any: Any = Any;

        /// Whether no element is `false` or 0.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1, 0], [2, 3]])?;
        /// assert_eq!(t.all(1).eval()?.to_vec()?, [false, true]);
        /// # Ok::<(), Error>(())
        /// ```
        all: All = All;

        /// How many elements are neither `false` nor 0.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1, 0], [2, 3]])?;
        /// assert_eq!(t.count_nonzero(1).eval()?.to_vec()?, [1, 2]);
        /// # Ok::<(), Error>(())
        /// ```
        count_nonzero: CountNonzero = CountNonzero;

        /// The Euclidean norm: the square root of the sum of squares. Others are `t.fold(axes, NormL1)` and
        /// `t.fold(axes, NormMax)`, see [`NormL1`] and [`NormMax`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[3.0, 4.0], [5.0, 12.0]])?;
        /// assert_eq!(t.norm(1).eval()?.to_vec()?, [5.0, 13.0]);
        /// # Ok::<(), Error>(())
        /// ```
        norm: Norm = Norm;

        /// The logarithm of the sum of exponentials.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]])?;
        /// assert_eq!(t.logsumexp(1).eval()?.to_vec()?, [1000.0 + 2f64.ln(), 0.0]);
        /// # Ok::<(), Error>(())
        /// ```
        logsumexp: LogSumExp = LogSumExp;

        /// As [`Self::sum`], of the elements that are not NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN], [3.0, 4.0]])?;
        /// assert_eq!(t.nan_sum(1).eval()?.to_vec()?, [1.0, 7.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nansum")]
        nan_sum: SkipNan<Sum> = SkipNan(Sum);

        /// As [`Self::prod`], of the elements that are not NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[2.0, f64::NAN], [3.0, 4.0]])?;
        /// assert_eq!(t.nan_prod(1).eval()?.to_vec()?, [2.0, 12.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanprod")]
        nan_prod: SkipNan<Product> = SkipNan(Product);

        /// As [`Self::mean`], of the elements that are not NaN. Of nothing but NaN it is NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN], [3.0, 5.0]])?;
        /// assert_eq!(t.nan_mean(1).eval()?.to_vec()?, [1.0, 4.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanmean")]
        nan_mean: SkipNan<Mean> = SkipNan(Mean);

        /// As [`Self::min`], of the elements that are not NaN. Of nothing but NaN it is NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN], [3.0, 5.0]])?;
        /// assert_eq!(t.nan_min(1).eval()?.to_vec()?, [1.0, 3.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanmin")]
        nan_min: SkipNan<Min> = SkipNan(Min);

        /// As [`Self::max`], of the elements that are not NaN. Of nothing but NaN it is NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN], [3.0, 5.0]])?;
        /// assert_eq!(t.nan_max(1).eval()?.to_vec()?, [1.0, 5.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanmax")]
        nan_max: SkipNan<Max> = SkipNan(Max);

        /// As [`Self::argmin`], of the elements that are not NaN. Where there are none,
        /// [`Error::NothingLeft`](crate::Error::NothingLeft) with the index of the result.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[f64::NAN, 1.0], [3.0, 5.0]])?;
        /// assert_eq!(t.nan_argmin(1).eval()?.to_vec()?, [1, 0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanargmin")]
        nan_argmin: SkipNan<ArgMin> = SkipNan(ArgMin);

        /// As [`Self::argmax`], of the elements that are not NaN. Where there are none,
        /// [`Error::NothingLeft`](crate::Error::NothingLeft) with the index of the result.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[f64::NAN, 1.0], [3.0, 5.0]])?;
        /// assert_eq!(t.nan_argmax(1).eval()?.to_vec()?, [1, 1]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanargmax")]
        nan_argmax: SkipNan<ArgMax> = SkipNan(ArgMax);

        /// The variance: the mean of squared distances from the mean, or with [`Deferred::ddof`] their sum over
        /// `n - ddof`; see [`Variance`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, 3.0], [2.0, 6.0]])?;
        /// assert_eq!(t.var(1).to_vec()?, [1.0, 4.0]);
        /// assert_eq!(t.var(1).ddof(1).to_vec()?, [2.0, 8.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "variance")]
        var: Variance = Variance::default();

        /// The standard deviation: the square root of [`Self::var`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, 3.0], [2.0, 6.0]])?;
        /// assert_eq!(t.std(1).to_vec()?, [1.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        std: StandardDeviation = StandardDeviation::default();

        /// As [`Self::var`], of the elements that are not NaN. Of nothing but NaN it is NaN.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN, 3.0], [2.0, 6.0, f64::NAN]])?;
        /// assert_eq!(t.nan_var(1).to_vec()?, [1.0, 4.0]);
        /// assert_eq!(t.nan_var(1).ddof(1).to_vec()?, [2.0, 8.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanvar")]
        nan_var: SkipNan<Variance> = SkipNan(Variance::default());

        /// The square root of [`Self::nan_var`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, f64::NAN, 3.0], [2.0, 6.0, f64::NAN]])?;
        /// assert_eq!(t.nan_std(1).to_vec()?, [1.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanstd")]
        nan_std: SkipNan<StandardDeviation> = SkipNan(StandardDeviation::default());
    }

    /// The sum of products with another operand of the same element type, stretched as operators do.
    ///
    /// NumPy's `dot` of matrices is [`matmul`](crate::linalg::Linalg::matmul).
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

    /// The covariance with another operand; see [`Covariance`].
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
