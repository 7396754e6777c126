//! All cells at once: entries of any cell as they come, to a table of states.
//!
//! No branch need depend on whether an entry is the first one of its cell if the reducer has a neutral state, as all
//! cells begin with it. If besides so many fill values are as one ([`Reducer::is_idempotent`]), entries need not be
//! counted, as long as no cell is without a fill value.

use super::at_once::{Fills, Folded, is_short, results};
use super::cells::Cells;
use super::gaps::Gaps;
use crate::error::Result;
use crate::expr::{Expr, for_each_stored};
use crate::kernel::{Loop, dispatch, prefetch_span};
use crate::memory::{list, resize, try_with_capacity, zeros};
use crate::ops::reduce::Reducer;
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;

/// Entries whose cells are found before they are taken.
const PART: usize = 128;

/// Few cells: entries of any, then all fill values of each at once.
pub(super) fn by_table<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let (table, fill) = Table::of(e, shape, cells, reducer, true)?;
    let found = table.found()?;
    let folded = table.counted.into_iter().filter(|folded| folded.count > 0);
    results(cells, reducer, fill, found, folded)
}

/// [`by_table`], with the results of all cells; `None` if there are no entries.
pub(super) fn all_by_table<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Option<Vec<R::Out>>> {
    let (mut table, mut fill) = Table::of(e, shape, cells, reducer, false)?;
    if table.is_doubtful() {
        (table, fill) = Table::of(e, shape, cells, reducer, true)?;
    }
    if !table.uncounted.is_empty() {
        return table.uncounted_results(fill).map(Some);
    }
    if table.counted.is_empty() {
        return Ok(None);
    }
    let mut values = try_with_capacity(cells.count)?;
    let (mut fills, neutral) = (Fills::new(cells, reducer, fill)?, table.neutral);
    for (cell, folded) in table.counted.into_iter().take(cells.count).enumerate() {
        // A neutral state is joined like any other, as it cannot be foreseen which cells have no entry.
        let state = match folded.count {
            0 if !neutral => fills.of(cells.size),
            _ => fills.join(folded),
        };
        values.push(cells.finish(reducer, cell, state)?);
    }
    Ok(Some(values))
}

/// How many entries a cell has, where that is asked.
trait Count: Copy + Default {
    /// Whether there are none, so that the state means nothing yet.
    fn is_none(self) -> bool;

    fn add(&mut self, more: usize);
}

impl Count for usize {
    #[inline(always)]
    fn is_none(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn add(&mut self, more: usize) {
        *self += more;
    }
}

/// Not asked, as all states begin neutral.
impl Count for () {
    #[inline(always)]
    fn is_none(self) -> bool {
        false
    }

    #[inline(always)]
    fn add(&mut self, _more: usize) {}
}

/// All cells, as each may take any entry: in one of two vectors a state for each cell, and one for what is not
/// wanted.
struct Table<'c, R, S> {
    cells: &'c Cells,
    reducer: &'c R,
    counted: Vec<Folded<S>>,
    /// Of cells that are thought to have a fill value each.
    uncounted: Vec<Folded<S, ()>>,
    neutral: bool,
    gaps: Gaps,
}

impl<'c, R, S: Clone> Table<'c, R, S> {
    /// The table of an expression, and its fill value. Entries that need not be counted are counted if `count`.
    fn of<E: Expr>(
        e: &E,
        shape: &Shape,
        cells: &'c Cells,
        reducer: &'c R,
        count: bool,
    ) -> Result<(Self, E::Elem)>
    where
        R: Reducer<E::Elem, State = S>,
    {
        let mut table = Self {
            cells,
            reducer,
            counted: Vec::new(),
            uncounted: Vec::new(),
            neutral: reducer.neutral().is_some(),
            gaps: Gaps::default(),
        };
        let fill = for_each_stored(e, shape, |fill, positions, values| {
            if table.counted.is_empty() && table.uncounted.is_empty() {
                table.begin(count, fill, positions, values)?;
            }
            table.take(positions, values);
            Ok(())
        })?;
        Ok((table, fill))
    }

    /// Makes a state for each cell, before the first entries are taken.
    fn begin<T: Copy>(
        &mut self,
        count: bool,
        fill: T,
        positions: &[usize],
        values: &[T],
    ) -> Result<()>
    where
        R: Reducer<T, State = S>,
    {
        let (slots, neutral) = (self.cells.count + 1, self.reducer.neutral());
        if let Some(state) = &neutral
            && !count
            && self.reducer.is_idempotent(fill)
            && self.cells.each_lacks(positions)
        {
            resize(&mut self.uncounted, slots, Folded { count: (), state: state.clone() })?;
        } else if let Some(state) = neutral.or_else(|| Some(self.reducer.first(*values.first()?))) {
            resize(&mut self.counted, slots, Folded { count: 0, state })?;
        }
        Ok(())
    }

    fn take<T: Copy>(&mut self, positions: &[usize], values: &[T])
    where
        R: Reducer<T, State = S>,
    {
        let Self { cells, reducer, counted, uncounted, neutral, gaps } = self;
        let short = is_short(cells, positions);
        if !uncounted.is_empty() {
            gaps.take(positions);
            take_lines(cells, *reducer, uncounted, positions, values, short, true);
        } else if !take_lines(cells, *reducer, counted, positions, values, short, *neutral) {
            if short {
                let mut found = [0; PART];
                for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
                    cells.locate_each(positions, &mut found);
                    for (&own, &value) in found.iter().zip(values) {
                        add(*reducer, &mut counted[own], value, *neutral);
                    }
                }
            } else {
                spread(cells, *reducer, counted, positions, values, *neutral);
            }
        }
    }

    /// Whether a row that is a cell may have been without a fill value.
    fn is_doubtful(&self) -> bool {
        let rows = !self.uncounted.is_empty() && self.cells.runs_along();
        rows && self.gaps.may_miss(self.cells.size)
    }

    /// The results of all cells, each of which has fill values, however many.
    fn uncounted_results<T: Copy>(self, fill: T) -> Result<Vec<R::Out>>
    where
        R: Reducer<T, State = S>,
    {
        let Self { cells, reducer, uncounted, .. } = self;
        let (states, fill) = (&uncounted[..cells.count], reducer.first(fill));
        let joined = |folded: &Folded<S, ()>| {
            let mut state = folded.state.clone();
            reducer.combine(&mut state, fill.clone());
            state
        };
        // Nothing is left of this where all states have a result, which most reducers say.
        let mut states_of = states.iter().map(joined).enumerate();
        if let Some((cell, state)) = states_of.find(|(_, state)| reducer.undefined(state).is_some())
        {
            return cells.finish(reducer, cell, state).map(|_| Vec::new());
        }
        list(states.iter().map(|folded| reducer.finish(joined(folded))))
    }

    /// The cells that some entry belongs to.
    fn found(&self) -> Result<Vec<usize>> {
        let cells = self.counted.get(..self.cells.count).unwrap_or_default();
        let stored = cells.iter().map(|folded| usize::from(folded.count > 0)).sum();
        let mut found: Vec<usize> = zeros(stored + 1)?;
        let mut next = 0;
        for (cell, folded) in cells.iter().enumerate() {
            found[next] = cell;
            next += usize::from(folded.count > 0);
        }
        found.truncate(stored);
        Ok(found)
    }
}

/// Takes entries of rows and columns, of which either are cells; `false` if cells are neither.
#[inline(always)]
fn take_lines<T: Copy, R: Reducer<T>, C: Count>(
    cells: &Cells,
    reducer: &R,
    folded: &mut [Folded<R::State, C>],
    positions: &[usize],
    values: &[T],
    short: bool,
    neutral: bool,
) -> bool {
    if cells.runs_along() && !(short && cells.are_rows()) {
        dispatch(Runs { cells, reducer, folded, positions, values });
        return true;
    }
    let Some((divider, along)) = cells.matrix() else { return false };
    let (row, column) = (|p| divider.divide(p).0, |p| divider.divide(p).1);
    match (along, neutral) {
        (true, true) => each(reducer, folded, positions, values, true, row),
        (true, false) => each(reducer, folded, positions, values, false, row),
        (false, true) => each(reducer, folded, positions, values, true, column),
        (false, false) => each(reducer, folded, positions, values, false, column),
    }
    true
}

/// Takes one more entry of a cell: none is the first one of a neutral state.
#[inline(always)]
fn add<T: Copy, R: Reducer<T>, C: Count>(
    reducer: &R,
    folded: &mut Folded<R::State, C>,
    value: T,
    neutral: bool,
) {
    if neutral || !folded.count.is_none() {
        reducer.step(&mut folded.state, value);
    } else {
        folded.state = reducer.first(value);
    }
    folded.count.add(1);
}

/// Entries that are taken between two requests for memory, and how many lie between them and what is asked for.
const REQUEST: usize = 8;
const AHEAD: usize = 256;

/// [`add_each`], asking for the memory of later entries.
#[inline(always)]
fn each<T: Copy, R: Reducer<T>, C: Count>(
    reducer: &R,
    folded: &mut [Folded<R::State, C>],
    positions: &[usize],
    values: &[T],
    neutral: bool,
    cell: impl Fn(usize) -> usize,
) {
    let ((some, last), (own, rest)) =
        (positions.as_chunks::<REQUEST>(), values.as_chunks::<REQUEST>());
    for (some, own) in some.iter().zip(own) {
        prefetch_span(some, AHEAD, REQUEST);
        prefetch_span(own, AHEAD, REQUEST);
        add_each(reducer, folded, some, own, neutral, &cell);
    }
    add_each(reducer, folded, last, rest, neutral, &cell);
}

/// Takes entries one by one, each to the cell of its position.
#[inline(always)]
fn add_each<T: Copy, R: Reducer<T>, C: Count>(
    reducer: &R,
    folded: &mut [Folded<R::State, C>],
    positions: &[usize],
    values: &[T],
    neutral: bool,
    cell: impl Fn(usize) -> usize,
) {
    for (&position, &value) in positions.iter().zip(values) {
        // Beyond are positions that storage makes up.
        if let Some(folded) = folded.get_mut(cell(position)) {
            add(reducer, folded, value, neutral);
        }
    }
}

/// Runs that lie in one cell each, folded as such.
struct Runs<'t, R, S, T, C> {
    cells: &'t Cells,
    reducer: &'t R,
    folded: &'t mut [Folded<S, C>],
    positions: &'t [usize],
    values: &'t [T],
}

impl<T: Copy, R: Reducer<T>, C: Count> Loop for Runs<'_, R, R::State, T, C> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { cells, reducer, folded, positions, values } = self;
        cells.for_each_run(positions, |run, _, cell, _| {
            let (folded, count) = (&mut folded[cell], run.len());
            let state = reducer.fold(&values[run], 0);
            if folded.count.is_none() {
                folded.state = state;
            } else {
                reducer.combine(&mut folded.state, state);
            }
            folded.count.add(count);
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
