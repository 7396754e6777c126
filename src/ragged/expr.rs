//! Lazy elementwise expressions over ragged operands: trees that become expressions over flat items.

use super::form::Extent;
use super::joint::Joint;
use super::offsets::Offsets;
use super::{Ragged, Stretch};
use crate::compute::{Compute, Deferred};
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{Expr, Lazy, NOT_COMPUTED, pairs};
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::fmt;

/// An expression with ragged operands: what [`Expr`] is for dense ones. Sealed.
///
/// The lengths of all rows of all operands are joined, before anything is computed if they are known by then; the operands
/// become tensors of the items of the result, and the expression is one over these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of a ragged expression",
    note = "operands are ragged tensors, expressions, and scalars; a dense tensor becomes one by `.into_ragged()`"
)]
pub trait RaggedExpr: RaggedRows {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;
    /// The expression over the items of a form.
    #[doc(hidden)]
    type Flat<'a>: Expr<Elem = Self::Elem>
    where
        Self: 'a;
    /// The same expression over borrowed storage, for use more than once.
    type Ref<'a>: RaggedExpr<Elem = Self::Elem>
    where
        Self: 'a;

    /// Borrows every leaf.
    fn by_ref(&self) -> Self::Ref<'_>;

    /// The expression over the items of a form that this one stretches to.
    #[doc(hidden)]
    fn flat<'a>(&'a self, to: &Joint<'_>) -> Result<Self::Flat<'a>>;

    /// The same expression with axes of extent 1 after all others.
    #[doc(hidden)]
    fn widened(self, ones: usize) -> Result<Self>
    where
        Self: Sized;
}

/// What is asked of an expression before its elements are computed, whatever their type. Not for use.
#[doc(hidden)]
pub trait RaggedRows: Send + Sync + Sealed {
    /// What the axes are, as kinds and fixed extents alone tell.
    fn extents(&self) -> Result<Vec<Extent>>;

    /// The lengths of all rows.
    fn joint(&self, stretch: Stretch) -> Result<Joint<'_>>;

    /// The same, without computing elements that no length depends on.
    fn outline(&self, stretch: Stretch) -> Result<Joint<'static>> {
        let Joint { form, tail, .. } = self.joint(stretch)?;
        Ok(Joint { form, tail, kept: Vec::new() })
    }

    /// Whether the last rows of a leaf have these lengths.
    fn has_lengths(&self, rows: &Offsets) -> Result<bool> {
        let own = self.outline(Stretch::Rows)?.form;
        Ok(own.rows().is_some_and(|own| own.has_lengths_of(rows)))
    }

    /// What is computed before the expression is.
    fn ahead(&self) -> Ahead;

    /// Calls `visit` with how each leaf is read.
    fn words(&self, _to: &Joint<'_>, visit: &mut dyn FnMut(&'static str)) -> Result<()> {
        visit("evaluated first");
        Ok(())
    }
}

/// What is computed before an expression. Not for use.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ahead {
    Nothing,
    /// Items of leaves; the lengths of their rows are known.
    Items,
    /// Items of leaves, which the lengths of rows depend on.
    Lengths,
}

/// What can stand as an operand beside ragged tensors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of a ragged operation",
    note = "operands are ragged and dense tensors, expressions of these, deferred operations, references to them, and scalars"
)]
pub trait IntoRagged {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;
    /// The expression it becomes.
    type Expr: RaggedExpr<Elem = Self::Elem>;

    /// The operand as an expression.
    fn into_ragged_expr(self) -> Self::Expr;
}

/// What can stand on the right of an operator whose left side has elements `Self`.
#[diagnostic::on_unimplemented(
    message = "`{R}` cannot stand beside ragged elements of type `{Self}`",
    note = "nothing is converted in silence, and integers have sums of `i64` or `u64` and means of `f64`: cast a tensor or expression, `r.cast::<f64>()`, or a scalar, `k as f32`",
    note = "no value but numbers, `bool` and `char` is an operand: compare with others by `map`, `r.map(|x| x == k)`"
)]
pub trait PairsRagged<R>: Copy + Send + Sync {
    /// The expression the right side becomes.
    type Expr: RaggedExpr<Elem = Self>;
    /// The expression the right side becomes if it divides.
    type Divisor: RaggedExpr;

    /// The right side as an expression.
    fn pair(right: R) -> Self::Expr;

    /// The right side as a divisor.
    fn divisor(right: R) -> Self::Divisor;
}

/// An expression over ragged operands, with operators and views.
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct LazyRagged<E>(pub(super) E);

/// What it is, and how to compute it; computes nothing.
///
/// ```
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
/// assert_eq!((&r + 1).to_string(), "ragged expression of i32, not computed yet: `.eval()?` computes it");
/// # Ok::<(), lensor::Error>(())
/// ```
impl<E: RaggedExpr> fmt::Display for LazyRagged<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = std::any::type_name::<E::Elem>();
        match self.0.extents() {
            Ok(_) => write!(f, "ragged expression of {element}, {NOT_COMPUTED}"),
            Err(error) => write!(f, "ragged expression of {element} without a result: {error}"),
        }
    }
}

impl<E: RaggedExpr> IntoRagged for E {
    type Elem = E::Elem;
    type Expr = E;

    fn into_ragged_expr(self) -> E {
        self
    }
}

/// Types that stand as operands: of each that of the elements, and the expression it becomes.
macro_rules! ragged_operands {
    ($([$($of:tt)*] $type:ty: $Elem:ty => $Expr:ty, |$x:ident| $become:expr;)*) => { $(
        impl<$($of)*> IntoRagged for $type {
            type Elem = $Elem;
            type Expr = $Expr;

            fn into_ragged_expr(self) -> $Expr {
                let $x = self;
                $become
            }
        }
    )* };
}
pub(super) use ragged_operands;

ragged_operands! {
    [E: RaggedExpr] LazyRagged<E>: E::Elem => E, |x| x.0;
    ['a, E: RaggedExpr] &'a LazyRagged<E>: E::Elem => E::Ref<'a>, |x| x.0.by_ref();
}

pairs! {
    [PairsRagged IntoRagged into_ragged_expr]
    [] [S: Reader<Elem = T>] Ragged<S>;
    ['a] [S: Reader<Elem = T>] &'a Ragged<S>;
    [] [S: Reader<Elem = T>] Tensor<S>;
    ['a] [S: Reader<Elem = T>] &'a Tensor<S>;
    [] [E: Expr<Elem = T>] Lazy<E>;
    ['a] [E: Expr<Elem = T>] &'a Lazy<E>;
    [] [E: RaggedExpr<Elem = T>] LazyRagged<E>;
    ['a] [E: RaggedExpr<Elem = T>] &'a LazyRagged<E>;
    [] [C: Compute<Elem = T>] Deferred<C>;
    ['a] [C: Compute<Elem = T>] &'a Deferred<C>;
}
