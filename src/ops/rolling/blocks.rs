//! Windows as a suffix of one block and a prefix of the next.

use super::sliding::{Memory, Sliding};
use crate::expr::Stop;
use crate::kernel::{self, Kernel, PART, Slots};
use crate::memory::try_reserve_exact;
use crate::ops::along::{At, BLOCK, GROUP, Gap, Lane, States};
use crate::ops::reduce::Reducer;
use std::ops::Range;

impl<T: Copy + Send + Sync, R: Reducer<T>> Sliding<'_, T, R> {
    /// Joins suffixes and prefixes of blocks of a lane.
    pub(super) fn by_blocks(
        &self,
        lane: &mut dyn Lane<T>,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        let At { memory: Memory { elements, prefixes, suffixes, results }, job, out } = at;
        let (window, extended) = (self.window, self.extended);
        let block = |number: usize| {
            let start = number.saturating_mul(window).min(extended);
            start..start.saturating_add(window).min(extended)
        };
        let (first, last) = (self.last(job.results.start), self.last(job.results.end - 1));
        let (mut number, last_block) = (first / window, last / window);
        suffixes.clear();
        let longest = window.min(extended);
        try_reserve_exact(suffixes, longest)?;
        try_reserve_exact(prefixes, longest.saturating_sub(prefixes.len()))?;
        if number > 0 {
            let run = self.run(lane, block(number - 1), elements)?;
            let base = block(number - 1).start;
            kernel::dispatch(Suffixes { reducer: self.reducer, run, base, suffixes });
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
                let blocks = WindowBlocks {
                    reducer: self.reducer,
                    window,
                    base,
                    block,
                    after,
                    places: places.clone(),
                    prefixes,
                    suffixes,
                    results,
                    out,
                };
                if let Some((k, reason)) = kernel::dispatch(blocks) {
                    job.undefined(job.results.start + base + places.start + k - first, 0, reason);
                }
            }
            number += count;
        }
        Ok(())
    }
}

/// Finding the states of all suffixes of a block, the longest first.
struct Suffixes<'a, T, R: Reducer<T>>
where
    T: Copy,
{
    reducer: &'a R,
    run: &'a [T],
    /// Position of the first.
    base: usize,
    suffixes: &'a mut Vec<R::State>,
}

impl<T: Copy, R: Reducer<T>> Kernel for Suffixes<'_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, run, base, suffixes } = self;
        // All are written below: what is there already serves as well.
        suffixes.truncate(run.len());
        let Some(&seed) = run.last() else { return };
        suffixes.resize(run.len(), reducer.first(seed));
        let mut blocks = None;
        let mut end = base + run.len();
        for (block, suffixes) in run.rchunks(BLOCK).zip(suffixes.rchunks_mut(BLOCK)) {
            let (rest, fours) = block.as_rchunks::<GROUP>();
            let (first, slots) = suffixes.as_rchunks_mut::<GROUP>();
            let mut groups = None;
            for (four, slots) in fours.iter().zip(slots).rev() {
                end -= GROUP;
                let states = reducer.suffixes(four, |k| end + k);
                let after = reducer.sum(groups.as_ref(), blocks.as_ref());
                groups = reducer.sum(states.first(), groups.as_ref());
                *slots = match &after {
                    Some(after) => states.map(|state| reducer.joined(&state, after)),
                    None => states,
                };
            }
            for (&x, slot) in rest.iter().zip(first).rev() {
                end -= 1;
                groups = reducer.sum(Some(&reducer.first_at(x, end)), groups.as_ref());
                if let Some(state) = reducer.sum(groups.as_ref(), blocks.as_ref()) {
                    *slot = state;
                }
            }
            blocks = reducer.sum(groups.as_ref(), blocks.as_ref());
        }
    }
}

/// The windows that end in a block.
struct WindowBlocks<'a, 'o, T: Copy, R: Reducer<T>> {
    reducer: &'a R,
    window: usize,
    /// Position of the first element.
    base: usize,
    block: &'a [T],
    /// What follows it, to be fetched into the cache.
    after: &'a [T],
    /// Where windows end, cut or not, from the start of the block.
    places: Range<usize>,
    prefixes: &'a mut Vec<R::State>,
    suffixes: &'a mut Vec<R::State>,
    results: &'a mut Vec<R::Out>,
    out: &'a mut Slots<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for WindowBlocks<'_, '_, T, R> {
    type Out = Gap;

    #[inline(always)]
    fn run(self) -> Gap {
        let Self { reducer, window, base, block, after, places, .. } = self;
        let Self { prefixes, suffixes, results, out, .. } = self;
        first_prefix(reducer, block, base, prefixes);
        let (begun, ended) = (prefixes.len(), suffixes.len().saturating_sub(1));
        let mut gap: Gap = None;
        let mut place = places.start;
        while place < places.end {
            // Up to the next place from which a window lacks one or the other.
            let next = |bound: usize| if bound > place { bound } else { usize::MAX };
            let end = places.end.min(next(begun)).min(next(ended)).min(place + PART);
            let suffixes = suffixes.get(place + 1..=end).filter(|_| place < ended);
            let begin = prefixes.get(place..end).filter(|_| place < begun);
            let starts = (base + place + 1..).map(|end| end.saturating_sub(window));
            kernel::prefetch_span(after, place, PART);
            let found = match (suffixes, begin, prefixes.last()) {
                (Some(suffixes), Some(begin), _) => {
                    let pairs = suffixes.iter().zip(begin);
                    let states = pairs.map(|(end, begin)| reducer.joined(end, begin));
                    reducer.emit_from(states, starts, results)
                }
                (Some(suffixes), None, Some(whole)) => {
                    let states = suffixes.iter().map(|end| reducer.joined(end, whole));
                    reducer.emit_from(states, starts, results)
                }
                (Some(states), None, None) | (None, Some(states), _) => {
                    reducer.emit_from(states.iter().cloned(), starts, results)
                }
                (None, None, whole) => {
                    let states = (place..end).filter_map(|_| whole.cloned());
                    reducer.emit_from(states, starts, results)
                }
            };
            gap = gap.or(found.map(|(k, reason)| (place - places.start + k, reason)));
            out.drain(results);
            place = end;
        }
        Suffixes { reducer, run: block, base, suffixes }.run();
        gap
    }
}

/// The states of all prefixes of a block.
#[inline(always)]
fn first_prefix<T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[T],
    base: usize,
    states: &mut Vec<R::State>,
) {
    states.truncate(run.len());
    let Some(&seed) = run.first() else { return };
    states.resize(run.len(), reducer.first(seed));
    let mut blocks = None;
    let mut next = base;
    for (block, states) in run.chunks(BLOCK).zip(states.chunks_mut(BLOCK)) {
        let (fours, rest) = block.as_chunks::<GROUP>();
        let (slots, last) = states.as_chunks_mut::<GROUP>();
        let mut groups = None;
        for (four, slots) in fours.iter().zip(slots) {
            let states = reducer.prefixes(four, |k| next + k);
            next += GROUP;
            let before = reducer.sum(blocks.as_ref(), groups.as_ref());
            groups = reducer.sum(groups.as_ref(), states.last());
            *slots = match &before {
                Some(before) => states.map(|state| reducer.joined(before, &state)),
                None => states,
            };
        }
        for (&x, slot) in rest.iter().zip(last) {
            groups = reducer.sum(groups.as_ref(), Some(&reducer.first_at(x, next)));
            next += 1;
            if let Some(state) = reducer.sum(blocks.as_ref(), groups.as_ref()) {
                *slot = state;
            }
        }
        blocks = reducer.sum(blocks.as_ref(), groups.as_ref());
    }
}
