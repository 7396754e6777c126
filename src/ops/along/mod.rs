//! Work along one axis: the operand is read block by block, in order, and results are written the same way.
//!
//! An operand is seen as `[outer, extent, inner, width]`, with the axis second. If it is the last axis,
//! every lane is a run of neighbouring elements and is worked on by itself. Otherwise `width` lanes lie
//! side by side and advance together, a row at a time, so that loops run across them.

mod explain;
mod source;
mod states;
mod tasks;

use source::{Column, ReadLane, ReadTable};
pub(crate) use source::{Lane, Panel, Table};
pub(crate) use states::{BLOCK, GROUP, Gap, States};
pub(crate) use tasks::{Task, Tasks};

use crate::error::{Error, Result};
use crate::expr::{Expr, Rows, Stop, erased, explain_rows, prepare};
use crate::kernel::{self, GRAIN, PARALLEL, Slots, fill_parts, inner, threads};
use crate::memory::list;
use crate::ops::reduce::Undefined;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What becomes of lanes of elements `T`. How it is computed depends on the lengths of lanes alone, never
/// on where rows are cut into jobs.
pub(crate) trait Sweep<T: Copy>: Sync {
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

    /// Whether states or results are too large for a few of them to lie on the stack: then each lane is a
    /// table of one column.
    const LARGE: bool = false;

    /// Computes some results of one lane.
    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut dyn Lane<T>,
        job: &Job<'_>,
        out: &mut Slots<'_, Self::Out>,
    ) -> Result<(), Stop>;

    /// Computes some results of lanes side by side.
    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut dyn Table<T>,
        job: &Job<'_>,
        out: &mut Slots<'_, Self::Out>,
    ) -> Result<(), Stop>;
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
    rows: Rows<'e, E::Elem>,
    /// Whether the lanes are rows; otherwise they are columns.
    lanes: bool,
    outer: usize,
    inner: usize,
    width: usize,
}

/// The shape of `results` a lane along an axis that exists.
pub(crate) fn shape_of(shape: &Shape, axis: usize, results: usize) -> Shape {
    shape.iter().enumerate().map(|(k, &extent)| if k == axis { results } else { extent }).collect()
}

/// Extent of an axis.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis.
pub(crate) fn check_axis(shape: &Shape, axis: usize) -> Result<usize> {
    shape.get(axis).copied().ok_or(Error::Axis { axis, rank: shape.rank() })
}

/// Fewest lanes side by side that are a task of their own.
const NARROW: usize = 256;

impl<'e, E: Expr> Along<'e, E> {
    /// # Errors
    ///
    /// [`Error::Axis`] if there is no such axis, and the error that `e` carries.
    pub(crate) fn new(e: &'e E, axis: usize) -> Result<Self> {
        let shape = e.shape()?;
        let rank = shape.rank();
        check_axis(&shape, axis)?;
        shape.count()?;
        let below: usize = shape[axis + 1..].iter().product();
        let lanes = below == 1;
        let boxed = erased(e);
        // The axes below as one, if that takes no stage.
        let mut merged = None;
        if !lanes {
            let order: SmallVec<[usize; 8]> = (0..rank).collect();
            let rows = Rows::ordered(&boxed, &order, rank - 1 - axis)?;
            merged = Some(rows).filter(|rows| rows.shape().rank() == axis + 2);
        }
        let (rows, inner, width) = match merged {
            Some(rows) => (rows, 1, below),
            None => {
                let kept = usize::from(!lanes);
                let mut order: SmallVec<[usize; 8]> = (0..rank).filter(|&k| k != axis).collect();
                order.insert(rank - 1 - kept, axis);
                let rows = Rows::ordered(&boxed, &order, 0)?;
                let inner = shape[axis + 1..rank - kept].iter().product();
                (rows, inner, if lanes { 1 } else { shape[rank - 1] })
            }
        };
        let outer = shape[..axis].iter().product();
        Ok(Self { e, axis, rows, lanes, outer, inner, width, shape })
    }

    /// Shape of the operand.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Extent of the axis.
    pub(crate) fn extent(&self) -> usize {
        self.shape[self.axis]
    }

    /// Shape of `results` a lane.
    pub(crate) fn shape_of(&self, results: usize) -> Shape {
        shape_of(&self.shape, self.axis, results)
    }

    /// All results, in row-major order, to all slots of `out`.
    ///
    /// # Errors
    ///
    /// What evaluating the operand reports, and [`Error::Overflow`].
    pub(crate) fn fill<W: Sweep<E::Elem>>(
        &self,
        sweep: &W,
        out: &mut [MaybeUninit<W::Out>],
    ) -> Result<kernel::Filled> {
        let tasks = self.tasks(sweep);
        let _results_of_leaves = prepare(self.e)?;
        let gaps =
            Gaps { overflow: AtomicUsize::new(usize::MAX), empty: AtomicUsize::new(usize::MAX) };
        let mut done = Ok(());
        let filled = fill_parts(out, tasks.count(), tasks.pieces(), |parts| {
            done = in_halves(parts, 0, tasks.parallel, &|number, part| {
                part.task(|part| self.task(sweep, &tasks.task(number), &gaps, part))
            });
            Ok::<_, Error>(())
        });
        done.map_err(|stop| explain_rows(self.e, &self.shape, stop))?;
        let (overflow, empty) = (gaps.overflow.into_inner(), gaps.empty.into_inner());
        if overflow.min(empty) == usize::MAX {
            return filled;
        }
        let index = self.shape_of(sweep.results()).unravel(overflow.min(empty)).to_vec();
        Err(if overflow < empty {
            Error::Overflow { index, target: std::any::type_name::<W::Out>() }
        } else {
            Error::NothingLeft { index }
        })
    }

    /// Visits all lanes for what the sweep notes of them.
    ///
    /// # Errors
    ///
    /// What evaluating the operand reports.
    pub(crate) fn visit<W: Sweep<E::Elem, Out = ()>>(&self, sweep: &W) -> Result<()> {
        let count = self.shape_of(sweep.results()).count()?;
        let mut nothing = list(std::iter::repeat_n((), count))?;
        self.fill(sweep, inner::slots(&mut nothing)).map(drop)
    }

    /// How the work is shared out.
    pub(crate) fn tasks<W: Sweep<E::Elem>>(&self, sweep: &W) -> Tasks {
        let (results, items) = (sweep.results(), self.outer * self.inner);
        let slab = results.max(self.extent()).saturating_mul(self.width);
        let parallel = slab.saturating_mul(items) >= PARALLEL && threads() > 1;
        let mut tasks = Tasks {
            results,
            items,
            inner: self.inner,
            width: self.width,
            together: 1,
            length: results,
            columns: self.width,
            parallel,
        };
        if items * results * self.width == 0 {
            tasks.items = 0;
            return tasks;
        }
        // Whole blocks of storage.
        let [high, wide] = self.rows.sides_of_blocks();
        if slab <= GRAIN {
            let together = (GRAIN / slab).max(1).next_multiple_of(high);
            tasks.together = if self.inner == 1 { together.min(items) } else { 1 };
            return tasks;
        }
        // Lanes that are cut are read twice, which storage that is not memory makes dear.
        let each = if self.rows.is_far() { 1 } else { 4 };
        let wanted = if parallel { (each * threads()).div_ceil(items) } else { 1 };
        let narrow = self.width.div_ceil(wanted).next_multiple_of(64).max(NARROW);
        let columns = narrow.next_multiple_of(wide).min(sweep.width());
        tasks.columns = (columns / wide * wide).max(columns.min(wide)).min(self.width);
        if let Some(grain) = sweep.grain().filter(|_| parallel) {
            let jobs = wanted.div_ceil(self.width.div_ceil(tasks.columns)).min(slab / GRAIN).max(1);
            tasks.length = results.div_ceil(jobs).next_multiple_of(grain).min(results);
        }
        tasks
    }

    /// Runs one task.
    fn task<W: Sweep<E::Elem>>(
        &self,
        sweep: &W,
        task: &Task,
        gaps: &Gaps,
        out: &mut Slots<'_, W::Out>,
    ) -> Result<(), Stop> {
        let (results, extent) = (sweep.results(), self.extent());
        let mut memory = W::Memory::default();
        let mut reader = self.rows.open();
        let job = |item: usize| {
            let (outer, inner) = (item / self.inner, item % self.inner);
            Job {
                number: task.number,
                results: task.results.clone(),
                width: task.columns.len(),
                first: (outer * results * self.inner + inner) * self.width + task.columns.start,
                step: self.inner * self.width,
                gaps,
            }
        };
        let slab = extent * task.columns.len();
        // Long lanes that are evaluated in order leave the nearest cache to their results.
        let windows = self.rows.window().is_some_and(|window| slab <= window);
        let apart = self.lanes && sweep.in_order() && slab > reader.piece_size() && !windows;
        if task.items.len() == 1 || slab == 0 || apart {
            for item in task.items.clone() {
                let reader = &mut reader;
                if self.lanes {
                    lane(sweep, &mut memory, &mut ReadLane { reader, item }, &job(item), out)?;
                } else {
                    let (first, columns) = (item * extent, task.columns.clone());
                    if sweep.in_order() {
                        reader.up_to(first + extent);
                    }
                    let mut table = ReadTable { reader, first, columns };
                    sweep.table(&mut memory, &mut table, &job(item), out)?;
                }
            }
            return Ok(());
        }
        let together = (reader.block_size() / slab).max(1);
        let turned = |k: usize, count: usize| if sweep.backward() { count - 1 - k } else { k };
        let groups = task.items.len().div_ceil(together);
        for group in 0..groups {
            let first = task.items.start + turned(group, groups) * together;
            let items = first..(first + together).min(task.items.end);
            if self.lanes {
                let block = reader.read(items.clone(), 0..extent)?;
                for k in 0..items.len() {
                    let k = turned(k, items.len());
                    lane(sweep, &mut memory, &mut block.row(k), &job(first + k), out)?;
                }
            } else {
                let rows = items.start * extent..items.end * extent;
                let count = rows.len();
                let block = reader.read(rows, task.columns.clone())?;
                let rows = list((0..count).map(|row| block.row(row)))?;
                for k in 0..items.len() {
                    let k = turned(k, items.len());
                    let mut table = &rows[k * extent..][..extent];
                    sweep.table(&mut memory, &mut table, &job(first + k), out)?;
                }
            }
        }
        Ok(())
    }
}

/// Computes some results of one lane.
fn lane<T: Copy, W: Sweep<T>>(
    sweep: &W,
    memory: &mut W::Memory,
    lane: &mut dyn Lane<T>,
    job: &Job<'_>,
    out: &mut Slots<'_, W::Out>,
) -> Result<(), Stop> {
    match W::LARGE {
        true => sweep.table(memory, &mut Column(lane), job, out),
        false => sweep.lane(memory, lane, job, out),
    }
}

/// Runs tasks for all parts, in halves where there are several threads.
fn in_halves<T: Send>(
    parts: &mut [Slots<'_, T>],
    first: usize,
    parallel: bool,
    run: &(impl Fn(usize, &mut Slots<'_, T>) -> Result<(), Stop> + Sync),
) -> Result<(), Stop> {
    if !parallel || parts.len() < 2 {
        return (first..).zip(parts).try_for_each(|(number, part)| run(number, part));
    }
    let middle = parts.len() / 2;
    let (low, high) = parts.split_at_mut(middle);
    let (low, high) = kernel::join(
        || in_halves(low, first, parallel, run),
        || in_halves(high, first + middle, parallel, run),
    );
    low.and(high)
}
