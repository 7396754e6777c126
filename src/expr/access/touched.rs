//! The blocks of storage that a view has elements in.

use super::Access;
use crate::error::Result;
use crate::kernel::Grid;
use crate::map::{AddressMap, Layout};
use crate::memory::{list, push};
use crate::storage::{BlockIndex, Reader};
use crate::tensor::Tensor;

/// Most digits along one axis of storage that are made of several axes of a view.
const MOST_SUMS: usize = 1 << 20;

impl<S: Reader> Tensor<S> {
    /// The blocks that this view has elements in, in row-major order, if its storage comes in blocks
    /// ([`Reader::blocks`]): what reading all of it loads. Nothing is loaded.
    ///
    /// It takes time for the extents of the axes, and for all elements if the map has several stages.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let blocks = BlockMemory::new([100, 100], [10, 25], 0_u8)?;
    /// let t = Tensor::new([100, 100], Chunked::new(blocks)?)?;
    /// let part = t.view().transpose(&[1, 0])?.slice(0, 20..30)?.slice(1, 95..100)?;
    /// let touched = part.touched_blocks()?.unwrap();
    /// assert_eq!(touched.iter().map(|block| [block[0], block[1]]).collect::<Vec<_>>(), [[9, 0], [9, 1]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn touched_blocks(&self) -> Result<Option<Vec<BlockIndex>>> {
        let Some(grid) = Access::grid(self.storage()) else { return Ok(None) };
        if self.address_map().count() == 0 {
            return Ok(Some(Vec::new()));
        }
        let map = self.address_map();
        let sides = match map.rest() {
            [] => along_sides(map.top(), &grid)?,
            _ => None,
        };
        match sides {
            Some(sides) => product(&sides).map(Some),
            None => one_by_one(map, &grid).map(Some),
        }
    }
}

/// Numbers of blocks along each axis of storage, if every axis of a layout runs along one of them.
fn along_sides(layout: &Layout, grid: &Grid) -> Result<Option<Vec<Vec<usize>>>> {
    let weights = grid.weights();
    let mut first = layout.offset() as i128;
    // Digits beyond those of the lowest address.
    let mut digits: Vec<Vec<usize>> = list(weights.iter().map(|_| Vec::new()))?;
    for axis in layout.axes() {
        let at = |digit: usize| axis.stride as i128 * axis.position(digit) as i128;
        let (low, high) = (0..axis.extent)
            .map(at)
            .fold((i128::MAX, i128::MIN), |(low, high), at| (low.min(at), high.max(at)));
        first += low;
        if low == high {
            continue;
        }
        let fits = |side: &usize| {
            let weight = weights[*side] as i128;
            axis.stride as i128 % weight == 0
                && (high - low) / weight < grid.extents()[*side] as i128
        };
        let Some(side) = (0..weights.len()).find(fits) else { return Ok(None) };
        let own =
            (0..axis.extent).map(|digit| ((at(digit) - low) / weights[side] as i128) as usize);
        let mut sums = Vec::new();
        for before in if digits[side].is_empty() { &[0][..] } else { &digits[side] } {
            if sums.len() > MOST_SUMS {
                return Ok(None);
            }
            for digit in own.clone() {
                push(&mut sums, before + digit)?;
            }
        }
        sums.sort_unstable();
        sums.dedup();
        digits[side] = sums;
    }
    let mut rest = usize::try_from(first).unwrap_or_default();
    for (side, digits) in digits.iter_mut().enumerate() {
        let low = rest / weights[side];
        rest %= weights[side];
        if low + digits.last().unwrap_or(&0) >= grid.extents()[side] {
            return Ok(None);
        }
        if digits.is_empty() {
            push(digits, 0)?;
        }
        digits.iter_mut().for_each(|digit| *digit = (low + *digit) / grid.block()[side]);
        digits.dedup();
    }
    Ok(Some(digits))
}

/// All indexes of which each number is one of those of its axis.
fn product(sides: &[Vec<usize>]) -> Result<Vec<BlockIndex>> {
    let mut blocks = Vec::new();
    let mut index = BlockIndex::from_elem(0, sides.len());
    loop {
        push(&mut blocks, index.iter().zip(sides).map(|(k, side)| side[*k]).collect())?;
        let Some(axis) = (0..sides.len()).rev().find(|&axis| index[axis] + 1 < sides[axis].len())
        else {
            return Ok(blocks);
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The blocks of all addresses.
fn one_by_one(map: &AddressMap, grid: &Grid) -> Result<Vec<BlockIndex>> {
    let mut blocks: Vec<BlockIndex> = Vec::new();
    let mut sorted = 0;
    for position in 0..map.count() {
        let block = grid.block_of(map.address_at(position));
        if blocks.last() != Some(&block) {
            push(&mut blocks, block)?;
        }
        if blocks.len() > 2 * sorted + MOST_SUMS || position + 1 == map.count() {
            blocks.sort_unstable();
            blocks.dedup();
            sorted = blocks.len();
        }
    }
    Ok(blocks)
}
