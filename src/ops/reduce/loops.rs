//! The loops of reducers, compiled for several instruction sets. They are types, as closures that are
//! not marked so may not be inlined, and would be compiled for the baseline then.

use super::Reducer;
use crate::error::Result;
use crate::kernel::{Kernel, dispatch, dispatch_widest};
use crate::memory::try_reserve_exact;

/// Most columns of a block, where rows lie in memory and where they are evaluated, and most that are folded together:
/// reducers keep numbers for each of them besides the states.
pub(super) const COLUMNS: usize = 4096;

/// The states of runs of at least one element each, the first elements at these positions, or at 0 if there are none.
#[inline(always)]
pub(crate) fn fold_runs<T: Copy, R: Reducer<T>>(
    reducer: &R,
    runs: &[&[T]],
    positions: &[usize],
    states: &mut Vec<R::State>,
) -> Result<()> {
    states.clear();
    try_reserve_exact(states, runs.len())?;
    // Short runs and narrow elements gain nothing from wider registers.
    let long = size_of::<T>() >= 4 && runs.first().is_some_and(|run| run.len() >= 256);
    let fold = FoldRuns { reducer, runs, positions, states };
    if R::SEVERAL && long {
        dispatch_widest(fold)
    } else {
        dispatch(fold)
    }
    Ok(())
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
    states: &'a mut Vec<S>,
}

impl<T: Copy, R: Reducer<T>> Kernel for FoldRuns<'_, R::State, R, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { reducer, runs, positions, states } = self;
        for (k, run) in runs.iter().enumerate() {
            let position = if R::POSITIONS { positions.get(k).copied().unwrap_or(0) } else { 0 };
            states.push(reducer.fold(run, position));
        }
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
