//! How shapes align.

use super::{Index, Shape};
use crate::error::{Error, Result};

/// Which ends of two shapes of different rank meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Align {
    /// Last axes meet, as in NumPy: `[2, 3]` with `[3]`.
    #[default]
    Right,
    /// First axes meet: `[3, 5]` with `[3]`.
    Left,
}

impl Align {
    /// Extent of `shape` on `axis` of a joint shape of `rank` axes.
    #[inline]
    fn extent(self, shape: &Shape, axis: usize, rank: usize) -> usize {
        let missing = match self {
            Self::Right => rank - shape.rank(),
            Self::Left => 0,
        };
        axis.checked_sub(missing).and_then(|k| shape.0.get(k)).copied().unwrap_or(1)
    }
}

/// The first axis of a joint shape that a shape before does not have, or not of this extent.
pub(crate) fn first_difference<A: PartialEq>(joint: &[A], before: &[A]) -> Option<usize> {
    let missing = joint.len() - before.len();
    (0..joint.len()).find(|&axis| axis < missing || joint[axis] != before[axis - missing])
}

impl Shape {
    /// Joint shape of two operands under NumPy's rule, with `align` saying which ends meet.
    ///
    /// An extent of 1 stretches to the other's (also to 0), equal extents stay, missing axes count
    /// as extent 1.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`], naming `argument`, if two extents differ and neither is 1, and
    /// [`Error::RankLimit`] for more than [`Self::MAX_RANK`] axes.
    ///
    /// ```
    /// use lensor::{Align, Shape};
    /// let joint = Shape::from([3, 1]).join(&Shape::from([5]), Align::Right, 2)?;
    /// assert_eq!(joint, Shape::from([3, 5]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "broadcast_shapes")]
    #[inline]
    pub fn join(&self, other: &Self, align: Align, argument: usize) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        Self::check_rank(rank)?;
        if self == other || other.rank() == 0 {
            return Ok(self.clone());
        }
        if self.rank() == 0 {
            return Ok(other.clone());
        }
        let mut joint = Index::new();
        for axis in 0..rank {
            let (a, b) = (align.extent(self, axis, rank), align.extent(other, axis, rank));
            joint.push(match (a, b) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => {
                    return Err(Error::Operands {
                        argument,
                        shape: other.0.to_vec(),
                        so_far: self.0.to_vec(),
                        axis,
                        left: align == Align::Left,
                    });
                }
            });
        }
        Ok(Self(joint))
    }

    /// Refuses the shape of a mask, argument `argument`, that does not stretch to this one.
    pub(crate) fn check_mask(&self, mask: &Self, argument: usize) -> Result<()> {
        let joint = self.join(mask, Align::Right, argument)?;
        match first_difference(&joint, self) {
            None => Ok(()),
            Some(axis) => {
                let (shape, so_far) = (mask.to_vec(), self.to_vec());
                Err(Error::Operands { argument, axis, shape, so_far, left: false })
            }
        }
    }
}
