//! Matrices by rows as ragged tensors: what stands in each row, and where.

use super::compressed::index_of;
use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::memory::{list, try_with_capacity};
use crate::ragged::{Extent, Form, Offsets, Ragged};
use crate::storage::{Duplicates, Reader, Sparse};
use crate::tensor::Tensor;
use ::sprs::{CsMatViewI, SpIndex};
use num_traits::Zero;

/// Rows of elements that a matrix lends.
pub type Borrowed<'m, T> = Ragged<&'m [T]>;

/// Column and value of every entry of each line of a compressed matrix (row, or column if it is compressed by columns), as
/// two ragged tensors of the same rows. Indices and values are borrowed; pointers are copied once.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
///
/// ```
/// use lensor::interop::sprs::sparse_rows;
/// use lensor::ragged::ReduceRagged;
/// use sprs::CsMat;
/// let matrix = CsMat::new((3, 4), vec![0, 2, 2, 3], vec![1, 3, 0], vec![5.0, 6.0, 7.0]);
/// let (columns, values) = sparse_rows(matrix.view())?;
/// assert_eq!((columns.to_string(), values.to_string()), ("[[1, 3], [], [0]]".into(), "[[5, 6], [], [7]]".into()));
/// assert_eq!(values.sum(1).eval()?.to_string(), "[11, 0, 7]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn sparse_rows<'m, T, I, P>(
    matrix: CsMatViewI<'m, T, I, P>,
) -> Result<(Borrowed<'m, I>, Borrowed<'m, T>)>
where
    T: Copy + Send + Sync,
    I: SpIndex,
    P: SpIndex,
{
    let (pointers, indices, values) = matrix.into_raw_storage();
    let lead = [pointers.len().saturating_sub(1)];
    // Pointers of a part of a matrix do not begin at 0.
    let first = pointers.first().map_or(0, index_of);
    let offsets = Offsets::new(list(pointers.iter().map(|end| index_of(end) - first))?)?;
    let columns = Ragged::new(lead, offsets.clone(), Tensor::new([indices.len()], indices)?)?;
    Ok((columns, Ragged::new(lead, offsets, Tensor::new([values.len()], values)?)?))
}

/// The sparse tensor that has `values` in the columns of each row; those of one place are summed, integers wrapping.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless both are `rows * var`, [`Error::ListLength`] and [`Error::RowLength`] if their rows
/// differ, [`Error::InvalidSparse`] for a column beyond `extent`, [`Error::OutOfMemory`], and what reading reports.
///
/// ```
/// use lensor::interop::sprs::to_sparse;
/// use lensor::ragged::Ragged;
/// let columns = Ragged::from_nested(vec![vec![1_usize, 3], vec![], vec![0]])?;
/// let values = Ragged::from_nested(vec![vec![5, 6], vec![], vec![7]])?;
/// let t = to_sparse(&columns, &values, 4)?;
/// assert_eq!(t.to_vec()?, [0, 5, 0, 6, 0, 0, 0, 0, 7, 0, 0, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_sparse<C, V>(
    columns: &Ragged<C>,
    values: &Ragged<V>,
    extent: usize,
) -> Result<Tensor<Sparse<V::Elem>>>
where
    C: Reader<Elem: SpIndex>,
    V: Reader<Elem: Arithmetic + Zero>,
{
    let (form, other) = (columns.form()?, values.form()?);
    let by_rows = |form: &Form| matches!(form.extents()[..], [Extent::Fixed(_), Extent::Var]);
    if !by_rows(&form) || !by_rows(&other) {
        let shape = Vec::from([form.rank(), other.rank()]);
        return Err(Error::ExpectedRank { expected: 2, shape });
    }
    let (rows, beside) = (form.offsets(1)?, other.offsets(1)?);
    if rows.rows() != beside.rows() {
        let (axis, extent, found) = (0, rows.rows(), beside.rows());
        return Err(Error::ListLength { what: "rows of values", axis, extent, found });
    }
    let mut row_of = try_with_capacity(form.count()?)?;
    for row in 0..rows.rows() {
        let (expected, items) = (rows.row(row).len(), beside.row(row).len());
        if items != expected {
            return Err(Error::RowLength { row: Vec::from([row]), axis: 1, items, expected });
        }
        row_of.extend(std::iter::repeat_n(row, expected));
    }
    let column_of = list(columns.to_vec()?.iter().map(index_of))?;
    let lists = [&row_of[..], &column_of];
    let (shape, values) = ([rows.rows(), extent], values.to_vec()?);
    Tensor::from_coordinate_lists(shape, V::Elem::zero(), &lists, values, Duplicates::sum())
}
