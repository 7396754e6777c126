//! The states of all prefixes of a lane.
//!
//! A lane is cut into blocks, and a block into groups of four. The states within a group are found by
//! `x0`, `x0 + x1`, `(x0 + x1) + x2`, `(x0 + x1) + (x2 + x3)`; to these are joined the groups before in the
//! block, joined to the blocks before. So few operations wait for one another, rounding errors grow with
//! the number of groups in a block plus the number of blocks instead of the number of elements, and a long
//! lane can be cut between any two blocks.

use super::across::{Cross, Lanes};
use super::advance::Advance;
use crate::expr::Stop;
use crate::kernel::{self, LARGE, PART, Queue, Slots};
use crate::memory::{refill, try_reserve_exact};
use crate::ops::along::{BLOCK, GROUP, Job, Lane, States, Sweep, Table};
use crate::ops::reduce::{Reducer, Undefined};
use smallvec::SmallVec;

/// A scan at work.
pub(super) struct Running<'s, R, S> {
    pub(super) reducer: &'s R,
    pub(super) extent: usize,
    pub(super) exclusive: bool,
    pub(super) reverse: bool,
    /// For every job, the states of its lanes before it; empty if no lane is cut.
    pub(super) carries: Vec<Vec<S>>,
}

/// The positions along the axis of what a scan takes one after another.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) extent: usize,
    pub(super) reverse: bool,
    /// How many elements come before.
    pub(super) first: usize,
}

impl Places {
    #[inline(always)]
    pub(super) fn position(self, k: usize) -> usize {
        let place = self.first + k;
        if self.reverse { self.extent - 1 - place } else { place }
    }

    #[inline(always)]
    pub(super) fn after(self, count: usize) -> Self {
        Self { first: self.first + count, ..self }
    }
}

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    turned: Vec<T>,
    pub(super) lanes: Lanes<S>,
    results: Vec<U>,
    queue: Queue<U>,
}

impl<T, S, U> Default for Memory<T, S, U> {
    fn default() -> Self {
        Self {
            turned: Vec::new(),
            lanes: Lanes::default(),
            results: Vec::new(),
            queue: Queue::default(),
        }
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Running<'_, R, R::State> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    const LARGE: bool = size_of::<R::State>() > LARGE || size_of::<R::Out>() > LARGE;

    fn results(&self) -> usize {
        self.extent
    }

    fn grain(&self) -> Option<usize> {
        (R::ASSOCIATIVE && !self.reverse).then_some(BLOCK)
    }

    fn backward(&self) -> bool {
        self.reverse
    }

    fn in_order(&self) -> bool {
        !self.reverse
    }

    fn width(&self) -> usize {
        4096
    }

    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut dyn Lane<T>,
        job: &Job<'_>,
        out: &mut Slots<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { turned, queue, .. } = memory;
        let mut carry = self.carries.get(job.number).and_then(|carry| carry.first().cloned());
        let best = if self.reverse { lane.best() } else { lane.best_in_order() };
        let step = (best / BLOCK).max(1) * BLOCK;
        let far = lane.is_far();
        let mut first = job.results.start;
        while first < job.results.end {
            let places = Places { extent: self.extent, reverse: self.reverse, first };
            let end = first.saturating_add(step).min(job.results.end);
            let run = if self.reverse {
                let run = lane.run(self.extent - end..self.extent - first)?;
                refill(turned, run.iter().rev().copied())?;
                turned.as_slice()
            } else {
                lane.run(first..end)?
            };
            let (carry, queue, out) = (&mut carry, &mut *queue, &mut *out);
            let advance = Advance { scan: self, run, far, places, carry, queue, out };
            let gap = kernel::dispatch(advance)?;
            if let Some((k, reason)) = gap {
                job.undefined(places.position(k), 0, reason);
            }
            first = end;
        }
        out.put(queue.results());
        queue.clear();
        Ok(())
    }

    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut dyn Table<T>,
        job: &Job<'_>,
        out: &mut Slots<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { lanes, results, .. } = memory;
        let together = (table.best() / job.width).clamp(1, self.extent.max(1));
        let together = together.next_multiple_of(GROUP);
        let (extent, reverse) = (self.extent, self.reverse);
        lanes.reset(job.width)?;
        try_reserve_exact(results, job.width.saturating_add(2 * PART))?;
        lanes.blocks.extend(self.carries.get(job.number).into_iter().flatten().cloned());
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel =
                table.rows(if reverse { extent - end..extent - first } else { first..end })?;
            let (results, out) = (&mut *results, &mut *out);
            kernel::dispatch(Cross {
                scan: self,
                panel: &panel,
                rows: first..end,
                job,
                lanes,
                results,
                out,
            });
            first = end;
        }
        out.put(results);
        results.clear();
        Ok(())
    }
}

impl<R, S: Clone> Running<'_, R, S> {
    /// Takes the next groups of a block and adds their results; tells why one has none, if so.
    #[inline(always)]
    pub(super) fn part<T: Copy>(
        &self,
        part: &[T],
        places: Places,
        carry: Option<&S>,
        groups: &mut Option<S>,
        results: &mut [R::Out],
    ) -> Option<Undefined>
    where
        R: Reducer<T, State = S>,
    {
        let (fours, rest) = part.as_chunks::<GROUP>();
        let (results, last) = results.as_chunks_mut::<GROUP>();
        let (mut gap, mut done) = (None, 0);
        let mut pairs = fours.iter().zip(results);
        while let Some((four, results)) = pairs.next() {
            let states = self.reducer.prefixes(four, |k| places.position(done + k));
            let before = self.reducer.sum(carry, groups.as_ref());
            *groups = self.reducer.sum(groups.as_ref(), states.last());
            gap = gap.or(self.finish_group(before, states, results));
            done += GROUP;
            // The usual case, in a loop that asks no questions.
            if let (Some(carry), Some(groups), false) = (carry, groups.as_mut(), self.exclusive) {
                for (four, results) in pairs.by_ref() {
                    let states = self.reducer.prefixes(four, |k| places.position(done + k));
                    let before = self.reducer.joined(carry, groups);
                    self.reducer.combine(groups, states[GROUP - 1].clone());
                    let states = states.map(|state| self.reducer.joined(&before, &state));
                    gap = gap.or(self.results_of(states, results));
                    done += GROUP;
                }
            }
        }
        if !rest.is_empty() {
            let states = self.few(rest, places.after(done));
            let before = self.reducer.sum(carry, groups.as_ref());
            gap = gap.or(self.finish(before.as_ref(), &states, last));
            *groups = self.reducer.sum(groups.as_ref(), states.last());
        }
        gap
    }

    /// The states within a group of fewer elements.
    fn few<T: Copy>(&self, x: &[T], places: Places) -> SmallVec<[S; GROUP]>
    where
        R: Reducer<T, State = S>,
    {
        let mut states: SmallVec<[S; GROUP]> = SmallVec::new();
        for (k, &x) in x.iter().enumerate() {
            let first = || self.reducer.first_at(x, places.position(k));
            let state = match states.last() {
                None => first(),
                Some(two) if k == 2 => self.reducer.joined(two, &first()),
                Some(one) => {
                    let mut two = one.clone();
                    self.reducer.step_at(&mut two, x, places.position(k));
                    two
                }
            };
            states.push(state);
        }
        states
    }

    /// The state of a block.
    #[inline(always)]
    pub(super) fn total<T: Copy>(&self, block: &[T], places: Places) -> Option<S>
    where
        R: Reducer<T, State = S>,
    {
        let (fours, rest) = block.as_chunks::<GROUP>();
        let mut groups: Option<S> = None;
        for (k, four) in fours.iter().enumerate() {
            let states = self.reducer.prefixes(four, |j| places.position(k * GROUP + j));
            groups = self.reducer.sum(groups.as_ref(), states.last());
        }
        let last = self.few(rest, places.after(fours.len() * GROUP));
        self.reducer.sum(groups.as_ref(), last.last())
    }

    /// The results of the states of a group, given what comes before it; tells why one has
    /// none, if so. In variables throughout: what is stored piece by piece cannot be loaded as one vector at
    /// once.
    #[inline(always)]
    fn finish_group<T: Copy>(
        &self,
        before: Option<S>,
        states: [S; GROUP],
        results: &mut [R::Out; GROUP],
    ) -> Option<Undefined>
    where
        R: Reducer<T, State = S>,
    {
        let [one, two, three, four] = match &before {
            Some(before) => states.map(|state| self.reducer.joined(before, &state)),
            None => states,
        };
        let states = if !self.exclusive {
            [one, two, three, four]
        } else if let Some(before) = before.or_else(|| self.reducer.empty()) {
            [before, one, two, three]
        } else {
            return Some(Undefined::Empty);
        };
        self.results_of(states, results)
    }

    #[inline(always)]
    fn results_of<T: Copy>(
        &self,
        states: [S; GROUP],
        results: &mut [R::Out; GROUP],
    ) -> Option<Undefined>
    where
        R: Reducer<T, State = S>,
    {
        let mut gap = None;
        *results = states.map(|state| {
            gap = gap.or(self.reducer.undefined(&state));
            self.reducer.finish(state)
        });
        gap
    }

    /// As [`Self::finish_group`] for fewer elements.
    fn finish<T: Copy>(
        &self,
        before: Option<&S>,
        states: &[S],
        results: &mut [R::Out],
    ) -> Option<Undefined>
    where
        R: Reducer<T, State = S>,
    {
        let mut gap = None;
        let mut put = |state: S, result: &mut R::Out| {
            gap = gap.or(self.reducer.undefined(&state));
            *result = self.reducer.finish(state);
        };
        let mut results = results.iter_mut();
        if self.exclusive
            && let Some(before) = before.cloned().or_else(|| self.reducer.empty())
            && let Some(first) = results.next()
        {
            put(before, first);
        }
        match before {
            Some(before) => {
                states
                    .iter()
                    .zip(results)
                    .for_each(|(state, out)| put(self.reducer.joined(before, state), out));
            }
            None => states.iter().zip(results).for_each(|(state, out)| put(state.clone(), out)),
        }
        gap
    }
}
