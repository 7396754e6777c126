//! Layers of blocks along rows, and how often blocks would be loaded for them.

use super::strided::is_across_below;
use super::{COPIED_BYTES, Rows};
use crate::error::Result;
use crate::expr::boxed::Boxed;
use crate::expr::{Access, Expr, Leaf};
use crate::kernel::{Grid, Local, Supply, threads};
use crate::map::{AddressMap, Pattern};
use crate::shape::Shape;
use smallvec::SmallVec;
use std::sync::Arc;

/// How rows lie in the blocks of storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Slab {
    /// Rows that a layer of blocks spans, the most of all leaves.
    pub(super) rows: usize,
    /// Rows after which layers begin anew.
    period: usize,
    /// Most columns of a block, those of others between its lines included.
    pub(super) columns: usize,
    /// Whether a thread holds no more blocks than a layer has: a layer is read as a whole then.
    pub(super) few: bool,
    /// Whether so few are held of a layer whose blocks do not follow one another along the rows.
    pub(super) torn: bool,
    /// Whether a thread holds fewer blocks than lie below one another in all layers: columns beside those that were read
    /// load them again.
    pub(super) deep: bool,
    /// Layers that are not all as thick: the axis of the grid, and the rows of one step along it.
    uneven: Option<(Arc<Grid>, usize, usize)>,
}

impl Slab {
    /// Of all blocks of an expression: layers of them where rows lie in the order of storage, otherwise as many rows as have
    /// the same blocks.
    pub(super) fn of<T: Copy + Send + Sync>(e: &Boxed<'_, T>, columns: usize) -> Option<Self> {
        let mut slab: Option<Self> = None;
        e.leaves(&mut |leaf| {
            let Access::Blocks(grid) = &leaf.access else { return };
            let (block, extents) = (&grid.sides.block, &grid.sides.extents);
            let Some(last) = block.len().checked_sub(1).filter(|last| *last > 0) else { return };
            let side = |axis: usize| block[axis].min(extents[axis]);
            if let Some([rows, period]) = out_of_order(&leaf) {
                let old = slab.take().unwrap_or_default();
                slab = Some(Self {
                    rows: old.rows.max(rows),
                    period: old.period.max(period),
                    columns: old.columns.max(grid.run(columns)),
                    few: true,
                    torn: true,
                    ..old
                });
                return;
            }
            let product = |all: usize, n: usize| all.saturating_mul(n);
            // Rows that are parts of a line are seen as one.
            let (width, parts) = (columns, rows_of_line(&leaf, extents[last]));
            let columns = match parts {
                1 => width,
                parts => width.saturating_mul(parts).min(extents[last]),
            };
            // The first of the axes that columns are made of.
            let (mut first, mut line) = (last, extents[last]);
            while first > 1 && line < columns {
                first -= 1;
                line = line.saturating_mul(extents[first]);
            }
            // Steps of the axis in front of them that a row has, if that is split.
            let steps =
                Some(columns.div_ceil(line.max(1))).filter(|steps| *steps < extents[first - 1]);
            let steps = steps.unwrap_or(1).max(1);
            let merged = first < last || steps > 1;
            // Each element of an axis along which blocks have one is a layer.
            let thick = (0..first).find(|axis| side(*axis) > 1).unwrap_or(first - 1);
            let inner = extents[thick + 1..first].iter().copied().fold(1, product);
            // Columns are gone through a part after the other, each of which may come back to the blocks of all layers.
            let outermost = if merged { 0 } else { thick + 1 };
            let across = (outermost..last).map(|axis| grid.sides.counts[axis]);
            let columns_across = match grid.sides.is_regular(last) {
                true => columns.div_ceil(block[last]).min(grid.sides.counts[last]),
                false => grid.sides.counts[last],
            };
            let few = grid.held_by_each() <= across.fold(columns_across, product);
            let below = (0..first).map(|axis| grid.sides.counts[axis]);
            let deep = grid.held_by_each() < below.fold(1, product);
            // Columns of several lines of a block are brought to memory line by line.
            let together = thick + 1 == last && columns <= extents[last];
            let outer = first - usize::from(steps > 1);
            let lines = (outer..last).find(|axis| side(*axis) > 1);
            let wide = lines.map_or(grid.run(columns), |axis| {
                let below = extents[axis + 1..].iter().copied();
                below.fold(side(axis), product).min(columns)
            });
            let wide = if parts > 1 { wide.min(width) } else { wide };
            let inner = inner.saturating_mul(parts);
            let old = slab.take().unwrap_or_default();
            let is_uneven = steps == 1 && !grid.sides.is_regular(thick);
            let uneven = is_uneven.then(|| (grid.clone(), thick, inner));
            slab = Some(Self {
                uneven: old.uneven.or(uneven),
                rows: old.rows.max((side(thick) / steps).saturating_mul(inner)).max(1),
                period: old.period.max((extents[thick] / steps).saturating_mul(inner)).max(1),
                columns: old.columns.max(wide).max(1),
                few: old.few || few,
                torn: old.torn || few && !together,
                deep: old.deep || deep,
            });
        });
        slab
    }

    /// The last row up to this one at which a layer ends.
    pub(super) fn end(&self, row: usize) -> usize {
        let within = row % self.period.max(1);
        match &self.uneven {
            Some((grid, axis, inner)) => {
                let layer = grid.sides.range_of(*axis, within / inner.max(&1));
                row - (within - layer.start * inner)
            }
            None => row - within % self.rows.max(1),
        }
    }
}

/// How many rows a line of storage of so many elements has at most, if strides tell.
fn rows_of_line(leaf: &Leaf<'_>, line: usize) -> usize {
    let outer = leaf.map.linear_axes().and_then(|axes| axes.split_last()).map(|(_, outer)| outer);
    let outer = outer.unwrap_or_default().iter().filter(|axis| axis.stride != 0);
    let each = outer.map(|axis| line.div_ceil(axis.stride.unsigned_abs()).min(axis.extent));
    each.fold(1, usize::saturating_mul).max(1)
}

/// Whether no block ends within a line of the axes of storage that these of `shape` are, if the last ones are.
pub(super) fn lies_in_lines<E: Expr>(e: &E, shape: &Shape, axes: &[usize]) -> bool {
    let moving = axes.iter().filter(|&&axis| shape[axis] > 1).count();
    let mut whole = true;
    e.leaves(&mut |leaf| {
        if let Access::Blocks(grid) = leaf.access {
            let sides = grid.sides.extents.iter().zip(&grid.sides.counts).rev();
            let mut inner = sides.filter(|(extent, _)| **extent > 1).take(moving.saturating_sub(1));
            whole &= inner.all(|(_, count)| *count <= 1);
        }
    });
    whole
}

impl<'e, T: Copy + Send + Sync + 'e> Rows<'e, T> {
    /// The rows of `e` with its axes in this order and the last `merged` of them as one, though blocks of storage may end
    /// within a line of them; `None` if that takes a stage.
    #[inline(never)]
    pub(crate) fn across_lines(
        e: &Boxed<'e, T>,
        order: &[usize],
        merged: usize,
    ) -> Result<Option<Self>> {
        Ok(Some(Self::merged(e, &e.shape()?, order, merged)?).filter(|flat| flat.stages == 0))
    }

    /// The rows of `e` with its axes in this order and the last `merged` of them as one.
    pub(super) fn merged(
        e: &Boxed<'e, T>,
        joint: &Shape,
        order: &[usize],
        merged: usize,
    ) -> Result<Self> {
        let mut extents: Vec<usize> = order.iter().map(|&axis| joint[axis]).collect();
        let last = extents.drain(extents.len() - merged..).product();
        extents.push(last);
        let view = &mut |map: AddressMap| map.transpose(order)?.reshape(extents.as_slice());
        Self::viewed(e, joint, view)
    }

    /// Whether storage along the rows lies in blocks, and a layer of them is not held.
    pub(crate) fn holds_few(&self) -> bool {
        self.windows.as_ref().and_then(|own| own.slab.as_ref()).is_some_and(|slab| slab.few)
    }

    /// Whether blocks lie in rows that are far apart, and too few are held to come back to.
    pub(crate) fn comes_back(&self) -> bool {
        self.windows.as_ref().and_then(|own| own.slab.as_ref()).is_some_and(|slab| slab.torn)
    }

    /// Whether the blocks of some columns are not held until the columns beside them.
    pub(crate) fn comes_back_for_columns(&self) -> bool {
        let slab = self.windows.as_ref().and_then(|own| own.slab.as_ref());
        slab.is_some_and(|slab| slab.torn || slab.deep)
    }

    /// Whether blocks are loaded again for other rows, as those are not in order of storage.
    pub(crate) fn reloads_blocks(&self) -> bool {
        let mut again = false;
        self.e.leaves(&mut |leaf| again |= out_of_order(&leaf).is_some());
        again
    }

    /// Whether rows come to the same blocks many times, as a list has them, and not all blocks are held, or to the same runs,
    /// as those of several threads do that are reshaped across them; and are few enough to be copied first.
    pub(crate) fn are_mixed(&self) -> bool {
        let bytes = self.shape.iter().fold(size_of::<T>(), |all, &n| all.saturating_mul(n));
        let mixed = || are_mixed(&self.e) || (threads() > 1 && is_across_below(&self.e));
        bytes <= COPIED_BYTES && mixed()
    }

    /// Whether rows come to the same blocks many times where storage lies across them, and not so that rows and columns of
    /// one block can be read together.
    pub(crate) fn reloads_across(&self) -> bool {
        self.is_across() && self.tile().is_none() && self.reloads_blocks()
    }
}

/// Whether rows are taken from blocks that are loaded one by one, not all of which are held, by a list that does not ascend
/// or cycles of several rounds.
pub(super) fn are_mixed<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> bool {
    let mut mixed = false;
    e.leaves(&mut |leaf| {
        let Access::Blocks(grid) = &leaf.access else { return };
        let top = leaf.map.top();
        let count = grid.sides.counts.iter().copied().fold(1, usize::saturating_mul);
        mixed |= count > grid.held_by_each()
            && grid.is_coarse()
            && leaf.map.rest().is_empty()
            && top.axes().take(top.rank().saturating_sub(1)).any(|axis| match axis.pattern {
                Pattern::Linear => false,
                Pattern::Cyclic { period, step, .. } => {
                    let step = step.min(period - step);
                    axis.extent.saturating_mul(step) > period.saturating_mul(2)
                }
                Pattern::Listed(table) => !table.positions().is_sorted(),
            });
    });
    mixed
}

/// Of a leaf in blocks that are loaded again for other rows, as those are not in order of storage: how many rows have the
/// same blocks, and after how many rows that begins anew.
fn out_of_order(leaf: &Leaf<'_>) -> Option<[usize; 2]> {
    let Access::Blocks(grid) = &leaf.access else { return None };
    if !leaf.map.rest().is_empty() || !grid.is_coarse() {
        return None;
    }
    // Cycles and lists come by about as many blocks as steps within them.
    let sides = leaf.map.top().axes().map(|axis| {
        let last = axis.last_position();
        (axis.extent.min(last.saturating_add(1)), axis.stride)
    });
    let sides: SmallVec<[(usize, isize); 4]> = sides.collect();
    let moving = sides.iter().filter(|(extent, stride)| *extent > 1 && *stride != 0);
    if moving.is_sorted_by(|(_, outer), (_, inner)| outer.unsigned_abs() > inner.unsigned_abs()) {
        return None;
    }
    let base = leaf.map.top().offset() as isize;
    let (number, steps) = Local::of_leaf(base, &sides, Supply::Blocks(grid)).comes_back(1)?;
    let inner = sides.get(number + 1..sides.len() - 1)?.iter().map(|(extent, _)| *extent);
    let inner = inner.fold(1, usize::saturating_mul);
    Some([steps, sides[number].0].map(|steps| steps.saturating_mul(inner)))
}
