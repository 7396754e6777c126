//! The folds that have names, for what has them as methods: operands, windows, segments and ragged rows.

/// Hands a macro what follows its name, and what each fold is, its name and reducer, and as an example the elements of
/// a matrix and what folding its rows gives.
macro_rules! named_folds {
    ($methods:ident $($with:tt)*) => {
        $methods! {
            $($with)*
            /// The sum, added in pairs. Integers are summed exactly, to `i64` or `u64`; see [`Sum`].
            sum: Sum = Sum, [[1_i64, 2], [3, 4]] => [3, 7];
            /// The product. Integers must fit 64 bits; see [`Product`].
            #[doc(alias = "product")]
            prod: Product = Product, [[1_i64, 2], [3, 4]] => [2, 12];
            /// The arithmetic mean, of integers in `f64`; see [`Mean`].
            #[doc(alias = "average")]
            mean: Mean = Mean, [[1.0, 2.0], [3.0, 5.0]] => [1.5, 4.0];
            /// The smallest element, NaN if there is one.
            #[doc(alias = "amin")]
            min: Min = Min, [[3, 1], [2, 4]] => [1, 2];
            /// The largest element, NaN if there is one.
            #[doc(alias = "amax")]
            max: Max = Max, [[3, 1], [2, 4]] => [3, 4];
            /// The largest element less the smallest; see [`PeakToPeak`].
            #[doc(alias = "peak to peak")]
            ptp: PeakToPeak = PeakToPeak, [[3, 1], [2, 9]] => [2, 7];
            /// Position of the first smallest element in row-major order of the reduced axes, or of the first NaN.
            argmin: ArgMin = ArgMin, [[3, 1], [2, 4]] => [1, 0];
            /// Position of the first largest element in row-major order of the reduced axes, or of the first NaN.
            argmax: ArgMax = ArgMax, [[3, 1], [2, 4]] => [0, 1];
            /// Whether any element is neither `false` nor 0.
            any: Any = Any, [[0, 0], [2, 0]] => [false, true];
            /// Whether no element is `false` or 0.
            all: All = All, [[1, 0], [2, 3]] => [false, true];
            /// How many elements are neither `false` nor 0.
            count_nonzero: CountNonzero = CountNonzero, [[1, 0], [2, 3]] => [1, 2];
            /// The Euclidean norm: the square root of the sum of squares. Others are `t.fold(axes, NormL1)` and
            /// `t.fold(axes, NormMax)`, see [`NormL1`] and [`NormMax`].
            norm: Norm = Norm, [[3.0, 4.0], [5.0, 12.0]] => [5.0, 13.0];
            /// The logarithm of the sum of exponentials.
            logsumexp: LogSumExp = LogSumExp,
                [[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]] => [1000.0 + 2f64.ln(), 0.0];
            /// The variance: the mean of squared distances from the mean, or with [`Deferred::ddof`] their sum over
            /// `n - ddof`; see [`Variance`].
            #[doc(alias = "variance")]
            var: Variance = Variance::default(), [[1.0, 3.0], [2.0, 6.0]] => [1.0, 4.0];
            /// The standard deviation: the square root of [`Self::var`].
            std: StandardDeviation = StandardDeviation::default(),
                [[1.0, 3.0], [2.0, 6.0]] => [1.0, 2.0];
            /// As [`Self::sum`], of the elements that are not NaN.
            #[doc(alias = "nansum")]
            nan_sum: SkipNan<Sum> = SkipNan(Sum), [[1.0, f64::NAN], [3.0, 4.0]] => [1.0, 7.0];
            /// As [`Self::prod`], of the elements that are not NaN.
            #[doc(alias = "nanprod")]
            nan_prod: SkipNan<Product> = SkipNan(Product),
                [[2.0, f64::NAN], [3.0, 4.0]] => [2.0, 12.0];
            /// As [`Self::mean`], of the elements that are not NaN. Of nothing but NaN it is NaN.
            #[doc(alias = "nanmean")]
            nan_mean: SkipNan<Mean> = SkipNan(Mean), [[1.0, f64::NAN], [3.0, 5.0]] => [1.0, 4.0];
            /// As [`Self::min`], of the elements that are not NaN. Of nothing but NaN it is NaN.
            #[doc(alias = "nanmin")]
            nan_min: SkipNan<Min> = SkipNan(Min), [[1.0, f64::NAN], [3.0, 5.0]] => [1.0, 3.0];
            /// As [`Self::max`], of the elements that are not NaN. Of nothing but NaN it is NaN.
            #[doc(alias = "nanmax")]
            nan_max: SkipNan<Max> = SkipNan(Max), [[1.0, f64::NAN], [3.0, 5.0]] => [1.0, 5.0];
            /// As [`Self::argmin`], of the elements that are not NaN. Where there are none,
            /// [`Error::NothingLeft`](crate::Error::NothingLeft) with the index of the result.
            #[doc(alias = "nanargmin")]
            nan_argmin: SkipNan<ArgMin> = SkipNan(ArgMin), [[f64::NAN, 1.0], [3.0, 5.0]] => [1, 0];
            /// As [`Self::argmax`], of the elements that are not NaN. Where there are none,
            /// [`Error::NothingLeft`](crate::Error::NothingLeft) with the index of the result.
            #[doc(alias = "nanargmax")]
            nan_argmax: SkipNan<ArgMax> = SkipNan(ArgMax), [[f64::NAN, 1.0], [3.0, 5.0]] => [1, 1];
            /// As [`Self::var`], of the elements that are not NaN. Of nothing but NaN it is NaN.
            #[doc(alias = "nanvar")]
            nan_var: SkipNan<Variance> = SkipNan(Variance::default()),
                [[1.0, f64::NAN, 3.0], [2.0, 6.0, f64::NAN]] => [1.0, 4.0];
            /// The square root of [`Self::nan_var`].
            #[doc(alias = "nanstd")]
            nan_std: SkipNan<StandardDeviation> = SkipNan(StandardDeviation::default()),
                [[1.0, f64::NAN, 3.0], [2.0, 6.0, f64::NAN]] => [1.0, 2.0];
        }
    };
}

/// Methods of [`Reduce`](super::Reduce), with their documentation, for [`named_folds`].
macro_rules! folds {
    ($($(#[$about:meta])* $name:ident: $Reducer:ty = $value:expr, $x:tt => $y:tt;)*) => { $(
        $(#[$about])*
        ///
        /// ```
        /// use lensor::prelude::*;
        #[doc = concat!("let t = Tensor::from_nested(", stringify!($x), ")?;")]
        #[doc = concat!("assert_eq!(t.", stringify!($name), "(1).to_vec()?, ", stringify!($y), ");")]
        /// # Ok::<(), Error>(())
        /// ```
        fn $name(self, axes: impl IntoAxes) -> Reduction<Self::Expr, $Reducer>
        where
            $Reducer: Reducer<Self::Elem>,
        {
            self.fold(axes, $value)
        }
    )* };
}

/// Methods that give each fold as a `$Lazy`, for [`named_folds`]: `$of` says what is folded.
macro_rules! fold_methods {
    (
        $Lazy:ident, $of:literal;
        $($(#[$about:meta])* $name:ident: $Reducer:ty = $value:expr, $x:tt => $y:tt;)*
    ) => { $(
        #[doc = concat!("[`Reduce::", stringify!($name), "`](crate::ops::reduce::Reduce::", stringify!($name), ") of ", $of, ".")]
        pub fn $name(self) -> $Lazy<E, $Reducer>
        where
            $Reducer: Reducer<E::Elem>,
        {
            self.fold($value)
        }
    )* };
}

pub(super) use folds;
pub(crate) use {fold_methods, named_folds};
