//! Folds as methods of ragged operands.

use super::deferred::DeferredRagged;
use super::expr::IntoRagged;
use super::reduce::{RaggedFold, RaggedReduction};
use crate::ops::reduce::{
    All, Any, ArgMax, ArgMin, CountNonzero, IntoAxes, LogSumExp, Max, Mean, Min, Norm, PeakToPeak,
    Product, Reducer, SkipNan, StandardDeviation, Sum, Variance, named_folds,
};

macro_rules! of_rows {
    ($($name:ident: $Reducer:ty = $value:expr;)*) => {
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
                #[doc = concat!("[`Reduce::", stringify!($name), "`](crate::ops::reduce::Reduce::", stringify!($name), ") of ragged elements.")]
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

named_folds!(of_rows);

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
