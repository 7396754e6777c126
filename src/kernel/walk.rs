//! Walks the tiles of a nest.

use super::plan::{Loop, Nest, PerOperand, Step};
use super::{Place, Relocate, SHORT_ROW, Steps, Stop, Tile};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Calls `visit` with every tile of `nest`, outermost loop first.
///
/// The first tile of every row of tiles has `lead` columns, if that is not 0, so that the others may
/// start at the beginning of a cache line.
pub(crate) fn walk(
    nest: &Nest,
    tables: &[Cow<'_, [usize]>],
    relocates: &[Option<&dyn Relocate>],
    lead: usize,
    visit: &mut dyn FnMut(&Tile<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let operands = nest.bases.len();
    let still = Loop { extent: 1, steps: smallvec![Step { stride: 0, table: None }; operands] };
    let (outer, rows, columns) = match &nest.loops[..] {
        [] => (&[][..], &still, &still),
        [columns] => (&[][..], &still, columns),
        [outer @ .., rows, columns] => (outer, rows, columns),
    };
    let mut bases: PerOperand<isize> = nest.bases.clone();
    for l in outer {
        add(&mut bases, l, tables, 0, 1);
    }
    let mut counters: SmallVec<[usize; 4]> = smallvec![0; outer.len()];
    loop {
        for_each_tile(
            nest,
            [rows.extent, columns.extent],
            lead,
            |row, row_count, column, column_count| {
                let places: PerOperand<Place<'_>> = (0..operands)
                    .map(|k| {
                        let (row_base, row_steps) = part(&rows.steps[k], tables, row, row_count);
                        let (column_base, column_steps) =
                            part(&columns.steps[k], tables, column, column_count);
                        Place {
                            base: bases[k].wrapping_add(row_base).wrapping_add(column_base),
                            rows: row_steps,
                            columns: column_steps,
                            relocate: relocates[k],
                        }
                    })
                    .collect();
                let dense = row_count > 1 && column_count < SHORT_ROW;
                visit(&Tile { rows: row_count, columns: column_count, dense, places: &places })
            },
        )?;
        let Some(k) = crate::grid::advance(&mut counters, |k| outer[k].extent) else {
            return Ok(());
        };
        for l in &outer[k + 1..] {
            add(&mut bases, l, tables, l.extent - 1, -1);
            add(&mut bases, l, tables, 0, 1);
        }
        add(&mut bases, &outer[k], tables, counters[k] - 1, -1);
        add(&mut bases, &outer[k], tables, counters[k], 1);
    }
}

/// Tiles along one side of a group of tiles. A group keeps to few enough pages for the second level of
/// the address translation cache: in a transposed nest every tile touches a page for each of its rows.
const GROUP: usize = 8;

/// Calls `visit` with first row, rows, first column and columns of every tile, group by group.
fn for_each_tile(
    nest: &Nest,
    [rows, columns]: [usize; 2],
    lead: usize,
    mut visit: impl FnMut(usize, usize, usize, usize) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let [row_block, column_block] = nest.block;
    let [row_group, column_group] = if nest.transposed {
        [row_block * GROUP, column_block * GROUP]
    } else {
        [row_block, columns]
    };
    for row_start in (0..rows).step_by(row_group) {
        let row_end = rows.min(row_start + row_group);
        let mut column_start = 0;
        while column_start < columns {
            let first = if column_start == 0 { lead } else { 0 };
            let column_end = columns.min((column_start + column_group).saturating_add(first));
            let row_tiles = (row_start..row_end).step_by(row_block);
            let row_tiles = row_tiles.map(|row| (row, row_block.min(row_end - row)));
            let tile_end = |column: usize| {
                let block = if column == 0 && lead != 0 { lead } else { column_block };
                column_end.min(column + block)
            };
            let column_tiles = std::iter::successors(Some(column_start), |&c| Some(tile_end(c)))
                .take_while(|&column| column < column_end)
                .map(|column| (column, tile_end(column) - column));
            if nest.row_by_row {
                for (row, row_count) in row_tiles {
                    for (column, column_count) in column_tiles.clone() {
                        visit(row, row_count, column, column_count)?;
                    }
                }
            } else {
                for (column, column_count) in column_tiles {
                    for (row, row_count) in row_tiles.clone() {
                        visit(row, row_count, column, column_count)?;
                    }
                }
            }
            column_start = column_end;
        }
    }
    Ok(())
}

/// Adds or takes away what digit `digit` of a loop contributes.
fn add(bases: &mut [isize], l: &Loop, tables: &[Cow<'_, [usize]>], digit: usize, sign: isize) {
    for (base, step) in bases.iter_mut().zip(&l.steps) {
        let position = step.table.map_or(digit, |table| tables[table.index][table.start + digit]);
        *base = base.wrapping_add(sign.wrapping_mul(step.stride.wrapping_mul(position as isize)));
    }
}

/// Digits `start..start + count` of a loop: what to add to the base, and the steps from there.
#[inline]
fn part<'t>(
    step: &Step,
    tables: &'t [Cow<'_, [usize]>],
    start: usize,
    count: usize,
) -> (isize, Steps<'t>) {
    match step.table {
        None => {
            (step.stride.wrapping_mul(start as isize), Steps { stride: step.stride, table: None })
        }
        Some(table) => {
            let first = table.start + start;
            (
                0,
                Steps {
                    stride: step.stride,
                    table: Some(&tables[table.index][first..first + count]),
                },
            )
        }
    }
}
