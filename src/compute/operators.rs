//! Operators of deferred operations.

use super::{Compute, Deferred, Pending};
use crate::dtype::{Arithmetic, Bits, Signed};
use crate::expr::*;

operators! {
    [Lazy Apply Expr Pairs]
    [C: Compute] Deferred<C> => Pending<C>, |x| x.into_expr();
    ['a, C: Compute] &'a Deferred<C> => Pending<&'a C>, |x| x.into_expr();
}

pairs! {
    [Pairs IntoExpr into_expr]
    [] [C: Compute<Elem = T>] Deferred<C>;
    ['a] [C: Compute<Elem = T>] &'a Deferred<C>;
}
