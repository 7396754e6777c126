//! Folds of neighbouring parts of a lane.

use crate::expr::Stop;
use crate::kernel::{self, Kernel, PART};
use crate::memory::{default_of_fields, refill, try_reserve_exact};
use crate::ops::along::{At, Gap, Job, Lane, LaneRows, States, Sweep, each_lane};
use crate::ops::reduce::{Pairwise, Reducer, loops};
use std::ops::{Range, RangeInclusive};

/// Elements of a lane, and rows of lanes side by side, that are folded at once. What they give is joined in
/// pairs.
const LEAF: usize = 512;
const ROWS: usize = 64;

/// Segments at work: the one of number `k` lies between offsets `k` and `k + 1`, which ascend and do not
/// exceed the extent of the axis.
pub(super) struct Cuts<'s, R> {
    pub(super) reducer: &'s R,
    pub(super) offsets: SegmentOffsets<'s>,
}

/// Offsets of either width. Shorter ones are widened a few at a time, for the loops are compiled for one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SegmentOffsets<'s> {
    Wide(&'s [usize]),
    Short(&'s [u32]),
}

impl<'s> SegmentOffsets<'s> {
    /// Number of segments.
    pub(crate) fn segments(self) -> usize {
        let count = match self {
            Self::Wide(all) => all.len(),
            Self::Short(all) => all.len(),
        };
        count.saturating_sub(1)
    }

    pub(crate) fn segment(self, number: usize) -> Range<usize> {
        match self {
            Self::Wide(all) => all[number]..all[number + 1],
            Self::Short(all) => all[number] as usize..all[number + 1] as usize,
        }
    }

    /// The first segment without elements.
    pub(crate) fn first_empty(self) -> Option<usize> {
        match self {
            Self::Wide(all) => all.windows(2).position(|pair| pair[0] == pair[1]),
            Self::Short(all) => all.windows(2).position(|pair| pair[0] == pair[1]),
        }
    }

    /// The offsets of some segments, in `room` if they are widened.
    fn of<'r>(self, segments: Range<usize>, room: &'r mut [usize; PART + 1]) -> &'r [usize]
    where
        's: 'r,
    {
        match self {
            Self::Wide(all) => &all[segments.start..=segments.end],
            Self::Short(all) => {
                let all = &all[segments.start..=segments.end];
                room.iter_mut().zip(all).for_each(|(slot, &offset)| *slot = offset as usize);
                &room[..all.len()]
            }
        }
    }
}

/// Memory of a task.
pub(super) struct Memory<S, U> {
    pairs: Pairwise<S>,
    states: Vec<S>,
    rows: Pairwise<Vec<S>>,
    results: Vec<U>,
}

default_of_fields!(Memory<S, U> { pairs, states, rows, results });

impl<R> Cuts<'_, R> {
    /// Lengths of segments that are one leaf.
    fn leaf<T: Copy>(&self) -> RangeInclusive<usize>
    where
        R: Reducer<T>,
    {
        usize::from(self.reducer.empty().is_none())..=LEAF
    }

    /// What to read from `start` on, if at best `count` elements and at least those up to `end` are read.
    fn block(&self, start: usize, end: usize, count: usize, job: &Job<'_>) -> Range<usize> {
        let last = self.offsets.segment(job.results.end - 1).end;
        start..start.saturating_add(count).min(last).max(end)
    }
}

/// Folds of neighbouring segments that are at most one leaf each, in a loop of their own: what a call for each takes is
/// as much as to fold a few dozen elements.
struct Leaves<'a, T: Copy, R: Reducer<T>> {
    reducer: &'a R,
    /// The elements from `base` on.
    run: &'a [T],
    base: usize,
    offsets: &'a [usize],
    /// How many lanes are cut at these offsets, and elements of each.
    lanes: usize,
    each: usize,
    results: &'a mut Vec<R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for Leaves<'_, T, R> {
    type Out = Gap;

    #[inline(always)]
    fn run(self) -> Gap {
        let Self { reducer, run, base, offsets, lanes, each, results } = self;
        let (mut gap, empty, first) = (None, reducer.empty(), results.len());
        for lane in (0..lanes).map(|lane| lane * each) {
            for pair in offsets.windows(2) {
                let (start, count) = (lane + pair[0] - base, pair[1] - pair[0]);
                let few = run.get(start..).and_then(|rest| rest.first_chunk());
                let state = match (few, &empty) {
                    // Without a branch on the length, which is unpredictable.
                    (Some(run), Some(empty)) if count <= 8 => {
                        let state = reducer.fold_few(run, count.max(1));
                        if count == 0 { empty.clone() } else { state }
                    }
                    (Some(run), None) if count <= 8 => reducer.fold_few(run, count),
                    (None, Some(empty)) if count == 0 => empty.clone(),
                    _ => reducer.fold(&run[start..start + count], 0),
                };
                gap = gap.or(reducer.undefined(&state).map(|why| (results.len() - first, why)));
                results.push(reducer.finish(state));
            }
        }
        gap
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Cuts<'_, R> {
    type Out = R::Out;
    type Memory = Memory<R::State, R::Out>;

    fn results(&self) -> usize {
        self.offsets.segments()
    }

    fn grain(&self) -> Option<usize> {
        Some(1)
    }

    fn lane(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory: Memory { pairs, states, results, .. }, job, out } = at;
        let combine = |state: &mut R::State, later| self.reducer.combine(state, later);
        let best = lane.best();
        // They are handed over when they are more than two parts.
        try_reserve_exact(results, 3 * PART + 1)?;
        let (mut block, mut run): (Range<usize>, &[T]) = (0..0, &[]);
        let mut room = [0; PART + 1];
        let leaf = self.leaf::<T>();
        let mut number = job.results.start;
        while number < job.results.end {
            if results.len() >= 2 * PART {
                out.drain(results);
            }
            let segment = self.offsets.segment(number);
            if R::ASSOCIATIVE && leaf.contains(&segment.len()) {
                if segment.end > block.end || segment.start < block.start {
                    block = self.block(segment.start, segment.end, best, job);
                    run = lane.run(block.clone())?;
                }
                let last = job.results.end.min(number + PART);
                let offsets = self.offsets.of(number..last, &mut room);
                let count = offsets
                    .windows(2)
                    .take_while(|pair| leaf.contains(&(pair[1] - pair[0])) && pair[1] <= block.end)
                    .count();
                let leaves = Leaves {
                    reducer: self.reducer,
                    run,
                    base: block.start,
                    offsets: &offsets[..=count],
                    lanes: 1,
                    each: run.len(),
                    results,
                };
                if let Some((k, reason)) = kernel::dispatch(leaves) {
                    job.undefined(number + k, 0, reason);
                }
                number += count;
                continue;
            }
            let mut state = None;
            for start in segment.clone().step_by(LEAF) {
                let end = (start + LEAF).min(segment.end);
                if end > block.end || start < block.start {
                    block = self.block(start, end, best, job);
                    run = lane.run(block.clone())?;
                }
                let leaf = &run[start - block.start..end - block.start];
                let position = start - segment.start;
                if R::ASSOCIATIVE {
                    loops::fold_runs(self.reducer, &[leaf], &[position], false, states)?;
                    states.drain(..).for_each(|state| pairs.push(state, combine));
                    continue;
                }
                for (&x, position) in leaf.iter().zip(position..) {
                    match &mut state {
                        None => state = Some(self.reducer.first_at(x, position)),
                        Some(state) => self.reducer.step_at(state, x, position),
                    }
                }
            }
            let state = state.or_else(|| pairs.finish(combine)).or_else(|| self.reducer.empty());
            if let Some((_, reason)) = self.reducer.emit(state.into_iter(), results) {
                job.undefined(number, 0, reason);
            }
            number += 1;
        }
        out.put(results);
        results.clear();
        Ok(())
    }

    /// Lanes of few segments in one loop, if each of them is a leaf.
    fn lanes(
        &self,
        elements: &[T],
        extent: usize,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        let (leaf, count) = (self.leaf::<T>(), self.offsets.segments());
        let mut each = (0..count).map(|number| self.offsets.segment(number).len());
        if !R::ASSOCIATIVE || !(1..=PART).contains(&count) || !each.all(|len| leaf.contains(&len)) {
            return each_lane(self, elements.chunks_exact(extent), at);
        }
        let At { memory: Memory { results, .. }, job, out } = at;
        let mut room = [0; PART + 1];
        let offsets = self.offsets.of(0..count, &mut room);
        let together = 2 * PART / count;
        try_reserve_exact(results, 3 * PART)?;
        let mut done = 0;
        for run in elements.chunks(together * extent) {
            let (reducer, lanes) = (self.reducer, run.len() / extent);
            let leaves = Leaves { reducer, run, base: 0, offsets, lanes, each: extent, results };
            if let Some((k, reason)) = kernel::dispatch(leaves) {
                job.undefined(done + k, 0, reason);
            }
            done += lanes * count;
            out.drain(results);
        }
        out.put(results);
        results.clear();
        Ok(())
    }

    fn table(&self, table: &mut dyn LaneRows<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory: Memory { rows: pairs, states: spare, results, .. }, job, out } = at;
        let combine = |states: &mut Vec<R::State>, later: Vec<R::State>| {
            loops::combine_columns(self.reducer, states, later);
        };
        let best = (table.best() / job.width).max(ROWS);
        try_reserve_exact(results, job.width.saturating_add(PART))?;
        let mut block = 0..0;
        let mut panel = table.rows(0..0)?;
        let mut leaf: Vec<&[T]> = Vec::new();
        for number in job.results.clone() {
            let segment = self.offsets.segment(number);
            let mut states: Option<Vec<R::State>> = None;
            for start in segment.clone().step_by(ROWS) {
                let end = (start + ROWS).min(segment.end);
                if end > block.end || start < block.start {
                    leaf = Vec::new();
                    block = self.block(start, end, best, job);
                    panel = table.rows(block.clone())?;
                }
                leaf.clear();
                leaf.extend((start..end).map(|k| panel.row(k - block.start)));
                let position = start - segment.start;
                if R::ASSOCIATIVE {
                    let mut states = std::mem::take(spare);
                    loops::fold_columns(self.reducer, &leaf, position, &mut states)?;
                    pairs.push(states, combine);
                    continue;
                }
                for (row, position) in leaf.iter().zip(position..) {
                    match &mut states {
                        None => {
                            let first = row.iter().map(|&x| self.reducer.first_at(x, position));
                            refill(spare, first)?;
                            states = Some(std::mem::take(spare));
                        }
                        Some(states) => {
                            for (state, &x) in states.iter_mut().zip(*row) {
                                self.reducer.step_at(state, x, position);
                            }
                        }
                    }
                }
            }
            let gap = match states.or_else(|| pairs.finish(combine)) {
                Some(states) => {
                    let gap = self.reducer.emit(states.iter().cloned(), results);
                    *spare = states;
                    gap
                }
                None => {
                    let empty = self.reducer.empty();
                    self.reducer.emit((0..job.width).filter_map(|_| empty.clone()), results)
                }
            };
            if let Some((lane, reason)) = gap {
                job.undefined(number, lane, reason);
            }
            out.drain(results);
        }
        out.put(results);
        results.clear();
        Ok(())
    }
}
