//! Methods of lanes as tables, for tensors and for ragged rows.

/// Methods that hand an operation on lanes along an axis to `$make`, which gives an `$Along` of it, with their
/// documentation: what a method takes beside the axis, the operation's type, bounds and value, and as an example lists
/// of elements, and arguments with what they give. An operand is lists between `$from` and `$end`; `$read` reads results.
macro_rules! lane_methods {
    (
        $make:ident -> $Along:ident, $uses:literal,
        $t:ident = $from:literal .. $end:literal, $read:literal;
        $(
            $(#[$about:meta])*
            $name:ident $(<$($G:ident),+>)? ($($arg:ident: $A:ty),*) -> $O:ty
            where [$($bounds:tt)*] = $operation:expr,
                $x:tt $([$($more:tt)*])* $(, $with:tt => $y:tt)+;
        )*
    ) => { $(
        $(#[$about])*
        ///
        /// ```
        #[doc = $uses]
        #[doc = concat!(
            "let ", stringify!($t), " = ", $from,
            "vec!", stringify!($x), $(", vec!", stringify!([$($more)*]),)* $end, ";"
        )]
        $(
            #[doc = concat!(
                "assert_eq!(", stringify!($t), ".", stringify!($name), stringify!($with), $read,
                ", ", stringify!($y), ");"
            )]
        )+
        /// # Ok::<(), Error>(())
        /// ```
        fn $name$(<$($G),+>)?(self, axis: usize $(, $arg: $A)*) -> $Along<Self, $O>
        where
            $($bounds)*
        {
            $make(self, axis, $operation)
        }
    )* };
}

/// Quantiles by one rule for NaN as methods, with their documentation: those with one result of each lane are
/// `$Lanes` of `$lanes`, those with several `$Rows` of `$rows`.
macro_rules! quantiles {
    (
        $nan:expr, $lanes:ident -> $Lanes:ident, $rows:ident($axes:ident: $Axes:ty) -> $Rows:ty;
        $(#[$about_one:meta])* $quantile:ident;
        $(#[$about_several:meta])* $quantiles:ident;
        $(#[$about_median:meta])* $median:ident;
    ) => {
        $(#[$about_one])*
        fn $quantile(
            self,
            axes: impl IntoAxes,
            q: f64,
            interpolation: Interpolation,
        ) -> $Lanes<Self, Quantiles>
        where
            Self::Elem: Measure + Sortable,
        {
            $lanes(self, axes, Quantiles::one(q, interpolation, $nan))
        }

        $(#[$about_several])*
        fn $quantiles(
            self,
            $axes: $Axes,
            q: impl AsRef<[f64]>,
            interpolation: Interpolation,
        ) -> $Rows
        where
            Self::Elem: Measure + Sortable,
        {
            $rows(self, $axes, Quantiles::several(q.as_ref(), interpolation, $nan))
        }

        $(#[$about_median])*
        fn $median(self, axes: impl IntoAxes) -> $Lanes<Self, Quantiles>
        where
            Self::Elem: Measure + Sortable,
        {
            self.$quantile(axes, 0.5, Interpolation::Midpoint)
        }
    };
}

pub(crate) use {lane_methods, quantiles};
