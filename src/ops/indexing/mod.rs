//! Elements at lists of indexes: where they are nonzero, read, written and folded.
//!
//! A list of indexes is one operand of `usize` and shape `(.., rank)`, as [`Indexing::nonzero`] gives it, or a
//! tuple of one operand an axis, which stretch to one another. What is read at it has the shape of the list: `(..)`, or
//! the joint shape of the tuple.
//!
//! ```
//! use lensor::indexing::Indexing;
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[1, 0, 2], [0, 3, 4]])?;
//! let at = t.nonzero()?;
//! assert_eq!(at.to_vec()?, [0, 0, 0, 2, 1, 1, 1, 2]);
//! assert_eq!(t.take_at(&at).to_vec()?, [1, 2, 3, 4]);
//!
//! let (rows, columns) = (Tensor::from_nested([[0_usize], [1]])?, Tensor::from(vec![2, 0]));
//! assert_eq!(t.take_at((&rows, &columns)).to_vec()?, [2, 1, 4, 0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Whole axes are selected by [`Tensor::select`], which takes lists of indexes and masks, too.

mod list;
mod take;
mod write;

pub use list::{Indexes, IntoIndexes};
pub use take::TakeAt;

use crate::compute::{Deferred, for_operands};
use crate::dtype::Measure;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{IntoExpr, Lazy, for_each_piece, for_each_stored};
use crate::map::AddressMap;
use crate::memory::{resize, try_reserve};
use crate::shape::{Index, Shape};
use crate::tensor::Tensor;

/// Elements that are looked at in one go.
const PIECE: usize = 1 << 16;

/// Reading at lists of indexes, see the [module](self).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read at a list of indexes",
    note = "`&Tensor`, `Lazy` expressions, deferred operations and references to these can"
)]
pub trait Indexing: IntoExpr + Sized {
    /// The indexes of all elements that are neither `false` nor 0, in row-major order: a tensor of shape
    /// `(count, rank)`. Follows NumPy's `argwhere`. NaN is not 0.
    ///
    /// Computed at once, as the number of results follows from elements. Of sparse operands whose fill value is 0
    /// only entries are visited.
    ///
    /// # Errors
    ///
    /// What evaluating this operand reports, and [`Error::OutOfMemory`] if the indexes cannot be kept.
    ///
    /// ```
    /// use lensor::indexing::Indexing;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[5, 0], [7, 9]])?;
    /// let large = t.greater(6).nonzero()?;
    /// assert_eq!(large.shape(), [2, 2]);
    /// assert_eq!(large.to_vec()?, [1, 0, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "argwhere")]
    fn nonzero(self) -> Result<Tensor<Vec<usize>>>
    where
        Self::Elem: Measure,
    {
        let e = Lazy(self.into_expr());
        let shape = e.shape()?;
        let mut found = Found::new(&shape);
        let is_done = e.is_sparse() && {
            let fill = for_each_stored(&e.0, &shape, &mut |fill, positions, values| match fill
                .is_true()
            {
                true => Ok(()),
                false => Ok(found.add(values, |k| positions[k])?),
            })?;
            !fill.is_true()
        };
        if !is_done {
            let mut start = 0;
            for_each_piece(&e, PIECE, |piece| {
                found.add(piece, |k| start + k)?;
                start += piece.len();
                Ok(())
            })?;
        }
        let map = AddressMap::row_major([found.count, shape.rank()])?;
        Ok(Tensor::from_parts(map, found.digits))
    }

    /// The elements at a list of indexes, one for each, in a tensor of the shape of the list: see the
    /// [module](self). A list without indexes gives a tensor without elements, and the index of an operand of rank 0
    /// has no numbers: `(n, 0)` reads its element `n` times.
    ///
    /// The shape, and with it the result, is [`Error::Rank`] if indexes have not one number an axis,
    /// [`Error::ExpectedRank`] for a list of rank 0, [`Error::Operands`] for a tuple that does not align. The result is
    /// [`Error::IndexAt`], with the first place in the list, for an index out of bounds: negative ones do not wrap.
    ///
    /// ```
    /// use lensor::indexing::Indexing;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let at = Tensor::from_nested([[1_usize, 2], [0, 0], [1, 2]])?;
    /// assert_eq!(t.take_at(&at).to_vec()?, [6, 1, 6]);
    /// assert_eq!(
    ///     t.take_at((&at, 0)).eval().unwrap_err().to_string(),
    ///     "index 2 for axis 0, at [0, 1] of the list, is out of bounds: the extent is 2"
    /// );
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "gather")]
    fn take_at<'a>(self, indexes: impl IntoIndexes<'a>) -> Deferred<TakeAt<'a, Self::Expr>> {
        Deferred::new(TakeAt { operand: Lazy(self.into_expr()), indexes: indexes.into_indexes() })
    }
}

for_operands!(Indexing);

/// Indexes that were found.
struct Found<'a> {
    shape: &'a Shape,
    count: usize,
    digits: Vec<usize>,
    /// The index that was found last, and the position at which its row along the last axis begins.
    index: Index,
    row: usize,
    /// Scratch memory: which of some elements are true.
    places: Vec<usize>,
}

impl<'a> Found<'a> {
    fn new(shape: &'a Shape) -> Self {
        let index = Index::from_elem(0, shape.rank());
        Self { shape, count: 0, digits: Vec::new(), index, row: 0, places: Vec::new() }
    }

    /// Adds the indexes of elements that are true, whose row-major positions are given.
    fn add<T: Measure>(&mut self, elements: &[T], position: impl Fn(usize) -> usize) -> Result<()> {
        let Self { shape, places, digits, index, .. } = self;
        if places.len() < elements.len() {
            resize(places, elements.len(), 0)?;
        }
        // Whether an element is true would be an unpredictable branch.
        let mut count = 0;
        for (k, element) in elements.iter().enumerate() {
            places[count] = k;
            count += usize::from(element.is_true());
        }
        self.count += count;
        let (rank, start) = (shape.rank(), digits.len());
        let Some(&width) = shape.last() else { return Ok(()) };
        try_reserve(digits, count.saturating_mul(rank))?;
        digits.resize(start + count * rank, 0);
        for (digits, &place) in digits[start..].chunks_exact_mut(rank).zip(&places[..count]) {
            let position = position(place);
            if position.wrapping_sub(self.row) >= width {
                *index = shape.unravel(position);
                self.row = position - index[rank - 1];
            }
            index[rank - 1] = position - self.row;
            digits.iter_mut().zip(index.iter()).for_each(|(slot, &digit)| *slot = digit);
        }
        Ok(())
    }
}
