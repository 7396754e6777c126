//! Lanes of operands that are read row by row.

use super::source::{ReadLane, ReadTable};
use super::tasks::{Task, Tasks};
use super::{At, Gaps, Job, Sweep, below, each_lane, lane, lanes};
use crate::error::Result;
use crate::expr::{Expr, Rows, Stop, erased};
use crate::kernel::{self, Filled, GRAIN, PARALLEL, Slots, fill_parts, threads};
use crate::memory::list;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// An operand as rows, of which lanes are made.
pub(super) struct Read<'e, T> {
    pub(super) rows: Rows<'e, T>,
    extent: usize,
    /// Whether the lanes are rows; otherwise they are columns.
    pub(super) lanes: bool,
    pub(super) outer: usize,
    pub(super) inner: usize,
    pub(super) width: usize,
}

/// Fewest lanes side by side that are a task of their own.
const NARROW: usize = 256;

impl<'e, T: Copy + Send + Sync + 'e> Read<'e, T> {
    /// Along an axis that exists.
    pub(super) fn new<E: Expr<Elem = T> + 'e>(
        e: &'e E,
        shape: &Shape,
        axis: usize,
    ) -> Result<Self> {
        let rank = shape.rank();
        let below = below(shape, axis);
        let lanes = below == 1;
        let (extent, outer) = (shape[axis], shape[..axis].iter().product());
        let boxed = erased(e);
        let order: SmallVec<[usize; 8]> = (0..rank).collect();
        // The axes below as one, if that takes no stage.
        let mut merged = None;
        if !lanes {
            let rows = Rows::ordered(&boxed, &order, rank - 1 - axis)?;
            merged = Some(rows).filter(|rows| rows.columns() == below);
        }
        let (rows, inner, width) = match merged {
            Some(rows) => (rows, 1, below),
            None => {
                let kept = usize::from(!lanes);
                let mut apart = order.clone();
                apart[axis..rank - kept].rotate_left(1);
                let rows = Rows::ordered(&boxed, &apart, 0)?;
                let merged = match !lanes && outer == 1 && rows.reloads_blocks() {
                    true => Rows::across_lines(&boxed, &order, rank - 1 - axis)?,
                    false => None,
                };
                let inner = shape[axis + 1..rank - kept].iter().product();
                match merged {
                    Some(rows) => (rows, 1, below),
                    None => (rows, inner, if lanes { 1 } else { shape[rank - 1] }),
                }
            }
        };
        Ok(Self { rows, extent, lanes, outer, inner, width })
    }

    /// All results, in row-major order.
    pub(super) fn fill<W: Sweep<T>>(
        &self,
        sweep: &W,
        gaps: &Gaps,
        out: &mut [MaybeUninit<W::Out>],
    ) -> Result<Filled, Stop> {
        let tasks = self.tasks(sweep);
        fill_parts(out, tasks.count(), tasks.pieces(), |parts| {
            kernel::in_halves(parts, 0, tasks.parallel, &|number, part| {
                part.task(|part| self.task(sweep, &tasks.task(number), gaps, part))
            })
        })
    }

    /// How the work is shared out.
    #[inline(never)]
    pub(super) fn tasks<W: Sweep<T>>(&self, sweep: &W) -> Tasks {
        let (results, items) = (sweep.results(), self.outer * self.inner);
        let slab = results.max(self.extent).saturating_mul(self.width);
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
        // As many lanes as a window of storage holds that is not memory.
        let window = self.rows.window().filter(|_| self.lanes && self.rows.is_far()).unwrap_or(0);
        let share = if parallel { items.div_ceil(threads()) } else { items };
        let together = (GRAIN / slab).max(share.min(window / slab));
        if slab <= GRAIN || together > 1 {
            let whole = together.max(1).next_multiple_of(high);
            // Blocks that many lanes lie in are not worth a thread without work.
            let idle = slab > GRAIN && parallel && items.div_ceil(whole) < threads();
            let together = if idle { together } else { whole };
            tasks.together = if self.inner == 1 { together.min(items) } else { 1 };
            return tasks;
        }
        // Where lanes come back to the blocks of those before: as many as lie in a layer of blocks, and in a window.
        if !self.lanes && self.inner == 1 && self.rows.comes_back() {
            let layer = high.checked_div(self.extent).unwrap_or(0).min(items.div_ceil(threads()));
            let held = self.rows.window().unwrap_or(0) / slab;
            if layer.min(held) > 1 && self.width <= sweep.most_lanes() {
                tasks.together = layer.min(held);
                return tasks;
            }
        }
        // Lanes that are cut are read twice, which storage that is not memory makes dear.
        let each = if self.rows.is_far() || self.rows.in_runs() { 1 } else { 4 };
        let wanted = if parallel { (each * threads()).div_ceil(items) } else { 1 };
        let narrow = self.width.div_ceil(wanted).next_multiple_of(64).max(NARROW);
        // Where blocks are not held until the next columns they are gone through at once.
        let most = sweep.width();
        let comes_back = self.rows.comes_back_for_columns();
        let most = if comes_back && wide <= sweep.most_lanes() { most.max(wide) } else { most };
        let columns = narrow.next_multiple_of(wide).min(most);
        tasks.columns = (columns / wide * wide).max(columns.min(wide)).min(self.width);
        if let Some(grain) = sweep.grain().filter(|_| parallel) {
            let jobs = wanted.div_ceil(self.width.div_ceil(tasks.columns)).min(slab / GRAIN).max(1);
            tasks.length = results.div_ceil(jobs).next_multiple_of(grain).min(results);
        }
        tasks
    }

    /// Runs one task.
    #[inline(never)]
    fn task<W: Sweep<T>>(
        &self,
        sweep: &W,
        task: &Task,
        gaps: &Gaps,
        out: &mut Slots<'_, W::Out>,
    ) -> Result<(), Stop> {
        let (results, extent) = (sweep.results(), self.extent);
        let memory = &mut W::Memory::default();
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
                let (reader, at) = (&mut reader, &mut At { memory, job: job(item), out });
                if self.lanes {
                    lane(sweep, &mut ReadLane { reader, item }, at)?;
                } else {
                    let (first, columns) = (item * extent, task.columns.clone());
                    if sweep.in_order() {
                        reader.up_to(first + extent);
                    }
                    if !sweep.backward() {
                        reader.follow(first..first + extent, columns.clone(), false);
                    }
                    let mut table = ReadTable { reader, first, columns };
                    sweep.table(&mut table, at)?;
                }
            }
            return Ok(());
        }
        let most = match self.lanes {
            true => reader.in_whole_blocks(reader.block_size(), extent),
            false => reader.block_size(),
        };
        let together = (most / slab).max(1);
        let turned = |k: usize, count: usize| if sweep.backward() { count - 1 - k } else { k };
        let groups = task.items.len().div_ceil(together);
        for group in 0..groups {
            let first = task.items.start + turned(group, groups) * together;
            let items = first..(first + together).min(task.items.end);
            if self.lanes {
                let block = reader.read(items.clone(), 0..extent)?;
                let at = &mut At { memory, job: job(first), out };
                match block.flat() {
                    Some(elements) => lanes(sweep, elements, extent, at)?,
                    None => each_lane(sweep, (0..items.len()).map(|k| block.row(k)), at)?,
                }
            } else {
                let rows = items.start * extent..items.end * extent;
                let count = rows.len();
                let block = reader.read(rows, task.columns.clone())?;
                let rows = list((0..count).map(|row| block.row(row)))?;
                for k in 0..items.len() {
                    let k = turned(k, items.len());
                    let mut table = &rows[k * extent..][..extent];
                    sweep.table(&mut table, &mut At { memory, job: job(first + k), out })?;
                }
            }
        }
        Ok(())
    }
}
