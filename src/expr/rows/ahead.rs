//! What readers of rows tell storage in blocks of the blocks to come.

use super::RowReader;
use super::runs::Runs;
use crate::kernel::{Local, Supply};
use std::ops::Range;

/// Rows and columns that are read.
pub(super) struct Path {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Whether a column of blocks is read after the other, not a row of blocks.
    down: bool,
    /// Where the last block begins that storage was told of.
    told: Option<[usize; 2]>,
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Says that these rows and columns are read from now on, from one row of blocks to the next or, if they are read
    /// `down`, from one column of blocks to the next. Storage that loads ahead is told of the blocks to come.
    pub(crate) fn follow(&mut self, rows: Range<usize>, columns: Range<usize>, down: bool) {
        let wanted = self.rows.in_blocks.is_some() && self.worker.ahead() > 0;
        self.path = wanted.then(|| Box::new(Path { rows, columns, down, told: None }));
    }

    /// Tells of the block that this row and column lie in, if it is a new one, and of those after it.
    #[inline(never)]
    pub(super) fn tell(&mut self, row: usize, column: usize) {
        let (Some(path), Some(own)) = (&mut self.path, &self.rows.in_blocks) else { return };
        let shape = &self.rows.shape;
        let inner = shape.iter().rev().nth(1).copied().unwrap_or(1).max(1);
        let next_row = |row: usize| {
            let within = row % inner;
            row - within + (within / own.height() * own.height() + own.height()).min(inner)
        };
        let ends = |row: usize, column: usize| [next_row(row), column + own.left(column)];
        // Blocks are told apart by where they end.
        let [bottom, right] = ends(row, column);
        let here = if path.down { [right, bottom] } else { [bottom, right] };
        if path.told.is_some_and(|told| here <= told) {
            return;
        }
        path.told = Some(here);
        let (mut boxes, mut row, mut column) = (Vec::new(), row, column);
        for _ in 0..=self.worker.ahead() {
            let [bottom, right] = ends(row, column);
            let (bottom, right) = (bottom.min(path.rows.end), right.min(path.columns.end));
            let Some((run, index)) = Runs::new(shape, row..bottom).next() else { break };
            let (base, step) = own.leaf().place(&index, column);
            let sides = [(run, step), (right.saturating_sub(column), 1)];
            boxes.push(Local::of_leaf(base, &sides, Supply::Blocks(own.grid())));
            (row, column) = match path.down {
                true if bottom < path.rows.end => (bottom, column),
                true => (path.rows.start, right),
                false if right < path.columns.end => (row, right),
                false => (bottom, path.columns.start),
            };
            if row >= path.rows.end || column >= path.columns.end {
                break;
            }
        }
        self.worker.expect_leaves(&boxes, &mut 1);
    }
}
