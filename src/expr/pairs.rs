//! What can stand as an operand, and beside which elements.

use super::{Expr, Lazy};
use crate::storage::Reader;
use crate::tensor::Tensor;

/// What can stand as an operand: an expression, a reference to a tensor or expression, or a scalar.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand",
    note = "operands are tensors, expressions, deferred operations, references to these, and scalars; ragged ones meet in operators, `zip_ragged` and `call_ragged`"
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
    note = "nothing is converted in silence: cast a tensor or expression, `t.cast::<f64>()`, or a scalar, `k as f32`"
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

#[diagnostic::do_not_recommend]
impl<T: Copy + Send + Sync, E: Expr<Elem = T>> Pairs<E> for T {
    type Expr = E;
    type Divisor = E;

    fn pair(right: E) -> E {
        right
    }

    fn divisor(right: E) -> E {
        right
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Copy + Send + Sync, S: Reader<Elem = T>> Pairs<&'a Tensor<S>> for T {
    type Expr = Tensor<&'a S>;
    type Divisor = Tensor<&'a S>;

    fn pair(right: &'a Tensor<S>) -> Tensor<&'a S> {
        right.view()
    }

    fn divisor(right: &'a Tensor<S>) -> Tensor<&'a S> {
        right.view()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Copy + Send + Sync, E: Expr<Elem = T>> Pairs<&'a Lazy<E>> for T {
    type Expr = E::Ref<'a>;
    type Divisor = E::Ref<'a>;

    fn pair(right: &'a Lazy<E>) -> E::Ref<'a> {
        right.0.by_ref()
    }

    fn divisor(right: &'a Lazy<E>) -> E::Ref<'a> {
        right.0.by_ref()
    }
}
