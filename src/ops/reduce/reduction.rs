//! A reduction that is not computed yet.

use super::axes::Mask;
use super::direct::Direct;
use super::fold;
use super::folding::Needs;
use super::leaves::beside;
use super::sparse::{explain_stored, reduce_stored, reduce_to_dense};
use super::tasks::{Failure, undefined};
use super::{Axes, Mapped, Reducer, reduces};
use crate::compute::{Compute, Deferred};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxed, Boxes, Explanation, Expr, Lazy, Prepare, bytes_read, check_reads, deferred_of_stored,
    defers, densely, erased, of_view, order_in_memory, prepared, selectors, small_elements,
    small_in_words,
};
use crate::kernel::{self, Filled, PARALLEL, threads};
use crate::map::{AddressMap, Select};
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::{Tensor, inverse};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A fold of an expression along some axes. What it folds is computed block by block, so a fold of an
/// expression needs no memory for the operand, but where its view would be read in pieces far apart: up to 256 MiB are
/// copied then.
#[derive(Debug, Clone)]
pub struct Fold<E, R> {
    e: E,
    axes: Axes,
    reducer: R,
    keepdims: bool,
}

/// A [`Fold`], not yet computed.
pub type Reduction<E, R> = Deferred<Fold<E, R>>;

impl<E: Expr, R: Reducer<E::Elem>> Fold<E, R> {
    pub(super) fn new(e: E, axes: Axes, reducer: R) -> Self {
        Self { e, axes, reducer, keepdims: false }
    }

    /// What `fold` makes of the elements, if they lie in order in memory, or are few and computed first: without a plan.
    #[inline(never)]
    fn direct<A>(
        &self,
        fold: impl Fn(&Direct, &[E::Elem], &R) -> Result<Option<A>, Failure>,
    ) -> Result<Option<A>> {
        let mut direct = Ok(None);
        let elements = small_elements(&self.e, PARALLEL - 1, &mut |shape, in_order| {
            direct = Direct::new(shape, &self.axes, Needs::of::<E::Elem, R>());
            let Ok(Some(own)) = &direct else { return false };
            in_order || !(R::EXACT || R::BESIDE) || !self.is_turned(&own.shape, R::EXACT)
        });
        let (Some(direct), Some(elements)) = (direct?, elements) else { return Ok(None) };
        match fold(&direct, &elements, &self.reducer) {
            Ok(done) => Ok(done),
            Err(Failure::Undefined(why, number)) => {
                Err(undefined::<R::Out>(why, self.shape()?.unravel(number).to_vec()))
            }
            // Of memory that there is not, a fold by a plan tells if it has none either.
            Err(Failure::Stop(_)) => Ok(None),
        }
    }
}

impl<E: Expr, R> Fold<E, R> {
    /// Whether [`turned`] is another operand, or lines are [`beside`] each other.
    #[inline(never)]
    fn is_turned(&self, shape: &Shape, exact: bool) -> bool {
        let of = |reduced: Mask| match exact {
            true => turned(&erased(&self.e), shape, &reduced).map(drop),
            false if fold::is_across(shape, &reduced) => None,
            false => beside(&erased(&self.e), shape, &reduced).ok()?.map(drop),
        };
        are_many(shape) && self.axes.mask(shape.rank()).ok().and_then(of).is_some()
    }
}

impl<E: Expr, R: Reducer<E::Elem>> Deferred<Fold<E, R>> {
    /// Keeps the reduced axes with extent 1, so that the result aligns with the operand.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// assert_eq!((&t - t.max(1).keepdims()).to_vec()?, [-1, 0, -1, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn keepdims(self) -> Self {
        Deferred::new(Fold { keepdims: true, ..self.operation })
    }

    /// Sends every result through a function, in the same pass.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0, 4.0], [6.0, 8.0]])?;
    /// let lengths = (&t * &t).sum(1).map(f64::sqrt);
    /// assert_eq!(lengths.eval()?.to_vec()?, [5.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn map<U, F>(self, function: F) -> Reduction<E, Mapped<R, F>>
    where
        U: Copy + Send + Sync,
        F: Fn(R::Out) -> U + Send + Sync,
    {
        let Fold { e, axes, reducer, keepdims } = self.operation;
        Deferred::new(Fold { e, axes, reducer: Mapped { reducer, function }, keepdims })
    }

    /// Computes the results of sparse operands into a new sparse tensor, in time and memory that grow with
    /// their entries, not with their elements.
    ///
    /// Entries stand where some reduced element is stored; the fill value is the result of fill values
    /// alone, each of which counts.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDensify`] if an operand is not sparse, and what [`Self::eval`] reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Duplicates;
    /// let side = 1_usize << 20;
    /// let t = Tensor::from_coordinates(
    ///     [side, side],
    ///     1_i64,
    ///     &[[3, 5], [3, 8], [7, 0]],
    ///     vec![10, 20, 30],
    ///     Duplicates::Refuse,
    /// )?;
    /// let sums = t.sum(1).eval_sparse()?;
    /// assert_eq!(sums.storage().fill(), side as i64);
    /// assert_eq!(sums.get([3])?, side as i64 + 9 + 19);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn eval_sparse(&self) -> Result<Tensor<Sparse<R::Out>>> {
        let Fold { e, axes, reducer, keepdims } = &self.operation;
        e.shape()?;
        let _results_of_leaves = prepared(true, &mut |visit| self.operation.deferred(visit))?;
        evaluate_sparse(&erased(e), axes, *keepdims, reducer)
    }
}

impl<E, R> Sealed for Fold<E, R> {}

reduces!(Fold { axes, keepdims });

impl<E: Expr, R: Reducer<E::Elem>> Compute for Fold<E, R> {
    type Elem = R::Out;

    #[inline(never)]
    fn shape(&self) -> Result<Shape> {
        result_shape(&self.e.shape()?, &self.axes, self.keepdims)
    }

    #[inline(never)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        deferred_of_stored(&self.e, visit);
    }

    #[inline(never)]
    fn check_reads(&self) -> Result<()> {
        let refused = check_reads(&self.e, self.e.shape()?.count()?);
        refused.or_else(|error| if fold::is_sparse(&erased(&self.e)) { Ok(()) } else { Err(error) })
    }

    fn depth(&self) -> usize {
        self.e.depth()
    }

    #[inline(never)]
    fn fill(&self, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        kernel::copy(&self.collect(out.len())?, out)
    }

    #[inline(never)]
    fn collect(&self, count: usize) -> Result<Vec<R::Out>> {
        let direct =
            self.direct(|direct, elements, reducer| direct.fold(elements, reducer).map(Some));
        let results = match direct? {
            Some(results) => results,
            None => {
                let e = erased(&self.e);
                evaluate(&e, fold::is_sparse(&e), &self.axes, self.keepdims, &self.reducer)?
            }
        };
        // A reducer that makes other states than it was asked for.
        match results.len() == count {
            true => Ok(results),
            false => Err(Error::OutOfSpan { span: 0..count, len: results.len() }),
        }
    }

    #[inline(never)]
    fn only(&self) -> Result<Option<R::Out>> {
        if defers(&self.e) {
            return Ok(None);
        }
        self.direct(Direct::only)
    }

    #[inline(never)]
    fn boxes(&self, limit: usize) -> Result<Boxes> {
        // Where entries are stored is found once.
        let limit = if fold::is_sparse(&erased(&self.e)) { usize::MAX } else { limit };
        Ok(Boxes::new(self.shape()?, limit).at_least(fold::SIDE_BY_SIDE))
    }

    #[inline(never)]
    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<R::Out>>> {
        let shape = self.e.shape()?;
        let mut kept = selectors(ranges).into_iter();
        let axes = self.axes.mask(shape.rank())?.into_iter().map(|reduced| {
            let own = (!reduced || self.keepdims).then(|| kept.next()).flatten();
            own.filter(|_| !reduced).unwrap_or(Select::All)
        });
        let axes = axes.collect::<Vec<_>>();
        let e = Lazy(self.e.by_ref()).select(&axes[..])?;
        // As the whole is folded, whatever its boxes are.
        let stored = fold::is_sparse(&erased(&self.e));
        let data = evaluate(&erased(&e.0), stored, &self.axes, self.keepdims, &self.reducer);
        let way = |map: AddressMap| map.select(&axes[..]);
        let data = data.map_err(|error| of_view(&Lazy(self.e.by_ref()), error, &way))?;
        Tensor::new(result_shape(&e.shape()?, &self.axes, self.keepdims)?, data)
    }

    #[inline(never)]
    fn explain(&self) -> Result<Explanation> {
        let (shape, results) = (self.e.shape()?, self.shape()?);
        let reduced = self.axes.mask(shape.rank())?;
        let axes: Vec<usize> = (0..shape.rank()).filter(|&axis| reduced[axis]).collect();
        let [element, out] = [std::any::type_name::<E::Elem>(), std::any::type_name::<R::Out>()];
        let count = shape.count()?;
        let e = erased(&self.e);
        let what =
            format!("reduction of {element} {shape:?} over axes {axes:?} to {out} {results:?}");
        let written = results.count()?.saturating_mul(size_of::<R::Out>());
        if fold::is_sparse(&e) {
            let (how, read) = explain_stored::<_, R>(&e, &reduced)?;
            return Ok(Explanation::report(what, how, 1, [read, written]));
        }
        let turned = if R::EXACT { turned(&e, &shape, &reduced) } else { None };
        let mut lines = match &turned {
            Some(turned) => turned.explain::<R>()?,
            None => fold::explain::<_, R>(&e, &shape, &reduced)?,
        };
        let is_turned = turned.is_some() || (R::BESIDE && self.is_turned(&shape, false));
        if !is_turned
            && let Some(operand) = small_in_words(&self.e, PARALLEL - 1, &shape)
            && Direct::new(shape, &self.axes, Needs::of::<E::Elem, R>())?.is_some()
        {
            lines.truncate(1);
            lines.push(format!("operand: {operand}"));
        }
        let threads = if count < PARALLEL { 1 } else { threads() };
        Ok(Explanation::report(
            what,
            lines.into_iter().chain(densely(&e, count)),
            threads,
            [bytes_read(&self.e), written],
        ))
    }
}

/// The shape of a reduction of operands of this shape.
fn result_shape(shape: &Shape, axes: &Axes, keepdims: bool) -> Result<Shape> {
    Ok(fold::kept(shape, &axes.mask(shape.rank())?, keepdims))
}

/// The shape of the operand, and which axes of it are reduced.
#[inline(never)]
fn checked<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    axes: &Axes,
    needs: Needs,
) -> Result<(Shape, Mask)> {
    let shape = e.shape()?;
    // Operands that are stretched may have more elements together than can be counted.
    shape.count()?;
    let reduced = axes.mask(shape.rank())?;
    fold::check_order(&shape, &reduced, needs)?;
    Ok((shape, reduced))
}

/// All results, of entries if they are asked for, compiled once for all operands of one element type.
fn evaluate<T, R>(
    e: &Boxed<'_, T>,
    stored: bool,
    axes: &Axes,
    keepdims: bool,
    reducer: &R,
) -> Result<Vec<R::Out>>
where
    T: Copy + Send + Sync,
    R: Reducer<T>,
{
    let (shape, reduced) = checked(e, axes, Needs::of::<T, R>())?;
    if stored {
        return reduce_to_dense(e, &reduced, keepdims, reducer);
    }
    if R::EXACT
        && let Some(turned) = turned(e, &shape, &reduced)
        && let Ok(results) = turned.fold(reducer)
    {
        return Ok(results);
    }
    fold::fold(e, &shape, &reduced, keepdims, reducer)
}

/// An operand with its axes in the order in which they lie in memory.
struct Turned<'e, T> {
    e: Boxed<'e, T>,
    order: SmallVec<[usize; 8]>,
    reduced: Mask,
}

/// Whether a shape has so many elements that it takes longer to copy them than to turn them.
fn are_many(shape: &Shape) -> bool {
    shape.count().is_ok_and(|count| count >= 1 << 12)
}

/// The operand of a fold for which the order does not matter, if it lies in memory in another order than that of the view.
#[inline(never)]
fn turned<'e, T: Copy + Send + Sync>(
    e: &'e Boxed<'_, T>,
    shape: &Shape,
    reduced: &[bool],
) -> Option<Turned<'e, T>> {
    let order = order_in_memory(e, shape).filter(|_| are_many(shape))?;
    let is_long = |axis: &usize| shape[*axis] > 1;
    // Rows of the view that are rows in memory are read where they lie in any order.
    if order.iter().copied().rfind(is_long) == (0..shape.rank()).rfind(is_long) {
        return None;
    }
    let reduced = order.iter().map(|&axis| reduced[axis]).collect();
    Some(Turned { e: Lazy(e.by_ref()).transpose(&order[..]).ok()?.0, order, reduced })
}

impl<T: Copy + Send + Sync> Turned<'_, T> {
    /// All results, in the order of the view. Errors are to be found there as well.
    fn fold<R: Reducer<T>>(&self, reducer: &R) -> Result<Vec<R::Out>> {
        let shape = self.e.shape()?;
        let results = fold::fold(&self.e, &shape, &self.reduced, true, reducer)?;
        let kept = fold::kept(&shape, &self.reduced, true);
        let long = |&axis: &usize| kept[axis] > 1;
        if (0..kept.rank()).filter(long).map(|axis| self.order[axis]).is_sorted() {
            return Ok(results);
        }
        let results = Tensor::new(kept, results)?.transpose(inverse(&self.order))?;
        Ok(results.lazy().eval()?.into_storage())
    }

    fn explain<R: Reducer<T>>(&self) -> Result<Vec<String>> {
        let mut lines = fold::explain::<_, R>(&self.e, &self.e.shape()?, &self.reduced)?;
        lines.push(format!("in the order of memory: axes {:?}", self.order));
        Ok(lines)
    }
}

/// Folds the axes of an operand that a mask tells; its deferred operands are computed.
pub(crate) fn fold_dense<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    reduced: &[bool],
    reducer: &R,
) -> Result<Vec<R::Out>> {
    let axes = Axes::Listed((0..reduced.len()).filter(|&axis| reduced[axis]).collect());
    let e = erased(e);
    evaluate(&e, fold::is_sparse(&e), &axes, false, reducer)
}

/// [`Reduction::eval_sparse`], as [`evaluate`].
#[inline(never)]
fn evaluate_sparse<T, R>(
    e: &Boxed<'_, T>,
    axes: &Axes,
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>>
where
    T: Copy + Send + Sync,
    R: Reducer<T>,
{
    let (_, reduced) = checked(e, axes, Needs::of::<T, R>())?;
    reduce_stored(e, &reduced, keepdims, reducer)
}
