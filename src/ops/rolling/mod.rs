//! Rolling windows: a fold of every window along an axis, in time proportional to the axis; to the axis times the
//! window where the reducer is not associative, or lacks [`Reducer::MOVES`], as a mean beside an `argmax` does.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::rolling::WindowEdge;
//! let t = Tensor::from(vec![1.0, 3.0, 5.0, 7.0]);
//! assert_eq!(t.rolling(0, 2).mean().eval()?.to_vec()?, [2.0, 4.0, 6.0]);
//!
//! // Windows that reach beyond the axis: cut, extended, or counted as missing.
//! let cut = t.rolling(0, 3).centred().edge(WindowEdge::Cut);
//! assert_eq!(cut.sum().eval()?.to_vec()?, [4.0, 9.0, 15.0, 12.0]);
//! let extended = t.rolling(0, 3).centred().edge(WindowEdge::Clamp);
//! assert_eq!(extended.max().eval()?.to_vec()?, [3.0, 5.0, 7.0, 7.0]);
//! let missing = t.rolling(0, 2).edge(WindowEdge::Cut).mean().at_least(2, -1.0);
//! assert_eq!(missing.eval()?.to_vec()?, [-1.0, 2.0, 4.0, 6.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Nothing is ever subtracted from a window that moves on: sums do not drift, and a NaN or an infinity
//! shows in the windows that hold it and in no other.

mod across;
mod blocks;
mod count;
mod edge;
mod sliding;

pub use count::AtLeast;
pub use edge::WindowEdge;

use crate::compute::{Compute, Deferred, reads};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, Explanation, Expr, IntoExpr, Lazy, box_shape, boxes_along, of_view, selectors_around,
};
use crate::kernel::{Filled, inner};
use crate::map::AddressMap;
use crate::memory::try_reserve_exact;
use crate::ops::along::Along;
use crate::ops::reduce::reducers::*;
use crate::ops::reduce::{Reducer, VisitReducer, fold_methods, named_folds, reduces};
use crate::shape::Shape;
use crate::tensor::Tensor;
use edge::Extent;
use sliding::Sliding;
use std::mem::MaybeUninit;
use std::ops::Range;

/// States of reducers, which appear in signatures: public only so that these can be spelled. Not part of the
/// interface.
#[doc(hidden)]
pub mod states {
    pub use super::count::Counted;
}

/// Rolling windows as a method of tensors and expressions.
///
/// Medians and quantiles are no folds: those of windows are of a view,
/// `t.view().windows(axis, n)?.median(t.rank())`, see [`Lanes::median`](crate::lanes::Lanes::median).
///
/// All windows are computed, whatever is taken of the results. Those of every so many elements alone are of a view as well:
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::from(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let sums = t.view().windows(0, 2)?.select((Select::every(2),))?.sum(1);
/// assert_eq!(sums.to_vec()?, [3.0, 7.0, 11.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// When they are computed, all of them report [`Error::Axis`] if the axis does not exist, [`Error::Window`] if the window
/// is empty or, unless it is cut, longer than the axis, [`Error::Overflow`] for the first result that does not fit its
/// type, [`Error::NothingLeft`] for the first of elements that were all left out, [`Error::OutOfMemory`], and what the
/// evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rolling windows",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Rolling: IntoExpr + Sized {
    /// Windows of `window` neighbours along `axis`. Choose the fold by the next method, as in `.sum()`. The
    /// elements of the windows themselves, as a view with one more axis, are [`Tensor::windows`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1, 2, 3, 4]);
    /// assert_eq!(t.rolling(0, 3).sum().eval()?.to_vec()?, [6_i64, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn rolling(self, axis: usize, window: usize) -> Windows<Self::Expr> {
        let extent =
            Extent { axis, window, before: window.saturating_sub(1), edge: WindowEdge::Full };
        Windows { e: self.into_expr(), extent }
    }
}

crate::compute::for_operands!(Rolling);

/// Windows along an axis, see [`Rolling::rolling`].
///
/// A window ends at its element (it is *trailing*) unless said otherwise; at first there are only those
/// that lie inside, see [`WindowEdge`].
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct Windows<E> {
    e: E,
    extent: Extent,
}

impl<E: Expr> Windows<E> {
    /// The window of an element ends there: the window of the last element is the last of the axis.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::rolling::WindowEdge;
    /// let t = Tensor::from(vec![1, 2, 3, 4, 5]);
    /// let windows = t.rolling(0, 4).edge(WindowEdge::Cut);
    /// assert_eq!(windows.trailing().sum().to_vec()?, [1_i64, 1 + 2, 1 + 2 + 3, 1 + 2 + 3 + 4, 2 + 3 + 4 + 5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn trailing(mut self) -> Self {
        self.extent.before = self.extent.window.saturating_sub(1);
        self
    }

    /// The window of an element has it in the middle. A window of even length `2 k` begins `k` before.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::rolling::WindowEdge;
    /// let t = Tensor::from(vec![1, 2, 3, 4, 5]);
    /// let windows = t.rolling(0, 4).edge(WindowEdge::Cut); // of an element, two before and one after it
    /// let sums = [1_i64 + 2, 1 + 2 + 3, 1 + 2 + 3 + 4, 2 + 3 + 4 + 5, 3 + 4 + 5];
    /// assert_eq!(windows.centred().sum().to_vec()?, sums);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "center")]
    pub fn centred(mut self) -> Self {
        self.extent.before = self.extent.window / 2;
        self
    }

    /// The window of an element begins there.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::rolling::WindowEdge;
    /// let t = Tensor::from(vec![1, 2, 3, 4, 5]);
    /// let windows = t.rolling(0, 4).edge(WindowEdge::Cut);
    /// assert_eq!(windows.leading().sum().to_vec()?, [1_i64 + 2 + 3 + 4, 2 + 3 + 4 + 5, 3 + 4 + 5, 4 + 5, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn leading(mut self) -> Self {
        self.extent.before = 0;
        self
    }

    /// What becomes of windows that reach beyond the axis.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::rolling::WindowEdge::{Cut, Reflect, Wrap};
    /// let t = Tensor::from(vec![1, 2, 3, 4]);
    /// let windows = t.rolling(0, 3).centred(); // those that lie inside, unless told otherwise
    /// assert_eq!(windows.clone().sum().to_vec()?, [6_i64, 9]);
    /// assert_eq!(windows.clone().edge(Cut).sum().to_vec()?, [1_i64 + 2, 6, 9, 3 + 4]);
    /// assert_eq!(windows.clone().edge(Wrap).sum().to_vec()?, [4_i64 + 1 + 2, 6, 9, 3 + 4 + 1]);
    /// assert_eq!(windows.edge(Reflect).sum().to_vec()?, [2_i64 + 1 + 2, 6, 9, 3 + 4 + 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn edge(mut self, edge: WindowEdge) -> Self {
        self.extent.edge = edge;
        self
    }

    /// Folds each window with any reducer.
    ///
    /// It takes about three operations an element, whatever the length of the window; for a reducer that
    /// is not associative, or whose positions cannot be moved ([`Reducer::MOVES`]), as many as the window
    /// has elements. Positions are those within the window.
    ///
    /// # Errors
    ///
    /// Those of [`Rolling`], when it is computed.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::{ArgMax, Max, Min};
    /// let t = Tensor::from(vec![1, 5, 2, 4]);
    /// assert_eq!(t.rolling(0, 2).fold((Min, Max)).eval()?.to_vec()?, [(1, 5), (2, 5), (2, 4)]);
    /// assert_eq!(t.rolling(0, 3).fold(ArgMax).eval()?.to_vec()?, [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fold<R: Reducer<E::Elem>>(self, reducer: R) -> LazyRolling<E, R> {
        Deferred::new(Rolled { e: self.e, extent: self.extent, reducer })
    }

    named_folds!(fold_methods LazyRolling, "each window";);
}

/// A fold of every window along an axis. The operand is computed block by block, or copied first where blocks of storage
/// would be loaded again and again. How elements are grouped depends on the window and the shape alone, see
/// [`reduce`](crate::reduce#bits).
#[derive(Debug, Clone)]
pub struct Rolled<E, R> {
    e: E,
    extent: Extent,
    reducer: R,
}

/// A [`Rolled`], not yet computed.
pub type LazyRolling<E, R> = Deferred<Rolled<E, R>>;

impl<E: Expr, R: Reducer<E::Elem>> Deferred<Rolled<E, R>> {
    /// Gives `otherwise` for windows of fewer than `count` elements, as those that were cut may be. Elements that are
    /// filtered or skipped do not count. Where none is left, and the fold has no result of none, the later call of
    /// this, whatever its count, and [`Deferred::or`] gives the result. For `count` 1, [`Deferred::or`] alone does.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::rolling::WindowEdge;
    /// let t = Tensor::from(vec![1.0, 2.0, 3.0, 4.0]);
    /// let sums = t.rolling(0, 3).edge(WindowEdge::Cut).sum().at_least(2, f64::INFINITY);
    /// assert_eq!(sums.eval()?.to_vec()?, [f64::INFINITY, 3.0, 6.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "min_periods")]
    pub fn at_least(
        self,
        count: usize,
        otherwise: R::Out,
    ) -> LazyRolling<E, AtLeast<R, E::Elem, R::Out>> {
        let Rolled { e, extent, reducer } = self.operation;
        let reducer = AtLeast::new(reducer, count, otherwise, |_| true);
        Deferred::new(Rolled { e, extent, reducer })
    }

    /// Skips NaN, and gives `otherwise` for windows of fewer than `count` other elements. For `count` 1,
    /// `.mean().skip_nan(1, value)` does what `.nan_mean().or(value)` does; [`Windows::nan_mean`] alone is NaN where
    /// all elements are.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1.0, f64::NAN, f64::NAN, 4.0]);
    /// let means = t.rolling(0, 2).mean().skip_nan(1, -1.0);
    /// assert_eq!(means.eval()?.to_vec()?, [1.0, -1.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    pub fn skip_nan(
        self,
        count: usize,
        otherwise: R::Out,
    ) -> LazyRolling<E, AtLeast<R, E::Elem, R::Out>>
    where
        E::Elem: PartialEq,
    {
        let Rolled { e, extent, reducer } = self.operation;
        let reducer = AtLeast::new(reducer, count, otherwise, |x| x == x);
        Deferred::new(Rolled { e, extent, reducer })
    }
}

impl<E, R> Sealed for Rolled<E, R> {}

reduces!(Rolled { extent });

impl<E: Expr, R: Reducer<E::Elem>> Compute for Rolled<E, R> {
    type Elem = R::Out;

    /// That of the operand, but for [`WindowEdge::Full`], where `n` elements of the axis have `n - window + 1` windows.
    fn shape(&self) -> Result<Shape> {
        let (shape, axis) = (self.e.shape()?, self.extent.axis);
        let results = self.extent.results(shape.extent(axis)?)?;
        shape.with_extent(axis, results)
    }

    reads!(e);

    fn fill(&self, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        self.fill_from(&self.e, out)
    }

    fn boxes(&self, limit: usize) -> Result<Boxes> {
        boxes_along::<R::Out, _>(&self.e, &self.shape()?, self.extent.axis, limit, 2)
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<R::Out>>> {
        let around = selectors_around(ranges, self.extent.axis);
        let part = Lazy(self.e.by_ref()).select(&around[..])?;
        let shape = box_shape(&self.shape()?, ranges);
        let data = inner::collect(shape.count()?, |out| self.fill_from(&part, out));
        let way = |map: AddressMap| map.select(&around[..]);
        Tensor::new(shape, data.map_err(|error| of_view(&Lazy(self.e.by_ref()), error, &way))?)
    }

    fn explain(&self) -> Result<Explanation> {
        let along = Along::new(&self.e, self.extent.axis)?;
        along.explain("windows", &sliding(&along, self.extent, &self.reducer)?, None)
    }
}

impl<E: Expr, R: Reducer<E::Elem>> Rolled<E, R> {
    /// Computes the windows of an operand.
    fn fill_from<A: Expr<Elem = E::Elem>>(
        &self,
        e: &A,
        out: &mut [MaybeUninit<R::Out>],
    ) -> Result<Filled> {
        let along = Along::new(e, self.extent.axis)?;
        let (along, extent, window) = (&along, self.extent, self.extent.window.max(1));
        let fill = Fill { along, extent, out };
        match extent.edge {
            WindowEdge::Cut => self.reducer.of_up_to(window, fill),
            // No window is cut.
            _ => self.reducer.of_count(window, fill),
        }
    }
}

/// Windows of the lanes of an operand, at work.
fn sliding<'r, E: Expr, R: Reducer<E::Elem>>(
    along: &Along<'_, E>,
    windows: Extent,
    reducer: &'r R,
) -> Result<Sliding<'r, E::Elem, R>> {
    let extent = along.extent();
    let results = windows.results(extent)?;
    // Elements and states of a window are kept, whatever the number of results.
    let window = windows.window.min(extent);
    try_reserve_exact(&mut Vec::<(E::Elem, R::State, R::State)>::new(), window)?;
    Ok(Sliding::new(reducer, windows, extent, results))
}

/// Computes windows.
struct Fill<'a, 'e, E: Expr, O> {
    along: &'a Along<'e, E>,
    extent: Extent,
    out: &'a mut [MaybeUninit<O>],
}

impl<E: Expr, O: Copy + Send + Sync> VisitReducer<E::Elem, O> for Fill<'_, '_, E, O> {
    type Result = Result<Filled>;

    fn visit<R: Reducer<E::Elem, Out = O>>(self, reducer: &R) -> Self::Result {
        self.along.fill(&sliding(self.along, self.extent, reducer)?, self.out)
    }
}
