//! Sets of positions (feature `roaring`): as masks, as patterns of sparse tensors, and back.
//!
//! A set also selects along an axis, see [`Select::Set`](crate::Select::Set).
//!
//! ```
//! use lensor::interop::roaring::{mask, pattern, stored_positions};
//! use lensor::prelude::*;
//! use roaring::RoaringTreemap;
//! let set: RoaringTreemap = [1, 5].into_iter().collect();
//!
//! let t = Tensor::from_nested([[1_i64, 2, 3], [4, 5, 6]])?;
//! assert_eq!(t.sum(..).filter(mask([2, 3], &set)?).eval()?.item()?, 2 + 6);
//!
//! let weights = pattern([2, 3], &set, 0.0, 0.5)?;
//! assert_eq!(weights.to_vec()?, [0.0, 0.5, 0.0, 0.0, 0.0, 0.5]);
//! let turned = weights.transpose([1, 0])?; // [[0, 0], [0.5, 0], [0, 0.5]]
//! assert_eq!(stored_positions(&turned)?.unwrap().iter().collect::<Vec<_>>(), [2, 5]);
//! # Ok::<(), Error>(())
//! ```

use crate::error::Result;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::{Reader, Sparse};
use crate::tensor::Tensor;
use ::roaring::RoaringTreemap;

/// A sparse mask of this shape: true at the row-major positions that are in the set.
///
/// # Errors
///
/// As [`pattern`].
///
/// ```
/// use lensor::interop::roaring::mask;
/// let set = [1].into_iter().collect();
/// assert_eq!(mask([3], &set)?.to_vec()?, [false, true, false]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn mask(shape: impl Into<Shape>, set: &RoaringTreemap) -> Result<Tensor<Sparse<bool>>> {
    pattern(shape, set, false, true)
}

/// A sparse tensor of this shape: `value` is stored at the row-major positions that are in the set, and
/// `fill` stands for all others.
///
/// # Errors
///
/// [`InvalidSparse`](crate::Error::InvalidSparse) for a position beyond the shape,
/// [`ShapeOverflow`](crate::Error::ShapeOverflow) and [`RankLimit`](crate::Error::RankLimit) for a shape of too
/// many elements or axes, [`OutOfMemory`](crate::Error::OutOfMemory) if the entries cannot be kept.
///
/// ```
/// use lensor::interop::roaring::pattern;
/// let set = [0, 2].into_iter().collect();
/// assert_eq!(pattern([3], &set, 1, 9)?.to_vec()?, [9, 1, 9]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn pattern<T: Copy + Send + Sync>(
    shape: impl Into<Shape>,
    set: &RoaringTreemap,
    fill: T,
    value: T,
) -> Result<Tensor<Sparse<T>>> {
    let shape = shape.into();
    let len = shape.count()?;
    // One position beyond the shape is enough to refuse the set.
    let count = usize::try_from(set.rank(len as u64)).unwrap_or(usize::MAX).saturating_add(1);
    let (mut addresses, mut values) = (try_with_capacity(count)?, try_with_capacity(count)?);
    for position in set.iter() {
        addresses.push(usize::try_from(position).unwrap_or(usize::MAX));
        values.push(value);
        if position >= len as u64 {
            break;
        }
    }
    Tensor::new(shape, Sparse::from_sorted(len, fill, addresses, values)?)
}

/// The row-major positions of the stored entries of a view; `None` if its storage is not sparse.
///
/// # Errors
///
/// As [`Tensor::stored_entries`].
///
/// ```
/// use lensor::interop::roaring::stored_positions;
/// use lensor::{Tensor, storage::Sparse};
/// let t = Tensor::new([2, 2], Sparse::from_dense(&[0, 5, 0, 6], 0)?)?;
/// let set = stored_positions(&t)?.unwrap();
/// assert_eq!(set.iter().collect::<Vec<_>>(), [1, 3]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn stored_positions<S: Reader>(t: &Tensor<S>) -> Result<Option<RoaringTreemap>> {
    let positions = |entries: Sparse<S::Elem>| -> RoaringTreemap {
        entries.addresses().iter().map(|&position| position as u64).collect()
    };
    Ok(t.stored_entries()?.map(positions))
}
