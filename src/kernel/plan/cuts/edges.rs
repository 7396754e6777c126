//! Where blocks end along a loop.

use crate::kernel::plan::footprint::table;
use crate::kernel::plan::{Area, Grid, Loop};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::Cell;

/// Where along a loop some operand comes to another block.
pub(super) struct Edges<'a> {
    extent: usize,
    operands: SmallVec<[Along<'a>; 4]>,
}

/// One operand in blocks along a loop.
struct Along<'a> {
    grid: &'a Grid,
    axis: usize,
    /// Digit along the axis of the grid where the loop begins, and steps.
    first: usize,
    step: isize,
    list: Option<&'a [usize]>,
    lowest: usize,
    large: bool,
    /// Whether blocks come in order, so that what is between two of them is needed nowhere.
    in_order: bool,
    /// Digits that are in one block, found last.
    found: Cell<(usize, usize)>,
}

/// The end of a block.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) at: usize,
    /// Whether it ends a part.
    pub(super) ends: bool,
}

impl<'a> Edges<'a> {
    pub(super) fn new(
        own: &Loop,
        l: usize,
        areas: &'a [Option<(&Grid, Area)>],
        tables: &'a [Cow<'_, [usize]>],
    ) -> Self {
        let mut operands = SmallVec::new();
        for (k, area) in areas.iter().enumerate() {
            let Some((grid, area)) = area else { continue };
            let Some(lane) = area.lanes[l] else { continue };
            let list = table(own, k, tables);
            operands.push(Along {
                grid,
                axis: lane.axis,
                first: area.low[lane.axis],
                step: lane.step,
                list,
                lowest: if lane.step < 0 { lane.reach.high } else { lane.reach.low },
                large: grid.is_coarse(),
                in_order: list.is_none_or(<[usize]>::is_sorted) && area.has_own_axes(),
                found: Cell::new((0, 0)),
            });
        }
        Self { extent: own.extent, operands }
    }

    /// The next edge beyond a digit of the loop.
    pub(super) fn after(&self, digit: usize) -> Edge {
        let mut next = Edge { at: self.extent, ends: true };
        for along in &self.operands {
            let at = along.after(digit, self.extent);
            if at < self.extent && at <= next.at {
                let ends = along.large || along.is_gap(at);
                next = Edge { at, ends: ends || (at == next.at && next.ends) };
            }
        }
        next
    }
}

impl Along<'_> {
    /// Digit of the grid at a digit of the loop.
    fn at(&self, digit: usize) -> usize {
        let position = self.list.map_or(digit, |list| list[digit]);
        self.first + self.step.unsigned_abs() * position.abs_diff(self.lowest)
    }

    /// Number of the block at a digit of the loop.
    fn number(&self, digit: usize) -> usize {
        self.grid.sides.block_at(self.axis, self.at(digit))
    }

    /// Whether there are blocks between those of a digit and of the one before.
    fn is_gap(&self, digit: usize) -> bool {
        let [before, here] = [digit - 1, digit].map(|digit| self.number(digit));
        self.in_order && before.abs_diff(here) > 1
    }

    fn after(&self, digit: usize, extent: usize) -> usize {
        match self.list {
            Some(_) => {
                let (from, end) = self.found.get();
                if (from..end).contains(&digit) {
                    return end;
                }
                let here = self.number(digit);
                let other = |&next: &usize| self.number(next) != here;
                let end = (digit + 1..extent).find(other).unwrap_or(extent);
                self.found.set((digit, end));
                end
            }
            None => {
                let (step, here) = (self.step.unsigned_abs(), self.at(digit));
                let block = self.grid.sides.range_of(self.axis, here);
                let left = match self.step < 0 {
                    // From the first digit of the block on, it is left.
                    true => (here - block.start) / step + 1,
                    false => (block.end - here).div_ceil(step),
                };
                digit.saturating_add(left).min(extent)
            }
        }
    }
}
