//! Selectors: what to take of one axis.

mod integers;

pub use integers::Step;

use super::mask::{IntoMask, Mask};
use super::table::ends;
use crate::error::{Error, Result};
use crate::memory::for_tuples;
#[cfg(feature = "roaring")]
use crate::memory::try_with_capacity;
use std::borrow::Cow;
use std::ops::{Range, RangeFull};

/// What to take of one axis.
///
/// Made from Rust's own forms too: an integer, `2..5`, `2..=4`, `2..`, `..5`, `..=4`, `..`, an array or a
/// `Vec` of indexes. Negative numbers do not wrap: the last index is [`Select::last`], all but the last are
/// `..extent - 1` (`..-1` takes nothing), and backwards is [`Select::Reverse`].
///
/// ```
/// use lensor::{Select, Tensor};
/// let t = Tensor::from_vec([2, 4], (0..8).collect())?;
/// assert_eq!(t.view().select((1, ..2))?.to_vec()?, [4, 5]);
/// assert_eq!(t.view().select((.., 1..=2))?.to_vec()?, [1, 2, 5, 6]);
/// assert_eq!(t.view().select((.., Select::range(1..3)))?.to_vec()?, [1, 2, 5, 6]);
/// assert_eq!(t.view().select([Select::Index(0), Select::stepped(3, -1, -2)])?.to_vec()?, [3, 1]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Select {
    /// The whole axis.
    All,
    /// One index; the axis goes away.
    Index(isize),
    /// The index so far before the last one; the axis goes away.
    IndexFromLast(usize),
    /// `start, start + step, ..` before `stop`; plain arithmetic, negative numbers do not wrap.
    Range {
        /// First index.
        start: isize,
        /// First index not taken, in the direction of the step; `None` runs through the end.
        stop: Option<isize>,
        /// Distance of neighbours, not 0.
        step: isize,
    },
    /// Indexes from the last one down, before `stop`, which is -1 for all.
    FromLast {
        /// First index not taken.
        stop: isize,
        /// Distance of neighbours: negative, or from the last one up.
        step: isize,
    },
    /// The whole axis backwards.
    Reverse,
    /// These indexes in this order; repeats are fine, and so is none at all.
    List(Vec<usize>),
    /// The indexes where a mask is true, ascending; or why there is no mask. See [`Select::mask`].
    Mask(Result<Mask>),
    /// The members of a bitmap, ascending.
    #[cfg(feature = "roaring")]
    Set(roaring::RoaringTreemap),
}

impl Select {
    /// `range` with step 1.
    pub fn range(range: Range<isize>) -> Self {
        Self::stepped(range.start, range.end, 1)
    }

    /// The last index; the axis goes away.
    ///
    /// ```
    /// use lensor::{Select, Tensor};
    /// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?;
    /// assert_eq!((&t + 1).select((.., Select::last()))?.to_vec()?, [3, 6]);
    /// assert_eq!(t.select((0, Select::from_last(1)))?.item()?, 1);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn last() -> Self {
        Self::from_last(0)
    }

    /// The index `back` before the last one; the axis goes away. Where there is none, errors have `extent - 1 - back`, which
    /// is negative.
    pub fn from_last(back: usize) -> Self {
        Self::IndexFromLast(back)
    }

    /// `start, start + step, ..` before `stop`. A falling range through index 0 has stop -1.
    pub fn stepped(start: isize, stop: isize, step: isize) -> Self {
        Self::Range { start, stop: Some(stop), step }
    }

    /// `start, start + step, ..` before `stop`, where `None` is the end that the step comes from or goes to.
    ///
    /// ```
    /// use lensor::{Select, Tensor};
    /// let t = Tensor::from_vec([5], vec![0, 1, 2, 3, 4])?;
    /// assert_eq!(t.view().select((Select::between(None, Some(1), -1),))?.to_vec()?, [4, 3, 2]);
    /// assert_eq!(t.select((Select::between(Some(1), None, 2),))?.to_vec()?, [1, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn between(start: Option<isize>, stop: Option<isize>, step: isize) -> Self {
        match (start, stop) {
            (Some(start), stop) => Self::Range { start, stop, step },
            (None, Some(stop)) if step < 0 => Self::FromLast { stop, step },
            (None, None) if step < 0 => Self::every(step),
            (None, stop) => Self::Range { start: 0, stop, step },
        }
    }

    /// Every `step`-th index, from the end if `step` is negative.
    ///
    /// ```
    /// use lensor::{Select, Tensor};
    /// let t = Tensor::from_vec([5], vec![0, 1, 2, 3, 4])?;
    /// assert_eq!(t.view().select((Select::every(2_usize),))?.to_vec()?, [0, 2, 4]);
    /// assert_eq!(t.select((Select::every(-3),))?.to_vec()?, [4, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn every(step: impl Step) -> Self {
        let step = step.step();
        match step < 0 {
            true => Self::FromLast { stop: -1, step },
            false => Self::Range { start: 0, stop: None, step },
        }
    }

    /// The indexes where a mask is true, ascending. The mask is a slice, an array or a `Vec` of `bool`, or an
    /// operand of `bool` and rank 1, which is computed here; an error of it is reported by what selects.
    ///
    /// A mask has one element for each index of the axis, and is [`Error::ListLength`] otherwise.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let columns = t.view().select((.., Select::mask(&[true, false, true])))?;
    /// assert_eq!(columns.to_vec()?, [1, 3, 4, 6]);
    /// let rows = t.view().select((Select::mask(t.sum(1).greater(10_i64)),))?;
    /// assert_eq!(rows.to_vec()?, [4, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn mask(mask: impl IntoMask) -> Self {
        Self::Mask(mask.into_mask())
    }
}

/// The part of an axis that a selector takes, checked against its extent.
pub(super) enum Taken<'a> {
    Digit(usize),
    Range {
        start: usize,
        step: isize,
        count: usize,
    },
    /// Indexes, the smallest of them and the largest.
    List(Cow<'a, [usize]>, [usize; 2]),
}

impl<'a> Taken<'a> {
    /// A list whose indexes ascend.
    pub(super) fn ascending(list: Cow<'a, [usize]>) -> Self {
        let ends = [list.first(), list.last()].map(|end| end.copied().unwrap_or(0));
        Self::List(list, ends)
    }
}

impl Select {
    /// The members of a set; nothing of any other selector. Errors: [`Error::OutOfMemory`].
    pub(crate) fn listed(&self) -> Result<Vec<usize>> {
        match self {
            #[cfg(feature = "roaring")]
            Self::Set(set) => {
                let mut list = try_with_capacity(set.len() as usize)?;
                list.extend(set.iter().map(|index| index as usize));
                Ok(list)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Holds a selector against an axis.
    pub(super) fn resolve(&self, axis: usize, extent: usize) -> Result<Taken<'_>> {
        let inside = |index: i128| inside(axis, extent, index);
        let all = |step: isize| {
            let start = if step < 0 { extent.saturating_sub(1) } else { 0 };
            Taken::Range { start, step, count: extent }
        };
        Ok(match self {
            Self::All => all(1),
            Self::Reverse => all(-1),
            Self::Index(index) => Taken::Digit(inside(*index as i128)?),
            Self::IndexFromLast(back) => Taken::Digit(inside(extent as i128 - 1 - *back as i128)?),
            Self::Range { step: 0, .. } => return Err(Error::ZeroStep { axis }),
            Self::FromLast { stop, step } => {
                return between(axis, extent, extent as i128 - 1, Some(*stop), *step);
            }
            Self::Range { start, stop, step } => {
                let plain = neighbours(extent, *start, *stop).filter(|_| *step == 1);
                return plain
                    .map_or_else(|| between(axis, extent, *start as i128, *stop, *step), Ok);
            }
            Self::List(list) => {
                let ends = ends(list);
                if ends[1] >= extent {
                    // The first one that lies outside is told.
                    list.iter().try_for_each(|&index| inside(index as i128).map(drop))?;
                }
                Taken::List(Cow::Borrowed(list), ends)
            }
            Self::Mask(mask) => {
                let mask = mask.as_ref().map_err(Error::copy)?;
                Taken::ascending(Cow::Borrowed(mask.indexes_of(axis, extent)?))
            }
            #[cfg(feature = "roaring")]
            Self::Set(set) => {
                let (Some(first), Some(last)) = (set.min(), set.max()) else {
                    return Ok(Taken::Range { start: 0, step: 1, count: 0 });
                };
                let Ok(last) = inside(last as i128) else {
                    let outside = set.iter().find(|&index| index >= extent as u64);
                    return Err(Error::Index {
                        axis,
                        index: outside.unwrap_or(last).into(),
                        extent,
                    });
                };
                let (start, count) = (first as usize, set.len() as usize);
                if last - start == count - 1 {
                    return Ok(Taken::Range { start, step: 1, count });
                }
                Taken::ascending(Cow::Owned(self.listed()?))
            }
        })
    }
}

/// An index that must lie inside an axis.
fn inside(axis: usize, extent: usize, index: i128) -> Result<usize> {
    let own = usize::try_from(index).ok().filter(|&index| index < extent);
    own.ok_or_else(|| Error::Index { axis, index, extent })
}

/// A range of step 1 that lies inside and is not empty, as most are.
fn neighbours<'a>(extent: usize, start: isize, stop: Option<isize>) -> Option<Taken<'a>> {
    let start = usize::try_from(start).ok()?;
    let stop = stop.map_or(Some(extent), |stop| usize::try_from(stop).ok())?;
    (start < stop && stop <= extent).then(|| Taken::Range { start, step: 1, count: stop - start })
}

/// A range with a start.
fn between<'a>(
    axis: usize,
    extent: usize,
    start: i128,
    stop: Option<isize>,
    step: isize,
) -> Result<Taken<'a>> {
    if step == 0 {
        return Err(Error::ZeroStep { axis });
    }
    let end = if step < 0 { -1 } else { extent as i128 };
    let stop = stop.map_or(end, |stop| stop as i128);
    let step = step as i128;
    let way = if step < 0 { start - stop } else { stop - start };
    if way <= 0 {
        return Ok(Taken::Range { start: 0, step: 1, count: 0 });
    }
    let steps = (way - 1) / step.abs();
    let first = inside(axis, extent, start)?;
    inside(axis, extent, start + steps * step).or_else(|_| {
        let room = if step < 0 { start } else { extent as i128 - 1 - start };
        inside(axis, extent, start + (room / step.abs() + 1) * step)
    })?;
    Ok(Taken::Range { start: first, step: step as isize, count: steps as usize + 1 })
}

impl From<RangeFull> for Select {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<Vec<usize>> for Select {
    fn from(list: Vec<usize>) -> Self {
        Self::List(list)
    }
}

macro_rules! copied_list {
    ($([$($generics:tt)*] $list:ty)*) => { $(
        impl<$($generics)*> From<$list> for Select {
            fn from(list: $list) -> Self {
                Self::List(list.to_vec())
            }
        }
    )* };
}
copied_list! { [] &[usize] [] &Vec<usize> [const N: usize] [usize; N] }

#[cfg(feature = "roaring")]
impl From<roaring::RoaringBitmap> for Select {
    fn from(set: roaring::RoaringBitmap) -> Self {
        Self::Set(set.into_iter().map(u64::from).collect())
    }
}

#[cfg(feature = "roaring")]
impl From<roaring::RoaringTreemap> for Select {
    fn from(set: roaring::RoaringTreemap) -> Self {
        Self::Set(set)
    }
}

/// What selects from one axis: all that converts to [`Select`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not select from an axis",
    note = "integers and ranges of `usize`, `isize` or `i32` do, lists of `usize`, `..`, and what `Select` makes",
    note = "a mask becomes a selector by `Select::mask(&mask)`, and a tensor of indexes a list by `.to_vec()?`"
)]
pub trait IntoSelect {
    /// The selector.
    fn into_select(self) -> Select;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Select>> IntoSelect for T {
    #[inline]
    fn into_select(self) -> Select {
        self.into()
    }
}

/// Selectors of several axes: a tuple of up to six of what converts to [`Select`], or of any number an array, a slice
/// or a `Vec` of [`Select`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not select from the axes of a tensor",
    note = "give a tuple of one selector per axis, such as `(1, 2..5)`; of one alone it is `(2..5,)`; the elements where a mask is true are `t.extract(&mask)?`; along one axis, `t.compress(axis, &mask)?`; of more than six, an array or `Vec` of `Select`s"
)]
pub trait IntoSelectors {
    /// Calls `f` with all selectors.
    fn with<R>(self, f: impl FnOnce(&[Select]) -> R) -> R;
}

macro_rules! lists {
    ($([$($generics:tt)*] $type:ty)*) => { $(
        impl<$($generics)*> IntoSelectors for $type {
            fn with<R>(self, f: impl FnOnce(&[Select]) -> R) -> R {
                f(self.as_ref())
            }
        }
    )* };
}
lists! { [] &[Select] [] Vec<Select> [] &Vec<Select> [const N: usize] [Select; N] [const N: usize] &[Select; N] }

macro_rules! tuples {
    ($count:literal: $($Each:ident $each:ident $k:tt),*) => {
        impl<$($Each: IntoSelect),*> IntoSelectors for ($($Each,)*) {
            #[inline]
            fn with<R>(self, f: impl FnOnce(&[Select]) -> R) -> R {
                f(&[$(self.$k.into_select()),*])
            }
        }
    };
}
for_tuples!(tuples 6);
