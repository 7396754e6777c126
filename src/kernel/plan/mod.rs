//! From extents and strides to loop nests. Pure: it sees numbers only.
//!
//! 1. Axes of extent 1 go away.
//! 2. An axis that some operand repeats becomes two loops, repeats and period; a rotated axis is cut
//!    where it wraps, or follows a table if it is short. Where several operands wrap, those that seldom do are
//!    cut. So every operand is affine, or given by a table, in every nest.
//! 3. Loops are ordered by the stride of the output and merged where all operands allow.
//! 4. Where the smallest stride of an operand is not innermost, that loop moves next to the innermost
//!    one and both are blocked, so that the operand can be packed through a small square.
//! 5. Inner loops of a few elements together are merged to columns, which uneven operands are gathered to.
//! 6. Rows that are short are batched to blocks of a useful size.

mod cuts;
mod footprint;
mod gather;
mod grid;
mod nest;
mod order;
mod parts;
mod pieces;
#[cfg(test)]
mod tests;

pub(crate) use cuts::{BOX, Cuts};
pub(crate) use footprint::{Footprint, Reach, Run};
pub(crate) use grid::{Area, Grid};
pub(super) use nest::nested;

use super::{PARALLEL, TILE};
use crate::error::Result;
use crate::memory::push;
use pieces::{LONGEST, Piece, check_memory};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

/// One number an operand; operand 0 is the output.
pub(crate) type PerOperand<T> = SmallVec<[T; 4]>;

/// How an operand moves along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern<'a> {
    Linear,
    Cyclic { period: usize, shift: usize, step: usize },
    Listed(&'a [usize]),
}

/// Stride and pattern of an operand along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AxisPattern<'a> {
    pub(crate) stride: isize,
    pub(crate) pattern: Pattern<'a>,
}

/// Addresses of one operand: a base and one pattern per axis.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'a> {
    pub(crate) base: isize,
    pub(crate) axes: SmallVec<[AxisPattern<'a>; 4]>,
    pub(crate) relocate: Option<&'a dyn Relocate>,
    pub(crate) supply: Supply<'a>,
}

impl<'a> Operand<'a> {
    /// The same operand, whose elements are obtained in another way.
    pub(crate) fn with_supply<'s>(&self, supply: Supply<'s>) -> Operand<'s>
    where
        'a: 's,
    {
        let relocate: Option<&'s dyn Relocate> = self.relocate;
        Operand { base: self.base, axes: self.axes.iter().copied().collect(), relocate, supply }
    }
}

/// How the elements of an operand are obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply<'a> {
    /// They lie in memory.
    Memory,
    /// Storage copies runs of them.
    Runs,
    /// Storage comes in blocks.
    Blocks(&'a Grid),
}

/// What is called with a run of addresses.
pub(crate) type VisitRun<'v> = &'v mut dyn FnMut(usize, isize, usize);

/// Maps addresses further, where the strides of an operand lead to positions in another layout.
pub(crate) trait Relocate: Sync + std::fmt::Debug {
    /// Replaces every position by the address it stands for.
    fn relocate(&self, positions: &mut [usize]);

    /// Calls `visit` with the addresses that so many neighbouring positions stand for, in their order, as runs: the first
    /// address, the distance of the next and how many. `false`, and nothing visited, if they are best replaced one by one.
    fn for_each_run(&self, start: usize, count: usize, visit: VisitRun<'_>) -> bool;

    /// The smallest box below that has all of these positions, if it is affine.
    fn cover(&self, positions: Range<usize>) -> Option<Cover>;
}

/// Neighbouring positions, as loops over the addresses that they stand for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cover {
    pub(crate) first: usize,
    /// Address of the first.
    pub(crate) base: isize,
    /// Extents and strides.
    pub(crate) sides: SmallVec<[(usize, isize); 4]>,
}

impl Cover {
    /// How many positions.
    pub(crate) fn count(&self) -> usize {
        self.sides.iter().fold(1, |all: usize, (extent, _)| all.saturating_mul(*extent))
    }
}

/// Steps of one operand along one loop: a stride, times the entries of a table if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) stride: isize,
    pub(crate) table: Option<TableRef>,
}

/// A part of one of the tables of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) index: usize,
    pub(crate) start: usize,
}

/// One loop of a nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) extent: usize,
    pub(crate) steps: PerOperand<Step>,
}

/// Loops, outermost first, in which every operand is affine or follows tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) loops: SmallVec<[Loop; 4]>,
    pub(crate) bases: PerOperand<isize>,
    /// Largest rows and columns of a tile, along the two innermost loops.
    pub(crate) block: [usize; 2],
    /// Whether some operand has its smallest stride along the rows.
    pub(crate) transposed: bool,
    /// Whether tiles follow one another along the rows rather than down the columns.
    pub(crate) row_by_row: bool,
}

/// The nests that together visit every element once.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) nests: Vec<Nest>,
    pub(crate) tables: Vec<Cow<'a, [usize]>>,
}

impl Plan<'_> {
    /// The nests, the largest first where any order will do: thin ones touch all of the memory that large ones are to
    /// fill in order.
    #[inline(never)]
    pub(crate) fn nests_to_run(&self, any_order: bool) -> SmallVec<[&Nest; 1]> {
        let mut nests: SmallVec<[&Nest; 1]> = self.nests.iter().collect();
        if any_order {
            nests.sort_unstable_by_key(|nest| Reverse(nest.count()));
        }
        nests
    }
}

/// Sides of the blocks, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocking {
    /// Most elements of a tile.
    pub(crate) elements: usize,
    /// Longest row, where rows need not be short enough for a cache.
    pub(crate) columns: usize,
    /// The same, where all operands are read and written as they lie.
    pub(crate) direct: usize,
}

impl Blocking {
    /// For tiles that go through scratch memory.
    pub(crate) const SCRATCH: Self = Self { elements: TILE, columns: TILE, direct: TILE };
    /// For tiles of which only operands that do not lie as they are needed go through scratch memory.
    pub(crate) const DIRECT: Self = Self { direct: 8 * TILE, ..Self::SCRATCH };
    /// For rows that are copied as they lie: many to a tile, as the first instructions after one wait for
    /// its stores.
    pub(crate) const ROWS: Self =
        Self { elements: PARALLEL, columns: usize::MAX, direct: usize::MAX };
}

/// Most cuts of one axis before a table of positions serves instead.
const MOST_CUTS: usize = 8;
/// Extent up to which a table serves in any case.
const SHORT: usize = 16;
/// Most nests of a plan, but for what is left over where loops are merged, and long axes that are cut beside tables.
const MOST_NESTS: usize = 64;
/// Most nests of any plan, and pieces of an axis, which take gigabytes.
const MOST_PIECES: usize = 1 << 22;
/// Nests that are soon made, and elements of boxes that are planned one by one where there are more.
pub(crate) const MANY_NESTS: usize = 1 << 16;
pub(crate) const PLANNED: usize = 1 << 24;

/// Plans loops over `extents` for `operands`, the output first.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if nests or a table of positions cannot be kept, or if there are
/// very many nests.
pub(crate) fn plan<'a>(
    extents: &[usize],
    operands: &[Operand<'a>],
    blocking: Blocking,
) -> Result<Plan<'a>> {
    plan_at_most(MOST_PIECES, extents, operands, blocking)
}

/// As [`plan`], of so many nests, and what is left over where loops are merged.
pub(crate) fn plan_at_most<'a>(
    most: usize,
    extents: &[usize],
    operands: &[Operand<'a>],
    blocking: Blocking,
) -> Result<Plan<'a>> {
    let mut plan = Plan { nests: Vec::new(), tables: Vec::new() };
    if extents.contains(&0) {
        return Ok(plan);
    }
    let axes: Vec<usize> = (0..extents.len()).filter(|&axis| extents[axis] > 1).collect();
    let mut pieces = Vec::with_capacity(axes.len());
    for &axis in &axes {
        let short = extents[axis] <= LONGEST;
        let whole =
            (short && keeps_whole(axis, &axes, operands)) || is_gathered(axis, extents, operands);
        let cuts = if whole { 0 } else { MOST_CUTS };
        pieces.push(plan.pieces(axis, extents[axis], operands, [cuts, most])?);
    }
    let mut cut: Vec<usize> = (0..axes.len()).filter(|&k| pieces[k].len() > 1).collect();
    let count = |pieces: &[Vec<Piece>]| {
        pieces.iter().fold(1, |all: usize, pieces| all.saturating_mul(pieces.len()))
    };
    while count(&pieces) > MOST_NESTS {
        let Some(at) = (0..cut.len()).max_by_key(|&at| pieces[cut[at]].len()) else { break };
        let k = cut.swap_remove(at);
        pieces[k] = plan.pieces(axes[k], extents[axes[k]], operands, [0, most])?;
    }
    check_memory(count(&pieces), operands.len(), most)?;
    let mut choice = vec![0; pieces.len()];
    loop {
        let chosen = choice.iter().zip(&pieces).map(|(&k, list)| &list[k]);
        let (nest, rest) = Nest::new(operands, chosen, &mut plan.tables, blocking);
        push(&mut plan.nests, nest)?;
        if let Some(rest) = rest {
            push(&mut plan.nests, rest)?;
        }
        if crate::grid::advance(&mut choice, |axis| pieces[axis].len()).is_none() {
            return Ok(plan);
        }
    }
}

/// Whether an axis is not to be cut where an operand wraps, as the parts would be shorter than tables are worth.
fn is_gathered(axis: usize, extents: &[usize], operands: &[Operand<'_>]) -> bool {
    let memory = operands.iter().all(|operand| operand.supply == Supply::Memory);
    let output = operands.first().is_none_or(|own| own.axes[axis].pattern == Pattern::Linear);
    extents[axis] <= SHORT && memory && output
}

/// Whether an axis is not to be cut where an operand wraps: elements on both sides are neighbours in storage, which is
/// read as it lies.
fn keeps_whole(axis: usize, axes: &[usize], operands: &[Operand<'_>]) -> bool {
    operands.iter().any(|operand| {
        let stride = |axis: usize| operand.axes[axis].stride.unsigned_abs();
        let farther = axes.iter().any(|&other| stride(other) > stride(axis));
        operand.supply != Supply::Memory && farther && operand.axes[axis].pattern != Pattern::Linear
    })
}
