//! The states of all prefixes of a lane.
//!
//! A lane is cut into blocks, and a block into groups of four. The states within a group are found by
//! `x0`, `x0 + x1`, `(x0 + x1) + x2`, `(x0 + x1) + (x2 + x3)`; to these are joined the groups before in the
//! block, joined to the blocks before. So few operations wait for one another, rounding errors grow with
//! the number of groups in a block plus the number of blocks instead of the number of elements, and a long
//! lane can be cut between any two blocks.

use crate::ops::along::{GROUP, States};
use crate::ops::reduce::{Reducer, Undefined};

/// A scan at work.
pub(super) struct Running<'s, T: Copy, R: Reducer<T>> {
    pub(super) reducer: &'s R,
    pub(super) extent: usize,
    pub(super) exclusive: bool,
    pub(super) reverse: bool,
    /// For every job, the states of its lanes before it; empty if no lane is cut.
    pub(super) carries: Vec<Vec<R::State>>,
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

impl<T: Copy, R: Reducer<T>> Running<'_, T, R> {
    /// Takes the next groups of a block and adds their results; returns why one has none, if so.
    #[inline(always)]
    pub(super) fn part(
        &self,
        part: &[T],
        places: Places,
        carry: Option<&R::State>,
        groups: &mut Option<R::State>,
        results: &mut [R::Out],
    ) -> Option<Undefined> {
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
        if let Some(states) = self.few(rest, places.after(done)) {
            let states = &states[..rest.len()];
            let before = self.reducer.sum(carry, groups.as_ref());
            gap = gap.or(self.finish(before.as_ref(), states, last));
            *groups = self.reducer.sum(groups.as_ref(), states.last());
        }
        gap
    }

    /// Why the result of element `k` of a part does not exist, if it does not.
    #[cold]
    pub(super) fn reason(
        &self,
        part: &[T],
        k: usize,
        places: Places,
        carry: Option<&R::State>,
        mut groups: Option<R::State>,
        results: &mut [R::Out],
    ) -> Option<Undefined> {
        let start = k - k % GROUP;
        self.part(&part[..start], places, carry, &mut groups, &mut results[..start]);
        let (before, after) = (self.reducer.sum(carry, groups.as_ref()), places.after(start));
        let own = |number: usize| match part[start..].first_chunk::<GROUP>() {
            Some(four) => Some(self.reducer.prefixes(four, |k| after.position(k))[number].clone()),
            None => Some(self.few(&part[start..], after)?[number].clone()),
        };
        let own = (k - start).checked_sub(usize::from(self.exclusive)).and_then(own);
        match self.reducer.sum(before.as_ref(), own.as_ref()).or_else(|| self.reducer.empty()) {
            Some(state) => self.reducer.undefined(&state),
            None => Some(Undefined::Empty),
        }
    }

    /// The states within a group of fewer elements, if there is one; the last comes again for those that are missing.
    #[inline(always)]
    fn few(&self, x: &[T], places: Places) -> Option<[R::State; GROUP - 1]> {
        let one = self.reducer.first_at(*x.first()?, places.position(0));
        let mut two = one.clone();
        if let Some(&second) = x.get(1) {
            self.reducer.step_at(&mut two, second, places.position(1));
        }
        let third = x.get(2).map(|&x| self.reducer.first_at(x, places.position(2)));
        let three = third.map_or_else(|| two.clone(), |third| self.reducer.joined(&two, &third));
        Some([one, two, three])
    }

    /// The state of a block.
    #[inline(always)]
    pub(super) fn total(&self, block: &[T], places: Places) -> Option<R::State> {
        let (fours, rest) = block.as_chunks::<GROUP>();
        let mut groups: Option<R::State> = None;
        for (k, four) in fours.iter().enumerate() {
            let states = self.reducer.prefixes(four, |j| places.position(k * GROUP + j));
            groups = self.reducer.sum(groups.as_ref(), states.last());
        }
        let last = self.few(rest, places.after(fours.len() * GROUP));
        self.reducer.sum(groups.as_ref(), last.as_ref().and_then(|states| states.last()))
    }

    /// The results of the states of a group, given what comes before it; returns why one has
    /// none, if so. In variables throughout: what is stored piece by piece cannot be loaded as one vector at
    /// once.
    #[inline(always)]
    fn finish_group(
        &self,
        before: Option<R::State>,
        states: [R::State; GROUP],
        results: &mut [R::Out; GROUP],
    ) -> Option<Undefined> {
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
    fn results_of(
        &self,
        states: [R::State; GROUP],
        results: &mut [R::Out; GROUP],
    ) -> Option<Undefined> {
        let mut gap = None;
        *results = states.map(|state| {
            gap = gap.or(self.reducer.undefined(&state));
            self.reducer.finish(state)
        });
        gap
    }

    /// As [`Self::finish_group`] for fewer elements.
    #[inline(always)]
    fn finish(
        &self,
        before: Option<&R::State>,
        states: &[R::State],
        results: &mut [R::Out],
    ) -> Option<Undefined> {
        let mut gap = None;
        let mut put = |state: R::State, result: &mut R::Out| {
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
