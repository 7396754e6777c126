//! How products of sparse tensors would be computed, in words.
//!
//! Functions are named as those of [`product`](super), and take the same arguments. They find the stored
//! entries of the operands, on which the ways of a product depend, and multiply none.
//!
//! ```
//! use lensor::product::{PlusTimes, explained};
//! use lensor::{Tensor, storage::Sparse};
//! let a = Tensor::new([2, 3], Sparse::from_dense(&[0, 2, 0, 3, 0, 4], 0)?)?;
//! let text = explained::times_dense(PlusTimes, &a, &Tensor::full([3, 5], 1)?)?.to_string();
//! assert!(text.starts_with("product of 3 stored i32 of [2, 3] and [3, 5] to [2, 5]"));
//!
//! let turned = a.view().transpose(&[1, 0])?;
//! let text = explained::times_sparse(PlusTimes, &a, &turned)?.to_string();
//! assert!(text.contains("rows: 3 entries, 3 terms, summed up in an array of 2 columns"));
//! # Ok::<(), lensor::Error>(())
//! ```

use super::{Semiring, borrowed, entries, gustavson, last_axis, matrices};
use crate::dtype::SameBits;
use crate::error::Result;
use crate::expr::{Explanation, bytes_read};
use crate::ops::explain::report;
use crate::ops::pairing::Pairing;
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::any::type_name;

/// How [`times_dense`](super::times_dense) would go about it.
///
/// # Errors
///
/// As `times_dense`, but for those of dense elements.
///
/// ```
/// use lensor::product::{PlusTimes, explained};
/// use lensor::{Tensor, storage::Sparse};
/// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 0, 0], 0)?)?;
/// let x = Tensor::from(vec![1, 10]);
/// let text = explained::times_dense(PlusTimes, &a, &x.view().flip(0)?)?.to_string();
/// assert!(text.contains("operand 2: copied because it is not contiguous in memory"));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn times_dense<S, R, M>(
    semiring: M,
    sparse: &Tensor<S>,
    dense: &Tensor<R>,
) -> Result<Explanation>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    let pairing = Pairing::new(&sparse.shape(), &dense.shape(), &[(last_axis(sparse)?, 0)])?;
    let [rows, depth, width] = pairing.extents;
    let written = pairing.shape.count()?.saturating_mul(size_of::<S::Elem>());
    let matrix = sparse.view().reshape([rows, depth])?;
    let entries = entries(&semiring, &matrix, 1)?;
    let matrix = borrowed(&entries, depth);
    let place = match super::dense::in_place(dense) {
        Some(_) => "read where it lies",
        None => "copied because it is not contiguous in memory",
    };
    let count = matrix.positions.len();
    let own = entry_bytes::<S::Elem>(count);
    Ok(report(
        headline(count, sparse, dense, &pairing),
        [
            format!("rows: {rows} of {depth} columns, each times {depth} rows of {width}"),
            format!("operand 2: {place}"),
        ],
        matrix.threads(rows, width),
        [own.saturating_add(bytes_read(&dense.view())), written],
    ))
}

/// How [`times_sparse`](super::times_sparse) would go about it.
///
/// # Errors
///
/// As `times_sparse`.
///
/// ```
/// use lensor::product::{PlusTimes, explained};
/// use lensor::{Tensor, storage::Sparse};
/// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 3, 0], 0)?)?;
/// let text = explained::times_sparse(PlusTimes, &a, &a)?.to_string();
/// assert!(text.contains("rows: 2 entries, 2 terms"));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn times_sparse<S, R, M>(
    semiring: M,
    left: &Tensor<S>,
    right: &Tensor<R>,
) -> Result<Explanation>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    contract(semiring, left, right, &[(last_axis(left)?, 0)])
}

/// How [`contract`](super::contract) would go about it. How many entries the product has is not known before
/// it is computed: the bytes that are written are those of an entry for every term, which they are at the most.
///
/// # Errors
///
/// As `contract`.
///
/// ```
/// use lensor::product::{PlusTimes, explained};
/// use lensor::{Tensor, storage::Sparse};
/// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 3, 0], 0)?)?;
/// let text = explained::contract(PlusTimes, &a, &a, &[])?.to_string();
/// assert!(text.contains("[2, 2] and [2, 2] to [2, 2, 2, 2]"));
/// assert!(text.contains("rows: 2 entries, 4 terms"));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn contract<S, R, M>(
    semiring: M,
    left: &Tensor<S>,
    right: &Tensor<R>,
    pairs: &[(usize, usize)],
) -> Result<Explanation>
where
    S: Reader<Elem: SameBits>,
    R: Reader<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    let pairing = Pairing::new(&left.shape(), &right.shape(), pairs)?;
    pairing.shape.count()?;
    let [rows, depth, columns] = pairing.extents;
    let matrices = matrices(left, right, &pairing)?;
    let (a, b) = (entries(&semiring, &matrices.0, 1)?, entries(&semiring, &matrices.1, 2)?);
    let (a, b) = (borrowed(&a, depth), borrowed(&b, columns));
    let (how, terms, threads) = gustavson::explain(a, b, [rows, depth])?;
    let (count, entry) = (a.positions.len(), entry_bytes::<S::Elem>);
    let bytes = [entry(count).saturating_add(entry(b.positions.len())), entry(terms)];
    Ok(report(headline(count, left, right, &pairing), [how], threads, bytes))
}

fn headline<S: Reader, R: Reader>(
    entries: usize,
    left: &Tensor<S>,
    right: &Tensor<R>,
    pairing: &Pairing,
) -> String {
    let (element, left, right) = (type_name::<S::Elem>(), left.shape(), right.shape());
    format!(
        "product of {entries} stored {element} of {left:?} and {right:?} to {:?}",
        pairing.shape
    )
}

/// Bytes of stored entries, positions and values.
fn entry_bytes<T>(count: usize) -> usize {
    count.saturating_mul(size_of::<usize>() + size_of::<T>())
}
