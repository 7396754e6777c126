//! Windows of lanes side by side, as the suffixes of the rows of one block and the prefixes of the next.

use super::sliding::{Memory, Sliding};
use crate::expr::Stop;
use crate::kernel::{self, Columns, Kernel, Slots};
use crate::memory::try_reserve_exact;
use crate::ops::along::{At, GROUP, Gap, Job, LaneRows, Panel, States};
use crate::ops::reduce::Reducer;
use std::array::from_fn;
use std::ops::Range;

impl<T: Copy + Send + Sync, R: Reducer<T>> Sliding<'_, T, R> {
    /// Joins suffixes and prefixes of blocks of lanes side by side.
    pub(super) fn rows_by_blocks(
        &self,
        table: &mut dyn LaneRows<T>,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        let At { memory: Memory { elements, prefixes, suffixes, results }, job, out } = at;
        let (window, extended, width) = (self.window, self.extended, job.width);
        let start = |block: usize| block.saturating_mul(window).min(extended);
        let (first, last) = (self.last(job.results.start), self.last(job.results.end - 1));
        let (mut number, last_block) = (first / window, last / window);
        suffixes.clear();
        prefixes.clear();
        try_reserve_exact(suffixes, window.min(extended).saturating_mul(width))?;
        try_reserve_exact(prefixes, width)?;
        if number > 0 {
            let rows = self.rows(table, start(number - 1)..start(number), width, elements)?;
            // The block before a cut window may be cut itself.
            let (base, of) = (start(number - 1), 0..start(number) - start(number - 1));
            let rows = &rows;
            kernel::dispatch(SuffixRows { reducer: self.reducer, rows, base, of, suffixes });
        }
        // Rows beyond the axis are copied, so no more than are needed.
        let together = if self.is_extended() { 1 } else { (table.best() / window / width).max(1) };
        while number <= last_block {
            let count = together.min(last_block - number + 1);
            let base = start(number);
            let rows = self.rows(table, base..start(number + count), width, elements)?;
            for block in number..number + count {
                let of = start(block) - base..start(block + 1) - base;
                let places = first.max(block * window)..last.min(block * window + window - 1) + 1;
                kernel::dispatch(BlockRows {
                    sliding: self,
                    rows: &rows,
                    of: of.clone(),
                    block,
                    places,
                    first,
                    job,
                    prefixes,
                    suffixes,
                    results,
                    out,
                });
                let rows = &rows;
                kernel::dispatch(SuffixRows { reducer: self.reducer, rows, base, of, suffixes });
            }
            number += count;
        }
        Ok(())
    }
}

/// Takes the next row of a block.
#[inline(always)]
fn first_prefixes<T: Copy, R: Reducer<T>>(
    reducer: &R,
    row: &[T],
    position: usize,
    states: &mut Vec<R::State>,
) {
    if states.is_empty() {
        states.extend(row.iter().map(|&x| reducer.first_at(x, position)));
    } else {
        for (state, &x) in states.iter_mut().zip(row) {
            reducer.step_at(state, x, position);
        }
    }
}

/// The results of windows from `start` on that consist of suffixes and prefixes, of which either may be missing.
#[inline(always)]
fn meet_rows<T: Copy, R: Reducer<T>>(
    reducer: &R,
    suffixes: &[R::State],
    prefixes: &[R::State],
    start: usize,
    results: &mut Vec<R::Out>,
) -> Gap {
    let starts = std::iter::repeat(start);
    match (suffixes, prefixes) {
        ([], states) | (states, []) => reducer.emit_from(states.iter().cloned(), starts, results),
        (suffixes, prefixes) => {
            let pairs = suffixes.iter().zip(prefixes);
            let states = pairs.map(|(end, start)| reducer.joined(end, start));
            reducer.emit_from(states, starts, results)
        }
    }
}

/// Finding the states of all suffixes of a block of some rows, the longest first.
struct SuffixRows<'a, 'l, T: Copy, R: Reducer<T>> {
    reducer: &'a R,
    rows: &'a Panel<'l, T>,
    /// Position of the first row.
    base: usize,
    of: Range<usize>,
    suffixes: &'a mut Vec<R::State>,
}

impl<T: Copy, R: Reducer<T>> Kernel for SuffixRows<'_, '_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, rows, base, of, suffixes } = self;
        let Some(last) = of.len().checked_sub(1) else { return suffixes.clear() };
        let row = |k: usize| rows.row(of.start + k);
        let position = |k: usize| base + of.start + k;
        let width = row(last).len();
        // All are written below: what is there already serves as well.
        suffixes.truncate(of.len() * width);
        let Some(&seed) = row(last).first() else { return };
        suffixes.resize(of.len() * width, reducer.first(seed));
        for (state, &x) in suffixes[last * width..].iter_mut().zip(row(last)) {
            *state = reducer.first_at(x, position(last));
        }
        let mut k = last;
        while let Some(first) = k.checked_sub(GROUP) {
            let (before, after) = suffixes.split_at_mut(k * width);
            let states: [&mut [R::State]; GROUP] = {
                let mut rest = &mut before[first * width..];
                from_fn(|_| {
                    let (row, later) = std::mem::take(&mut rest).split_at_mut(width);
                    rest = later;
                    row
                })
            };
            let rows = from_fn(|j| &row(first + j)[..width]);
            end_group(reducer, rows, position(first), states, &after[..width]);
            k = first;
        }
        for k in (0..k).rev() {
            let (before, after) = suffixes.split_at_mut((k + 1) * width);
            let states = before[k * width..].iter_mut().zip(after);
            for ((state, after), &x) in states.zip(row(k)) {
                *state = reducer.joined(&reducer.first_at(x, position(k)), after);
            }
        }
    }
}

/// The suffixes that begin in a few rows from `position` on, given those that begin after them, which are loaded once.
#[inline(always)]
fn end_group<T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: [&[T]; GROUP],
    position: usize,
    states: [&mut [R::State]; GROUP],
    after: &[R::State],
) {
    let [a, b, c, d] = states;
    let first = |row: usize, k: usize| reducer.first_at(rows[row][k], position + row);
    let four = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
    for (k, (((a, b), (c, d)), after)) in four.zip(after).enumerate() {
        *d = reducer.joined(&first(3, k), after);
        *c = reducer.joined(&first(2, k), d);
        *b = reducer.joined(&first(1, k), c);
        *a = reducer.joined(&first(0, k), b);
    }
}

/// The windows of lanes side by side that end in a block.
struct BlockRows<'a, 'l, 'o, 's, T: Copy, R: Reducer<T>> {
    sliding: &'a Sliding<'s, T, R>,
    rows: &'a Panel<'l, T>,
    /// The rows of the block.
    of: Range<usize>,
    block: usize,
    /// Where windows end, cut or not.
    places: Range<usize>,
    /// Where the first window of the job ends.
    first: usize,
    job: &'a Job<'a>,
    prefixes: &'a mut Vec<R::State>,
    suffixes: &'a [R::State],
    results: &'a mut Vec<R::Out>,
    out: &'a mut Slots<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for BlockRows<'_, '_, '_, '_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { sliding, rows, of, block, places, first, job, .. } = self;
        let Self { prefixes, suffixes, results, out, .. } = self;
        let (reducer, width) = (sliding.reducer, job.width);
        let (base, count) = (block * sliding.window, of.len());
        prefixes.clear();
        let mut k = 0;
        while base + k < places.end {
            let number = (job.results.start + base + k).wrapping_sub(first);
            let ended = suffixes.get((k + 1) * width..(k + 1 + GROUP) * width);
            if let (Some(suffixes), true) = (ended, k + GROUP <= count)
                && base + k >= places.start
                && base + k + GROUP <= places.end
                && let Some(&seed) = rows.row(of.start + k).first()
            {
                let next = of.start + k + sliding.window;
                let next = (next + GROUP <= rows.count()).then(|| from_fn(|j| rows.row(next + j)));
                let rows = from_fn(|j| rows.row(of.start + k + j));
                let position = base + k;
                let meet =
                    MeetRows { sliding, rows, next, position, number, job, prefixes, suffixes };
                out.put(results);
                results.clear();
                if out.put_rows(width, reducer.finish(reducer.first(seed)), meet) {
                    k += GROUP;
                    continue;
                }
            }
            if k < count {
                first_prefixes(reducer, rows.row(of.start + k), base + k, prefixes);
            }
            if base + k >= places.start {
                let end = suffixes.get((k + 1) * width..(k + 2) * width).unwrap_or_default();
                let start = (base + k + 1).saturating_sub(sliding.window);
                if let Some((lane, reason)) = meet_rows(reducer, end, prefixes, start, results) {
                    job.undefined(number, lane, reason);
                }
                out.drain(results);
            }
            k += 1;
        }
    }
}

/// The windows that end in a few rows: prefixes pass from row to row in registers.
struct MeetRows<'a, 's, T: Copy, R: Reducer<T>> {
    sliding: &'a Sliding<'s, T, R>,
    rows: [&'a [T]; GROUP],
    /// Rows of the block after, to be fetched into the cache.
    next: Option<[&'a [T]; GROUP]>,
    /// Position of the first row.
    position: usize,
    /// Number of the first window.
    number: usize,
    job: &'a Job<'a>,
    prefixes: &'a mut Vec<R::State>,
    suffixes: &'a [R::State],
}

impl<T: Copy, R: Reducer<T>> Columns<R::Out, GROUP> for MeetRows<'_, '_, T, R> {
    #[inline(always)]
    fn compute(&mut self, start: usize, mut results: [&mut [R::Out]; GROUP]) {
        let count = results[0].len();
        let at = start..start + count;
        if let Some(next) = self.next {
            for row in next {
                kernel::prefetch_span(row, start, count);
            }
        }
        let width = self.job.width;
        let rows = self.rows.map(|row| &row[at.clone()]);
        let suffixes = from_fn(|j| &self.suffixes[j * width + start..][..count]);
        let mut prefixes = std::mem::take(self.prefixes);
        if let Some(states) = prefixes.get_mut(at) {
            for (k, state) in states.iter_mut().enumerate() {
                self.sliding.reducer.step_at(state, rows[0][k], self.position);
                self.take(rows, suffixes, start, k, state, &mut results);
            }
        } else {
            for k in 0..count {
                let mut state = self.sliding.reducer.first_at(rows[0][k], self.position);
                self.take(rows, suffixes, start, k, &mut state, &mut results);
                prefixes.push(state);
            }
        }
        *self.prefixes = prefixes;
    }
}

impl<T: Copy, R: Reducer<T>> MeetRows<'_, '_, T, R> {
    /// Writes the results of one lane, given the prefix that ends in the first row, and moves that on to
    /// the last.
    #[inline(always)]
    fn take(
        &self,
        rows: [&[T]; GROUP],
        suffixes: [&[R::State]; GROUP],
        start: usize,
        k: usize,
        prefix: &mut R::State,
        results: &mut [&mut [R::Out]; GROUP],
    ) {
        let reducer = self.sliding.reducer;
        for row in 0..GROUP {
            let position = self.position + row;
            if row > 0 {
                reducer.step_at(prefix, rows[row][k], position);
            }
            let mut state = reducer.joined(&suffixes[row][k], prefix);
            if R::POSITIONS {
                state = reducer.moved(state, (position + 1).saturating_sub(self.sliding.window));
            }
            if let Some(reason) = reducer.undefined(&state) {
                self.job.undefined(self.number + row, start + k, reason);
            }
            results[row][k] = reducer.finish(state);
        }
    }
}
