//! Ragged tensors from tables and from lists.

use super::Ragged;
use super::levels::{Bounds, Items, Level, pick};
use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::memory::{append, list, push, try_with_capacity};
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;
use smallvec::{SmallVec, smallvec};

impl<S> Ragged<S> {
    /// The items of axis 0 of `content` in rows: one for each index of the fixed axes `lead`.
    ///
    /// What lies before the first offset and after the last is in no row.
    ///
    /// # Errors
    ///
    /// [`Error::OffsetCount`] unless there is one offset more than rows, [`Error::InvalidOffsets`] with the first that
    /// falls or exceeds the items, [`Error::ExpectedRank`] for content without axes, [`Error::RankLimit`] and
    /// [`Error::ShapeOverflow`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::ragged::{Offsets, Ragged};
    /// let r = Ragged::new([2, 2], Offsets::new(vec![0_u32, 1, 3, 3, 4])?, Tensor::from(vec![1, 2, 3, 4]))?;
    /// assert_eq!(r.to_string(), "[[[1], [2, 3]], [[], [4]]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(lead: impl Into<Shape>, offsets: Offsets, content: Tensor<S>) -> Result<Self> {
        let (lead, items) = (lead.into(), items(&content)?);
        offsets.check(lead.count()?, items)?;
        checked(Self::of(smallvec![Level::first(&lead, Bounds::Offsets(offsets))], content))
    }

    /// Rows anywhere in the items of axis 0 of `content`: row `r` is `starts[r] + k * step` for `k` below `lens[r]`.
    ///
    /// # Errors
    ///
    /// [`Error::ListLength`] unless there is one start and one length a row, [`Error::RowBounds`] for a row that does
    /// not lie inside, and as [`Self::new`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_views([2], vec![2, 0], vec![1, 2], 1, Tensor::from(vec![1, 2, 3]))?;
    /// assert_eq!(r.to_string(), "[[3], [1, 2]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_views(
        lead: impl Into<Shape>,
        starts: Vec<usize>,
        lens: Vec<usize>,
        step: isize,
        content: Tensor<S>,
    ) -> Result<Self> {
        let (lead, extent) = (lead.into(), items(&content)?);
        let rows = lead.count()?;
        for (what, found) in [("starts", starts.len()), ("lengths", lens.len())] {
            if found != rows {
                return Err(Error::ListLength { what, axis: lead.rank(), extent: rows, found });
            }
        }
        let outside = |&(start, items): &(usize, usize)| {
            let last = start as i128 + (items as i128 - 1) * step as i128;
            items > 0 && (start >= extent || last < 0 || last >= extent as i128)
        };
        let all = starts.iter().copied().zip(lens.iter().copied());
        if let Some((row, (start, items))) = all.enumerate().find(|(_, row)| outside(row)) {
            return Err(Error::RowBounds { row, start, items, step, extent });
        }
        let level = Level::first(&lead, Bounds::views(starts, lens, step));
        checked(Self::of(smallvec![level], content))
    }

    /// One var axis around: the items of axis 0 in rows, one for each index of the fixed axes `lead`.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and [`Error::RaggedAxes`] if axis 0 is var itself and nothing is in front of it.
    ///
    /// ```
    /// use lensor::ragged::{Offsets, Ragged};
    /// let r = Ragged::from_nested(vec![vec![1], vec![2, 3], vec![]])?;
    /// let nested = r.nest([2], Offsets::new(vec![0_u32, 2, 3])?)?;
    /// assert_eq!(nested.form()?.to_string(), "2 * var * var");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn nest(self, lead: impl Into<Shape>, offsets: Offsets) -> Result<Self> {
        let Some(first) = self.levels.first() else {
            return Self::new(lead, offsets, self.content);
        };
        let Some((&items, rest)) = first.extents.split_first() else {
            return Err(Error::RaggedAxes { axis: 0, crossed: 0 });
        };
        let (lead, rest) = (lead.into(), rest.iter().copied().collect());
        offsets.check(lead.count()?, items)?;
        let mut levels = self.levels;
        levels[0].extents = rest;
        levels[0].above = items;
        levels.insert(0, Level::first(&lead, Bounds::Offsets(offsets)));
        checked(Self::of(levels, self.content))
    }
}

/// Holds the number of axes against the most that there may be.
fn checked<S>(made: Ragged<S>) -> Result<Ragged<S>> {
    Shape::check_rank(made.rank())?;
    Ok(made)
}

fn items<S>(content: &Tensor<S>) -> Result<usize> {
    content.shape().first().copied().ok_or(Error::ExpectedRank { expected: 1, shape: Vec::new() })
}

impl<T: Copy + Send + Sync> Ragged<Vec<T>> {
    /// Of rows, one after another.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_rows(["ab", "", "c"].map(str::as_bytes))?;
    /// assert_eq!(r.to_string(), "[[97, 98], [], [99]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_rows<R: AsRef<[T]>>(rows: impl IntoIterator<Item = R>) -> Result<Self> {
        let (mut items, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            append(&mut items, row.as_ref())?;
            push(&mut ends, items.len())?;
        }
        let lead = [ends.len() - 1];
        Self::new(lead, Offsets::new(ends)?, Tensor::from(items))
    }

    /// Of lists in lists of any depth: each but the outermost is a var axis. The outermost is anything that is iterated,
    /// the others are vectors or arrays.
    ///
    /// # Errors
    ///
    /// [`Error::RankLimit`] for lists nested too deeply, and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![vec![1, 2], vec![]], vec![vec![3]]])?;
    /// assert_eq!(r.form()?.to_string(), "2 * var * var");
    ///
    /// let r = Ragged::from_nested([vec![[1, 2]], vec![], vec![[3, 4], [5, 6]]])?;
    /// assert_eq!(r.to_string(), "[[[1, 2]], [], [[3, 4], [5, 6]]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_nested<N: NestedRows<Item = T>>(
        nested: impl IntoIterator<Item = N>,
    ) -> Result<Self> {
        let (mut ends, mut items) = (vec![vec![0]; N::DEPTH], Vec::new());
        let mut lead = 0;
        for rows in nested {
            rows.put(&mut ends, &mut items)?;
            lead += 1;
        }
        let (mut levels, mut above): (SmallVec<[Level; 1]>, usize) = (SmallVec::new(), 1);
        for (number, ends) in ends.into_iter().enumerate() {
            let extents = if number == 0 { smallvec![lead] } else { SmallVec::new() };
            let offsets = Offsets::new(ends)?;
            let next = offsets.last();
            levels.push(Level { above, extents, bounds: Bounds::Offsets(offsets) });
            above = next;
        }
        checked(Self::of(levels, Tensor::from(items)))
    }
}

/// Items, and vectors and arrays of them or of lists: what [`Ragged::from_nested`] takes.
pub trait NestedRows {
    /// What the innermost lists hold.
    type Item;
    #[doc(hidden)]
    const DEPTH: usize;

    /// Appends the items, and where rows of each level end.
    #[doc(hidden)]
    fn put(self, ends: &mut [Vec<usize>], items: &mut Vec<Self::Item>) -> Result<()>;
}

macro_rules! leaves {
    ($($(#[$cfg:meta])? $type:ty)*) => { $(
        $(#[$cfg])?
        impl NestedRows for $type {
            type Item = $type;
            const DEPTH: usize = 0;

            fn put(self, _ends: &mut [Vec<usize>], items: &mut Vec<$type>) -> Result<()> {
                push(items, self)
            }
        }
    )* };
}
crate::expr::for_numbers!(leaves);
leaves!(bool char);

impl<N: NestedRows> NestedRows for Vec<N> {
    type Item = N::Item;
    const DEPTH: usize = N::DEPTH + 1;

    fn put(self, ends: &mut [Vec<usize>], items: &mut Vec<N::Item>) -> Result<()> {
        put_row(self, ends, items)
    }
}

impl<N: NestedRows, const K: usize> NestedRows for [N; K] {
    type Item = N::Item;
    const DEPTH: usize = N::DEPTH + 1;

    fn put(self, ends: &mut [Vec<usize>], items: &mut Vec<N::Item>) -> Result<()> {
        put_row(self, ends, items)
    }
}

/// Appends what a row holds, and where it ends.
fn put_row<N: NestedRows>(
    row: impl IntoIterator<Item = N>,
    ends: &mut [Vec<usize>],
    items: &mut Vec<N::Item>,
) -> Result<()> {
    let Some((own, inner)) = ends.split_first_mut() else { return Ok(()) };
    let mut end = own.last().copied().unwrap_or(0);
    for each in row {
        each.put(inner, items)?;
        end += 1;
    }
    push(own, end)
}

impl<S: Reader> Ragged<S> {
    /// The axis after those of `lens` cut to so many items: var, without a copy.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] unless `lens` has the axes in front of one, [`Error::ExpectedRank`] if there is no such one,
    /// [`Error::RowLength`] for a length beyond the extent, what evaluating `lens` reports, and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::ragged::Ragged;
    /// let padded = Tensor::from_nested([[1, 2, 0], [3, 0, 0]])?;
    /// assert_eq!(Ragged::from_padded(padded, &Tensor::from(vec![2, 1]))?.to_string(), "[[1, 2], [3]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_padded<L: IntoExpr<Elem = usize>>(padded: Tensor<S>, lens: L) -> Result<Self> {
        let (lens, shape) = (Lazy(lens.into_expr()), padded.shape());
        let lead = lens.shape()?;
        let axis = lead.rank();
        let extent = front(&shape, &lead, axis)?;
        let lens = lens.to_vec()?;
        if let Some(row) = lens.iter().position(|&items| items > extent) {
            let path = Shape::from(&shape.extents()[..axis]).unravel(row).to_vec();
            return Err(Error::RowLength { row: path, axis, items: lens[row], expected: extent });
        }
        let starts = list((0..lens.len()).map(|row| row * extent))?;
        let content = merged(padded, axis)?;
        Self::from_views(&shape.extents()[..axis], starts, lens, 1, content)
    }

    /// The items of the last axis of `mask` where it is true: var, a view of the others.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] unless `mask` has the axes up to that one, [`Error::ExpectedRank`] for a mask without axes,
    /// what evaluating it reports, and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::ragged::Ragged;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(Ragged::from_masked(t.view(), (&t % 2).equal(1))?.to_string(), "[[1, 3], [5]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_masked<M: IntoExpr<Elem = bool>>(t: Tensor<S>, mask: M) -> Result<Self> {
        let (mask, shape) = (Lazy(mask.into_expr()), t.shape());
        let of_mask = mask.shape()?;
        let Some(axis) = of_mask.rank().checked_sub(1) else {
            return Err(Error::ExpectedRank { expected: 1, shape: Vec::new() });
        };
        let extent = front(&shape, &of_mask, axis)?;
        if of_mask[axis] != extent {
            return Err(refused(&shape, &of_mask, axis));
        }
        let mask = mask.to_vec()?;
        let lead = &shape.extents()[..axis];
        let rows = Shape::from(lead).count()?;
        let kept = |row: usize| (row * extent..(row + 1) * extent).filter(|&item| mask[item]);
        let offsets = Offsets::from_lengths((0..rows).map(|row| kept(row).count()))?;
        let mut items = try_with_capacity(offsets.last())?;
        (0..rows).for_each(|row| items.extend(kept(row)));
        let count = items.len();
        let content = pick(merged(t, axis)?, Items::List(items), count)?;
        Self::new(lead, offsets, content)
    }
}

impl<S: Reader> Tensor<S> {
    /// This tensor among ragged ones, without a var axis.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::ragged::Ragged;
    /// let weights = Tensor::from_nested([[10], [1]])?;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
    /// assert_eq!((weights.as_ragged() * &r).eval()?.to_string(), "[[10, 20], [3]]"); // dense on the left
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ragged(&self) -> Ragged<&S> {
        self.view().into_ragged()
    }

    /// This tensor among ragged ones, to be written.
    pub fn as_ragged_mut(&mut self) -> Ragged<&mut S> {
        Ragged::of(SmallVec::new(), self.view_mut())
    }

    /// This tensor among ragged ones, without a var axis.
    pub fn into_ragged(self) -> Ragged<S> {
        Ragged::of(SmallVec::new(), self)
    }
}

fn refused(shape: &Shape, other: &Shape, axis: usize) -> Error {
    Error::Operands { argument: 2, shape: other.to_vec(), so_far: shape.to_vec(), axis, left: true }
}

/// The extent of an axis, with the axes in front of it those of another shape.
fn front(shape: &Shape, other: &Shape, axis: usize) -> Result<usize> {
    if let Some(wrong) = (0..axis).find(|&k| shape.get(k) != other.get(k)) {
        return Err(refused(shape, other, wrong));
    }
    let missing = || Error::ExpectedRank { expected: axis + 1, shape: shape.to_vec() };
    shape.get(axis).copied().ok_or_else(missing)
}

/// The axes up to one as one axis of items.
fn merged<S>(t: Tensor<S>, axis: usize) -> Result<Tensor<S>> {
    t.rewrite(&mut |map| map.merge_axes(0..axis + 1))
}
