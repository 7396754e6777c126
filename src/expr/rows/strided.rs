//! Leaves that are nothing but strides.

use crate::expr::boxed::Boxed;
use crate::expr::{Expr, Leaf};
use smallvec::SmallVec;

/// Where a leaf lies: its offset and a stride for every axis of the joint shape.
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
}

/// All leaves, if strides are all there is to each.
pub(super) fn strided<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> Option<Vec<Strided>> {
    let mut leaves = Some(Vec::new());
    e.leaves(&mut |leaf: Leaf<'_>| {
        let axes = leaf.map.top().as_linear().filter(|_| leaf.map.rest().is_empty());
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
