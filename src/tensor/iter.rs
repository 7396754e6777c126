//! Iteration: sub-views along axes.

use super::Tensor;
use crate::error::{Error, Result};
use crate::memory::debug_of_fields;
use std::iter::FusedIterator;

impl<S> Tensor<S> {
    /// The sub-views at every index of one axis, which goes away.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let columns: Vec<_> = t.axis_iter(1)?.map(|c| c.to_vec()).collect::<Result<_, _>>()?;
    /// assert_eq!(columns, [[1, 3], [2, 4]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn axis_iter(&self, axis: usize) -> Result<AxisIter<'_, S>> {
        let lanes = self.view().move_axis(axis, 0)?;
        Ok(AxisIter { next: 0, end: lanes.shape()[0], lanes })
    }

    /// The sub-views at every index of the first axis.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the rank is 0.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let rows: Vec<_> = t.outer_iter()?.map(|row| row.to_vec()).collect::<Result<_, _>>()?;
    /// assert_eq!(rows, [[1, 2], [3, 4]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn outer_iter(&self) -> Result<AxisIter<'_, S>> {
        self.axis_iter(0)
    }

    /// Every view of rank 1 along one axis, in row-major order of the others.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let lanes: Vec<_> = t.lanes(0)?.map(|lane| lane.to_vec()).collect::<Result<_, _>>()?;
    /// assert_eq!(lanes, [[1, 3], [2, 4]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn lanes(&self, axis: usize) -> Result<AxisIter<'_, S>> {
        let rank = self.rank();
        let last = rank.checked_sub(1).ok_or(Error::Axis { axis, rank })?;
        let moved = self.view().move_axis(axis, last)?;
        let lanes = moved.merge_axes(0..last)?;
        Ok(AxisIter { next: 0, end: lanes.shape()[0], lanes })
    }

    /// Every row: the views of rank 1 along the last axis. ([`Ragged::rows`](crate::ragged::Ragged::rows) goes along the
    /// first, as [`Self::outer_iter`] does.)
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the rank is 0.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[[1, 2], [3, 4]]])?;
    /// let rows: Vec<_> = t.rows()?.map(|row| row.to_vec()).collect::<Result<_, _>>()?;
    /// assert_eq!(rows, [[1, 2], [3, 4]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn rows(&self) -> Result<AxisIter<'_, S>> {
        self.lanes(self.rank().saturating_sub(1))
    }

    /// Every column: the views of rank 1 along the last axis but one.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the rank is below 2.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let columns: Vec<_> = t.columns()?.map(|c| c.to_vec()).collect::<Result<_, _>>()?;
    /// assert_eq!(columns, [[1, 3], [2, 4]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn columns(&self) -> Result<AxisIter<'_, S>> {
        let axis = self.rank().checked_sub(2).ok_or(Error::Axis { axis: 1, rank: self.rank() })?;
        self.lanes(axis)
    }
}

/// Iterator over sub-views, see [`Tensor::axis_iter`]. Goes from both ends.
pub struct AxisIter<'a, S> {
    lanes: Tensor<&'a S>,
    next: usize,
    end: usize,
}

impl<S> Clone for AxisIter<'_, S> {
    fn clone(&self) -> Self {
        let lanes = Tensor { map: self.lanes.map.clone(), storage: self.lanes.storage };
        Self { lanes, next: self.next, end: self.end }
    }
}

debug_of_fields!([S] AxisIter<'_, S> |own| left: own.next..own.end);

impl<'a, S> AxisIter<'a, S> {
    fn at(&self, index: usize) -> Option<Tensor<&'a S>> {
        self.clone().lanes.select((index,)).ok()
    }
}

impl<'a, S> Iterator for AxisIter<'a, S> {
    type Item = Tensor<&'a S>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        self.next += 1;
        self.at(self.next - 1)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.next = self.next.saturating_add(n).min(self.end);
        self.next()
    }

    fn count(self) -> usize {
        self.len()
    }

    fn last(mut self) -> Option<Self::Item> {
        self.next_back()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl<S> DoubleEndedIterator for AxisIter<'_, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        self.end -= 1;
        self.at(self.end)
    }

    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        self.end = self.end.saturating_sub(n).max(self.next);
        self.next_back()
    }
}

impl<S> ExactSizeIterator for AxisIter<'_, S> {}
impl<S> FusedIterator for AxisIter<'_, S> {}
