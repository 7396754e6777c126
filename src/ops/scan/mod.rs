//! Scans: what a fold gives after each element along an axis.
//!
//! ```
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[1, 2], [3, 4]])?;
//! assert_eq!(t.cumsum(0).eval()?.to_vec()?, [1_i64, 2, 4, 6]);
//! assert_eq!(t.cumsum(1).reverse().eval()?.to_vec()?, [3_i64, 2, 7, 4]);
//! assert_eq!((&t * 10).cumsum(1).exclusive().eval()?.to_vec()?, [0_i64, 10, 0, 30]);
//! # Ok::<(), Error>(())
//! ```

mod across;
mod advance;
mod running;
mod slice;
mod sweep;
mod totals;

use slice::scan_together;
pub(crate) use slice::{Way, scan_rows};

use crate::compute::{Compute, Deferred, reads};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{Boxes, Explanation, Expr, IntoExpr, Lazy, boxes_along, moved, selectors};
use crate::kernel::{Filled, inner};
use crate::memory::{append, list};
use crate::ops::along::{Along, FewLanes, Sweep};
use crate::ops::reduce::{Max, Min, Product, Reducer, Sum, VisitReducer, reduces};
use crate::shape::Shape;
use crate::tensor::Tensor;
use running::Running;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use totals::Totals;

/// Most lanes side by side that are scanned one by one where operands are small: more are scanned row by row.
const NARROW: usize = 15;

/// Scans by a reducer each as methods, with their documentation.
macro_rules! scans {
    ($($(#[$about:meta])* $name:ident $Reducer:ident, $x:tt => $y:tt;)*) => { $(
        $(#[$about])*
        ///
        /// ```
        /// use lensor::prelude::*;
        #[doc = concat!("let t = Tensor::from(vec!", stringify!($x), ");")]
        #[doc = concat!("assert_eq!(t.", stringify!($name), "(0).to_vec()?, ", stringify!($y), ");")]
        /// # Ok::<(), Error>(())
        /// ```
        fn $name(self, axis: usize) -> LazyScan<Self::Expr, $Reducer>
        where
            $Reducer: Reducer<Self::Elem>,
        {
            self.scan(axis, $Reducer)
        }
    )* };
}

/// Scans as methods of tensors and expressions.
///
/// The result has the shape of the operand. Nothing is computed before [`Deferred::eval`].
///
/// # Errors
///
/// When they are computed, all of them report [`Error::Axis`] if the axis does not exist, [`Error::NoIdentity`] for an
/// exclusive scan by a reducer without a result for no elements, [`Error::Overflow`] for the first result that does not
/// fit its type, [`Error::NothingLeft`] for the first of elements that were all left out, [`Error::OutOfMemory`], and
/// what the evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no scans",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Scan: IntoExpr + Sized {
    /// What any reducer gives after each element along `axis`.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::Mean;
    /// let t = Tensor::from(vec![1.0, 3.0, 5.0, 7.0]);
    /// assert_eq!(t.scan(0, Mean).eval()?.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scan<R: Reducer<Self::Elem>>(self, axis: usize, reducer: R) -> LazyScan<Self::Expr, R> {
        let e = self.into_expr();
        Deferred::new(Scanned { e, axis, reducer, way: Way::default() })
    }

    scans! {
        /// Running sums along `axis`. Integers are summed exactly and given in 64 bits; a sum that does not fit
        /// is [`Error::Overflow`]. [`CompensatedSum`](crate::reduce::CompensatedSum) and
        /// [`WrappingSum`](crate::reduce::WrappingSum) scan as well.
        cumsum Sum, [1_i32, 2, 3, i32::MAX] => [1_i64, 3, 6, 2_147_483_653];
        /// Running products along `axis`. Integers are given in 64 bits; a product that does not fit is
        /// [`Error::Overflow`].
        cumprod Product, [1, 2, 3, 4] => [1_i64, 2, 6, 24];
        /// Smallest elements so far along `axis`; NaN from the first one on.
        cummin Min, [3, 4, 1, 2] => [3, 3, 1, 1];
        /// Largest elements so far along `axis`; NaN from the first one on.
        cummax Max, [1.0, 4.0, 2.0, 5.0] => [1.0, 4.0, 4.0, 5.0];
    }
}

crate::compute::for_operands!(Scan);

/// What a fold gives after each element along an axis. The operand is computed block by block, so the scan of an
/// expression needs no memory for it, unless blocks of storage would be loaded again and again: then it is copied first.
///
/// Lanes are folded in groups and blocks of a fixed size, whose states are joined by
/// [`Reducer::combine`]: the error of a running sum grows with the number of blocks, not of elements. How
/// elements are grouped depends on the extent of the axis alone, see [`reduce`](crate::reduce#bits).
#[derive(Debug, Clone)]
pub struct Scanned<E, R> {
    e: E,
    axis: usize,
    reducer: R,
    way: Way,
}

/// A [`Scanned`], not yet computed.
pub type LazyScan<E, R> = Deferred<Scanned<E, R>>;

impl<E: Expr, R: Reducer<E::Elem>> Deferred<Scanned<E, R>> {
    /// Leaves each element out of its own result, which is that of the elements before it.
    ///
    /// The first result is that of no elements, so a reducer without one is
    /// [`Error::NoIdentity`]; [`Deferred::or`] gives one.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1, 2, 3, 4]);
    /// assert_eq!(t.cumsum(0).exclusive().eval()?.to_vec()?, [0_i64, 1, 3, 6]);
    /// assert_eq!(t.cummax(0).exclusive().or(0).to_vec()?, [0, 1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn exclusive(self) -> Self {
        let way = Way { exclusive: true, ..self.operation.way };
        Deferred::new(Scanned { way, ..self.operation })
    }

    /// Goes from the last element to the first: of equal elements, positions of extrema are those of the last one then.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1, 2, 3, 4]);
    /// assert_eq!(t.cumsum(0).reverse().eval()?.to_vec()?, [10_i64, 9, 7, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn reverse(self) -> Self {
        let way = Way { reverse: true, ..self.operation.way };
        Deferred::new(Scanned { way, ..self.operation })
    }
}

impl<E, R> Sealed for Scanned<E, R> {}

reduces!(Scanned { axis, way });

impl<E: Expr, R: Reducer<E::Elem>> Compute for Scanned<E, R> {
    type Elem = R::Out;

    /// That of the operand.
    fn shape(&self) -> Result<Shape> {
        let shape = self.e.shape()?;
        shape.extent(self.axis)?;
        Ok(shape)
    }

    reads!(e);

    fn fill(&self, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        if !Running::<E::Elem, R>::LARGE
            && !self.way.exclusive
            && !self.way.reverse
            && let Some(few) = FewLanes::of(&self.e, self.axis, NARROW)?
        {
            let scanned = few.fill_with(few.extent(), out, |out| {
                scan_together(&self.reducer, few.elements(), few.extent(), out)
            });
            // The first result that does not exist is looked for below.
            if !matches!(scanned, Err(Error::Overflow { .. } | Error::NothingLeft { .. })) {
                return scanned;
            }
        }
        scan_lanes(&self.e, self.axis, &self.reducer, self.way, out)
    }

    fn boxes(&self, limit: usize) -> Result<Boxes> {
        boxes_along::<R::Out, _>(&self.e, &self.shape()?, self.axis, limit, 1)
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<R::Out>>> {
        let part = Lazy(self.e.by_ref()).select(selectors(ranges))?;
        let shape = part.shape()?;
        let data = inner::collect(shape.count()?, |out| {
            scan_lanes(&part, self.axis, &self.reducer, self.way, out)
        });
        Tensor::new(shape, data.map_err(|error| moved(error, ranges))?)
    }

    fn explain(&self) -> Result<Explanation> {
        let along = Along::new(&self.e, self.axis)?;
        check(&self.reducer, self.axis, self.way)?;
        along.explain("scan", &planned(&self.reducer, along.extent(), self.way), None)
    }
}

/// Refuses an exclusive scan that has no result to begin with.
pub(crate) fn check<T: Copy, R: Reducer<T>>(reducer: &R, axis: usize, way: Way) -> Result<()> {
    match way.exclusive && reducer.empty().is_none() {
        true => Err(Error::NoIdentity { axis }),
        false => Ok(()),
    }
}

/// The scan of lanes of this extent, before it is known where each job goes on from.
fn planned<T: Copy, R: Reducer<T>>(reducer: &R, extent: usize, way: Way) -> Running<'_, T, R> {
    let Way { exclusive, reverse } = way;
    Running { reducer, extent, exclusive, reverse, carries: Vec::new() }
}

/// Scans the lanes of an operand.
fn scan_lanes<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    axis: usize,
    reducer: &R,
    way: Way,
    out: &mut [MaybeUninit<R::Out>],
) -> Result<Filled> {
    let along = Along::new(e, axis)?;
    check(reducer, axis, way)?;
    match along.copied(along.extent())? {
        Some(copy) => scan_lanes(&copy.view(), axis, reducer, way, out),
        None => {
            let along = &along;
            reducer.of_up_to(along.extent(), Fill { along, way, out })
        }
    }
}

/// Scans the lanes of an operand.
struct Fill<'a, 'e, E: Expr, O> {
    along: &'a Along<'e, E>,
    way: Way,
    out: &'a mut [MaybeUninit<O>],
}

impl<E: Expr, O: Copy + Send + Sync> VisitReducer<E::Elem, O> for Fill<'_, '_, E, O> {
    type Result = Result<Filled>;

    fn visit<R: Reducer<E::Elem, Out = O>>(self, reducer: &R) -> Self::Result {
        let mut scan = planned(reducer, self.along.extent(), self.way);
        scan.carries = carries(self.along, &scan)?;
        self.along.fill(&scan, self.out)
    }
}

/// The states before each job, if lanes are cut into several.
fn carries<E: Expr, R: Reducer<E::Elem>>(
    along: &Along<'_, E>,
    scan: &Running<'_, E::Elem, R>,
) -> Result<Vec<Vec<R::State>>> {
    let Some(tasks) = along.tasks(scan) else { return Ok(Vec::new()) };
    let [items, lengths, columns] = tasks.cuts();
    if lengths < 2 {
        return Ok(Vec::new());
    }
    let totals = Totals { scan, found: Mutex::new(list((0..tasks.count()).map(|_| Vec::new()))?) };
    along.visit(&totals)?;
    let found = totals.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut carries = list(found.iter().map(|_| Vec::new()))?;
    for first in (0..items)
        .flat_map(|item| (0..columns).map(move |column| item * lengths * columns + column))
    {
        let mut carry: Vec<R::State> = Vec::new();
        for number in (0..lengths).map(|k| first + k * columns) {
            carries[number] = list(carry.iter().cloned())?;
            let width = tasks.task(number).columns.len();
            for block in found[number].chunks(width) {
                if carry.is_empty() {
                    append(&mut carry, block)?;
                    continue;
                }
                for (carry, state) in carry.iter_mut().zip(block) {
                    scan.reducer.combine(carry, state.clone());
                }
            }
        }
    }
    Ok(carries)
}
