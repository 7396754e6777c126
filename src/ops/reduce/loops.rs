//! The loops of reducers, compiled for several instruction sets. They are types, as closures that are
//! not marked so may not be inlined, and would be compiled for the baseline then.

use super::{Reducer, Undefined};
use crate::error::Result;
use crate::kernel::{Kernel, dispatch, dispatch_widest};
use crate::memory::{try_reserve, try_reserve_exact};

/// Most columns of a block, where rows lie in memory and where they are evaluated, and most that are folded together:
/// reducers keep numbers for each of them besides the states.
pub(super) const COLUMNS: usize = 4096;

/// The states of runs of at least one element each, the first elements at these positions, or at 0 if there are none. Those
/// of `one` result are not read after a final state.
#[inline(never)]
pub(crate) fn fold_runs<T: Copy, R: Reducer<T>>(
    reducer: &R,
    runs: &[&[T]],
    positions: &[usize],
    one: bool,
    states: &mut Vec<R::State>,
) -> Result<()> {
    states.clear();
    try_reserve_exact(states, runs.len())?;
    let length = runs.first().map_or(0, |run| run.len());
    dispatch_fold::<T, R, _>(length, FoldRuns { reducer, runs, positions, one, states });
    Ok(())
}

/// The states of runs side by side, element `k` of each in row `k`, if [`Reducer::BESIDE`].
#[inline(never)]
pub(super) fn fold_beside<T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[T]],
    states: &mut Vec<R::State>,
) {
    dispatch(FoldBeside { reducer, rows, states });
}

/// Appends the results of runs of this length, one after another, each folded from position 0 on. Returns the first run
/// without one, and why: results of later ones take its place.
#[inline(never)]
pub(super) fn append_folds<T: Copy, R: Reducer<T>>(
    reducer: &R,
    elements: &[T],
    length: usize,
    results: &mut Vec<R::Out>,
) -> Result<Option<(usize, Undefined)>> {
    try_reserve(results, elements.len() / length)?;
    let fold = AppendFolds { reducer, elements, length, results };
    Ok(dispatch_fold::<T, R, _>(length, fold))
}

/// Folds runs of about this length.
#[inline(always)]
fn dispatch_fold<T: Copy, R: Reducer<T>, L: Kernel>(length: usize, fold: L) -> L::Out {
    // Short runs and narrow elements gain nothing from wider registers.
    let long = size_of::<T>() >= 4 && length >= 256;
    if R::SEVERAL && long { dispatch_widest(fold) } else { dispatch(fold) }
}

/// The states of all columns of at least one row, the first of them at `position`.
#[inline(always)]
pub(crate) fn fold_columns<T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[T]],
    position: usize,
    states: &mut Vec<R::State>,
) -> Result<()> {
    fold_groups(reducer, rows, rows.len(), position, states)
}

/// The same of groups of so many rows, one group after another.
#[inline(always)]
pub(crate) fn fold_groups<T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[T]],
    height: usize,
    position: usize,
    states: &mut Vec<R::State>,
) -> Result<()> {
    let (groups, width) = (rows.len() / height.max(1), rows.first().map_or(0, |row| row.len()));
    let (mut group, mut part) = (Vec::new(), Vec::new());
    if groups > 1 || width > COLUMNS {
        try_reserve_exact(&mut group, width.min(COLUMNS))?;
    }
    if width > COLUMNS {
        try_reserve_exact(&mut part, height)?;
    }
    states.clear();
    try_reserve_exact(states, groups * width)?;
    dispatch(Columns { reducer, rows, height, position, states, group, part });
    Ok(())
}

/// Joins the states of columns with those of the rows that follow.
#[inline(always)]
pub(crate) fn combine_columns<T: Copy, R: Reducer<T>>(
    reducer: &R,
    states: &mut [R::State],
    later: Vec<R::State>,
) {
    let join = |state: &mut R::State, later| reducer.combine(state, later);
    dispatch(Combine { states, later, join });
}

struct FoldRuns<'a, S, R, T> {
    reducer: &'a R,
    runs: &'a [&'a [T]],
    positions: &'a [usize],
    one: bool,
    states: &'a mut Vec<S>,
}

impl<T: Copy, R: Reducer<T>> Kernel for FoldRuns<'_, R::State, R, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, runs, positions, one, states } = self;
        for (k, run) in runs.iter().enumerate() {
            if let Some(last) = states.last().filter(|last| one && reducer.is_final(last)) {
                states.push(last.clone());
                continue;
            }
            let position = if R::POSITIONS { positions.get(k).copied().unwrap_or(0) } else { 0 };
            states.push(reducer.fold(run, position));
        }
    }
}

struct FoldBeside<'a, S, R, T> {
    reducer: &'a R,
    rows: &'a [&'a [T]],
    states: &'a mut Vec<S>,
}

impl<T: Copy, R: Reducer<T>> Kernel for FoldBeside<'_, R::State, R, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        self.reducer.fold_beside(self.rows, self.states);
    }
}

struct AppendFolds<'a, T: Copy, R: Reducer<T>> {
    reducer: &'a R,
    elements: &'a [T],
    length: usize,
    results: &'a mut Vec<R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for AppendFolds<'_, T, R> {
    type Out = Option<(usize, Undefined)>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Self { reducer, elements, length, results } = self;
        let mut gap = None;
        for (k, run) in elements.chunks_exact(length).enumerate() {
            let state = reducer.fold(run, 0);
            match reducer.undefined(&state) {
                Some(why) => gap = gap.or(Some((k, why))),
                None => results.push(reducer.finish(state)),
            }
        }
        gap
    }
}

struct Columns<'a, S, R, T> {
    reducer: &'a R,
    rows: &'a [&'a [T]],
    height: usize,
    position: usize,
    states: &'a mut Vec<S>,
    /// States of one part of a group, if there are several.
    group: Vec<S>,
    /// Rows of one part, if there are several.
    part: Vec<&'a [T]>,
}

impl<T: Copy, R: Reducer<T>> Kernel for Columns<'_, R::State, R, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, rows, height, position, states, mut group, mut part } = self;
        let width = rows.first().map_or(0, |row| row.len());
        let parts = width.div_ceil(COLUMNS).max(1);
        let (several, columns) = (rows.len() > height || parts > 1, width.div_ceil(parts));
        // In one place, as it is long once it is inlined.
        for (rows, k) in
            rows.chunks_exact(height).flat_map(|rows| (0..parts).map(move |k| (rows, k)))
        {
            if parts > 1 {
                let columns = k * columns..width.min((k + 1) * columns);
                part.clear();
                part.extend(rows.iter().map(|row| &row[columns.clone()]));
            }
            let own = if several { &mut group } else { &mut *states };
            reducer.fold_columns(if parts > 1 { &part } else { rows }, position, own);
            if several {
                states.append(&mut group);
            }
        }
    }
}

struct Combine<'a, S, J> {
    states: &'a mut [S],
    later: Vec<S>,
    join: J,
}

impl<S, J: Fn(&mut S, S)> Kernel for Combine<'_, S, J> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (state, later) in self.states.iter_mut().zip(self.later) {
            (self.join)(state, later);
        }
    }
}
