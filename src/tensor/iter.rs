//! Iteration: elements in logical order, and sub-views along axes.

use super::Tensor;
use crate::error::{Error, Result};
use crate::expr::{Boxes, box_shape, selectors};
use crate::shape::Shape;
use crate::storage::Reader;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

impl<S: Reader> Tensor<S> {
    /// The elements in row-major order of the view, one by one. After the first few they are read thousands at a
    /// time; where that fails each is read by itself, so that an error stands for the element that has it.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?.transpose(&[1, 0])?;
    /// assert_eq!(t.try_iter().collect::<Result<Vec<_>, _>>()?, [1, 3, 2, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn try_iter(&self) -> Elements<'_, S> {
        let (shape, count) = (self.shape(), self.shape().count().unwrap_or(0));
        let boxes = Boxes::new(shape.clone(), BLOCK);
        let singles = 0..FEW.min(count);
        Elements {
            tensor: self,
            shape,
            boxes,
            singles,
            block: Vec::new(),
            taken: 0,
            read: 0,
            count,
        }
    }
}

/// Elements that are read at once.
const BLOCK: usize = 1 << 14;
/// Elements that are read one by one at first, as there may not be more, or nobody asks for them.
const FEW: usize = 16;

/// Iterator over elements, see [`Tensor::try_iter`].
pub struct Elements<'a, S: Reader> {
    tensor: &'a Tensor<S>,
    shape: Shape,
    /// The blocks to come, which are boxes.
    boxes: Boxes,
    /// Elements to be read one by one, before those of the block.
    singles: Range<usize>,
    block: Vec<S::Elem>,
    /// How many elements of the block are done.
    taken: usize,
    /// How many elements the blocks so far have.
    read: usize,
    /// How many elements there are.
    count: usize,
}

impl<S: Reader> fmt::Debug for Elements<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elements").field("left", &self.len()).finish_non_exhaustive()
    }
}

impl<S: Reader> Elements<'_, S> {
    /// The next element, one by one or from a new block.
    #[cold]
    fn advance(&mut self) -> Option<Result<S::Elem>> {
        loop {
            if let Some(position) = self.singles.next() {
                return Some(self.tensor.get(&self.shape.unravel(position)));
            }
            let done = FEW.min(self.count).saturating_sub(self.read);
            let ranges = self.boxes.next().filter(|_| self.read.max(FEW) < self.count)?;
            let (first, len) =
                (self.read, box_shape(&self.shape, &ranges).iter().product::<usize>());
            self.read += len;
            match self.tensor.view().select(selectors(&ranges)).and_then(|part| part.to_vec()) {
                Ok(block) => {
                    (self.block, self.taken) = (block, done);
                    if let Some(&element) = self.block.get(done) {
                        self.taken += 1;
                        return Some(Ok(element));
                    }
                }
                Err(_) => self.singles = (first + done).min(first + len)..first + len,
            }
        }
    }
}

impl<S: Reader> Iterator for Elements<'_, S> {
    type Item = Result<S::Elem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.singles.is_empty()
            && let Some(&element) = self.block.get(self.taken)
        {
            self.taken += 1;
            return Some(Ok(element));
        }
        self.advance()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let ahead = self.singles.len() + self.block.len().saturating_sub(self.taken);
        // The first elements are read before their block is.
        let left = match self.read {
            0 => self.count - FEW.min(self.count) + self.singles.len(),
            read => self.count - read + ahead,
        };
        (left, Some(left))
    }
}

impl<S: Reader> ExactSizeIterator for Elements<'_, S> {}
impl<S: Reader> FusedIterator for Elements<'_, S> {}

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
    /// [`Error::Axis`] if the axis does not exist, [`Error::ShapeOverflow`] if the lanes are empty and
    /// too many.
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

    /// Every row: the views of rank 1 along the last axis.
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

impl<S> fmt::Debug for AxisIter<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AxisIter").field("left", &(self.next..self.end)).finish_non_exhaustive()
    }
}

impl<'a, S> AxisIter<'a, S> {
    fn at(&self, index: usize) -> Option<Tensor<&'a S>> {
        let lane = Tensor { map: self.lanes.map.clone(), storage: self.lanes.storage };
        lane.select((index,)).ok()
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
}

impl<S> ExactSizeIterator for AxisIter<'_, S> {}
impl<S> FusedIterator for AxisIter<'_, S> {}
