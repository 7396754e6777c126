//! Rows of one tensor in blocks, read where the blocks lie.

use super::runs::Runs;
use super::strided::Strided;
use super::{RowReader, Rows, VisitRows};
use crate::expr::boxed::Boxed;
use crate::expr::node::Worker;
use crate::expr::{Access, Expr};
use crate::kernel::inner::out_of_span;
use crate::kernel::{Grid, Local, Stop, Supply, copy_line};
use crate::memory::{resize, try_reserve_exact};
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A tensor in blocks whose columns follow one another in them.
pub(super) struct InBlocks {
    leaf: Strided,
    grid: Arc<Grid>,
    /// Columns of a block, and those before the first column in its block.
    width: usize,
    before: usize,
    /// Rows of a block.
    height: usize,
}

impl InBlocks {
    /// Of an expression that is one such tensor.
    pub(super) fn new<T: Copy + Send + Sync>(e: &Boxed<'_, T>, leaf: Strided) -> Option<Self> {
        let mut grid = None;
        e.leaves(&mut |leaf| match leaf.access {
            Access::Blocks(own) if e.is_leaf() && own.is_coarse() => grid = Some(own),
            _ => {}
        });
        let grid: Arc<Grid> = grid.filter(|_| leaf.strides.last() == Some(&1))?;
        let rank = grid.sides.extents.len();
        if (rank.saturating_sub(2)..rank).any(|axis| !grid.sides.is_regular(axis)) {
            return None;
        }
        let (&width, &extent) = (grid.sides.block.last()?, grid.sides.extents.last()?);
        let before = usize::try_from(leaf.base).ok()? % extent.max(1) % width;
        let height = grid.sides.block.iter().rev().nth(1).copied().unwrap_or(1);
        (width >= Self::NARROW).then_some(Self { leaf, grid, width, before, height })
    }

    /// Elements of rows that are copied from their blocks at once, to be in a near cache when they are used.
    pub(super) const COPIED: usize = 1 << 15;

    /// Fewest columns of a block that are worth a run of their own.
    const NARROW: usize = 32;

    /// Binds a worker to the block that holds rows and columns and finds where each row starts. `false` if it is not one.
    #[inline(never)]
    fn find<T: Copy>(
        &self,
        shape: &Shape,
        worker: &mut Worker<'_, T>,
        starts: &mut Vec<usize>,
        [rows, columns]: [Range<usize>; 2],
    ) -> Result<bool, Stop> {
        let mut runs = Runs::new(shape, rows.clone());
        let Some((_, index)) = runs.next().filter(|(run, _)| *run == rows.len()) else {
            return Ok(false);
        };
        let (base, step) = self.leaf.place(&index, columns.start);
        let sides = [(rows.len(), step), (columns.len(), 1)];
        let mut local = Local::of_leaf(base, &sides, Supply::Blocks(&self.grid));
        if !local.is_in_one_block(1) {
            return Ok(false);
        }
        worker.load_leaves(&mut local, &mut 1)?;
        let (first, step) = (local.nest.bases[1], local.nest.loops[0].steps[1].stride);
        starts.clear();
        try_reserve_exact(starts, rows.len())?;
        let start = |row: usize| first.wrapping_add(step.wrapping_mul(row as isize)) as usize;
        starts.extend((0..rows.len()).map(start));
        // A block of equal elements has no columns.
        let last = starts.iter().max().map_or(0, |start| start + columns.len());
        let unit = local.nest.loops[1].steps[1].stride == 1 || columns.len() == 1;
        Ok(unit && worker.slice().is_some_and(|slice| slice.len() >= last))
    }

    /// Columns cut where blocks end.
    fn parts(&self, columns: Range<usize>) -> SmallVec<[Range<usize>; 4]> {
        let (mut parts, mut at) = (SmallVec::new(), columns.start);
        while at < columns.end {
            let end = (at + self.left(at)).min(columns.end);
            parts.push(at..end);
            at = end;
        }
        parts
    }

    /// Strides of the tensor.
    pub(super) fn leaf(&self) -> &Strided {
        &self.leaf
    }

    pub(super) fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// The first row after the block that holds this one.
    pub(super) fn next_row(&self, shape: &Shape, row: usize) -> usize {
        let rows = shape.iter().rev().nth(1).copied().unwrap_or(1).max(1);
        let (within, height) = (row % rows, self.height.max(1));
        row - within + rows.min((within / height + 1).saturating_mul(height))
    }

    /// Columns up to the end of the block that holds this one.
    pub(super) fn left(&self, column: usize) -> usize {
        self.width - (self.before + column) % self.width
    }

    /// Columns that lie in one block together, if blocks begin where they do.
    pub(super) fn width(&self) -> Option<usize> {
        (self.before == 0).then_some(self.width)
    }
}

/// How many rows and columns lie in one block, of one tensor in blocks whose rows lie across them.
pub(super) fn tile<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    leaf: &Strided,
    shape: &Shape,
) -> Option<[usize; 2]> {
    let mut tile = None;
    e.leaves(&mut |own| {
        if let Access::Blocks(grid) = &own.access
            && e.is_leaf()
            && grid.is_coarse()
        {
            let sides: SmallVec<[(usize, isize); 4]> =
                shape.iter().copied().zip(leaf.strides.iter().copied()).collect();
            let local = Local::of_leaf(leaf.base, &sides, Supply::Blocks(grid));
            tile = local.tile_of_block(1);
            // Blocks that further axes come back to have to be held until then.
            let held = local.comes_back(1).is_none();
            let once = |[rows, columns]: &[usize; 2]| {
                grid.sides.block_len <= rows.saturating_mul(*columns)
            };
            tile = tile.filter(|tile| held || once(tile));
        }
    });
    tile
}

impl<T: Copy + Send + Sync> Rows<'_, T> {
    /// Columns that lie in one block together, if rows are read from blocks.
    pub(crate) fn block_width(&self) -> Option<usize> {
        match &self.in_blocks {
            Some(own) => own.width(),
            None => self.tile().map(|[_, width]| width),
        }
    }

    /// Rows and columns that lie in one block, if storage in blocks lies across the rows.
    pub(crate) fn tile(&self) -> Option<[usize; 2]> {
        self.windows.as_ref()?.tile
    }

    /// Rows of a block, if rows are read from blocks that begin where they do.
    pub(crate) fn block_height(&self) -> Option<usize> {
        let own = self.in_blocks.as_ref()?;
        own.width().map(|_| own.height)
    }

    /// Rows and columns after which blocks end, if those of storage begin where rows do: where tasks are best parted.
    pub(crate) fn sides_of_blocks(&self) -> [usize; 2] {
        let windows = self.windows.as_ref();
        let slab = windows.and_then(|own| own.slab.as_ref());
        match (&self.in_blocks, self.tile(), slab) {
            (Some(own), ..) if slab.is_none_or(|slab| !slab.few) => [own.height, own.width],
            (_, Some(tile), _) => tile,
            (.., Some(slab)) => [slab.rows, slab.columns],
            _ => [1, 1],
        }
    }

    /// One past the last of some rows, or the last row before at which blocks end.
    pub(crate) fn end_in_blocks(&self, rows: Range<usize>) -> usize {
        let whole = self.end_of_blocks(rows.end);
        if whole > rows.start { whole } else { rows.end }
    }

    /// The last row up to this one at which blocks end.
    pub(super) fn end_of_blocks(&self, row: usize) -> usize {
        let slab = self.windows.as_ref().and_then(|own| own.slab.as_ref());
        match slab.filter(|slab| self.in_blocks.is_none() || slab.few) {
            Some(slab) => slab.end(row),
            None => {
                let rows = self.shape.iter().rev().nth(1).copied().unwrap_or(1);
                row - row % rows.max(1) % self.sides_of_blocks()[0].max(1)
            }
        }
    }
}

/// Of a block that is shorter when it is looked at again.
#[cold]
pub(super) fn shorter() -> Stop {
    out_of_span(0, 0, 0).into()
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// As many of so many elements as are whole blocks of storage, in rows of so many columns.
    pub(crate) fn in_whole_blocks(&self, elements: usize, columns: usize) -> usize {
        let blocks = self.rows.sides_of_blocks()[0].saturating_mul(columns.max(1));
        if elements < blocks { elements } else { elements - elements % blocks }
    }

    /// Finds where rows and columns lie in the block that holds them: fills `starts`. `false` if it is not one.
    pub(super) fn find(&mut self, rows: Range<usize>, columns: Range<usize>) -> Result<bool, Stop> {
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        if columns.len() > own.left(columns.start) {
            return Ok(false);
        }
        self.tell(rows.start, columns.start);
        own.find(&self.rows.shape, &mut self.worker, &mut self.starts, [rows, columns])
    }

    /// Copies rows and columns from their blocks to the block that is held, whose rows are `stride` long, from place
    /// `at` on. `false` if that cannot be.
    #[inline(never)]
    pub(super) fn copy_blocks(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        at: usize,
        stride: usize,
    ) -> Result<bool, Stop> {
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        let (mut start, mut at) = (columns.start, at);
        while start < columns.end {
            let width = own.left(start).min(columns.end - start);
            if !self.copy_block(rows.clone(), start..start + width, at, stride)? {
                return Ok(false);
            }
            (start, at) = (start + width, at + width);
        }
        Ok(true)
    }

    /// [`Self::copy_blocks`] of columns that one block holds.
    fn copy_block(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        at: usize,
        stride: usize,
    ) -> Result<bool, Stop> {
        let width = columns.len();
        if !self.find(rows.clone(), columns.clone())? {
            let half = rows.len() / 2;
            let middle = rows.start + half;
            return Ok(half > 0
                && self.copy_block(rows.start..middle, columns.clone(), at, stride)?
                && self.copy_block(middle..rows.end, columns, at + half * stride, stride)?);
        }
        let slice = self.worker.slice().unwrap_or_default();
        for (row, &start) in self.starts.iter().enumerate() {
            let to = self.block.get_mut(at + row * stride..).unwrap_or_default();
            let (to, from) = (to.get_mut(..width), slice.get(start..start + width));
            match (to, from) {
                (Some(to), Some(from)) => copy_line(from, to),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Calls `visit` with rows whose columns lie in several blocks side by side: a few rows at a time, copied just before.
    /// `false` if that cannot be, as a thread does not hold so many blocks.
    #[inline(never)]
    pub(super) fn visit_side_by_side(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        visit: VisitRows<'_, T>,
    ) -> Result<bool, Stop> {
        /// Elements that are copied at once, to the nearest cache.
        const NEAR: usize = 1024;
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        let (width, parts) = (columns.len(), own.parts(columns));
        if !(2..=own.grid.held_by_each()).contains(&parts.len()) {
            return Ok(false);
        }
        parts.iter().for_each(|part| self.tell(rows.start, part.start));
        while self.blocks.len() < parts.len() {
            self.blocks.push((self.worker.fork(), Vec::new()));
        }
        for (part, (worker, starts)) in parts.iter().zip(&mut self.blocks) {
            let sides = [rows.clone(), part.clone()];
            if !own.find(&self.rows.shape, worker, starts, sides)? {
                return Ok(false);
            }
        }
        let lines = self.blocks.iter().zip(&parts).map(|((worker, starts), part)| {
            Ok((worker.slice().ok_or_else(shorter)?, &starts[..], part.len()))
        });
        let lines: SmallVec<[_; 4]> = lines.collect::<Result<_, Stop>>()?;
        let seed = lines.first().and_then(|(slice, starts, _)| slice.get(*starts.first()?));
        let (Some(&seed), together) = (seed, (NEAR / width).clamp(1, rows.len().max(1))) else {
            return Ok(false);
        };
        self.held = None;
        resize(&mut self.block, together * width, seed)?;
        for first in (0..rows.len()).step_by(together) {
            let count = together.min(rows.len() - first);
            for (row, mut out) in self.block.chunks_exact_mut(width).take(count).enumerate() {
                for (slice, starts, columns) in &lines {
                    let (now, later) = out.split_at_mut(*columns);
                    copy_line(&slice[starts[first + row]..][..*columns], now);
                    out = later;
                }
            }
            let few: SmallVec<[&[T]; 16]> = self.block.chunks_exact(width).take(count).collect();
            visit(first, &few)?;
        }
        Ok(true)
    }
}
