//! Rows of one tensor in blocks, read where the blocks lie.

use super::runs::Runs;
use super::strided::Strided;
use super::{Block, Data, RowReader, Rows};
use crate::expr::boxed::Boxed;
use crate::expr::{Access, Expr};
use crate::kernel::{Grid, Local, Stop, Supply, copy_line};
use crate::memory::try_reserve_exact;
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
        let grid = grid.filter(|_| leaf.strides.last() == Some(&1))?;
        let (&width, &extent) = (grid.block().last()?, grid.extents().last()?);
        let before = usize::try_from(leaf.base).ok()? % extent.max(1) % width;
        let height = grid.block().iter().rev().nth(1).copied().unwrap_or(1);
        (width >= Self::NARROW).then_some(Self { leaf, grid, width, before, height })
    }

    /// Elements of rows that are copied from their blocks at once, to be in a near cache when they are used.
    pub(super) const COPIED: usize = 1 << 15;

    /// How many rows of so many columns are had at once: few where they are copied from blocks that are held.
    pub(super) fn rows_at_once(&self, columns: usize) -> usize {
        if self.grid.held_by_each() <= columns.div_ceil(self.width) {
            return usize::MAX;
        }
        (Self::COPIED / columns.max(1)).max(1)
    }

    /// Fewest columns of a block that are worth a run of their own.
    const NARROW: usize = 32;

    /// Strides of the tensor.
    pub(super) fn leaf(&self) -> &Strided {
        &self.leaf
    }

    pub(super) fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// Rows of a block.
    pub(super) fn height(&self) -> usize {
        self.height.max(1)
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
            tile = Local::of_leaf(leaf.base, &sides, Supply::Blocks(grid)).tile_of_block(1);
        }
    });
    tile
}

/// Most rows and columns of a block of storage in blocks, and whether a thread holds fewer blocks than lie along a row
/// of so many columns.
pub(super) fn largest_block<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    columns: usize,
) -> Option<([usize; 2], bool)> {
    let mut largest: Option<([usize; 2], bool)> = None;
    e.leaves(&mut |leaf| {
        if let Access::Blocks(grid) = leaf.access
            && let [.., height, width] = grid.block()
        {
            let few = grid.held_by_each() <= columns.div_ceil(*width);
            let ([high, wide], some) = largest.unwrap_or_default();
            largest = Some(([high.max(*height), wide.max(*width)], some || few));
        }
    });
    largest
}

impl<T: Copy + Send + Sync> Rows<'_, T> {
    /// Columns that lie in one block together, if rows are read from blocks.
    pub(crate) fn block_width(&self) -> Option<usize> {
        match &self.in_blocks {
            Some(own) => own.width(),
            None => self.windows?.tile.map(|[_, width]| width),
        }
    }

    /// Rows of a block, if rows are read from blocks that begin where they do.
    pub(crate) fn block_height(&self) -> Option<usize> {
        let own = self.in_blocks.as_ref()?;
        own.width().map(|_| own.height)
    }

    /// Rows and columns after which blocks end, if those of storage begin where rows do: where tasks are best parted.
    pub(crate) fn sides_of_blocks(&self) -> [usize; 2] {
        let own = self.in_blocks.as_ref().map(|own| [own.height, own.width]);
        own.or_else(|| self.windows?.sides).unwrap_or([1, 1])
    }

    /// The last row up to this one at which blocks end.
    pub(super) fn end_of_blocks(&self, row: usize) -> usize {
        let rows = self.shape.iter().rev().nth(1).copied().unwrap_or(1);
        row - row % rows.max(1) % self.sides_of_blocks()[0]
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// As many of so many elements as are whole blocks of storage, in rows of so many columns.
    pub(crate) fn in_whole_blocks(&self, elements: usize, columns: usize) -> usize {
        let blocks = self.rows.sides_of_blocks()[0].saturating_mul(columns.max(1));
        if elements < blocks { elements } else { elements - elements % blocks }
    }

    /// Finds where rows and columns lie in the block that holds them: fills `starts`. `false` if it is not one.
    #[inline(never)]
    fn find(&mut self, rows: Range<usize>, columns: Range<usize>) -> Result<bool, Stop> {
        let Some(own) = &self.rows.in_blocks else { return Ok(false) };
        if columns.len() > own.left(columns.start) {
            return Ok(false);
        }
        self.tell(rows.start, columns.start);
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
    #[inline(never)]
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
                (Some(to), Some(from)) => copy_line(from, to),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
