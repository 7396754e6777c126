//! Where lanes are read from: a block that holds them whole, or the operand, part by part.

use crate::error::Result;
use crate::expr::{RowReader, Stop};
use crate::memory::list;
use std::borrow::Cow;
use std::ops::Range;

/// Blocks of rows in memory whose places are found at once.
const AT_ONCE: usize = 16;

/// One lane.
pub(crate) trait Lane<T> {
    /// How many elements to ask for at best.
    fn best(&self) -> usize;

    /// How many, if they are asked for from the first to the last and once.
    fn best_in_order(&self) -> usize {
        self.best()
    }

    /// Whether they may lie farther than the caches, so that it pays to ask for them ahead.
    fn is_far(&self) -> bool {
        true
    }

    /// Some neighbours.
    fn run(&mut self, elements: Range<usize>) -> Result<&[T], Stop>;
}

/// Lanes side by side.
pub(crate) trait LaneRows<T> {
    /// How many elements to ask for at best.
    fn best(&self) -> usize;

    /// Some rows, one element of each lane in every one.
    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop>;
}

/// Rows of lanes side by side.
#[derive(Debug, Clone)]
pub(crate) struct Panel<'b, T>(pub(super) Cow<'b, [&'b [T]]>);

impl<'b, T> Panel<'b, T> {
    /// Those of this length that lie one after another.
    pub(crate) fn of_rows(elements: &'b [T], width: usize) -> Result<Self> {
        Ok(Self(Cow::Owned(list(elements.chunks_exact(width.max(1)))?)))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn row(&self, row: usize) -> &'b [T] {
        self.0[row]
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

impl<T> LaneRows<T> for &[&[T]] {
    fn best(&self) -> usize {
        usize::MAX
    }

    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop> {
        Ok(Panel(Cow::Borrowed(&self[rows])))
    }
}

/// A lane as a table of one column.
pub(super) struct Column<'a, T>(pub(super) &'a mut dyn Lane<T>);

impl<T> LaneRows<T> for Column<'_, T> {
    fn best(&self) -> usize {
        self.0.best()
    }

    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop> {
        Ok(Panel::of_rows(self.0.run(rows)?, 1)?)
    }
}

/// A lane of an operand.
pub(super) struct ReadLane<'a, 'r, T> {
    pub(super) reader: &'a mut RowReader<'r, T>,
    pub(super) item: usize,
}

impl<T: Copy + Send + Sync> Lane<T> for ReadLane<'_, '_, T> {
    fn best(&self) -> usize {
        self.reader.block_size()
    }

    fn best_in_order(&self) -> usize {
        self.reader.piece_size()
    }

    fn is_far(&self) -> bool {
        self.reader.direct
    }

    fn run(&mut self, elements: Range<usize>) -> Result<&[T], Stop> {
        if elements.is_empty() {
            return Ok(&[]);
        }
        self.reader.part(self.item, elements)
    }
}

/// Lanes side by side of an operand.
pub(super) struct ReadTable<'a, 'r, T> {
    pub(super) reader: &'a mut RowReader<'r, T>,
    pub(super) first: usize,
    pub(super) columns: Range<usize>,
}

impl<T: Copy + Send + Sync> LaneRows<T> for ReadTable<'_, '_, T> {
    fn best(&self) -> usize {
        // Rows that are read where they lie cost nothing but their places.
        let best = self.reader.block_size() * if self.reader.direct { AT_ONCE } else { 1 };
        self.reader.in_whole_blocks(best, self.columns.len())
    }

    fn rows(&mut self, rows: Range<usize>) -> Result<Panel<'_, T>, Stop> {
        let (first, count) = (self.first + rows.start, rows.len());
        let block = self.reader.read(first..first + count, self.columns.clone())?;
        Ok(Panel(Cow::Owned(list((0..count).map(|row| block.row(row)))?)))
    }
}
