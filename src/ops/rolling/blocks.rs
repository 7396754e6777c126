//! Windows as the end of one block and the beginning of the next.

use super::sliding::{Memory, Rows, Sliding};
use crate::expr::Stop;
use crate::kernel::{self, Loop, PART, Part};
use crate::ops::along::{BLOCK, GROUP, Gap, Job, Lane, States, Table};
use crate::ops::reduce::Reducer;
use std::ops::Range;

impl<R> Sliding<'_, R> {
    /// Joins ends and beginnings of blocks of a lane.
    pub(super) fn by_blocks<T: Copy>(
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
    pub(super) fn rows_by_blocks<T: Copy>(
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
        let Some(last) = count.checked_sub(1) else { return ends.clear() };
        let row = rows.row(last);
        let width = row.len();
        // All are written below: what is there already serves as well.
        ends.truncate(count * width);
        let Some(&seed) = row.first() else { return };
        ends.resize(count * width, self.reducer.first(seed));
        for (state, &x) in ends[last * width..].iter_mut().zip(row) {
            *state = self.reducer.first(x);
        }
        for k in (0..last).rev() {
            let (before, after) = ends.split_at_mut((k + 1) * width);
            let states = before[k * width..].iter_mut().zip(after);
            for ((state, after), &x) in states.zip(rows.row(k)) {
                *state = self.reducer.joined(&self.reducer.first(x), after);
            }
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
