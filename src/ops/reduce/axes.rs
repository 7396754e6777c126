//! Which axes to reduce.

use crate::error::{Error, Result};
use std::ops::RangeFull;

/// Axes of a reduction: `..` for all, `1` for one, `[0, 2]` for several, `[]` for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axes {
    /// Every axis.
    All,
    /// These.
    Listed(Vec<usize>),
}

impl Axes {
    /// Whether each axis of a tensor of this rank is among them.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] for an axis that does not exist, [`Error::RepeatedAxis`] for one given twice.
    pub(crate) fn mask(&self, rank: usize) -> Result<Vec<bool>> {
        let Self::Listed(axes) = self else {
            return Ok(vec![true; rank]);
        };
        let mut mask = vec![false; rank];
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
        Self::Listed(vec![axis])
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
