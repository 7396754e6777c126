//! What scans and windows do with states of any reducer.

use crate::ops::reduce::{Reducer, Undefined};

/// Elements of a group.
pub(crate) const GROUP: usize = 4;
/// Elements of a block.
pub(crate) const BLOCK: usize = 128;

/// The first of some results that does not exist, and why.
pub(crate) type Gap = Option<(usize, Undefined)>;

/// Joining states of neighbouring runs.
pub(crate) trait States<T: Copy>: Reducer<T> {
    /// The state of two neighbouring runs.
    #[inline(always)]
    fn joined(&self, before: &Self::State, state: &Self::State) -> Self::State {
        let mut joined = before.clone();
        self.combine(&mut joined, state.clone());
        joined
    }

    /// The state of two neighbouring runs, either of which may be empty.
    #[inline(always)]
    fn sum(
        &self,
        before: Option<&Self::State>,
        state: Option<&Self::State>,
    ) -> Option<Self::State> {
        match (before, state) {
            (Some(before), Some(state)) => Some(self.joined(before, state)),
            (before, state) => before.or(state).cloned(),
        }
    }

    /// The states of all prefixes of a group.
    #[inline(always)]
    fn prefixes(&self, x: &[T; GROUP], position: impl Fn(usize) -> usize) -> [Self::State; GROUP] {
        let one = self.first_at(x[0], position(0));
        let mut two = one.clone();
        self.step_at(&mut two, x[1], position(1));
        let mut pair = self.first_at(x[2], position(2));
        let three = self.joined(&two, &pair);
        self.step_at(&mut pair, x[3], position(3));
        let four = self.joined(&two, &pair);
        [one, two, three, four]
    }

    /// The states of all ends of a group, the longest first.
    #[inline(always)]
    fn suffixes(&self, x: &[T; GROUP], position: impl Fn(usize) -> usize) -> [Self::State; GROUP] {
        let one = self.first_at(x[3], position(3));
        let mut two = self.first_at(x[2], position(2));
        self.step_at(&mut two, x[3], position(3));
        let three = self.joined(&self.first_at(x[1], position(1)), &two);
        let mut pair = self.first_at(x[0], position(0));
        self.step_at(&mut pair, x[1], position(1));
        let four = self.joined(&pair, &two);
        [four, three, two, one]
    }

    /// Adds the results of some states, and returns which is the first that has none, and why.
    #[inline(always)]
    fn emit(
        &self,
        states: impl Iterator<Item = Self::State> + Clone,
        results: &mut Vec<Self::Out>,
    ) -> Gap {
        let mut gap = None;
        results.extend(states.clone().map(|state| {
            gap = gap.or(self.undefined(&state));
            self.finish(state)
        }));
        let reason = gap?;
        Some((states.into_iter().position(|state| self.undefined(&state).is_some())?, reason))
    }

    /// [`Self::emit`], of runs that begin at these positions and end in results whose positions count from there.
    #[inline(always)]
    fn emit_from(
        &self,
        states: impl Iterator<Item = Self::State> + Clone,
        starts: impl Iterator<Item = usize> + Clone,
        results: &mut Vec<Self::Out>,
    ) -> Gap {
        if !Self::POSITIONS {
            return self.emit(states, results);
        }
        self.emit(states.zip(starts).map(|(state, start)| self.moved(state, start)), results)
    }
}

impl<T: Copy, R: Reducer<T>> States<T> for R {}
