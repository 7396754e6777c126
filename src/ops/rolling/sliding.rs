//! Folds of windows in time proportional to the axis.
//!
//! The axis is cut into blocks as long as a window. A window then is a suffix of one block and a prefix
//! of the next, so that the states of all suffixes and prefixes, found in one pass each, give every window by
//! one join. Nothing is subtracted, so the reducer needs no inverse and errors do not pile up. (M. van Herk,
//! "A fast algorithm for local minimum and maximum filters", 1992.)
//!
//! Short windows are folded as they are, neighbouring ones side by side.

use super::edge::{Extent, ReadingOrder, WindowEdge, runs};
use crate::expr::Stop;
use crate::kernel::{LARGE_BYTES, PART};
use crate::memory::{default_of_fields, list, refill, try_reserve_exact};
use crate::ops::along::{At, Lane, LaneRows, Panel, States, Sweep, each_lane};
use crate::ops::reduce::{Reducer, loops};
use std::marker::PhantomData;
use std::ops::Range;

/// Windows up to this length are folded one by one.
const SHORT: usize = 8;
/// Neighbouring windows that are folded side by side.
const SIDE: usize = 256;
/// States of blocks of lanes side by side that are kept at once, as they fit the cache.
const KEPT: usize = 1 << 15;
/// The same where blocks of storage would be loaded again for other lanes: more than the cache has.
const KEPT_FAR_BYTES: usize = 1 << 24;

/// Windows at work.
pub(super) struct Sliding<'s, T, R> {
    pub(super) reducer: &'s R,
    edge: WindowEdge,
    results: usize,
    /// Elements of the axis, and with those that extend it.
    extent: usize,
    pub(super) extended: usize,
    /// How many extend it at its start.
    padding: usize,
    pub(super) window: usize,
    /// The window of number `k` begins at element `k - shift`.
    shift: usize,
    elements: PhantomData<fn(T)>,
}

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    pub(super) elements: Vec<T>,
    /// States of prefixes of a block, and of suffixes of the block before.
    pub(super) prefixes: Vec<S>,
    pub(super) suffixes: Vec<S>,
    pub(super) results: Vec<U>,
}

default_of_fields!(Memory<T, S, U> { elements, prefixes, suffixes, results });

impl<'s, T: Copy + Send + Sync, R: Reducer<T>> Sliding<'s, T, R> {
    pub(super) fn new(reducer: &'s R, windows: Extent, extent: usize, results: usize) -> Self {
        let Extent { window, before, edge, .. } = windows;
        let (extended, padding, shift, elements) = (extent, 0, 0, PhantomData);
        let one =
            Self { reducer, edge, results, extent, extended, padding, window, shift, elements };
        match edge {
            WindowEdge::Full => one,
            WindowEdge::Cut => {
                // What lies beyond the axis on both sides is cut from every window.
                let shift = before.min(extent);
                let window = shift + (window - 1 - before).min(extent) + 1;
                Self { window, shift, ..one }
            }
            WindowEdge::Clamp | WindowEdge::Wrap | WindowEdge::Reflect => {
                Self { extended: extent + window - 1, padding: before, ..one }
            }
        }
    }

    pub(super) fn is_extended(&self) -> bool {
        self.extended > self.extent
    }

    /// Whether each window is folded by itself.
    fn is_direct(&self) -> bool {
        self.window <= SHORT || !R::MOVES || !R::ASSOCIATIVE
    }

    /// The elements of a window.
    fn range(&self, number: usize) -> Range<usize> {
        let end = (number + self.window).saturating_sub(self.shift);
        number.saturating_sub(self.shift)..end.min(self.extended)
    }

    /// Numbers of the windows that are not cut.
    fn whole(&self) -> Range<usize> {
        let count = (self.extended + 1).saturating_sub(self.window);
        self.shift.min(self.results)..(self.shift + count).min(self.results)
    }

    /// Where a window ends, cut or not.
    pub(super) fn last(&self, number: usize) -> usize {
        number + self.window - 1 - self.shift
    }

    /// Some elements of the extended axis.
    pub(super) fn run<'l>(
        &self,
        lane: &'l mut dyn Lane<T>,
        range: Range<usize>,
        elements: &'l mut Vec<T>,
    ) -> Result<&'l [T], Stop> {
        let inside = self.padding..self.padding + self.extent;
        if !self.is_extended() || (range.start >= inside.start && range.end <= inside.end) {
            return lane.run(range.start - self.padding..range.end - self.padding);
        }
        elements.clear();
        try_reserve_exact(elements, range.len())?;
        for (range, order) in runs(self.edge, self.extent, self.padding, range) {
            if range.is_empty() || order == ReadingOrder::Repeat(0) {
                continue;
            }
            let run = lane.run(range)?;
            match order {
                ReadingOrder::Forward => elements.extend_from_slice(run),
                ReadingOrder::Backward => elements.extend(run.iter().rev()),
                ReadingOrder::Repeat(count) => elements.extend((0..count).map(|_| run[0])),
            }
        }
        Ok(elements)
    }

    /// Some rows of the extended axis.
    pub(super) fn rows<'l>(
        &self,
        table: &'l mut dyn LaneRows<T>,
        range: Range<usize>,
        width: usize,
        elements: &'l mut Vec<T>,
    ) -> Result<Panel<'l, T>, Stop> {
        let inside = self.padding..self.padding + self.extent;
        if !self.is_extended() || (range.start >= inside.start && range.end <= inside.end) {
            let range = range.start - self.padding..range.end - self.padding;
            return table.rows(range);
        }
        elements.clear();
        try_reserve_exact(elements, range.len().saturating_mul(width))?;
        for (range, order) in runs(self.edge, self.extent, self.padding, range) {
            let count = match order {
                ReadingOrder::Repeat(count) => count,
                _ => range.len(),
            };
            if count == 0 || range.is_empty() {
                continue;
            }
            let panel = table.rows(range)?;
            for k in 0..count {
                elements.extend_from_slice(panel.row(match order {
                    ReadingOrder::Forward => k,
                    ReadingOrder::Backward => count - 1 - k,
                    ReadingOrder::Repeat(_) => 0,
                }));
            }
        }
        Ok(Panel::of_rows(elements, width)?)
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Sliding<'_, T, R> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    const LARGE: bool = size_of::<R::State>() > LARGE_BYTES || size_of::<R::Out>() > LARGE_BYTES;

    fn results(&self) -> usize {
        self.results
    }

    fn grain(&self) -> Option<usize> {
        Some(self.window.max(SIDE))
    }

    fn width(&self) -> usize {
        let lanes = (KEPT / self.window).clamp(8, 512);
        // Whole lines of the cache.
        if lanes < 64 { lanes & !7 } else { lanes & !63 }
    }

    fn most_lanes(&self) -> usize {
        KEPT_FAR_BYTES / size_of::<R::State>().max(1) / self.window
    }

    fn lane(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        at.memory.results.clear();
        try_reserve_exact(&mut at.memory.results, 2 * PART.max(SIDE))?;
        if self.is_direct() {
            self.one_by_one(lane, at)?;
        } else {
            self.by_blocks(lane, at)?;
        }
        at.out.put(&at.memory.results);
        Ok(())
    }

    /// Windows of short lanes side by side: of each the first elements, then the second ones, and so on.
    fn lanes(
        &self,
        elements: &[T],
        extent: usize,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        let are_whole = self.shift == 0 && !self.is_extended() && self.whole() == (0..self.results);
        if !are_whole || self.window > SHORT || extent > SIDE {
            return each_lane(self, elements.chunks_exact(extent), at);
        }
        let At { memory, job, out } = at;
        let Memory { elements: copied, prefixes: states, results, .. } = memory;
        let together = (SIDE / self.results.max(1)).max(1);
        results.clear();
        try_reserve_exact(results, elements.len().min(2 * SIDE) + PART)?;
        let mut done = 0;
        for lanes in elements.chunks(together * extent) {
            let count = lanes.len() / extent * self.results;
            copied.clear();
            try_reserve_exact(copied, self.window * count)?;
            for k in 0..self.window {
                for lane in lanes.chunks_exact(extent) {
                    copied.extend_from_slice(&lane[k..][..self.results]);
                }
            }
            let mut rows = [&copied[..0]; SHORT];
            let windows = copied.chunks_exact(count.max(1));
            rows.iter_mut().zip(windows).for_each(|(row, elements)| *row = elements);
            loops::fold_columns(self.reducer, &rows[..self.window], 0, states)?;
            if let Some((k, reason)) = self.reducer.emit(states.iter().cloned(), results) {
                job.undefined(done + k, 0, reason);
            }
            done += count;
            out.drain(results);
        }
        out.put(results);
        Ok(())
    }

    fn table(&self, table: &mut dyn LaneRows<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        at.memory.results.clear();
        try_reserve_exact(&mut at.memory.results, at.job.width.saturating_add(PART))?;
        if self.is_direct() {
            self.row_by_row(table, at)?;
        } else {
            self.rows_by_blocks(table, at)?;
        }
        at.out.put(&at.memory.results);
        Ok(())
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sliding<'_, T, R> {
    /// Folds each window of a lane.
    fn one_by_one(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory, job, out } = at;
        let Memory { elements, prefixes: states, results, .. } = memory;
        let whole = self.whole();
        let mut number = job.results.start;
        while number < job.results.end {
            let count = if whole.contains(&number) {
                SIDE.min(whole.end.min(job.results.end) - number)
            } else {
                1
            };
            let range = self.range(number).start..self.range(number + count - 1).end;
            let run = self.run(lane, range, elements)?;
            let length = run.len() + 1 - count;
            let (mut few, many);
            let windows = (0..length).map(|k| &run[k..k + count]);
            let rows = if length <= SHORT {
                few = [&run[..0]; SHORT];
                few.iter_mut().zip(windows).for_each(|(row, window)| *row = window);
                &few[..length]
            } else {
                many = list(windows)?;
                &many
            };
            loops::fold_columns(self.reducer, rows, 0, states)?;
            if let Some((k, reason)) = self.reducer.emit(states.iter().cloned(), results) {
                job.undefined(number + k, 0, reason);
            }
            out.drain(results);
            number += count;
        }
        Ok(())
    }

    /// Folds each window of lanes side by side.
    fn row_by_row(
        &self,
        table: &mut dyn LaneRows<T>,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        let At { memory, job, out } = at;
        let Memory { elements, prefixes: states, results, .. } = memory;
        let together = (table.best() / job.width).max(1);
        let mut number = job.results.start;
        let mut window: Vec<&[T]> = Vec::new();
        while number < job.results.end {
            let end = number.saturating_add(together).min(job.results.end);
            let start = self.range(number).start;
            let rows = self.rows(table, start..self.range(end - 1).end, job.width, elements)?;
            for number in number..end {
                refill(&mut window, self.range(number).map(|k| rows.row(k - start)))?;
                loops::fold_columns(self.reducer, &window, 0, states)?;
                if let Some((lane, reason)) = self.reducer.emit(states.iter().cloned(), results) {
                    job.undefined(number, lane, reason);
                }
                out.drain(results);
            }
            window = Vec::new();
            number = end;
        }
        Ok(())
    }
}
