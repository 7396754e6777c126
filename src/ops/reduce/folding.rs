//! Folds at work, with the type of their states erased.
//!
//! This is what is compiled for every reducer: loops over runs and over rows, and the joining of their states. What reads
//! elements, shares out work and knows axes drives a [`Folding`], and is compiled once an element type.

use super::loops::{
    append_folds, combine_columns, fold_beside, fold_columns, fold_groups, fold_runs,
};
use super::tasks::{Failure, finish};
use super::tree::Pairwise;
use super::{Reducer, Undefined};
use crate::error::Result;
use crate::memory::{refill, resize, try_reserve, try_with_capacity};
use std::iter::repeat_n;
use std::ops::Range;

/// A fold of the leaves of one task.
pub(super) trait Folding<T> {
    /// Takes the next leaves: runs of elements, the first elements at these positions, or all at 0 if there are none.
    fn take(&mut self, runs: &[&[T]], positions: &[usize]) -> Result<()>;

    /// Takes leaves of this length that lie one after another and are a result each.
    fn take_whole(&mut self, elements: &[T], length: usize) -> Result<()>;

    /// Folds leaves of which others come before: every `step`-th from the one of number `first` on.
    fn keep(&mut self, first: usize, step: usize, runs: &[&[T]], positions: &[usize])
    -> Result<()>;

    /// The same of leaves that lie side by side, element `k` of each in row `k`.
    fn keep_beside(&mut self, first: usize, step: usize, rows: &[&[T]]) -> Result<()>;

    /// Takes the leaves that were kept, in order of their numbers.
    fn take_kept(&mut self) -> Result<()>;
}

/// What the engine asks of a reducer before it knows its type no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// [`Reducer::ASSOCIATIVE`].
    pub(super) associative: bool,
    /// [`Reducer::COMMUTATIVE`].
    pub(super) commutative: bool,
    /// [`Reducer::POSITIONS`].
    pub(super) positions: bool,
    /// [`Reducer::BESIDE`].
    pub(super) beside: bool,
}

impl Needs {
    pub(super) fn of<T: Copy, R: Reducer<T>>() -> Self {
        let (associative, commutative) = (R::ASSOCIATIVE, R::COMMUTATIVE);
        Self { associative, commutative, positions: R::POSITIONS, beside: R::BESIDE }
    }

    /// Whether elements have to be taken in order.
    pub(super) fn is_ordered(self) -> bool {
        !self.commutative || !self.associative || self.positions
    }
}

/// Folds of runs, one result after another.
pub(super) struct Runs<'r, T: Copy, R: Reducer<T>> {
    reducer: &'r R,
    /// Leaves of a result, and how many of them are still to come.
    leaves: usize,
    missing: usize,
    pairs: Pairwise<R::State>,
    /// Of a reducer that cannot join states.
    state: Option<R::State>,
    /// What nothing changes that still comes of this result.
    last: Option<R::State>,
    states: Vec<R::State>,
    kept: Vec<Option<R::State>>,
    results: Vec<R::Out>,
    /// Number of the next result, and the first that there is none of.
    number: usize,
    gap: Option<(Undefined, usize)>,
}

impl<'r, T: Copy, R: Reducer<T>> Runs<'r, T, R> {
    /// For the results of these numbers, so many leaves each.
    pub(super) fn new(reducer: &'r R, leaves: usize, numbers: Range<usize>) -> Result<Self> {
        Ok(Self {
            reducer,
            leaves,
            missing: leaves,
            pairs: Pairwise::default(),
            state: None,
            last: None,
            states: Vec::new(),
            kept: Vec::new(),
            results: try_with_capacity(numbers.len())?,
            number: numbers.start,
            gap: None,
        })
    }

    /// All results.
    pub(super) fn into_results(self) -> Result<Vec<R::Out>, Failure> {
        match self.gap {
            Some((why, number)) => Err(Failure::Undefined(why, number)),
            None => Ok(self.results),
        }
    }

    /// For leaves of one result, from the one of this number on.
    pub(super) fn of_part(reducer: &'r R, first: usize) -> Result<Self> {
        let pairs = Pairwise::starting_at(first);
        Ok(Self { pairs, ..Self::new(reducer, usize::MAX, 0..0)? })
    }

    /// The states of all leaves, if they are no whole result.
    pub(super) fn into_pairs(self) -> Pairwise<R::State> {
        self.pairs
    }

    /// Takes the states of the next leaves.
    fn push(&mut self, states: impl ExactSizeIterator<Item = R::State>) -> Result<()> {
        try_reserve(&mut self.results, states.len().div_ceil(self.leaves))?;
        if self.leaves == 1 {
            states.for_each(|state| self.end(state));
            return Ok(());
        }
        let combine = |state: &mut R::State, later| self.reducer.combine(state, later);
        for state in states {
            self.pairs.push(state, combine);
            self.missing -= 1;
            if self.missing == 0
                && let Some(state) = self.pairs.finish(combine)
            {
                self.end(state);
            }
        }
        Ok(())
    }

    /// Keeps the states at every `step`-th place from `first` on.
    fn keep_states(&mut self, first: usize, step: usize) -> Result<()> {
        let count = first + self.states.len().saturating_sub(1) * step + 1;
        if self.kept.len() < count {
            resize(&mut self.kept, count, None)?;
        }
        let slots = self.kept[first..].iter_mut().step_by(step);
        slots.zip(self.states.drain(..)).for_each(|(slot, state)| *slot = Some(state));
        Ok(())
    }

    /// Ends a result.
    #[inline]
    fn end(&mut self, state: R::State) {
        match self.reducer.undefined(&state) {
            Some(why) => {
                self.gap.get_or_insert((why, self.number));
            }
            None => self.results.push(self.reducer.finish(state)),
        }
        self.number += 1;
        self.missing = self.leaves;
        self.last = None;
    }

    /// Takes the elements of a leaf one after another.
    fn step(&mut self, run: &[T], position: usize) -> Result<()> {
        for (position, &x) in (position..).zip(run) {
            match &mut self.state {
                Some(state) => self.reducer.step_at(state, x, position),
                None => self.state = Some(self.reducer.first_at(x, position)),
            }
        }
        self.missing -= 1;
        if let Some(state) = self.state.take_if(|_| self.missing == 0) {
            try_reserve(&mut self.results, 1)?;
            self.end(state);
        }
        Ok(())
    }
}

impl<T: Copy, R: Reducer<T>> Folding<T> for Runs<'_, T, R> {
    fn take(&mut self, runs: &[&[T]], positions: &[usize]) -> Result<()> {
        if !R::ASSOCIATIVE {
            let position = |k| positions.get(k).copied().unwrap_or(0);
            return (0..).zip(runs).try_for_each(|(k, run)| self.step(run, position(k)));
        }
        let one = runs.len() <= self.missing && self.leaves > 1;
        let mut states = std::mem::take(&mut self.states);
        match &self.last {
            Some(last) if one => refill(&mut states, repeat_n(last.clone(), runs.len()))?,
            _ => fold_runs(self.reducer, runs, positions, one, &mut states)?,
        }
        let last = states.last().filter(|last| one && self.reducer.is_final(last)).cloned();
        self.last = last.filter(|_| runs.len() < self.missing);
        self.push(states.drain(..))?;
        self.states = states;
        Ok(())
    }

    fn take_whole(&mut self, elements: &[T], length: usize) -> Result<()> {
        if !R::ASSOCIATIVE {
            return elements.chunks_exact(length).try_for_each(|run| self.step(run, 0));
        }
        let gap = append_folds(self.reducer, elements, length, &mut self.results)?;
        self.gap = self.gap.or(gap.map(|(k, why)| (why, self.number + k)));
        self.number += elements.len() / length;
        Ok(())
    }

    fn keep(
        &mut self,
        first: usize,
        step: usize,
        runs: &[&[T]],
        positions: &[usize],
    ) -> Result<()> {
        fold_runs(self.reducer, runs, positions, false, &mut self.states)?;
        self.keep_states(first, step)
    }

    fn keep_beside(&mut self, first: usize, step: usize, rows: &[&[T]]) -> Result<()> {
        fold_beside(self.reducer, rows, &mut self.states);
        self.keep_states(first, step)
    }

    fn take_kept(&mut self) -> Result<()> {
        let mut kept = std::mem::take(&mut self.kept);
        let mut states = std::mem::take(&mut self.states);
        try_reserve(&mut states, kept.len())?;
        states.extend(kept.drain(..).flatten());
        self.push(states.drain(..))?;
        (self.kept, self.states) = (kept, states);
        Ok(())
    }
}

/// Rows of leaves, which are folded to states side by side.
pub(super) trait FoldingRows<T> {
    /// Takes the next rows, of one length, the elements of the first at this position.
    fn take(&mut self, rows: &[&[T]], position: usize) -> Result<(), Failure>;
}

/// Folds of groups of rows, one leaf each.
pub(super) struct Groups<'r, T: Copy, R: Reducer<T>> {
    reducer: &'r R,
    /// Rows of a group.
    height: usize,
    states: Vec<R::State>,
    pub(super) results: Vec<R::Out>,
    /// Number of the next result.
    number: usize,
}

impl<'r, T: Copy, R: Reducer<T>> Groups<'r, T, R> {
    /// For results from this number on.
    pub(super) fn new(reducer: &'r R, height: usize, number: usize) -> Self {
        Self { reducer, height, states: Vec::new(), results: Vec::new(), number }
    }
}

impl<T: Copy, R: Reducer<T>> FoldingRows<T> for Groups<'_, T, R> {
    fn take(&mut self, rows: &[&[T]], position: usize) -> Result<(), Failure> {
        fold_groups(self.reducer, rows, self.height, position, &mut self.states)?;
        let count = self.states.len();
        append_results(self.reducer, &mut self.states, self.number, &mut self.results)?;
        self.number += count;
        Ok(())
    }
}

/// Folds of columns.
pub(super) struct Columns<'r, T: Copy, R: Reducer<T>> {
    reducer: &'r R,
    pairs: Pairwise<Vec<R::State>>,
    /// Of a reducer that cannot join states.
    states: Vec<R::State>,
}

impl<'r, T: Copy, R: Reducer<T>> Columns<'r, T, R> {
    pub(super) fn new(reducer: &'r R) -> Self {
        Self::of_part(reducer, 0)
    }

    /// For the leaves from this number on.
    pub(super) fn of_part(reducer: &'r R, first: usize) -> Self {
        Self { reducer, pairs: Pairwise::starting_at(first), states: Vec::new() }
    }

    /// The states of all leaves, if they are not all there are.
    pub(super) fn into_pairs(self) -> Pairwise<Vec<R::State>> {
        self.pairs
    }

    pub(super) fn into_states(mut self) -> Vec<R::State> {
        let joined =
            self.pairs.finish(|states, later| combine_columns(self.reducer, states, later));
        joined.unwrap_or(self.states)
    }
}

impl<T: Copy, R: Reducer<T>> FoldingRows<T> for Columns<'_, T, R> {
    fn take(&mut self, rows: &[&[T]], position: usize) -> Result<(), Failure> {
        let reducer = self.reducer;
        if R::ASSOCIATIVE {
            let mut states = Vec::new();
            fold_columns(reducer, rows, position, &mut states)?;
            self.pairs.push(states, |states, later| combine_columns(reducer, states, later));
            return Ok(());
        }
        for (position, row) in (position..).zip(rows) {
            if position == 0 {
                refill(&mut self.states, row.iter().map(|&x| reducer.first_at(x, position)))?;
                continue;
            }
            for (state, &x) in self.states.iter_mut().zip(*row) {
                reducer.step_at(state, x, position);
            }
        }
        Ok(())
    }
}

/// The results of states side by side, the first of this number, after those that are there.
pub(super) fn append_results<T: Copy, R: Reducer<T>>(
    reducer: &R,
    states: &mut Vec<R::State>,
    first: usize,
    results: &mut Vec<R::Out>,
) -> Result<(), Failure> {
    try_reserve(results, states.len())?;
    (first..).zip(states.drain(..)).try_for_each(|(number, state)| {
        results.push(finish(reducer, state, number)?);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::{Folding, Runs};
    use crate::ops::reduce::reducers::Any;

    /// However a result ends, a final state of it says nothing of the next one.
    #[test]
    fn a_final_state_is_that_of_one_result() {
        let mut runs = Runs::new(&Any, 3, 0..2).unwrap();
        runs.take(&[&[true]], &[]).unwrap();
        runs.keep(0, 1, &[&[false], &[false]], &[]).unwrap();
        runs.take_kept().unwrap();
        runs.take(&[&[false]], &[]).unwrap();
        runs.take(&[&[false], &[false]], &[]).unwrap();
        assert_eq!(runs.into_results().ok(), Some(vec![true, false]));
    }
}
