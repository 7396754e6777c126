//! Where lanes are read from: a block that holds them whole, or the operand, part by part.

use crate::expr::{Block, Expr, RowReader, Stop};
use std::ops::Range;

/// One lane.
pub(crate) trait Lane<T> {
    /// How many elements to ask for at best.
    fn best(&self) -> usize;

    /// Some neighbours.
    fn run(&mut self, elements: Range<usize>) -> Result<&[T], Stop>;
}

/// Lanes side by side.
pub(crate) trait Table<T> {
    /// How many elements to ask for at best.
    fn best(&self) -> usize;

    /// Some rows, one element of each lane in every one.
    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop>;
}

/// Rows of lanes side by side.
#[derive(Clone, Copy)]
pub(crate) struct Panel<'b, T> {
    pub(super) block: Block<'b, T>,
    pub(super) first: usize,
}

impl<'b, T> Panel<'b, T> {
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &'b [T] {
        self.block.row(self.first + row)
    }
}

impl<T> Lane<T> for &[T] {
    fn best(&self) -> usize {
        self.len()
    }

    #[inline]
    fn run(&mut self, elements: Range<usize>) -> Result<&[T], Stop> {
        Ok(&self[elements])
    }
}

impl<T: Copy> Table<T> for Panel<'_, T> {
    fn best(&self) -> usize {
        usize::MAX
    }

    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop> {
        Ok(Panel { block: self.block, first: self.first + rows.start })
    }
}

/// A lane of an operand.
pub(super) struct ReadLane<'a, 'r, E: Expr> {
    pub(super) reader: &'a mut RowReader<'r, E>,
    pub(super) item: usize,
}

impl<E: Expr> Lane<E::Elem> for ReadLane<'_, '_, E> {
    fn best(&self) -> usize {
        self.reader.block_size()
    }

    fn run(&mut self, elements: Range<usize>) -> Result<&[E::Elem], Stop> {
        if elements.is_empty() {
            return Ok(&[]);
        }
        Ok(self.reader.read(self.item..self.item + 1, elements)?.row(0))
    }
}

/// Lanes side by side of an operand.
pub(super) struct ReadTable<'a, 'r, E: Expr> {
    pub(super) reader: &'a mut RowReader<'r, E>,
    pub(super) first: usize,
    pub(super) columns: Range<usize>,
}

impl<E: Expr> Table<E::Elem> for ReadTable<'_, '_, E> {
    fn best(&self) -> usize {
        self.reader.block_size()
    }

    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, E::Elem>, Stop> {
        let rows = self.first + rows.start..self.first + rows.end;
        let block = self.reader.read(rows, self.columns.clone())?;
        Ok(Panel { block, first: 0 })
    }
}
