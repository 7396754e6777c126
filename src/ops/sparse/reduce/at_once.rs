//! Entries folded as they come, then joined with all fill values of their cell at once.
//!
//! Runs of entries in one row are folded as such if they are long. If they are short, no branch may depend on
//! where they end, as that could not be foreseen: the cell of every entry is found by division. Nor need one depend
//! on whether an entry is the first one of its cell, if the reducer has a neutral state, as all cells begin with it.
//! Where cells are too many for that, the later entries of a cell, which are few, are taken in a loop of their own.

use super::cells::Cells;
use crate::error::Result;
use crate::expr::{Expr, for_each_stored};
use crate::kernel::{Loop, wide};
use crate::memory::{grow, reserve};
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
    let fill = for_each_stored(e, shape, |positions, values| Ok(rows.take(positions, values)?))?;
    results(cells, reducer, fill, rows.found, rows.folded.into_iter())
}

/// Few cells: entries of any, then all fill values of each at once.
pub(super) fn by_table<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let (table, fill) = Table::of(e, shape, cells, reducer)?;
    let found = table.found()?;
    let folded = table.folded.into_iter().filter(|folded| folded.count > 0);
    results(cells, reducer, fill, found, folded)
}

/// [`by_table`], with the results of all cells; `None` if there are no entries.
pub(super) fn all_by_table<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Option<Vec<R::Out>>> {
    let (table, fill) = Table::of(e, shape, cells, reducer)?;
    if table.folded.is_empty() {
        return Ok(None);
    }
    let mut values = Vec::new();
    reserve(&mut values, cells.count)?;
    let (mut fills, neutral) = (Fills::new(cells, reducer, fill), reducer.neutral().is_some());
    for (cell, folded) in table.folded.into_iter().take(cells.count).enumerate() {
        // A neutral state is joined like any other, as it cannot be foreseen which cells have no entry.
        let state = match folded.count {
            0 if !neutral => fills.of(cells.size),
            _ => fills.join(folded),
        };
        values.push(cells.finish(reducer, cell, state)?);
    }
    Ok(Some(values))
}

/// What is known of the entries of a cell; if there are none, the neutral state or any other.
#[derive(Clone)]
struct Folded<S> {
    count: usize,
    state: S,
}

/// States of fill values, by their number.
struct Fills<'r, T, R, S> {
    reducer: &'r R,
    fill: T,
    /// Elements of a cell.
    size: usize,
    /// Cells often lack equally many elements.
    known: Vec<Option<(usize, S)>>,
}

impl<'r, T: Copy, R: Reducer<T>> Fills<'r, T, R, R::State> {
    fn new(cells: &Cells, reducer: &'r R, fill: T) -> Self {
        Self { reducer, fill, size: cells.size, known: vec![None; KNOWN] }
    }

    /// The state of so many fill values, one at least.
    #[inline(always)]
    fn of(&mut self, count: usize) -> R::State {
        let known = &mut self.known[count % KNOWN];
        match known {
            Some((other, state)) if *other == count => state.clone(),
            _ => known.insert((count, self.reducer.repeat(self.fill, 0, count))).1.clone(),
        }
    }

    /// The state of a cell: its entries, and all fill values that it has besides.
    #[inline(always)]
    fn join(&mut self, Folded { count, mut state }: Folded<R::State>) -> R::State {
        let missing = self.size.saturating_sub(count);
        if missing > 0 {
            self.reducer.combine(&mut state, self.of(missing));
        }
        state
    }
}

/// Joins the entries of the cells `found` with fill values, as many as are missing.
fn results<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    fill: T,
    found: Vec<usize>,
    folded: impl Iterator<Item = Folded<R::State>>,
) -> Result<Tensor<Sparse<R::Out>>> {
    let mut values = Vec::new();
    reserve(&mut values, found.len())?;
    let mut fills = Fills::new(cells, reducer, fill);
    for ((k, &cell), folded) in found.iter().enumerate().zip(folded) {
        let value = cells.finish(reducer, cell, fills.join(folded));
        values.push(value.map_err(|error| cells.first_error(reducer, fill, &found[..=k], error))?);
    }
    let fill = cells.fill(reducer, fill, &found, &values)?;
    cells.tensor(fill, found, values)
}

/// Whether the runs of ascending positions are short.
fn is_short(cells: &Cells, positions: &[usize]) -> bool {
    let (Some(first), Some(last)) = (positions.first(), positions.last()) else { return false };
    positions.len() / SHORT <= last.saturating_sub(*first) / cells.block()
}

/// Takes one more entry of a cell: none is the first one of a neutral state.
#[inline(always)]
fn add<T: Copy, R: Reducer<T>>(
    reducer: &R,
    folded: &mut Folded<R::State>,
    value: T,
    neutral: bool,
) {
    if neutral || folded.count > 0 {
        reducer.step(&mut folded.state, value);
    } else {
        folded.state = reducer.first(value);
    }
    folded.count += 1;
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
        grow(found, positions.len())?;
        grow(folded, positions.len())?;
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

/// All cells, as each may take any entry.
struct Table<'c, R, S> {
    cells: &'c Cells,
    reducer: &'c R,
    /// One for each cell, and one for what is not wanted.
    folded: Vec<Folded<S>>,
    neutral: bool,
}

impl<'c, R, S: Clone> Table<'c, R, S> {
    /// The table of an expression, and its fill value.
    fn of<E: Expr>(
        e: &E,
        shape: &Shape,
        cells: &'c Cells,
        reducer: &'c R,
    ) -> Result<(Self, E::Elem)>
    where
        R: Reducer<E::Elem, State = S>,
    {
        let neutral = reducer.neutral().is_some();
        let mut table = Self { cells, reducer, folded: Vec::new(), neutral };
        let fill =
            for_each_stored(e, shape, |positions, values| Ok(table.take(positions, values)?))?;
        Ok((table, fill))
    }

    fn take<T: Copy>(&mut self, positions: &[usize], values: &[T]) -> Result<()>
    where
        R: Reducer<T, State = S>,
    {
        let (Self { cells, reducer, folded, neutral }, Some(&seed)) = (self, values.first()) else {
            return Ok(());
        };
        if folded.is_empty() {
            reserve(folded, cells.count + 1)?;
            let state = reducer.neutral().unwrap_or_else(|| reducer.first(seed));
            folded.resize(cells.count + 1, Folded { count: 0, state });
        }
        let short = is_short(cells, positions);
        if cells.runs_along() && !(short && cells.are_rows()) {
            wide(Runs { cells, reducer: *reducer, folded, positions, values });
        } else if let Some((divider, along)) = cells.matrix() {
            let (row, column) = (|p| divider.divide(p).0, |p| divider.divide(p).1);
            let entries = positions.iter().zip(values);
            match (along, *neutral) {
                (true, true) => each(*reducer, folded, entries, true, row),
                (true, false) => each(*reducer, folded, entries, false, row),
                (false, true) => each(*reducer, folded, entries, true, column),
                (false, false) => each(*reducer, folded, entries, false, column),
            }
        } else if short {
            let mut found = [0; PART];
            for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
                cells.locate_each(positions, &mut found);
                for (&own, &value) in found.iter().zip(values) {
                    add(*reducer, &mut folded[own], value, *neutral);
                }
            }
        } else {
            spread(cells, *reducer, folded, positions, values, *neutral);
        }
        Ok(())
    }

    /// The cells that some entry belongs to.
    fn found(&self) -> Result<Vec<usize>> {
        let cells = self.folded.get(..self.cells.count).unwrap_or_default();
        let stored = cells.iter().map(|folded| usize::from(folded.count > 0)).sum();
        let mut found = Vec::new();
        reserve(&mut found, stored + 1)?;
        found.resize(stored + 1, 0);
        let mut next = 0;
        for (cell, folded) in cells.iter().enumerate() {
            found[next] = cell;
            next += usize::from(folded.count > 0);
        }
        found.truncate(stored);
        Ok(found)
    }
}

/// Takes entries one by one, each to the cell of its position.
#[inline(always)]
fn each<'e, T: Copy + 'e, R: Reducer<T>>(
    reducer: &R,
    folded: &mut [Folded<R::State>],
    entries: impl Iterator<Item = (&'e usize, &'e T)>,
    neutral: bool,
    cell: impl Fn(usize) -> usize,
) {
    for (&position, &value) in entries {
        // Beyond are positions that storage makes up.
        if let Some(folded) = folded.get_mut(cell(position)) {
            add(reducer, folded, value, neutral);
        }
    }
}

/// Runs that lie in one cell each, folded as such.
struct Runs<'t, R, S, T> {
    cells: &'t Cells,
    reducer: &'t R,
    folded: &'t mut [Folded<S>],
    positions: &'t [usize],
    values: &'t [T],
}

impl<T: Copy, R: Reducer<T>> Loop for Runs<'_, R, R::State, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { cells, reducer, folded, positions, values } = self;
        cells.for_each_run(positions, |run, _, cell, _| {
            let (folded, count) = (&mut folded[cell], run.len());
            let state = reducer.fold(&values[run], 0);
            if folded.count == 0 {
                folded.state = state;
            } else {
                reducer.combine(&mut folded.state, state);
            }
            folded.count += count;
        });
    }
}

/// Takes runs whose elements belong to one cell each.
fn spread<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    folded: &mut [Folded<R::State>],
    mut positions: &[usize],
    mut values: &[T],
    neutral: bool,
) {
    while let Some(&position) = positions.first() {
        let mut taken = positions.len();
        if let Some(start) = cells.block_of(position) {
            let block = &mut folded[cells.locate(start).0..][..cells.block()];
            for (k, (position, &value)) in positions.iter().zip(values).enumerate() {
                let Some(folded) = block.get_mut(position.wrapping_sub(start)) else {
                    taken = k;
                    break;
                };
                add(reducer, folded, value, neutral);
            }
        } else {
            taken = 1;
        }
        (positions, values) = (&positions[taken..], &values[taken..]);
    }
}
