//! The view operations, given once to everything that has an address map inside.
//!
//! Longer than 400 lines because it is one table of documented methods.

/// Inherent view operations in terms of `rewrite`, which applies a change to every map of `self`. What
/// becomes of `self` is `$View`.
macro_rules! view_operations {
    () => {
        $crate::tensor::views::view_operations!(Self);
    };
    ($View:ty) => {
        /// Reorders axes: axis `k` of the result is axis `order[k]`. Copies nothing.
        ///
        /// Shape `(s0, .., sn)` becomes `(s[order[0]], .., s[order[n]])`. Follows NumPy's
        /// `transpose(axes)`.
        ///
        /// # Errors
        ///
        /// [`Error::Permutation`](crate::Error::Permutation) if `order` misses or repeats an axis.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?;
        /// assert_eq!(t.transpose([1, 0])?.to_vec()?, [0, 3, 1, 4, 2, 5]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "permute")]
        #[doc(alias = "permuted_axes")]
        #[inline]
        pub fn transpose(self, order: impl AsRef<[usize]>) -> $crate::Result<$View> {
            let order = order.as_ref();
            self.rewrite(&mut |map| map.transpose(order))
        }

        /// Reverses the order of the axes: a matrix is transposed. Copies nothing. Follows NumPy's `a.T`.
        ///
        /// # Errors
        ///
        /// What an expression carries.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::full([2, 3, 4], 0)?;
        /// assert_eq!(t.reverse_axes()?.shape(), [4, 3, 2]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "T")]
        #[doc(alias = "t")]
        #[doc(alias = "reversed_axes")]
        pub fn reverse_axes(self) -> $crate::Result<$View> {
            self.rewrite(&mut |map| Ok(map.reverse_axes()))
        }

        /// Exchanges two axes. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if one does not exist.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.swap_axes(0, 1)?.to_vec()?, [0, 3, 1, 4, 2, 5]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "swapaxes")]
        pub fn swap_axes(self, a: usize, b: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.swap_axes(a, b))
        }

        /// Moves axis `from` so that it becomes axis `to`; the others keep their order. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if one does not exist.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::full([2, 3, 4], 0)?;
        /// assert_eq!(t.move_axis(2, 0)?.shape(), [4, 2, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "moveaxis")]
        pub fn move_axis(self, from: usize, to: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.move_axis(from, to))
        }

        /// Takes a part of every axis, one selector per axis; missing trailing ones take all. Copies
        /// nothing.
        ///
        /// Selectors are a tuple of up to six: integers (which drop their axis), ranges, arrays or `Vec`s of indexes
        /// and [`Select`](crate::Select)s; or, of any number, a slice, array or `Vec` of `Select`s. Lists are outer
        /// indexing: each axis by itself.
        ///
        /// # Errors
        ///
        /// [`Error::Rank`](crate::Error::Rank) for more selectors than axes, [`Error::Index`](crate::Error::Index) with the
        /// first index out of bounds, [`Error::ZeroStep`](crate::Error::ZeroStep) for a range with step 0,
        /// [`Error::ListLength`](crate::Error::ListLength) for a mask that is not as long as its axis, the error of a
        /// mask that was computed, [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) for lists that make too many
        /// elements, and [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a list of positions cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?;
        /// assert_eq!(t.view().select((1, 1..))?.to_vec()?, [4, 5]);
        /// assert_eq!(t.select((.., [2, 0]))?.to_vec()?, [2, 0, 5, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "take")]
        #[doc(alias = "index_select")]
        #[inline]
        pub fn select(self, selectors: impl $crate::map::IntoSelectors) -> $crate::Result<$View> {
            $crate::map::IntoSelectors::with(selectors, |selectors| {
                self.rewrite(&mut |map| map.select(selectors))
            })
        }

        /// Takes a range of one axis: `1..3`, `2..`, `..=4` or `..`. An empty one may lie anywhere. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if it does not exist, [`Error::Index`](crate::Error::Index), with the first
        /// index outside, if the range reaches there, and [`Error::OutOfMemory`](crate::Error::OutOfMemory) if positions
        /// that are listed cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?;
        /// assert_eq!(t.slice(1, 1..3)?.to_vec()?, [1, 2, 4, 5]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "narrow")]
        #[inline]
        pub fn slice(
            self,
            axis: usize,
            range: impl std::ops::RangeBounds<usize>,
        ) -> $crate::Result<$View> {
            let bounds = (range.start_bound().cloned(), range.end_bound().cloned());
            self.rewrite(&mut |map| map.slice(axis, bounds))
        }

        /// Takes the indexes of one axis where `mask` is true, ascending. Copies nothing.
        ///
        /// The mask is a slice, an array or a `Vec` of `bool`, or an operand of `bool` and rank 1, which is
        /// computed here. Follows NumPy's `compress`, but that the mask is as long as the axis, never cut;
        /// [`Select::mask`](crate::Select::mask) is the same beside other selectors.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if the axis does not exist,
        /// [`Error::ListLength`](crate::Error::ListLength) if the mask has another length than the axis, what
        /// [`IntoMask::into_mask`](crate::map::IntoMask::into_mask) reports, and
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a table of positions cannot be kept.
        ///
        /// ```
        /// # use lensor::prelude::*;
        /// let mut t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.view().compress(1, &[true, false, true])?.to_vec()?, [0, 2, 3, 5]);
        /// let large = t.sum(1).greater(5_i64).eval()?;
        /// t.view_mut().compress(0, &large)?.fill(9)?;
        /// assert_eq!(t.to_vec()?, [0, 1, 2, 9, 9, 9]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "boolean_mask")]
        pub fn compress(
            self,
            axis: usize,
            mask: impl $crate::map::IntoMask,
        ) -> $crate::Result<$View> {
            let mask = mask.into_mask()?;
            self.rewrite(&mut |map| map.masked(axis, &mask))
        }

        /// Repeats every index of one axis: `counts` times if that is a number, and index `i` just `counts[i]`
        /// times if it is a list. Copies nothing. Follows NumPy's `repeat`.
        ///
        /// The whole axis one time after another is [`Self::broadcast`].
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if the axis does not exist,
        /// [`Error::ListLength`](crate::Error::ListLength) if there is not one count for each index,
        /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) if the result has too many elements,
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a table of positions cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([3], vec![1, 2, 3])?;
        /// assert_eq!(t.view().repeat(0, 2)?.to_vec()?, [1, 1, 2, 2, 3, 3]);
        /// assert_eq!(t.repeat(0, &[0, 3, 1])?.to_vec()?, [2, 2, 2, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn repeat<'n>(
            self,
            axis: usize,
            counts: impl Into<$crate::map::Counts<'n>>,
        ) -> $crate::Result<$View> {
            let counts = counts.into();
            self.rewrite(&mut |map| map.repeated(axis, &counts))
        }

        /// Reverses one axis. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if it does not exist, and
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if positions that are listed cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.flip(1)?.to_vec()?, [2, 1, 0, 5, 4, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "invert_axis")]
        pub fn flip(self, axis: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.flip(axis))
        }

        /// Tiles: repeats the block until the shape is `to`. Axes are right-aligned, every target extent is a
        /// multiple of the source's, new leading axes repeat the whole. Copies nothing.
        ///
        /// NumPy's `broadcast_to`, where only extent 1 repeats, is [`Self::stretch`]: it refuses `[2]` to `[4]`, which
        /// is tiled here. Elementwise operators stretch.
        ///
        /// # Errors
        ///
        /// [`Error::Broadcast`](crate::Error::Broadcast) where that is impossible,
        /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) if the result has too many elements,
        /// [`Error::RankLimit`](crate::Error::RankLimit) if it has too many axes, and
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if positions that are listed cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2], vec![1, 2])?;
        /// assert_eq!(t.broadcast([2, 4])?.to_vec()?, [1, 2, 1, 2, 1, 2, 1, 2]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "tile")]
        pub fn broadcast(self, to: impl Into<$crate::Shape>) -> $crate::Result<$View> {
            let to = to.into();
            self.rewrite(&mut |map| map.broadcast(to.clone()))
        }

        /// Moves element `i` of every axis to `(i + shift) mod extent`, one shift per axis. Copies
        /// nothing. Follows NumPy's `roll`.
        ///
        /// # Errors
        ///
        /// [`Error::Rank`](crate::Error::Rank) if there is not one shift per axis, and
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a table of positions cannot be kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([4], vec![1, 2, 3, 4])?;
        /// assert_eq!(t.rotate([1])?.to_vec()?, [4, 1, 2, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "roll")]
        pub fn rotate(self, shifts: impl AsRef<[isize]>) -> $crate::Result<$View> {
            let shifts = shifts.as_ref();
            self.rewrite(&mut |map| map.rotate(shifts))
        }

        /// Another shape with the same elements in the same row-major order. Always a view: where
        /// strides cannot express it, a further stage maps the positions.
        ///
        /// # Errors
        ///
        /// [`Error::Reshape`](crate::Error::Reshape) if the counts differ,
        /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) and [`Error::RankLimit`](crate::Error::RankLimit)
        /// for a shape of too many elements or axes.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?.transpose([1, 0])?;
        /// assert_eq!(t.reshape([6])?.to_vec()?, [0, 3, 1, 4, 2, 5]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn reshape(self, to: impl Into<$crate::Shape>) -> $crate::Result<$View> {
            let to = to.into();
            self.rewrite(&mut |map| map.reshape(to.clone()))
        }

        /// Reshapes with at most one extent given as `None`, which follows from the others.
        ///
        /// # Errors
        ///
        /// As [`Self::reshape`], and [`Error::Infer`](crate::Error::Infer) if the missing extent is not determined.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.reshape_infer([Some(3), None])?.shape(), [3, 2]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn reshape_infer(self, to: impl AsRef<[Option<usize>]>) -> $crate::Result<$View> {
            let to = to.as_ref();
            self.rewrite(&mut |map| map.reshape_infer(to))
        }

        /// Reshapes where no further stage is needed, and refuses otherwise: of a view that strides describe, the
        /// result has strides, too.
        ///
        /// # Errors
        ///
        /// As [`Self::reshape`], and [`Error::NeedsStage`](crate::Error::NeedsStage) where one is needed.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.view().reshape_strided([6])?.shape(), [6]);
        /// assert!(t.transpose([1, 0])?.reshape_strided([6]).is_err());
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn reshape_strided(self, to: impl Into<$crate::Shape>) -> $crate::Result<$View> {
            let to = to.into();
            self.rewrite(&mut |map| map.reshape_strided(to.clone()))
        }

        /// Splits one axis into several, outermost first. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if it does not exist, [`Error::Reshape`](crate::Error::Reshape) or
        /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) if the extents do not multiply to its own,
        /// [`Error::RankLimit`](crate::Error::RankLimit) if there are too many axes then.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::full([2, 6], 0)?;
        /// assert_eq!(t.split_axis(1, [3, 2])?.shape(), [2, 3, 2]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn split_axis(
            self,
            axis: usize,
            extents: impl AsRef<[usize]>,
        ) -> $crate::Result<$View> {
            let extents = extents.as_ref();
            self.rewrite(&mut |map| map.split_axis(axis, extents))
        }

        /// Merges neighbouring axes into one. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::AxisRange`](crate::Error::AxisRange) if the range runs backwards or beyond the rank,
        /// [`Error::RankLimit`](crate::Error::RankLimit) if an empty one adds an axis too many.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::full([2, 3, 4], 0)?;
        /// assert_eq!(t.merge_axes(0..2)?.shape(), [6, 4]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "flatten")]
        #[doc(alias = "ravel")]
        pub fn merge_axes(self, axes: impl std::ops::RangeBounds<usize>) -> $crate::Result<$View> {
            let bounds = (axes.start_bound().cloned(), axes.end_bound().cloned());
            self.rewrite(&mut |map| map.merge_axes(bounds))
        }

        /// Stretches to a shape of the same or a higher rank: missing axes and extents of 1 repeat, others stay. The
        /// axes meet at their last, or with [`Align::Left`](crate::Align::Left) at their first. Copies nothing. Follows
        /// NumPy's `broadcast_to`.
        ///
        /// [`Self::broadcast`] tiles axes of other extents than 1 too: `[2]` to `[4]`, which is refused here.
        ///
        /// # Errors
        ///
        /// [`Error::Stretch`](crate::Error::Stretch) if another extent differs or the rank falls,
        /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) if the result has too many elements,
        /// [`Error::RankLimit`](crate::Error::RankLimit) if it has too many axes.
        ///
        /// ```
        /// # use lensor::{Align, Tensor};
        /// let t = Tensor::from(vec![1, 2]);
        /// assert_eq!(t.view().stretch([2, 2], Align::Right)?.to_vec()?, [1, 2, 1, 2]);
        /// assert_eq!(t.view().stretch([2, 2], Align::Left)?.to_vec()?, [1, 1, 2, 2]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "broadcast_to")]
        #[doc(alias = "expand")]
        pub fn stretch(
            self,
            to: impl Into<$crate::Shape>,
            align: $crate::Align,
        ) -> $crate::Result<$View> {
            let to = to.into();
            self.rewrite(&mut |map| map.stretched(&to, align))
        }

        /// Adds an axis of extent 1 before axis `axis`.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if `axis` exceeds the rank, [`Error::RankLimit`](crate::Error::RankLimit)
        /// if there are too many axes then.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
        /// assert_eq!(t.insert_axis(1)?.shape(), [2, 1, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "expand_dims")]
        #[doc(alias = "newaxis")]
        #[doc(alias = "unsqueeze")]
        pub fn insert_axis(self, axis: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.insert_axis(axis))
        }

        /// Removes an axis of extent 1.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if it does not exist,
        /// [`Error::Removed`](crate::Error::Removed) if its extent is not 1.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::full([2, 1, 3], 0)?;
        /// assert_eq!(t.remove_axis(1)?.shape(), [2, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "squeeze")]
        pub fn remove_axis(self, axis: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.remove_axis(axis))
        }

        /// Replaces axes `a` and `b` by their diagonal, which becomes the last axis. Copies nothing.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if one does not exist, [`Error::RepeatedAxis`](crate::Error::RepeatedAxis)
        /// if they are the same, and [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a table of positions cannot be
        /// kept.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
        /// assert_eq!(t.diagonal(0, 1)?.to_vec()?, [1, 4]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "diag")]
        pub fn diagonal(self, a: usize, b: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.diagonal(a, b))
        }

        /// All windows of `window` neighbours along `axis`: the axis counts the windows, and a new last
        /// axis runs within one. Copies nothing. Follows NumPy's `sliding_window_view`. Folds of windows are
        /// [`Rolling::rolling`](crate::rolling::Rolling::rolling), mostly in time proportional to the axis alone.
        ///
        /// # Errors
        ///
        /// [`Error::Axis`](crate::Error::Axis) if the axis does not exist, [`Error::Window`](crate::Error::Window)
        /// if a window is empty or longer than the axis, [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) and
        /// [`Error::RankLimit`](crate::Error::RankLimit) for a shape of too many elements or axes.
        ///
        /// ```
        /// # use lensor::Tensor;
        /// let t = Tensor::from_vec([4], vec![1, 2, 3, 4])?;
        /// assert_eq!(t.windows(0, 3)?.to_vec()?, [1, 2, 3, 2, 3, 4]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        #[doc(alias = "sliding_window_view")]
        pub fn windows(self, axis: usize, window: usize) -> $crate::Result<$View> {
            self.rewrite(&mut |map| map.windows(axis, window))
        }
    };
}
pub(crate) use view_operations;

impl<S> super::Tensor<S> {
    view_operations!();

    /// The two parts of a view on either side of index `at` of an axis. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`](crate::Error::Axis) if the axis does not exist,
    /// [`Error::InvalidOffsets`](crate::Error::InvalidOffsets) if `at` exceeds its extent, and
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if positions that are listed cannot be kept.
    ///
    /// ```
    /// # use lensor::Tensor;
    /// let t = Tensor::from_vec([4], vec![1, 2, 3, 4])?;
    /// let (left, right) = t.split_at(0, 1)?;
    /// assert_eq!((left.to_vec()?, right.to_vec()?), (vec![1], vec![2, 3, 4]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn split_at(
        &self,
        axis: usize,
        at: usize,
    ) -> crate::Result<(super::Tensor<&S>, super::Tensor<&S>)> {
        let shape = self.shape();
        let extent = shape.extent(axis)?;
        if at > extent {
            let (at, offset, least) = (0, at as i128, 0);
            return Err(crate::Error::InvalidOffsets { at, offset, least, axis, extent });
        }
        Ok((self.view().slice(axis, 0..at)?, self.view().slice(axis, at..extent)?))
    }

    /// The parts of a view between the indexes `at` of an axis, one more than there are indexes. Copies
    /// nothing; the inverse of [`concat`](super::concat). Folds of parts are
    /// [`Segments::segments`](crate::segments::Segments::segments).
    ///
    /// Follows NumPy's `split` and `array_split` of a list of indexes, with three differences: indexes beyond
    /// the extent are an error, as are falling ones, where NumPy gives empty or overlapping parts, and none counts from
    /// the end; the axis comes first and has no default; a number of equal parts is not taken
    /// ([`Self::split_axis`] makes those an axis, if they are equal). Indexes of a tensor are `at.to_vec()?`.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`](crate::Error::Axis) if the axis does not exist,
    /// [`Error::InvalidOffsets`](crate::Error::InvalidOffsets) if an index exceeds the extent or is less than the
    /// one before, and [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the parts, or positions that are
    /// listed, cannot be kept.
    ///
    /// ```
    /// # use lensor::Tensor;
    /// let t = Tensor::from_vec([5], vec![1, 2, 3, 4, 5])?;
    /// let parts: Vec<_> = t.split(0, [1, 3])?.iter().map(Tensor::to_vec).collect::<Result<_, _>>()?;
    /// assert_eq!(parts, [vec![1], vec![2, 3], vec![4, 5]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "array_split")]
    pub fn split(
        &self,
        axis: usize,
        at: impl AsRef<[usize]>,
    ) -> crate::Result<Vec<super::Tensor<&S>>> {
        let at = at.as_ref();
        let shape = self.shape();
        let extent = shape.extent(axis)?;
        let mut start = 0;
        let mut parts = crate::memory::try_with_capacity(at.len() + 1)?;
        for (at, &end) in at.iter().chain([&extent]).enumerate() {
            if end < start || end > extent {
                let (offset, least) = (end as i128, start);
                return Err(crate::Error::InvalidOffsets { at, offset, least, axis, extent });
            }
            parts.push(self.view().slice(axis, start..end)?);
            start = end;
        }
        Ok(parts)
    }
}
