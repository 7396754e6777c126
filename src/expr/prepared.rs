//! An expression as planners see it: maps and storage of the output and all leaves at one shape.

use super::leaf::Stages;
use super::node::Tree;
use super::{Access, Boxes};
use crate::kernel::{self, AxisPattern, Operand, Pattern, PerOperand, Supply};
use crate::map::{self, AddressMap};
use crate::shape::{Align, Shape};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Maps of the output and all leaves at one shape.
pub(super) struct Prepared<'a> {
    pub(super) shape: Shape,
    pub(super) maps: SmallVec<[Cow<'a, AddressMap>; 4]>,
    /// How the elements of each are obtained.
    access: SmallVec<[Access; 4]>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(e: &'a dyn Tree, shape: &Shape, map: &'a AddressMap) -> Self {
        Self::with_output(e, shape, map, Access::Slice)
    }

    /// As [`Self::new`], with an output that may be storage.
    pub(super) fn with_output(
        e: &'a dyn Tree,
        shape: &Shape,
        map: &'a AddressMap,
        output: Access,
    ) -> Self {
        let (mut maps, mut access) = (SmallVec::new(), SmallVec::new());
        maps.push(Cow::Borrowed(map));
        access.push(output);
        e.leaves(&mut |leaf| {
            maps.push(Cow::Borrowed(leaf.map));
            access.push(leaf.access);
        });
        let mut prepared = Self { shape: shape.clone(), maps, access };
        while prepared.cancel_stage() {}
        prepared
    }

    /// Evaluates at the shape below a reshape instead, if the output and all leaves can follow.
    ///
    /// Row-major order is the same before and after a reshape, so a stage that only reshapes, or takes a run of what was
    /// reshaped that is a box of it, can be taken away from one map if the others are reshaped the other way, as long as that costs them no
    /// stage.
    fn cancel_stage(&mut self) -> bool {
        let Some(shape) = self.maps.iter().find_map(|map| {
            let below = map.rest().last()?;
            let follows = map.top().is_contiguous() && map.shape() == self.shape;
            follows.then(|| box_of_run(&below.shape(), map.top().offset(), map.count())).flatten()
        }) else {
            return false;
        };
        let mut fewer = false;
        let mut reshaped = SmallVec::new();
        for map in &self.maps {
            let stretched = map.as_ref().clone().stretched(&self.shape, Align::Right);
            let Ok(now) = stretched.and_then(|map| map.reshape(shape.clone())) else {
                return false;
            };
            if now.rest().len() > map.rest().len() {
                return false;
            }
            fewer |= now.rest().len() < map.rest().len();
            reshaped.push(Cow::Owned(now));
        }
        if fewer {
            self.maps = reshaped;
            self.shape = shape;
        }
        fewer
    }

    pub(super) fn stages(&self) -> SmallVec<[Stages<'_>; 4]> {
        self.maps.iter().map(|map| Stages(map.rest())).collect()
    }

    /// Boxes, in row-major order, to be planned one by one where all would be very many nests.
    pub(super) fn boxes(&self) -> Boxes {
        Boxes::new(self.shape.clone(), kernel::plan::PLANNED)
    }

    pub(super) fn operands<'s>(&'s self, stages: &'s [Stages<'s>]) -> PerOperand<Operand<'s>> {
        self.maps
            .iter()
            .zip(stages)
            .zip(&self.access)
            .map(|((map, stages), access)| operand(map, stages, access.supply(), &self.shape))
            .collect()
    }
}

/// The shape of the box that a run of elements is, in row-major order of a shape, if it is one.
fn box_of_run(shape: &Shape, start: usize, count: usize) -> Option<Shape> {
    let mut inner: usize = shape.iter().product();
    shape.iter().enumerate().find_map(|(axis, &extent)| {
        inner /= extent.max(1);
        let whole = inner > 0 && start.is_multiple_of(inner) && count.is_multiple_of(inner);
        let fits = whole && start / inner % extent + count / inner <= extent;
        fits.then(|| {
            std::iter::once(count / inner).chain(shape[axis + 1..].iter().copied()).collect()
        })
    })
}

/// The top stage of a map at a joint shape, as planners see it.
fn operand<'s>(
    map: &'s AddressMap,
    stages: &'s Stages<'s>,
    supply: Supply<'s>,
    shape: &Shape,
) -> Operand<'s> {
    let top = map.top();
    let missing = shape.rank() - top.rank();
    let axes = shape.iter().enumerate().map(|(axis, &extent)| {
        let Some(k) = axis.checked_sub(missing) else {
            return AxisPattern { stride: 0, pattern: Pattern::Linear };
        };
        let own = top.plain_axes()[k];
        let pattern = match top.pattern(k) {
            _ if own.extent != extent => {
                return AxisPattern { stride: 0, pattern: Pattern::Linear };
            }
            map::Pattern::Linear => Pattern::Linear,
            map::Pattern::Cyclic { period, shift, step } => {
                Pattern::Cyclic { period: *period, shift: *shift, step: *step }
            }
            map::Pattern::Listed(table) => Pattern::Listed(table.positions()),
        };
        AxisPattern { stride: own.stride, pattern }
    });
    let relocate = (!stages.0.is_empty()).then_some(stages as &dyn kernel::Relocate);
    Operand { base: top.offset() as isize, axes: axes.collect(), relocate, supply }
}
