//! Operators and elementwise functions of ragged operands: the same functions as of dense ones.

use super::Ragged;
use super::apply::ApplyRagged;
use super::deferred::{DeferredRagged, PendingRagged, RaggedCompute};
use super::expr::{IntoRagged, LazyRagged, PairsRagged, RaggedExpr};
use crate::dtype::{Arithmetic, Bits, Cast, Order, Real, Signed};
use crate::expr::*;
use crate::storage::Reader;
use std::marker::PhantomData;

for_numbers!(scalar_operands [PairsRagged IntoRagged into_ragged_expr] numbers);
scalar_operands!([PairsRagged IntoRagged into_ragged_expr] others bool char);

operators! {
    [LazyRagged ApplyRagged RaggedExpr PairsRagged]
    [S: Reader] Ragged<S> => Ragged<S>, |x| x;
    ['a, S: Reader] &'a Ragged<S> => Ragged<&'a S>, |x| x.into_ragged_expr();
    [E: RaggedExpr] LazyRagged<E> => E, |x| x.0;
    ['a, E: RaggedExpr] &'a LazyRagged<E> => E::Ref<'a>, |x| x.0.by_ref();
    [C: RaggedCompute] DeferredRagged<C> => PendingRagged<C>, |x| x.into_ragged_expr();
    ['a, C: RaggedCompute] &'a DeferredRagged<C> => PendingRagged<&'a C>, |x| x.into_ragged_expr();
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no elementwise functions of ragged operands",
    note = "`&Ragged`, views, `LazyRagged` expressions, deferred operations, calls with one output and references to these have them; a dense tensor becomes one by `t.as_ragged()`"
)]
pub trait ElementwiseRagged: IntoRagged + Sized {
    elementwise_methods!([LazyRagged ApplyRagged IntoRagged into_ragged_expr PairsRagged]);
}

super::folds::for_ragged!(ElementwiseRagged);

type Chosen<C, A, B> = LazyRagged<
    ApplyRagged<
        ChooseOp,
        (
            <C as IntoRagged>::Expr,
            <A as IntoRagged>::Expr,
            <<A as IntoRagged>::Elem as PairsRagged<B>>::Expr,
        ),
    >,
>;

/// `a` where the condition holds, `b` elsewhere; all three stretch to one another, and both are evaluated: [`choose`] of
/// ragged operands.
///
/// ```
/// use lensor::ragged::{ElementwiseRagged, Ragged, choose};
/// let r = Ragged::from_nested(vec![vec![-1, 0], vec![], vec![5]])?;
/// let e = choose(r.less(0), 0, &r);
/// assert_eq!(e.eval()?.to_string(), "[[0, 0], [], [5]]");
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// [`choose`]: crate::choose
#[doc(alias = "where")]
pub fn choose<C, A, B>(condition: C, a: A, b: B) -> Chosen<C, A, B>
where
    C: IntoRagged<Elem = bool>,
    A: IntoRagged,
    A::Elem: PairsRagged<B>,
{
    let b = <A::Elem as PairsRagged<B>>::pair(b);
    let operands = (condition.into_ragged_expr(), a.into_ragged_expr(), b);
    LazyRagged(ApplyRagged::new(ChooseOp, operands))
}
