//! What is made of every lane, as a deferred operation.

use super::before::Before;
use super::driver::{explain_lanes, zip_blocks};
use super::extents::{Joint, MergedAxes, merge_last, single, spare, together};
use super::operand::Batch;
use crate::compute::{Compute, Deferred, reads};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, Explanation, Expr, Lazy, UNPLANNED_ELEMENTS, boxes_along, bytes_read, check_operand,
    has_entries, moved, selectors_around, small_in_words,
};
use crate::kernel::{self, Filled, inner};
use crate::map::AddressMap;
use crate::ops::along::FewLanes;
use crate::ops::reduce::Axes;
use crate::shape::{Index, Shape};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::any::type_name;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

/// What stands for a second operand where there is none.
pub type Alone = Tensor<Vec<()>>;

/// What is made of every lane of elements `T`, and of a lane of elements `U` beside it if there is one. Sealed.
///
/// [`Lanewise`] brings the lanes together and takes the results where they belong.
pub trait LaneOperation<T, U = ()>: Send + Sync + Sealed {
    /// Type of the results.
    type Elem: Copy + Send + Sync;
    /// What their memory holds before they are computed.
    #[doc(hidden)]
    type Before: Before<T, U, Self::Elem>;

    /// Memory that lanes are computed with, one after another.
    #[doc(hidden)]
    type Memory: Default;

    /// Stands between the two operands where the operation is explained.
    #[doc(hidden)]
    const BESIDE: &'static str = "";

    /// Whether there is no result of a lane without elements.
    #[doc(hidden)]
    const NEEDS_ELEMENTS: bool = false;

    /// Whether the results of a lane have an axis of their own.
    #[doc(hidden)]
    fn keeps_axis(&self) -> bool {
        true
    }

    /// Number of results of each lane, nothing if that is the number of its elements.
    #[doc(hidden)]
    fn results(&self) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Refuses lanes along an axis that exists if they are too short.
    #[doc(hidden)]
    fn check(&self, shape: &Shape, axis: usize) -> Result<()> {
        match shape[axis] {
            0 if Self::NEEDS_ELEMENTS => Err(Error::EmptyReduction { axis, shape: shape.to_vec() }),
            _ => Ok(()),
        }
    }

    /// Computes the results of some lanes.
    #[doc(hidden)]
    fn compute(
        &self,
        memory: &mut Self::Memory,
        lanes: Batch<'_, T, U>,
        out: &mut [Self::Elem],
    ) -> Result<()>;

    /// Whether it is less work to do without lanes.
    #[doc(hidden)]
    fn is_apart<A: Expr<Elem = T>, B: Expr<Elem = U>>(
        &self,
        _a: &Lazy<A>,
        _b: &Lazy<B>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Computes all results in row-major order without lanes, where [`Self::is_apart`] says so.
    #[doc(hidden)]
    fn apart<A: Expr<Elem = T>, B: Expr<Elem = U>>(
        &self,
        _a: &Lazy<A>,
        _b: &Lazy<B>,
        _out: &mut [Self::Elem],
    ) -> Result<()> {
        Ok(())
    }

    /// An error of [`Self::compute`], of lanes beside those of `b`, as one of the whole.
    #[doc(hidden)]
    fn located<B: Expr<Elem = U>>(&self, error: Error, _b: &Lazy<B>) -> Error {
        error
    }

    /// A title, and what happens to one lane of `extent` elements of so many that are computed together, for `explain`.
    #[doc(hidden)]
    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]>;

    /// Threads that share in each of so many lanes.
    #[doc(hidden)]
    fn threads(&self, _extent: usize, _lanes: usize) -> usize {
        1
    }
}

/// An operation on every lane of an operand along an axis.
#[derive(Debug, Clone)]
pub struct Lanewise<O, A, B = Alone> {
    operation: O,
    axis: usize,
    /// If several axes are this one now, which, or why they are none.
    merged: Option<Box<Result<MergedAxes>>>,
    /// Whether axes that go away stay with extent 1.
    keepdims: bool,
    a: Lazy<A>,
    b: Lazy<B>,
}

impl<O: LaneOperation<A::Elem>, A: Expr> Lanewise<O, A> {
    pub(super) fn new(operation: O, axis: usize, a: A) -> Self {
        Self::beside(operation, axis, a, Vec::new().into())
    }

    /// An operation on all elements along several axes, which are one lane, in row-major order. Results that keep an axis
    /// have it in the place of a single one.
    pub(super) fn folding(operation: O, axes: Axes, a: A) -> Self {
        let mut a = Lazy(a);
        if operation.keeps_axis()
            && let Some(axis) = single(&a, &axes)
        {
            return Self::new(operation, axis, a.0);
        }
        let spare = spare(&a, &axes).filter(|_| !operation.keeps_axis());
        let merged = merge_last(&mut a, &spare.map_or(axes, Axes::One));
        let axis = merged.as_ref().map_or(0, MergedAxes::axis);
        let (merged, keepdims) = (Some(Box::new(merged)), spare.is_some());
        Self { merged, keepdims, ..Self::new(operation, axis, a.0) }
    }
}

impl<O, A, B> Lanewise<O, A, B> {
    pub(super) fn beside(operation: O, axis: usize, a: A, b: B) -> Self {
        Self { operation, axis, merged: None, keepdims: false, a: Lazy(a), b: Lazy(b) }
    }
}

impl<O, A: Expr, B: Expr> Lanewise<O, A, B>
where
    O: LaneOperation<A::Elem, B::Elem>,
{
    /// The axes of extent 1 that results have beside those that were computed.
    fn ones(&self) -> &[usize] {
        match self.merged.as_deref() {
            _ if !self.keepdims => &[],
            Some(merged) => merged.as_ref().map_or(&[], |merged| &merged.axes),
            None if self.operation.keeps_axis() => &[],
            None => slice::from_ref(&self.axis),
        }
    }

    fn merged(&self) -> Result<Option<&MergedAxes>> {
        self.merged.as_deref().map(|merged| merged.as_ref().map_err(Error::copy)).transpose()
    }

    /// An error of the operand as it is now as one of the operand that was given.
    fn restored(&self, error: Error) -> Error {
        match self.merged() {
            Ok(Some(merged)) => merged.restored(&self.a, error),
            _ => error,
        }
    }

    /// The shape of the results, with an axis for those of a lane.
    #[inline(never)]
    fn results(&self) -> Result<Shape> {
        self.merged()?;
        if !O::BESIDE.is_empty() {
            return Ok(self.joint()?.0);
        }
        let shape = self.a.shape()?;
        let extent = shape.extent(self.axis)?;
        let results = self.operation.results()?.unwrap_or(extent);
        self.operation.check(&shape, self.axis).map_err(|error| self.restored(error))?;
        shape.with_extent(self.axis, results)
    }

    /// All `count` results of the lanes of a small operand, without a plan.
    fn few(&self, count: usize) -> Result<Option<Vec<O::Elem>>> {
        if !O::BESIDE.is_empty() || count == 0 {
            return Ok(None);
        }
        let Some(few) = FewLanes::of(&self.a.0, self.axis, usize::MAX)? else { return Ok(None) };
        let mut out = self.before((&self.a, &self.b), count)?;
        let lanes = Batch::new(few.elements(), few.extent(), few.count());
        self.operation.compute(&mut <_>::default(), lanes, &mut out)?;
        let each = count / few.count();
        if few.in_order(each) { Ok(Some(out)) } else { few.row_major(&out, each).map(Some) }
    }

    /// Memory for so many results of operands.
    fn before<X, Y>(&self, (a, b): (&Lazy<X>, &Lazy<Y>), count: usize) -> Result<Vec<O::Elem>>
    where
        X: Expr<Elem = A::Elem>,
        Y: Expr<Elem = B::Elem>,
    {
        O::Before::many(O::Before::one(a, b, self.axis)?, count)
    }

    /// The shape of the results, with an axis for those of a lane, and the operands at a joint shape of all other
    /// axes, unless there is nothing to compute.
    fn joint(&self) -> Result<Joint<'_, A, B>> {
        let (a, b) = (Lazy(self.a.0.by_ref()), Lazy(self.b.0.by_ref()));
        if !O::BESIDE.is_empty() {
            return together(a, b, self.axis);
        }
        let results = self.results()?;
        let none = a.shape()?.with_extent(self.axis, 0)?;
        Ok((results, Some((a, b.reshape(none)?))))
    }

    /// Computes all results of operands, or of parts that begin where `ranges` do, to a tensor that has the axis of the lanes.
    fn write<'a>(
        &'a self,
        (a, b): (&Lazy<A::Ref<'a>>, &Lazy<B::Ref<'a>>),
        ranges: &[Range<usize>],
        shape: &Shape,
        out: &mut [O::Elem],
    ) -> Result<()> {
        let compute = |lanes: Batch<'_, A::Elem, B::Elem>, out: &mut [O::Elem]| {
            self.operation.compute(&mut <_>::default(), lanes, out)
        };
        let done = match self.operation.is_apart(a, b)? {
            true => self.operation.apart(a, b, out),
            false => zip_blocks((a, b), self.axis, &mut Tensor::new(shape, out)?, false, compute),
        };
        done.map_err(|error| self.restored(moved(self.operation.located(error, b), ranges)))
    }
}

impl<O, A: Expr, B: Expr> Deferred<Lanewise<O, A, B>>
where
    O: LaneOperation<A::Elem, B::Elem>,
{
    /// Keeps the axes of operations that have one result a lane, with extent 1, so that the result aligns with the
    /// operand, and those of quantiles of several axes, in front of the axis of the quantiles. Others are as they are
    /// without.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0, 9.0], [4.0, 4.0, 5.0]])?;
    /// let off = &t - t.median(1).keepdims();
    /// assert_eq!(off.to_vec()?, [-1.0, 0.0, 7.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn keepdims(self) -> Self {
        Deferred::new(Lanewise { keepdims: true, ..self.operation })
    }
}

impl<O, A, B> Sealed for Lanewise<O, A, B> {}

impl<O, A: Expr, B: Expr> Compute for Lanewise<O, A, B>
where
    O: LaneOperation<A::Elem, B::Elem>,
{
    type Elem = O::Elem;

    fn shape(&self) -> Result<Shape> {
        let shape = self.results()?;
        let shape = if self.operation.keeps_axis() { shape } else { shape.without(self.axis)? };
        let mut extents = Index::from_slice(&shape);
        self.ones().iter().for_each(|&axis| extents.insert(axis, 1));
        Shape::check_rank(extents.len())?;
        Ok(extents.into())
    }

    reads!(deferred: a, b);

    fn check_reads(&self) -> Result<()> {
        let sparse = has_entries(&self.a) || has_entries(&self.b);
        match if sparse { self.joint()?.1 } else { None } {
            None => Ok(()),
            Some((a, b)) if self.operation.is_apart(&a, &b)? => Ok(()),
            Some((a, b)) => check_operand(&a).and(check_operand(&b)),
        }
    }

    fn fill(&self, out: &mut [MaybeUninit<O::Elem>]) -> Result<Filled> {
        if let Some(results) = self.few(out.len())? {
            return kernel::copy(&results, out);
        }
        let (shape, operands) = self.joint()?;
        let Some((a, b)) = operands.filter(|_| !out.is_empty()) else {
            return inner::overwrite(out, None, |_| Ok(()));
        };
        let before = O::Before::one(&a, &b, self.axis)?;
        inner::overwrite(out, Some(before), |out| self.write((&a, &b), &[], &shape, out))
    }

    fn collect(&self, count: usize) -> Result<Vec<O::Elem>> {
        if let Some(results) = self.few(count)? {
            return Ok(results);
        }
        let (shape, operands) = self.joint()?;
        let Some((a, b)) = operands.filter(|_| count > 0) else { return Ok(Vec::new()) };
        let mut out = self.before((&a, &b), count)?;
        self.write((&a, &b), &[], &shape, &mut out)?;
        Ok(out)
    }

    fn boxes(&self, limit: usize) -> Result<Boxes> {
        let (shape, keeps) = (self.shape()?, self.operation.keeps_axis());
        // Several axes that are one are the last: all that are kept stand in front of it.
        let own = self.axis + if keeps { self.ones().len() } else { 0 };
        if keeps
            && let (_, Some((a, b))) = self.joint()?
            && !self.operation.is_apart(&a, &b)?
        {
            return boxes_along::<O::Elem, _>(&self.a.0, &shape, own, limit, 1);
        }
        Ok(Boxes::around(&shape, limit, |axis| keeps && axis == own))
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<O::Elem>>> {
        let (shape, operands) = self.joint()?;
        let own = ranges.iter().enumerate().filter(|(axis, _)| !self.ones().contains(axis));
        let mut ranges: SmallVec<[Range<usize>; 4]> = own.map(|(_, range)| range.clone()).collect();
        if !self.operation.keeps_axis() && self.axis <= ranges.len() {
            ranges.insert(self.axis, 0..0);
        }
        let part = selectors_around(&ranges, self.axis);
        let Some((a, b)) = operands else { return Tensor::new(shape, Vec::new()) };
        let (a, b) = (a.select(&part[..])?, b.select(&part[..])?);
        let results = AddressMap::row_major(&shape)?.select(&part[..])?.shape();
        let mut out = self.before((&a, &b), results.count()?)?;
        self.write((&a, &b), &ranges, &results, &mut out)?;
        let out = Tensor::new(results, out)?;
        let out = if self.operation.keeps_axis() { out } else { out.remove_axis(self.axis)? };
        self.ones().iter().try_fold(out, |out, &axis| out.insert_axis(axis))
    }

    fn explain(&self) -> Result<Explanation> {
        let (a, b) = (self.a.shape()?, self.b.shape()?);
        let (shape, operands) = self.joint()?;
        let (extent, lanes) = (a.extent(self.axis)?, a.without(self.axis)?.count()?);
        let [what, each] = self.operation.words(extent, lanes)?;
        let beside = || format!(" {} {} {b:?}", O::BESIDE, type_name::<B::Elem>());
        let beside = if O::BESIDE.is_empty() { String::new() } else { beside() };
        let small =
            small_in_words(&self.a.0, UNPLANNED_ELEMENTS, &a).filter(|_| O::BESIDE.is_empty());
        let mut bytes = bytes_read(&self.a.0);
        let (how, threads) = match (operands, small) {
            (Some(_), Some(operand)) => {
                let lanes = format!("lanes: {lanes} of {extent} elements, all at once");
                (vec![lanes, format!("operand: {operand}"), format!("each lane: {each}")], 1)
            }
            (Some((a, b)), None) if self.operation.is_apart(&a, &b)? => {
                let lanes = format!("lanes: {lanes} of {extent} elements");
                let rest = "without lanes: only the elements at the indexes are read";
                bytes = shape.count()?.saturating_mul(size_of::<A::Elem>());
                let shared = a.in_memory().is_none() && shape.count()? >= kernel::PARALLEL;
                let lines = vec![lanes, rest.into()];
                (lines, if shared { kernel::threads() } else { 1 })
            }
            (Some((a, b)), None) => {
                let (lines, threads) = explain_lanes((&a, &b), self.axis, &shape, each)?;
                (lines, threads.max(self.operation.threads(extent, lanes)))
            }
            (None, _) => (["there is nothing to compute"].map(String::from).into(), 1),
        };
        let (of, to, results) =
            (type_name::<A::Elem>(), type_name::<O::Elem>(), Compute::shape(self)?);
        let (shown, axes) = match self.merged()? {
            Some(merged) => (&merged.shape, format!("axes {:?}", &merged.axes[..])),
            None => (&a, format!("axis {}", self.axis)),
        };
        Ok(Explanation::report(
            format!("{what} of {of} {shown:?}{beside} along {axes} to {to} {results:?}"),
            how,
            threads,
            [
                bytes.saturating_add(bytes_read(&self.b.0)),
                results.count()?.saturating_mul(size_of::<O::Elem>()),
            ],
        ))
    }
}
