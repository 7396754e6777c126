//! Folds as methods of ragged operands.

use super::deferred::DeferredRagged;
use super::expr::IntoRagged;
use super::reduce::{RaggedFold, RaggedReduction};
use crate::ops::reduce::{
    All, Any, ArgMax, ArgMin, CountNonzero, IntoAxes, LogSumExp, Max, Mean, Min, Norm, PeakToPeak,
    Product, Reducer, SkipNan, StandardDeviation, Sum, Variance,
};

macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident: $Reducer:ty = $value:expr;)*) => {
        /// Folds of ragged tensors and expressions as methods. Each is lazy, and fused with the expression it folds.
        ///
        /// Axes may be any of those at the end, a var axis before fixed ones, fixed axes behind the last var axis, or one
        /// fixed axis in front of var ones: item `j` of the result then folds the rows that have one. A row has the bits
        /// of the dense fold of its elements.
        ///
        /// Errors are those of dense folds, `RaggedAxes` for other axes and `EmptyRow` with the first row without items.
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
        /// assert_eq!(r.sum(1).eval()?.to_string(), "[6, 0, 4]");
        /// assert_eq!(r.sum(0).eval()?.to_string(), "[5, 2, 3]");
        /// assert_eq!(r.max(1).or(-1).keepdims().eval()?.to_string(), "[[3], [-1], [4]]");
        /// assert_eq!(
        ///     r.max(1).eval().unwrap_err().to_string(),
        ///     "row [1] of axis 1 has no items, and there is no result for none"
        /// );
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub trait ReduceRagged: IntoRagged + Sized {
            /// Folds axes by a reducer.
            fn fold<R: Reducer<Self::Elem>>(
                self,
                axes: impl IntoAxes,
                reducer: R,
            ) -> RaggedReduction<Self::Expr, R> {
                let e = self.into_ragged_expr();
                let axes = axes.into_axes();
                DeferredRagged::new(RaggedFold { e, axes, reducer, keepdims: false })
            }

            $(
                $(#[$doc])*
                fn $name(self, axes: impl IntoAxes) -> RaggedReduction<Self::Expr, $Reducer>
                where
                    $Reducer: Reducer<Self::Elem>,
                {
                    self.fold(axes, $value)
                }
            )*
        }
    };
}

folds! {
    /// Sum, 0 of no items; see [`Sum`].
    sum: Sum = Sum;
    /// Product, 1 of no items; see [`Product`].
    prod: Product = Product;
    /// Arithmetic mean.
    mean: Mean = Mean;
    /// Smallest element, NaN if one is.
    min: Min = Min;
    /// Largest element, NaN if one is.
    max: Max = Max;
    /// Largest less smallest.
    ptp: PeakToPeak = PeakToPeak;
    /// Position of the first smallest element among those that are folded to one result.
    argmin: ArgMin = ArgMin;
    /// Position of the first largest element among those that are folded to one result.
    argmax: ArgMax = ArgMax;
    /// Whether some element is true.
    any: Any = Any;
    /// Whether all elements are true.
    all: All = All;
    /// Number of elements that are not 0.
    count_nonzero: CountNonzero = CountNonzero;
    /// Euclidean norm.
    norm: Norm = Norm;
    /// Logarithm of the sum of exponentials.
    logsumexp: LogSumExp = LogSumExp;
    /// Variance, without a correction; see [`RaggedReduction::ddof`](DeferredRagged::ddof).
    var: Variance = Variance::default();
    /// Standard deviation, without a correction; see [`RaggedReduction::ddof`](DeferredRagged::ddof).
    std: StandardDeviation = StandardDeviation::default();
    /// Sum of the elements that are not NaN.
    nan_sum: SkipNan<Sum> = SkipNan(Sum);
    /// Product of the elements that are not NaN.
    nan_prod: SkipNan<Product> = SkipNan(Product);
    /// Arithmetic mean of the elements that are not NaN; NaN if none is.
    nan_mean: SkipNan<Mean> = SkipNan(Mean);
    /// Smallest of the elements that are not NaN; NaN if none is.
    nan_min: SkipNan<Min> = SkipNan(Min);
    /// Largest of the elements that are not NaN; NaN if none is.
    nan_max: SkipNan<Max> = SkipNan(Max);
    /// Position of the first smallest of the elements that are not NaN.
    nan_argmin: SkipNan<ArgMin> = SkipNan(ArgMin);
    /// Position of the first largest of the elements that are not NaN.
    nan_argmax: SkipNan<ArgMax> = SkipNan(ArgMax);
    /// As [`Self::var`], of the elements that are not NaN; NaN if none is.
    nan_var: SkipNan<Variance> = SkipNan(Variance::default());
    /// As [`Self::std`], of the elements that are not NaN; NaN if none is.
    nan_std: SkipNan<StandardDeviation> = SkipNan(StandardDeviation::default());
}

/// Gives a trait of operations to all that they are called on.
macro_rules! for_ragged {
    ($Trait:ident) => {
        impl<S: $crate::Reader> $Trait for &$crate::ragged::Ragged<S> {}
        impl<S: $crate::Reader> $Trait for $crate::ragged::Ragged<&S> {}
        impl<E: $crate::ragged::RaggedExpr> $Trait for $crate::ragged::LazyRagged<E> {}
        impl<E: $crate::ragged::RaggedExpr> $Trait for &$crate::ragged::LazyRagged<E> {}
        impl<C: $crate::ragged::RaggedCompute> $Trait for $crate::ragged::DeferredRagged<C> {}
        impl<C: $crate::ragged::RaggedCompute> $Trait for &$crate::ragged::DeferredRagged<C> {}
    };
}

pub(super) use for_ragged;

for_ragged!(ReduceRagged);
