//! Blocks of storage, and areas of several blocks copied to memory.

use crate::error::{Error, Result, StorageError};
use crate::kernel::{Area, Grid, Local, Stop, Supply};
use crate::memory::resize;
use crate::storage::{Block, Blocks};
use smallvec::SmallVec;

/// Puts an operand where its copy is.
pub(in crate::expr) fn place(
    local: &mut Local<'_>,
    k: usize,
    (base, strides): (isize, SmallVec<[isize; 4]>),
) {
    local.nest.bases[k] = base;
    for (l, stride) in local.nest.loops.iter_mut().zip(strides) {
        l.steps[k].stride = stride;
    }
    local.relocates[k] = None;
    local.supplies[k] = Supply::Memory;
}

/// A block of as many elements as it should have.
#[inline(never)]
pub(in crate::expr) fn load<'b, T: Copy + Send + Sync>(
    blocks: &'b (dyn Blocks<Elem = T> + 'b),
    grid: &Grid,
    index: &[usize],
) -> Result<Block<'b, T>, StorageError> {
    let named = |error| StorageError { address: grid.sides.first_address(index), ..error };
    let block = blocks.load(index).map_err(named)?;
    block.check(grid.sides.block_len, 0).map_err(named)?;
    Ok(block)
}

/// Why blocks were not copied.
pub(in crate::expr) enum NotCopied {
    Storage(StorageError),
    Error(Error),
}

impl NotCopied {
    pub(in crate::expr) fn stop(self, leaf: usize) -> Stop {
        match self {
            Self::Storage(source) => Stop::Storage { leaf, source },
            Self::Error(error) => error.into(),
        }
    }
}

/// Copies the whole box of an area.
pub(in crate::expr) fn copy_area<T: Copy + Send + Sync>(
    blocks: &dyn Blocks<Elem = T>,
    grid: &Grid,
    area: &Area,
    copy: &mut Vec<T>,
) -> Result<(), NotCopied> {
    let sides = area.sides();
    let count = sides.iter().product();
    area.for_each_block(grid, &mut |index| {
        let block = load(blocks, grid, index).map_err(NotCopied::Storage)?;
        let from = block.as_slice();
        let value = match &block {
            Block::Fill(value) => Some(*value),
            _ => from.and_then(|from| from.first().copied()),
        };
        let Some(seed) = value else { return Ok(()) };
        if copy.len() < count {
            resize(copy, count, seed).map_err(NotCopied::Error)?;
        }
        for_each_line(area, grid, index, &mut |in_copy, in_block| {
            let to = copy.get_mut(in_copy.clone()).unwrap_or_default();
            match from {
                None => to.fill(seed),
                Some(from) => {
                    let from = from.get(in_block..in_block + to.len()).unwrap_or_default();
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        });
        Ok(())
    })
}

/// Calls `visit` with every line along the last axis that an area and a block share: where it lies in a copy of the
/// area, and where it begins in the block.
pub(in crate::expr) fn for_each_line(
    area: &Area,
    grid: &Grid,
    index: &[usize],
    visit: &mut dyn FnMut(std::ops::Range<usize>, usize),
) {
    let rank = index.len();
    let sides = area.sides();
    // The common box: where it begins in the area and in the block, and its extents.
    let mut begin: SmallVec<[[usize; 3]; 4]> = SmallVec::new();
    for (axis, digit) in index.iter().enumerate() {
        let block = grid.sides.range(axis, *digit);
        let low = area.low[axis].max(block.start);
        let end = (area.high[axis] + 1).min(block.end);
        let inside = low - block.start + grid.sides.skipped(axis, *digit);
        begin.push([low - area.low[axis], inside, end.saturating_sub(low)]);
    }
    let line = begin.last().map_or(1, |[.., extent]| *extent);
    let outer = rank.saturating_sub(1);
    let mut digits: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer);
    loop {
        let position = |which: usize, sides: &[usize]| {
            (0..rank).fold(0, |position, axis| {
                let digit = digits.get(axis).copied().unwrap_or(0);
                position * sides[axis] + begin[axis][which] + digit
            })
        };
        let start = position(0, &sides);
        visit(start..start + line, position(1, &grid.sides.block));
        if crate::grid::advance(&mut digits, |axis| begin[axis][2]).is_none() {
            return;
        }
    }
}
