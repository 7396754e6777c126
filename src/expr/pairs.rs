//! What can stand as an operand, and beside which elements.

use super::{Expr, Lazy, pairs};
use crate::storage::Reader;
use crate::tensor::Tensor;

/// What can stand as an operand: a tensor, an expression, a deferred operation, a call with one output, a reference to one of
/// these, or a scalar.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand",
    note = "operands are tensors, expressions, deferred operations, references to these, and scalars; ragged ones meet in operators, `zip_ragged`, `ragged::choose` and `call_ragged`"
)]
pub trait IntoExpr {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;
    /// The expression it becomes.
    type Expr: Expr<Elem = Self::Elem>;

    /// The operand as an expression.
    fn into_expr(self) -> Self::Expr;
}

#[diagnostic::do_not_recommend]
impl<E: Expr> IntoExpr for E {
    type Elem = E::Elem;
    type Expr = E;

    fn into_expr(self) -> E {
        self
    }
}

impl<'a, E: Expr> IntoExpr for &'a Lazy<E> {
    type Elem = E::Elem;
    type Expr = E::Ref<'a>;

    fn into_expr(self) -> E::Ref<'a> {
        self.0.by_ref()
    }
}

impl<'a, S: Reader> IntoExpr for &'a Tensor<S> {
    type Elem = S::Elem;
    type Expr = Tensor<&'a S>;

    fn into_expr(self) -> Tensor<&'a S> {
        self.view()
    }
}

impl<S: Reader> Tensor<S> {
    /// This tensor as an expression.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// /// It owns what it reads, so it can be returned.
    /// fn doubled(t: Tensor<Vec<f64>>) -> Lazy<impl Expr<Elem = f64>> {
    ///     t.lazy() * 2.0
    /// }
    /// assert_eq!(doubled(Tensor::from(vec![0.5, 4.0])).to_vec()?, [1.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn lazy(self) -> Lazy<Self> {
        Lazy(self)
    }
}

/// What can stand on the right of an operator whose left side has elements `Self`.
///
/// It is the left element type that decides, so a literal takes that type.
#[diagnostic::on_unimplemented(
    message = "`{R}` cannot stand beside elements of type `{Self}`",
    label = "the right side is no operand with elements of type `{Self}`",
    note = "nothing is converted in silence, and integers have sums of `i64` or `u64` and means of `f64`: cast a tensor or expression, `t.cast::<f64>()`, or a scalar, `k as f32`",
    note = "no value but numbers, `bool` and `char` is an operand: compare with others by `map`, `t.map(|x| x == k)`"
)]
pub trait Pairs<R>: Copy + Send + Sync {
    /// The expression the right side becomes.
    type Expr: Expr<Elem = Self>;

    /// The expression the right side becomes if it divides: a scalar may be divided by faster.
    type Divisor: Expr;

    /// The right side as an expression.
    fn pair(right: R) -> Self::Expr;

    /// The right side as a divisor.
    fn divisor(right: R) -> Self::Divisor;
}

pairs! {
    [Pairs IntoExpr into_expr]
    [] [E: Expr<Elem = T>] E;
    ['a] [S: Reader<Elem = T>] &'a Tensor<S>;
    ['a] [E: Expr<Elem = T>] &'a Lazy<E>;
}
