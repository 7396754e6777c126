//! Work along one axis: the operand is read block by block, in order, and results are written the same way.
//!
//! An operand is seen as `[outer, extent, inner, width]`, with the axis second. If it is the last axis,
//! every lane is a run of neighbouring elements and is worked on by itself, short ones in one loop. Otherwise
//! `width` lanes lie side by side and advance together, a row at a time, so that loops run across them.

mod explain;
mod few;
mod rows;
mod source;
mod states;
mod tasks;

use few::Few;
pub(crate) use few::FewLanes;
use rows::Read;
use source::Column;
pub(crate) use source::{Lane, LaneRows, Panel};
pub(crate) use states::{BLOCK, GROUP, Gap, States};
pub(crate) use tasks::Tasks;

use crate::error::Result;
use crate::expr::{COPIED_BYTES, Expr, Lazy, MIN_READ, Stop, explain_rows, is_small, prepare};
use crate::kernel::{self, Slots, inner};
use crate::memory::list;
use crate::ops::reduce::{Undefined, undefined};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What becomes of lanes of elements `T`. How it is computed depends on the lengths of lanes alone, never
/// on where rows are cut into jobs.
pub(crate) trait Sweep<T: Copy>: Sync + Sized {
    /// Type of the results.
    type Out: Copy + Send + Sync;
    /// Memory that is kept from lane to lane.
    type Memory: Default;

    /// Results of a lane.
    fn results(&self) -> usize;

    /// Where results may be cut into jobs: at multiples of this number. `None`: nowhere.
    fn grain(&self) -> Option<usize>;

    /// Whether results are written from the last to the first.
    fn backward(&self) -> bool {
        false
    }

    /// Whether lanes are read from the first element to the last, each of them once.
    fn in_order(&self) -> bool {
        false
    }

    /// How many lanes side by side are at best worked on together.
    fn width(&self) -> usize {
        2048
    }

    /// How many at most, where otherwise blocks of storage would be loaded for each few of them.
    fn most_lanes(&self) -> usize {
        64 * self.width()
    }

    /// Whether states or results are too large for a few of them to lie on the stack: then each lane is a
    /// table of one column.
    const LARGE: bool = false;

    /// Computes some results of one lane.
    fn lane(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop>;

    /// Computes all results of whole lanes of `extent` elements that lie one after another, unless they are
    /// [`Self::LARGE`].
    fn lanes(
        &self,
        elements: &[T],
        extent: usize,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        each_lane(self, elements.chunks_exact(extent), at)
    }

    /// Computes some results of lanes side by side.
    fn table(&self, table: &mut dyn LaneRows<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop>;
}

/// What a sweep works with.
pub(crate) struct At<'a, 'o, T: Copy, W: Sweep<T>> {
    pub(crate) memory: &'a mut W::Memory,
    pub(crate) job: Job<'a>,
    pub(crate) out: &'a mut Slots<'o, W::Out>,
}

/// Which results to compute.
#[derive(Debug, Clone)]
pub(crate) struct Job<'a> {
    /// Number of the job, where lanes are cut into several.
    pub(crate) number: usize,
    /// Results of every lane.
    pub(crate) results: Range<usize>,
    /// Lanes side by side.
    pub(crate) width: usize,
    /// Row-major position of the first result of the first lane, and the distance of the next.
    first: usize,
    step: usize,
    gaps: &'a Gaps,
}

impl Job<'_> {
    /// Notes that a result does not exist.
    #[cold]
    pub(crate) fn undefined(&self, result: usize, lane: usize, reason: Undefined) {
        let first = match reason {
            Undefined::Overflow => &self.gaps.overflow,
            Undefined::Empty => &self.gaps.empty,
        };
        first.fetch_min(self.first + result * self.step + lane, Ordering::Relaxed);
    }
}

/// Row-major positions of the first results that do not exist, if they are any.
#[derive(Debug)]
struct Gaps {
    overflow: AtomicUsize,
    empty: AtomicUsize,
}

/// An expression seen along one of its axes.
pub(crate) struct Along<'e, E: Expr + 'e> {
    e: &'e E,
    shape: Shape,
    axis: usize,
    /// How the operand is read, unless it is small.
    read: Option<Read<'e, E::Elem>>,
}

/// Elements of one index of an axis and those in front.
fn below(shape: &Shape, axis: usize) -> usize {
    shape[axis + 1..].iter().product()
}

impl<'e, E: Expr> Along<'e, E> {
    pub(crate) fn new(e: &'e E, axis: usize) -> Result<Self> {
        let shape = e.shape()?;
        shape.extent(axis)?;
        shape.count()?;
        let read = if is_small(e, &shape) { None } else { Some(Read::new(e, &shape, axis)?) };
        Ok(Self { e, shape, axis, read })
    }

    /// Extent of the axis.
    pub(crate) fn extent(&self) -> usize {
        self.shape[self.axis]
    }

    /// Shape of `results` a lane.
    pub(crate) fn shape_of(&self, results: usize) -> Result<Shape> {
        self.shape.with_extent(self.axis, results)
    }

    /// Whether lanes are read in an order in which blocks of storage would be loaded for few of them each time, or in many
    /// parts of few elements each.
    fn is_torn(&self) -> bool {
        let few = |read: &Read<'_, _>| self.extent().saturating_mul(read.width) < MIN_READ;
        let apart = |read: &Read<'_, _>| read.inner > 1 && (read.rows.comes_back() || few(read));
        // Lanes of a matrix are read in windows.
        let is_volume = self.shape.rank() > 2;
        let across = |read: &Read<'_, _>| read.rows.reloads_across() || read.rows.is_transposed();
        let torn = |read: &Read<'_, _>| {
            apart(read) || read.rows.are_mixed() || (is_volume && across(read))
        };
        self.read.as_ref().is_some_and(torn)
    }

    /// Whether the operand is copied first for so many results a lane: if it is torn, and not large beside them.
    fn is_copied(&self, results: usize) -> bool {
        let count = self.shape.iter().fold(1_usize, |all, &extent| all.saturating_mul(extent));
        let is_small = count.saturating_mul(size_of::<E::Elem>()) <= COPIED_BYTES;
        self.is_torn() && (is_small || results >= self.extent() / 2)
    }

    /// The operand in memory and in order, if it is copied first.
    pub(crate) fn copied(&self, results: usize) -> Result<Option<Tensor<Vec<E::Elem>>>> {
        self.is_copied(results).then(|| Lazy(self.e.by_ref()).eval()).transpose()
    }

    /// All results, in row-major order, to all slots of `out`; of a copy, where [`Self::copied`] makes one.
    pub(crate) fn fill<W: Sweep<E::Elem>>(
        &self,
        sweep: &W,
        out: &mut [MaybeUninit<W::Out>],
    ) -> Result<kernel::Filled> {
        if out.is_empty() {
            return kernel::Filled::nothing(out);
        }
        if let Some(copy) = self.copied(sweep.results())? {
            return Along::new(&copy.view(), self.axis)?.fill(sweep, out);
        }
        let _results_of_leaves = prepare(self.e)?;
        let gaps =
            Gaps { overflow: AtomicUsize::new(usize::MAX), empty: AtomicUsize::new(usize::MAX) };
        let filled = self.fill_all(sweep, &gaps, out);
        let filled = filled.map_err(|stop| explain_rows(self.e, &self.shape, stop))?;
        let (overflow, empty) = (gaps.overflow.into_inner(), gaps.empty.into_inner());
        if overflow.min(empty) == usize::MAX {
            return Ok(filled);
        }
        let index = self.shape_of(sweep.results())?.unravel(overflow.min(empty)).to_vec();
        let why = if overflow < empty { Undefined::Overflow } else { Undefined::Empty };
        Err(undefined::<W::Out>(why, index))
    }

    /// Visits all lanes for what the sweep notes of them.
    pub(crate) fn visit<W: Sweep<E::Elem, Out = ()>>(&self, sweep: &W) -> Result<()> {
        let count = self.shape_of(sweep.results())?.count()?;
        let mut nothing = list(std::iter::repeat_n((), count))?;
        self.fill(sweep, inner::slots(&mut nothing)).map(drop)
    }

    fn fill_all<W: Sweep<E::Elem>>(
        &self,
        sweep: &W,
        gaps: &Gaps,
        out: &mut [MaybeUninit<W::Out>],
    ) -> Result<kernel::Filled, Stop> {
        if let Some(read) = &self.read {
            return read.fill(sweep, gaps, out);
        }
        match Few::of(self.e, self.axis, usize::MAX) {
            Some(few) => few.fill(sweep, gaps, out),
            None => Read::new(self.e, &self.shape, self.axis)?.fill(sweep, gaps, out),
        }
    }

    /// How the work is shared out, unless the operand is small.
    pub(crate) fn tasks<W: Sweep<E::Elem>>(&self, sweep: &W) -> Option<Tasks> {
        self.read.as_ref().map(|read| read.tasks(sweep))
    }
}

/// Computes some results of one lane.
fn lane<T: Copy, W: Sweep<T>>(
    sweep: &W,
    lane: &mut dyn Lane<T>,
    at: &mut At<'_, '_, T, W>,
) -> Result<(), Stop> {
    match W::LARGE {
        true => sweep.table(&mut Column(lane), at),
        false => sweep.lane(lane, at),
    }
}

/// Computes all results of whole lanes, one by one. The job is that of the first.
pub(crate) fn each_lane<'r, T: Copy + 'r, W: Sweep<T>>(
    sweep: &W,
    rows: impl DoubleEndedIterator<Item = &'r [T]> + ExactSizeIterator,
    at: &mut At<'_, '_, T, W>,
) -> Result<(), Stop> {
    let first = at.job.first;
    let mut each = |(k, mut row): (usize, &[T])| {
        at.job.first = first + k * sweep.results();
        lane(sweep, &mut row, at)
    };
    match sweep.backward() {
        true => rows.enumerate().rev().try_for_each(&mut each)?,
        false => rows.enumerate().try_for_each(&mut each)?,
    }
    at.job.first = first;
    Ok(())
}

/// The same of lanes of `extent` elements that lie one after another, together where the sweep can.
fn lanes<T: Copy, W: Sweep<T>>(
    sweep: &W,
    elements: &[T],
    extent: usize,
    at: &mut At<'_, '_, T, W>,
) -> Result<(), Stop> {
    match W::LARGE {
        true => each_lane(sweep, elements.chunks_exact(extent), at),
        false => sweep.lanes(elements, extent, at),
    }
}
