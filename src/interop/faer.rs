//! Matrices of [`faer`] (feature `faer`): read where they lie, and views of memory as matrices.
//!
//! | from faer | to faer |
//! |---|---|
//! | [`from_mat`]: any matrix or view, read by columns or rows where it lies | [`view`], [`view_mut`]: memory whose rows or columns have no gaps |
//! | | [`to_mat`]: anything, computed or copied |
//!
//! What lies between the columns of a matrix of faer may not be initialized, so a matrix is never one slice.
//!
//! ```
//! use lensor::interop::faer::{faer::mat, from_mat, to_mat};
//! use lensor::prelude::*;
//! let m = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let t = from_mat(m.as_ref())?;
//! assert_eq!(t.sum(0).eval()?.to_vec()?, [5.0, 7.0, 9.0]);
//! assert_eq!(to_mat(t.view().transpose([1, 0])? * 2.0)?, mat![[2.0, 8.0], [4.0, 10.0], [6.0, 12.0]]);
//! # Ok::<(), lensor::Error>(())
//! ```

pub use ::faer;

use super::lines;
use super::matrix::matrix_extents;
use super::memory::{Window, elements, elements_mut, refused};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, StorageError};
use crate::expr::{IntoExpr, Lazy};
use crate::map::AddressMap;
use crate::storage::{Reader, Writer, check_address};
use crate::tensor::Tensor;
use ::faer::{ColRef, Mat, MatMut, MatRef};
use std::fmt::{self, Debug, Formatter};

/// A matrix or a view of any strides as a tensor that reads it where it lies. Nothing is copied.
///
/// # Errors
///
/// [`Error::ShapeOverflow`].
///
/// ```
/// use lensor::interop::faer::{faer::mat, from_mat};
/// let m = mat![[1, 2], [3, 4], [5, 6]];
/// let t = from_mat(m.as_ref().reverse_rows())?;
/// assert_eq!(t.to_vec()?, [5, 6, 3, 4, 1, 2]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_mat<T>(matrix: MatRef<'_, T>) -> Result<Tensor<Lines<'_, T>>>
where
    T: Copy + Send + Sync,
{
    match matrix.col_stride() {
        1 | -1 if matrix.row_stride().unsigned_abs() != 1 => {
            Tensor::new([matrix.nrows(), matrix.ncols()], Lines(matrix.transpose()))
        }
        _ => Tensor::new([matrix.ncols(), matrix.nrows()], Lines(matrix))?.transpose([1, 0]),
    }
}

/// A matrix of faer as storage, column by column; see [`from_mat`].
#[derive(Clone, Copy)]
pub struct Lines<'a, T>(MatRef<'a, T>);

impl<'a, T: Copy + Send + Sync> Lines<'a, T> {
    /// The column that an address lies in, and where.
    fn line(&self, address: usize) -> Result<(ColRef<'a, T>, usize), StorageError> {
        let rows = self.0.nrows();
        check_address(address, self.len())?;
        Ok((self.0.col(address / rows), address % rows))
    }
}

impl<T> Debug for Lines<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (shape, strides) = (self.0.shape(), [self.0.row_stride(), self.0.col_stride()]);
        f.debug_struct("Lines").field("shape", &shape).field("strides", &strides).finish()
    }
}

impl<T: Copy + Send + Sync> Reader for Lines<'_, T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.0.nrows() * self.0.ncols()
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> T {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        self.line(address).map(|(line, at)| line[at])
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [T]) -> Result<(), StorageError> {
        lines::read_run(self, start, step, out, |address, out| {
            let (line, at) = self.line(address)?;
            let count = (line.nrows() - at).min(out.len());
            match line.try_as_col_major() {
                Some(line) => out[..count].copy_from_slice(&line.as_slice()[at..at + count]),
                None => (at..).zip(&mut out[..count]).for_each(|(at, slot)| *slot = line[at]),
            }
            Ok(count)
        })
    }
}

/// A view of memory with two axes as a view of faer. Nothing is copied; axes may run backwards.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless there are two axes, [`Error::NotStrided`] unless the storage is memory and the elements
/// of a row, or of a column, follow one another.
///
/// ```
/// use lensor::{Tensor, interop::faer::{faer::mat, view}};
/// let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// assert_eq!(view(&t.view().transpose([1, 0])?.flip(0)?)?, mat![[3, 6], [2, 5], [1, 4]]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view<S: Reader>(t: &Tensor<S>) -> Result<MatRef<'_, S::Elem>> {
    let (window, elements) = elements(t)?;
    let Lying { rows, columns, by_rows, stride, backwards } = lying(t.address_map(), &window)?;
    let matrix = match by_rows {
        true => MatRef::from_row_major_slice_with_stride(elements, rows, columns, stride),
        false => MatRef::from_column_major_slice_with_stride(elements, rows, columns, stride),
    };
    let matrix = if backwards[0] { matrix.reverse_rows() } else { matrix };
    Ok(if backwards[1] { matrix.reverse_cols() } else { matrix })
}

/// As [`view`], to be written.
///
/// # Errors
///
/// As for [`view`], and [`Error::NotInjective`].
///
/// ```
/// use lensor::{Tensor, interop::faer::view_mut};
/// let mut t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
/// view_mut(&mut t)?[(0, 1)] = 20;
/// assert_eq!(t.to_vec()?, [1, 20, 3, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view_mut<S: Writer>(t: &mut Tensor<S>) -> Result<MatMut<'_, S::Elem>> {
    let map = t.address_map().clone();
    let (window, elements) = elements_mut(t)?;
    let Lying { rows, columns, by_rows, stride, backwards } = lying(&map, &window)?;
    // By columns of the transposed matrix: `from_row_major_slice_with_stride_mut` of faer 0.24.4 mixes up the strides.
    let [high, wide] = if by_rows { [columns, rows] } else { [rows, columns] };
    let matrix = MatMut::from_column_major_slice_with_stride_mut(elements, high, wide, stride);
    let matrix = if by_rows { matrix.transpose_mut() } else { matrix };
    let matrix = if backwards[0] { matrix.reverse_rows_mut() } else { matrix };
    Ok(if backwards[1] { matrix.reverse_cols_mut() } else { matrix })
}

/// A tensor, a view of any storage or an expression, computed into a new matrix.
///
/// # Errors
///
/// [`Error::ExpectedRank`], and what evaluating reports.
///
/// ```
/// use lensor::{Tensor, interop::faer::{faer::mat, to_mat}};
/// let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?.rotate([0, 1])?;
/// assert_eq!(to_mat(&t)?, mat![[2, 1], [4, 3]]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_mat<X: IntoExpr>(x: X) -> Result<Mat<X::Elem>> {
    let e = Lazy(x.into_expr());
    let [rows, columns] = matrix_extents(&e.shape()?)?;
    let data = e.transpose([1, 0])?.eval()?.into_storage();
    Ok(Mat::from_fn(rows, columns, |row, column| data[column * rows + row]))
}

/// How a matrix lies in memory.
struct Lying {
    rows: usize,
    columns: usize,
    /// Whether elements of a row follow one another; otherwise those of a column do.
    by_rows: bool,
    /// Distance of rows, or of columns.
    stride: usize,
    backwards: [bool; 2],
}

fn lying(map: &AddressMap, window: &Window) -> Result<Lying> {
    let [rows, columns] = matrix_extents(&map.shape())?;
    let [across, along] = [0, 1].map(|axis| window.strides[axis]);
    let by_columns = rows <= 1 || across.unsigned_abs() == 1;
    if !by_columns && columns > 1 && along.unsigned_abs() != 1 {
        return Err(refused(map, "neither its rows nor its columns are without gaps"));
    }
    let stride = match by_columns {
        true if columns <= 1 => rows,
        true => along.unsigned_abs(),
        false => across.unsigned_abs(),
    };
    let backwards = [rows > 1 && across < 0, columns > 1 && along < 0];
    Ok(Lying { rows, columns, by_rows: !by_columns, stride, backwards })
}
