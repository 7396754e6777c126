//! Operators and elementwise functions of ragged operands: the same functions as of dense ones.

use super::Ragged;
use super::apply::ApplyRagged;
use super::deferred::{DeferredRagged, RaggedCompute};
use super::expr::{IntoRagged, LazyRagged, PairsRagged, RaggedExpr};
use crate::dtype::{Arithmetic, Bits, Cast, Order, Real, Signed};
use crate::expr::*;
use crate::storage::Reader;
use std::marker::PhantomData;
use std::ops;

for_numbers!(scalar_operands [PairsRagged IntoRagged into_ragged_expr] numbers);
scalar_operands!([PairsRagged IntoRagged into_ragged_expr] others bool char);

macro_rules! binary {
    ($($Op:ident: $Trait:ident $method:ident, $Bound:ident, $Right:ident $pair:ident;)*) => { $(
        binary!(@left $Op $Trait $method $Bound $Right $pair [S: Reader] Ragged<S>);
        binary!(@left $Op $Trait $method $Bound $Right $pair ['a, S: Reader] &'a Ragged<S>);
        binary!(@left $Op $Trait $method $Bound $Right $pair [E: RaggedExpr] LazyRagged<E>);
        binary!(@left $Op $Trait $method $Bound $Right $pair ['a, E: RaggedExpr] &'a LazyRagged<E>);
        binary!(@left $Op $Trait $method $Bound $Right $pair [C: RaggedCompute] DeferredRagged<C>);
        binary!(@left $Op $Trait $method $Bound $Right $pair ['a, C: RaggedCompute] &'a DeferredRagged<C>);
        for_scalars!($Bound on_the_left $Op $Trait $method);
    )* };
    (@left $Op:ident $Trait:ident $method:ident $Bound:ident $Right:ident $pair:ident [$($generics:tt)*] $Left:ty) => {
        impl<$($generics)*, R> ops::$Trait<R> for $Left
        where
            <$Left as IntoRagged>::Elem: $Bound + PairsRagged<R>,
        {
            type Output = LazyRagged<ApplyRagged<$Op, (
                <$Left as IntoRagged>::Expr,
                <<$Left as IntoRagged>::Elem as PairsRagged<R>>::$Right,
            )>>;

            fn $method(self, right: R) -> Self::Output {
                let right = <<$Left as IntoRagged>::Elem as PairsRagged<R>>::$pair(right);
                LazyRagged(ApplyRagged::new($Op, (self.into_ragged_expr(), right)))
            }
        }
    };
}

macro_rules! on_the_left {
    ($Op:ident $Trait:ident $method:ident $($(#[$cfg:meta])? $type:ty)*) => { $(
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, [S: Reader<Elem = $type>] Ragged<S>);
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, ['a, S: Reader<Elem = $type>] &'a Ragged<S>);
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, [E: RaggedExpr<Elem = $type>] LazyRagged<E>);
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, ['a, E: RaggedExpr<Elem = $type>] &'a LazyRagged<E>);
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, [C: RaggedCompute<Elem = $type>] DeferredRagged<C>);
        on_the_left!(@right $Op $Trait $method [$(#[$cfg])?] $type, ['a, C: RaggedCompute<Elem = $type>] &'a DeferredRagged<C>);
    )* };
    (@right $Op:ident $Trait:ident $method:ident [$(#[$cfg:meta])?] $type:ty, [$($generics:tt)*] $Right:ty) => {
        $(#[$cfg])?
        impl<$($generics)*> ops::$Trait<$Right> for $type {
            type Output = LazyRagged<ApplyRagged<$Op, (Scalar<$type>, <$Right as IntoRagged>::Expr)>>;

            fn $method(self, right: $Right) -> Self::Output {
                LazyRagged(ApplyRagged::new($Op, (Scalar(self), right.into_ragged_expr())))
            }
        }
    };
}

for_binary!(binary);

macro_rules! unary {
    ($($(#[$doc:meta])* $Op:ident: $Trait:ident $method:ident, $Bound:ident $element:ident;)*) => { $(
        unary!(@of $Op $Trait $method $Bound [S: Reader] Ragged<S>);
        unary!(@of $Op $Trait $method $Bound ['a, S: Reader] &'a Ragged<S>);
        unary!(@of $Op $Trait $method $Bound [E: RaggedExpr] LazyRagged<E>);
        unary!(@of $Op $Trait $method $Bound ['a, E: RaggedExpr] &'a LazyRagged<E>);
        unary!(@of $Op $Trait $method $Bound [C: RaggedCompute] DeferredRagged<C>);
        unary!(@of $Op $Trait $method $Bound ['a, C: RaggedCompute] &'a DeferredRagged<C>);
    )* };
    (@of $Op:ident $Trait:ident $method:ident $Bound:ident [$($generics:tt)*] $Of:ty) => {
        impl<$($generics)*> ops::$Trait for $Of
        where
            <$Of as IntoRagged>::Elem: $Bound,
        {
            type Output = LazyRagged<ApplyRagged<$Op, (<$Of as IntoRagged>::Expr,)>>;

            fn $method(self) -> Self::Output {
                LazyRagged(ApplyRagged::new($Op, (self.into_ragged_expr(),)))
            }
        }
    };
}
for_unary!(unary);

type Unary<Op, X> = LazyRagged<ApplyRagged<Op, (<X as IntoRagged>::Expr,)>>;
type Binary<Op, X, R> = LazyRagged<
    ApplyRagged<Op, (<X as IntoRagged>::Expr, <<X as IntoRagged>::Elem as PairsRagged<R>>::Expr)>,
>;
type Ternary<Op, X, A, B> = LazyRagged<
    ApplyRagged<
        Op,
        (
            <X as IntoRagged>::Expr,
            <<X as IntoRagged>::Elem as PairsRagged<A>>::Expr,
            <<X as IntoRagged>::Elem as PairsRagged<B>>::Expr,
        ),
    >,
>;

macro_rules! unary_methods {
    ($($(#[$doc:meta])* $method:ident $Op:ident $Bound:ident::$element:ident -> $Out:ty;)*) => { $(
        $(#[$doc])*
        #[allow(clippy::wrong_self_convention, reason = "an expression takes its operands")]
        fn $method(self) -> Unary<$Op, Self>
        where
            Self::Elem: $Bound,
        {
            LazyRagged(ApplyRagged::new($Op, (self.into_ragged_expr(),)))
        }
    )* };
}

macro_rules! binary_methods {
    ($($(#[$doc:meta])* $method:ident $Op:ident [$($Bound:tt)+] |$a:ident, $b:ident| $body:expr => $Out:ty;)*) => { $(
        $(#[$doc])*
        fn $method<R>(self, other: R) -> Binary<$Op, Self, R>
        where
            Self::Elem: $($Bound)+ + PairsRagged<R>,
        {
            let other = <Self::Elem as PairsRagged<R>>::pair(other);
            LazyRagged(ApplyRagged::new($Op, (self.into_ragged_expr(), other)))
        }
    )* };
}

/// Elementwise functions of ragged tensors and expressions: those of [`Elementwise`]. Each is lazy.
///
/// ```
/// use lensor::ragged::{ElementwiseRagged, Ragged};
/// let r = Ragged::from_nested(vec![vec![1.0, 4.0], vec![9.0]])?;
/// assert_eq!(r.sqrt().eval()?.to_string(), "[[1, 2], [3]]");
/// assert_eq!(r.minimum(5.0).eval()?.to_string(), "[[1, 4], [5]]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub trait ElementwiseRagged: IntoRagged + Sized {
    elementwise_table!(unary_methods binary_methods);

    /// Any function of one operand. A panic in the closure reaches the caller of the evaluation.
    fn map<U, F>(self, f: F) -> LazyRagged<ApplyRagged<MapOp<F>, (Self::Expr,)>>
    where
        U: Copy + Send + Sync,
        F: Fn(Self::Elem) -> U + Send + Sync,
    {
        LazyRagged(ApplyRagged::new(MapOp(f), (self.into_ragged_expr(),)))
    }

    /// Elements held between two bounds, NaN if any of the three is.
    fn clamp<A, B>(self, low: A, high: B) -> Ternary<ClampOp, Self, A, B>
    where
        Self::Elem: Order + PairsRagged<A> + PairsRagged<B>,
    {
        let low = <Self::Elem as PairsRagged<A>>::pair(low);
        let high = <Self::Elem as PairsRagged<B>>::pair(high);
        LazyRagged(ApplyRagged::new(ClampOp, (self.into_ragged_expr(), low, high)))
    }

    /// Conversion of the elements, checked: see [`Elementwise::cast`].
    fn cast<U>(self) -> Unary<CastOp<U>, Self>
    where
        Self::Elem: Cast<U>,
        U: Copy + Send + Sync,
    {
        LazyRagged(ApplyRagged::new(CastOp(PhantomData), (self.into_ragged_expr(),)))
    }
}

super::reduce::for_ragged!(ElementwiseRagged);
