//! States of cells that follow one another and have their entries together.

use super::super::reducer::Reducer;
use super::fills::Folded;
use crate::error::Result;
use crate::kernel::LARGE_BYTES;
use crate::memory::{list, zeros};
use std::mem::needs_drop;

/// Fibers of states, apart from how many entries they have: a loop along a fiber is one of vector instructions.
pub(super) struct Fibers<S> {
    /// States of a fiber.
    len: usize,
    states: Vec<S>,
    /// Entries of each cell of a fiber.
    counts: Vec<usize>,
}

/// Takes some fibers to the fiber of states, from a column on and `N` columns at a time, whose states stay in registers.
/// Returns the first column that is left.
#[inline(always)]
fn step_columns<T: Copy, R: Reducer<T>, const N: usize>(
    reducer: &R,
    states: &mut [R::State],
    fibers: &[T],
    first: usize,
) -> usize {
    let (len, mut column) = (states.len(), first);
    // Copies of states that own memory or are large are not for registers.
    if needs_drop::<R::State>() || size_of::<R::State>() > LARGE_BYTES {
        for fiber in fibers.chunks_exact(len) {
            let each = states[first..].iter_mut().zip(&fiber[first..]);
            each.for_each(|(state, &value)| reducer.step(state, value));
        }
        return len;
    }
    while let Some(part) = states[column..].first_chunk_mut::<N>() {
        let mut own = part.clone();
        for fiber in fibers.chunks_exact(len) {
            if let Some(values) = fiber[column..].first_chunk::<N>() {
                own.iter_mut().zip(values).for_each(|(state, &value)| reducer.step(state, value));
            }
        }
        *part = own;
        column += N;
    }
    column
}

/// None.
impl<S> Default for Fibers<S> {
    fn default() -> Self {
        Self { len: 1, states: Vec::new(), counts: Vec::new() }
    }
}

impl<S: Clone> Fibers<S> {
    /// So many fibers of `len` states without entries.
    pub(super) fn new<T: Copy, R: Reducer<T, State = S>>(
        reducer: &R,
        fibers: usize,
        len: usize,
        seed: T,
    ) -> Result<Self> {
        let state = reducer.neutral().unwrap_or_else(|| reducer.first(seed));
        let states = list(std::iter::repeat_n(state, fibers.saturating_mul(len)))?;
        Ok(Self { len, states, counts: zeros(fibers)? })
    }

    /// Takes fibers of entries, each to the fiber of states of this number; states may begin `neutral`.
    pub(super) fn take<T: Copy, R: Reducer<T, State = S>>(
        &mut self,
        reducer: &R,
        neutral: bool,
        fibers: &[usize],
        values: &[T],
    ) {
        let (len, mut values) = (self.len, values);
        for run in fibers.chunk_by(|a, b| a == b) {
            let Some((mut own, later)) = values.split_at_checked(run.len() * len) else { return };
            values = later;
            let Some(count) = self.counts.get_mut(run[0]) else { continue };
            let states = &mut self.states[run[0] * len..][..len];
            if !neutral && *count == 0 {
                let (first, rest) = own.split_at(len);
                states.iter_mut().zip(first).for_each(|(state, &x)| *state = reducer.first(x));
                own = rest;
            }
            *count += run.len();
            let next = step_columns::<T, R, 16>(reducer, states, own, 0);
            let next = step_columns::<T, R, 4>(reducer, states, own, next);
            step_columns::<T, R, 1>(reducer, states, own, next);
        }
    }

    /// The states of all cells, in order.
    pub(super) fn into_states(self) -> Result<Vec<Folded<S>>> {
        let Self { len, states, counts } = self;
        let states = states.into_iter().enumerate();
        list(states.map(|(k, state)| Folded { count: counts[k / len], state }))
    }
}
