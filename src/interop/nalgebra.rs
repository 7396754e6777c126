//! Matrices of [`nalgebra`] (feature `nalgebra`): as tensors without a copy, and back.
//!
//! | from nalgebra | to nalgebra |
//! |---|---|
//! | [`from_matrix`]: the `Vec` of an owned matrix moves | [`into_matrix`]: it moves back, if columns lie one after another |
//! | [`from_view`]: any matrix whose elements are one slice | [`view`], [`view_mut`]: memory under strides above 0 |
//! | | [`to_matrix`]: anything, computed or copied |
//!
//! Matrices of nalgebra lie column by column, so they become transposed views.
//!
//! ```
//! use lensor::interop::nalgebra::{from_matrix, nalgebra::DMatrix, to_matrix};
//! use lensor::prelude::*;
//! let m = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! let t = from_matrix(m)?;
//! assert_eq!(t.to_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! let doubled = to_matrix(&t * 2.0)?;
//! assert_eq!((doubled.nrows(), doubled[(1, 0)]), (2, 8.0));
//! # Ok::<(), lensor::Error>(())
//! ```

pub use ::nalgebra;

use super::matrix::matrix_extents;
use super::memory::{Window, elements, elements_mut, refused};
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::map::AddressMap;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;
use ::nalgebra::{
    DMatrix, Dim, Dyn, IsContiguous, Matrix, MatrixView, MatrixViewMut, RawStorage, Scalar,
};

/// A view of nalgebra with strides of its own.
pub type Strided<'a, T> = MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;
/// As [`Strided`], to be written.
pub type StridedMut<'a, T> = MatrixViewMut<'a, T, Dyn, Dyn, Dyn, Dyn>;

/// An owned matrix: its `Vec` moves.
///
/// # Errors
///
/// None but those of tensors of this shape.
///
/// ```
/// use lensor::interop::nalgebra::{from_matrix, nalgebra::DMatrix};
/// let m = DMatrix::from_vec(2, 2, vec![1, 2, 3, 4]);
/// let first = m.as_ptr();
/// let t = from_matrix(m)?;
/// assert_eq!((t.storage().as_ptr(), t.to_vec()?), (first, vec![1, 3, 2, 4]));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_matrix<T>(matrix: DMatrix<T>) -> Result<Tensor<Vec<T>>>
where
    T: Copy + Send + Sync + Scalar,
{
    let shape = [matrix.ncols(), matrix.nrows()];
    let data: Vec<T> = matrix.data.into();
    Tensor::new(shape, data)?.transpose([1, 0])
}

/// A matrix whose elements are one slice, of any size that is known or not. Nothing is copied.
///
/// # Errors
///
/// None but those of tensors of this shape.
///
/// ```
/// use lensor::interop::nalgebra::{from_view, nalgebra::Matrix2x3};
/// let m = Matrix2x3::new(1, 2, 3, 4, 5, 6);
/// assert_eq!(from_view(&m)?.to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_view<T, R, C, S>(matrix: &Matrix<T, R, C, S>) -> Result<Tensor<&[T]>>
where
    T: Copy + Send + Sync,
    R: Dim,
    C: Dim,
    S: RawStorage<T, R, C> + IsContiguous,
{
    Tensor::new([matrix.ncols(), matrix.nrows()], matrix.as_slice())?.transpose([1, 0])
}

/// A view of memory with two axes as a view of nalgebra. Nothing is copied.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless there are two axes, [`Error::NotStrided`] unless the storage is memory and the view has
/// strides that are neither negative nor 0.
///
/// ```
/// use lensor::{Tensor, interop::nalgebra::view};
/// let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// let part = t.view().select((.., 1..))?;
/// assert_eq!(view(&part)?[(1, 0)], 5);
/// let error = view(&t.view().flip(1)?).unwrap_err();
/// assert!(error.to_string().ends_with("axis 1 runs backwards: `flip` it first"));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view<S>(t: &Tensor<S>) -> Result<Strided<'_, S::Elem>>
where
    S: Reader<Elem: Scalar>,
{
    let (window, elements) = elements(t)?;
    let [[rows, columns], [down, across]] = layout(t.address_map(), &window)?;
    Ok(MatrixView::from_slice_with_strides_generic(elements, rows, columns, down, across))
}

/// As [`view`], to be written.
///
/// # Errors
///
/// As for [`view`], and [`Error::NotInjective`].
///
/// ```
/// use lensor::{Tensor, interop::nalgebra::view_mut};
/// let mut t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
/// view_mut(&mut t)?[(0, 1)] = 20;
/// assert_eq!(t.to_vec()?, [1, 20, 3, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view_mut<S>(t: &mut Tensor<S>) -> Result<StridedMut<'_, S::Elem>>
where
    S: Writer<Elem: Scalar>,
{
    let map = t.address_map().clone();
    let (window, elements) = elements_mut(t)?;
    let [[rows, columns], [down, across]] = layout(&map, &window)?;
    Ok(MatrixViewMut::from_slice_with_strides_generic(elements, rows, columns, down, across))
}

/// An owned tensor with two axes as a matrix: the `Vec` moves.
///
/// # Errors
///
/// [`Error::ExpectedRank`], [`Error::NotStrided`] unless the elements are all there is in the `Vec`, column by column:
/// [`to_matrix`] takes anything.
///
/// ```
/// use lensor::{Tensor, interop::nalgebra::into_matrix};
/// let t = Tensor::from_vec([3, 2], vec![1, 2, 3, 4, 5, 6])?.transpose([1, 0])?;
/// assert_eq!(into_matrix(t)?[(1, 2)], 6);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn into_matrix<T>(t: Tensor<Vec<T>>) -> Result<DMatrix<T>>
where
    T: Copy + Send + Sync + Scalar,
{
    let [rows, columns] = matrix_extents(&t.shape())?;
    let by_columns = t.transpose([1, 0])?;
    let (map, data) = by_columns.into_parts();
    if map.consecutive().is_none_or(|run| run.len() != data.len()) {
        return Err(refused(
            &map,
            "its columns do not lie one after another, which `to_matrix` does",
        ));
    }
    Ok(DMatrix::from_vec(rows, columns, data))
}

/// A tensor, a view of any storage or an expression, computed into a new matrix.
///
/// # Errors
///
/// [`Error::ExpectedRank`], and what evaluating reports.
///
/// ```
/// use lensor::{Tensor, interop::nalgebra::{nalgebra::DMatrix, to_matrix}};
/// let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?.rotate([0, 1])?;
/// assert_eq!(to_matrix(&t)?, DMatrix::from_row_slice(2, 2, &[2, 1, 4, 3]));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn to_matrix<X: IntoExpr<Elem: Scalar>>(x: X) -> Result<DMatrix<X::Elem>> {
    let e = Lazy(x.into_expr());
    let [rows, columns] = matrix_extents(&e.shape()?)?;
    let data = e.transpose([1, 0])?.eval()?.into_storage();
    Ok(DMatrix::from_vec(rows, columns, data))
}

/// Extents and strides of two axes that run forwards.
fn layout(map: &AddressMap, window: &Window) -> Result<[[Dyn; 2]; 2]> {
    let sides = matrix_extents(&map.shape())?;
    let stages = map.stages().len();
    let of_axis = |axis, reason| Error::NotStrided { stages, axis: Some(axis), reason };
    if let Some(axis) = window.strides.iter().position(|&stride| stride < 0) {
        return Err(of_axis(axis, "runs backwards: `flip` it first"));
    }
    // Strides of no elements need a buffer all the same, by nalgebra's account, unless they are these.
    let strides = match sides {
        [rows, 0] => [1, rows.max(1)],
        [0, columns] => [columns, 1],
        _ => {
            // Its iterators end at once where they do not step.
            let repeated = |axis: usize| map.shape()[axis] > 1 && window.strides[axis] == 0;
            if let Some(axis) = (0..2).find(|&axis| repeated(axis)) {
                return Err(of_axis(axis, "repeats its elements"));
            }
            [0, 1].map(|axis| window.strides[axis].max(1) as usize)
        }
    };
    Ok([sides, strides].map(|both| both.map(Dyn)))
}
