//! The folds that have names, for what has them as methods beside dense tensors: windows, segments and ragged rows.

/// Hands a macro what follows its name, and the name and the reducer of each fold. [`Reduce`](super::Reduce) has an
/// example of each.
macro_rules! named_folds {
    ($methods:ident $($with:tt)*) => {
        $methods! {
            $($with)*
            sum: Sum = Sum;
            prod: Product = Product;
            mean: Mean = Mean;
            min: Min = Min;
            max: Max = Max;
            ptp: PeakToPeak = PeakToPeak;
            argmin: ArgMin = ArgMin;
            argmax: ArgMax = ArgMax;
            any: Any = Any;
            all: All = All;
            count_nonzero: CountNonzero = CountNonzero;
            norm: Norm = Norm;
            logsumexp: LogSumExp = LogSumExp;
            var: Variance = Variance::default();
            std: StandardDeviation = StandardDeviation::default();
            nan_sum: SkipNan<Sum> = SkipNan(Sum);
            nan_prod: SkipNan<Product> = SkipNan(Product);
            nan_mean: SkipNan<Mean> = SkipNan(Mean);
            nan_min: SkipNan<Min> = SkipNan(Min);
            nan_max: SkipNan<Max> = SkipNan(Max);
            nan_argmin: SkipNan<ArgMin> = SkipNan(ArgMin);
            nan_argmax: SkipNan<ArgMax> = SkipNan(ArgMax);
            nan_var: SkipNan<Variance> = SkipNan(Variance::default());
            nan_std: SkipNan<StandardDeviation> = SkipNan(StandardDeviation::default());
        }
    };
}

/// Methods that give each fold as a `$Lazy`, for [`named_folds`]: `$of` says what is folded.
macro_rules! fold_methods {
    ($Lazy:ident, $of:literal; $($name:ident: $Reducer:ty = $value:expr;)*) => { $(
        #[doc = concat!("[`Reduce::", stringify!($name), "`](crate::ops::reduce::Reduce::", stringify!($name), ") of ", $of, ".")]
        pub fn $name(self) -> $Lazy<E, $Reducer>
        where
            $Reducer: Reducer<E::Elem>,
        {
            self.fold($value)
        }
    )* };
}

pub(crate) use {fold_methods, named_folds};
