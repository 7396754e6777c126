//! Products of sparse tensors: with dense ones, with one another, over any semiring.
//!
//! | operands | result | |
//! |---|---|---|
//! | sparse, dense | dense, [deferred](Deferred) | [`Tensor::times_dense`] |
//! | sparse, sparse | sparse | [`Tensor::times_sparse`], [`Tensor::contract`] |
//!
//! An operand is a tensor under any view: a transposed matrix is `a.view().transpose([1, 0])?`. Its stored
//! entries are found through the view, never by scanning it. The last argument says what to add and
//! multiply by: [`PlusTimes`], [`MinPlus`], [`OrAnd`] or a [`Semiring`] of your own.
//!
//! Only stored entries take part, so the fill value must be the zero of the semiring. What is not stored
//! counts as zero whatever it would meet: 0 times NaN, where the 0 is not stored, adds nothing.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::product::{MinPlus, PlusTimes};
//! use lensor::storage::{Duplicates, Sparse};
//! // Roads: from, to, kilometres.
//! let roads = Tensor::from_coordinates(
//!     [1000, 1000],
//!     f64::INFINITY,
//!     &[[0, 1], [1, 999], [0, 999]],
//!     vec![2.0, 3.0, 9.0],
//!     Duplicates::Refuse,
//! )?;
//! let by_two_roads = roads.times_sparse(&roads, MinPlus)?;
//! assert_eq!(by_two_roads.get([0, 999])?, 5.0);
//! assert_eq!(by_two_roads.storage().stored_len(), 1);
//!
//! let matrix = Tensor::new([2, 3], Sparse::from_dense(&[0, 2, 0, 3, 0, 4], 0)?)?;
//! let x = Tensor::from(vec![1, 10, 100]);
//! assert_eq!(matrix.times_dense(&x, PlusTimes).to_vec()?, [20, 403]);
//! let turned = matrix.view().transpose([1, 0])?;
//! assert_eq!(turned.times_sparse(&matrix, PlusTimes)?.to_vec()?, [9, 0, 12, 0, 4, 0, 12, 0, 16]);
//! # Ok::<(), Error>(())
//! ```

mod dense;
mod gustavson;
mod semiring;

pub use dense::TimesDense;
pub use semiring::{MinPlus, OrAnd, PlusTimes, Semiring};

use crate::compute::Deferred;
use crate::dtype::SameBits;
use crate::error::{Error, Result};
use crate::expr::{Explanation, IntoExpr, Lazy};
use crate::kernel::sparse::Entries;
use crate::ops::contraction::Pairing;
use crate::shape::Shape;
use crate::storage::{Reader, Sparse};
use crate::tensor::Tensor;
use crate::tensor::stored::{self, entries_of};
use std::any::type_name;

impl<S: Reader<Elem: SameBits>> Tensor<S> {
    /// The product of this sparse tensor with a dense operand, over the last axis of this one and the first axis of
    /// the other.
    ///
    /// Shapes `(.., k)` and `(k, ..)` give the other axes of both: a matrix times a vector is a vector, times a
    /// matrix a matrix. The dense operand is read where it lies if it is contiguous in memory, and computed
    /// otherwise. Each element is summed up in order, so it is the same for any number of threads. It borrows this
    /// tensor, views too: give one a name first.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::NotSparse`] and [`Error::FillNotZero`] if this operand is dense, or its fill
    /// is not the zero of the semiring; [`Error::Contraction`] if the axes differ in extent,
    /// [`Error::ExpectedRank`] for an operand of rank 0, [`Error::ShapeOverflow`], [`Error::RankLimit`],
    /// [`Error::Storage`], and what evaluating the dense operand reports, see [`Deferred::eval`].
    ///
    /// ```
    /// use lensor::product::OrAnd;
    /// use lensor::{Tensor, storage::Sparse};
    /// let follows = Tensor::new([3, 3], Sparse::from_sorted(9, false, vec![1, 5], vec![true, true])?)?;
    /// let told = Tensor::from(vec![false, true, false]);
    /// assert_eq!(follows.times_dense(&told, OrAnd).to_vec()?, [true, false, false]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "matmul")]
    #[doc(alias = "dot")]
    #[doc(alias = "spmm")]
    pub fn times_dense<R, M>(
        &self,
        dense: R,
        semiring: M,
    ) -> Deferred<TimesDense<'_, S, R::Expr, M>>
    where
        R: IntoExpr<Elem = S::Elem>,
        M: Semiring<S::Elem>,
    {
        Deferred::new(TimesDense { sparse: self, dense: Lazy(dense.into_expr()), semiring })
    }

    /// The product of two sparse tensors, over the last axis of the first and the first axis of the second.
    ///
    /// Shapes `(.., k)` and `(k, ..)` give the other axes of both. Takes time in proportion to the entries and
    /// the terms, whatever the extents. Entries whose terms happen to add up to zero stay, until
    /// [`Sparse::prune`] drops them.
    ///
    /// # Errors
    ///
    /// As for [`Self::contract`], and [`Error::ExpectedRank`] for an operand of rank 0.
    ///
    /// ```
    /// use lensor::product::PlusTimes;
    /// use lensor::{Tensor, storage::Sparse};
    /// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 3, 0], 0)?)?;
    /// assert_eq!(a.times_sparse(&a, PlusTimes)?.to_vec()?, [6, 0, 0, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "matmul")]
    #[doc(alias = "dot")]
    #[doc(alias = "spmm")]
    pub fn times_sparse<R, M>(
        &self,
        other: &Tensor<R>,
        semiring: M,
    ) -> Result<Tensor<Sparse<S::Elem>>>
    where
        R: Reader<Elem = S::Elem>,
        M: Semiring<S::Elem>,
    {
        self.contract(other, [chained(&self.shape(), &other.shape())?], semiring)
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
    /// [`Error::ShapeOverflow`], [`Error::RankLimit`], [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::product::PlusTimes;
    /// use lensor::{Tensor, storage::Duplicates};
    /// let tensor = |shape: [usize; 3], indexes: &[[usize; 3]], values| {
    ///     Tensor::from_coordinates(shape, 0, indexes, values, Duplicates::Refuse)
    /// };
    /// let a = tensor([2, 30, 40], &[[0, 5, 7], [1, 5, 8]], vec![2, 3])?;
    /// let b = tensor([40, 6, 30], &[[7, 4, 5], [8, 4, 6]], vec![10, 100])?;
    /// let c = a.contract(&b, [(1, 2), (2, 0)], PlusTimes)?;
    /// assert_eq!(c.shape(), [2, 6]);
    /// assert!(c.storage().iter().eq([(4, 20)])); // [0, 4]
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "tensordot")]
    pub fn contract<R, M>(
        &self,
        other: &Tensor<R>,
        pairs: impl AsRef<[(usize, usize)]>,
        semiring: M,
    ) -> Result<Tensor<Sparse<S::Elem>>>
    where
        R: Reader<Elem = S::Elem>,
        M: Semiring<S::Elem>,
    {
        let (pairing, [a, b]) = factors(self, other, pairs.as_ref(), &semiring)?;
        let ([rows, depth, columns], len) = (pairing.extents, pairing.shape.count()?);
        let (a, b) = (borrowed(&a, depth), borrowed(&b, columns));
        let (positions, values) = gustavson::multiply(&semiring, a, b, [rows, depth])?;
        Tensor::new(pairing.shape, Sparse::of_sorted(len, semiring.zero(), positions, values))
    }

    /// How [`Self::contract`] would go about it, in words. It finds the stored entries of both operands, on which
    /// the ways of a product depend, and multiplies none. [`Self::times_sparse`] is such a product over one pair.
    ///
    /// How many entries the product has is not known before it is computed: the bytes that are written are those of
    /// an entry for every term, which they are at the most.
    ///
    /// # Errors
    ///
    /// As [`Self::contract`].
    ///
    /// ```
    /// use lensor::product::PlusTimes;
    /// use lensor::{Tensor, storage::Sparse};
    /// let a = Tensor::new([2, 2], Sparse::from_dense(&[0, 2, 3, 0], 0)?)?;
    /// let text = a.explain_contract(&a, [(1, 0)], PlusTimes)?.to_string();
    /// assert!(text.contains("rows: 2 entries, 2 terms"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn explain_contract<R, M>(
        &self,
        other: &Tensor<R>,
        pairs: impl AsRef<[(usize, usize)]>,
        semiring: M,
    ) -> Result<Explanation>
    where
        R: Reader<Elem = S::Elem>,
        M: Semiring<S::Elem>,
    {
        let (pairing, [a, b]) = factors(self, other, pairs.as_ref(), &semiring)?;
        let [rows, depth, columns] = pairing.extents;
        let (a, b) = (borrowed(&a, depth), borrowed(&b, columns));
        let (how, terms, threads) = gustavson::explain(a, b, [rows, depth])?;
        let (count, entry) = (a.positions.len(), entry_bytes::<S::Elem>);
        Ok(Explanation::report(
            headline::<S::Elem>(count, &self.shape(), &other.shape(), &pairing.shape),
            [how],
            threads,
            [entry(count).saturating_add(entry(b.positions.len())), entry(terms)],
        ))
    }
}

/// The operands of a product and its shape.
fn headline<T>(entries: usize, left: &Shape, right: &Shape, out: &Shape) -> String {
    let element = type_name::<T>();
    format!("product of {entries} stored {element} of {left:?} and {right:?} to {out:?}")
}

/// Bytes of stored entries, positions and values.
fn entry_bytes<T>(count: usize) -> usize {
    count.saturating_mul(size_of::<usize>() + size_of::<T>())
}

/// The axes of a product of two sparse tensors, and the entries of both as matrices to be multiplied.
fn factors<'a, S: Reader<Elem: SameBits>, R: Reader<Elem = S::Elem>>(
    left: &'a Tensor<S>,
    right: &'a Tensor<R>,
    pairs: &[(usize, usize)],
    semiring: &impl Semiring<S::Elem>,
) -> Result<(Pairing, [stored::Entries<'a, S::Elem>; 2])> {
    let pairing = Pairing::new(&left.shape(), &right.shape(), pairs)?;
    pairing.shape.count()?;
    let ([rows, depth, columns], orders) = (pairing.extents, &pairing.orders);
    let left = left.view().transpose(&orders[0])?.reshape([rows, depth])?;
    let right = right.view().transpose(&orders[1])?.reshape([depth, columns])?;
    let both = [entries(semiring, &left, 1)?, entries(semiring, &right, 2)?];
    Ok((pairing, both))
}

/// The last axis of the first operand and the first of the second, which are summed over.
fn chained(left: &Shape, right: &Shape) -> Result<(usize, usize)> {
    match left.rank().min(right.rank()) {
        0 => Err(Error::ExpectedRank { expected: 1, shape: Vec::new() }),
        _ => Ok((left.rank() - 1, 0)),
    }
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
