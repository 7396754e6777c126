//! Products of sparse tensors: with dense ones, with one another, over any semiring.
//!
//! | operands | result | |
//! |---|---|---|
//! | sparse, dense | dense | [`times_dense`], [`times_dense_to`] |
//! | sparse, sparse | sparse | [`times_sparse`], [`contract`] |
//!
//! An operand is a tensor under any view: a transposed matrix is `a.view().transpose(&[1, 0])?`. Its stored
//! entries are found through the view, never by scanning it. The first argument says what to add and
//! multiply by: [`PlusTimes`], [`MinPlus`], [`OrAnd`] or a [`Semiring`] of your own.
//!
//! Only stored entries take part, so the fill value must be the zero of the semiring. What is not stored
//! counts as zero whatever it would meet: 0 times NaN, where the 0 is not stored, adds nothing.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::product::{MinPlus, PlusTimes, times_dense, times_sparse};
//! use lensor::storage::{Duplicates, Sparse};
//! // Roads: from, to, kilometres.
//! let roads = Tensor::from_coordinates(
//!     [1000, 1000],
//!     f64::INFINITY,
//!     &[[0, 1], [1, 999], [0, 999]],
//!     vec![2.0, 3.0, 9.0],
//!     Duplicates::Refuse,
//! )?;
//! let by_two_roads = times_sparse(MinPlus, &roads, &roads)?;
//! assert_eq!(by_two_roads.get(&[0, 999])?, 5.0);
//! assert_eq!(by_two_roads.storage().stored_len(), 1);
//!
//! let matrix = Tensor::new([2, 3], Sparse::from_dense(&[0, 2, 0, 3, 0, 4], 0)?)?;
//! let x = Tensor::from(vec![1, 10, 100]);
//! assert_eq!(times_dense(PlusTimes, &matrix, &x)?.to_vec()?, [20, 403]);
//! let turned = matrix.view().transpose(&[1, 0])?;
//! assert_eq!(times_sparse(PlusTimes, &turned, &matrix)?.to_vec()?, [9, 0, 12, 0, 4, 0, 12, 0, 16]);
//! # Ok::<(), Error>(())
//! ```

mod dense;
pub mod explained;
mod gustavson;
mod semiring;

pub use dense::{times_dense, times_dense_to};
pub use semiring::{MinPlus, OrAnd, PlusTimes, Semiring};

use crate::dtype::SameBits;
use crate::error::{Error, Result};
use crate::kernel::sparse::Entries;
use crate::ops::pairing::Pairing;
use crate::storage::{Reader, Sparse};
use crate::tensor::Tensor;
use crate::tensor::stored::{self, entries_of};

/// The product of two sparse tensors, over the last axis of the first and the first axis of the second.
///
/// Shapes `(.., k)` and `(k, ..)` give the other axes of both. Takes time in proportion to the entries and
/// the terms, whatever the extents. Entries whose terms happen to add up to zero stay, until
/// [`Sparse::prune`] drops them.
///
/// # Errors
///
/// As for [`contract`].
///
/// ```
/// use lensor::product::{PlusTimes, times_sparse};
/// use lensor::{Tensor, storage::Sparse};
/// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 3, 0], 0)?)?;
/// assert_eq!(times_sparse(PlusTimes, &a, &a)?.to_vec()?, [6, 0, 0, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn times_sparse<S, R, M>(
    semiring: M,
    left: &Tensor<S>,
    right: &Tensor<R>,
) -> Result<Tensor<Sparse<S::Elem>>>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    contract(semiring, left, right, &[(last_axis(left)?, 0)])
}

/// The product of two sparse tensors over pairs of axes, one of each.
///
/// The result has the remaining axes of the first, then those of the second. Without pairs it is the outer
/// product. As NumPy's `tensordot`.
///
/// # Errors
///
/// [`Error::NotSparse`] and [`Error::FillNotZero`] for an operand that is dense, or whose fill is not the
/// zero of the semiring; [`Error::Contraction`] with the first pair of axes that differ in extent,
/// [`Error::Axis`] for one that does not exist, [`Error::RepeatedAxis`] for one given twice,
/// [`Error::ShapeOverflow`], [`Error::OutOfMemory`].
///
/// ```
/// use lensor::product::{PlusTimes, contract};
/// use lensor::{Tensor, storage::Duplicates};
/// let tensor = |shape: [usize; 3], indexes: &[[usize; 3]], values| {
///     Tensor::from_coordinates(shape, 0, indexes, values, Duplicates::Refuse)
/// };
/// let a = tensor([2, 30, 40], &[[0, 5, 7], [1, 5, 8]], vec![2, 3])?;
/// let b = tensor([40, 6, 30], &[[7, 4, 5], [8, 4, 6]], vec![10, 100])?;
/// let c = contract(PlusTimes, &a, &b, &[(1, 2), (2, 0)])?;
/// assert_eq!(c.shape(), [2, 6]);
/// assert!(c.storage().iter().eq([(4, 20)])); // [0, 4]
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn contract<S, R, M>(
    semiring: M,
    left: &Tensor<S>,
    right: &Tensor<R>,
    pairs: &[(usize, usize)],
) -> Result<Tensor<Sparse<S::Elem>>>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    let pairing = Pairing::new(&left.shape(), &right.shape(), pairs)?;
    let [rows, depth, columns] = pairing.extents;
    let len = pairing.shape.count()?;
    let (left, right) = matrices(left, right, &pairing)?;
    let (a, b) = (entries(&semiring, &left, 1)?, entries(&semiring, &right, 2)?);
    let (a, b) = (borrowed(&a, depth), borrowed(&b, columns));
    let (positions, values) = gustavson::multiply(&semiring, a, b, [rows, depth])?;
    Tensor::new(pairing.shape, Sparse::of_sorted(len, semiring.zero(), positions, values))
}

/// Two tensors as matrices to be multiplied.
fn matrices<'a, S: Reader, R: Reader>(
    left: &'a Tensor<S>,
    right: &'a Tensor<R>,
    Pairing { orders, extents: [rows, depth, columns], .. }: &Pairing,
) -> Result<(Tensor<&'a S>, Tensor<&'a R>)> {
    let left = left.view().transpose(&orders[0])?.reshape([*rows, *depth])?;
    let right = right.view().transpose(&orders[1])?.reshape([*depth, *columns])?;
    Ok((left, right))
}

fn last_axis<S>(t: &Tensor<S>) -> Result<usize> {
    t.rank().checked_sub(1).ok_or(Error::Axis { axis: 0, rank: 0 })
}

/// The stored entries of an operand whose fill is zero.
fn entries<'s, S: Reader<Elem: SameBits>>(
    semiring: &impl Semiring<S::Elem>,
    operand: &Tensor<&'s S>,
    argument: usize,
) -> Result<stored::Entries<'s, S::Elem>> {
    let what = "a product of entries";
    let storage: &'s S = operand.storage();
    let stored = storage.stored().ok_or(Error::NotSparse { what, argument })?;
    if !stored.fill().same_bits(semiring.zero()) {
        return Err(Error::FillNotZero { what, argument });
    }
    entries_of(operand.address_map(), stored)
}

fn borrowed<'a, T: Copy>(entries: &'a stored::Entries<'_, T>, columns: usize) -> Entries<'a, T> {
    Entries { positions: &entries.positions, values: &entries.values, columns }
}
