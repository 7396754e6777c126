//! Compressed matrices as storage.

#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, StorageError};
use crate::shape::Shape;
use crate::storage::{Reader, Stored, check_address};
use crate::tensor::Tensor;
use ::sprs::{CsMatBase, CsMatViewI, SpIndex};
use num_traits::Zero;
use std::ops::{Deref, Range};

/// A compressed matrix of sprs, owned or borrowed: what [`tensor`] takes. Sealed.
pub trait Matrix: sealed::Sealed + Send + Sync {
    /// Type of the elements.
    type Elem: Copy + Zero + Send + Sync;
    /// Type of the indices within a row or column.
    type Inner: SpIndex;
    /// Type of the pointers to rows or columns.
    type Pointer: SpIndex;

    /// The matrix, borrowed.
    fn borrow(&self) -> CsMatViewI<'_, Self::Elem, Self::Inner, Self::Pointer>;
}

mod sealed {
    /// Matrices are those of sprs.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Sealed {}
}

impl<T, I: SpIndex, P: SpIndex, Pointers, Indices, Values> sealed::Sealed
    for CsMatBase<T, I, Pointers, Indices, Values, P>
where
    Pointers: Deref<Target = [P]>,
    Indices: Deref<Target = [I]>,
    Values: Deref<Target = [T]>,
{
}

impl<T, I: SpIndex, P: SpIndex, Pointers, Indices, Values> Matrix
    for CsMatBase<T, I, Pointers, Indices, Values, P>
where
    T: Copy + Zero + Send + Sync,
    Pointers: Deref<Target = [P]> + Send + Sync,
    Indices: Deref<Target = [I]> + Send + Sync,
    Values: Deref<Target = [T]> + Send + Sync,
{
    type Elem = T;
    type Inner = I;
    type Pointer = P;

    fn borrow(&self) -> CsMatViewI<'_, T, I, P> {
        self.view()
    }
}

/// A tensor over a compressed matrix, owned or borrowed. Copies nothing.
///
/// A matrix by rows lies in row-major order; one by columns becomes a transposed view of its columns.
///
/// # Errors
///
/// [`Error::ShapeOverflow`] if the matrix has more elements than fit in `isize`.
///
/// ```
/// use lensor::interop::sprs::tensor;
/// use sprs::CsMat;
/// let by_columns = CsMat::new_csc((2, 2), vec![0, 1, 2], vec![1, 0], vec![5, 6]);
/// assert_eq!(tensor(by_columns)?.to_vec()?, [0, 6, 5, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn tensor<M: Matrix>(matrix: M) -> Result<Tensor<Compressed<M>>> {
    let view = matrix.borrow();
    let shape = Shape::from([view.outer_dims(), view.inner_dims()]);
    let (len, is_csc) = (shape.count()?, view.is_csc());
    let by_lines = Tensor::new(shape, Compressed { matrix, len })?;
    if is_csc { by_lines.transpose([1, 0]) } else { Ok(by_lines) }
}

/// A compressed matrix of sprs as storage: elements row by row for CSR, column by column for CSC; zero
/// where there is no entry. Made by [`tensor`].
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed<M> {
    matrix: M,
    len: usize,
}

impl<M> Compressed<M> {
    /// The matrix.
    pub fn into_inner(self) -> M {
        self.matrix
    }
}

impl<M: Matrix> Reader for Compressed<M> {
    type Elem = M::Elem;

    fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> M::Elem {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<M::Elem, StorageError> {
        check_address(address, self.len)?;
        let matrix = self.matrix.borrow();
        let (ordinal, is_there) = search(&matrix, address);
        let found = matrix.data().get(ordinal).filter(|_| is_there);
        Ok(found.copied().unwrap_or_else(M::Elem::zero))
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = M::Elem>> {
        Some(self)
    }
}

impl<M: Matrix> Stored for Compressed<M> {
    type Elem = M::Elem;

    fn fill(&self) -> M::Elem {
        M::Elem::zero()
    }

    fn count(&self) -> usize {
        self.matrix.borrow().nnz()
    }

    fn rank(&self, address: usize) -> usize {
        if address < self.len { search(&self.matrix.borrow(), address).0 } else { self.count() }
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [M::Elem]) -> usize {
        let matrix = self.matrix.borrow();
        let (indices, data) = (matrix.indices(), matrix.data());
        let end = matrix.nnz().min(from.saturating_add(addresses.len().min(values.len())));
        let (mut next, mut done) = (from, 0);
        for outer in line_of(&matrix, from)..matrix.outer_dims() {
            if next >= end {
                break;
            }
            let line = line(&matrix, outer);
            let part = next..line.end.min(end);
            let start = outer * matrix.inner_dims();
            let (indices, data) = indices.get(part.clone()).zip(data.get(part)).unwrap_or_default();
            for (index, &value) in indices.iter().zip(data) {
                (addresses[done], values[done]) = (start.saturating_add(index_of(index)), value);
                done += 1;
            }
            next = next.max(line.end);
        }
        done
    }
}

/// An index as a number; one that is none lies beyond everything.
pub(super) fn index_of<I: SpIndex>(index: &I) -> usize {
    index.try_index().unwrap_or(usize::MAX)
}

/// Ordinals of the entries of a row, or of a column of CSC.
fn line<T, I: SpIndex, P: SpIndex>(matrix: &CsMatViewI<'_, T, I, P>, outer: usize) -> Range<usize> {
    matrix.indptr().outer_inds_sz(outer)
}

/// The row, or column of CSC, that holds an entry; the one after the last if none does.
fn line_of<T, I: SpIndex, P: SpIndex>(matrix: &CsMatViewI<'_, T, I, P>, ordinal: usize) -> usize {
    // The pointers of a part of a matrix do not begin at 0.
    let pointers = matrix.indptr();
    let pointers = pointers.raw_storage();
    let first = pointers.first().map_or(0, index_of);
    let started = pointers.partition_point(|end| index_of(end).saturating_sub(first) <= ordinal);
    started.saturating_sub(1)
}

/// Ordinal of the first entry at an address inside or later, and whether there is one at it.
fn search<T, I: SpIndex, P: SpIndex>(
    matrix: &CsMatViewI<'_, T, I, P>,
    address: usize,
) -> (usize, bool) {
    let (outer, inner) = (address / matrix.inner_dims(), address % matrix.inner_dims());
    let line = line(matrix, outer);
    let indices = matrix.indices().get(line.clone()).unwrap_or_default();
    let below = indices.partition_point(|index| index_of(index) < inner);
    (line.start + below, indices.get(below).is_some_and(|index| index_of(index) == inner))
}
