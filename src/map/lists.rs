//! Lists of numbers: keys, offsets.

use crate::error::Result;
use crate::memory::list;

/// What is a list of numbers: a slice, an array or a `Vec` of `usize`, the offsets of a ragged tensor, or an operand of
/// `usize` and rank 1.
///
/// ```
/// use lensor::prelude::*;
/// let (t, keys) = (Tensor::from(vec![1, 2, 3]), Tensor::from(vec![1, 0, 1]));
/// assert_eq!(t.by_key(0, &keys, 2).sum().to_vec()?, t.by_key(0, [1, 0, 1], 2).sum().to_vec()?);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of numbers",
    note = "lists are slices, arrays and `Vec`s of `usize`, and tensors and expressions of `usize`: `t.cast::<usize>()`"
)]
pub trait IntoNumbers {
    /// The numbers.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if they cannot be kept,
    /// [`Error::ExpectedRank`](crate::Error::ExpectedRank) if their rank is not 1,
    /// [`Error::InvalidOffsets`](crate::Error::InvalidOffsets) for offsets below 0, and what evaluating them reports.
    fn into_numbers(self) -> Result<Vec<usize>>;
}

impl IntoNumbers for Vec<usize> {
    fn into_numbers(self) -> Result<Vec<usize>> {
        Ok(self)
    }
}

macro_rules! into_numbers {
    ($([$($generics:tt)*] $type:ty)*) => { $(
        impl<$($generics)*> IntoNumbers for $type {
            fn into_numbers(self) -> Result<Vec<usize>> {
                list(self.iter().copied())
            }
        }
    )* };
}
into_numbers!([] &[usize] [] &Vec<usize> [const N: usize] [usize; N] [const N: usize] &[usize; N]);
