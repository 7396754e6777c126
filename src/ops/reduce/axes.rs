//! Which axes to reduce.

use crate::error::{Error, Result};
use smallvec::SmallVec;
use std::ops::RangeFull;

/// Whether each axis is meant.
pub(crate) type Mask = SmallVec<[bool; 8]>;

/// Axes of a reduction: `..` for all, `1` for one, `[0, 2]` for several, `[]` for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axes {
    /// Every axis.
    All,
    /// This one.
    One(usize),
    /// These.
    Listed(Vec<usize>),
}

impl Axes {
    /// Whether each axis of a tensor of this rank is among them.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] for an axis that does not exist, [`Error::RepeatedAxis`] for one given twice.
    pub(crate) fn mask(&self, rank: usize) -> Result<Mask> {
        let axes = match self {
            Self::All => return Ok(Mask::from_elem(true, rank)),
            Self::One(axis) => std::slice::from_ref(axis),
            Self::Listed(axes) => axes,
        };
        let mut mask = Mask::from_elem(false, rank);
        for &axis in axes {
            match mask.get_mut(axis) {
                None => return Err(Error::Axis { axis, rank }),
                Some(true) => return Err(Error::RepeatedAxis { axis }),
                Some(slot) => *slot = true,
            }
        }
        Ok(mask)
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<usize> for Axes {
    fn from(axis: usize) -> Self {
        Self::One(axis)
    }
}

impl From<&[usize]> for Axes {
    fn from(axes: &[usize]) -> Self {
        Self::Listed(axes.to_vec())
    }
}

impl From<Vec<usize>> for Axes {
    fn from(axes: Vec<usize>) -> Self {
        Self::Listed(axes)
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    fn from(axes: [usize; N]) -> Self {
        Self::Listed(axes.to_vec())
    }
}
