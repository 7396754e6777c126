//! The states of all beginnings of a lane.
//!
//! A lane is cut into blocks. Within a block elements are taken one after another; what came before the
//! block is joined to each of its states. So eight blocks advance at a time and no addition waits for the
//! one before, rounding errors grow with the length of a block plus the number of blocks instead of their
//! product, and a long lane can be cut between any two blocks.

use crate::expr::Stop;
use crate::kernel::{self, Part};
use crate::ops::along::{Job, Lane, Sweep, Table};
use crate::ops::reduce::Reducer;
use std::sync::{Mutex, PoisonError};

/// Elements of a block.
const BLOCK: usize = 128;
/// Blocks that advance together.
const CHAINS: usize = 8;
const GROUP: usize = BLOCK * CHAINS;
/// Results that are collected before they are written.
const BATCH: usize = 2048;

/// A scan at work.
pub(super) struct Running<'s, R, S> {
    pub(super) reducer: &'s R,
    pub(super) extent: usize,
    pub(super) exclusive: bool,
    pub(super) reverse: bool,
    /// For every job, the states of its lanes before it; empty if no lane is cut.
    pub(super) carries: Vec<Vec<S>>,
}

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    turned: Vec<T>,
    states: Vec<S>,
    carry: Vec<S>,
    results: Vec<U>,
}

impl<T, S, U> Default for Memory<T, S, U> {
    fn default() -> Self {
        Self { turned: Vec::new(), states: Vec::new(), carry: Vec::new(), results: Vec::new() }
    }
}

/// The positions along the axis of what a scan takes one after another.
#[derive(Clone, Copy)]
struct Places {
    extent: usize,
    reverse: bool,
    /// How many elements come before.
    first: usize,
}

impl Places {
    #[inline(always)]
    fn position(self, k: usize) -> usize {
        let place = self.first + k;
        if self.reverse { self.extent - 1 - place } else { place }
    }

    #[inline(always)]
    fn after(self, count: usize) -> Self {
        Self { first: self.first + count, ..self }
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Running<'_, R, R::State> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    fn results(&self) -> usize {
        self.extent
    }

    fn grain(&self) -> Option<usize> {
        (R::ASSOCIATIVE && !self.reverse).then_some(GROUP)
    }

    fn backward(&self) -> bool {
        self.reverse
    }

    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { turned, states, results, .. } = memory;
        let mut carry = self.carries.get(job.number).and_then(|carry| carry.first().cloned());
        let step = (lane.best() / GROUP).max(1) * GROUP;
        let mut first = job.results.start;
        while first < job.results.end {
            let places = Places { extent: self.extent, reverse: self.reverse, first };
            let end = first.saturating_add(step).min(job.results.end);
            results.clear();
            let overflow = if self.reverse {
                let run = lane.run(self.extent - end..self.extent - first)?;
                turned.clear();
                turned.extend(run.iter().rev());
                kernel::wide(|| self.advance(turned, places, &mut carry, states, results))
            } else {
                let run = lane.run(first..end)?;
                kernel::wide(|| self.advance(run, places, &mut carry, states, results))
            };
            if let Some(k) = overflow {
                job.overflows(places.position(k), 0);
            }
            if self.reverse {
                results.reverse();
                out.put_back(results);
            } else {
                out.put(results);
            }
            first = end;
        }
        Ok(())
    }

    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        out: &mut Part<'_, R::Out>,
    ) -> Result<(), Stop> {
        let Memory { states, carry, results, .. } = memory;
        let together = (table.best() / job.width).max(1);
        let (extent, reverse) = (self.extent, self.reverse);
        states.clear();
        results.clear();
        carry.clear();
        carry.extend(self.carries.get(job.number).into_iter().flatten().cloned());
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel = table.rows(if reverse { extent - end..extent - first } else { first..end })?;
            for k in first..end {
                let row = panel.row(if reverse { end - 1 - k } else { k - first });
                let place = Places { extent, reverse, first: k };
                let overflow = kernel::wide(|| self.row(row, place, carry, states, results));
                if let Some(lane) = overflow {
                    job.overflows(place.position(0), lane);
                }
                if reverse {
                    out.put_back(results);
                    results.clear();
                } else if results.len() >= BATCH {
                    out.put(results);
                    results.clear();
                }
            }
            first = end;
        }
        out.put(results);
        Ok(())
    }
}

impl<R, S: Clone> Running<'_, R, S> {
    /// Takes the next elements of a lane and adds their results; tells which is the first that does not
    /// fit its type.
    #[inline(always)]
    fn advance<T: Copy>(
        &self,
        run: &[T],
        places: Places,
        carry: &mut Option<S>,
        states: &mut Vec<S>,
        results: &mut Vec<R::Out>,
    ) -> Option<usize>
    where
        R: Reducer<T, State = S>,
    {
        let mut overflow = None;
        if !R::ASSOCIATIVE {
            for (k, &x) in run.iter().enumerate() {
                let before = carry.clone();
                let position = places.position(k);
                match carry {
                    Some(state) => self.reducer.step_at(state, x, position),
                    None => *carry = Some(self.reducer.first_at(x, position)),
                }
                let state = if self.exclusive { before.or_else(|| self.reducer.empty()) } else { carry.clone() };
                overflow = overflow.or(self.emit(state.into_iter(), results).map(|_| k));
            }
            return overflow;
        }
        let Some(&seed) = run.first() else { return None };
        if states.len() < GROUP {
            states.resize(GROUP, self.reducer.first_at(seed, places.position(0)));
        }
        let Some(states) = states.first_chunk_mut::<GROUP>() else { return None };
        let mut done = 0;
        while done < run.len() {
            let places = places.after(done);
            let count = match run[done..].first_chunk::<GROUP>() {
                Some(group) => {
                    self.chains(group, places, states);
                    GROUP
                }
                None => self.chain(&run[done..], places, states),
            };
            for block in states[..count].chunks(BLOCK) {
                let first = self.block(block, carry.as_ref(), results);
                overflow = overflow.or(first.map(|k| done + k));
                done += block.len();
                if let Some(last) = block.last() {
                    *carry = Some(carry.as_ref().map_or_else(|| last.clone(), |c| self.joined(c, last)));
                }
            }
        }
        overflow
    }

    /// The states within each block of a group.
    #[inline(always)]
    fn chains<T: Copy>(&self, run: &[T; GROUP], places: Places, states: &mut [S; GROUP])
    where
        R: Reducer<T, State = S>,
    {
        let first = |c: usize| self.reducer.first_at(run[c * BLOCK], places.position(c * BLOCK));
        let mut chains: [S; CHAINS] = std::array::from_fn(first);
        for (c, state) in chains.iter().enumerate() {
            states[c * BLOCK] = state.clone();
        }
        for k in 1..BLOCK {
            for (c, state) in chains.iter_mut().enumerate() {
                let k = c * BLOCK + k;
                self.reducer.step_at(state, run[k], places.position(k));
                states[k] = state.clone();
            }
        }
    }

    /// As [`Self::chains`] for the next block of fewer elements than a group; tells how many it has.
    #[inline(always)]
    fn chain<T: Copy>(&self, run: &[T], places: Places, states: &mut [S; GROUP]) -> usize
    where
        R: Reducer<T, State = S>,
    {
        let run = &run[..run.len().min(BLOCK)];
        let mut state = self.reducer.first_at(run[0], places.position(0));
        for (k, (slot, &x)) in states.iter_mut().zip(run).enumerate() {
            if k > 0 {
                self.reducer.step_at(&mut state, x, places.position(k));
            }
            *slot = state.clone();
        }
        run.len()
    }

    /// The results of a block, whose states are joined to the one before.
    #[inline(always)]
    fn block<T: Copy>(&self, block: &[S], carry: Option<&S>, results: &mut Vec<R::Out>) -> Option<usize>
    where
        R: Reducer<T, State = S>,
    {
        let mut states = block;
        let mut skipped = 0;
        if self.exclusive {
            let before = carry.cloned().or_else(|| self.reducer.empty());
            if self.emit(before.into_iter(), results).is_some() {
                return Some(0);
            }
            (states, skipped) = (&block[..block.len() - 1], 1);
        }
        let overflow = match carry {
            Some(carry) => self.emit(states.iter().map(|state| self.joined(carry, state)), results),
            None => self.emit(states.iter().cloned(), results),
        };
        overflow.map(|k| k + skipped)
    }

    /// Takes the next element of lanes side by side and adds their results; tells which is the first that
    /// does not fit its type.
    #[inline(always)]
    fn row<T: Copy>(
        &self,
        row: &[T],
        place: Places,
        carry: &mut Vec<S>,
        states: &mut Vec<S>,
        results: &mut Vec<R::Out>,
    ) -> Option<usize>
    where
        R: Reducer<T, State = S>,
    {
        let before = if self.exclusive { self.results(row.len(), carry, states, results) } else { None };
        let position = place.position(0);
        if states.is_empty() {
            states.extend(row.iter().map(|&x| self.reducer.first_at(x, position)));
        } else {
            for (state, &x) in states.iter_mut().zip(row) {
                self.reducer.step_at(state, x, position);
            }
        }
        let after = if self.exclusive { None } else { self.results(row.len(), carry, states, results) };
        if R::ASSOCIATIVE && place.first % BLOCK == BLOCK - 1 {
            if carry.is_empty() {
                std::mem::swap(carry, states);
            } else {
                for (carry, state) in carry.iter_mut().zip(states.iter()) {
                    self.reducer.combine(carry, state.clone());
                }
            }
            states.clear();
        }
        before.or(after)
    }

    /// The results of lanes side by side.
    #[inline(always)]
    fn results<T: Copy>(&self, width: usize, carry: &[S], states: &[S], results: &mut Vec<R::Out>) -> Option<usize>
    where
        R: Reducer<T, State = S>,
    {
        match (carry, states) {
            ([], []) => {
                let empty = self.reducer.empty();
                self.emit((0..width).filter_map(|_| empty.clone()), results)
            }
            ([], states) | (states, []) => self.emit(states.iter().cloned(), results),
            (carry, states) => {
                let pairs = carry.iter().zip(states);
                self.emit(pairs.map(|(carry, state)| self.joined(carry, state)), results)
            }
        }
    }

    /// The state of a run, given that of the one before it.
    #[inline(always)]
    fn joined<T: Copy>(&self, before: &S, state: &S) -> S
    where
        R: Reducer<T, State = S>,
    {
        let mut joined = before.clone();
        self.reducer.combine(&mut joined, state.clone());
        joined
    }

    /// Adds the results of some states; tells which is the first that does not fit its type.
    #[inline(always)]
    fn emit<T: Copy>(&self, states: impl Iterator<Item = S> + Clone, results: &mut Vec<R::Out>) -> Option<usize>
    where
        R: Reducer<T, State = S>,
    {
        let mut overflow = false;
        results.extend(states.clone().map(|state| {
            overflow |= self.reducer.overflows(&state);
            self.reducer.finish(state)
        }));
        if overflow { states.into_iter().position(|state| self.reducer.overflows(&state)) } else { None }
    }
}

/// The states of all blocks of lanes that are cut into jobs.
pub(super) struct Totals<'s, 'r, R, S> {
    pub(super) scan: &'s Running<'r, R, S>,
    /// For every job, the states of its blocks, block after block.
    pub(super) found: Mutex<Vec<Vec<S>>>,
}

impl<R, S> Totals<'_, '_, R, S> {
    fn keep(&self, number: usize, states: Vec<S>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() <= number {
            found.resize_with(number + 1, Vec::new);
        }
        found[number] = states;
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Totals<'_, '_, R, R::State> {
    type Out = ();
    type Memory = Memory<T, R::State, ()>;

    fn results(&self) -> usize {
        Sweep::<T>::results(self.scan)
    }

    fn grain(&self) -> Option<usize> {
        Sweep::<T>::grain(self.scan)
    }

    fn lane(
        &self,
        memory: &mut Self::Memory,
        lane: &mut impl Lane<T>,
        job: &Job<'_>,
        _out: &mut Part<'_, ()>,
    ) -> Result<(), Stop> {
        let step = (lane.best() / GROUP).max(1) * GROUP;
        let mut totals = Vec::new();
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(step).min(job.results.end);
            let run = lane.run(first..end)?;
            let places = Places { extent: self.scan.extent, reverse: false, first };
            kernel::wide(|| self.totals(run, places, &mut memory.states, &mut totals));
            first = end;
        }
        self.keep(job.number, totals);
        Ok(())
    }

    fn table(
        &self,
        memory: &mut Self::Memory,
        table: &mut impl Table<T>,
        job: &Job<'_>,
        _out: &mut Part<'_, ()>,
    ) -> Result<(), Stop> {
        let together = (table.best() / job.width).max(1);
        let states = &mut memory.states;
        let mut totals = Vec::new();
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel = table.rows(first..end)?;
            for k in first..end {
                let row = panel.row(k - first);
                if states.is_empty() {
                    states.extend(row.iter().map(|&x| self.scan.reducer.first_at(x, k)));
                } else {
                    for (state, &x) in states.iter_mut().zip(row) {
                        self.scan.reducer.step_at(state, x, k);
                    }
                }
                if k % BLOCK == BLOCK - 1 {
                    totals.append(states);
                }
            }
            first = end;
        }
        totals.append(states);
        self.keep(job.number, totals);
        Ok(())
    }
}

impl<R, S: Clone> Totals<'_, '_, R, S> {
    /// Adds the states of the next blocks of a lane.
    #[inline(always)]
    fn totals<T: Copy>(&self, run: &[T], places: Places, states: &mut Vec<S>, totals: &mut Vec<S>)
    where
        R: Reducer<T, State = S>,
    {
        if states.len() < GROUP {
            states.resize(GROUP, self.scan.reducer.first_at(run[0], places.position(0)));
        }
        let Some(states) = states.first_chunk_mut::<GROUP>() else { return };
        let mut done = 0;
        while done < run.len() {
            let places = places.after(done);
            let count = match run[done..].first_chunk::<GROUP>() {
                Some(group) => {
                    self.scan.chains(group, places, states);
                    GROUP
                }
                None => self.scan.chain(&run[done..], places, states),
            };
            totals.extend(states[..count].chunks(BLOCK).filter_map(|block| block.last().cloned()));
            done += count;
        }
    }
}
