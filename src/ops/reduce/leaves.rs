//! How the lines of a fold along rows are cut into leaves, and whether they lie side by side.

use crate::error::Result;
use crate::expr::{Boxed, Rows, order_in_memory};
use crate::shape::Shape;
use smallvec::SmallVec;

/// Elements of a leaf.
pub(super) const LEAF: usize = 512;
/// Most leaves of neighbouring rows that are kept before they are joined in order.
pub(super) const KEPT: usize = 4096;
/// Fewest lines that are worth it to be folded side by side.
const FEW_BESIDE: usize = 16;

/// How reduced axes are cut into leaves: a leaf is a number of whole steps of one axis, with all axes within it, so that
/// it is a block of every operand.
pub(super) struct Leaves {
    /// The axis that is cut.
    pub(super) outer: usize,
    /// Elements of a line: what the leaves of one share lie in without a gap.
    pub(super) line: usize,
    pub(super) lines: usize,
    /// Elements of a leaf; the last of a line may have fewer.
    pub(super) leaf: usize,
    pub(super) per_line: usize,
}

impl Leaves {
    pub(super) fn new(gone: &[usize]) -> Self {
        let mut outer = gone.len().saturating_sub(1);
        let mut inner = 1;
        while outer > 0 && inner * gone[outer] < LEAF {
            inner *= gone[outer];
            outer -= 1;
        }
        let cut = gone.get(outer).copied().unwrap_or(1);
        let steps = (LEAF / inner).max(1);
        Self {
            outer,
            line: cut * inner,
            lines: gone[..outer].iter().product(),
            leaf: steps.min(cut) * inner,
            per_line: cut.div_ceil(steps),
        }
    }

    /// Leaves of a result.
    pub(super) fn count(&self) -> usize {
        self.per_line * self.lines
    }
}

/// The lines of a fold as columns, if they lie side by side in memory and each element of a line is a row.
#[inline(never)]
pub(super) fn beside<'e, T: Copy + Send + Sync>(
    e: &Boxed<'e, T>,
    shape: &Shape,
    reduced: &[bool],
) -> Result<Option<Rows<'e, T>>> {
    let axes = |wanted: bool| (0..shape.rank()).filter(move |&axis| reduced[axis] == wanted);
    let gone: SmallVec<[usize; 8]> = axes(true).map(|axis| shape[axis]).collect();
    let leaves = Leaves::new(&gone);
    let kept: SmallVec<[usize; 8]> = axes(false).chain(axes(true).take(leaves.outer)).collect();
    let nearest = order_in_memory(e, shape).and_then(|order| order.last().copied());
    let count: usize = kept.iter().map(|&axis| shape[axis]).product();
    let wanted = nearest.is_some_and(|axis| kept.contains(&axis) && shape[axis] >= FEW_BESIDE);
    if !wanted || leaves.per_line > KEPT / FEW_BESIDE {
        return Ok(None);
    }
    let order: SmallVec<[usize; 8]> =
        axes(true).skip(leaves.outer).chain(kept.iter().copied()).collect();
    let rows = Rows::ordered(e, &order, kept.len())?;
    let is_direct = rows.columns() == count && rows.open().direct;
    Ok(Some(rows).filter(|_| is_direct))
}
