//! Folds of windows in time proportional to the axis.
//!
//! The axis is cut into blocks as long as a window. A window then is the end of one block and the beginning
//! of the next, so that the states of all ends and beginnings, found in one pass each, give every window by
//! one join. Nothing is subtracted, so the reducer needs no inverse and errors do not pile up. (M. van Herk,
//! "A fast algorithm for local minimum and maximum filters", 1992.)
//!
//! Short windows are folded as they are, neighbouring ones side by side.

use super::edge::{Edge, Extent, Order, runs};
use crate::expr::Stop;
use crate::kernel::{self, Loop, PART, Part};
use crate::ops::along::{BLOCK, GROUP, Gap, Job, Lane, Panel, States, Sweep, Table};
use crate::ops::reduce::Reducer;
use std::ops::Range;

/// Windows up to this length are folded one by one.
const SHORT: usize = 8;
/// Neighbouring windows that are folded side by side.
const SIDE: usize = 256;
/// States of blocks of lanes side by side that are kept at once, as they fit the cache.
const KEPT: usize = 1 << 16;

/// Windows at work.
pub(super) struct Sliding<'s, R> {
    reducer: &'s R,
    edge: Edge,
    results: usize,
    /// Elements of the axis, and with those that extend it.
    extent: usize,
    extended: usize,
    /// How many extend it at its start.
    padding: usize,
    window: usize,
    /// The window of number `k` begins at element `k - shift`.
    shift: usize,
}

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    elements: Vec<T>,
    /// States of beginnings of a block, and of ends of the block before.
    beginnings: Vec<S>,
    ends: Vec<S>,
    results: Vec<U>,
}

impl<T, S, U> Default for Memory<T, S, U> {
    fn default() -> Self {
        Self { elements: Vec::new(), beginnings: Vec::new(), ends: Vec::new(), results: Vec::new() }
    }
}

impl<'s, R> Sliding<'s, R> {
    pub(super) fn new(reducer: &'s R, windows: Extent, extent: usize, results: usize) -> Self {
        let Extent { window, before, edge, .. } = windows;
        let one =
            Self { reducer, edge, results, extent, extended: extent, padding: 0, window, shift: 0 };
        match edge {
            Edge::Full => one,
            Edge::Cut => {
                // What lies beyond the axis on both sides is cut from every window.
                let shift = before.min(extent);
                let window = shift + (window - 1 - before).min(extent) + 1;
                Self { window, shift, ..one }
            }
            Edge::Clamp | Edge::Wrap | Edge::Reflect => {
                Self { extended: extent + window - 1, padding: before, ..one }
            }
        }
    }

    fn is_extended(&self) -> bool {
        self.extended > self.extent
    }

    /// Whether each window is folded by itself.
    fn is_direct<T: Copy>(&self) -> bool
    where
        R: Reducer<T>,
    {
        self.window <= SHORT || R::POSITIONS || !R::ASSOCIATIVE
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
    fn last(&self, number: usize) -> usize {
        number + self.window - 1 - self.shift
    }

    /// Some elements of the extended axis.
    fn run<'l, T: Copy>(
        &self,
        lane: &'l mut impl Lane<T>,
        range: Range<usize>,
        elements: &'l mut Vec<T>,
    ) -> Result<&'l [T], Stop> {
        let inside = self.padding..self.padding + self.extent;
        if !self.is_extended() || (range.start >= inside.start && range.end <= inside.end) {
            return lane.run(range.start - self.padding..range.end - self.padding);
        }
        elements.clear();
        for (range, order) in runs(self.edge, self.extent, self.padding, range) {
            if range.is_empty() || order == Order::Repeat(0) {
                continue;
            }
            let run = lane.run(range)?;
            match order {
                Order::Forward => elements.extend_from_slice(run),
                Order::Backward => elements.extend(run.iter().rev()),
                Order::Repeat(count) => elements.extend((0..count).map(|_| run[0])),
            }
        }
        Ok(elements)
    }

    /// Some rows of the extended axis.
    fn rows<'l, T: Copy>(
        &self,
        table: &'l mut impl Table<T>,
        range: Range<usize>,
        width: usize,
        elements: &'l mut Vec<T>,
    ) -> Result<Rows<'l, T>, Stop> {
        let inside = self.padding..self.padding + self.extent;
        if !self.is_extended() || (range.start >= inside.start && range.end <= inside.end) {
            let range = range.start - self.padding..range.end - self.padding;
            return Ok(Rows::Panel(table.rows(range)?));
        }
        elements.clear();
        for (range, order) in runs(self.edge, self.extent, self.padding, range) {
            let count = match order {
                Order::Repeat(count) => count,
                _ => range.len(),
            };
            if count == 0 || range.is_empty() {
                continue;
            }
            let panel = table.rows(range)?;
            for k in 0..count {
                elements.extend_from_slice(panel.row(match order {
                    Order::Forward => k,
                    Order::Backward => count - 1 - k,
                    Order::Repeat(_) => 0,
                }));
            }
        }
        Ok(Rows::Copied { elements, width })
    }
}

/// Rows of lanes side by side.
enum Rows<'l, T> {
    Panel(Panel<'l, T>),
    Copied { elements: &'l [T], width: usize },
}

impl<'l, T> Rows<'l, T> {
    fn row(&self, row: usize) -> &'l [T] {
        match self {
            Self::Panel(panel) => panel.row(row),
            Self::Copied { elements, width } => &elements[row * width..][..*width],
        }
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Sliding<'_, R> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    fn results(&self) -> usize {
        self.results
    }

    fn grain(&self) -> Option<usize> {
        Some(self.window.max(SIDE))
    }

    fn width(&self) -> usize {
        (KEPT / self.window).clamp(8, 512)
    }

    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        memory.results.clear();
        if self.is_direct() {
            self.one_by_one(memory, lane, job, out)?;
        } else {
            self.by_blocks(memory, lane, job, out)?;
        }
        out.put(&memory.results);
        Ok(())
    }

    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        memory.results.clear();
        if self.is_direct() {
            self.row_by_row(memory, table, job, out)?;
        } else {
            self.rows_by_blocks(memory, table, job, out)?;
        }
        out.put(&memory.results);
        Ok(())
    }
}

impl<R> Sliding<'_, R> {
    /// Folds each window of a lane.
    fn one_by_one<T: Copy>(
        &self,
        memory: &mut Memory<T, R::State, R::Out>,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop>
    where
        R: Reducer<T>,
    {
        let Memory { elements, beginnings: states, results, .. } = memory;
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
            let rows: Vec<&[T]> = (0..length).map(|k| &run[k..k + count]).collect();
            kernel::wide(|| self.reducer.fold_columns(&rows, 0, states));
            if let Some((k, reason)) = self.reducer.emit(states.iter().cloned(), results) {
                job.undefined(number + k, 0, reason);
            }
            out.drain(results);
            number += count;
        }
        Ok(())
    }

    /// Folds each window of lanes side by side.
    fn row_by_row<T: Copy>(
        &self,
        memory: &mut Memory<T, R::State, R::Out>,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop>
    where
        R: Reducer<T>,
    {
        let Memory { elements, beginnings: states, results, .. } = memory;
        let together = (table.best() / job.width).max(1);
        let mut number = job.results.start;
        let mut window: Vec<&[T]> = Vec::new();
        while number < job.results.end {
            let end = number.saturating_add(together).min(job.results.end);
            let start = self.range(number).start;
            let rows = self.rows(table, start..self.range(end - 1).end, job.width, elements)?;
            for number in number..end {
                window.clear();
                window.extend(self.range(number).map(|k| rows.row(k - start)));
                kernel::wide(|| self.reducer.fold_columns(&window, 0, states));
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

    /// Joins ends and beginnings of blocks of a lane.
    fn by_blocks<T: Copy>(
        &self,
        memory: &mut Memory<T, R::State, R::Out>,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop>
    where
        R: Reducer<T>,
    {
        let Memory { elements, beginnings, ends, results } = memory;
        let (window, extended) = (self.window, self.extended);
        let block = |number: usize| {
            let start = number.saturating_mul(window).min(extended);
            start..start.saturating_add(window).min(extended)
        };
        let (first, last) = (self.last(job.results.start), self.last(job.results.end - 1));
        let (mut number, last_block) = (first / window, last / window);
        ends.clear();
        if number > 0 {
            let run = self.run(lane, block(number - 1), elements)?;
            kernel::wide(Ends { reducer: self.reducer, run, ends });
        }
        let together = (lane.best() / window).max(1);
        while number <= last_block {
            let count = together.min(last_block - number + 1);
            let run =
                self.run(lane, block(number).start..block(number + count - 1).end, elements)?;
            for k in 0..count {
                let start = (k * window).min(run.len());
                let (block, after) = run[start..].split_at((run.len() - start).min(window));
                let base = (number + k) * window;
                let places = first.max(base) - base..last.min(base + window - 1) - base + 1;
                let blocks = Blocks {
                    reducer: self.reducer,
                    block,
                    after,
                    places: places.clone(),
                    beginnings,
                    ends,
                    results,
                    out,
                };
                if let Some((k, reason)) = kernel::wide(blocks) {
                    job.undefined(job.results.start + base + places.start + k - first, 0, reason);
                }
            }
            number += count;
        }
        Ok(())
    }

    /// Joins ends and beginnings of blocks of lanes side by side.
    fn rows_by_blocks<T: Copy>(
        &self,
        memory: &mut Memory<T, R::State, R::Out>,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop>
    where
        R: Reducer<T>,
    {
        let Memory { elements, beginnings, ends, results } = memory;
        let (window, extended, width) = (self.window, self.extended, job.width);
        let start = |block: usize| block.saturating_mul(window).min(extended);
        let (first, last) = (self.last(job.results.start), self.last(job.results.end - 1));
        ends.clear();
        if let Some(before) = (first / window).checked_sub(1) {
            let rows = self.rows(table, start(before)..start(before + 1), width, elements)?;
            kernel::wide(|| self.ends(&rows, start(before + 1) - start(before), ends));
        }
        for block in first / window..=last / window {
            let count = start(block + 1) - start(block);
            let rows = self.rows(table, start(block)..start(block + 1), width, elements)?;
            beginnings.clear();
            for k in 0..window.min(last - block * window + 1) {
                let place = block * window + k;
                let gap = kernel::wide(|| {
                    if k < count {
                        self.begin(rows.row(k), beginnings);
                    }
                    let end = ends.get((k + 1) * width..(k + 2) * width).unwrap_or_default();
                    if place >= first { self.meet(end, beginnings, results) } else { None }
                });
                if let Some((lane, reason)) = gap {
                    job.undefined(job.results.start + place - first, lane, reason);
                }
                out.drain(results);
            }
            kernel::wide(|| self.ends(&rows, count, ends));
        }
        Ok(())
    }

    /// Takes the next row of a block.
    #[inline(always)]
    fn begin<T: Copy>(&self, row: &[T], states: &mut Vec<R::State>)
    where
        R: Reducer<T>,
    {
        if states.is_empty() {
            states.extend(row.iter().map(|&x| self.reducer.first(x)));
        } else {
            for (state, &x) in states.iter_mut().zip(row) {
                self.reducer.step(state, x);
            }
        }
    }

    /// The results of windows that consist of ends and beginnings, of which either may be missing.
    #[inline(always)]
    fn meet<T: Copy>(
        &self,
        ends: &[R::State],
        beginnings: &[R::State],
        results: &mut Vec<R::Out>,
    ) -> Gap
    where
        R: Reducer<T>,
    {
        match (ends, beginnings) {
            ([], states) | (states, []) => self.reducer.emit(states.iter().cloned(), results),
            (ends, beginnings) => {
                let pairs = ends.iter().zip(beginnings);
                self.reducer
                    .emit(pairs.map(|(end, start)| self.reducer.joined(end, start)), results)
            }
        }
    }

    /// The states of all ends of a block of `count` rows, the longest first.
    #[inline(always)]
    fn ends<T: Copy>(&self, rows: &Rows<'_, T>, count: usize, ends: &mut Vec<R::State>)
    where
        R: Reducer<T>,
    {
        ends.clear();
        let Some(last) = count.checked_sub(1) else { return };
        // From the last row on, each after the rows that follow it; then turned around.
        ends.extend(rows.row(last).iter().map(|&x| self.reducer.first(x)));
        let width = ends.len();
        for k in (0..last).rev() {
            let after = ends.len() - width;
            for (lane, &x) in rows.row(k).iter().enumerate() {
                let state = self.reducer.joined(&self.reducer.first(x), &ends[after + lane]);
                ends.push(state);
            }
        }
        for k in 0..count / 2 {
            let (low, high) = ends.split_at_mut((count - 1 - k) * width);
            low[k * width..][..width].swap_with_slice(&mut high[..width]);
        }
    }
}

/// Finding the states of all ends of a block, the longest first.
struct Ends<'a, T, R: Reducer<T>>
where
    T: Copy,
{
    reducer: &'a R,
    run: &'a [T],
    ends: &'a mut Vec<R::State>,
}

impl<T: Copy, R: Reducer<T>> Loop for Ends<'_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, run, ends } = self;
        // All are written below: what is there already serves as well.
        ends.truncate(run.len());
        let Some(&seed) = run.last() else { return };
        ends.resize(run.len(), reducer.first(seed));
        let mut blocks = None;
        for (block, ends) in run.rchunks(BLOCK).zip(ends.rchunks_mut(BLOCK)) {
            let (rest, fours) = block.as_rchunks::<GROUP>();
            let (first, slots) = ends.as_rchunks_mut::<GROUP>();
            let mut groups = None;
            for (four, slots) in fours.iter().zip(slots).rev() {
                let states = reducer.ends(four);
                let after = reducer.sum(groups.as_ref(), blocks.as_ref());
                groups = reducer.sum(states.first(), groups.as_ref());
                *slots = match &after {
                    Some(after) => states.map(|state| reducer.joined(&state, after)),
                    None => states,
                };
            }
            for (&x, slot) in rest.iter().zip(first).rev() {
                groups = reducer.sum(Some(&reducer.first(x)), groups.as_ref());
                if let Some(state) = reducer.sum(groups.as_ref(), blocks.as_ref()) {
                    *slot = state;
                }
            }
            blocks = reducer.sum(groups.as_ref(), blocks.as_ref());
        }
    }
}

/// The windows that end in a block.
struct Blocks<'a, 'o, T: Copy, R: Reducer<T>> {
    reducer: &'a R,
    block: &'a [T],
    /// What follows it, to be fetched into the cache.
    after: &'a [T],
    /// Where windows end, cut or not, from the start of the block.
    places: Range<usize>,
    beginnings: &'a mut Vec<R::State>,
    ends: &'a mut Vec<R::State>,
    results: &'a mut Vec<R::Out>,
    out: &'a mut Part<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Loop for Blocks<'_, '_, T, R> {
    type Out = Gap;

    #[inline(always)]
    fn run(self) -> Gap {
        let Self { reducer, block, after, places, beginnings, ends, results, out } = self;
        begin(reducer, block, beginnings);
        let (begun, ended) = (beginnings.len(), ends.len().saturating_sub(1));
        let mut gap: Gap = None;
        let mut place = places.start;
        while place < places.end {
            // Up to the next place from which a window lacks one or the other.
            let next = |bound: usize| if bound > place { bound } else { usize::MAX };
            let end = places.end.min(next(begun)).min(next(ended)).min(place + PART);
            let ends = ends.get(place + 1..=end).filter(|_| place < ended);
            let begin = beginnings.get(place..end).filter(|_| place < begun);
            kernel::prefetch(after, place, PART);
            let found = match (ends, begin, beginnings.last()) {
                (Some(ends), Some(begin), _) => {
                    let pairs = ends.iter().zip(begin);
                    reducer.emit(pairs.map(|(end, begin)| reducer.joined(end, begin)), results)
                }
                (Some(ends), None, Some(whole)) => {
                    reducer.emit(ends.iter().map(|end| reducer.joined(end, whole)), results)
                }
                (Some(states), None, None) | (None, Some(states), _) => {
                    reducer.emit(states.iter().cloned(), results)
                }
                (None, None, whole) => {
                    reducer.emit((place..end).filter_map(|_| whole.cloned()), results)
                }
            };
            gap = gap.or(found.map(|(k, reason)| (place - places.start + k, reason)));
            out.drain(results);
            place = end;
        }
        Ends { reducer, run: block, ends }.run();
        gap
    }
}

/// The states of all beginnings of a block.
#[inline(always)]
fn begin<T: Copy, R: Reducer<T>>(reducer: &R, run: &[T], states: &mut Vec<R::State>) {
    states.truncate(run.len());
    let Some(&seed) = run.first() else { return };
    states.resize(run.len(), reducer.first(seed));
    let mut blocks = None;
    for (block, states) in run.chunks(BLOCK).zip(states.chunks_mut(BLOCK)) {
        let (fours, rest) = block.as_chunks::<GROUP>();
        let (slots, last) = states.as_chunks_mut::<GROUP>();
        let mut groups = None;
        for (four, slots) in fours.iter().zip(slots) {
            let states = reducer.beginnings(four, |k| k);
            let before = reducer.sum(blocks.as_ref(), groups.as_ref());
            groups = reducer.sum(groups.as_ref(), states.last());
            *slots = match &before {
                Some(before) => states.map(|state| reducer.joined(before, &state)),
                None => states,
            };
        }
        for (&x, slot) in rest.iter().zip(last) {
            groups = reducer.sum(groups.as_ref(), Some(&reducer.first(x)));
            if let Some(state) = reducer.sum(blocks.as_ref(), groups.as_ref()) {
                *slot = state;
            }
        }
        blocks = reducer.sum(blocks.as_ref(), groups.as_ref());
    }
}
