//! Views that take the indexes of an axis by a mask, or each of them several times.

use super::AddressMap;
use super::axis::TABLE_LIMIT;
use super::mask::{IntoMask, Mask};
use super::select::Taken;
use crate::error::{Error, Result};
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use std::borrow::Cow;

/// How often each index of an axis is repeated, for [`AddressMap::repeat`]: one number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Counts<'a> {
    /// Every index so often.
    All(usize),
    /// Each index as often as the list says.
    Each(Cow<'a, [usize]>),
}

impl From<usize> for Counts<'_> {
    fn from(count: usize) -> Self {
        Self::All(count)
    }
}

impl From<Vec<usize>> for Counts<'_> {
    fn from(counts: Vec<usize>) -> Self {
        Self::Each(Cow::Owned(counts))
    }
}

impl<const N: usize> From<[usize; N]> for Counts<'_> {
    fn from(counts: [usize; N]) -> Self {
        Self::from(Vec::from(counts))
    }
}

macro_rules! borrowed {
    ($([$($generics:tt)*] $type:ty)*) => { $(
        impl<'a $($generics)*> From<&'a $type> for Counts<'a> {
            fn from(counts: &'a $type) -> Self {
                Self::Each(Cow::Borrowed(counts))
            }
        }
    )* };
}
borrowed! { [] Vec<usize> [] [usize] [, const N: usize] [usize; N] }

impl AddressMap {
    /// Takes the indexes of one axis where `mask` is true, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::ListLength`] if the mask is not as long as it is,
    /// [`Error::OutOfMemory`] if a table of positions cannot be kept, and those of [`IntoMask::into_mask`].
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?.compress(1, [true, false, true])?;
    /// assert_eq!(map.to_local([1, 1])?, 5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn compress(self, axis: usize, mask: impl IntoMask) -> Result<Self> {
        self.masked(axis, &mask.into_mask()?)
    }

    /// [`Self::compress`] by a mask that is borrowed.
    pub(crate) fn masked(self, axis: usize, mask: &Mask) -> Result<Self> {
        self.check_axis(axis)?;
        let list = mask.indexes_of(axis, self.top.axes[axis].extent)?;
        self.listed(axis, Cow::Borrowed(list))
    }

    /// Repeats every index of one axis as often as `counts` says.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::ListLength`] if there is not one count for each
    /// index, [`Error::ShapeOverflow`] if the result has too many elements, [`Error::OutOfMemory`] if a table
    /// of positions cannot be kept.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([3])?.repeat(0, [0, 2, 1])?;
    /// assert_eq!((map.to_local([1])?, map.to_local([2])?), (1, 2));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn repeat<'n>(self, axis: usize, counts: impl Into<Counts<'n>>) -> Result<Self> {
        self.repeated(axis, &counts.into())
    }

    /// [`Self::repeat`] by counts that are borrowed.
    pub(crate) fn repeated(self, axis: usize, counts: &Counts<'_>) -> Result<Self> {
        self.check_axis(axis)?;
        let extent = self.top.axes[axis].extent;
        let total = match counts {
            Counts::All(count) => extent.saturating_mul(*count),
            Counts::Each(counts) if counts.len() != extent => {
                let (what, found) = ("counts", counts.len());
                return Err(Error::ListLength { what, axis, extent, found });
            }
            Counts::Each(counts) => counts.iter().fold(0, |sum, &n| usize::saturating_add(sum, n)),
        };
        let mut shape = self.shape().to_vec();
        shape[axis] = total;
        if Shape::from(&shape[..]).count()? == 0 {
            return Self::row_major(shape);
        }
        if let Counts::All(count) = *counts
            && total > TABLE_LIMIT
            && shape.len() < Shape::MAX_RANK
        {
            // A stage takes no memory, a table one number an index.
            shape[axis] = extent;
            shape.insert(axis + 1, count);
            return self.insert_axis(axis + 1)?.broadcast(shape)?.merge_axes(axis..axis + 2);
        }
        let mut list = try_with_capacity(total)?;
        for index in 0..if total == 0 { 0 } else { extent } {
            let count = match counts {
                Counts::All(count) => *count,
                Counts::Each(counts) => counts[index],
            };
            list.extend(std::iter::repeat_n(index, count));
        }
        self.listed(axis, Cow::Owned(list))
    }

    /// Takes indexes of one axis, which ascend and all of which lie inside.
    fn listed(self, axis: usize, mut list: Cow<'_, [usize]>) -> Result<Self> {
        self.take_all(axis + 1, &mut |k, extent| {
            Ok(match k == axis {
                true => Taken::ascending(std::mem::take(&mut list)),
                false => Taken::Range { start: 0, step: 1, count: extent },
            })
        })
    }
}
