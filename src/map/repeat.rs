//! Views that repeat or rotate axes.

use super::AddressMap;
use super::axis::{AxisMap, Normal, TABLE_LIMIT};
use super::layout::{Axis, Layout};
use crate::error::{Error, Result};
use crate::memory::list;
use crate::shape::{Align, Shape};

impl AddressMap {
    /// Repeats the block until the shape is `to`: axes are right-aligned, every target extent is a
    /// multiple of the source's, new leading axes repeat the whole.
    ///
    /// # Errors
    ///
    /// [`Error::Broadcast`] where that is impossible (extent 0 goes to 0 only, and nothing else goes
    /// to 0), [`Error::ShapeOverflow`] if the result has too many elements, [`Error::RankLimit`] if it has too
    /// many axes.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// let map = map.broadcast([4, 3])?;
    /// assert_eq!(map.to_local([2, 1])?, map.to_local([0, 1])?);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn broadcast(mut self, to: impl Into<Shape>) -> Result<Self> {
        let to = to.into();
        Shape::check_rank(to.rank())?;
        let from = self.shape();
        let mismatch = |axis| Error::Broadcast { from: from.to_vec(), to: to.to_vec(), axis };
        let Some(new) = to.rank().checked_sub(from.rank()) else {
            return Err(mismatch(0));
        };
        for (axis, &target) in to.iter().enumerate() {
            let source = if axis < new { 1 } else { from[axis - new] };
            let fits = if source == 0 {
                target == 0
            } else {
                target != 0 && target.is_multiple_of(source)
            };
            if !fits {
                return Err(mismatch(axis));
            }
        }
        if to.count()? == 0 {
            return Ok(Layout::empty(&to).into());
        }
        for axis in (0..from.rank()).filter(|&axis| to[new + axis] != from[axis]) {
            let (extent, target) = (from[axis], to[new + axis]);
            let repeated = |old: &AxisMap| old.repeated(target / extent);
            self = self.with_axis(axis, repeated, target, |digit| digit % extent)?;
        }
        for axis in 0..new {
            self.top.insert(axis, Axis { extent: to[axis], stride: 0 })?;
        }
        Ok(self.settled())
    }

    /// NumPy's stretch to a joint shape: missing axes and extents of 1 repeat, others stay.
    ///
    /// # Errors
    ///
    /// [`Error::Stretch`] if another extent differs or the rank falls, [`Error::ShapeOverflow`] if the
    /// result has too many elements, [`Error::RankLimit`] if it has too many axes.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// use lensor::Align;
    /// let map = AddressMap::row_major([3])?.stretch([2, 3], Align::Right)?;
    /// assert_eq!(map.to_local([1, 2])?, 2);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn stretch(self, to: impl Into<Shape>, align: Align) -> Result<Self> {
        self.stretched(&to.into(), align)
    }

    /// [`Self::stretch`] to a shape that is borrowed.
    pub(crate) fn stretched(mut self, to: &Shape, align: Align) -> Result<Self> {
        let from = self.shape();
        if &from == to {
            return Ok(self);
        }
        let left = align == Align::Left;
        let mismatch = |axis| Error::Stretch { from: from.to_vec(), to: to.to_vec(), axis, left };
        let missing = to.rank().checked_sub(from.rank()).ok_or_else(|| mismatch(0))?;
        Shape::check_rank(to.rank())?;
        for axis in 0..missing {
            let at = if left { from.rank() + axis } else { axis };
            self.top.insert(at, Axis { extent: 1, stride: 0 })?;
        }
        for (k, (axis, &extent)) in self.top.axes.iter_mut().zip(to.iter()).enumerate() {
            match axis.extent {
                same if same == extent => {}
                1 => axis.extent = extent,
                _ => return Err(mismatch(k)),
            }
        }
        if to.count()? == 0 {
            return Ok(Layout::empty(to).into());
        }
        Ok(self)
    }

    /// Moves element `i` of every axis to `(i + shift) mod extent`, one shift per axis (NumPy's `roll`).
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] if there is not one shift per axis, [`Error::OutOfMemory`] if a table of
    /// positions cannot be kept.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.rotate([0, 1])?.to_local([0, 0])?, 2);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn rotate(self, shifts: impl AsRef<[isize]>) -> Result<Self> {
        self.rotated(shifts.as_ref())
    }

    fn rotated(mut self, shifts: &[isize]) -> Result<Self> {
        if shifts.len() != self.rank() {
            return Err(Error::Rank { what: "shifts", expected: self.rank(), found: shifts.len() });
        }
        if self.count() == 0 {
            return Ok(self);
        }
        for (axis, &shift) in shifts.iter().enumerate() {
            let extent = self.top.axes[axis].extent;
            let shift = (shift as i128).rem_euclid(extent as i128) as usize;
            if shift == 0 {
                continue;
            }
            let rotated = |old: &AxisMap| old.rotated(shift);
            self =
                self.with_axis(axis, rotated, extent, |digit| (digit + extent - shift) % extent)?;
        }
        Ok(self.settled())
    }

    /// The view with one axis replaced: by its `simple` form if it has one, otherwise by a table
    /// of its digits `digit(0), .., digit(extent - 1)`.
    ///
    /// A stage is cheaper than a long table, and every linear axis has a simple form. So where the table
    /// would be long, a stage with linear axes is put on top first.
    fn with_axis(
        mut self,
        axis: usize,
        simple: impl Fn(&AxisMap) -> Option<Normal>,
        extent: usize,
        digit: impl Fn(usize) -> usize,
    ) -> Result<Self> {
        let mut old = self.top.axis_map(axis);
        let mut new = simple(&old);
        if new.is_none() && extent > TABLE_LIMIT {
            self = self.restaged()?;
            old = self.top.axis_map(axis);
            new = simple(&old);
        }
        let new = match new {
            Some(normal) => normal,
            None => old.list(list((0..extent).map(digit))?)?,
        };
        self.top.replace(axis, new);
        Ok(self)
    }

    /// The same view with a row-major stage on top.
    pub(super) fn restaged(mut self) -> Result<Self> {
        let top = Layout::of_shape(&self.shape())?;
        while self.merges_below(self.top.coalesced()) {}
        let below = std::mem::replace(&mut self.top, top);
        self.push_stage(below);
        Ok(self)
    }
}
