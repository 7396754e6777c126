//! Windows of rows: storage that is not memory is read more at a time than it is asked for.

use super::blocks::{InBlocks, shorter, tile};
use super::slab::{Slab, are_mixed};
use super::strided::{
    RowOrder, Strided, TRANSPOSED, far, is_across_below, is_short, is_transposed,
};
use super::{Block, COPIED, Data, RowReader, Rows};
use crate::error::Result;
use crate::expr::boxed::Boxed;
use crate::expr::boxes::selectors;
use crate::expr::eval::evaluate_raw;
use crate::expr::{Expr, Lazy, blocks_at_once, blocks_in_words, room};
use crate::kernel::Stop;
use crate::kernel::inner::{self, slots};
use crate::map::AddressMap;
use crate::memory::try_reserve_exact;
use crate::shape::Shape;
use std::ops::Range;

/// Elements of a window where storage lies across the rows: enough for long runs in either direction.
const ACROSS: usize = 1 << 21;
/// The same where storage lies along the rows.
const ALONG: usize = 1 << 17;

/// The same of memory that is evaluated by maps of several stages, or whose runs are short.
const NEAR: usize = 1 << 15;
/// Elements of a row that are worth a box of their own.
const LEAF: usize = 512;

/// How storage is read.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    /// Whether storage is not memory.
    pub(super) far: bool,
    /// Whether it is memory of which strides tell that it is read in another order.
    pub(super) transposed: bool,
    /// Whether strides tell that runs of its rows are short; otherwise, maps are more than strides.
    pub(super) short: bool,
    /// Most elements of a window.
    pub(super) elements: usize,
    /// Whether storage lies across the rows, so that windows of many rows are best.
    pub(super) across: bool,
    /// Rows and columns of a block, if storage lies across the rows in blocks that begin where columns do.
    pub(super) tile: Option<[usize; 2]>,
    /// How rows lie in blocks, if storage in blocks lies along them.
    pub(super) slab: Option<Slab>,
    /// Rows after which boxes end, as they are boxes of what is reshaped then.
    grain: usize,
}

impl Windows {
    /// Those of an expression, if it wants any, and how its rows lie in blocks, if it is one tensor that has them.
    pub(super) fn of<T: Copy + Send + Sync>(
        e: &Boxed<'_, T>,
        strided: Option<&[Strided]>,
        shape: &Shape,
    ) -> (Option<Self>, Option<InBlocks>) {
        let (order, columns) = (far(e), shape.last().copied().unwrap_or(1));
        let slab = Slab::of(e, columns);
        let is_torn = slab.as_ref().is_some_and(|slab| slab.torn);
        let in_blocks = match strided {
            Some([leaf]) if order == Some(RowOrder::Along) && !is_torn => {
                InBlocks::new(e, leaf.clone())
            }
            _ => None,
        };
        let tile = match strided {
            Some([leaf]) if order == Some(RowOrder::Across) => tile(e, leaf, shape),
            _ => None,
        };
        let most = room(e, ACROSS).unwrap_or(ACROSS);
        let elements = match (order, slab.as_ref().filter(|slab| slab.few)) {
            // A block at a time, or as many as a few leaves of a fold lie in.
            _ if tile.is_some() => tile
                .map_or(most, |[rows, columns]| rows.saturating_mul(columns.max(LEAF)).min(most)),
            (None, _) if strided.is_some_and(|leaves| is_transposed::<T>(leaves, shape)) => {
                TRANSPOSED
            }
            (None, _) if strided.is_some_and(|leaves| is_short(leaves, shape)) => NEAR,
            (None, _) if strided.is_some() => return (None, None),
            // Maps that are more than strides: many rows at once, from a near cache when they are used.
            (None, _) => NEAR,
            (Some(RowOrder::Across), _) => most,
            (Some(_), _) if is_across_below(e) || are_mixed(e) => most,
            // Blocks that are not held until the next window are read whole.
            (_, Some(slab)) => slab.rows.saturating_mul(columns).clamp(ALONG, most),
            (_, None) if in_blocks.is_some() => InBlocks::COPIED,
            (_, None) => ALONG,
        };
        let (across, grain) = (order == Some(RowOrder::Across), grain(e, columns, elements));
        let (far, near) = (order.is_some(), order.is_none() && strided.is_some());
        let (transposed, short) = (near && elements == TRANSPOSED, near && elements == NEAR);
        let slab = slab.filter(|_| order == Some(RowOrder::Along));
        (Some(Self { far, transposed, short, elements, across, tile, slab, grain }), in_blocks)
    }
}

/// How many rows a block of what is reshaped has, the largest that a window holds.
fn grain<T: Copy + Send + Sync>(e: &Boxed<'_, T>, columns: usize, window: usize) -> usize {
    let mut grain = 1;
    e.leaves(&mut |leaf| {
        let Some(below) = leaf.map.rest().last() else { return };
        let mut block = 1_usize;
        for &extent in below.shape().iter().rev() {
            block = block.saturating_mul(extent);
            if block <= window && block.is_multiple_of(columns.max(1)) {
                grain = grain.max(block / columns.max(1));
            }
        }
    });
    grain.max(1)
}

impl<T: Copy + Send + Sync> Rows<'_, T> {
    /// What is said of operands in blocks, of which windows are read.
    pub(crate) fn blocks_in_words(&self) -> Result<Vec<String>> {
        let count = self.shape.iter().fold(1_usize, |all, &extent| all.saturating_mul(extent));
        let elements = self.window().map_or(count, |window| window.min(count));
        let place = if self.in_blocks.is_some() { "where they lie, or " } else { "" };
        let how = format!("read {place}in windows of about {elements} elements");
        blocks_in_words(&self.e, None, None, &how)
    }

    /// How an operand is read, whether by rows or to a copy of what is given, and what is said of its blocks.
    pub(crate) fn operand_in_words(&self, copied: Option<&Boxed<'_, T>>) -> Result<Vec<String>> {
        let (operand, blocks) = match copied {
            Some(e) => (COPIED, blocks_at_once(&Lazy(e.by_ref()), None)?),
            None => (self.explain(), self.blocks_in_words()?),
        };
        Ok(std::iter::once(format!("operand: {operand}")).chain(blocks).collect())
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Says that rows up to this one are read, in order and the same columns of each: they may be read ahead.
    pub(crate) fn up_to(&mut self, end: usize) {
        self.end = end;
    }

    /// Some rows and columns from a window that holds at most so many elements, or these alone.
    #[inline(never)]
    pub(super) fn read_window(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        most: usize,
    ) -> Result<Block<'_, T>, Stop> {
        let width = columns.len();
        if self.find(rows.clone(), columns.clone())? {
            let slice = self.worker.slice().ok_or_else(shorter)?;
            return Ok(Block { data: Data::Apart(slice, &self.starts), columns: width });
        }
        let within = |inner: &Range<usize>, outer: &Range<usize>| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        let before = self.held.take();
        let further = before.as_ref().and_then(|held| self.further(held, &rows, &columns, most));
        let held = before.filter(|[held_rows, held_columns]| {
            within(&rows, held_rows) && within(&columns, held_columns)
        });
        let [held_rows, held_columns] = match held {
            Some(held) => held,
            None => {
                let ahead = rows.start.saturating_add(most / width.max(1)).min(self.end);
                // A layer that no window holds is read in as few as can be.
                let ahead = match ahead < self.end {
                    true => self.rows.end_in_blocks(rows.start..ahead),
                    false => ahead,
                };
                let all = rows.start..rows.end.max(ahead);
                let columns = further.unwrap_or_else(|| columns.clone());
                let count = all.len() * columns.len();
                let held = self.block.len() >= count;
                if !held || !self.copy_blocks(all.clone(), columns.clone(), 0, columns.len())? {
                    self.evaluate_rows(all.clone(), columns.clone())?;
                }
                [all, columns]
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

    /// The columns to hold of a row in memory that goes on from where it is held: more and more.
    fn further(
        &self,
        [rows, columns]: &[Range<usize>; 2],
        row: &Range<usize>,
        wanted: &Range<usize>,
        most: usize,
    ) -> Option<Range<usize>> {
        let goes_on = columns.start < wanted.start
            && wanted.start <= columns.end
            && columns.end < wanted.end
            && rows == row
            && self.end <= row.end;
        let near = row.len() == 1 && !self.rows.is_far();
        (goes_on && near).then(|| {
            let end = wanted.start.saturating_add((2 * columns.len()).min(most));
            wanted.start..end.min(self.rows.columns()).max(wanted.end)
        })
    }

    /// Evaluates rows to a block, in as few boxes as they make.
    #[inline(never)]
    fn evaluate_rows(&mut self, rows: Range<usize>, columns: Range<usize>) -> Result<(), Stop> {
        let (count, width) = (rows.len() * columns.len(), columns.len());
        let shape = self.rows.shape.clone();
        let outer = shape.extents().split_last().map_or(&[][..], |(_, outer)| outer);
        let mut next = rows.start;
        let grain = self.rows.windows.as_ref().map_or(1, |windows| windows.grain);
        while next < rows.end {
            let end = match rows.end / grain * grain {
                _ if !next.is_multiple_of(grain) => rows.end.min(next.next_multiple_of(grain)),
                last if last > next => last,
                _ => rows.end,
            };
            // The longest box of whole inner axes that begins here.
            let (mut axis, mut item) = (outer.len(), 1);
            while axis > 0
                && next.is_multiple_of(item * outer[axis - 1])
                && next + item * outer[axis - 1] <= end
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
                cut.end = (cut.start + (end - next) / item).min(outer[axis - 1]);
                taken = cut.len() * item;
            }
            ranges.extend(outer[axis..].iter().map(|&extent| 0..extent));
            ranges.push(columns.clone());
            self.append_box(&ranges, (next - rows.start) * width, count)?;
            next += taken;
        }
        Ok(())
    }

    /// Evaluates a box to its part of a block of `count` elements, from element `done` on.
    #[inline(never)]
    pub(super) fn append_box(
        &mut self,
        ranges: &[Range<usize>],
        done: usize,
        count: usize,
    ) -> Result<(), Stop> {
        let part = ranges.iter().map(Range::len).product();
        let selectors = selectors(ranges);
        let select = |map: AddressMap| map.select(selectors.clone());
        let mut piece = self.rows.e.clone();
        piece.rewrite(&mut |map| select(map))?;
        let shape = select(AddressMap::row_major(&self.rows.shape)?)?.shape();
        let map = AddressMap::row_major(&shape)?;
        if self.block.len() < count {
            // The first elements stand in for those that are still to come.
            let first: Vec<T> = inner::collect(part, |out| {
                let filled = evaluate_raw(&piece, &shape, &map, out)?;
                filled.ok_or_else(|| Stop::from(inner::out_of_span(0, part as i128 - 1, part)))
            })?;
            if done == 0 {
                self.block = first;
                try_reserve_exact(&mut self.block, count - part)?;
            } else {
                self.block.truncate(done);
                try_reserve_exact(&mut self.block, count - done)?;
                self.block.extend_from_slice(&first);
            }
            if let Some(&element) = self.block.first() {
                self.block.resize(count, element);
            }
            return Ok(());
        }
        evaluate_raw(&piece, &shape, &map, slots(&mut self.block[done..done + part]))?;
        Ok(())
    }
}
