//! Masks: which indexes of an axis are taken.

#[cfg(doc)]
use super::{AddressMap, Select};
use crate::error::{Error, Result};
use crate::memory::{resize, try_reserve};

/// Where a mask is true, for [`Select::mask`] and [`AddressMap::compress`].
///
/// ```
/// use lensor::map::{IntoMask, Mask};
/// let mask: Mask = [true, false, true].into_mask()?;
/// assert_eq!((mask.len(), mask.indexes()), (3, &[0, 2][..]));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mask {
    len: usize,
    /// Ascending, and below `len`.
    indexes: Vec<usize>,
}

impl Mask {
    /// A mask of `bool`s that come in parts.
    pub(crate) fn append(&mut self, more: &[bool]) -> Result<()> {
        let taken = more.iter().filter(|is_taken| **is_taken).count();
        let mut at = self.indexes.len();
        // One more, as what follows the last is written too: a branch on each would be unpredictable.
        try_reserve(&mut self.indexes, taken + 1)?;
        resize(&mut self.indexes, at + taken + 1, 0)?;
        for (k, &is_taken) in more.iter().enumerate() {
            self.indexes[at] = self.len + k;
            at += usize::from(is_taken);
        }
        self.indexes.truncate(at);
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

    /// The indexes that it takes of an axis.
    pub(super) fn indexes_of(&self, axis: usize, extent: usize) -> Result<&[usize]> {
        if self.len != extent {
            let what = "elements of the mask";
            return Err(Error::ListLength { what, axis, extent, found: self.len });
        }
        Ok(&self.indexes)
    }
}

/// What is a mask: a slice, an array or a `Vec` of `bool`, an operand of `bool` and rank 1, or a [`Mask`].
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
    /// [`Pieces::for_each_piece`](crate::Pieces::for_each_piece) of it reports.
    fn into_mask(self) -> Result<Mask>;
}

impl IntoMask for &[bool] {
    fn into_mask(self) -> Result<Mask> {
        let mut mask = Mask::empty();
        mask.append(self)?;
        Ok(mask)
    }
}

impl IntoMask for Mask {
    fn into_mask(self) -> Result<Mask> {
        Ok(self)
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
