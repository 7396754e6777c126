//! Entries of each cell in order, for reducers that care, and for cells so many that few have one.

use super::cells::Cells;
use super::states::Cellwise;
use crate::error::Result;
use crate::expr::{Boxed, for_each_stored};
use crate::memory::{push, try_reserve};
use crate::shape::Shape;
use crate::storage::sort_entries;

/// Elements cell by cell in order, with the fill values between them. Also for cells so many that few have
/// an entry. Returns the fill value, and the cells.
pub(super) fn in_order<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    states: &mut dyn Cellwise<T>,
) -> Result<(T, Option<Vec<usize>>)> {
    if cells.are_rows() {
        return rows_in_order(e, shape, cells, states);
    }
    let (mut which, mut elements) = (Vec::new(), Vec::new());
    let (along, block) = (cells.runs_along(), cells.block());
    let fill = for_each_stored(e, shape, &mut |_, positions, values| {
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
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some(&cell) = which.get(start) {
        let count = which[start..].iter().take_while(|other| **other == cell).count();
        push(&mut found, cell)?;
        states.begin_cell(fill, cells.size, &elements[start..start + count])?;
        start += count;
    }
    Ok((fill, Some(found)))
}

/// The same of cells that are rows: their entries come in order, one cell after another.
fn rows_in_order<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    cells: &Cells,
    states: &mut dyn Cellwise<T>,
) -> Result<(T, Option<Vec<usize>>)> {
    let (mut rows, block) = (Rows { found: Vec::new(), row: Vec::new() }, cells.block());
    let fill = for_each_stored(e, shape, &mut |fill, positions, values| {
        let mut result = Ok(());
        cells.for_each_run(positions, |run, start, cell, place| {
            if result.is_err() {
                return;
            }
            result = rows.open(cell, run.len(), |row| states.begin_cell(fill, cells.size, row));
            if result.is_ok() {
                let away = positions[run.clone()].iter().map(|at| at.wrapping_sub(start));
                // Storage that breaks its promises gives positions in any order.
                let inside = away.zip(&values[run]).filter(|(away, _)| *away < block);
                rows.row.extend(inside.map(|(away, &value)| (place + away, value)));
            }
        });
        Ok(result?)
    })?;
    if !rows.row.is_empty() {
        states.begin_cell(fill, cells.size, &rows.row)?;
    }
    Ok((fill, Some(rows.found)))
}

/// Rows so far, and the places and elements of the last.
struct Rows<T> {
    found: Vec<usize>,
    row: Vec<(usize, T)>,
}

impl<T> Rows<T> {
    /// Makes room for so many elements of a row. If it is another one, the last is done.
    fn open(
        &mut self,
        cell: usize,
        count: usize,
        done: impl FnOnce(&[(usize, T)]) -> Result<()>,
    ) -> Result<()> {
        if self.found.last().is_none_or(|&last| last < cell) {
            if !self.row.is_empty() {
                done(&self.row)?;
                self.row.clear();
            }
            push(&mut self.found, cell)?;
        }
        try_reserve(&mut self.row, count)
    }
}
