//! Reductions of sparse operands: entries are folded, fill values counted.

mod at_once;
mod cells;
mod gaps;
mod table;

use crate::error::{Error, Result};
use crate::expr::{Expr, for_each_stored};
use crate::map::AddressMap;
use crate::memory::{list, push, try_reserve};
use crate::ops::reduce::Reducer;
use crate::shape::Shape;
use crate::storage::{Sparse, sort_entries};
use crate::tensor::Tensor;
use at_once::by_rows;
use cells::{Cells, Method};
use table::{all_by_table, by_table};

/// Reduces an expression of sparse operands over the axes that `mask` names.
///
/// The result stores the cells in which some element is stored; its fill value is the result of a cell
/// without one. Time and memory are in proportion to the entries, however many cells there are and however
/// large they are, if [`Reducer::repeat`] is quick.
///
/// # Errors
///
/// [`Error::EmptyReduction`] over an axis of extent 0 if the reducer has no
/// result for no elements; [`Error::Overflow`] and [`Error::NothingLeft`] with the first such index of the result; and as
/// [`Lazy::eval_sparse`](crate::Lazy::eval_sparse).
pub(crate) fn reduce_stored<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    mask: &[bool],
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let shape = e.shape()?;
    shape.count()?;
    let cells = Cells::new(&shape, mask, keepdims)?;
    if cells.size == 0 {
        return without_elements(&shape, mask, &cells, reducer);
    }
    match cells.method::<E::Elem, R>(stored(e).0) {
        Method::InOrder => in_order(e, &shape, &cells, reducer),
        Method::Rows => by_rows(e, &shape, &cells, reducer),
        Method::Table => by_table(e, &shape, &cells, reducer),
    }
}

/// [`reduce_stored`], with all cells in memory.
///
/// # Errors
///
/// Those of [`reduce_stored`], and [`Error::OutOfMemory`].
pub(crate) fn reduce_to_dense<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    mask: &[bool],
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Vec<R::Out>>> {
    let shape = e.shape()?;
    shape.count()?;
    let cells = Cells::new(&shape, mask, keepdims)?;
    let by_table =
        cells.size > 0 && matches!(cells.method::<E::Elem, R>(stored(e).0), Method::Table);
    if by_table && let Some(values) = all_by_table(e, &shape, &cells, reducer)? {
        return cells.dense(values);
    }
    let result = reduce_stored(e, mask, keepdims, reducer)?;
    let map = AddressMap::row_major(&result.shape())?;
    let (len, fill, cells, values) = result.into_storage().into_parts();
    if values.len() == len {
        return Ok(Tensor::from_parts(map, values));
    }
    let mut all = list(std::iter::repeat_n(fill, len))?;
    for (cell, value) in cells.into_iter().zip(values) {
        // Beyond are cells of storage that breaks its promises only.
        if let Some(slot) = all.get_mut(cell) {
            *slot = value;
        }
    }
    Ok(Tensor::from_parts(map, all))
}

/// How [`reduce_stored`] would go about it, in words, and the bytes of the entries.
///
/// # Errors
///
/// Those of the shape.
pub(crate) fn explain_stored<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    mask: &[bool],
) -> Result<([String; 2], usize)> {
    let cells = Cells::new(&e.shape()?, mask, false)?;
    let (entries, bytes) = stored(e);
    let how = match cells.method::<E::Elem, R>(entries) {
        Method::InOrder => "sorted by result and folded in order".to_string(),
        Method::Rows => "folded as they come, one result after another".to_string(),
        Method::Table => format!("folded as they come, to a state for each of {}", cells.count),
    };
    let lines = [
        format!("entries: {entries} stored, {how}"),
        format!("fill values: what entries leave of {} elements to a result", cells.size),
    ];
    Ok((lines, bytes))
}

/// Entries of all operands, and their bytes with those of their addresses.
fn stored<E: Expr>(e: &E) -> (usize, usize) {
    let (mut entries, mut bytes) = (0_usize, 0_usize);
    e.leaves(&mut |leaf| {
        entries = entries.saturating_add(leaf.stored());
        let entry = leaf.elem_bytes + size_of::<usize>();
        bytes = bytes.saturating_add(leaf.stored().saturating_mul(entry));
    });
    (entries, bytes)
}

/// All cells are empty: the result of no elements, if there is one.
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
            let axis =
                shape.iter().zip(mask).position(|(extent, reduced)| *reduced && *extent == 0);
            let axis = axis.unwrap_or_default();
            Err(Error::EmptyReduction { axis, shape: shape.to_vec() })
        }
    }
}

/// Elements cell by cell in order, with the fill values between them. Also for cells so many that few have
/// an entry.
fn in_order<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let (mut which, mut elements) = (Vec::new(), Vec::new());
    let (along, block) = (cells.runs_along(), cells.block());
    let fill = for_each_stored(e, shape, |_, positions, values| {
        try_reserve(&mut which, positions.len())?;
        try_reserve(&mut elements, positions.len())?;
        cells.for_each_run(positions, |run, start, cell, place| {
            for (position, &value) in positions[run.clone()].iter().zip(&values[run]) {
                let away = position.wrapping_sub(start);
                // Storage that breaks its promises gives positions in any order.
                if away >= block {
                    continue;
                }
                let (cell, place) = if along { (cell, place + away) } else { (cell + away, place) };
                which.push(cell);
                elements.push((place, value));
            }
        });
        Ok(())
    })?;
    // Stable: the elements of a cell stay in order.
    sort_entries(&mut which, &mut elements)?;
    let (mut found, mut values) = (Vec::new(), Vec::new());
    let mut start = 0;
    while let Some(&cell) = which.get(start) {
        let count = which[start..].partition_point(|&other| other == cell);
        let state = folded(reducer, fill, cells.size, &elements[start..start + count]);
        if let Some(state) = state {
            push(&mut found, cell)?;
            let value = cells.finish(reducer, cell, state);
            let value = value.map_err(|error| cells.first_error(reducer, fill, &found, error))?;
            push(&mut values, value)?;
        }
        start += count;
    }
    let fill = cells.fill(reducer, fill, &found, &values)?;
    cells.tensor(fill, found, values)
}

/// The state of a cell of `size` elements: `fill` but where there are elements, which come by ascending
/// place. A reducer that does not care for the order takes the elements first and all fill values then.
fn folded<T: Copy, R: Reducer<T>>(
    reducer: &R,
    fill: T,
    size: usize,
    elements: &[(usize, T)],
) -> Option<R::State> {
    let mut state: Option<R::State> = None;
    let mut next = 0;
    let fills = |state: &mut Option<R::State>, next: usize, count: usize| match state {
        None => *state = Some(reducer.repeat(fill, next, count)),
        Some(state) if R::ASSOCIATIVE => {
            reducer.combine(state, reducer.repeat(fill, next, count));
        }
        Some(state) => (0..count).for_each(|k| reducer.step_at(state, fill, next + k)),
    };
    for &(place, value) in elements {
        let gap = place.saturating_sub(next);
        if gap > 0 && is_ordered::<T, R>() {
            fills(&mut state, next, gap);
        }
        match &mut state {
            None => state = Some(reducer.first_at(value, place)),
            Some(state) => reducer.step_at(state, value, place),
        }
        next = place + 1;
    }
    let gap = match is_ordered::<T, R>() {
        true => size.saturating_sub(next),
        false => size.saturating_sub(elements.len()),
    };
    if gap > 0 {
        fills(&mut state, next, gap);
    }
    state
}

/// Whether the elements of a cell have to be taken in order.
fn is_ordered<T: Copy, R: Reducer<T>>() -> bool {
    !R::COMMUTATIVE || !R::ASSOCIATIVE || R::POSITIONS
}

#[cfg(test)]
mod tests;
