//! What readers of rows tell storage in blocks of the blocks to come.

use super::RowReader;
use super::runs::Runs;
use crate::kernel::{AHEAD, Local, Supply, TileSource};
use std::ops::Range;

/// Rows and columns that are read.
pub(super) struct Path {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Whether a column of blocks is read after the other, not a row of blocks.
    down: bool,
    /// Where the last block ends that was come to.
    last: Option<[usize; 2]>,
    /// Blocks until storage is told again.
    left: usize,
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Says that these rows and columns are read from now on, from one row of blocks to the next or, if they are read
    /// `down`, from one column of blocks to the next. Storage that loads ahead is told of the blocks to come.
    pub(crate) fn follow(&mut self, rows: Range<usize>, columns: Range<usize>, down: bool) {
        let wanted = self.rows.in_blocks.is_some() && self.worker.ahead() > 0;
        self.path = wanted.then(|| Box::new(Path { rows, columns, down, last: None, left: 0 }));
    }

    /// Tells of the block that this row and column lie in and of those after it, if it is new and storage was not told.
    #[inline(never)]
    pub(super) fn tell(&mut self, row: usize, column: usize) {
        let (Some(path), Some(own)) = (&mut self.path, &self.rows.in_blocks) else { return };
        let shape = &self.rows.shape;
        let ends =
            |[row, column]: [usize; 2]| [own.next_row(shape, row), column + own.left(column)];
        let [bottom, right] = ends([row, column]);
        let here = if path.down { [right, bottom] } else { [bottom, right] };
        if path.last.is_some_and(|last| here <= last) {
            return;
        }
        path.last = Some(here);
        if let Some(left) = path.left.checked_sub(1) {
            path.left = left;
            return;
        }
        path.left = AHEAD / 2 - 1;
        let starts = std::iter::successors(Some([row, column]), |&start| {
            let [bottom, right] = ends(start);
            let [rows, columns] = [&path.rows, &path.columns];
            let next = match path.down {
                true if bottom < rows.end => [bottom, start[1]],
                true => [rows.start, right],
                false if right < columns.end => [start[0], right],
                false => [bottom, columns.start],
            };
            (next[0] < rows.end && next[1] < columns.end).then_some(next)
        });
        let mut boxes = starts.take(AHEAD).filter_map(|start| {
            let [bottom, right] = ends(start);
            let (run, index) = Runs::new(shape, start[0]..bottom.min(path.rows.end)).next()?;
            let (base, step) = own.leaf().place(&index, start[1]);
            let sides = [(run, step), (right.min(path.columns.end).saturating_sub(start[1]), 1)];
            Some(Local::of_leaf(base, &sides, Supply::Blocks(own.grid())))
        });
        self.worker.expect(&mut boxes);
    }
}
