//! Entries folded as they come, then joined with all fill values of their cell at once.
//!
//! Runs of entries in one row are folded as such if they are long. If they are short, no branch may depend on
//! where they end, nor on whether an entry is the first one of its cell, as none of these could be foreseen:
//! the cell of every entry is found by division, first entries are told from later ones by where they are
//! written to, and the later ones, which are few, are taken in a loop of their own.

use super::cells::Cells;
use crate::error::Result;
use crate::expr::{Expr, for_each_stored};
use crate::ops::reduce::Reducer;
use crate::ops::reduce::loops::fold;
use crate::shape::Shape;
use crate::storage::{Sparse, grow, reserve};
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
    results(cells, reducer, fill, rows.found, |k, _| rows.folded[k].clone())
}

/// Few cells: entries of any, then all fill values of each at once.
pub(super) fn by_table<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let mut table = Table { cells, reducer, folded: Vec::new() };
    let fill = for_each_stored(e, shape, |positions, values| Ok(table.take(positions, values)?))?;
    results(cells, reducer, fill, table.found()?, |_, cell| table.folded[cell].clone())
}

/// What is known of the entries of a cell; nothing yet if there are none, whatever the state.
#[derive(Clone)]
struct Folded<S> {
    count: usize,
    state: S,
}

/// Joins the entries of the cells `found`, which `folded` gives by ordinal and cell, with fill values, as many as
/// are missing.
fn results<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    fill: T,
    found: Vec<usize>,
    folded: impl Fn(usize, usize) -> Folded<R::State>,
) -> Result<Tensor<Sparse<R::Out>>> {
    let mut values = Vec::new();
    reserve(&mut values, found.len())?;
    // Cells often lack equally many elements.
    let mut known: Vec<Option<(usize, R::State)>> = vec![None; KNOWN];
    for (k, &cell) in found.iter().enumerate() {
        let Folded { count, mut state } = folded(k, cell);
        let missing = cells.size.saturating_sub(count);
        if missing > 0 {
            let known = &mut known[missing % KNOWN];
            let (_, fills) = match known {
                Some(known) if known.0 == missing => known,
                _ => known.insert((missing, reducer.repeat(fill, 0, missing))),
            };
            reducer.combine(&mut state, fills.clone());
        }
        let value = cells.finish(reducer, cell, state);
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

/// Takes entries one by one, each to the slot of its cell; the slot after those of all cells is for what is not
/// wanted.
#[inline(always)]
fn take_singly<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    slots: &mut [Folded<R::State>],
    positions: &[usize],
    values: &[T],
) {
    let (unwanted, Some(&seed)) = (cells.count, values.first()) else { return };
    let (mut found, mut later) = ([0; PART], [(0, seed); PART]);
    for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
        cells.locate_each(positions, &mut found);
        let mut count = 0;
        for (&own, &value) in found.iter().zip(values) {
            let is_first = slots[own].count == 0;
            slots[own].count += 1;
            slots[if is_first { own } else { unwanted }].state = reducer.first(value);
            later[count % PART] = (own, value);
            count += usize::from(!is_first);
        }
        for &(own, value) in &later[..count] {
            reducer.step(&mut slots[own].state, value);
        }
    }
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
}

impl<R, S: Clone> Table<'_, R, S> {
    fn take<T: Copy>(&mut self, positions: &[usize], values: &[T]) -> Result<()>
    where
        R: Reducer<T, State = S>,
    {
        let (Self { cells, reducer, folded }, Some(&seed)) = (self, values.first()) else {
            return Ok(());
        };
        if folded.is_empty() {
            reserve(folded, cells.count + 1)?;
            folded.resize(cells.count + 1, Folded { count: 0, state: reducer.first(seed) });
        }
        if cells.runs_along() {
            cells.for_each_run(positions, |run, _, cell, _| {
                let (folded, state) = (&mut folded[cell], fold(*reducer, &values[run.clone()], 0));
                if folded.count == 0 {
                    folded.state = state;
                } else {
                    reducer.combine(&mut folded.state, state);
                }
                folded.count += run.len();
            });
        } else if is_short(cells, positions) {
            take_singly(cells, *reducer, folded, positions, values);
        } else {
            spread(cells, *reducer, folded, positions, values);
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

/// Takes runs whose elements belong to one cell each.
fn spread<T: Copy, R: Reducer<T>>(
    cells: &Cells,
    reducer: &R,
    folded: &mut [Folded<R::State>],
    mut positions: &[usize],
    mut values: &[T],
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
                if folded.count == 0 {
                    folded.state = reducer.first(value);
                } else {
                    reducer.step(&mut folded.state, value);
                }
                folded.count += 1;
            }
        } else {
            taken = 1;
        }
        (positions, values) = (&positions[taken..], &values[taken..]);
    }
}
