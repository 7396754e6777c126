//! Calls of one output as operands.

use super::arguments::{Held, MaskOperand};
use super::call::{Call, Single};
use super::elementary::{Elementary, Inputs};
use crate::compute::{Deferred, Pending};
use crate::dtype::Arithmetic;
use crate::expr::{
    AddOp, Apply, DivOp, Elementwise, IntoExpr, Lazy, MulOp, Pairs, Pieces, RemOp, SubOp,
};
use crate::ops::diff::Diff;
use crate::ops::indexing::Indexing;
use crate::ops::lanes::Lanes;
use crate::ops::reduce::Reduce;
use crate::ops::rolling::Rolling;
use crate::ops::scan::Scan;
use crate::ops::segments::Segments;
use std::ops;

impl<I, O, F, X, M> IntoExpr for Call<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: Held<I>,
    M: MaskOperand,
{
    type Elem = O::Elem;
    type Expr = Pending<Self>;

    fn into_expr(self) -> Pending<Self> {
        self.deferred().into_expr()
    }
}

impl<'a, I, O, F, X, M> IntoExpr for &'a Call<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: Held<I>,
    M: MaskOperand,
{
    type Elem = O::Elem;
    type Expr = Pending<&'a Call<I, O, F, X, M>>;

    fn into_expr(self) -> Self::Expr {
        Deferred::new(self).into_expr()
    }
}

impl<T, I, O, F, X, M> Pairs<Call<I, O, F, X, M>> for T
where
    T: Copy + Send + Sync,
    I: Inputs,
    O: Single<Elem = T>,
    F: Elementary<I, O>,
    X: Held<I>,
    M: MaskOperand,
{
    type Expr = Pending<Call<I, O, F, X, M>>;
    type Divisor = Pending<Call<I, O, F, X, M>>;

    fn pair(right: Call<I, O, F, X, M>) -> Self::Expr {
        right.into_expr()
    }

    fn divisor(right: Call<I, O, F, X, M>) -> Self::Divisor {
        right.into_expr()
    }
}

/// Implements traits for calls of one output.
macro_rules! for_calls {
    ($($Trait:ident)*) => { $(
        impl<I, O, F, X, M> $Trait for Call<I, O, F, X, M>
        where
            I: Inputs,
            O: Single,
            F: Elementary<I, O>,
            X: Held<I>,
            M: MaskOperand,
        {
        }
    )* };
}
for_calls!(Elementwise Pieces Reduce Lanes Scan Rolling Segments Indexing Diff);

/// Operators with a call on the left.
macro_rules! binary {
    ($($Op:ident: $Trait:ident $method:ident $Right:ident;)*) => { $(
        impl<I, O, F, X, M, R> ops::$Trait<R> for Call<I, O, F, X, M>
        where
            I: Inputs,
            O: Single<Elem: Arithmetic + Pairs<R>>,
            F: Elementary<I, O>,
            X: Held<I>,
            M: MaskOperand,
        {
            type Output = Lazy<Apply<$Op, (Pending<Self>, <O::Elem as Pairs<R>>::$Right)>>;

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
