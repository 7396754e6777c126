//! Macros that give a kind of operand its operators and functions, and let it stand beside elements: one set for dense
//! and ragged operands. What there is of each is in `tables`.

/// Operators of operands of one family, `[wrapper, application, trait of expressions, pairs]`: each of `for_binary` and
/// `for_unary`, and scalars on the left. An operand has generics, a type, the expression it becomes, and how.
macro_rules! operators {
    ($family:tt $($operand:tt)*) => {
        for_binary!(binary_operators $family [$($operand)*]);
        for_unary!(unary_operators $family [$($operand)*]);
    };
}

macro_rules! binary_operators {
    ($family:tt $operands:tt $($Op:ident: $Trait:ident $method:ident, $Bound:ident, $Right:ident $pair:ident;)*) => { $(
        binary_operators!(@each $family $operands $Op $Trait $method $Bound $Right $pair);
        for_scalars!($Bound scalar_operators $family $operands $Op $Trait $method);
    )* };
    (
        @each [$Lazy:ident $Apply:ident $Expr:ident $Pairs:ident]
        [$([$($generics:tt)*] $Left:ty => $Of:ty, |$x:ident| $of:expr;)*]
        $Op:ident $Trait:ident $method:ident $Bound:ident $Right:ident $pair:ident
    ) => { $(
        impl<$($generics)*, R> std::ops::$Trait<R> for $Left
        where
            <$Of as $Expr>::Elem: $Bound + $Pairs<R>,
        {
            type Output = $Lazy<$Apply<$Op, ($Of, <<$Of as $Expr>::Elem as $Pairs<R>>::$Right)>>;

            #[inline]
            fn $method(self, right: R) -> Self::Output {
                let $x = self;
                $Lazy($Apply::new($Op, ($of, <<$Of as $Expr>::Elem as $Pairs<R>>::$pair(right))))
            }
        }
    )* };
}

macro_rules! scalar_operators {
    ($family:tt $operands:tt $Op:ident $Trait:ident $method:ident $($(#[$cfg:meta])? $type:ty)*) => { $(
        $(#[$cfg])?
        scalar_operators!(@each $family $operands $Op $Trait $method $type);
    )* };
    (
        @each [$Lazy:ident $Apply:ident $Expr:ident $Pairs:ident]
        [$([$($generics:tt)*] $Right:ty => $Of:ty, |$x:ident| $of:expr;)*]
        $Op:ident $Trait:ident $method:ident $type:ty
    ) => { $(
        impl<$($generics)*> std::ops::$Trait<$Right> for $type
        where
            $Of: $Expr<Elem = $type>,
        {
            type Output = $Lazy<$Apply<$Op, (Scalar<$type>, $Of)>>;

            fn $method(self, $x: $Right) -> Self::Output {
                $Lazy($Apply::new($Op, (Scalar(self), $of)))
            }
        }
    )* };
}

macro_rules! unary_operators {
    ($family:tt $operands:tt $($(#[$doc:meta])* $Op:ident: $Trait:ident $method:ident, $Bound:ident $element:ident;)*) => { $(
        unary_operators!(@each $family $operands $Op $Trait $method $Bound);
    )* };
    (
        @each [$Lazy:ident $Apply:ident $Expr:ident $Pairs:ident]
        [$([$($generics:tt)*] $Operand:ty => $Of:ty, |$x:ident| $of:expr;)*]
        $Op:ident $Trait:ident $method:ident $Bound:ident
    ) => { $(
        impl<$($generics)*> std::ops::$Trait for $Operand
        where
            <$Of as $Expr>::Elem: $Bound,
        {
            type Output = $Lazy<$Apply<$Op, ($Of,)>>;

            fn $method(self) -> Self::Output {
                let $x = self;
                $Lazy($Apply::new($Op, ($of,)))
            }
        }
    )* };
}

/// Operators that change their left side, `[type, pairs]`, of methods that do it and return errors.
macro_rules! assignment_operators {
    (
        [$Type:ident $Pairs:ident]
        $($Op:ident: $Trait:ident $method:ident $try_method:ident, $Bound:ident $sign:literal;)*
    ) => { $(
        impl<W: Writer, R> std::ops::$Trait<R> for $Type<W>
        where
            W::Elem: $Bound + $Pairs<R>,
        {
            #[doc = concat!("[`", stringify!($Type), "::", stringify!($try_method), "`], which returns errors instead.")]
            ///
            /// # Panics
            ///
            /// Panics where that function returns an error.
            #[track_caller]
            fn $method(&mut self, right: R) {
                if let Err(error) = self.$try_method(right) {
                    panic!("{error}");
                }
            }
        }
    )* };
}

/// What stands beside elements of its own type, as the expression it becomes; of one family, `[pairs, trait of operands,
/// its method]`.
macro_rules! pairs {
    (
        [$Pairs:ident $Into:ident $into:ident]
        $([$($lifetime:lifetime)?] [$($generics:tt)*] $type:ty;)*
    ) => { $(
        #[diagnostic::do_not_recommend]
        impl<$($lifetime,)? T: Copy + Send + Sync, $($generics)*> $Pairs<$type> for T
        where
            $type: $Into<Elem = T>,
        {
            type Expr = <$type as $Into>::Expr;
            type Divisor = <$type as $Into>::Expr;

            fn pair(right: $type) -> Self::Expr {
                right.$into()
            }

            fn divisor(right: $type) -> Self::Divisor {
                right.$into()
            }
        }
    )* };
}

/// Numbers beside elements of their own type, for operands of one kind.
macro_rules! scalar_operands {
    ([$Pairs:ident $Into:ident $into:ident] $divisor:ident $($(#[$cfg:meta])? $type:ty)*) => { $(
        $(#[$cfg])?
        #[diagnostic::do_not_recommend]
        impl $Pairs<$type> for $type {
            type Expr = Scalar<$type>;
            type Divisor = scalar_operands!(@$divisor $type);

            fn pair(right: $type) -> Scalar<$type> {
                Scalar(right)
            }

            fn divisor(right: $type) -> Self::Divisor {
                Scalar(right.into())
            }
        }

        $(#[$cfg])?
        impl $Into for $type {
            type Elem = $type;
            type Expr = Scalar<$type>;

            fn $into(self) -> Scalar<$type> {
                Scalar(self)
            }
        }
    )* };
    (@numbers $type:ty) => { Scalar<$crate::dtype::Divisor<$type>> };
    (@others $type:ty) => { Scalar<$type> };
}

/// Elementwise functions as methods of a trait of operands, `[wrapper, application, that trait, its method, pairs]`.
macro_rules! elementwise_methods {
    ($family:tt) => {
        elementwise_table!(unary_methods binary_methods $family);
        checked_table!(binary_methods $family);
        elementwise_methods!(@others $family);
    };
    (@others [$Lazy:ident $Apply:ident $Into:ident $into:ident $Pairs:ident]) => {
        /// Any function of one operand. A panic in the closure reaches the caller of the evaluation. Of a sparse operand
        /// it may be called with the fill value, even if no element has that.
        ///
        /// It serves for what has no method of its own, such as `t.map(f64::to_degrees)`; for functions of two operands
        /// there is [`zip_with`](crate::zip_with).
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![1, 4]);
        /// assert_eq!(t.map(|x| x > 2).to_vec()?, [false, true]);
        /// assert_eq!(t.cast::<f64>().map(f64::to_radians).to_vec()?[0], 1_f64.to_radians());
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "mapv")]
        #[doc(alias = "vectorize")]
        fn map<U, F>(self, f: F) -> $Lazy<$Apply<MapOp<F>, (Self::Expr,)>>
        where
            U: Copy + Send + Sync,
            F: Fn(Self::Elem) -> U + Send + Sync,
        {
            $Lazy($Apply::new(MapOp(f), (self.$into(),)))
        }

        /// Elements held between two bounds, NaN if any of the three is.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![-3, 4, 90]);
        /// assert_eq!(t.clamp(0, 9).to_vec()?, [0, 4, 9]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "clip")]
        fn clamp<A, B>(
            self,
            low: A,
            high: B,
        ) -> $Lazy<$Apply<
            ClampOp,
            (Self::Expr, <Self::Elem as $Pairs<A>>::Expr, <Self::Elem as $Pairs<B>>::Expr),
        >>
        where
            Self::Elem: Order + $Pairs<A> + $Pairs<B>,
        {
            let low = <Self::Elem as $Pairs<A>>::pair(low);
            let high = <Self::Elem as $Pairs<B>>::pair(high);
            $Lazy($Apply::new(ClampOp, (self.$into(), low, high)))
        }

        /// `self * factor + summand`, rounded once.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![1.0, 2.0]);
        /// assert_eq!(t.mul_add(10.0, &t).to_vec()?, [11.0, 22.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "fma")]
        fn mul_add<A, B>(
            self,
            factor: A,
            summand: B,
        ) -> $Lazy<$Apply<
            MulAddOp,
            (Self::Expr, <Self::Elem as $Pairs<A>>::Expr, <Self::Elem as $Pairs<B>>::Expr),
        >>
        where
            Self::Elem: Real + $Pairs<A> + $Pairs<B>,
        {
            let factor = <Self::Elem as $Pairs<A>>::pair(factor);
            let summand = <Self::Elem as $Pairs<B>>::pair(summand);
            $Lazy($Apply::new(MulAddOp, (self.$into(), factor, summand)))
        }

        /// A whole power, by repeated squaring; integers wrap, and negative powers are `1 / x^n`, of integers
        /// `(1 / x)^n`: 0 but for 1 and -1.
        ///
        /// A negative power of an integer 0 is [`Error::Arithmetic`](crate::Error::Arithmetic) with its index, when it
        /// is computed.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![2.0, -3.0]);
        /// assert_eq!((t.powi(3).to_vec()?, t.powi(-1).to_vec()?[0]), (vec![8.0, -27.0], 0.5));
        /// let whole = Tensor::from(vec![1, 0]);
        /// assert_eq!(whole.powi(-1).to_vec().unwrap_err(), Error::Arithmetic { index: vec![1] });
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "power")]
        #[doc(alias = "pow")]
        fn powi(self, exponent: i32) -> $Lazy<$Apply<PowiOp, (Self::Expr, $crate::expr::Scalar<i32>)>>
        where
            Self::Elem: Arithmetic,
        {
            $Lazy($Apply::new(PowiOp, (self.$into(), $crate::expr::Scalar(exponent))))
        }

        /// Conversion of the elements, checked: an element that `U` cannot hold is
        /// [`Error::Cast`](crate::Error::Cast), which names it and its index. Floats round: what is too large for a
        /// narrower one becomes infinite.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![1.0, 300.0]);
        /// assert_eq!(t.cast::<u16>().to_vec()?, [1, 300]);
        /// assert!(t.cast::<u8>().to_vec().is_err());
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "astype")]
        fn cast<U>(self) -> $Lazy<$Apply<CastOp<U>, (Self::Expr,)>>
        where
            Self::Elem: Cast<U>,
            U: Copy + Send + Sync,
        {
            $Lazy($Apply::new(CastOp(PhantomData), (self.$into(),)))
        }

        /// Conversion of the elements as Rust's `as` does it, NaN to 0.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![1.5, 300.0, f64::NAN]);
        /// assert_eq!(t.cast_unchecked::<u8>().to_vec()?, [1, 255, 0]);
        /// # Ok::<(), Error>(())
        /// ```
        fn cast_unchecked<U>(self) -> $Lazy<$Apply<CastUncheckedOp<U>, (Self::Expr,)>>
        where
            Self::Elem: Cast<U>,
            U: Copy + Send + Sync,
        {
            $Lazy($Apply::new(CastUncheckedOp(PhantomData), (self.$into(),)))
        }
    };
}

macro_rules! unary_methods {
    (
        [$Lazy:ident $Apply:ident $Into:ident $into:ident $Pairs:ident]
        $(
            $(#[$doc:meta])* $method:ident $Op:ident $Bound:ident::$element:ident -> $Out:ty,
            [$($x:tt)*] => [$($y:tt)*];
        )*
    ) => { $(
        $(#[$doc])*
        ///
        /// ```
        /// use lensor::prelude::*;
        #[doc = concat!("let t = Tensor::from_nested([", stringify!($($x)*), "])?;")]
        #[doc = concat!("assert_eq!(t.", stringify!($method), "().to_vec()?, [", stringify!($($y)*), "]);")]
        /// # Ok::<(), Error>(())
        /// ```
        #[allow(clippy::wrong_self_convention, reason = "an expression takes its operands")]
        fn $method(self) -> $Lazy<$Apply<$Op, (Self::Expr,)>>
        where
            Self::Elem: $Bound,
        {
            $Lazy($Apply::new($Op, (self.$into(),)))
        }
    )* };
}

macro_rules! binary_methods {
    (
        [$Lazy:ident $Apply:ident $Into:ident $into:ident $Pairs:ident]
        $(
            $(#[$doc:meta])* $method:ident $Op:ident [$($Bound:tt)+] |$a:ident, $b:ident| $body:expr => $Out:ty,
            [$($x:tt)*] $other:literal => [$($y:tt)*];
        )*
    ) => { $(
        $(#[$doc])*
        ///
        /// ```
        /// use lensor::prelude::*;
        #[doc = concat!("let t = Tensor::from_nested([", stringify!($($x)*), "])?;")]
        #[doc = concat!("let found = t.", stringify!($method), "(", stringify!($other), ");")]
        #[doc = concat!("assert_eq!(found.to_vec()?, [", stringify!($($y)*), "]);")]
        /// # Ok::<(), Error>(())
        /// ```
        fn $method<R>(self, other: R) -> $Lazy<$Apply<$Op, (Self::Expr, <Self::Elem as $Pairs<R>>::Expr)>>
        where
            Self::Elem: $($Bound)+ + $Pairs<R>,
        {
            $Lazy($Apply::new($Op, (self.$into(), <Self::Elem as $Pairs<R>>::pair(other))))
        }
    )* };
}

pub(crate) use {
    assignment_operators, binary_methods, binary_operators, elementwise_methods, operators, pairs,
    scalar_operands, scalar_operators, unary_methods, unary_operators,
};
