//! Lanes of a view, changed where they are.

use super::driver::{Old, update_blocks, zip_blocks};
use super::operand::{LaneSlices, for_each_lane};
use super::{SortOrder, along, select, sort};
use crate::dtype::Sortable;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{IntoExpr, Lazy, Pairs};
use crate::memory::{refill, sort_by};
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::cmp::Ordering;
use std::ops::Range;

/// Bytes of lanes that are copied at once, but for longer lanes.
const COPIED: usize = 1 << 18;

impl<W: Writer> Tensor<W> {
    /// Sorts every lane of this view along `axis`. Equal elements keep their order, NaN comes last.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::NotInjective`] if two indexes of this view share
    /// an address, [`Error::Storage`] if the storage fails, [`Error::OutOfMemory`] if some lanes cannot be kept.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_vec([2, 3], vec![3, 1, 2, 9, 8, 7])?;
    /// t.view_mut().select((0,))?.sort_in_place(0, Ascending)?;
    /// assert_eq!(t.to_vec()?, [1, 2, 3, 9, 8, 7]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place(&mut self, axis: usize, order: SortOrder) -> Result<()>
    where
        W::Elem: Sortable,
    {
        in_place(self, axis, |scratch, lanes, numbers, out| {
            sort::sort_lanes(scratch, lanes, numbers, out, order)
        })
    }

    /// Sorts every lane of this view along `axis` by a key. Elements with equal keys keep their order.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`].
    ///
    /// ```
    /// use lensor::{lanes::SortOrder::Descending, Tensor};
    /// let mut t = Tensor::from_vec([4], vec![1, -3, 2, -2])?;
    /// t.sort_in_place_by_key(0, Descending, |x: i32| x.abs())?;
    /// assert_eq!(t.to_vec()?, [-3, 2, -2, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place_by_key<K, F>(
        &mut self,
        axis: usize,
        order: SortOrder,
        key: F,
    ) -> Result<()>
    where
        K: Sortable,
        F: Fn(W::Elem) -> K + Sync,
    {
        in_place(self, axis, |scratch, lanes, numbers, out| {
            sort::sort_lanes_by_key(scratch, lanes, numbers, out, |x| order.keys()(key(x)))
        })
    }

    /// Sorts every lane of this view along `axis` by a comparison. Equal elements keep their order.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`].
    ///
    /// Where `compare` is not an order of all elements they come in some order.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_vec([4], vec!["d", "b", "c", "a"])?;
    /// t.sort_in_place_by(0, |a, b| b.cmp(a))?;
    /// assert_eq!(t.to_vec()?, ["d", "c", "b", "a"]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place_by<F>(&mut self, axis: usize, compare: F) -> Result<()>
    where
        F: Fn(&W::Elem, &W::Elem) -> Ordering + Sync,
    {
        update_blocks(axis, self, |length, lanes| {
            let mut spare = Vec::new();
            lanes.chunks_exact_mut(length).try_for_each(|lane| sort_by(lane, &mut spare, &compare))
        })
    }

    /// Arranges every lane of this view along `axis` around its element of rank `k`, see
    /// [`Lanes::partition`](super::Lanes::partition).
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`], and [`Error::Index`] if `k` is not less than the extent.
    ///
    /// ```
    /// use lensor::{lanes::SortOrder::Ascending, Tensor};
    /// let mut t = Tensor::from_vec([5], vec![5, 1, 4, 2, 3])?;
    /// t.partition_in_place(0, 2, Ascending)?;
    /// assert_eq!(t.to_vec()?, [1, 2, 3, 5, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn partition_in_place(&mut self, axis: usize, k: usize, order: SortOrder) -> Result<()>
    where
        W::Elem: Sortable,
    {
        select::check_rank(axis, k, &self.shape())?;
        in_place(self, axis, |ranked, lanes, numbers, out| {
            numbers.zip(out.chunks_exact_mut(lanes.length)).try_for_each(|(number, out)| {
                let lane = lanes.lane(number)?;
                select::partition_lane(ranked, lane, out, k, order.keys(), |position| {
                    lane[position]
                })
            })
        })
    }

    /// Writes `values` to `indices` of every lane of this view along `axis`, one after another: of two
    /// values for one element the later one stays. Follows NumPy's `put_along_axis`.
    ///
    /// Along `axis` the extent of `indices` is free. Their other axes stretch to those of this view, and
    /// `values` to all of `indices`; a scalar will do.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`], [`Error::Lanes`] or [`Error::Destination`] if the shapes do not go
    /// together, [`Error::Index`] if an index lies outside, and what the evaluation of the operands
    /// reports. After an error this view is partly written.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let indices = Tensor::from_vec([2, 1], vec![2, 0])?;
    /// t.put_along(1, &indices, 9)?;
    /// assert_eq!(t.to_vec()?, [1, 2, 9, 9, 5, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "put_along_axis")]
    pub fn put_along<I, R>(&mut self, axis: usize, indices: I, values: R) -> Result<()>
    where
        I: IntoExpr<Elem = usize>,
        W::Elem: Pairs<R>,
    {
        let indices = Lazy(indices.into_expr());
        let values = along::values::<W::Elem, _>(&self.shape(), &indices.shape()?, values, axis)?;
        let shape = values.shape()?;
        if shape.count()? == 0 {
            return Ok(());
        }
        along::check_inside(self.shape()[axis], &indices, axis)?;
        let indices = indices.broadcast(&shape)?;
        zip_blocks((&indices, &values), axis, self, Old::Kept, |lanes, numbers, out| {
            for_each_lane(lanes, numbers, out, |indices, values, lane| {
                along::put(indices, values, lane, axis)
            })
        })
    }
}

/// Changes lanes, several at a time, by a function from a copy of them.
fn in_place<W, S, F>(tensor: &mut Tensor<W>, axis: usize, f: F) -> Result<()>
where
    W: Writer,
    S: Default,
    F: Fn(&mut S, &LaneSlices<'_, W::Elem>, Range<usize>, &mut [W::Elem]) -> Result<()> + Sync,
{
    update_blocks(axis, tensor, |length, out| {
        let (mut scratch, mut copy) = (S::default(), Vec::new());
        let lanes = (COPIED / size_of::<W::Elem>().max(1) / length).max(1);
        out.chunks_mut(lanes.saturating_mul(length)).try_for_each(|out| {
            refill(&mut copy, out.iter().copied())?;
            f(&mut scratch, &LaneSlices::new(&copy, length), 0..out.len() / length, out)
        })
    })
}
