//! States of cells, and what is compiled for every reducer: loops over entries whose cells are known.
//!
//! No branch need depend on whether an entry is the first one of its cell if the reducer has a neutral state, as all
//! cells begin with it. If besides so many fill values are as one ([`Reducer::is_idempotent`]), entries need not be
//! counted, as long as no cell is without a fill value.

use super::super::folding::Needs;
use super::super::loops::fold_runs;
use super::super::reducer::Reducer;
use super::cells::Cells;
use super::fibers::Fibers;
use super::fills::{Fills, Folded};
use crate::error::Result;
use crate::kernel::prefetch_span;
use crate::map::Multiplier;
use crate::memory::{list, resize, try_reserve, try_with_capacity, zeros};
use crate::storage::Sparse;
use crate::tensor::Tensor;
use std::ops::Range;

/// Entries between those that are taken and the ones whose memory is asked for.
const AHEAD: usize = 256;
/// Entries that are taken between two requests for memory: a processor waits for no more than a few lines at once.
const REQUEST: usize = 8;
/// Runs of entries that are folded at once.
pub(super) const RUNS: usize = 16;

/// Neighbouring entries of one cell: the number of its state, and which they are.
pub(super) type Run = (usize, Range<usize>);

/// States of cells, their type erased.
pub(super) trait Cellwise<T> {
    /// Whether entries need not be counted, as long as each cell has a fill value.
    fn may_leave_uncounted(&self, fill: T) -> bool;

    /// Forgets all entries.
    fn reset(&mut self);

    /// Makes so many states of no entries; `count` tells whether entries are to be counted.
    fn begin(&mut self, states: usize, count: bool, seed: T) -> Result<()>;

    /// Takes entries that are counted, each to the state of this number. Beyond all is what storage made up.
    fn take_each(&mut self, states: &[usize], values: &[T]);

    /// Takes entries of rows and columns if they are not counted, each to the state of its row (if `along`) or column;
    /// `false` if they are.
    fn take_lines(
        &mut self,
        divider: Multiplier,
        along: bool,
        positions: &[usize],
        values: &[T],
    ) -> bool;

    /// Makes so many fibers of states of no entries, of `len` states each.
    fn begin_fibers(&mut self, fibers: usize, len: usize, seed: T) -> Result<()>;

    /// Takes fibers of entries, each to the fiber of states of this number. Beyond all is what storage made up.
    fn take_fibers(&mut self, fibers: &[usize], values: &[T]);

    /// Makes of fibers of states those that [`Self::begin`] makes, counted.
    fn end_fibers(&mut self) -> Result<()>;

    /// Takes at most [`RUNS`] runs. The first one of a number that is one more than there are begins a state.
    fn take_runs(&mut self, runs: &[Run], values: &[T]) -> Result<()>;

    /// Begins a state with each of some entries.
    fn begin_each(&mut self, entries: &[usize], values: &[T]) -> Result<()>;

    /// Takes entries, each to a state that has one: below the one of this number.
    fn step_each(&mut self, entries: &[(usize, usize)], values: &[T]);

    /// Begins a state with all elements of a cell of `size`, in order: entries at their places, and `fill` elsewhere.
    fn begin_cell(&mut self, fill: T, size: usize, entries: &[(usize, T)]) -> Result<()>;
}

/// States of cells of one reducer.
pub(super) struct States<'r, T: Copy, R: Reducer<T>> {
    reducer: &'r R,
    counted: Vec<Folded<R::State>>,
    /// Of cells that are thought to have a fill value each.
    uncounted: Vec<R::State>,
    fibers: Fibers<R::State>,
    /// Whether states begin neutral.
    neutral: bool,
    /// Of runs.
    scratch: Vec<R::State>,
}

impl<'r, T: Copy, R: Reducer<T>> States<'r, T, R> {
    pub(super) fn new(reducer: &'r R) -> Self {
        Self {
            reducer,
            counted: Vec::new(),
            uncounted: Vec::new(),
            fibers: Fibers::default(),
            neutral: reducer.neutral().is_some(),
            scratch: Vec::new(),
        }
    }

    /// The numbers of the states that have an entry, of which the first `cells` count.
    fn found(&self, cells: usize) -> Result<Vec<usize>> {
        let states = self.counted.get(..cells).unwrap_or_default();
        let stored = states.iter().map(|folded| usize::from(folded.count > 0)).sum();
        let mut found: Vec<usize> = zeros(stored + 1)?;
        let mut next = 0;
        for (cell, folded) in states.iter().enumerate() {
            found[next] = cell;
            next += usize::from(folded.count > 0);
        }
        found.truncate(stored);
        Ok(found)
    }

    /// The results of cells with entries: of those `found`, or of all states that have one. Their entries are joined
    /// with fill values, as many as are missing.
    #[inline(never)]
    pub(super) fn into_stored(
        self,
        cells: &Cells,
        fill: T,
        found: Option<Vec<usize>>,
    ) -> Result<Tensor<Sparse<R::Out>>> {
        let reducer = self.reducer;
        let found = found.map_or_else(|| self.found(cells.count), Ok)?;
        let mut values = try_with_capacity(found.len())?;
        let mut fills = Fills::new(cells, reducer, fill)?;
        let folded = self.counted.into_iter().filter(|folded| folded.count > 0);
        for ((k, &cell), folded) in found.iter().enumerate().zip(folded) {
            let value = cells.finish(reducer, cell, fills.join(folded));
            let value =
                value.map_err(|error| cells.first_error(reducer, fill, &found[..=k], error))?;
            values.push(value);
        }
        let fill = cells.fill(reducer, fill, &found, &values)?;
        cells.tensor(fill, found, values)
    }

    /// The results of all cells; `None` if there are no entries.
    #[inline(never)]
    pub(super) fn into_all(self, cells: &Cells, fill: T) -> Result<Option<Vec<R::Out>>> {
        let Self { reducer, counted, uncounted, neutral, .. } = self;
        if let Some(states) = uncounted.get(..cells.count).filter(|_| !uncounted.is_empty()) {
            return all_uncounted(reducer, states, cells, fill).map(Some);
        }
        if counted.is_empty() {
            return Ok(None);
        }
        let mut values = try_with_capacity(cells.count)?;
        let mut fills = Fills::new(cells, reducer, fill)?;
        for (cell, folded) in counted.into_iter().take(cells.count).enumerate() {
            // A neutral state is joined like any other: which cells have no entry is unpredictable.
            let state = match folded.count {
                0 if !neutral => fills.of(cells.size),
                _ => fills.join(folded),
            };
            values.push(cells.finish(reducer, cell, state)?);
        }
        Ok(Some(values))
    }
}

/// The results of states each of which has fill values, however many.
fn all_uncounted<T: Copy, R: Reducer<T>>(
    reducer: &R,
    states: &[R::State],
    cells: &Cells,
    fill: T,
) -> Result<Vec<R::Out>> {
    let fill = reducer.first(fill);
    let joined = |state: &R::State| {
        let mut state = state.clone();
        reducer.combine(&mut state, fill.clone());
        state
    };
    // Nothing is left of this where all states have a result, which most reducers say.
    let mut states_of = states.iter().map(joined).enumerate();
    if let Some((cell, state)) = states_of.find(|(_, state)| reducer.undefined(state).is_some()) {
        return cells.finish(reducer, cell, state).map(|_| Vec::new());
    }
    list(states.iter().map(|state| reducer.finish(joined(state))))
}

impl<T: Copy, R: Reducer<T>> Cellwise<T> for States<'_, T, R> {
    fn may_leave_uncounted(&self, fill: T) -> bool {
        self.neutral && self.reducer.is_idempotent(fill)
    }

    fn reset(&mut self) {
        (self.counted, self.uncounted) = (Vec::new(), Vec::new());
    }

    fn begin(&mut self, states: usize, count: bool, seed: T) -> Result<()> {
        match self.reducer.neutral() {
            Some(state) if !count => resize(&mut self.uncounted, states, state),
            neutral => {
                let state = neutral.unwrap_or_else(|| self.reducer.first(seed));
                resize(&mut self.counted, states, Folded { count: 0, state })
            }
        }
    }

    fn take_each(&mut self, states: &[usize], values: &[T]) {
        let Self { reducer, counted, neutral, .. } = self;
        for (states, values) in states.chunks(REQUEST).zip(values.chunks(REQUEST)) {
            prefetch_span(values, AHEAD, REQUEST);
            for (&own, &value) in states.iter().zip(values) {
                if let Some(folded) = counted.get_mut(own) {
                    if *neutral || folded.count > 0 {
                        reducer.step(&mut folded.state, value);
                    } else {
                        folded.state = reducer.first(value);
                    }
                    folded.count += 1;
                }
            }
        }
    }

    fn take_lines(
        &mut self,
        divider: Multiplier,
        along: bool,
        positions: &[usize],
        values: &[T],
    ) -> bool {
        let Self { reducer, uncounted, .. } = self;
        match along {
            _ if uncounted.is_empty() => return false,
            true => step_lines(*reducer, uncounted, |p| divider.divide(p).0, positions, values),
            false => step_lines(*reducer, uncounted, |p| divider.divide(p).1, positions, values),
        }
        true
    }

    fn begin_fibers(&mut self, fibers: usize, len: usize, seed: T) -> Result<()> {
        self.fibers = Fibers::new(self.reducer, fibers, len, seed)?;
        Ok(())
    }

    fn take_fibers(&mut self, fibers: &[usize], values: &[T]) {
        self.fibers.take(self.reducer, self.neutral, fibers, values);
    }

    fn end_fibers(&mut self) -> Result<()> {
        self.counted = std::mem::take(&mut self.fibers).into_states()?;
        Ok(())
    }

    fn take_runs(&mut self, runs: &[Run], values: &[T]) -> Result<()> {
        let mut elements = [&values[..0]; RUNS];
        for (slot, (_, run)) in elements.iter_mut().zip(runs) {
            *slot = &values[run.clone()];
        }
        fold_runs(self.reducer, &elements[..runs.len()], &[], false, &mut self.scratch)?;
        let each = runs.iter().zip(self.scratch.drain(..));
        if !self.uncounted.is_empty() {
            for ((own, _), state) in each {
                if let Some(folded) = self.uncounted.get_mut(*own) {
                    self.reducer.combine(folded, state);
                }
            }
            return Ok(());
        }
        try_reserve(&mut self.counted, runs.len())?;
        for ((own, run), state) in each {
            let count = run.len();
            match self.counted.get_mut(*own) {
                None => self.counted.push(Folded { count, state }),
                Some(folded) if folded.count == 0 => *folded = Folded { count, state },
                Some(folded) => {
                    folded.count += count;
                    self.reducer.combine(&mut folded.state, state);
                }
            }
        }
        Ok(())
    }

    fn begin_each(&mut self, entries: &[usize], values: &[T]) -> Result<()> {
        try_reserve(&mut self.counted, entries.len())?;
        let first = |&k: &usize| Folded { count: 1, state: self.reducer.first(values[k]) };
        self.counted.extend(entries.iter().map(first));
        Ok(())
    }

    fn step_each(&mut self, entries: &[(usize, usize)], values: &[T]) {
        for &(end, k) in entries {
            if let Some(folded) = self.counted[..end].last_mut() {
                folded.count += 1;
                self.reducer.step(&mut folded.state, values[k]);
            }
        }
    }

    fn begin_cell(&mut self, fill: T, size: usize, entries: &[(usize, T)]) -> Result<()> {
        if let Some(state) = folded(self.reducer, fill, size, entries) {
            try_reserve(&mut self.counted, 1)?;
            self.counted.push(Folded { count: size, state });
        }
        Ok(())
    }
}

/// Takes entries, each to the state that is found for its position. Beyond all are positions that storage makes up.
#[inline(always)]
fn step_lines<T: Copy, R: Reducer<T>>(
    reducer: &R,
    states: &mut [R::State],
    state: impl Fn(usize) -> usize,
    positions: &[usize],
    values: &[T],
) {
    let step = |states: &mut [R::State], positions: &[usize], values: &[T]| {
        for (&position, &value) in positions.iter().zip(values) {
            if let Some(state) = states.get_mut(state(position)) {
                reducer.step(state, value);
            }
        }
    };
    let ((some, last), (own, rest)) =
        (positions.as_chunks::<REQUEST>(), values.as_chunks::<REQUEST>());
    for (some, own) in some.iter().zip(own) {
        prefetch_span(some, AHEAD, REQUEST);
        prefetch_span(own, AHEAD, REQUEST);
        step(states, some, own);
    }
    step(states, last, rest);
}

/// The state of a cell of `size` elements: `fill` but where there are elements, which come by ascending
/// place. A reducer that does not care for the order takes the elements first and all fill values then.
fn folded<T: Copy, R: Reducer<T>>(
    reducer: &R,
    fill: T,
    size: usize,
    elements: &[(usize, T)],
) -> Option<R::State> {
    let ordered = Needs::of::<T, R>().is_ordered();
    let mut state: Option<R::State> = None;
    let mut next = 0;
    let fills = |state: &mut Option<R::State>, next: usize, count: usize| match state {
        None => *state = Some(reducer.repeat(fill, next, count)),
        Some(state) => reducer.step_copies(state, fill, next, count),
    };
    for &(place, value) in elements {
        let gap = place.saturating_sub(next);
        if gap > 0 && ordered {
            fills(&mut state, next, gap);
        }
        match &mut state {
            None => state = Some(reducer.first_at(value, place)),
            Some(state) => reducer.step_at(state, value, place),
        }
        next = place + 1;
    }
    let gap = match ordered {
        true => size.saturating_sub(next),
        false => size.saturating_sub(elements.len()),
    };
    if gap > 0 {
        fills(&mut state, next, gap);
    }
    state
}
