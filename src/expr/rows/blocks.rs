//! Rows of one tensor in blocks, read where the blocks lie.

use super::runs::Runs;
use super::strided::Strided;
use super::{Block, Data, RowReader, Rows};
use crate::expr::boxed::Boxed;
use crate::expr::{Access, Expr};
use crate::kernel::{Grid, Local, Stop, Supply};
use crate::memory::try_reserve_exact;
use std::ops::Range;

/// A tensor in blocks whose columns follow one another in them.
pub(super) struct InBlocks {
    leaf: Strided,
    grid: Grid,
    /// Columns of a block, and those before the first column in its block.
    width: usize,
    before: usize,
}

impl InBlocks {
    /// Of an expression that is one such tensor.
    pub(super) fn new<T: Copy + Send + Sync>(e: &Boxed<'_, T>, leaf: Strided) -> Option<Self> {
        let mut grid = None;
        e.leaves(&mut |leaf| match leaf.access {
            Access::Blocks(own) if e.is_leaf() && own.is_coarse() => grid = Some(own),
            _ => {}
        });
        let grid = grid.filter(|_| leaf.strides.last() == Some(&1))?;
        let (&width, &extent) = (grid.block().last()?, grid.extents().last()?);
        let before = usize::try_from(leaf.base).ok()? % extent.max(1) % width;
        (width >= Self::NARROW).then_some(Self { leaf, grid, width, before })
    }

    /// Fewest columns of a block that are worth a run of their own.
    const NARROW: usize = 32;

    /// Columns up to the end of the block that holds this one.
    fn left(&self, column: usize) -> usize {
        self.width - (self.before + column) % self.width
    }

    /// Columns that lie in one block together, if blocks begin where they do.
    pub(super) fn width(&self) -> Option<usize> {
        (self.before == 0).then_some(self.width)
    }
}

/// Rows of the highest block, if some storage holds fewer blocks than lie along a row of so many columns.
pub(super) fn rows_of_block<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    columns: usize,
) -> Option<usize> {
    let mut highest = None;
    e.leaves(&mut |leaf| {
        if let Access::Blocks(grid) = leaf.access
            && let [.., height, width] = grid.block()
            && grid.held <= columns.div_ceil(*width)
        {
            highest = highest.max(Some(*height));
        }
    });
    highest
}

impl<T: Copy + Send + Sync> Rows<'_, T> {
    /// Columns that lie in one block together, if rows are read from blocks.
    pub(crate) fn block_width(&self) -> Option<usize> {
        self.in_blocks.as_ref()?.width()
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Finds where rows and columns lie in the block that holds them: fills `starts`. `false` if it is not one.
    fn find(&mut self, rows: Range<usize>, columns: Range<usize>) -> Result<bool, Stop> {
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        if columns.len() > own.left(columns.start) {
            return Ok(false);
        }
        let mut runs = Runs::new(&self.rows.shape, rows.clone());
        let Some((_, index)) = runs.next().filter(|(run, _)| *run == rows.len()) else {
            return Ok(false);
        };
        let (base, step) = own.leaf.place(&index, columns.start);
        let sides = [(rows.len(), step), (columns.len(), 1)];
        let mut local = Local::of_leaf(base, &sides, Supply::Blocks(&own.grid));
        if !local.is_in_one_block(1) {
            return Ok(false);
        }
        self.worker.load_leaves(&mut local, &mut 1)?;
        let (first, step) = (local.nest.bases[1], local.nest.loops[0].steps[1].stride);
        self.starts.clear();
        try_reserve_exact(&mut self.starts, rows.len())?;
        let start = |row: usize| first.wrapping_add(step.wrapping_mul(row as isize)) as usize;
        self.starts.extend((0..rows.len()).map(start));
        // A block of equal elements has no columns.
        let last = self.starts.iter().max().map_or(0, |start| start + columns.len());
        let unit = local.nest.loops[1].steps[1].stride == 1 || columns.len() == 1;
        Ok(unit && self.worker.slice().is_some_and(|slice| slice.len() >= last))
    }

    /// Rows and columns where they lie, if one block holds them.
    pub(super) fn in_block(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Option<Block<'_, T>>, Stop> {
        let width = columns.len();
        if !self.find(rows, columns)? {
            return Ok(None);
        }
        let slice = self.worker.slice().unwrap_or_default();
        Ok(Some(Block { data: Data::Apart(slice, &self.starts), columns: width }))
    }

    /// Copies rows and columns from their blocks to the block that is held, whose rows are `stride` long, from place
    /// `at` on. `false` if that cannot be.
    pub(super) fn copy_blocks(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        at: usize,
        stride: usize,
    ) -> Result<bool, Stop> {
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        let left = own.left(columns.start);
        if columns.len() > left {
            let middle = columns.start + left;
            return Ok(self.copy_blocks(rows.clone(), columns.start..middle, at, stride)?
                && self.copy_blocks(rows, middle..columns.end, at + left, stride)?);
        }
        let width = columns.len();
        if !self.find(rows.clone(), columns.clone())? {
            let half = rows.len() / 2;
            let middle = rows.start + half;
            return Ok(half > 0
                && self.copy_blocks(rows.start..middle, columns.clone(), at, stride)?
                && self.copy_blocks(middle..rows.end, columns, at + half * stride, stride)?);
        }
        let slice = self.worker.slice().unwrap_or_default();
        for (row, &start) in self.starts.iter().enumerate() {
            let to = self.block.get_mut(at + row * stride..).unwrap_or_default();
            let (to, from) = (to.get_mut(..width), slice.get(start..start + width));
            match (to, from) {
                (Some(to), Some(from)) => to.copy_from_slice(from),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
