//! Reductions of sparse operands: entries are folded, fill values counted.

use crate::error::{Error, Result};
use crate::expr::{Expr, for_each_stored};
use crate::map::{AddressMap, Divider};
use crate::ops::reduce::{Reducer, undefined};
use crate::shape::Shape;
use crate::storage::{Sparse, grow, reserve, sort_entries};
use crate::tensor::Tensor;

/// Cells an entry up to which every cell has a state from the start.
const CELLS_PER_ENTRY: usize = 4;
/// Cells that are always few enough for that.
const FEW_CELLS: usize = 1 << 16;

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
        Method::AtOnce => at_once(e, &shape, &cells, reducer),
    }
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
        Method::AtOnce => format!("folded as they come, to a state for each of {}", cells.count),
    };
    let lines = [
        format!("entries: {entries} stored, {how}"),
        format!("fill values: counted, of {} elements to a result", cells.size),
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

/// How entries come to cells.
enum Method {
    /// Sorted by cell, if they are to be in order or cells are many.
    InOrder,
    /// As they come, to cells all of which have a state.
    AtOnce,
}

/// A shape cut into cells, one a result, with all axes of the same fate that are neighbours merged.
struct Cells {
    /// Shape of the result.
    shape: Shape,
    /// Extents, and whether the axis is reduced; outermost first.
    groups: Vec<(usize, bool)>,
    /// How positions are divided by these extents.
    dividers: Vec<Divider>,
    /// Number of cells.
    count: usize,
    /// Elements of a cell.
    size: usize,
}

impl Cells {
    fn new(shape: &Shape, mask: &[bool], keepdims: bool) -> Result<Self> {
        let axes = shape.iter().copied().zip(mask.iter().copied());
        let mut groups: Vec<(usize, bool)> = Vec::new();
        for (extent, reduced) in axes.clone().filter(|(extent, _)| *extent != 1) {
            match groups.last_mut() {
                Some(last) if last.1 == reduced => last.0 *= extent,
                _ => groups.push((extent, reduced)),
            }
        }
        let kept = axes.clone().filter(|(_, reduced)| !reduced || keepdims);
        let own: Shape = kept.map(|(extent, reduced)| if reduced { 1 } else { extent }).collect();
        let size = axes.filter(|(_, reduced)| *reduced).map(|(extent, _)| extent).product();
        let elements = shape.count()?;
        let dividers = groups.iter().map(|group| Divider::new(group.0, elements)).collect();
        Ok(Self { count: own.count()?, shape: own, groups, dividers, size })
    }

    fn method<T: Copy, R: Reducer<T>>(&self, entries: usize) -> Method {
        let few = entries.saturating_mul(CELLS_PER_ENTRY).saturating_add(FEW_CELLS);
        if is_ordered::<T, R>() || self.count > few { Method::InOrder } else { Method::AtOnce }
    }

    /// Calls `visit` with every run of positions that differ in the last group only: the range of the run,
    /// the position of its block, and the cell and the place in it where the block starts.
    fn for_each_run(
        &self,
        positions: &[usize],
        mut visit: impl FnMut(std::ops::Range<usize>, usize, usize, usize),
    ) {
        let block = self.groups.last().map_or(1, |group| group.0);
        let divider = self.dividers.last().copied().unwrap_or(Divider::new(1, 0));
        let mut start = 0;
        while let Some(&position) = positions.get(start) {
            // Storage may lie about its entries.
            if position >= self.count * self.size {
                start += 1;
                continue;
            }
            let first = position - divider.divide(position).1;
            let mut end = start + 1;
            while positions.get(end).is_some_and(|position| position.wrapping_sub(first) < block) {
                end += 1;
            }
            let (cell, place) = self.locate(first);
            visit(start..end, first, cell, place);
            start = end;
        }
    }

    /// The cell of a position, and its place in the cell.
    fn locate(&self, mut position: usize) -> (usize, usize) {
        let (mut at, mut weight) = ([0, 0], [1, 1]);
        for (&(extent, reduced), divider) in self.groups.iter().zip(&self.dividers).rev() {
            let which = usize::from(reduced);
            let (rest, digit) = divider.divide(position);
            at[which] += digit * weight[which];
            weight[which] *= extent;
            position = rest;
        }
        (at[0], at[1])
    }

    /// Whether the last group is reduced, so that a run lies in one cell.
    fn runs_along(&self) -> bool {
        self.groups.last().is_some_and(|group| group.1)
    }

    fn tensor<T: Copy + Send + Sync>(
        &self,
        fill: T,
        cells: Vec<usize>,
        values: Vec<T>,
    ) -> Result<Tensor<Sparse<T>>> {
        let map = AddressMap::row_major(&self.shape)?;
        Ok(Tensor::of_parts(map, Sparse::of_sorted(self.count, fill, cells, values)))
    }

    /// The result of one cell, if it fits.
    fn finish<T: Copy, R: Reducer<T>>(
        &self,
        reducer: &R,
        cell: usize,
        state: R::State,
    ) -> Result<R::Out> {
        match reducer.undefined(&state) {
            Some(why) => Err(undefined::<R::Out>(why, self.shape.unravel(cell).to_vec())),
            None => Ok(reducer.finish(state)),
        }
    }

    /// The result of cells of which no element is stored. That it does not fit is an error if there is such
    /// a cell: the first one is the first that is missing from `cells`.
    fn fill<T: Copy, R: Reducer<T>>(
        &self,
        reducer: &R,
        fill: T,
        cells: &[usize],
    ) -> Result<R::Out> {
        let state = reducer.repeat(fill, 0, self.size);
        let missing = cells.iter().enumerate().position(|(k, &cell)| k != cell);
        let missing = missing.unwrap_or(cells.len());
        if missing == self.count {
            return Ok(reducer.finish(state));
        }
        self.finish(reducer, missing, state)
    }
}

/// All cells are empty: the result of no elements, if there is one.
fn without_elements<T: Copy, R: Reducer<T>>(
    shape: &Shape,
    mask: &[bool],
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    match reducer.empty() {
        Some(state) => cells.tensor(reducer.finish(state), Vec::new(), Vec::new()),
        None => {
            let axis =
                shape.iter().zip(mask).position(|(extent, reduced)| *reduced && *extent == 0);
            let axis = axis.unwrap_or_default();
            Err(Error::EmptyReduction { axis, shape: shape.to_vec() })
        }
    }
}

/// Elements in any order: the entries of a cell, then all its fill values at once.
fn at_once<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    shape: &Shape,
    cells: &Cells,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let (mut states, mut counts) = (Vec::<Option<R::State>>::new(), Vec::<usize>::new());
    reserve(&mut states, cells.count)?;
    reserve(&mut counts, cells.count)?;
    states.resize(cells.count, None);
    counts.resize(cells.count, 0);
    let along = cells.runs_along();
    let fill = for_each_stored(e, shape, |positions, values| {
        cells.for_each_run(positions, |run, start, cell, _| {
            if along {
                let folded = reducer.fold(&values[run.clone()], 0);
                counts[cell] += run.len();
                match &mut states[cell] {
                    Some(state) => reducer.combine(state, folded),
                    none => *none = Some(folded),
                }
                return;
            }
            for (position, &value) in positions[run.clone()].iter().zip(&values[run]) {
                let cell = cell + (position.wrapping_sub(start));
                counts[cell] += 1;
                match &mut states[cell] {
                    Some(state) => reducer.step(state, value),
                    none => *none = Some(reducer.first(value)),
                }
            }
        });
        Ok(())
    })?;
    let stored = counts.iter().filter(|&&count| count > 0).count();
    let (mut found, mut values) = (Vec::new(), Vec::new());
    reserve(&mut found, stored)?;
    reserve(&mut values, stored)?;
    // Cells often store equally many elements, and lack equally many.
    let mut lacking: Option<(usize, R::State)> = None;
    for (cell, (state, &count)) in states.into_iter().zip(&counts).enumerate() {
        let Some(mut state) = state else { continue };
        let missing = cells.size.saturating_sub(count);
        if missing > 0 {
            let known = lacking.take().filter(|known| known.0 == missing);
            let (_, fills) = &*lacking
                .insert(known.unwrap_or_else(|| (missing, reducer.repeat(fill, 0, missing))));
            reducer.combine(&mut state, fills.clone());
        }
        found.push(cell);
        values.push(cells.finish(reducer, cell, state)?);
    }
    let fill = cells.fill(reducer, fill, &found)?;
    cells.tensor(fill, found, values)
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
    let along = cells.runs_along();
    let fill = for_each_stored(e, shape, |positions, values| {
        grow(&mut which, positions.len())?;
        grow(&mut elements, positions.len())?;
        cells.for_each_run(positions, |run, start, cell, place| {
            for (position, &value) in positions[run.clone()].iter().zip(&values[run]) {
                let away = position.wrapping_sub(start);
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
        let count = which[start..].iter().take_while(|other| **other == cell).count();
        let state = folded(reducer, fill, cells.size, &elements[start..start + count]);
        if let Some(state) = state {
            found.push(cell);
            values.push(cells.finish(reducer, cell, state)?);
        }
        start += count;
    }
    let fill = cells.fill(reducer, fill, &found)?;
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
