//! Calls of one output as ragged operands.

use super::RaggedCall;
use super::arguments::{RaggedArguments, RaggedMask};
use crate::dtype::Arithmetic;
use crate::error::Result;
use crate::expr::{AddOp, DivOp, Explanation, MulOp, RemOp, SubOp};
use crate::gufunc::{Elementary, Inputs, Single};
use crate::ragged::deferred::{DeferredRagged, PendingRagged, RaggedCompute};
use crate::ragged::expr::{IntoRagged, LazyRagged, PairsRagged};
use crate::ragged::form::Extent;
use crate::ragged::{ApplyRagged, ElementwiseRagged, LanesRagged, ReduceRagged};
use crate::ragged::{Ragged, Stretch, sealed};
use std::ops;

impl<I, O: Single, F, X, M> sealed::Operation for RaggedCall<I, O, F, X, M> {}

impl<I, O, F, X, M> RaggedCompute for RaggedCall<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedMask,
{
    type Elem = O::Elem;

    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(Self::extents(self)?.swap_remove(0))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<O::Elem>>> {
        let (vectors, places) = self.computed(stretch)?;
        places.place(0, O::only(vectors))
    }

    fn explain(&self) -> Result<Explanation> {
        Self::explain(self)
    }
}

impl<I, O, F, X, M> RaggedCall<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedMask,
{
    /// The result as a deferred operation, which has views, operators and all that takes ragged operands.
    pub fn deferred(self) -> DeferredRagged<Self> {
        DeferredRagged::new(self)
    }

    /// The result as an expression.
    pub fn lazy(self) -> LazyRagged<PendingRagged<Self>> {
        self.deferred().lazy()
    }
}

impl<I, O, F, X, M> IntoRagged for RaggedCall<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedMask,
{
    type Elem = O::Elem;
    type Expr = PendingRagged<Self>;

    fn into_ragged_expr(self) -> Self::Expr {
        self.deferred().into_ragged_expr()
    }
}

impl<'a, I, O, F, X, M> IntoRagged for &'a RaggedCall<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedMask,
{
    type Elem = O::Elem;
    type Expr = PendingRagged<&'a RaggedCall<I, O, F, X, M>>;

    fn into_ragged_expr(self) -> Self::Expr {
        DeferredRagged::new(self).into_ragged_expr()
    }
}

impl<T, I, O, F, X, M> PairsRagged<RaggedCall<I, O, F, X, M>> for T
where
    T: Copy + Send + Sync,
    I: Inputs,
    O: Single<Elem = T>,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedMask,
{
    type Expr = PendingRagged<RaggedCall<I, O, F, X, M>>;
    type Divisor = PendingRagged<RaggedCall<I, O, F, X, M>>;

    fn pair(right: RaggedCall<I, O, F, X, M>) -> Self::Expr {
        right.into_ragged_expr()
    }

    fn divisor(right: RaggedCall<I, O, F, X, M>) -> Self::Divisor {
        right.into_ragged_expr()
    }
}

/// Implements traits for calls of one output.
macro_rules! for_calls {
    ($($Trait:ident)*) => { $(
        impl<I, O, F, X, M> $Trait for RaggedCall<I, O, F, X, M>
        where
            I: Inputs,
            O: Single,
            F: Elementary<I, O>,
            X: RaggedArguments<I>,
            M: RaggedMask,
        {
        }
    )* };
}
for_calls!(ElementwiseRagged LanesRagged ReduceRagged);

/// Operators with a call on the left.
macro_rules! binary {
    ($($Op:ident: $Trait:ident $method:ident $Right:ident;)*) => { $(
        impl<I, O, F, X, M, R> ops::$Trait<R> for RaggedCall<I, O, F, X, M>
        where
            I: Inputs,
            O: Single<Elem: Arithmetic + PairsRagged<R>>,
            F: Elementary<I, O>,
            X: RaggedArguments<I>,
            M: RaggedMask,
        {
            type Output = LazyRagged<
                ApplyRagged<$Op, (LazyRagged<PendingRagged<Self>>, <O::Elem as PairsRagged<R>>::$Right)>,
            >;

            fn $method(self, right: R) -> Self::Output {
                self.lazy().$method(right)
            }
        }
    )* };
}
binary! {
    AddOp: Add add Expr;
    SubOp: Sub sub Expr;
    MulOp: Mul mul Expr;
    DivOp: Div div Divisor;
    RemOp: Rem rem Expr;
}
