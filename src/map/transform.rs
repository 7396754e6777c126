//! Views that reorder axes or take a part: each changes the top stage and leaves the others alone.

use super::AddressMap;
use super::axis::{Normal, Pattern};
use super::layout::{Axes, Axis, Layout, unless_linear};
use super::select::{IntoSelectors, Select, Taken};
use crate::error::{Error, Result};
use crate::shape::Shape;
use std::ops::{Bound, Range, RangeBounds};

/// The range that bounds mean of `len` indexes, which may reach beyond them.
#[inline]
pub(super) fn bounded(bounds: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match bounds.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    match bounds.end_bound() {
        // An end that cannot be told is cut, but the range still reaches what it starts with.
        Bound::Included(&last) if start <= last => {
            start.min(usize::MAX - 1)..last.saturating_add(1)
        }
        Bound::Included(&last) => start..last.saturating_add(1),
        Bound::Excluded(&end) => start..end,
        Bound::Unbounded => start..len,
    }
}

impl AddressMap {
    /// Reorders axes: axis `k` of the result is axis `order[k]`.
    ///
    /// # Errors
    ///
    /// [`Error::Permutation`] if `order` misses or repeats an axis.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.transpose([1, 0])?.to_local([2, 1])?, 5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn transpose(mut self, order: impl AsRef<[usize]>) -> Result<Self> {
        self.reorder(order.as_ref())?;
        Ok(self)
    }

    /// The same in place.
    fn reorder(&mut self, order: &[usize]) -> Result<()> {
        let rank = self.rank();
        let invalid = || Error::Permutation { order: order.to_vec(), rank };
        if order.len() != rank {
            return Err(invalid());
        }
        let mut seen = 0_u64;
        for &axis in order {
            // No map has more axes than this number has bits.
            if axis >= rank || seen >> (axis & 63) & 1 == 1 {
                return Err(invalid());
            }
            seen |= 1 << (axis & 63);
        }
        let old = Axes::from_slice(&self.top.axes);
        for (axis, &from) in self.top.axes.iter_mut().zip(order) {
            *axis = old[from];
        }
        if let Some(patterns) = &mut self.top.patterns {
            *patterns = order.iter().map(|&axis| patterns[axis].clone()).collect();
        }
        Ok(())
    }

    /// Reverses the order of the axes.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3, 4])?;
    /// assert_eq!(map.reverse_axes().shape(), [4, 3, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reverse_axes(mut self) -> Self {
        self.top.axes.reverse();
        if let Some(patterns) = &mut self.top.patterns {
            *patterns = patterns.iter().rev().cloned().collect();
        }
        self
    }

    /// Exchanges two axes.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if one does not exist.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.swap_axes(0, 1)?.shape(), [3, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn swap_axes(self, a: usize, b: usize) -> Result<Self> {
        self.check_axis(a)?;
        self.check_axis(b)?;
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.swap(a, b);
        self.transpose(&order)
    }

    /// Moves axis `from` so that it becomes axis `to`; the others keep their order.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if one does not exist.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3, 4])?;
    /// assert_eq!(map.move_axis(0, 2)?.shape(), [3, 4, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn move_axis(self, from: usize, to: usize) -> Result<Self> {
        self.check_axis(from)?;
        self.check_axis(to)?;
        let mut order: Vec<usize> = (0..self.rank()).collect();
        let axis = order.remove(from);
        order.insert(to, axis);
        self.transpose(&order)
    }

    /// Takes a part of every axis, one selector per axis; missing trailing ones take all.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] for more selectors than axes, [`Error::Index`] with the first index out of bounds,
    /// [`Error::ZeroStep`], [`Error::ListLength`] for a mask that is not as long as its axis, the error of a mask
    /// that was computed, [`Error::ShapeOverflow`] for lists that make too many elements, and
    /// [`Error::OutOfMemory`] for one too long to keep.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// let map = map.select((.., vec![2, 0]))?;
    /// assert_eq!((map.to_local([1, 0])?, map.to_local([1, 1])?), (5, 3));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn select(self, selectors: impl IntoSelectors) -> Result<Self> {
        selectors.with(|selectors| self.select_all(selectors))
    }

    fn select_all(self, selectors: &[Select]) -> Result<Self> {
        if selectors.len() > self.rank() {
            let (expected, found) = (self.rank(), selectors.len());
            return Err(Error::Rank { what: "selectors", expected, found });
        }
        self.take_all(selectors.len(), &mut |k, extent| selectors[k].resolve(k, extent))
    }

    /// Takes a part of each of the first `count` axes, which lies inside: `taken` tells it of an axis and its extent.
    pub(super) fn take_all<'t>(
        mut self,
        count: usize,
        taken: &mut dyn FnMut(usize, usize) -> Result<Taken<'t>>,
    ) -> Result<Self> {
        if self.top.count() == 0 {
            return self.take_of_empty(count, taken);
        }
        let (mut dropped, mut lists) = (0, false);
        for k in 0..count {
            let axis = k - dropped;
            let extent = self.top.axes[axis].extent;
            match taken(k, extent)? {
                Taken::Range { start: 0, step: 1, count } if count == extent => {}
                Taken::Digit(digit) => {
                    let position = self.top.pattern(axis).position(digit);
                    self.top.offset += self.top.axes[axis].stride * position as isize;
                    self.top.remove(axis);
                    dropped += 1;
                }
                Taken::Range { start, step, count } => {
                    self.top.take_range(axis, start, step, count)?
                }
                Taken::List(list, ends) => {
                    lists = true;
                    let listed = self.top.axis_map(axis).list_of_ends(list, ends)?;
                    self.top.replace(axis, listed);
                }
            }
        }
        if lists {
            self.shape().count()?;
        }
        if self.top.axes.iter().any(|axis| axis.extent == 0) {
            return Ok(Layout::empty(&self.shape()).into());
        }
        self.settle();
        Ok(self)
    }

    fn take_of_empty<'t>(
        self,
        count: usize,
        taken: &mut dyn FnMut(usize, usize) -> Result<Taken<'t>>,
    ) -> Result<Self> {
        let mut extents: Vec<usize> = Vec::with_capacity(self.rank());
        for (k, axis) in self.top.axes.iter().enumerate() {
            if k >= count {
                extents.push(axis.extent);
                continue;
            }
            match taken(k, axis.extent)? {
                Taken::Digit(_) => {}
                Taken::Range { count, .. } => extents.push(count),
                Taken::List(list, _) => extents.push(list.len()),
            }
        }
        Self::row_major(extents)
    }

    /// Takes a range of one axis.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if it does not exist, [`Error::Index`], with the first index outside, if the range reaches there.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.slice(1, 1..)?.to_local([0, 0])?, 1);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn slice(mut self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        self.check_axis(axis)?;
        let extent = self.top.axes[axis].extent;
        let range = bounded(range, extent);
        let count = range.end.saturating_sub(range.start);
        if count == 0 {
            self.top.axes[axis].extent = 0;
            return Ok(Layout::empty(&self.shape()).into());
        }
        if range.end > extent {
            return Err(Error::Index { axis, index: range.start.max(extent) as i128, extent });
        }
        self.top.take_range(axis, range.start, 1, count)?;
        Ok(self.settled())
    }

    /// Reverses one axis.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if it does not exist.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.flip(1)?.to_local([0, 0])?, 2);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn flip(mut self, axis: usize) -> Result<Self> {
        self.check_axis(axis)?;
        let extent = self.top.axes[axis].extent;
        if self.count() == 0 {
            return Ok(self);
        }
        self.top.take_range(axis, extent - 1, -1, extent)?;
        Ok(self.settled())
    }

    /// Adds an axis of extent 1 before axis `axis`.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if `axis` exceeds the rank, [`Error::RankLimit`] if there are too many axes then.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.insert_axis(0)?.shape(), [1, 2, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn insert_axis(mut self, axis: usize) -> Result<Self> {
        if axis > self.rank() {
            return Err(Error::Axis { axis, rank: self.rank() });
        }
        self.top.insert(axis, Axis { extent: 1, stride: 0 })?;
        Ok(self)
    }

    /// Removes an axis of extent 1.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if it does not exist, [`Error::Removed`] if its extent is not 1.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 1, 3])?;
    /// assert_eq!(map.remove_axis(1)?.shape(), [2, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn remove_axis(mut self, axis: usize) -> Result<Self> {
        self.check_axis(axis)?;
        match self.top.axes[axis].extent {
            1 => self.top.remove(axis),
            extent => return Err(Error::Removed { axis, extent }),
        }
        Ok(self)
    }

    pub(super) fn check_axis(&self, axis: usize) -> Result<()> {
        if axis < self.rank() { Ok(()) } else { Err(Error::Axis { axis, rank: self.rank() }) }
    }
}

impl Layout {
    /// `start, start + step, ..` of an axis of a layout that is not empty.
    #[inline]
    fn take_range(&mut self, axis: usize, start: usize, step: isize, count: usize) -> Result<()> {
        if self.patterns.is_none() {
            let old = &mut self.axes[axis];
            self.offset += if count == 0 { 0 } else { old.stride * start as isize };
            let stride = if count < 2 { 0 } else { old.stride * step };
            *old = Axis { extent: count, stride };
            return Ok(());
        }
        let taken = self.axis_map(axis).range(start, step, count)?;
        self.replace(axis, taken);
        Ok(())
    }

    /// Puts an axis in normal form in the place of another and moves its constant into the offset.
    pub(super) fn replace(&mut self, axis: usize, (new, constant): Normal) {
        self.offset = (self.offset as i128 + constant) as isize;
        self.axes[axis] = Axis { extent: new.extent, stride: new.stride };
        let of = |k| if k == axis { &new.pattern } else { self.pattern(k) };
        self.patterns = unless_linear((0..self.rank()).map(of));
    }

    #[inline]
    pub(super) fn insert(&mut self, at: usize, axis: Axis) -> Result<()> {
        Shape::check_rank(self.rank() + 1)?;
        if let Some(patterns) = &mut self.patterns {
            let mut list = patterns.to_vec();
            list.insert(at, Pattern::Linear);
            *patterns = list.into();
        }
        self.axes.insert(at, axis);
        Ok(())
    }

    #[inline]
    pub(super) fn remove(&mut self, axis: usize) {
        if self.patterns.is_some() {
            let others = (0..self.rank()).filter(|k| *k != axis);
            self.patterns = unless_linear(others.map(|k| self.pattern(k)));
        }
        self.axes.remove(axis);
    }
}
