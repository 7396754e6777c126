//! Axes of two operands that are summed over in pairs.

use crate::error::{Error, Result};
use crate::ops::reduce::IntoAxes;
use crate::shape::Shape;

/// Two shapes as matrices that can be multiplied.
pub(super) struct Pairing {
    /// The axes of each operand, in order: remaining ones outermost in the first, innermost in the second.
    pub(super) orders: [Vec<usize>; 2],
    /// Rows of the first, columns of the first and rows of the second, columns of the second.
    pub(super) extents: [usize; 3],
    /// Shape of the product.
    pub(super) shape: Shape,
}

impl Pairing {
    pub(super) fn new(left: &Shape, right: &Shape, pairs: &[(usize, usize)]) -> Result<Self> {
        let (paired_left, paired_right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let kept_left = others(left.rank(), &paired_left)?;
        let kept_right = others(right.rank(), &paired_right)?;
        pairs.iter().try_for_each(|&pair| check(left, right, pair))?;
        Shape::check_rank(kept_left.len() + kept_right.len())?;
        // Products of some of their extents then fit `usize`.
        left.count()?;
        right.count()?;
        let product =
            |shape: &Shape, axes: &[usize]| axes.iter().map(|&axis| shape[axis]).product();
        let extents =
            [product(left, &kept_left), product(left, &paired_left), product(right, &kept_right)];
        let kept = kept_left.iter().map(|&axis| left[axis]);
        let shape = kept.chain(kept_right.iter().map(|&axis| right[axis])).collect();
        let orders = [[kept_left, paired_left].concat(), [paired_right, kept_right].concat()];
        Ok(Self { orders, extents, shape })
    }
}

/// Refuses two axes of different extents.
pub(super) fn check(
    left: &Shape,
    right: &Shape,
    (left_axis, right_axis): (usize, usize),
) -> Result<()> {
    if left[left_axis] == right[right_axis] {
        return Ok(());
    }
    let (left, right) = (left.to_vec(), right.to_vec());
    Err(Error::Contraction { left, right, left_axis, right_axis })
}

/// The axes of a tensor of this rank that are not among `axes`.
fn others(rank: usize, axes: &[usize]) -> Result<Vec<usize>> {
    let is_one = axes.into_axes().mask(rank)?;
    Ok((0..rank).filter(|&axis| !is_one[axis]).collect())
}
