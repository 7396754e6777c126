//! Leaves that are nothing but strides.

use crate::expr::boxed::Boxed;
use crate::expr::{Access, Expr, Leaf};
use crate::map::Layout;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::ops::Range;

/// Where a leaf lies: its offset and a stride for every axis of the joint shape.
#[derive(Clone)]
pub(super) struct Strided {
    pub(super) base: isize,
    pub(super) strides: SmallVec<[isize; 4]>,
}

impl Strided {
    /// Where the row of this index is at a column, and the step to the next row.
    pub(super) fn place(&self, index: &[usize], column: usize) -> (isize, isize) {
        let (outer, along) = self.strides.split_at(index.len());
        let along = along.first().copied().unwrap_or(0);
        let mut base = self.base.wrapping_add(along.wrapping_mul(column as isize));
        for (&digit, &stride) in index.iter().zip(outer) {
            base = base.wrapping_add(stride.wrapping_mul(digit as isize));
        }
        (base, outer.last().copied().unwrap_or(0))
    }

    /// Whether axes of these extents, from number `first` on, are one of even steps.
    fn is_dense(&self, extents: &[usize], first: usize) -> bool {
        let axes = extents.iter().zip(&self.strides[first..]).filter(|(extent, _)| **extent > 1);
        let mut inner: Option<isize> = None;
        axes.rev().all(|(&extent, &stride)| {
            let even = inner.is_none_or(|inner| inner == stride);
            inner = stride.checked_mul(extent as isize);
            even && inner.is_some()
        })
    }
}

/// Strides of every leaf.
pub(super) type Leaves = SmallVec<[Strided; 1]>;

/// All leaves, if strides are all there is to each.
pub(super) fn strided<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> Option<Leaves> {
    let mut leaves = Some(Leaves::new());
    e.leaves(&mut |leaf: Leaf<'_>| {
        let axes = leaf.map.linear_axes();
        match (axes, &mut leaves) {
            (Some(axes), Some(leaves)) => leaves.push(Strided {
                base: leaf.map.top().offset() as isize,
                strides: axes.iter().map(|axis| axis.stride).collect(),
            }),
            _ => leaves = None,
        }
    });
    leaves
}

/// Shape and leaves of an expression of this shape with its axes in an order and, as far as strides allow, the last
/// `merged` of them as one, and axes of rows as one, so that runs of rows are long: without a map for every leaf, if all
/// lie in memory and strides are all there is. `None` also if rows are better copied first.
pub(super) fn in_memory<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    joint: &Shape,
    order: &[usize],
    merged: usize,
) -> Option<(Shape, Leaves)> {
    let mut memory = true;
    e.leaves(&mut |leaf| memory &= leaf.access == Access::Slice);
    let mut leaves = strided(e).filter(|_| memory)?;
    let mut extents: SmallVec<[usize; 8]> = order.iter().map(|&axis| joint[axis]).collect();
    for leaf in &mut leaves {
        let missing = joint.rank().checked_sub(leaf.strides.len())?;
        let own = |axis: usize| axis.checked_sub(missing).map_or(0, |own| leaf.strides[own]);
        leaf.strides = order.iter().map(|&axis| own(axis)).collect();
    }
    if extents.is_empty() {
        extents.push(1);
        leaves.iter_mut().for_each(|leaf| leaf.strides.push(0));
    }
    let first = extents.len().checked_sub(merged)?;
    // As many of the last ones as can be.
    let rank = extents.len();
    let mut starts = (first..rank).take(merged.saturating_sub(1));
    starts.find(|&start| join(start..rank, &mut extents, &mut leaves));
    if is_transposed::<T>(&leaves, &extents) {
        return None;
    }
    join_rows(&mut extents, &mut leaves);
    (!are_short(&leaves, &extents)).then(|| (extents.iter().copied().collect(), leaves))
}

/// Joins axes of rows.
fn join_rows(extents: &mut SmallVec<[usize; 8]>, leaves: &mut Leaves) {
    for axis in (1..extents.len() - 1).rev() {
        join(axis - 1..axis + 1, extents, leaves);
    }
}

/// Whether runs of rows have so few elements that coming to them costs more than copying them.
pub(super) fn is_short(leaves: &[Strided], extents: &[usize]) -> bool {
    let (mut leaves, mut extents) = (leaves.iter().cloned().collect(), extents.into());
    join_rows(&mut extents, &mut leaves);
    are_short(&leaves, &extents)
}

/// [`is_short`] of axes that are joined.
fn are_short(leaves: &[Strided], extents: &[usize]) -> bool {
    /// Elements that are worth a tile, and a place where they lie.
    const TILED: usize = 64;
    const PLACED: usize = 16;
    /// Elements below which a plan for a window costs more than that.
    const FEW: usize = 4096;
    let [.., _, rows, columns] = *extents else { return false };
    let placed = matches!(leaves, [leaf] if leaf.strides.last() == Some(&1));
    let short = rows * columns < if placed { PLACED } else { TILED };
    short && extents.iter().product::<usize>() >= FEW
}

/// Makes some axes one, if they are one of even steps for all leaves; returns whether they are.
fn join(axes: Range<usize>, extents: &mut SmallVec<[usize; 8]>, leaves: &mut Leaves) -> bool {
    if !leaves.iter().all(|leaf| leaf.is_dense(&extents[axes.clone()], axes.start)) {
        return false;
    }
    let long = axes.clone().rev().find(|&axis| extents[axis] > 1);
    let gone = axes.start + 1..axes.end;
    let product = extents[axes].iter().product();
    extents.drain(gone.clone());
    extents[gone.start - 1] = product;
    for leaf in leaves {
        leaf.strides[gone.start - 1] = long.map_or(0, |axis| leaf.strides[axis]);
        leaf.strides.drain(gone.clone());
    }
    true
}

/// An order of axes, outermost first, in which all leaves lie in memory in rows, if their own is not one.
pub(crate) fn order_in_memory<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    shape: &Shape,
) -> Option<SmallVec<[usize; 8]>> {
    let mut memory = true;
    e.leaves(&mut |leaf| memory &= leaf.access == Access::Slice);
    let leaves = strided(e).filter(|leaves| memory && !leaves.is_empty())?;
    let step = |leaf: &Strided, axis: usize| {
        let own = (axis + leaf.strides.len()).checked_sub(shape.rank());
        own.map_or(0, |own| leaf.strides[own].unsigned_abs())
    };
    let is_in_rows = |order: &[usize]| {
        leaves.iter().all(|leaf| {
            let long = order.iter().filter(|&&axis| shape[axis] > 1);
            let steps = long.map(|&axis| step(leaf, axis)).filter(|step| *step != 0);
            steps.is_sorted_by(|outer, inner| outer >= inner)
        })
    };
    let mut order: SmallVec<[usize; 8]> = (0..shape.rank()).collect();
    if is_in_rows(&order) {
        return None;
    }
    order.sort_by_key(|&axis| Reverse(leaves.iter().map(|leaf| step(leaf, axis)).max()));
    Some(order).filter(|order| is_in_rows(order))
}

/// Elements that are evaluated at once of what [`is_transposed`].
pub(crate) const TRANSPOSED: usize = 1 << 18;

/// Whether neighbours in memory are neighbours neither in a row nor in adjacent rows. Then each element of a row lies on
/// a line of the caches of its own, which is gone when the rows are read that lie on it too.
pub(super) fn is_transposed<T>(leaves: &[Strided], extents: &[usize]) -> bool {
    let axes = |leaf: &Strided| -> SmallVec<[_; 8]> {
        leaf.strides.iter().copied().zip(extents.iter().copied()).collect()
    };
    extents.len() > 2 && leaves.iter().any(|leaf| are_transposed(&axes(leaf), size_of::<T>()))
}

/// [`is_transposed`] of an expression in the order of its own axes, or whether storage that is not memory lies across its
/// rows.
pub(crate) fn lies_transposed<E: Expr>(e: &E) -> bool {
    let mut transposed = lies_across(e);
    e.leaves(&mut |leaf| {
        if let (Access::Slice, Some(axes)) = (leaf.access, leaf.map.linear_axes()) {
            let axes: SmallVec<[_; 8]> =
                axes.iter().map(|axis| (axis.stride, axis.extent)).collect();
            transposed |= are_transposed(&axes, leaf.elem_bytes);
        }
    });
    transposed
}

/// Whether neighbours in storage that is not memory are in different rows of an expression.
pub(crate) fn lies_across<E: Expr>(e: &E) -> bool {
    let mut across = false;
    e.leaves(&mut |leaf| {
        let bottom = leaf.map.rest().last().unwrap_or(leaf.map.top());
        let read = matches!(leaf.access, Access::Read { .. } | Access::Blocks(_));
        across |= read && cuts_runs(&strides_of(bottom));
    });
    across
}

/// Of the strides and extents of a leaf, outermost first.
fn are_transposed(axes: &[(isize, usize)], elem_bytes: usize) -> bool {
    const LINE_BYTES: usize = 64;
    /// What a core holds however it is read.
    const HELD_BYTES: usize = 1 << 20;
    // Large elements have lines of their own in any order.
    let line = LINE_BYTES / elem_bytes.max(1);
    let moving = || axes.iter().filter(|(stride, extent)| *stride != 0 && *extent > 1);
    let strides: SmallVec<[usize; 8]> = moving().map(|(stride, _)| stride.unsigned_abs()).collect();
    let transposed = strides.split_last_chunk::<2>().is_some_and(|(outer, rows)| {
        outer.iter().any(|step| *step < line) && rows.iter().all(|step| *step >= line)
    });
    transposed
        && moving().fold(elem_bytes, |bytes, (_, extent)| bytes.saturating_mul(*extent))
            > HELD_BYTES
}

/// How rows lie in storage that is not memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowOrder {
    /// One after another.
    Along,
    /// Elements of different rows are neighbours.
    Across,
}

/// How rows lie in storage that is not memory and that rows are not read in the order of, if there is any.
pub(super) fn far<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> Option<RowOrder> {
    /// Rows from this length on are read one by one.
    const LONG: usize = 64;
    let mut found = None;
    e.leaves(&mut |leaf: Leaf<'_>| {
        if leaf.access == Access::Slice {
            return;
        }
        let (top, plain) = (leaf.map.top(), leaf.map.rest().is_empty());
        let strides = strides_of(top);
        let falls = strides.is_sorted_by(|outer, inner| outer > inner);
        // The last axis may not move: rows of one element then.
        let row = top.plain_axes().last().map_or(1, |axis| axis.extent);
        let long = row >= LONG || (row > 1 && strides.len() < 2);
        let still = strides.iter().all(|stride| *stride == 0);
        let blocks = matches!(leaf.access, Access::Blocks(_));
        if !blocks && plain && top.as_linear().is_some() && (still || (falls && long)) {
            return;
        }
        let across = plain && are_across(&strides);
        found = found.max(Some(if across { RowOrder::Across } else { RowOrder::Along }));
    });
    found
}

/// Distances along the axes of a layout that have more than one index.
fn strides_of(layout: &Layout) -> SmallVec<[usize; 4]> {
    let axes = layout.plain_axes().iter().filter(|axis| axis.extent > 1);
    axes.map(|axis| axis.stride.unsigned_abs()).collect()
}

/// Whether neighbours in storage are in different rows.
fn are_across(strides: &[usize]) -> bool {
    let nearest = strides.iter().filter(|stride| **stride != 0).min();
    nearest.is_some() && strides.last() != nearest
}

/// Whether each row takes of every run: not where it is one element, repeated.
fn cuts_runs(strides: &[usize]) -> bool {
    strides.last() != Some(&0) && are_across(strides)
}

/// Whether storage that is not memory lies across the rows of what is reshaped, so that each row takes of every run.
pub(super) fn is_across_below<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> bool {
    let mut across = false;
    e.leaves(&mut |leaf| {
        let read = matches!(leaf.access, Access::Read { .. } | Access::Blocks(_));
        let below = leaf.map.rest().last().filter(|_| read);
        across |= below.is_some_and(|below| cuts_runs(&strides_of(below)));
    });
    across
}
