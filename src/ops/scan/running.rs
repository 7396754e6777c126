//! The states of all beginnings of a lane.
//!
//! A lane is cut into blocks, and a block into groups of four. The states within a group are found by
//! `x0`, `x0 + x1`, `(x0 + x1) + x2`, `(x0 + x1) + (x2 + x3)`; to these are joined the groups before in the
//! block, joined to the blocks before. So few operations wait for one another, rounding errors grow with
//! the number of groups in a block plus the number of blocks instead of the number of elements, and a long
//! lane can be cut between any two blocks.

use super::across::{Cross, Lanes};
use crate::expr::Stop;
use crate::kernel::{self, Loop, PART, Part};
use crate::ops::along::{BLOCK, GROUP, Gap, Job, Lane, States, Sweep, Table};
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
    fn after(self, count: usize) -> Self {
        Self { first: self.first + count, ..self }
    }
}

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    turned: Vec<T>,
    pub(super) lanes: Lanes<S>,
    results: Vec<U>,
}

impl<T, S, U> Default for Memory<T, S, U> {
    fn default() -> Self {
        Self { turned: Vec::new(), lanes: Lanes::default(), results: Vec::new() }
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Running<'_, R, R::State> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    fn results(&self) -> usize {
        self.extent
    }

    fn grain(&self) -> Option<usize> {
        (R::ASSOCIATIVE && !self.reverse).then_some(BLOCK)
    }

    fn backward(&self) -> bool {
        self.reverse
    }

    fn width(&self) -> usize {
        4096
    }

    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { turned, results, .. } = memory;
        let mut carry = self.carries.get(job.number).and_then(|carry| carry.first().cloned());
        let step = (lane.best() / BLOCK).max(1) * BLOCK;
        let mut first = job.results.start;
        while first < job.results.end {
            let places = Places { extent: self.extent, reverse: self.reverse, first };
            let end = first.saturating_add(step).min(job.results.end);
            let run = if self.reverse {
                turned.clear();
                turned.extend(lane.run(self.extent - end..self.extent - first)?.iter().rev());
                turned.as_slice()
            } else {
                lane.run(first..end)?
            };
            let (carry, results, out) = (&mut carry, &mut *results, &mut *out);
            let gap = kernel::wide(Advance { scan: self, run, places, carry, results, out });
            if let Some((k, reason)) = gap {
                job.undefined(places.position(k), 0, reason);
            }
            first = end;
        }
        out.put(results);
        results.clear();
        Ok(())
    }

    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { lanes, results, .. } = memory;
        let together = (table.best() / job.width).clamp(1, self.extent.max(1));
        let together = together.next_multiple_of(GROUP);
        let (extent, reverse) = (self.extent, self.reverse);
        lanes.clear();
        lanes.blocks.extend(self.carries.get(job.number).into_iter().flatten().cloned());
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel =
                table.rows(if reverse { extent - end..extent - first } else { first..end })?;
            let (results, out) = (&mut *results, &mut *out);
            kernel::wide(Cross {
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

/// The next blocks of a lane.
struct Advance<'a, 'o, 'r, T: Copy, R: Reducer<T>> {
    scan: &'a Running<'r, R, R::State>,
    run: &'a [T],
    places: Places,
    carry: &'a mut Option<R::State>,
    results: &'a mut Vec<R::Out>,
    out: &'a mut Part<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Loop for Advance<'_, '_, '_, T, R> {
    type Out = Gap;

    #[inline(always)]
    fn run(self) -> Gap {
        let Self { scan, run, places, carry, results, out } = self;
        scan.advance(run, places, carry, results, &mut |results| {
            if scan.reverse {
                results.reverse();
                out.put_back(results);
                results.clear();
            } else {
                out.drain(results);
            }
        })
    }
}

impl<R, S: Clone> Running<'_, R, S> {
    /// Takes the next blocks of a lane and adds their results, written part by part; tells which is the
    /// first that has none.
    #[inline(always)]
    fn advance<T: Copy>(
        &self,
        run: &[T],
        places: Places,
        carry: &mut Option<S>,
        results: &mut Vec<R::Out>,
        write: &mut impl FnMut(&mut Vec<R::Out>),
    ) -> Gap
    where
        R: Reducer<T, State = S>,
    {
        let mut gap: Gap = None;
        if !R::ASSOCIATIVE {
            for (k, &x) in run.iter().enumerate() {
                let before = self.exclusive.then(|| carry.clone().or_else(|| self.reducer.empty()));
                let position = places.position(k);
                match carry {
                    Some(state) => self.reducer.step_at(state, x, position),
                    None => *carry = Some(self.reducer.first_at(x, position)),
                }
                let state = before.unwrap_or_else(|| carry.clone());
                let found = self.reducer.emit(state.into_iter(), results);
                gap = gap.or(found.map(|(_, reason)| (k, reason)));
            }
            write(results);
            return gap;
        }
        let mut done = 0;
        for block in run.chunks(BLOCK) {
            let mut groups = None;
            for part in block.chunks(PART) {
                kernel::ask_ahead(part);
                let before = groups.clone();
                let places = places.after(done);
                if self.part(part, places, carry.as_ref(), &mut groups, results).is_some()
                    && gap.is_none()
                {
                    gap = (1..=part.len()).find_map(|count| {
                        let (part, mut groups) = (&part[..count], before.clone());
                        let reason =
                            self.part(part, places, carry.as_ref(), &mut groups, &mut Vec::new());
                        reason.map(|reason| (done + count - 1, reason))
                    });
                }
                write(results);
                done += part.len();
            }
            *carry = self.reducer.sum(carry.as_ref(), groups.as_ref());
        }
        gap
    }

    /// Takes the next groups of a block and adds their results; tells why one has none, if so.
    #[inline(always)]
    fn part<T: Copy>(
        &self,
        part: &[T],
        places: Places,
        carry: Option<&S>,
        groups: &mut Option<S>,
        results: &mut Vec<R::Out>,
    ) -> Option<Undefined>
    where
        R: Reducer<T, State = S>,
    {
        let seed = *part.first()?;
        let start = results.len();
        let seed = self.reducer.finish(self.reducer.first_at(seed, places.position(0)));
        results.resize(start + part.len(), seed);
        let (fours, rest) = part.as_chunks::<GROUP>();
        let (results, last) = results[start..].as_chunks_mut::<GROUP>();
        let (mut gap, mut done) = (None, 0);
        let mut pairs = fours.iter().zip(results);
        while let Some((four, results)) = pairs.next() {
            let states = self.reducer.beginnings(four, |k| places.position(done + k));
            let before = self.reducer.sum(carry, groups.as_ref());
            *groups = self.reducer.sum(groups.as_ref(), states.last());
            gap = gap.or(self.finish_group(before, states, results));
            done += GROUP;
            // The usual case, in a loop that asks no questions.
            if let (Some(carry), Some(groups), false) = (carry, groups.as_mut(), self.exclusive) {
                for (four, results) in pairs.by_ref() {
                    let states = self.reducer.beginnings(four, |k| places.position(done + k));
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
            let states = self.reducer.beginnings(four, |j| places.position(k * GROUP + j));
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
