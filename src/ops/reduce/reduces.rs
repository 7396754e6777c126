//! What can be said of all that folds by a reducer, whether whole axes, windows, segments or up to each element.

use super::{Filtered, Freedom, Or, Reducer};
use crate::compute::{Compute, Deferred};
use crate::expr::sealed::Sealed;
use crate::expr::{Apply, Expr, IntoExpr, Op};

/// Brings operands together as a tuple.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair;

impl<X: Copy + Send + Sync> Op<X> for Pair {
    type Out = X;

    #[inline(always)]
    fn call(&self, x: X) -> X {
        x
    }
}

/// An expression and another operand, brought together.
pub type Paired<E, X> = Apply<Pair, (E, <X as IntoExpr>::Expr)>;

/// An operation that folds an expression by a reducer. Sealed.
pub trait Reduces: Compute + Sealed + Sized {
    /// What is folded.
    type Expr: Expr;
    /// What it is folded by.
    type Reducer: Reducer<<Self::Expr as Expr>::Elem>;
    /// The same operation of another expression, by another reducer.
    type Of<E: Expr, R: Reducer<E::Elem>>: Compute<Elem = R::Out>;

    /// The same operation of what `change` makes of the expression and the reducer.
    #[doc(hidden)]
    fn rebuild<E: Expr, R: Reducer<E::Elem>>(
        self,
        change: impl FnOnce(Self::Expr, Self::Reducer) -> (E, R),
    ) -> Self::Of<E, R>;
}

/// Implements it for a struct with an expression `e`, a `reducer` and other fields.
macro_rules! reduces {
    ($Operation:ident { $($kept:ident),* }) => {
        impl<E: $crate::expr::Expr, R: $crate::ops::reduce::Reducer<E::Elem>>
            $crate::ops::reduce::Reduces for $Operation<E, R>
        {
            type Expr = E;
            type Reducer = R;
            type Of<A: $crate::expr::Expr, Q: $crate::ops::reduce::Reducer<A::Elem>> =
                $Operation<A, Q>;

            fn rebuild<A: $crate::expr::Expr, Q: $crate::ops::reduce::Reducer<A::Elem>>(
                self,
                change: impl FnOnce(E, R) -> (A, Q),
            ) -> $Operation<A, Q> {
                let (e, reducer) = change(self.e, self.reducer);
                $Operation { e, reducer, $($kept: self.$kept),* }
            }
        }
    };
}

pub(crate) use reduces;

/// An operation like `O`, of another expression, by another reducer, not yet computed.
pub type Refolded<O, E, R> = Deferred<<O as Reduces>::Of<E, R>>;

/// Type of the results of an operation.
type Out<O> = <<O as Reduces>::Reducer as Reducer<<<O as Reduces>::Expr as Expr>::Elem>>::Out;

/// What is said of a fold, a scan, windows or segments before it is computed.
impl<O: Reduces> Deferred<O> {
    /// Takes only the elements beside which `mask` is true. The others are skipped, whatever values they have,
    /// but computed: one that cannot be is an error of the fold.
    ///
    /// The mask is stretched to the operand as operators do.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Operands`](crate::Error::Operands) for a mask to which the operand would have to be
    /// stretched.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// let first_column = Tensor::from_vec([2], vec![true, false])?;
    /// assert_eq!(t.sum(..).filter(&first_column).item()?, 4);
    /// assert_eq!(t.cumsum(1).filter(t.greater(1)).to_vec()?, [0, 2, 3, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter<M: IntoExpr<Elem = bool>>(
        self,
        mask: M,
    ) -> Refolded<O, Paired<O::Expr, M>, Filtered<O::Reducer>> {
        Deferred::new(self.operation.rebuild(|e, reducer| {
            let mask = mask.into_expr();
            let made = e.shape().and_then(|shape| shape.check_mask(&mask.shape()?, 2));
            (Apply::made(made, Pair, (e, mask)), Filtered(reducer))
        }))
    }

    /// Gives `value` where there are no elements, or none is left of those that were filtered, or skipped as NaN.
    /// Windows of too few elements get a value by [`Deferred::at_least`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(t.max(1).filter(t.greater(2)).or(0).to_vec()?, [0, 4]);
    /// assert_eq!(t.rolling(1, 1).max().filter(t.greater(2)).or(0).to_vec()?, [0, 0, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn or(self, value: Out<O>) -> Refolded<O, O::Expr, Or<O::Reducer, Out<O>>> {
        Deferred::new(self.operation.rebuild(|e, reducer| (e, Or::new(reducer, value))))
    }

    /// Divides by the number of elements less `ddof`: 0 unless said otherwise, for all there is, 1 for a sample.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 3.0], [2.0, 6.0]])?;
    /// assert_eq!(t.var(1).ddof(1).to_vec()?, [2.0, 8.0]);
    /// let t = Tensor::from(vec![1.0, 3.0, 3.0, 9.0]);
    /// assert_eq!(t.rolling(0, 2).var().ddof(1).to_vec()?, [2.0, 0.0, 18.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn ddof(self, ddof: usize) -> Refolded<O, O::Expr, O::Reducer>
    where
        O::Reducer: Freedom,
    {
        Deferred::new(self.operation.rebuild(|e, reducer| (e, reducer.with_ddof(ddof))))
    }
}
