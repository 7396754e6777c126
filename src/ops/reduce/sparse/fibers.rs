//! States of cells that follow one another and have their entries together.

use super::super::reducer::Reducer;
use super::fills::Folded;
use crate::error::Result;
use crate::memory::{list, zeros};

/// Fibers of states, apart from how many entries they have: a loop along a fiber is one of vector instructions.
pub(super) struct Fibers<S> {
    /// States of a fiber.
    len: usize,
    states: Vec<S>,
    /// Entries of each cell of a fiber.
    counts: Vec<usize>,
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
        let Self { len, states, counts } = self;
        for (&own, values) in fibers.iter().zip(values.chunks_exact(*len)) {
            let Some(count) = counts.get_mut(own) else { continue };
            let each = states[own * *len..][..*len].iter_mut().zip(values);
            if neutral || *count > 0 {
                each.for_each(|(state, &value)| reducer.step(state, value));
            } else {
                each.for_each(|(state, &value)| *state = reducer.first(value));
            }
            *count += 1;
        }
    }

    /// The states of all cells, in order.
    pub(super) fn into_states(self) -> Result<Vec<Folded<S>>> {
        let Self { len, states, counts } = self;
        let states = states.into_iter().enumerate();
        list(states.map(|(k, state)| Folded { count: counts[k / len], state }))
    }
}
