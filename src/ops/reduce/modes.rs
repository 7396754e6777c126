//! Functions of operands of different rank: smaller ones are repeated, or larger ones reduced.
//!
//! The two modes of Theano's elementwise compiler. Each is the adjoint of the other.

use super::{Axes, Fold, Reducer};
use crate::compute::{Deferred, Pending};
use crate::expr::machinery::Function;
use crate::expr::{Apply, Expr, IntoExpr, Lazy, Operands, zip_made, zip_with};
use crate::shape::{Align, Shape};

/// Which axes an operand of greater rank has more than others, in Theano's words.
///
/// [`Self::C`] is [`Align::Left`] and [`Self::F`] is [`Align::Right`]; methods here take either. Use these words
/// for code that comes from Theano, and [`Align`] otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisOrder {
    /// The trailing ones: `x[i, j]` beside `y[i]`.
    C,
    /// The leading ones: `x[i, j]` beside `y[j]`.
    F,
}

impl From<AxisOrder> for Align {
    fn from(order: AxisOrder) -> Self {
        match order {
            AxisOrder::C => Self::Left,
            AxisOrder::F => Self::Right,
        }
    }
}

/// The axes that a shape has beyond `rank`, where those meet that `align` says.
fn surplus(align: Align, shape: &Shape, rank: usize) -> Axes {
    let more = shape.rank() - rank;
    Axes::Listed(match align {
        Align::Left => (rank..shape.rank()).collect(),
        Align::Right => (0..more).collect(),
    })
}

/// Functions of a tuple of two to four operands, whatever their ranks.
///
/// A function that returns a tuple has several outputs, computed in one loop: see
/// [`Separate`](super::Separate).
pub trait Modes {
    /// The elements of the operands.
    type Elems: Copy;
    /// The operands as expressions at their joint shape.
    type Operands: Operands<Elems = Self::Elems>;

    /// `f` of all operands, at the greatest rank: others are repeated along the axes they lack. `f` takes one
    /// tuple, as in [`zip_with`].
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Operands`](crate::Error::Operands) if the axes they share do not
    /// align.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::AxisOrder;
    /// let x = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let y = Tensor::from(vec![10, 20]);
    /// let by_row = (&x, &y).broadcast_mode(AxisOrder::C, |(x, y)| x + y);
    /// assert_eq!(by_row.eval()?.to_vec()?, [11, 12, 23, 24]);
    /// # Ok::<(), Error>(())
    /// ```
    fn broadcast_mode<U, F>(
        self,
        order: impl Into<Align>,
        f: F,
    ) -> Lazy<Apply<Function<F>, Self::Operands>>
    where
        U: Copy + Send + Sync,
        F: Fn(Self::Elems) -> U + Send + Sync;
}

/// As [`Modes`], where operands are reduced first.
pub trait Accumulate<R> {
    /// The results that the reducer gives for each operand.
    type Outs: Copy;
    /// The folds of the operands.
    type Operands: Operands<Elems = Self::Outs>;

    /// `f` of all operands, at the least rank: the others are reduced over the axes they have more, and
    /// every operand is finished by the reducer.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Operands`](crate::Error::Operands) if the axes they share do not
    /// align. Folding reports its errors when it is computed.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::{AxisOrder, Sum};
    /// let x = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
    /// let y = Tensor::from(vec![10.0, 20.0]);
    /// let z = (&x, &y).accumulate_mode(AxisOrder::C, Sum, |(sum, y)| sum * y);
    /// assert_eq!(z.eval()?.to_vec()?, [30.0, 140.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn accumulate_mode<U, F>(
        self,
        order: impl Into<Align>,
        reducer: R,
        f: F,
    ) -> Lazy<Apply<Function<F>, Self::Operands>>
    where
        U: Copy + Send + Sync,
        F: Fn(Self::Outs) -> U + Send + Sync;
}

macro_rules! modes {
    ($($X:ident $x:ident $k:tt),*) => {
        impl<$($X: IntoExpr),*> Modes for ($($X,)*) {
            type Elems = ($($X::Elem,)*);
            type Operands = ($($X::Expr,)*);

            fn broadcast_mode<U, F>(
                self,
                order: impl Into<Align>,
                f: F,
            ) -> Lazy<Apply<Function<F>, Self::Operands>>
            where
                U: Copy + Send + Sync,
                F: Fn(Self::Elems) -> U + Send + Sync,
            {
                $(let mut $x = Lazy(self.$k.into_expr());)*
                let align = order.into();
                let mut stretch = || {
                    let joint = Shape::default();
                    $(let joint = joint.join(&$x.shape()?, align, $k + 1)?;)*
                    $($x.change_leaves(&mut |map| map.stretched(&joint, align))?;)*
                    Ok(())
                };
                let made = stretch();
                zip_made(made, ($($x.0,)*), f)
            }
        }

        impl<R: Clone $(+ Reducer<$X::Elem>)*, $($X: IntoExpr),*> Accumulate<R> for ($($X,)*) {
            type Outs = ($(<R as Reducer<$X::Elem>>::Out,)*);
            type Operands = ($(Pending<Fold<$X::Expr, R>>,)*);

            fn accumulate_mode<U, F>(
                self,
                order: impl Into<Align>,
                reducer: R,
                f: F,
            ) -> Lazy<Apply<Function<F>, Self::Operands>>
            where
                U: Copy + Send + Sync,
                F: Fn(Self::Outs) -> U + Send + Sync,
            {
                $(let $x = self.$k.into_expr();)*
                // Of an operand with an error the fold carries it.
                let shapes = [$($x.shape().unwrap_or_default()),*];
                let (rank, align) = (shapes.iter().map(Shape::rank).min().unwrap_or(0), order.into());
                $(
                    let axes = surplus(align, &shapes[$k], rank);
                    let $x = Deferred::new(Fold::new($x, axes, reducer.clone()));
                )*
                zip_with(($($x,)*), f)
            }
        }
    };
}
modes!(A a 0, B b 1);
modes!(A a 0, B b 1, C c 2);
modes!(A a 0, B b 1, C c 2, D d 3);
