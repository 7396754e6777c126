//! Sparse times dense.

use super::{Semiring, borrowed, entries, last_axis};
use crate::dtype::SameBits;
use crate::error::{Error, Result};
use crate::kernel::inner::{collect, slots};
use crate::kernel::sparse::Sums;
use crate::map::Divider;
use crate::memory::list;
use crate::ops::pairing::Pairing;
use crate::shape::Shape;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;
use crate::tensor::stored::Entries;
use std::borrow::Cow;

/// The product of a sparse tensor with a dense one, over the last axis of the first and the first axis of
/// the second.
///
/// Shapes `(.., k)` and `(k, ..)` give the other axes of both: a matrix times a vector is a vector, times a
/// matrix a matrix. The dense operand is read where it lies if it is contiguous in memory, and copied
/// otherwise. Each element is summed up in order, so it is the same for any number of threads.
///
/// # Errors
///
/// [`Error::NotSparse`] and [`Error::FillNotZero`] for a first operand that is dense, or whose fill is not
/// the zero of the semiring; [`Error::Contraction`] if the axes differ in extent, [`Error::Axis`] for an
/// operand of rank 0, [`Error::ShapeOverflow`], [`Error::OutOfMemory`], [`Error::Storage`].
///
/// ```
/// use lensor::product::{OrAnd, times_dense};
/// use lensor::{Tensor, storage::Sparse};
/// let follows = Tensor::new([3, 3], Sparse::from_sorted(9, false, vec![1, 5], vec![true, true])?)?;
/// let told = Tensor::from(vec![false, true, false]);
/// assert_eq!(times_dense(OrAnd, &follows, &told)?.to_vec()?, [true, false, false]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn times_dense<S, R, M>(
    semiring: M,
    sparse: &Tensor<S>,
    dense: &Tensor<R>,
) -> Result<Tensor<Vec<S::Elem>>>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    let product = Product::new(&semiring, sparse, dense)?;
    let data = product.eval(&semiring)?;
    Tensor::from_vec(product.shape, data)
}

/// As [`times_dense`], into an existing tensor or view of any storage with a writer. No memory is taken
/// where the dense operand and the destination are contiguous in memory.
///
/// # Errors
///
/// As for [`times_dense`], and [`Error::Destination`] if `out` has another shape, [`Error::NotInjective`] if
/// two of its indexes share an address.
///
/// ```
/// use lensor::product::{PlusTimes, times_dense_to};
/// use lensor::{Tensor, storage::Sparse};
/// let swap = Tensor::new([2, 2], Sparse::from_sorted(4, 0, vec![1, 2], vec![1, 1])?)?;
/// let x = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
/// let mut out = Tensor::full([3, 2], 0)?;
/// times_dense_to(PlusTimes, &swap, &x, &mut out.view_mut().transpose(&[1, 0])?)?;
/// assert_eq!(out.to_vec()?, [4, 1, 5, 2, 6, 3]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn times_dense_to<S, R, W, M>(
    semiring: M,
    sparse: &Tensor<S>,
    dense: &Tensor<R>,
    out: &mut Tensor<W>,
) -> Result<()>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    W: Writer<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    let product = Product::new(&semiring, sparse, dense)?;
    let (expected, found) = (out.shape(), &product.shape);
    if expected != *found {
        let (expected, found) = (expected.to_vec(), found.to_vec());
        return Err(Error::Destination { expected, found });
    }
    out.address_map().check_injective()?;
    let (map, storage) = out.parts_mut();
    if map.is_contiguous()
        && let Some(slice) = storage.as_mut_slice()
        && let Some(elements) = slice.get_mut(map.span())
    {
        return product.assign_to(&semiring, elements);
    }
    out.assign(Tensor::from_vec(expected, product.eval(&semiring)?)?)
}

/// A sparse and a dense matrix to be multiplied.
struct Product<'a, T: Copy> {
    shape: Shape,
    /// Rows, columns of the sparse matrix, columns of the dense one.
    extents: [usize; 3],
    entries: Entries<'a, T>,
    elements: Cow<'a, [T]>,
}

impl<'a, T: SameBits + Send + Sync> Product<'a, T> {
    fn new<S, R>(
        semiring: &impl Semiring<T>,
        sparse: &'a Tensor<S>,
        dense: &'a Tensor<R>,
    ) -> Result<Self>
    where
        S: Reader<Elem = T>,
        R: Reader<Elem = T>,
    {
        let pairs = [(last_axis(sparse)?, 0)];
        let Pairing { extents, shape, .. } = Pairing::new(&sparse.shape(), &dense.shape(), &pairs)?;
        shape.count()?;
        let matrix = sparse.view().reshape([extents[0], extents[1]])?;
        let entries = entries(semiring, &matrix, 1)?;
        Ok(Self { shape, extents, entries, elements: elements(dense)? })
    }

    /// The elements of the product.
    fn eval(&self, semiring: &impl Semiring<T>) -> Result<Vec<T>> {
        let [rows, depth, width] = self.extents;
        if width == 1 {
            let mut column = list(std::iter::repeat_n(semiring.zero(), rows))?;
            self.add_column(semiring, &mut column);
            return Ok(column);
        }
        let (sums, matrix) = (sums(semiring), borrowed(&self.entries, depth));
        collect(rows * width, |out| sums.times_rows(matrix, rows, &self.elements, width, out))
    }

    /// The elements of the product into as many.
    fn assign_to(&self, semiring: &impl Semiring<T>, out: &mut [T]) -> Result<()> {
        let [rows, depth, width] = self.extents;
        if width == 1 {
            out.fill(semiring.zero());
            self.add_column(semiring, out);
            return Ok(());
        }
        let (sums, matrix) = (sums(semiring), borrowed(&self.entries, depth));
        sums.times_rows(matrix, rows, &self.elements, width, slots(out)).map(drop)
    }

    /// The elements of the product with a column into as many zeros.
    fn add_column(&self, semiring: &impl Semiring<T>, out: &mut [T]) {
        let [rows, depth, _] = self.extents;
        let (sums, matrix) = (sums(semiring), borrowed(&self.entries, depth));
        let divider = Divider::new(depth, rows.saturating_mul(depth));
        match divider.multiplier() {
            Some(by) => sums.times_column(matrix, &self.elements, out, |at| by.divide(at)),
            None => sums.times_column(matrix, &self.elements, out, |at| divider.divide(at)),
        }
    }
}

fn sums<T: Copy, M: Semiring<T>>(semiring: &M) -> Sums<T, impl Fn(T, T, T) -> T + Copy> {
    let step = |sum, a, b| semiring.add(sum, semiring.multiply(a, b));
    Sums { zero: semiring.zero(), step }
}

/// The elements of a tensor in row-major order: where they lie, or copies.
fn elements<R: Reader>(t: &Tensor<R>) -> Result<Cow<'_, [R::Elem]>> {
    match in_place(t) {
        Some(elements) => Ok(Cow::Borrowed(elements)),
        None => Ok(Cow::Owned(t.to_vec()?)),
    }
}

/// The elements of a tensor, if they lie in memory in row-major order.
pub(super) fn in_place<R: Reader>(t: &Tensor<R>) -> Option<&[R::Elem]> {
    let map = t.address_map();
    let slice = t.storage().as_slice().filter(|_| map.is_contiguous())?;
    slice.get(map.span()).filter(|elements| elements.len() == t.len())
}
