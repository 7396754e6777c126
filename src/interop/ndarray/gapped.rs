//! Arrays with gaps, read where they lie.

use crate::error::{Result, StorageError};
use crate::interop::lines;
use crate::shape::Shape;
use crate::storage::{Reader, check_address};
use crate::tensor::Tensor;
use ::ndarray::{ArrayBase, ArrayView1, Axis, Data, Dimension, Ix1, IxDyn, RawData};
use std::fmt::{self, Debug, Formatter};

/// Any array or view as a tensor that reads it row by row where it lies, in its order of indexes. Nothing is copied.
///
/// # Errors
///
/// [`Error::RankLimit`](crate::Error::RankLimit), [`Error::ShapeOverflow`](crate::Error::ShapeOverflow).
///
/// ```
/// use lensor::interop::ndarray::gapped;
/// use ndarray::{array, s};
/// let a = array![[1, 2, 3], [4, 5, 6]];
/// let t = gapped(a.slice(s![.., ..;2]))?;
/// assert_eq!(t.transpose([1, 0])?.to_vec()?, [1, 4, 3, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn gapped<S, D>(array: ArrayBase<S, D>) -> Result<Tensor<Gapped<S>>>
where
    S: Data<Elem: Copy + Send + Sync> + Send + Sync,
    D: Dimension,
{
    Tensor::new(Shape::from(array.shape()), Gapped(array.into_dyn()))
}

/// An array of ndarray as storage in the order of its indexes, see [`gapped`].
pub struct Gapped<S: RawData>(ArrayBase<S, IxDyn>);

impl<S: Data<Elem: Copy + Send + Sync>> Gapped<S> {
    /// The array.
    pub fn array(&self) -> &ArrayBase<S, IxDyn> {
        &self.0
    }

    /// The array.
    pub fn into_array(self) -> ArrayBase<S, IxDyn> {
        self.0
    }

    /// The row that an address lies in, from there on.
    fn row(&self, address: usize) -> Result<ArrayView1<'_, S::Elem>, StorageError> {
        check_address(address, self.0.len())?;
        let index = Shape::from(self.0.shape()).unravel(address);
        let (column, front) =
            index.split_last().map_or((0, &[][..]), |(last, front)| (*last, front));
        let rows =
            front.iter().fold(self.0.view(), |view, &digit| view.index_axis_move(Axis(0), digit));
        let row = if index.is_empty() { rows.insert_axis(Axis(0)) } else { rows };
        let row = row
            .into_dimensionality::<Ix1>()
            .map_err(|_| StorageError::beyond(address, self.0.len()))?;
        // Iterators of rows with gaps would come to it element by element.
        Ok(row.split_at(Axis(0), column).1)
    }
}

impl<S: Data<Elem: Copy + Send + Sync>> Debug for Gapped<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (shape, strides) = (self.0.shape(), self.0.strides());
        f.debug_struct("Gapped").field("shape", &shape).field("strides", &strides).finish()
    }
}

impl<S> Reader for Gapped<S>
where
    S: Data<Elem: Copy + Send + Sync> + Send + Sync,
{
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.0.len()
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> S::Elem {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        let first = self.row(address)?.first().copied();
        first.ok_or_else(|| StorageError::beyond(address, self.0.len()))
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        self.0.as_slice()
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        lines::read_run(self, start, step, out, |address, out| {
            let row = self.row(address)?;
            let count = row.len().min(out.len());
            let target = &mut out[..count];
            match row.to_slice() {
                Some(row) => target.copy_from_slice(&row[..count]),
                None => target.iter_mut().zip(row).for_each(|(slot, &element)| *slot = element),
            }
            Ok(count)
        })
    }
}
