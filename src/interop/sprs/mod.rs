//! Matrices of [`sprs`] (feature `sprs`): as storage without a copy, and back.
//!
//! | from sprs | to sprs |
//! |---|---|
//! | [`tensor`]: a compressed matrix by rows (CSR) or columns (CSC), owned or borrowed, as it is | [`to_csr`], [`to_csc`] |
//! | [`from_coordinates`]: triplets (COO), sorted | [`to_coordinates`] |
//! | [`sparse_rows`]: rows of columns and of values, as ragged tensors | [`to_sparse`] |
//!
//! Any view with two axes can be turned into a matrix of sprs, in time proportional to its entries and the
//! rows or columns.
//!
//! ```
//! use lensor::interop::sprs::{tensor, to_csr};
//! use sprs::CsMat;
//! let matrix = CsMat::new((2, 3), vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 6.0, 7.0]);
//! let t = tensor(matrix.view())?; // borrows indices and values
//! assert_eq!(t.to_vec()?, [0.0, 0.0, 5.0, 6.0, 7.0, 0.0]);
//! assert_eq!(to_csr(&t.transpose([1, 0])?)?, matrix.transpose_view().to_csr());
//! # Ok::<(), lensor::Error>(())
//! ```

mod compressed;
mod rows;

pub use compressed::{Compressed, Matrix, tensor};
pub use rows::{Borrowed, sparse_rows, to_sparse};

use crate::dtype::{Arithmetic, SameBits};
use crate::error::{Error, Result, StorageError};
use crate::interop::matrix::matrix_extents;
use crate::interop::text::entries;
use crate::memory::{list, owned, try_with_capacity};
use crate::storage::{Duplicates, Reader, Sparse};
use crate::tensor::Tensor;
use ::sprs::{CsMat, SpIndex, TriMat, TriMatBase};
use compressed::index_of;
use num_traits::Zero;
use std::ops::Deref;

/// The entries of a view with two axes as a matrix compressed by rows.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless there are two axes, [`Error::NotSparse`] for dense storage,
/// [`Error::FillNotZero`], [`Error::OutOfMemory`], [`Error::InvalidSparse`] if the storage gives entries
/// that are out of order.
///
/// ```
/// use lensor::interop::sprs::to_csr;
/// use lensor::{Tensor, storage::Sparse};
/// let t = Tensor::new([2, 3], Sparse::from_sorted(6, 0, vec![2, 3, 4], vec![5, 6, 7])?)?;
/// let matrix = to_csr(&t.flip(0)?)?;
/// assert_eq!(matrix.proper_indptr(), &[0, 2, 3][..]);
/// assert_eq!((matrix.indices(), matrix.data()), (&[0, 1, 2][..], &[6, 7, 5][..]));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_csr<S>(t: &Tensor<S>) -> Result<CsMat<S::Elem>>
where
    S: Reader<Elem: SameBits + Zero>,
{
    let ([rows, columns], entries) = matrix_entries(t)?;
    let (pointers, indices, data) = compressed([rows, columns], entries)?;
    CsMat::try_new((rows, columns), pointers, indices, data).map_err(|refused| flawed(refused.3))
}

/// The entries of a view with two axes as a matrix compressed by columns.
///
/// # Errors
///
/// As for [`to_csr`].
///
/// ```
/// use lensor::interop::sprs::to_csc;
/// use lensor::{Tensor, storage::Sparse};
/// let t = Tensor::new([2, 2], Sparse::from_sorted(4, 0, vec![1, 2], vec![5, 6])?)?;
/// let matrix = to_csc(&t)?;
/// assert_eq!((matrix.indices(), matrix.data()), (&[1, 0][..], &[6, 5][..]));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_csc<S>(t: &Tensor<S>) -> Result<CsMat<S::Elem>>
where
    S: Reader<Elem: SameBits + Zero>,
{
    let order: Vec<usize> = (0..t.rank()).rev().collect();
    let ([columns, rows], entries) = matrix_entries(&t.view().transpose(&order)?)?;
    let (pointers, indices, data) = compressed([columns, rows], entries)?;
    CsMat::try_new_csc((rows, columns), pointers, indices, data)
        .map_err(|refused| flawed(refused.3))
}

/// The entries of a view with two axes as triplets, row by row.
///
/// # Errors
///
/// As for [`to_csr`].
///
/// ```
/// use lensor::interop::sprs::to_coordinates;
/// use lensor::{Tensor, storage::Sparse};
/// let t = Tensor::new([2, 2], Sparse::from_sorted(4, 0, vec![1, 2], vec![5, 6])?)?;
/// let triplets = to_coordinates(&t)?;
/// assert_eq!((triplets.row_inds(), triplets.col_inds()), (&[0, 1][..], &[1, 0][..]));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_coordinates<S>(t: &Tensor<S>) -> Result<TriMat<S::Elem>>
where
    S: Reader<Elem: SameBits + Zero>,
{
    let ([rows, columns], entries) = matrix_entries(t)?;
    let (_, _, mut columns_of, values) = entries.into_parts();
    let mut rows_of = try_with_capacity(values.len())?;
    for position in &mut columns_of {
        rows_of.push(*position / columns.max(1));
        *position %= columns.max(1);
    }
    Ok(TriMat::from_triplets((rows, columns), rows_of, columns_of, values))
}

/// Triplets as a sparse tensor; those of one place are summed, integers wrapping.
///
/// # Errors
///
/// [`Error::ShapeOverflow`], [`Error::InvalidSparse`] for an index outside, [`Error::OutOfMemory`].
///
/// ```
/// use lensor::interop::sprs::from_coordinates;
/// let mut triplets = sprs::TriMat::new((2, 2));
/// triplets.add_triplet(1, 0, 5);
/// triplets.add_triplet(0, 1, 6);
/// triplets.add_triplet(1, 0, 7);
/// assert_eq!(from_coordinates(&triplets)?.to_vec()?, [0, 6, 12, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_coordinates<T, I, Indices, Values>(
    triplets: &TriMatBase<Indices, Values>,
) -> Result<Tensor<Sparse<T>>>
where
    T: Arithmetic + Zero,
    I: SpIndex,
    Indices: Deref<Target = [I]>,
    Values: Deref<Target = [T]>,
{
    let indexes = |indexes: &[I]| list(indexes.iter().map(index_of));
    let (rows, columns) = (indexes(triplets.row_inds())?, indexes(triplets.col_inds())?);
    let values = list(triplets.data().iter().copied())?;
    let shape = [triplets.rows(), triplets.cols()];
    let lists = [&rows[..], &columns];
    Tensor::from_coordinate_lists(shape, T::zero(), &lists, values, Duplicates::sum())
}

/// Extents and entries of a view with two axes whose fill is zero.
fn matrix_entries<S>(t: &Tensor<S>) -> Result<([usize; 2], Sparse<S::Elem>)>
where
    S: Reader<Elem: SameBits + Zero>,
{
    let extents = matrix_extents(&t.shape())?;
    let entries = entries(t, "a matrix of sprs", S::Elem::zero())?;
    let (addresses, values) = (owned(entries.positions)?, owned(entries.values)?);
    // The storage may be somebody's, and its entries in any order: sprs is to get none such.
    Ok((extents, Sparse::from_sorted(t.len(), S::Elem::zero(), addresses, values)?))
}

/// Pointers, indices and values of lines that follow one another.
fn compressed<T: Copy>(
    [outer, inner]: [usize; 2],
    entries: Sparse<T>,
) -> Result<(Vec<usize>, Vec<usize>, Vec<T>)> {
    let (_, _, mut indices, values) = entries.into_parts();
    let mut pointers = try_with_capacity(outer.saturating_add(1))?;
    pointers.push(0);
    let mut next = 0;
    for line in 0..outer {
        let start = line * inner;
        while let Some(position) = indices.get_mut(next)
            && *position < start + inner
        {
            *position -= start;
            next += 1;
        }
        pointers.push(next);
    }
    Ok((pointers, indices, values))
}

/// What sprs finds wrong, which is nothing where entries are in order.
fn flawed(error: ::sprs::errors::StructureError) -> Error {
    StorageError::new(0, error).into()
}
