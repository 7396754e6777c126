//! Entries folded as they come, then joined with all fill values of their cell at once.
//!
//! Runs of entries in one row are folded as such if they are long. If they are short, no branch may depend on
//! where they end, as that could not be foreseen: the cell of every entry is found by division. Where cells are too
//! many for a table, the later entries of a cell, which are few, are taken in a loop of their own.

use super::cells::Cells;
use crate::error::Result;
use crate::expr::{Expr, for_each_stored};
use crate::memory::{list, try_reserve, try_with_capacity};
use crate::ops::reduce::Reducer;
use crate::ops::reduce::loops::fold;
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;

/// Entries a run, on average, below which runs are short.
const SHORT: usize = 8;
/// Entries that are taken at once.
const PART: usize = 128;
/// Numbers of fill values whose states are remembered.
const KNOWN: usize = 256;

/// Cells that are rows: the entries of each, then all its fill values at once.
pub(super) fn by_rows<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let mut rows = Rows { cells, reducer, found: Vec::new(), folded: Vec::new() };
    let fill = for_each_stored(e, shape, |_, positions, values| Ok(rows.take(positions, values)?))?;
    results(cells, reducer, fill, rows.found, rows.folded.into_iter())
}

/// What is known of the entries of a cell; if there are none, the neutral state or any other.
#[derive(Clone)]
pub(super) struct Folded<S, C = usize> {
    pub(super) count: C,
    pub(super) state: S,
}

/// States of fill values, by their number.
pub(super) struct Fills<'r, T, R, S> {
    reducer: &'r R,
    fill: T,
    /// Elements of a cell.
    size: usize,
    /// Cells often lack equally many elements.
    known: Vec<Option<(usize, S)>>,
}

impl<'r, T: Copy, R: Reducer<T>> Fills<'r, T, R, R::State> {
    pub(super) fn new(cells: &Cells, reducer: &'r R, fill: T) -> Result<Self> {
        let known = list(std::iter::repeat_n(None, KNOWN))?;
        Ok(Self { reducer, fill, size: cells.size, known })
    }

    /// The state of so many fill values, one at least.
    #[inline(always)]
    pub(super) fn of(&mut self, count: usize) -> R::State {
        let known = &mut self.known[count % KNOWN];
        match known {
            Some((other, state)) if *other == count => state.clone(),
            _ => known.insert((count, self.reducer.repeat(self.fill, 0, count))).1.clone(),
        }
    }

    /// The state of a cell: its entries, and all fill values that it has besides.
    #[inline(always)]
    pub(super) fn join(&mut self, Folded { count, mut state }: Folded<R::State>) -> R::State {
        let missing = self.size.saturating_sub(count);
        if missing > 0 {
            self.reducer.combine(&mut state, self.of(missing));
        }
        state
    }
}

/// Joins the entries of the cells `found` with fill values, as many as are missing.
pub(super) fn results<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    fill: T,
    found: Vec<usize>,
    folded: impl Iterator<Item = Folded<R::State>>,
) -> Result<Tensor<Sparse<R::Out>>> {
    let mut values = try_with_capacity(found.len())?;
    let mut fills = Fills::new(cells, reducer, fill)?;
    for ((k, &cell), folded) in found.iter().enumerate().zip(folded) {
        let value = cells.finish(reducer, cell, fills.join(folded));
        values.push(value.map_err(|error| cells.first_error(reducer, fill, &found[..=k], error))?);
    }
    let fill = cells.fill(reducer, fill, &found, &values)?;
    cells.tensor(fill, found, values)
}

/// Whether the runs of ascending positions are short.
pub(super) fn is_short(cells: &Cells, positions: &[usize]) -> bool {
    let (Some(first), Some(last)) = (positions.first(), positions.last()) else { return false };
    positions.len() / SHORT <= last.saturating_sub(*first) / cells.block()
}

/// Cells that are runs of positions: only the last one takes more entries.
struct Rows<'c, R, S> {
    cells: &'c Cells,
    reducer: &'c R,
    found: Vec<usize>,
    folded: Vec<Folded<S>>,
}

impl<R, S: Clone> Rows<'_, R, S> {
    fn take<T: Copy>(&mut self, positions: &[usize], values: &[T]) -> Result<()>
    where
        R: Reducer<T, State = S>,
    {
        let Self { cells, reducer, found, folded } = self;
        try_reserve(found, positions.len())?;
        try_reserve(folded, positions.len())?;
        if is_short(cells, positions) {
            self.take_each(positions, values);
            return Ok(());
        }
        cells.for_each_run(positions, |run, _, cell, _| {
            let (count, state) = (run.len(), fold(*reducer, &values[run], 0));
            match folded.last_mut() {
                Some(folded) if found.last() == Some(&cell) => {
                    folded.count += count;
                    reducer.combine(&mut folded.state, state);
                }
                _ => {
                    found.push(cell);
                    folded.push(Folded { count, state });
                }
            }
        });
        Ok(())
    }

    /// Takes entries of short runs.
    fn take_each<T: Copy>(&mut self, positions: &[usize], values: &[T])
    where
        R: Reducer<T, State = S>,
    {
        let Self { cells, reducer, found, folded } = self;
        let mut last = found.last().copied().unwrap_or(usize::MAX);
        let (mut own, mut firsts, mut later) = ([0; PART], [0; PART], [(0, 0); PART]);
        for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
            cells.locate_each(positions, &mut own);
            let (mut first_count, mut later_count) = (0, 0);
            for (k, &cell) in own[..positions.len()].iter().enumerate() {
                // An entry that storage makes up counts as one of the cell before.
                let cell = if cell < cells.count { cell } else { last };
                let is_first = cell != last;
                last = cell;
                firsts[first_count % PART] = k;
                first_count += usize::from(is_first);
                later[later_count % PART] = (found.len() + first_count, k);
                later_count += usize::from(!is_first);
            }
            let firsts = &firsts[..first_count];
            found.extend(firsts.iter().map(|&k| own[k]));
            folded.extend(
                firsts.iter().map(|&k| Folded { count: 1, state: reducer.first(values[k]) }),
            );
            for &(end, k) in &later[..later_count] {
                if let Some(folded) = folded[..end].last_mut() {
                    folded.count += 1;
                    reducer.step(&mut folded.state, values[k]);
                }
            }
        }
    }
}
