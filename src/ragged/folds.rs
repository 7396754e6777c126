//! Folds as methods of ragged operands.

use super::deferred::DeferredRagged;
use super::expr::IntoRagged;
use super::reduce::{ByReducer, RaggedReduction};
use crate::ops::reduce::{
    All, Any, ArgMax, ArgMin, CountNonzero, IntoAxes, LogSumExp, Max, Mean, Min, Norm, PeakToPeak,
    Product, Reducer, SkipNan, StandardDeviation, Sum, Variance, named_folds,
};

macro_rules! of_rows {
    ($($(#[$about:meta])* $name:ident: $Reducer:ty = $value:expr, $x:tt => $y:tt;)*) => {
        /// Folds of ragged tensors and expressions as methods. Each is deferred, and fused with the expression it folds.
        ///
        /// These axes fold, here those of `r`, which is `n * var`, and of `m`, `n * var * 2`:
        ///
        /// - all: `r.sum(..)`;
        /// - one or more at the end: `r.sum(1)`, `m.sum([1, 2])`;
        /// - the last var axis, before fixed ones: `m.sum(1)`;
        /// - fixed axes after the last var axis: `m.sum(2)`;
        /// - one fixed axis in front of var ones: `r.sum(0)`. Item `j` of the result folds item `j` of the rows that
        ///   have one.
        ///
        /// A row has the bits of the dense fold of its elements, unless fixed axes behind it stay and the last of them
        /// has less than 8 indexes.
        ///
        /// # Errors
        ///
        /// When they are computed: those of dense folds, see [`Reduce`](crate::Reduce);
        /// [`Error::RaggedAxes`](crate::Error::RaggedAxes) for other axes, [`Error::EmptyRow`](crate::Error::EmptyRow)
        /// with the first row without items, if the reducer has no result for none.
        ///
        /// ```
        /// use lensor::Tensor;
        /// use lensor::ragged::{Offsets, Ragged, ReduceRagged};
        /// let points = Tensor::from_nested([[1, 2], [3, 4], [5, 6]])?;
        /// let m = Ragged::new([2], Offsets::new(vec![0_u32, 2, 3])?, points)?;
        /// assert_eq!(m.sum(1).eval()?.to_string(), "[[4, 6], [5, 6]]");
        /// assert_eq!(m.sum(2).eval()?.to_string(), "[[3, 7], [11]]");
        /// assert_eq!(m.sum([1, 2]).eval()?.to_string(), "[10, 11]");
        /// # Ok::<(), lensor::Error>(())
        /// ```
        ///
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
        #[diagnostic::on_unimplemented(
            message = "`{Self}` has no rows to fold",
            note = "`&Ragged`, views, `LazyRagged` expressions, deferred operations, calls with one output and references to these have; a dense tensor becomes one by `t.as_ragged()`"
        )]
        pub trait ReduceRagged: IntoRagged + Sized {
            /// Folds axes by a reducer.
            fn fold<R: Reducer<Self::Elem>>(
                self,
                axes: impl IntoAxes,
                reducer: R,
            ) -> RaggedReduction<Self::Expr, R> {
                let (e, axes) = (self.into_ragged_expr(), axes.into_axes());
                DeferredRagged::of_groups(e, axes, ByReducer(reducer))
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
