//! Calls of one output as operands.

use super::arguments::Held;
use super::call::{Call, Single};
use super::elementary::{Elementary, Inputs, Outputs};
use crate::compute::{Deferred, Pending};
use crate::dtype::{Arithmetic, Bits, Real, Signed};
#[cfg(doc)]
use crate::error::Error;
use crate::expr::*;
use crate::ops::compare::comparisons;
use crate::ops::diff::Diff;
use crate::ops::indexing::Indexing;
use crate::ops::lanes::Lanes;
use crate::ops::linalg::Linalg;
use crate::ops::reduce::Reduce;
use crate::ops::rolling::Rolling;
use crate::ops::scan::Scan;
use crate::ops::segments::Segments;
use crate::ops::stencil::Stencil;

impl<I, O, F, X, M> IntoExpr for Call<I, O, F, X, M>
where
    I: Inputs,
    O: Single,
    F: Elementary<I, O>,
    X: Held<I>,
    M: Expr<Elem = bool>,
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
    M: Expr<Elem = bool>,
{
    type Elem = O::Elem;
    type Expr = Pending<&'a Call<I, O, F, X, M>>;

    fn into_expr(self) -> Self::Expr {
        Deferred::new(self).into_expr()
    }
}

/// Implements traits for calls of one output.
macro_rules! for_calls {
    ($($Trait:ident [$($bounds:tt)*])*) => { $(
        impl<I, O: Outputs, F, X, M> $Trait for Call<I, O, F, X, M> where Self: IntoExpr $($bounds)* {}
        impl<I, O: Outputs, F, X, M> $Trait for &Call<I, O, F, X, M> where Self: IntoExpr $($bounds)* {}
    )* };
}
for_calls! {
    Elementwise [] Pieces [] Reduce [] Lanes [] Scan [] Rolling [] Segments [] Indexing [] Diff [] Stencil []
    Linalg [<Elem: Arithmetic + 'static>]
}

comparisons!(
    [I: Inputs, O: Single, F: Elementary<I, O>, H: Held<I>, M: Expr<Elem = bool>]
        Call<I, O, F, H, M>, O::Elem
);

operators! {
    [Lazy Apply Expr Pairs]
    [I: Inputs, O: Single, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>]
        Call<I, O, F, X, M> => Pending<Call<I, O, F, X, M>>, |x| x.into_expr();
    ['a, I: Inputs, O: Single, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>]
        &'a Call<I, O, F, X, M> => Pending<&'a Call<I, O, F, X, M>>, |x| x.into_expr();
}

pairs! {
    [Pairs IntoExpr into_expr]
    [] [I: Inputs, O: Single<Elem = T>, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>]
        Call<I, O, F, X, M>;
    ['a] [I: Inputs, O: Single<Elem = T>, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>]
        &'a Call<I, O, F, X, M>;
}
