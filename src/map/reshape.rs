//! Reshape, and the merging of stages that strides can express together.

use super::AddressMap;
use super::axis::{AxisMap, Normal, Pattern, TABLE_LIMIT};
use super::layout::Layout;
use super::transform::bounded;
use crate::error::{Error, Result};
use crate::memory::list;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::RangeBounds;
use std::sync::Arc;

impl AddressMap {
    /// Another shape with the same elements in the same row-major order. Always a view.
    ///
    /// # Errors
    ///
    /// [`Error::Reshape`] if the counts differ, [`Error::ShapeOverflow`] if `to` has too many elements,
    /// [`Error::RankLimit`] if it has too many axes.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.transpose([1, 0])?.reshape([6])?.to_local([1])?, 3);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reshape(self, to: impl Into<Shape>) -> Result<Self> {
        self.reshaped(to.into())
    }

    fn reshaped(self, to: Shape) -> Result<Self> {
        let top = Layout::of_shape(&to)?;
        if top.count() != self.count() {
            return Err(Error::Reshape { from: self.shape().to_vec(), to: to.to_vec() });
        }
        if top.count() == 0 {
            return Ok(top.into());
        }
        Ok(self.with_stage(top))
    }

    /// [`Self::reshape`] with at most one extent given as `None`, which follows from the others.
    ///
    /// # Errors
    ///
    /// As [`Self::reshape`], and [`Error::Infer`] if more than one extent is missing or the others do
    /// not determine it (they contain a 0, or do not divide the count).
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.reshape_infer(&[None, Some(2)])?.shape(), [3, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reshape_infer(self, to: impl AsRef<[Option<usize>]>) -> Result<Self> {
        let to = to.as_ref();
        let missing = to.iter().filter(|extent| extent.is_none()).count();
        let known: Shape = to.iter().copied().flatten().collect();
        if missing == 0 {
            return self.reshape(known);
        }
        let given = known.count()?;
        let count = self.count();
        if missing > 1 || given == 0 || !count.is_multiple_of(given) {
            return Err(Error::Infer { from: self.shape().to_vec(), to: known.to_vec(), missing });
        }
        self.reshape(to.iter().map(|extent| extent.unwrap_or(count / given)).collect::<Shape>())
    }

    /// [`Self::reshape`] that refuses where a further stage would be needed: of a map that strides describe, the
    /// result has strides, too.
    ///
    /// # Errors
    ///
    /// As [`Self::reshape`], and [`Error::NeedsStage`] where one would be.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert!(map.clone().reshape_strided([6]).is_ok());
    /// assert!(map.transpose([1, 0])?.reshape_strided([6]).is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reshape_strided(self, to: impl Into<Shape>) -> Result<Self> {
        let to = to.into();
        let stages = self.rest().len();
        let (from, strides) =
            (self.shape(), self.as_strided().map(|s| s.strides).unwrap_or_default());
        let reshaped = self.reshape(to.clone())?;
        if reshaped.rest().len() > stages {
            return Err(Error::NeedsStage { from: from.to_vec(), to: to.to_vec(), strides });
        }
        Ok(reshaped)
    }

    /// Splits axis `axis` into `extents`, outermost first.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if it does not exist, [`Error::Reshape`] or [`Error::ShapeOverflow`] if the extents do not
    /// multiply to its own, [`Error::RankLimit`] if there are too many axes then.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.merge_axes(..)?.split_axis(0, &[3, 2])?.shape(), [3, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn split_axis(self, axis: usize, extents: impl AsRef<[usize]>) -> Result<Self> {
        let extents = extents.as_ref();
        self.check_axis(axis)?;
        let shape = self.shape();
        let to: Shape =
            shape[..axis].iter().chain(extents).chain(&shape[axis + 1..]).copied().collect();
        if Shape::from(extents).count()? != shape[axis] {
            return Err(Error::Reshape { from: shape.to_vec(), to: to.to_vec() });
        }
        self.reshape(to)
    }

    /// Merges neighbouring axes into one; an empty range inserts an axis of extent 1.
    ///
    /// # Errors
    ///
    /// [`Error::AxisRange`] if the range runs backwards or beyond the rank, [`Error::RankLimit`] if an empty one
    /// adds an axis too many.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3, 4])?;
    /// assert_eq!(map.merge_axes(..2)?.shape(), [6, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn merge_axes(self, axes: impl RangeBounds<usize>) -> Result<Self> {
        let shape = self.shape();
        let axes = bounded(axes, shape.rank());
        if axes.end > shape.rank() || axes.start > axes.end {
            return Err(Error::AxisRange { axes, rank: shape.rank() });
        }
        let merged = Shape::from(&shape[axes.clone()]).count()?;
        self.reshape(
            shape[..axes.start]
                .iter()
                .copied()
                .chain([merged])
                .chain(shape[axes.end..].iter().copied())
                .collect::<Shape>(),
        )
    }

    /// `top` over this view, merged where strides allow. `top` is not empty.
    pub(super) fn with_stage(mut self, top: Layout) -> Self {
        loop {
            let below = self.top.coalesced();
            if let Some(merged) = compose(&top, &below) {
                self.top = merged;
                return self.settled();
            }
            if !self.merges_below(below) {
                let below = std::mem::replace(&mut self.top, top);
                self.push_stage(below);
                return self;
            }
        }
    }

    /// Puts the top stage with fewer axes, `top`, in its place, and merges it with the stages below it as far as these
    /// let it then; returns whether they do.
    pub(super) fn merges_below(&mut self, top: Layout) -> bool {
        let stages = self.rest().len();
        self.top = top;
        self.settle();
        self.rest().len() < stages
    }

    /// Puts `below` under the top stage.
    pub(super) fn push_stage(&mut self, below: Layout) {
        Arc::make_mut(self.rest.get_or_insert_default()).push(below);
    }

    /// Merges the top stage into the ones below it as far as strides allow.
    #[inline]
    pub(super) fn settled(mut self) -> Self {
        self.settle();
        self
    }

    /// The same in place.
    #[inline]
    pub(super) fn settle(&mut self) {
        while let Some(rest) = &mut self.rest {
            let Some(merged) = rest.last().and_then(|below| compose(&self.top, below)) else {
                break;
            };
            self.top = merged;
            let stages = Arc::make_mut(rest);
            stages.pop();
            if stages.is_empty() {
                self.rest = None;
            }
        }
    }
}

/// The one layout that does what `top` and then `below` do, if there is one to be found.
///
/// An address of `top` is a row-major position in `below`; its digits there are the sum of the
/// offset's digits and, for every axis of `top`, the position times the digits of the stride. That is
/// exact as long as no digit leaves its extent, since then nothing carries. A digit on an axis that
/// is not linear must come from one axis of `top` alone.
pub(super) fn compose(top: &Layout, below: &Layout) -> Option<Layout> {
    let shape = below.shape();
    let start = shape.unravel(top.offset());
    let mut lowest: SmallVec<[i128; 4]> = start.iter().map(|&digit| digit as i128).collect();
    let mut highest = lowest.clone();
    let mut carried: SmallVec<[bool; 4]> = below.axes.iter().map(|_| false).collect();
    let mut steps = SmallVec::<[_; 4]>::new();
    for axis in top.axes() {
        let digits = shape.unravel(axis.stride.unsigned_abs());
        let last = axis.last_position() as i128;
        let (mut touched, mut crooked) = (0, None);
        for (j, &digit) in digits.iter().enumerate().filter(|(_, digit)| **digit != 0) {
            touched += 1;
            let reach = digit as i128 * last;
            if axis.stride < 0 {
                lowest[j] -= reach;
            } else {
                highest[j] += reach;
            }
            if below.pattern(j) != &Pattern::Linear {
                if std::mem::replace(&mut carried[j], true) {
                    return None;
                }
                crooked = Some(j);
            }
        }
        if crooked.is_some() && touched > 1 {
            return None;
        }
        steps.push((axis, digits, crooked));
    }
    let inside = |j: usize| lowest[j] >= 0 && highest[j] < below.axes[j].extent as i128;
    if !(0..below.rank()).all(inside) {
        return None;
    }

    let mut constant = below.offset as i128;
    for (j, axis) in below.axes.iter().enumerate().filter(|(j, _)| !carried[*j]) {
        constant += axis.stride as i128 * below.pattern(j).position(start[j]) as i128;
    }
    let mut merged = SmallVec::new();
    for (axis, digits, crooked) in steps {
        let (axis, extra) = match crooked {
            Some(j) => {
                let step = axis.stride.signum() * digits[j] as isize;
                take_positions(&below.axis_map(j), start[j], step, &axis)?
            }
            None => scaled(axis, &digits, below)?,
        };
        constant += extra;
        merged.push(axis);
    }
    Layout::from_normal(constant, merged).ok()
}

/// An axis whose stride has these digits in `below`, all of them on linear axes.
fn scaled(axis: AxisMap, digits: &[usize], below: &Layout) -> Option<Normal> {
    let terms = digits.iter().zip(&below.axes).map(|(&d, b)| d as i128 * b.stride as i128);
    let stride = terms.sum::<i128>() * axis.stride.signum() as i128;
    AxisMap { stride: isize::try_from(stride).ok()?, ..axis }.into_normal().ok()
}

/// Digits `start + step * position` of `below`, for the positions along `pattern`.
fn take_positions(below: &AxisMap, start: usize, step: isize, pattern: &AxisMap) -> Option<Normal> {
    if pattern.pattern == Pattern::Linear {
        return below.range(start, step, pattern.extent).ok();
    }
    // A stage is cheaper than a long table.
    if matches!(pattern.pattern, Pattern::Cyclic { .. }) && pattern.extent > TABLE_LIMIT {
        return None;
    }
    let digit = |i| start.wrapping_add_signed(step * pattern.position(i) as isize);
    below.list(list((0..pattern.extent).map(digit)).ok()?).ok()
}
