//! Elements at lists of indexes: where they are nonzero, read, written and folded.
//!
//! A list of indexes is one operand of `usize` and shape `(.., rank)`, as [`Indexing::nonzero`] gives it, or, for up to
//! six axes, a tuple of one operand per axis, which stretch to one another. What is read at it has the shape of the
//! list: `(..)`, or the joint shape of the tuple.
//!
//! ```
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
//! A list of numbers for one axis is a tuple of one, `(&list,)`. Whole axes are selected by [`Tensor::select`], which takes
//! lists of indexes and masks, too: rows at a computed list are `t.select((&rows.to_vec()?, ..))`. To fold at rows, give a
//! column of their numbers and a row of all columns, see [`Tensor::fold_at`].

mod found;
mod list;
mod take;
mod write;

pub use list::{Indexes, IntoIndexes};
pub use take::TakeAt;
pub(crate) use take::{Source, of_part};
pub(crate) use write::first_repeat;

use crate::compute::{Deferred, for_operands};
use crate::dtype::Truth;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{IntoExpr, Lazy, prepare};
use crate::map::AddressMap;
use crate::memory::append;
use crate::tensor::Tensor;
use found::{Found, for_each_true};

/// Elements that are looked at in one go.
const PIECE: usize = 1 << 16;

/// Reading at lists of indexes, see the [module](self).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read at a list of indexes",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these can"
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
    /// What evaluating this operand reports, [`Error::WouldDensify`] for very many elements of a sparse operand
    /// whose fill value is not 0, see [`Lazy::densely`], and [`Error::OutOfMemory`] if the indexes cannot be kept.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[5, 0], [7, 9]])?;
    /// let large = t.greater(6).nonzero()?;
    /// assert_eq!(large.shape(), [2, 2]);
    /// assert_eq!(large.to_vec()?, [1, 0, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "argwhere")]
    #[doc(alias = "flatnonzero")]
    #[doc(alias = "where")]
    fn nonzero(self) -> Result<Tensor<Vec<usize>>>
    where
        Self::Elem: Truth,
    {
        let e = Lazy(self.into_expr());
        let shape = e.shape()?;
        let mut found = Found::new(&shape);
        for_each_true(&e, &shape, |positions| found.add(positions))?;
        let map = AddressMap::row_major([found.count, shape.rank()])?;
        Ok(Tensor::from_parts(map, found.digits))
    }

    /// The elements at which a mask is true, in row-major order: a list. Elements elsewhere are not computed, but
    /// by deferred operands, nor read, but with the block of storage in which others lie.
    ///
    /// The mask is stretched to the operand, never the operand to the mask. Computed at once, as the number of
    /// results follows from elements. Along one axis [`compress`](Tensor::compress) selects by a mask, lazily.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] for a mask that does not stretch to this operand, what evaluating this operand and the
    /// mask reports, [`Error::WouldDensify`] for very many elements of a sparse mask whose fill value is not
    /// `false`, see [`Lazy::densely`], and [`Error::OutOfMemory`] if the elements cannot be kept.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[5, 0], [7, 9]])?;
    /// assert_eq!(t.extract(t.greater(4))?.to_vec()?, [5, 7, 9]);
    /// let quotients = (63_i32 / &t).extract(t.not_equal(0))?;
    /// assert_eq!(quotients.to_vec()?, [12, 9, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "masked_select")]
    #[doc(alias = "boolean_mask")]
    fn extract<M: IntoExpr<Elem = bool>>(self, mask: M) -> Result<Tensor<Vec<Self::Elem>>> {
        let (e, mask) = (Lazy(self.into_expr()), Lazy(mask.into_expr()));
        let shape = e.shape()?;
        let of_mask = mask.shape()?;
        shape.check_mask(&of_mask, 2)?;
        let _results = prepare(&e.0)?;
        if of_mask.rank() == 0 {
            // Scalars have no views that would be stretched.
            let all = match mask.eval()?.item()? {
                true => e.to_vec()?,
                false => Vec::new(),
            };
            return Ok(Tensor::from(all));
        }
        let mask = mask.stretched(&shape)?;
        let source = Source::new(&e)?;
        let (mut found, mut waiting) = (Vec::new(), Vec::new());
        let mut read = |positions: &[usize]| {
            let read = source.read(positions, |elements| append(&mut found, elements));
            read.map_err(|error| of_part(error, |place| shape.unravel(positions[place])))
        };
        for_each_true(&mask, &shape, |positions| {
            if source.at_once() <= positions.len() && waiting.is_empty() {
                return read(positions);
            }
            append(&mut waiting, positions)?;
            if waiting.len() >= source.at_once() {
                read(&std::mem::take(&mut waiting))?;
            }
            Ok(())
        })?;
        read(&waiting)?;
        Ok(Tensor::from(found))
    }

    /// The elements at a list of indexes, one for each, in a tensor of the shape of the list: see the
    /// [module](self). So `[0, 1]` is the element of a matrix in row 0 and column 1, not two rows: these are those of
    /// [`select`](Tensor::select). A list without indexes gives a tensor without elements, and the index of an operand
    /// of rank 0 has no numbers: `(n, 0)` reads its element `n` times.
    ///
    /// Of an expression of operands in memory all elements are computed first if the list has as many indexes or more:
    /// closures are called for those that the list does not mean, too, but it is no error if one cannot be computed.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Rank`] unless indexes have one number per axis,
    /// [`Error::ExpectedRank`] for a list of rank 0, [`Error::Operands`] for a tuple that does not align. The result is
    /// [`Error::IndexAt`], with the first place in the list, for an index out of bounds: negative ones do not wrap.
    ///
    /// ```
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
    #[doc(alias = "gather_nd")]
    fn take_at<'a>(self, indexes: impl IntoIndexes<'a>) -> Deferred<TakeAt<'a, Self::Expr>> {
        Deferred::new(TakeAt { operand: Lazy(self.into_expr()), indexes: indexes.into_indexes() })
    }
}

for_operands!(Indexing);
