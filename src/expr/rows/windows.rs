//! Windows of rows: storage that is not memory is read more at a time than it is asked for.

use super::blocks::{InBlocks, rows_of_block};
use super::strided::{Order, Strided, far};
use super::{Block, Data, RowReader};
use crate::expr::boxed::Boxed;
use crate::kernel::Stop;
use crate::memory::try_reserve_exact;
use std::ops::Range;

/// Elements of a window where storage lies across the rows: enough for long runs in either direction.
const ACROSS: usize = 1 << 21;
/// The same where storage lies along the rows.
const ALONG: usize = 1 << 17;
/// The same of rows that are copied from their blocks, to be in a near cache when they are used.
const COPIED: usize = 1 << 16;

/// How storage is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    /// Most elements of a window.
    pub(super) elements: usize,
    /// Whether storage lies across the rows, so that windows of many rows are best.
    pub(super) across: bool,
}

impl Windows {
    /// Those of an expression, if it wants any, and how its rows lie in blocks, if it is one tensor that has them.
    pub(super) fn of<T: Copy + Send + Sync>(
        e: &Boxed<'_, T>,
        strided: Option<&[Strided]>,
        columns: usize,
    ) -> (Option<Self>, Option<InBlocks>) {
        let order = far(e);
        let in_blocks = match strided {
            Some([leaf]) if order == Some(Order::Along) => InBlocks::new(e, leaf.clone()),
            _ => None,
        };
        let elements = match (order, rows_of_block(e, columns)) {
            (None, _) => return (None, None),
            (Some(Order::Across), _) => ACROSS,
            // Blocks that are not held until the next window are read whole.
            (_, Some(rows)) => rows.saturating_mul(columns).clamp(ALONG, ACROSS),
            (_, None) if in_blocks.is_some() => COPIED,
            (_, None) => ALONG,
        };
        (Some(Self { elements, across: order == Some(Order::Across) }), in_blocks)
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Says that rows up to this one are read, in order and the same columns of each: they may be read ahead.
    pub(crate) fn up_to(&mut self, end: usize) {
        self.end = end;
    }

    /// Some rows and columns from a window that holds at most so many elements, or these alone.
    pub(super) fn read_window(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        most: usize,
    ) -> Result<Block<'_, T>, Stop> {
        let width = columns.len();
        // Asked for twice, as a reference that is returned would be borrowed on the other way, too.
        if self.in_block(rows.clone(), columns.clone())?.is_some() {
            let slice = self.worker.slice().unwrap_or_default();
            return Ok(Block { data: Data::Apart(slice, &self.starts), columns: width });
        }
        let within = |inner: &Range<usize>, outer: &Range<usize>| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        let held = self.held.take().filter(|[held_rows, held_columns]| {
            within(&rows, held_rows) && within(&columns, held_columns)
        });
        let [held_rows, held_columns] = match held {
            Some(held) => held,
            None => {
                let ahead = rows.start.saturating_add(most / width.max(1)).min(self.end);
                let all = rows.start..rows.end.max(ahead);
                let count = all.len() * width;
                let held = self.block.len() >= count;
                if !held || !self.copy_blocks(all.clone(), columns.clone(), 0, width)? {
                    self.evaluate_rows(all.clone(), columns.clone())?;
                }
                [all, columns.clone()]
            }
        };
        let stride = held_columns.len();
        let first = (rows.start - held_rows.start) * stride;
        self.held = Some([held_rows, held_columns.clone()]);
        if stride == width {
            let data = Data::Together(&self.block[first..first + rows.len() * width]);
            return Ok(Block { data, columns: width });
        }
        let first = first + columns.start - held_columns.start;
        self.starts.clear();
        try_reserve_exact(&mut self.starts, rows.len())?;
        self.starts.extend((0..rows.len()).map(|row| first + row * stride));
        Ok(Block { data: Data::Apart(&self.block, &self.starts), columns: width })
    }

    /// Evaluates rows to a block, in as few boxes as they make.
    fn evaluate_rows(&mut self, rows: Range<usize>, columns: Range<usize>) -> Result<(), Stop> {
        let (count, width) = (rows.len() * columns.len(), columns.len());
        let shape = self.rows.shape.clone();
        let outer = shape.extents().split_last().map_or(&[][..], |(_, outer)| outer);
        let mut next = rows.start;
        while next < rows.end {
            // The longest box of whole inner axes that begins here.
            let (mut axis, mut item) = (outer.len(), 1);
            while axis > 0
                && next.is_multiple_of(item * outer[axis - 1])
                && next + item * outer[axis - 1] <= rows.end
            {
                axis -= 1;
                item *= outer[axis];
            }
            let mut ranges = Vec::with_capacity(shape.rank());
            let mut taken = item;
            if axis > 0 {
                let mut rest = next / item;
                for &extent in outer[..axis].iter().rev() {
                    ranges.push(rest % extent..rest % extent + 1);
                    rest /= extent;
                }
                ranges.reverse();
                let cut = &mut ranges[axis - 1];
                cut.end = (cut.start + (rows.end - next) / item).min(outer[axis - 1]);
                taken = cut.len() * item;
            }
            ranges.extend(outer[axis..].iter().map(|&extent| 0..extent));
            ranges.push(columns.clone());
            self.append_box(&ranges, (next - rows.start) * width, count)?;
            next += taken;
        }
        Ok(())
    }
}
