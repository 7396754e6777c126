//! The blocks of storage that a view has elements in.

use super::Access;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::Grid;
use crate::map::{AddressMap, AxisMap, Layout, Pattern};
use crate::memory::{append, list, push, try_with_capacity};
use crate::shape::Index;
use crate::storage::{BlockIndex, Reader};
use crate::tensor::Tensor;
use std::ops::Range;

/// Most digits along one axis of storage that several axes of a view are followed to.
const MOST_SUMS: usize = 1 << 20;

impl<S: Reader> Tensor<S> {
    /// The blocks that this view has elements in, in row-major order, if its storage comes in blocks
    /// ([`Reader::blocks`]): what reading all of it loads. Nothing is loaded.
    ///
    /// It takes time for the blocks, for the lists that select, and for steps over blocks that are not all as long; for
    /// all elements, but for those that axes repeat, if the map has several stages or an axis of it crosses those of the
    /// storage.
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
    /// let part = t.view().transpose([1, 0])?.slice(0, 20..30)?.slice(1, 95..100)?;
    /// let touched = part.touched_blocks()?.unwrap();
    /// assert_eq!(touched.iter().map(|block| [block[0], block[1]]).collect::<Vec<_>>(), [[9, 0], [9, 1]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn touched_blocks(&self) -> Result<Option<Vec<BlockIndex>>> {
        let map = self.address_map();
        if map.count() == 0 {
            return Ok(self.storage().blocks().map(|_| Vec::new()));
        }
        let Some(grid) = Access::grid(self.storage()) else { return Ok(None) };
        let sides = match map.rest() {
            [] => along_sides(map.top(), &grid)?,
            _ => None,
        };
        match sides {
            Some(sides) => product(&sides).map(Some),
            None => one_by_one(&without_repeats(map)?, &grid).map(Some),
        }
    }
}

/// An axis of storage: the lowest digit of a view, and its axes that run along this one.
struct Side {
    low: usize,
    runs: Vec<Run>,
}

/// The axes of storage, if every axis of a layout runs along one of them.
fn sides_of(layout: &Layout, grid: &Grid) -> Result<Option<Vec<Side>>> {
    let (weights, extents) = (grid.weights(), &grid.sides.extents);
    let mut lowest = layout.offset() as i128;
    let mut sides = list(weights.iter().map(|_| Side { low: 0, runs: Vec::new() }))?;
    for (number, axis) in layout.axes().enumerate().filter(|(_, axis)| axis.stride != 0) {
        let reach = axis.stride as i128 * axis.last_position() as i128;
        lowest += reach.min(0);
        let (stride, far) = (axis.stride.unsigned_abs(), axis.last_position());
        let Some(side) = grid.sides.axis_of(&weights, stride, far) else { return Ok(None) };
        push(&mut sides[side].runs, Run { number, step: stride / weights[side], axis })?;
    }
    let lowest = usize::try_from(lowest).unwrap_or_default();
    let Some(digits) = grid.sides.digits(&weights, lowest) else { return Ok(None) };
    for ((side, low), extent) in sides.iter_mut().zip(digits).zip(extents) {
        side.low = low;
        let high = side.runs.iter().fold(side.low, |high, run| high.saturating_add(run.reach()));
        if high >= *extent {
            return Ok(None);
        }
    }
    Ok(Some(sides))
}

/// The first index of a view whose element lies in the block of an address, if its axes run along those of storage.
pub(crate) fn first_in_block(grid: &Grid, map: &AddressMap, address: usize) -> Option<Index> {
    if !map.rest().is_empty() || address >= grid.sides.len {
        return None;
    }
    let block = grid.sides.find(address).0;
    let mut index = Index::from_elem(0, map.rank());
    let mut tries = MOST_SUMS;
    for (side, Side { low, runs }) in sides_of(map.top(), grid).ok()??.iter().enumerate() {
        let range = grid.sides.range(side, block[side]);
        if !runs.is_empty() && !first_sum(runs, *low, &range, &mut index, &mut tries) {
            return None;
        }
    }
    Some(index)
}

/// Finds the first places along axes whose digits of storage together lie in a range, with so many tries.
fn first_sum(
    runs: &[Run],
    low: usize,
    range: &Range<usize>,
    index: &mut Index,
    tries: &mut usize,
) -> bool {
    let [run, rest @ ..] = runs else { return range.contains(&low) };
    let reach = rest.iter().map(Run::reach).fold(0, usize::saturating_add);
    let near = range.start.saturating_sub(reach)..range.end;
    let Some(first) = run.first_in(low, near.clone()) else { return false };
    for place in first..run.distinct() {
        let digit = low + run.digit(place);
        *tries = tries.saturating_sub(1);
        let is_behind = matches!(run.axis.pattern, Pattern::Linear) && !near.contains(&digit);
        if *tries == 0 || is_behind {
            return false;
        }
        index[run.number] = place;
        if near.contains(&digit) && first_sum(rest, digit, range, index, tries) {
            return true;
        }
    }
    false
}

/// Numbers of blocks along each axis of storage, if every axis of a layout runs along one of them.
fn along_sides(layout: &Layout, grid: &Grid) -> Result<Option<Vec<Vec<usize>>>> {
    let Some(sides) = sides_of(layout, grid)? else { return Ok(None) };
    let mut found = try_with_capacity(sides.len())?;
    for (side, Side { low, runs }) in sides.iter().enumerate() {
        let Some(blocks) = blocks_of(runs, *low, grid, side)? else { return Ok(None) };
        found.push(blocks);
    }
    Ok(Some(found))
}

/// Where parts of each axis of a view of storage in blocks begin such that no two boxes of such parts have elements of one
/// block. `None` of other storage, and where an axis crosses those of the blocks.
pub(crate) fn block_starts<S: Reader>(view: &Tensor<S>) -> Result<Option<Vec<Vec<usize>>>> {
    match Access::grid(view.storage()) {
        Some(grid) => starts_in(&grid, view.address_map()),
        None => Ok(None),
    }
}

/// The same of the first operand in blocks that has the shape of an expression.
pub(crate) fn starts_of_operand<E: Expr>(e: &E) -> Result<Option<Vec<Vec<usize>>>> {
    let (shape, mut found) = (e.shape()?, Ok(None));
    e.leaves(&mut |leaf| {
        if let (Access::Blocks(grid), Ok(None)) = (&leaf.access, &found)
            && leaf.map.shape() == shape
        {
            found = starts_in(grid, leaf.map);
        }
    });
    found
}

fn starts_in(grid: &Grid, map: &AddressMap) -> Result<Option<Vec<Vec<usize>>>> {
    let many = grid.sides.counts.iter().any(|&count| count > MOST_SUMS);
    if many || !map.rest().is_empty() || map.count() == 0 || grid.sides.len == 0 {
        return Ok(None);
    }
    let Some(sides) = sides_of(map.top(), grid)? else { return Ok(None) };
    let mut starts = list((0..map.rank()).map(|_| Vec::new()))?;
    for (side, Side { low, runs }) in sides.iter().enumerate() {
        for run in runs {
            // How far other axes reach from each digit of this one.
            let all = runs.iter().map(Run::reach).fold(0, usize::saturating_add);
            starts[run.number] = run.starts(*low, all - run.reach(), grid, side)?;
        }
    }
    for starts in starts.iter_mut().filter(|starts| starts.is_empty()) {
        push(starts, 0)?;
    }
    Ok(Some(starts))
}

/// An axis of a view along one of storage.
struct Run {
    number: usize,
    /// Digits of storage from one position to the next.
    step: usize,
    axis: AxisMap,
}

impl Run {
    /// Digits of storage from the lowest to the highest.
    fn reach(&self) -> usize {
        self.step.saturating_mul(self.axis.last_position())
    }

    /// How many digits have positions of their own.
    fn distinct(&self) -> usize {
        match self.axis.pattern {
            Pattern::Cyclic { period, .. } => self.axis.extent.min(period),
            _ => self.axis.extent,
        }
    }

    /// Whether all positions from the lowest to the highest occur.
    fn is_full(&self) -> bool {
        !matches!(self.axis.pattern, Pattern::Listed(_))
            && self.distinct() == self.axis.last_position() + 1
    }

    /// Where along the axis all that follows is in other blocks, if other axes reach so far from each of its digits.
    fn starts(&self, low: usize, others: usize, grid: &Grid, side: usize) -> Result<Vec<usize>> {
        let (step, extent) = (self.step, self.axis.extent);
        let mut starts = list(std::iter::once(0))?;
        if !matches!(self.axis.pattern, Pattern::Linear) {
            return Ok(starts);
        }
        let mut at = 0;
        loop {
            let block = grid.sides.range_of(side, low + step * at);
            at = (block.end - low).div_ceil(step);
            if at >= extent {
                break;
            }
            let [before, here] = [(at - 1) * step + others, at * step]
                .map(|digit| grid.sides.block_at(side, low + digit));
            if before < here {
                push(&mut starts, at)?;
            }
        }
        if self.axis.stride < 0 {
            starts[1..].iter_mut().for_each(|start| *start = extent - *start);
            starts[1..].reverse();
        }
        Ok(starts)
    }

    /// The first place along the axis whose digit of storage lies in a range.
    fn first_in(&self, low: usize, range: Range<usize>) -> Option<usize> {
        let at = match (&self.axis.pattern, self.axis.stride > 0) {
            (Pattern::Linear, true) => range.start.saturating_sub(low).div_ceil(self.step),
            (Pattern::Linear, false) => {
                let highest = range.end.checked_sub(low + 1)?;
                self.reach().saturating_sub(highest).div_ceil(self.step)
            }
            _ => return self.digits().position(|digit| range.contains(&(low + digit))),
        };
        (at < self.axis.extent && range.contains(&(low + self.digit(at)))).then_some(at)
    }

    /// The digit of storage of a place along the axis, beyond the lowest.
    fn digit(&self, place: usize) -> usize {
        let digit = self.step * self.axis.position(place);
        if self.axis.stride > 0 { digit } else { self.reach() - digit }
    }

    /// Digits of storage beyond the lowest.
    fn digits(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.distinct()).map(|place| self.digit(place))
    }
}

/// The blocks that axes of a view reach along one axis of storage, from its lowest digit on.
fn blocks_of(runs: &[Run], low: usize, grid: &Grid, side: usize) -> Result<Option<Vec<usize>>> {
    let number = |digit: usize| grid.sides.block_at(side, digit);
    let mut blocks = Vec::new();
    match runs {
        [run]
            if run.is_full()
                && (run.step == 1
                    || grid.sides.is_regular(side) && run.step <= grid.sides.block[side]) =>
        {
            return list(number(low)..number(low + run.reach()) + 1).map(Some);
        }
        [run] => {
            for digit in run.digits() {
                let own = number(low + digit);
                if blocks.last() != Some(&own) {
                    push(&mut blocks, own)?;
                }
            }
        }
        _ => {
            let counts = runs.iter().map(Run::distinct);
            if counts.fold(1, usize::saturating_mul) > MOST_SUMS {
                return Ok(None);
            }
            push(&mut blocks, low)?;
            for run in runs {
                let before = std::mem::take(&mut blocks);
                for digit in run.digits() {
                    append(&mut blocks, &before)?;
                    let added = blocks.len() - before.len();
                    blocks[added..].iter_mut().for_each(|sum| *sum += digit);
                }
            }
            blocks.iter_mut().for_each(|digit| *digit = number(*digit));
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    Ok(Some(blocks))
}

/// All indexes of which each number is one of those of its axis.
fn product(sides: &[Vec<usize>]) -> Result<Vec<BlockIndex>> {
    let mut blocks = Vec::new();
    let mut index = BlockIndex::from_elem(0, sides.len());
    loop {
        push(&mut blocks, index.iter().zip(sides).map(|(k, side)| side[*k]).collect())?;
        if crate::grid::advance(&mut index, |axis| sides[axis].len()).is_none() {
            return Ok(blocks);
        }
    }
}

/// A map without axes along which nothing changes, and one period of those that repeat.
fn without_repeats(map: &AddressMap) -> Result<AddressMap> {
    let mut distinct = map.clone();
    for (number, axis) in map.top().axes().enumerate() {
        let extent = if axis.stride == 0 { 1 } else { Run { number, step: 1, axis }.distinct() };
        distinct = distinct.slice(number, 0..extent)?;
    }
    Ok(distinct)
}

/// The blocks of all addresses.
fn one_by_one(map: &AddressMap, grid: &Grid) -> Result<Vec<BlockIndex>> {
    let mut blocks: Vec<BlockIndex> = Vec::new();
    let mut sorted = 0;
    for position in 0..map.count() {
        let block = grid.sides.find(map.address_at(position)).0;
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
