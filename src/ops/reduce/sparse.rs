//! Reductions of sparse operands: entries are folded, fill values counted.
//!
//! Cells are found, and entries brought to them, by code that knows no reducer (the functions here and [`cells`]); what is
//! compiled for every reducer takes entries whose cells are known ([`states`]).

mod cells;
mod fibers;
mod fills;
mod gaps;
mod ordered;
mod states;

use super::fold::empty_axis;
use super::folding::Needs;
use super::reducer::Reducer;
use crate::error::{Error, Result};
use crate::expr::{Boxed, Expr, check_stored, for_each_fiber, for_each_stored};
use crate::memory::{list, try_reserve};
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;
use cells::{Cells, EntryOrder, PART};
use gaps::Gaps;
use ordered::in_order;
use states::{Cellwise, RUNS, Run, States};

/// Reduces an expression of sparse operands over the axes that `mask` names.
///
/// The result stores the cells in which some element is stored; its fill value is the result of a cell
/// without one. Time and memory are in proportion to the entries, however many cells there are and however
/// large they are, if [`Reducer::repeat`] is quick.
#[inline(never)]
pub(crate) fn reduce_stored<T: Copy + Send + Sync, R: Reducer<T>>(
    e: &Boxed<'_, T>,
    mask: &[bool],
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let (shape, cells) = cells_of(e, mask, keepdims)?;
    if cells.size == 0 {
        check_stored(e, shape.count()?)?;
        return without_elements(&shape, mask, &cells, reducer);
    }
    let mut states = States::new(reducer);
    let (fill, found) = take_entries(e, &shape, &cells, Needs::of::<T, R>(), &mut states)?;
    states.into_stored(&cells, fill, found)
}

/// [`reduce_stored`], with all cells in memory.
#[inline(never)]
pub(crate) fn reduce_to_dense<T: Copy + Send + Sync, R: Reducer<T>>(
    e: &Boxed<'_, T>,
    mask: &[bool],
    keepdims: bool,
    reducer: &R,
) -> Result<Vec<R::Out>> {
    let (shape, cells) = cells_of(e, mask, keepdims)?;
    let mut states = States::new(reducer);
    let needs = Needs::of::<T, R>();
    if let Some(fill) = take_to_table(e, &shape, &cells, needs, &mut states)?
        && let Some(values) = states.into_all(&cells, fill)?
    {
        return Ok(values);
    }
    all_elements(reduce_stored(e, mask, keepdims, reducer)?)
}

/// The shape of an expression, and its cells.
#[inline(never)]
fn cells_of<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    mask: &[bool],
    keepdims: bool,
) -> Result<(Shape, Cells)> {
    let shape = e.shape()?;
    shape.count()?;
    let cells = Cells::new(&shape, mask, keepdims)?;
    Ok((shape, cells))
}

/// Brings all entries to the states of their cells. Returns the fill value, and the cells that have a state, unless all
/// have.
#[inline(never)]
fn take_entries<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    needs: Needs,
    states: &mut dyn Cellwise<T>,
) -> Result<(T, Option<Vec<usize>>)> {
    match cells.method(repeated(e, cells), needs.is_ordered()) {
        EntryOrder::InOrder => in_order(e, shape, cells, states),
        EntryOrder::Rows => by_rows(e, shape, cells, states),
        EntryOrder::Table => Ok((by_table(e, shape, cells, true, states)?.0, None)),
    }
}

/// As [`take_entries`] where all cells have a state; entries are counted only if they have to be. `None` if cells have no
/// elements, or not all have a state.
#[inline(never)]
fn take_to_table<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    needs: Needs,
    states: &mut dyn Cellwise<T>,
) -> Result<Option<T>> {
    let method = cells.method(repeated(e, cells), needs.is_ordered());
    if cells.size == 0 || !matches!(method, EntryOrder::Table) {
        return Ok(None);
    }
    let (fill, doubtful) = by_table(e, shape, cells, false, states)?;
    Ok(Some(if doubtful { by_table(e, shape, cells, true, states)?.0 } else { fill }))
}

/// All elements of a sparse tensor in row-major order, which is that of its addresses.
#[inline(never)]
fn all_elements<T: Copy + Send + Sync>(result: Tensor<Sparse<T>>) -> Result<Vec<T>> {
    let (len, fill, cells, values) = result.into_storage().into_parts();
    if values.len() == len {
        return Ok(values);
    }
    let mut all = list(std::iter::repeat_n(fill, len))?;
    for (cell, value) in cells.into_iter().zip(values) {
        // Beyond are cells of storage that breaks its promises only.
        if let Some(slot) = all.get_mut(cell) {
            *slot = value;
        }
    }
    Ok(all)
}

/// How [`reduce_stored`] would go about it, in words, and the bytes of the entries.
pub(crate) fn explain_stored<T: Copy + Send + Sync, R: Reducer<T>>(
    e: &Boxed<'_, T>,
    mask: &[bool],
) -> Result<([String; 2], usize)> {
    let cells = Cells::new(&e.shape()?, mask, false)?;
    let (entries, bytes) = stored(e);
    let how = match cells.method(repeated(e, &cells), Needs::of::<T, R>().is_ordered()) {
        EntryOrder::InOrder if cells.are_rows() => {
            "folded in order as they come, one result after another".to_string()
        }
        EntryOrder::InOrder => "sorted by result and folded in order".to_string(),
        EntryOrder::Rows => "folded as they come, one result after another".to_string(),
        EntryOrder::Table => format!("folded as they come, to a state for each of {}", cells.count),
    };
    let lines = [
        format!("entries: {entries} stored, {how}"),
        format!("fill values: what entries leave of {} elements to a result", cells.size),
    ];
    Ok((lines, bytes))
}

/// Entries of all operands, and their bytes with those of their addresses.
fn stored<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> (usize, usize) {
    let (mut entries, mut bytes) = (0_usize, 0_usize);
    e.leaves(&mut |leaf| {
        entries = entries.saturating_add(leaf.stored());
        let entry = leaf.elem_bytes + size_of::<usize>();
        bytes = bytes.saturating_add(leaf.stored().saturating_mul(entry));
    });
    (entries, bytes)
}

/// Entries of all operands, as often as they are repeated.
fn repeated<T: Copy + Send + Sync>(e: &Boxed<'_, T>, cells: &Cells) -> usize {
    let mut entries = 0_usize;
    e.leaves(&mut |leaf| entries = entries.saturating_add(leaf.stored_in(cells.elements())));
    entries
}

/// All cells are empty: the result of no elements, if there is one.
#[inline(never)]
fn without_elements<T: Copy, R: Reducer<T>>(
    shape: &Shape,
    mask: &[bool],
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    match reducer.empty() {
        Some(state) if cells.count > 0 => {
            cells.tensor(cells.finish(reducer, 0, state)?, Vec::new(), Vec::new())
        }
        Some(state) => cells.tensor(reducer.finish(state), Vec::new(), Vec::new()),
        None => {
            let axis = empty_axis(shape, mask).unwrap_or_default();
            Err(Error::EmptyReduction { axis, shape: shape.to_vec() })
        }
    }
}

/// Few cells: entries of any of them as they come. They are counted if `count` asks for it, if the reducer has to know how
/// many fill values there are, or if by the first positions a cell may have none. Returns the fill value, and whether a row
/// that is a cell may have been without one though entries were not counted.
fn by_table<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    count: bool,
    states: &mut dyn Cellwise<T>,
) -> Result<(T, bool)> {
    states.reset();
    if let Some(fill) = fibers_to_table(e, shape, cells, states)? {
        return Ok((fill, false));
    }
    let (mut gaps, mut counted) = (Gaps::default(), None);
    let fill = for_each_stored(e, shape, &mut |fill, positions, values| {
        if counted.is_none() {
            let counts = count || !states.may_leave_uncounted(fill) || !cells.each_lacks(positions);
            // The last one is for what storage makes up.
            states.begin(cells.count + 1, counts, fill)?;
            counted = Some(counts);
        }
        if counted == Some(false) {
            gaps.take(positions);
        }
        if cells.runs_along() && !(cells.are_rows() && cells.is_short(positions)) {
            return Ok(take_runs(cells, positions, values, &mut |cell| cell, states)?);
        }
        if let Some((divider, along)) = cells.matrix()
            && states.take_lines(divider, along, positions, values)
        {
            return Ok(());
        }
        let mut own = [0; PART];
        for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
            cells.find(positions, &mut own);
            states.take_each(&own[..positions.len()], values);
        }
        Ok(())
    })?;
    let doubtful = counted == Some(false) && cells.runs_along() && gaps.may_miss(cells.size);
    Ok((fill, doubtful))
}

/// [`by_table`] of entries that come in fibers along the last axis, if they do and it is kept. Returns the fill value.
fn fibers_to_table<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    states: &mut dyn Cellwise<T>,
) -> Result<Option<T>> {
    let len = shape.last().copied().unwrap_or(0);
    let Some(fibers) = cells.fibers(len) else { return Ok(None) };
    let mut begun = false;
    let fill = for_each_fiber(e, shape, &mut |fill, positions, values| {
        if !begun {
            states.begin_fibers(fibers.count, len, fill)?;
            begun = true;
        }
        let mut own = [0; PART];
        for (positions, values) in positions.chunks(PART).zip(values.chunks(PART * len)) {
            fibers.find(positions, &mut own);
            states.take_fibers(&own[..positions.len()], values);
        }
        Ok(())
    })?;
    if begun {
        states.end_fibers()?;
    }
    Ok(fill)
}

/// Takes runs of entries that lie in one cell each; `state` gives the number of the state of a cell.
fn take_runs<T: Copy>(
    cells: &Cells,
    positions: &[usize],
    values: &[T],
    state: &mut dyn FnMut(usize) -> usize,
    states: &mut dyn Cellwise<T>,
) -> Result<()> {
    let (mut runs, mut count): ([Run; RUNS], _) = (Default::default(), 0);
    let mut result = Ok(());
    cells.for_each_run(positions, |run, _, cell, _| {
        runs[count] = (state(cell), run);
        count += 1;
        if count == RUNS {
            count = 0;
            if result.is_ok() {
                result = states.take_runs(&runs, values);
            }
        }
    });
    result?;
    if count == 0 { Ok(()) } else { states.take_runs(&runs[..count], values) }
}

/// Cells that are rows: the entries of each, which alone have states. Returns the fill value, and the cells.
fn by_rows<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    states: &mut dyn Cellwise<T>,
) -> Result<(T, Option<Vec<usize>>)> {
    let mut found: Vec<usize> = Vec::new();
    let fill = for_each_stored(e, shape, &mut |_, positions, values| {
        try_reserve(&mut found, positions.len())?;
        if !cells.is_short(positions) {
            let mut number = |cell| {
                if found.last() != Some(&cell) {
                    found.push(cell);
                }
                found.len() - 1
            };
            return Ok(take_runs(cells, positions, values, &mut number, states)?);
        }
        for (positions, values) in positions.chunks(PART).zip(values.chunks(PART)) {
            let split = Split::new(cells, positions, &mut found);
            states.begin_each(split.firsts(), values)?;
            states.step_each(split.later(), values);
        }
        Ok(())
    })?;
    Ok((fill, Some(found)))
}

/// Entries of short runs: those that come to a new cell, and those that come to one that has entries. No branch depends
/// on where a run ends, which is unpredictable.
struct Split {
    firsts: [usize; PART],
    first_count: usize,
    later: [(usize, usize); PART],
    later_count: usize,
}

impl Split {
    /// Adds new cells to those `found`.
    fn new(cells: &Cells, positions: &[usize], found: &mut Vec<usize>) -> Self {
        let mut split =
            Self { firsts: [0; PART], first_count: 0, later: [(0, 0); PART], later_count: 0 };
        let mut last = found.last().copied().unwrap_or(usize::MAX);
        let mut own = [0; PART];
        cells.find_each(positions, &mut own);
        for (k, &cell) in own[..positions.len()].iter().enumerate() {
            // An entry that storage makes up counts as one of the cell before.
            let cell = if cell < cells.count { cell } else { last };
            let is_first = cell != last;
            last = cell;
            split.firsts[split.first_count % PART] = k;
            split.first_count += usize::from(is_first);
            split.later[split.later_count % PART] = (found.len() + split.first_count, k);
            split.later_count += usize::from(!is_first);
        }
        found.extend(split.firsts().iter().map(|&k| own[k]));
        split
    }

    fn firsts(&self) -> &[usize] {
        &self.firsts[..self.first_count]
    }

    /// How many cells there are up to the one of the entry, and which entry it is.
    fn later(&self) -> &[(usize, usize)] {
        &self.later[..self.later_count]
    }
}
