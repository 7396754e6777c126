//! Segments: folds of parts of an axis, cut by offsets or gathered by keys.
//!
//! ```
//! use lensor::prelude::*;
//! let t = Tensor::from(vec![1, 2, 3, 4]);
//! assert_eq!(t.segments(0, [0, 1, 4]).sum().to_vec()?, [1_i64, 9]);
//! assert_eq!(t.by_key(0, [1, 0, 1, 0], 2).max().to_vec()?, [4, 3]);
//!
//! let (names, groups) = t.group_by(0, ["b", "a", "b", "b"])?;
//! assert_eq!((names, groups.sum().to_vec()?), (vec!["a", "b"], vec![2_i64, 8]));
//! # Ok::<(), Error>(())
//! ```

mod cuts;
mod keys;

use crate::compute::{Compute, Deferred, reads};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, COPIED_BYTES, Explanation, Expr, IntoExpr, Lazy, blocks_at_once, box_shape, boxes_along,
    elements, first_error, of_view, selectors_around,
};
use crate::kernel::{Filled, inner};
use crate::map::{AddressMap, IntoNumbers, Select};
use crate::ops::along::Along;
use crate::ops::reduce::reducers::*;
use crate::ops::reduce::{Reducer, fold_methods, named_folds, reduces};
use crate::shape::Shape;
use crate::tensor::Tensor;
use cuts::Cuts;
pub(crate) use cuts::SegmentOffsets;
use keys::{in_order, offsets_of, order};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Folds of segments as methods of tensors and expressions.
///
/// Nothing but offsets and keys is computed before [`Deferred::eval`].
///
/// # Errors
///
/// When they are computed, all of them report [`Error::Axis`] if the axis does not exist,
/// [`Error::InvalidOffsets`] with the first offset that falls or exceeds the extent of the axis,
/// [`Error::ListLength`] unless there is one key for each element along it, and [`Error::Key`] with the first that
/// is of no group, [`Error::EmptySegment`] for a part without elements, if the reducer has no result then,
/// [`Error::Overflow`] for the first result that does not fit its type, [`Error::NothingLeft`] for the first of
/// elements that were all left out, what [`IntoNumbers::into_numbers`] of offsets or keys reported,
/// [`Error::ShapeOverflow`] for too many groups, [`Error::OutOfMemory`], and what the evaluation of the operand
/// reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no segments",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Segments: IntoExpr + Sized {
    /// The segments of `axis` between neighbouring offsets: `n + 1` offsets that do not fall give `n` results.
    /// Choose the fold by the next method, as in `.sum()`.
    ///
    /// The elements of the parts themselves, as views, are [`Tensor::split`].
    ///
    /// What lies before the first offset and after the last is left out. A segment without elements has
    /// the result of no elements, as 0 for a sum; for a reducer without one it is
    /// [`Error::EmptySegment`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2, 3, 4], [5, 6, 7, 8]])?;
    /// let sums = t.segments(1, [0, 2, 2, 4]).sum().eval()?;
    /// assert_eq!(sums.shape(), [2, 3]);
    /// assert_eq!(sums.to_vec()?, [3_i64, 0, 7, 11, 0, 15]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "reduceat")]
    fn segments(self, axis: usize, offsets: impl IntoNumbers) -> Parts<Self::Expr> {
        Parts::between(self.into_expr(), axis, offsets.into_numbers())
    }

    /// Elements with the same key: result `g` along `axis` is that of the elements, in order, whose
    /// key is `g`. There is one key for each element along `axis`, and there are `groups` results.
    ///
    /// A group without elements is as a segment without elements, see [`Self::segments`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(t.by_key(0, [1, 0, 1], 2).sum().to_vec()?, [3_i64, 4, 6, 8]);
    /// let kinds = Tensor::from(vec![7, 3, 7]).unique()?;
    /// assert_eq!(t.by_key(0, &kinds.inverse, 2).max().to_vec()?, [3, 4, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "bincount")]
    fn by_key(self, axis: usize, keys: impl IntoNumbers, groups: usize) -> Parts<Self::Expr> {
        let cut = keys.into_numbers().map(|keys| Cut::Keys { keys, groups });
        Parts { e: self.into_expr(), axis, cut }
    }

    /// Elements with the same key, of any ordered type: gives the keys that occur, ascending, and
    /// groups with one result along `axis` for each. Keys of a tensor are `keys.to_vec()?`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the keys that occur and their order cannot be kept.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1.0, 2.0, 3.0, 4.0]);
    /// let (months, groups) = t.group_by(0, [12, 1, 12, 2])?;
    /// assert_eq!(months, [1, 2, 12]);
    /// assert_eq!(groups.mean().to_vec()?, [2.0, 4.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn group_by<K: Ord + Clone>(
        self,
        axis: usize,
        keys: impl AsRef<[K]>,
    ) -> Result<(Vec<K>, Parts<Self::Expr>)> {
        let (found, numbers) = keys::kinds(keys.as_ref())?;
        let cut = Ok(Cut::Keys { keys: numbers, groups: found.len() });
        Ok((found, Parts { e: self.into_expr(), axis, cut }))
    }
}

crate::compute::for_operands!(Segments);

/// Parts of an axis, of which the next method chooses the fold: see [`Segments::segments`], [`Segments::by_key`]
/// and [`Segments::group_by`].
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct Parts<E> {
    e: E,
    axis: usize,
    cut: Result<Cut>,
}

/// Which elements belong together.
#[derive(Debug, Clone)]
enum Cut {
    Offsets(Vec<usize>),
    Keys { keys: Vec<usize>, groups: usize },
}

impl<E: Expr> Parts<E> {
    /// Those between offsets. An error of the offsets alone does not know their axis, and has the extent
    /// `usize::MAX`: both are filled in here.
    fn between(e: E, axis: usize, offsets: Result<Vec<usize>>) -> Self {
        let extent = || e.shape().and_then(|shape| shape.extent(axis));
        let cut = offsets.map(Cut::Offsets).map_err(|error| match (error, extent()) {
            (Error::InvalidOffsets { at, offset, least, extent: usize::MAX, .. }, Ok(extent)) => {
                Error::InvalidOffsets { at, offset, least, axis, extent }
            }
            (error, _) => error,
        });
        Self { e, axis, cut }
    }

    /// Folds each part with any reducer.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::{ArgMax, Max, Min};
    /// let t = Tensor::from(vec![1, 5, 2, 4]);
    /// assert_eq!(t.segments(0, [0, 1, 4]).fold((Min, Max)).to_vec()?, [(1, 1), (2, 5)]);
    /// assert_eq!(t.by_key(0, [0, 1, 0, 1], 2).fold(ArgMax).to_vec()?, [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fold<R: Reducer<E::Elem>>(self, reducer: R) -> LazySegments<E, R> {
        Deferred::new(Segmented { e: self.e, axis: self.axis, cut: self.cut, reducer })
    }

    named_folds!(fold_methods LazySegments, "each part";);
}

/// A fold of parts of an axis. The operand is computed block by block, or first where its lanes lie in short pieces and it is
/// not large; by key along the last axis, a copy of it in the order of the groups is folded. Each part is folded in blocks of
/// a fixed size that are joined in pairs, whatever the view, see [`reduce`](crate::reduce#bits).
#[derive(Debug, Clone)]
pub struct Segmented<E, R> {
    e: E,
    axis: usize,
    cut: Result<Cut>,
    reducer: R,
}

/// A [`Segmented`], not yet computed.
pub type LazySegments<E, R> = Deferred<Segmented<E, R>>;

impl<E, R> Sealed for Segmented<E, R> {}

reduces!(Segmented { axis, cut });

impl<E: Expr, R: Reducer<E::Elem>> Compute for Segmented<E, R> {
    type Elem = R::Out;

    /// That of the operand, with one element a segment along the axis.
    fn shape(&self) -> Result<Shape> {
        let count = match self.cut.as_ref().map_err(Error::copy)? {
            Cut::Offsets(offsets) => offsets.len().saturating_sub(1),
            Cut::Keys { groups, .. } => *groups,
        };
        self.e.shape()?.with_extent(self.axis, count)
    }

    reads!(e);

    fn fill(&self, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        self.fill_box(&[], out)
    }

    fn boxes(&self, limit: usize) -> Result<Boxes> {
        boxes_along::<R::Out, _>(&self.e, &self.shape()?, self.axis, limit, 2)
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<R::Out>>> {
        let shape = box_shape(&self.shape()?, ranges);
        let data = inner::collect(shape.count()?, |out| self.fill_box(ranges, out))?;
        Tensor::new(shape, data)
    }

    fn explain(&self) -> Result<Explanation> {
        let Ordered { e, offsets, keys, .. } = self.ordered(&[])?;
        let (what, blocks) = match (keys, &offsets[..]) {
            (Some(_), _) => {
                ("segments of a copy, ordered by key,", Some(blocks_at_once(&e, None)?))
            }
            // How much is read of what lies before and behind all segments is not said.
            (None, &[first, .., last]) if last - first < e.shape()?[self.axis] => {
                ("segments", Some(Vec::new()))
            }
            _ => ("segments", None),
        };
        let offsets = SegmentOffsets::Wide(&offsets);
        let cuts = Cuts { reducer: &self.reducer, offsets };
        Along::new(&e, self.axis)?.explain(what, &cuts, blocks)
    }
}

/// An operand in which elements that belong together lie side by side, and where to cut it.
struct Ordered<'o, E: Expr + 'o> {
    e: Lazy<E::Ref<'o>>,
    /// How they were brought there, unless they lay so.
    order: Option<Vec<Select>>,
    offsets: Cow<'o, [usize]>,
    /// Keys of the last axis, if they lie side by side only in a copy that is yet to be made.
    keys: Option<&'o [usize]>,
}

impl<E: Expr, R: Reducer<E::Elem>> Segmented<E, R> {
    /// Computes a box of the results.
    fn fill_box(&self, ranges: &[Range<usize>], out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        let Ordered { e, order, offsets, keys } = self.ordered(ranges)?;
        let cuts = Cuts { reducer: &self.reducer, offsets: SegmentOffsets::Wide(&offsets) };
        let found = match keys {
            None => Along::new(&e, self.axis)?.fill(&cuts, out),
            Some(keys) => {
                let copy = elements(&e).and_then(|all| in_order(all, keys, &offsets));
                copy.and_then(|copy| {
                    let copy = Tensor::new(e.shape()?, copy)?;
                    Along::new(&copy.view(), self.axis)?.fill(&cuts, out)
                })
            }
        };
        let way = |map: AddressMap| {
            map.select(selectors_around(ranges, self.axis))?.select(order.as_deref().unwrap_or(&[]))
        };
        found.map_err(|error| {
            let whole = Lazy(self.e.by_ref());
            match self.cut {
                // Elements are read in another order than that of the operand.
                Ok(Cut::Keys { .. }) => first_error(&whole, error, &way),
                _ => of_view(&whole, error, &way),
            }
        })
    }

    /// A box of the operand, and how it is cut.
    fn ordered(&self, ranges: &[Range<usize>]) -> Result<Ordered<'_, E>> {
        let (axis, extent) = (self.axis, self.e.shape()?.extent(self.axis)?);
        let mut e = Lazy(self.e.by_ref());
        if !ranges.is_empty() {
            e = e.select(selectors_around(ranges, axis))?;
        }
        let (mut copied, mut selected) = (None, None);
        let offsets = match self.cut.as_ref().map_err(Error::copy)? {
            Cut::Offsets(offsets) => {
                check_offsets(offsets, axis, extent)?;
                Cow::Borrowed(&offsets[..])
            }
            Cut::Keys { keys, groups } => {
                let offsets = offsets_of(keys, *groups, axis, extent)?;
                let shape = e.shape()?;
                let bytes = shape.count()?.saturating_mul(size_of::<E::Elem>());
                let are_few = bytes <= COPIED_BYTES.max(size_of_val(&keys[..]));
                if are_few && shape[axis + 1..].iter().all(|&n| n == 1) {
                    copied = Some(&keys[..]);
                } else {
                    let order = order(keys, &offsets)?;
                    let others = (0..axis).map(|_| Select::All);
                    let order: Vec<_> = others.chain([Select::List(order)]).collect();
                    e = e.select(&order[..])?;
                    selected = Some(order);
                }
                Cow::Owned(offsets)
            }
        };
        if self.reducer.empty().is_none()
            && let Some(segment) = SegmentOffsets::Wide(&offsets).first_empty()
        {
            return Err(Error::EmptySegment { segment, axis });
        }
        Ok(Ordered { e, order: selected, offsets, keys: copied })
    }
}

/// Folds parts of an axis between neighbouring offsets, which ascend and lie inside; deferred operands are computed.
pub(crate) fn fold_cuts<E: Expr, R: Reducer<E::Elem>>(
    e: &E,
    axis: usize,
    offsets: SegmentOffsets<'_>,
    reducer: &R,
) -> Result<Vec<R::Out>> {
    let count = e.shape()?.with_extent(axis, offsets.segments())?.count()?;
    let along = Along::new(e, axis)?;
    inner::collect(count, |out| along.fill(&Cuts { reducer, offsets }, out))
}

fn check_offsets(offsets: &[usize], axis: usize, extent: usize) -> Result<()> {
    let mut least = 0;
    for (at, &offset) in offsets.iter().enumerate() {
        if offset < least || offset > extent {
            return Err(Error::InvalidOffsets { at, offset: offset as i128, least, axis, extent });
        }
        least = offset;
    }
    Ok(())
}
