//! Lanes of a view, changed where they are.

use super::SortOrder;
use super::driver::update_lanes;
use super::sort;
use crate::dtype::Sortable;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::cmp::Ordering;

impl<W: Writer> Tensor<W> {
    /// Sorts every lane of this view along `axis`. Equal elements keep their order, NaN comes last.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::NotInjective`] if two indexes of this view share
    /// an address, [`Error::Storage`] if the storage fails, [`Error::OutOfMemory`] if a lane cannot be kept.
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
        in_place(self, axis, |scratch, lane, out| sort::sort_lane(scratch, lane, out, order))
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
    pub fn sort_in_place_by_key<K, F>(&mut self, axis: usize, order: SortOrder, key: F) -> Result<()>
    where
        K: Sortable,
        F: Fn(W::Elem) -> K + Sync,
    {
        in_place(self, axis, |scratch, lane, out| {
            sort::sort_lane_by_key(scratch, lane, out, |x| order.keys()(key(x)))
        })
    }

    /// Sorts every lane of this view along `axis` by a comparison. Equal elements keep their order.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`].
    ///
    /// # Panics
    ///
    /// May panic if `compare` is not an order of all elements, as [`slice::sort_by`] may.
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
        update_lanes(axis, self, |(), lane| {
            lane.sort_by(&compare);
            Ok(())
        })
    }
}

/// Changes every lane by a function from a copy of it.
fn in_place<W, S, F>(tensor: &mut Tensor<W>, axis: usize, f: F) -> Result<()>
where
    W: Writer,
    S: Default,
    F: Fn(&mut S, &[W::Elem], &mut [W::Elem]) -> Result<()> + Sync,
{
    update_lanes(axis, tensor, |(scratch, copy): &mut (S, Vec<W::Elem>), lane| {
        sort::refill(copy, lane.iter().copied())?;
        f(scratch, copy, lane)
    })
}
