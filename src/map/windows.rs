//! Diagonals and windows: two axes made one, and one made two.

use super::AddressMap;
use super::axis::{AxisMap, Pattern, TABLE_LIMIT};
use super::layout::{Axis, Layout};
use crate::error::{Error, Result};
use crate::shape::Shape;

impl AddressMap {
    /// Replaces axes `a` and `b` by their diagonal, which becomes the last axis (NumPy's `diagonal`).
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if one does not exist, [`Error::RepeatedAxis`] if they are the same.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([3, 3])?;
    /// assert_eq!(map.diagonal(0, 1)?.to_local([2])?, 8);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn diagonal(mut self, a: usize, b: usize) -> Result<Self> {
        self.check_axis(a)?;
        self.check_axis(b)?;
        if a == b {
            return Err(Error::RepeatedAxis { axis: a });
        }
        let extent = self.top.axes[a].extent.min(self.top.axes[b].extent);
        let (first, second) = (a.min(b), a.max(b));
        if self.count() == 0 {
            let mut extents = self.shape().to_vec();
            extents.remove(second);
            extents.remove(first);
            extents.push(extent);
            return Self::row_major(extents);
        }
        let simple =
            self.top.pattern(a) == &Pattern::Linear && self.top.pattern(b) == &Pattern::Linear;
        if !simple && extent > TABLE_LIMIT {
            return self.restaged()?.diagonal(a, b);
        }
        let stride = self.top.axes[a].stride as i128 + self.top.axes[b].stride as i128;
        let normal = if simple {
            let stride = if extent < 2 { 0 } else { stride as isize };
            (AxisMap::linear(extent, stride), 0)
        } else {
            let contribution = |axis: usize, i: usize| {
                self.top.axes[axis].stride as i128 * self.top.pattern(axis).position(i) as i128
            };
            AxisMap::of_contributions((0..extent).map(|i| contribution(a, i) + contribution(b, i)))?
        };
        self.top.remove(second);
        self.top.remove(first);
        let last = self.rank();
        self.top.insert(last, Axis { extent: 1, stride: 0 })?;
        self.top.replace(last, normal);
        Ok(self.settled())
    }

    /// All windows of `window` neighbours along `axis`: the axis counts the windows, and a new last
    /// axis runs within one (NumPy's `sliding_window_view`).
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::Window`] if a window is empty or longer
    /// than the axis, [`Error::ShapeOverflow`] if the result has too many elements, [`Error::RankLimit`] if it
    /// has too many axes.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([5])?.windows(0, 3)?;
    /// assert_eq!((map.shape(), map.to_local([2, 1])?), ([3, 3].into(), 3));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn windows(mut self, axis: usize, window: usize) -> Result<Self> {
        self.check_axis(axis)?;
        let extent = self.top.axes[axis].extent;
        if window == 0 || window > extent {
            return Err(Error::Window { axis, window, extent });
        }
        let mut to = self.shape().to_vec();
        to[axis] = extent - window + 1;
        to.push(window);
        let to = Shape::from(to);
        Shape::check_rank(to.rank())?;
        if to.count()? == 0 {
            return Ok(Layout::empty(&to).into());
        }
        if self.top.pattern(axis) != &Pattern::Linear {
            self = self.restaged()?;
        }
        let stride = self.top.axes[axis].stride;
        let last = self.rank();
        let inner = Axis { extent: window, stride: if window < 2 { 0 } else { stride } };
        self.top.insert(last, inner)?;
        self.top.axes[axis] =
            Axis { extent: extent - window + 1, stride: if extent == window { 0 } else { stride } };
        Ok(self.settled())
    }
}
