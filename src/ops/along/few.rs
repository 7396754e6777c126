//! Operands of few elements, which are in memory and in order before anything is done to them.

use super::{At, Gaps, Job, Sweep, below, lanes};
use crate::error::{Error, Result};
use crate::expr::{Expr, Stop, UNPLANNED_ELEMENTS, small_elements};
use crate::kernel::{self, Filled, Place, Slots, Steps, fill_slots, inner};
use crate::memory::{list, owned};
use crate::shape::Shape;
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// The elements of an operand, seen as `[outer, extent, inner]`.
pub(super) struct Few<'e, T: Copy> {
    elements: Cow<'e, [T]>,
    extent: usize,
    outer: usize,
    inner: usize,
}

impl<'e, T: Copy + Send + Sync> Few<'e, T> {
    /// Those of a small operand in memory that has elements and the axis, and at most so many lanes side by side. `None`
    /// also where an element does not exist, which an evaluation reports.
    pub(super) fn of<E: Expr<Elem = T>>(e: &'e E, axis: usize, most: usize) -> Option<Self> {
        let mut shape = Shape::default();
        let elements = small_elements(e, UNPLANNED_ELEMENTS, &mut |own, _| {
            shape = own;
            axis < shape.rank() && !shape.contains(&0) && below(&shape, axis) <= most
        })?;
        let outer = shape[..axis].iter().product();
        Some(Self { elements, extent: shape[axis], outer, inner: below(&shape, axis) })
    }

    /// All results of a sweep, in row-major order.
    pub(super) fn fill<W: Sweep<T>>(
        &self,
        sweep: &W,
        gaps: &Gaps,
        out: &mut [MaybeUninit<W::Out>],
    ) -> Result<Filled, Stop> {
        fill_slots(out, |out| self.run(sweep, gaps, out))
    }

    #[inline(never)]
    fn run<W: Sweep<T>>(
        &self,
        sweep: &W,
        gaps: &Gaps,
        out: &mut Slots<'_, W::Out>,
    ) -> Result<(), Stop> {
        let (memory, results) = (&mut W::Memory::default(), sweep.results());
        let (inner, slab) = (self.inner, self.extent * self.inner);
        let job = Job { number: 0, results: 0..results, width: inner, first: 0, step: inner, gaps };
        let at = &mut At { memory, job, out };
        if inner == 1 {
            return lanes(sweep, &self.elements, self.extent, at);
        }
        for k in 0..self.outer {
            let k = if sweep.backward() { self.outer - 1 - k } else { k };
            at.job.first = k * results * inner;
            let rows = list(self.elements[k * slab..][..slab].chunks_exact(inner))?;
            sweep.table(&mut &rows[..], at)?;
        }
        Ok(())
    }
}

/// The lanes of an operand along an axis, one after another.
pub(crate) struct FewLanes<'e, T: Copy>(Few<'e, T>);

impl<'e, T: Copy + Send + Sync> FewLanes<'e, T> {
    /// Those of a small operand in memory that has elements and the axis, and at most so many lanes side by side. `None`
    /// also where an element does not exist, which an evaluation reports.
    pub(crate) fn of<E: Expr<Elem = T>>(
        e: &'e E,
        axis: usize,
        most: usize,
    ) -> Result<Option<Self>> {
        let Some(mut few) = Few::of(e, axis, most) else { return Ok(None) };
        if few.inner > 1 {
            few.elements = Cow::Owned(transposed(&few.elements, few.extent, few.inner)?);
        }
        Ok(Some(Self(few)))
    }

    /// All elements, lane after lane.
    pub(crate) fn elements(&self) -> &[T] {
        &self.0.elements
    }

    /// Number of lanes.
    pub(crate) fn count(&self) -> usize {
        self.0.outer * self.0.inner
    }

    /// Elements of a lane.
    pub(crate) fn extent(&self) -> usize {
        self.0.extent
    }

    /// Whether results lane after lane, `each` of one, are those in row-major order.
    pub(crate) fn in_order(&self, each: usize) -> bool {
        self.0.inner == 1 || each == 1
    }

    /// In row-major order the results of lanes, `each` of them one lane after another.
    pub(crate) fn row_major<U: Copy>(&self, results: &[U], each: usize) -> Result<Vec<U>> {
        transposed(results, self.0.inner, each)
    }

    /// Fills `out` with what `write` writes, `each` results a lane and lane after lane.
    pub(crate) fn fill_with<U: Copy, F: From<Error>>(
        &self,
        each: usize,
        out: &mut [MaybeUninit<U>],
        write: impl FnOnce(&mut [MaybeUninit<U>]) -> Result<Filled, F>,
    ) -> Result<Filled, F> {
        if self.in_order(each) {
            return write(out);
        }
        let results = inner::collect(out.len(), write)?;
        Ok(kernel::copy(&self.row_major(&results, each)?, out)?)
    }
}

/// Elements of a matrix from which on squares of it are transposed in registers.
const SQUARES: usize = 64;

/// Matrices of this shape, one after another, with their rows as columns.
fn transposed<T: Copy>(from: &[T], rows: usize, columns: usize) -> Result<Vec<T>> {
    let mut to = owned(Cow::Borrowed(from))?;
    let size = (rows * columns).max(1);
    let steps = |stride| Steps { stride, table: None };
    let across = steps(columns as isize);
    let turned = Place { base: 0, rows: steps(1), columns: across, relocate: None };
    for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
        if size >= SQUARES
            && let Some(mut to) = inner::RowsMut::new(inner::slots(to), columns, rows, rows)
        {
            inner::pack(from, &turned, &mut to)?;
            continue;
        }
        for (j, to) in to.chunks_exact_mut(rows.max(1)).enumerate() {
            to.iter_mut().enumerate().for_each(|(k, to)| *to = from[k * columns + j]);
        }
    }
    Ok(to)
}
