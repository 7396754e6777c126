//! The axes of a view as steps along axes of storage, and where they come to other blocks.

use crate::error::Result;
use crate::grid::{PerAxis, Sides, Starts, weights};
use crate::map::{AddressMap, Pattern};
use crate::memory::{list, push};
use crate::storage::MOST_STARTS;
use smallvec::SmallVec;
use std::ops::Range;

/// Most blocks along an axis for which it is found where they begin.
const MOST_BLOCKS: usize = 1 << 16;

/// Where blocks begin along each axis of a view.
pub(super) type Cuts = SmallVec<[Vec<usize>; 4]>;

/// An axis of a view that steps along one of storage.
#[derive(Debug, Clone)]
struct Lane {
    axis: usize,
    step: isize,
    pattern: Pattern,
}

impl Lane {
    /// How far an index lies from position 0, along the axis of storage.
    fn distance(&self, index: usize) -> isize {
        self.step.wrapping_mul(self.pattern.position(index) as isize)
    }
}

/// A view whose axes each step along an axis of storage of their own, or have one index.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    pub(super) extents: PerAxis,
    /// The index in storage of positions 0.
    pub(super) base: PerAxis,
    /// `None` of axes of one index.
    lanes: SmallVec<[Option<Lane>; 4]>,
}

impl Lanes {
    /// `None` of a map that is not such a view, or empty.
    pub(super) fn new(map: &AddressMap, whole: &Sides) -> Option<Self> {
        if !map.rest().is_empty() || map.count() == 0 {
            return None;
        }
        let top = map.top();
        let weights = weights(&whole.extents);
        let base = whole.digits(&weights, top.offset())?;
        let mut lanes = SmallVec::<[Option<Lane>; 4]>::new();
        for own in top.axes() {
            if own.extent == 1 {
                lanes.push(None);
                continue;
            }
            let (far, stride) = (own.last_position(), own.stride.unsigned_abs());
            let axis = whole.axis_of(&weights, stride, far).filter(|_| stride > 0)?;
            let step = (stride / weights[axis]) as isize * own.stride.signum();
            let lane = Lane { axis, step, pattern: own.pattern };
            let end = base[axis].checked_add_signed(step * far as isize)?;
            let taken = lanes.iter().flatten().any(|other| other.axis == axis);
            if taken || end >= whole.extents[axis] {
                return None;
            }
            lanes.push(Some(lane));
        }
        Some(Self { extents: map.shape().iter().copied().collect(), base, lanes })
    }

    /// For each axis of storage how many neighbours the view takes, if it takes neighbours in order.
    pub(super) fn neighbours(&self) -> Option<PerAxis> {
        let mut counts = PerAxis::from_elem(1, self.base.len());
        let mut next = 0;
        for (lane, &extent) in self.lanes.iter().zip(&self.extents) {
            let Some(Lane { axis, step, pattern }) = lane else { continue };
            if *axis < next || *step != 1 || *pattern != Pattern::Linear {
                return None;
            }
            counts[*axis] = extent;
            next = axis + 1;
        }
        Some(counts)
    }

    /// The index in storage of an index of the view.
    pub(super) fn index(&self, own: impl Fn(usize) -> usize) -> PerAxis {
        let mut index = self.base.clone();
        for (k, lane) in self.lanes.iter().enumerate() {
            if let Some(lane) = lane {
                index[lane.axis] = index[lane.axis].wrapping_add_signed(lane.distance(own(k)));
            }
        }
        index
    }

    /// How far indexes of an axis lie from position 0, in memory in which neighbours along axes of storage are so far apart.
    pub(super) fn offsets(
        &self,
        k: usize,
        range: Range<usize>,
        weights: &[usize],
    ) -> Result<Vec<usize>> {
        let lane = self.lanes[k].as_ref();
        let offset = |lane: &Lane, index| lane.distance(index) as usize;
        list(range.map(|index| {
            lane.map_or(0, |lane| offset(lane, index).wrapping_mul(weights[lane.axis]))
        }))
    }

    /// The same of neighbours, if they lie so.
    pub(super) fn line(
        &self,
        k: usize,
        range: &Range<usize>,
        weights: &[usize],
    ) -> Option<Range<usize>> {
        let lane = self.lanes[k].as_ref().filter(|lane| lane.step == 1)?;
        let (first, (rise, run)) =
            (lane.distance(range.start) as usize, lane.pattern.run(range.start));
        let neighbours = weights[lane.axis] == 1 && rise == 1 && run >= range.len();
        neighbours.then_some(first..first + range.len())
    }

    /// Where the view comes to another block along each axis, and no later than after as many indexes as a block is long.
    /// `None` if it comes back to blocks often, as by a list in no order.
    pub(super) fn cuts(&self, whole: &Sides) -> Option<Cuts> {
        let mut cuts = Cuts::new();
        for (lane, &extent) in self.lanes.iter().zip(&self.extents) {
            cuts.push(match lane {
                Some(lane) => self.cuts_along(lane, extent, whole)?,
                None => list(std::iter::once(0)).ok()?,
            });
        }
        Some(cuts)
    }

    fn cuts_along(&self, lane: &Lane, extent: usize, whole: &Sides) -> Option<Vec<usize>> {
        let (axis, side) = (lane.axis, whole.block[lane.axis]);
        if extent.div_ceil(side) > MOST_BLOCKS {
            return None;
        }
        let most = whole.counts[axis].saturating_add(extent.div_ceil(side)).saturating_mul(2);
        let (mut cuts, mut at, mut last) = (Vec::new(), 0, None);
        for _ in 0..=MOST_STARTS {
            if at >= extent {
                return Some(cuts);
            }
            let digit = self.base[axis].wrapping_add_signed(lane.distance(at));
            let block = whole.block_at(axis, digit);
            let begin =
                cuts.last().copied().filter(|begin| last == Some(block) && at - begin < side);
            if begin.is_none() {
                if cuts.len() >= most.min(MOST_BLOCKS) {
                    return None;
                }
                push(&mut cuts, at).ok()?;
                last = Some(block);
            }
            // Steps that stay in the block.
            let (rise, run) = lane.pattern.run(at);
            let (rise, within) = (lane.step.wrapping_mul(rise as isize), whole.range(axis, block));
            let left = if rise < 0 { digit - within.start } else { within.end - 1 - digit };
            let steps = left.checked_div(rise.unsigned_abs()).map_or(1, |steps| steps + 1);
            let longest = begin.unwrap_or(at) + side - at;
            at += steps.min(run).min(longest);
        }
        None
    }
}

/// The most that blocks which begin so have along an axis.
pub(super) fn longest(cuts: &[usize], extent: usize) -> usize {
    let ends = cuts.iter().skip(1).chain([&extent]);
    cuts.iter().zip(ends).map(|(start, end)| end - start).max().unwrap_or(0)
}

/// Blocks of these extents that begin so.
pub(super) fn sides_of(cuts: Cuts, extents: &[usize], block: &[usize]) -> Option<Sides> {
    let mut starts = SmallVec::new();
    for (cuts, (&extent, &block)) in cuts.into_iter().zip(extents.iter().zip(block)) {
        let regular = cuts.iter().enumerate().all(|(k, &cut)| cut == k * block)
            && cuts.len() == extent.div_ceil(block);
        starts.push(if regular { None } else { Some(Starts::new(cuts, extent).ok()?) });
    }
    Sides::new(extents, block, starts).ok()
}
