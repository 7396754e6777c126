//! Views that take the indexes of an axis by a mask, or each of them several times.

use super::AddressMap;
use super::axis::TABLE_LIMIT;
use super::select::{Select, Taken};
use crate::error::{Error, Result};
use crate::memory::{try_reserve, try_with_capacity};
use crate::shape::Shape;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Where a mask is true, for [`Select::mask`] and [`AddressMap::compress`].
///
/// ```
/// use lensor::map::{IntoMask, Mask};
/// let mask: Mask = [true, false, true].into_mask()?;
/// assert_eq!((mask.len(), mask.indexes()), (3, &[0, 2][..]));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    len: usize,
    /// Ascending, and below `len`.
    indexes: Vec<usize>,
}

impl Mask {
    /// A mask of `bool`s that come in parts.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn append(&mut self, more: &[bool]) -> Result<()> {
        try_reserve(&mut self.indexes, more.iter().filter(|is_taken| **is_taken).count())?;
        let taken = more.iter().enumerate().filter(|(_, is_taken)| **is_taken);
        self.indexes.extend(taken.map(|(k, _)| self.len + k));
        self.len += more.len();
        Ok(())
    }

    /// The mask of no index, to be appended to.
    pub(crate) fn empty() -> Self {
        Self { len: 0, indexes: Vec::new() }
    }

    /// Number of elements, true or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it is true, ascending.
    pub fn indexes(&self) -> &[usize] {
        &self.indexes
    }

    /// The part of an axis that it takes.
    pub(super) fn taken(&self, axis: usize, extent: usize) -> Result<Taken<'_>> {
        if self.len != extent {
            let what = "elements of the mask";
            return Err(Error::ListLength { what, axis, extent, found: self.len });
        }
        Ok(Taken::List(Cow::Borrowed(&self.indexes)))
    }
}

/// What is a mask: a slice, an array or a `Vec` of `bool`, or an operand of `bool` and rank 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mask",
    note = "masks are slices, arrays and `Vec`s of `bool`, and tensors and expressions of `bool`: `t.greater(0)`"
)]
pub trait IntoMask {
    /// The mask.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if it cannot be kept, [`Error::ExpectedRank`] if its rank is not 1, and what
    /// evaluating it reports.
    fn into_mask(self) -> Result<Mask>;
}

impl IntoMask for &[bool] {
    fn into_mask(self) -> Result<Mask> {
        let mut mask = Mask::empty();
        mask.append(self)?;
        Ok(mask)
    }
}

macro_rules! into_mask {
    ($([$($generics:tt)*] $type:ty)*) => { $(
        impl<$($generics)*> IntoMask for $type {
            fn into_mask(self) -> Result<Mask> {
                self.as_slice().into_mask()
            }
        }
    )* };
}
into_mask!([] Vec<bool> [] &Vec<bool> [const N: usize] [bool; N] [const N: usize] &[bool; N]);

/// How often each index of an axis is repeated, for [`AddressMap::repeat`]: one number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl<'a> From<&'a Vec<usize>> for Counts<'a> {
    fn from(counts: &'a Vec<usize>) -> Self {
        Self::Each(Cow::Borrowed(counts))
    }
}

impl<'a> From<&'a [usize]> for Counts<'a> {
    fn from(counts: &'a [usize]) -> Self {
        Self::Each(Cow::Borrowed(counts))
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Counts<'a> {
    fn from(counts: &'a [usize; N]) -> Self {
        Self::Each(Cow::Borrowed(counts))
    }
}

impl AddressMap {
    /// Takes the indexes of one axis where `mask` is true, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::ListLength`] if the mask is not as long as it is,
    /// [`Error::OutOfMemory`] if a table of positions cannot be kept.
    pub fn compress(self, axis: usize, mask: &Mask) -> Result<Self> {
        self.check_axis(axis)?;
        mask.taken(axis, self.top.axes[axis].extent)?;
        self.listed(axis, &mask.indexes)
    }

    /// Repeats every index of one axis as often as `counts` says.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::ListLength`] if there is not one count for each
    /// index, [`Error::ShapeOverflow`] if the result has too many elements, [`Error::OutOfMemory`] if a table
    /// of positions cannot be kept.
    pub fn repeat(self, axis: usize, counts: &Counts<'_>) -> Result<Self> {
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
        Shape::from(&shape[..]).count()?;
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
        for index in 0..extent {
            let count = match counts {
                Counts::All(count) => *count,
                Counts::Each(counts) => counts[index],
            };
            list.extend(std::iter::repeat_n(index, count));
        }
        self.listed(axis, &list)
    }

    /// Takes indexes of one axis, all of which lie inside.
    fn listed(self, axis: usize, list: &[usize]) -> Result<Self> {
        let mut taken: SmallVec<[Taken<'_>; 4]> = smallvec![];
        for (k, before) in self.top.axes[..axis].iter().enumerate() {
            taken.push(Select::All.resolve(k, before.extent)?);
        }
        taken.push(Taken::List(Cow::Borrowed(list)));
        self.take_all(taken)
    }
}
