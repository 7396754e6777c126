//! Storage in blocks, as numbers: where the elements of an operand lie among blocks.

use super::{BOX, Loop, Nest, Reach};
use crate::grid::{PerAxis, Sides, Starts, weights};
use crate::kernel::threads;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Fewest elements of blocks that evaluations go through one by one.
pub(super) const COARSE: usize = 1 << 12;

/// Boxes that are large are copied whole with at most as many elements for each that is wanted.
const SPARSEST: usize = 4;

/// The blocks that storage comes in, and how many of them it holds at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) sides: Sides,
    pub(crate) held: usize,
}

impl Grid {
    /// Distances of neighbours along each axis, in elements.
    pub(crate) fn weights(&self) -> PerAxis {
        weights(&self.sides.extents)
    }

    /// How many steps of a loop, which begins at an address of storage or ends there, stay in a line of it, if its steps
    /// are those of an axis, and it is several lines as a whole.
    pub(super) fn line(&self, lowest: isize, stride: isize, extent: usize) -> Option<usize> {
        let lowest = usize::try_from(lowest).ok().filter(|_| stride != 0)?;
        let stride = stride.unsigned_abs();
        let weights = self.weights();
        let axis = (1..weights.len()).find(|&axis| {
            stride.is_multiple_of(weights[axis])
                && stride / weights[axis] < self.sides.extents[axis]
        })?;
        let (step, whole) = (stride / weights[axis], self.sides.extents[axis]);
        let begins =
            step > 0 && whole.is_multiple_of(step) && lowest / weights[axis] % whole < step;
        let line = whole.checked_div(step)?;
        (begins && extent > line && extent.is_multiple_of(line)).then_some(line)
    }

    /// Whether a loop, which begins at an address of storage or ends there, stays along one axis.
    pub(super) fn is_along(&self, lowest: isize, stride: isize, extent: usize) -> bool {
        let Ok(lowest) = usize::try_from(lowest) else { return false };
        let stride = stride.unsigned_abs();
        let axes = self.weights().into_iter().zip(self.sides.extents.iter());
        axes.filter(|(weight, _)| stride.is_multiple_of(*weight)).any(|(weight, &whole)| {
            let far = (stride / weight).saturating_mul(extent - 1);
            far < whole && (lowest / weight % whole).saturating_add(far) < whole
        })
    }

    /// How many of so many columns of a row follow one another in a block.
    pub(crate) fn run(&self, columns: usize) -> usize {
        let mut run = 1_usize;
        for (&side, &extent) in self.sides.block.iter().zip(&self.sides.extents).rev() {
            run = run.saturating_mul(side.min(extent));
            if side < extent || run >= columns {
                break;
            }
        }
        run
    }

    /// Blocks held for each of the threads that share in an evaluation.
    pub(crate) fn held_by_each(&self) -> usize {
        self.held / threads().max(1)
    }

    /// Whether each block is worth a box of its own.
    pub(crate) fn is_coarse(&self) -> bool {
        let Sides { block, starts, .. } = &self.sides;
        let axes = starts.iter().zip(block);
        let longest = axes.map(|(starts, &side)| starts.as_ref().map_or(side, Starts::longest));
        longest.product::<usize>() >= COARSE
    }
}

/// A loop of a nest as steps along one axis of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) axis: usize,
    /// Steps along the axis for each unit of position.
    pub(crate) step: isize,
    /// Lowest and highest position.
    pub(crate) reach: Reach,
}

impl Lane {
    /// The extent along the axis of so many neighbours, on average, of all those of a loop.
    pub(crate) fn span(self, extent: usize, length: usize) -> usize {
        let far = self.step.unsigned_abs().saturating_mul(self.reach.high - self.reach.low);
        let each = far.div_ceil((extent - 1).max(1));
        each.saturating_mul(length - 1).min(far) + 1
    }
}

/// Where an operand lies in a nest: a box of the extents, and an axis for each loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) low: PerAxis,
    pub(crate) high: PerAxis,
    /// `None` where the operand stays.
    pub(crate) lanes: SmallVec<[Option<Lane>; 4]>,
}

impl Area {
    /// `None` if a loop runs along several axes, or out of the extents.
    pub(crate) fn new(
        grid: &Grid,
        nest: &Nest,
        operand: usize,
        tables: &[Cow<'_, [usize]>],
    ) -> Option<Self> {
        let weights = grid.weights();
        let mut address = nest.bases[operand] as i128;
        let mut lanes: SmallVec<[Option<Lane>; 4]> = SmallVec::new();
        for l in &nest.loops {
            let (step, reach) = (l.steps[operand], Reach::of(l, operand, tables));
            if step.stride == 0 || reach.is_still() {
                address += step.stride as i128 * reach.low as i128;
                lanes.push(None);
                continue;
            }
            let ends = [reach.low, reach.high].map(|end| step.stride as i128 * end as i128);
            address += ends[0].min(ends[1]);
            let stride = step.stride.unsigned_abs();
            let axis = grid.sides.axis_of(&weights, stride, reach.high - reach.low)?;
            let step = (stride / weights[axis]) as isize * step.stride.signum();
            lanes.push(Some(Lane { axis, step, reach }));
        }
        let low = grid.sides.digits(&weights, usize::try_from(address).ok()?)?;
        let mut high = low.clone();
        for lane in lanes.iter().flatten() {
            let Lane { axis, step, reach } = *lane;
            high[axis] += step.unsigned_abs() * (reach.high - reach.low);
            if high[axis] >= grid.sides.extents[axis] {
                return None;
            }
        }
        Some(Self { low, high, lanes })
    }

    /// The same for a box that is copied whole: `None` also if that is large, and has much that the nest has not.
    pub(crate) fn to_copy(
        grid: &Grid,
        nest: &Nest,
        operand: usize,
        tables: &[Cow<'_, [usize]>],
    ) -> Option<Self> {
        let area = Self::new(grid, nest, operand, tables)?;
        let all = area.sides().iter().fold(1, |all: usize, &side| all.saturating_mul(side));
        let moving = nest.loops.iter().filter(|l| l.steps[operand].stride != 0);
        let wanted = moving.fold(1, |all: usize, l| all.saturating_mul(l.extent));
        let much = BOX.max(wanted).saturating_mul(SPARSEST);
        (all <= much || area.only_block(grid).is_some()).then_some(area)
    }

    /// Whether no two loops run along one axis: then parts of loops that end where blocks do make boxes that share no
    /// block. Where two do, a part of the inner one comes to other blocks at each position of the outer one.
    pub(crate) fn has_own_axes(&self) -> bool {
        let mut lanes = self.lanes.iter().flatten().enumerate();
        lanes.all(|(k, lane)| self.lanes.iter().flatten().skip(k + 1).all(|l| l.axis != lane.axis))
    }

    /// First and last block along every axis.
    pub(crate) fn blocks(&self, grid: &Grid) -> [PerAxis; 2] {
        [&self.low, &self.high].map(|corner| {
            let digits = corner.iter().enumerate();
            digits.map(|(axis, &digit)| grid.sides.block_at(axis, digit)).collect()
        })
    }

    /// How many parts ends of blocks make of a nest at most.
    pub(crate) fn most_parts(&self, grid: &Grid, nest: &Nest) -> usize {
        let [first, last] = self.blocks(grid);
        let of_loop = |(lane, l): (&Option<Lane>, &Loop)| {
            lane.map_or(1, |lane| (last[lane.axis] - first[lane.axis] + 1).min(l.extent))
        };
        self.lanes.iter().zip(&nest.loops).map(of_loop).fold(1, usize::saturating_mul)
    }

    /// The outermost loop whose steps come back to blocks that a thread has not held until then, and how many of its steps
    /// have the same blocks.
    pub(crate) fn comes_back(&self, grid: &Grid, nest: &Nest) -> Option<(usize, usize)> {
        let (mut blocks, mut found) = (1_usize, None);
        for (number, (lane, l)) in self.lanes.iter().zip(&nest.loops).enumerate().rev() {
            let own = lane.map_or(1, |Lane { axis, step, reach }| {
                let far = step.unsigned_abs() * (reach.high - reach.low);
                let low = self.low[axis];
                let [first, last] = [low, low + far].map(|digit| grid.sides.block_at(axis, digit));
                (last - first + 1).min(l.extent)
            });
            if blocks > grid.held_by_each().max(1) && own < l.extent {
                found = Some((number, l.extent.div_ceil(own)));
            }
            blocks = blocks.saturating_mul(own);
        }
        found
    }

    /// Calls `visit` with the index of every block that it touches, in row-major order.
    #[inline(never)]
    pub(crate) fn for_each_block<E>(
        &self,
        grid: &Grid,
        visit: &mut dyn FnMut(&[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        let [first, last] = self.blocks(grid);
        let mut index = first.clone();
        loop {
            visit(&index)?;
            let Some(axis) = (0..index.len()).rev().find(|&axis| index[axis] < last[axis]) else {
                return Ok(());
            };
            index[axis] += 1;
            index[axis + 1..].copy_from_slice(&first[axis + 1..]);
        }
    }

    /// How many steps of the last two loops stay in one block, if blocks begin where the last loop does.
    pub(crate) fn tile(&self, grid: &Grid) -> Option<[usize; 2]> {
        let [.., Some(rows), Some(columns)] = self.lanes[..] else { return None };
        let side = |lane: Lane| grid.sides.block[lane.axis] / lane.step.unsigned_abs();
        let tile = [side(rows), side(columns)];
        let begins = columns.step > 0
            && self.low[columns.axis].is_multiple_of(grid.sides.block[columns.axis])
            && [rows, columns].iter().all(|lane| grid.sides.is_regular(lane.axis));
        (begins && !tile.contains(&0)).then_some(tile)
    }

    /// The only block, if it is one.
    pub(crate) fn only_block(&self, grid: &Grid) -> Option<PerAxis> {
        let [first, last] = self.blocks(grid);
        (first == last).then_some(first)
    }

    /// Strides of the loops, and where their sum begins, in row-major memory of these sides whose first element
    /// has the index `origin`.
    pub(crate) fn within(
        &self,
        origin: &[usize],
        sides: &[usize],
    ) -> (isize, SmallVec<[isize; 4]>) {
        let weights = weights(sides);
        // Blocks that are longer than what they cover have strides of which only sums stay within bounds.
        let mut base = 0_isize;
        for (axis, weight) in weights.iter().enumerate() {
            let away = self.low[axis].wrapping_sub(origin[axis]).wrapping_mul(*weight);
            base = base.wrapping_add(away as isize);
        }
        let strides = self.lanes.iter().map(|lane| match lane {
            None => 0,
            Some(lane) => {
                let stride = lane.step.wrapping_mul(weights[lane.axis] as isize);
                let end = if stride < 0 { lane.reach.high } else { lane.reach.low };
                base = base.wrapping_sub(stride.wrapping_mul(end as isize));
                stride
            }
        });
        let strides = strides.collect();
        (base, strides)
    }

    /// Sides of the box.
    pub(crate) fn sides(&self) -> PerAxis {
        self.low.iter().zip(&self.high).map(|(low, high)| high - low + 1).collect()
    }
}
