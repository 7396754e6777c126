//! Parts of one row, one after another.

use super::{RowReader, Runs};
use crate::kernel::{Stop, TILE};
use std::ops::Range;

/// Elements of a piece: few, so that they are in the nearest cache when they are used, whatever else is read and
/// written.
const PIECE: usize = 512;

/// Pieces that leaves are bound to at once.
const BOUND: usize = 2 * TILE / PIECE;

/// Part of a row, seen as a tile whose rows are pieces.
pub(super) struct Pieces {
    row: usize,
    columns: Range<usize>,
}

impl Pieces {
    /// The number of the piece that consists of these elements, if there is one.
    fn number(&self, row: usize, columns: &Range<usize>) -> Option<usize> {
        let from = columns.start.checked_sub(self.columns.start)?;
        let found =
            self.row == row && columns.end <= self.columns.end && from.is_multiple_of(PIECE);
        found.then_some(from / PIECE)
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// How many elements of a row to ask for if it is read from one end to the other.
    pub(crate) fn piece_size(&self) -> usize {
        let evaluated = self.rows.strided.is_some() && !self.direct && !self.reads_across();
        if evaluated { PIECE } else { self.block_size() }
    }

    /// Some neighbours of a row. Whole pieces, one after another, are evaluated one by one without binding leaves
    /// to each.
    #[inline(never)]
    pub(crate) fn part(&mut self, row: usize, columns: Range<usize>) -> Result<&[T], Stop> {
        if columns.len() != PIECE || self.direct || self.rows.strided.is_none() {
            return Ok(self.read(row..row + 1, columns)?.row(0));
        }
        let known = self.pieces.as_ref().and_then(|pieces| pieces.number(row, &columns));
        let number = match known {
            Some(number) => number,
            None => {
                let (start, extent) = (columns.start, self.rows.shape[self.rows.shape.rank() - 1]);
                let count = (extent.saturating_sub(start) / PIECE).clamp(1, BOUND);
                let Some((_, index)) = Runs::new(&self.rows.shape, row..row + 1).next() else {
                    return Ok(&[]);
                };
                let step = |_, along: isize| along.wrapping_mul(PIECE as isize);
                self.bind_sides([count, PIECE], false, &index, start, step)?;
                self.pieces = Some(Pieces { row, columns: start..start + count * PIECE });
                0
            }
        };
        // Asked for twice, as a reference that is returned would be borrowed on the other way, too.
        if self.worker.bound().row_in_memory(number, PIECE).is_some() {
            return Ok(self.worker.bound().row_in_memory(number, PIECE).unwrap_or_default());
        }
        match self.worker.rows(number, [1, PIECE])? {
            (_, true) => Err(Stop::Fault),
            (piece, false) => Ok(piece),
        }
    }
}
