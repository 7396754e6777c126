//! Lanes of a view, changed where they are.

use super::driver::{update_blocks, zip_blocks};
use super::operand::Batch;
use super::{SortOrder, along, select, sort};
use crate::dtype::Sortable;
use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, Pairs, check_operand, elements_at, write_elements};
use crate::memory::{refill, sort_by, try_with_capacity};
use crate::ops::indexing::first_repeat;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::cmp::Ordering;

/// Bytes of lanes that are copied at once, but for longer lanes.
const COPIED: usize = 1 << 18;

impl<W: Writer> Tensor<W> {
    /// Sorts every lane of this view along `axis`. Equal elements keep their order, NaN comes last.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if the axis does not exist, [`Error::WouldDensify`] for more than 2^33 elements of sparse
    /// storage, which are read one by one, [`Error::NotInjective`] if two indexes of this view share an address;
    /// [`Error::Storage`] if the storage fails and [`Error::OutOfMemory`] if some lanes cannot be kept, which may
    /// leave this view partly written.
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
        in_place(self, axis, |scratch, lanes, out| sort::sort_lanes(scratch, lanes, out, order))
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
    /// t.sort_by_key_in_place(0, Descending, |x: i32| x.abs())?;
    /// assert_eq!(t.to_vec()?, [-3, 2, -2, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_by_key_in_place<K, F>(
        &mut self,
        axis: usize,
        order: SortOrder,
        key: F,
    ) -> Result<()>
    where
        K: Sortable,
        F: Fn(W::Elem) -> K + Sync,
    {
        in_place(self, axis, |scratch, lanes, out| {
            sort::sort_lanes_by_key(scratch, lanes, out, |x| order.keys()(key(x)))
        })
    }

    /// Sorts every lane of this view along `axis` by a comparison. Equal elements keep their order. Where
    /// `compare` is not an order of all elements they come in some order.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_vec([4], vec!["d", "b", "c", "a"])?;
    /// t.sort_by_in_place(0, |a, b| b.cmp(a))?;
    /// assert_eq!(t.to_vec()?, ["d", "c", "b", "a"]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_by_in_place<F>(&mut self, axis: usize, compare: F) -> Result<()>
    where
        F: Fn(&W::Elem, &W::Elem) -> Ordering + Sync,
    {
        update_blocks(axis, self, |length, _, lanes| {
            let mut spare = Vec::new();
            lanes.chunks_exact_mut(length).try_for_each(|lane| sort_by(lane, &mut spare, &compare))
        })
    }

    /// Arranges every lane of this view along `axis` around its `k`-th element in order, see
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
        in_place(self, axis, |keys, lanes, out| {
            lanes.for_each(out, |lane, _, out| {
                select::partition_lane(keys, lane, out, k, order.keys(), |position| lane[position])
            })
        })
    }

    /// Writes `values` to `indexes` of every lane of this view along `axis`. Follows NumPy's `put_along_axis`, but that no
    /// index may stand twice in a lane.
    ///
    /// Along `axis` the extent of `indexes` is free. Their other axes stretch to those of this view, and
    /// `values` to all of `indexes`; a scalar will do. Everything is checked and computed before anything is written.
    ///
    /// # Errors
    ///
    /// As [`Self::sort_in_place`], [`Error::Lanes`] or [`Error::Destination`] if the shapes do not go together,
    /// [`Error::IndexAt`] for the first index that lies outside, [`Error::RepeatedIndex`] for the first that
    /// stands in its lane already, as no order decides which value stays ([`Self::fold_at`] takes both), and what
    /// the evaluation of the operands reports.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let indexes = Tensor::from_vec([2, 1], vec![2, 0])?;
    /// t.put_along(1, &indexes, 9)?;
    /// assert_eq!(t.to_vec()?, [1, 2, 9, 9, 5, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "put_along_axis")]
    #[doc(alias = "scatter")]
    pub fn put_along<I, R>(&mut self, axis: usize, indexes: I, values: R) -> Result<()>
    where
        I: IntoExpr<Elem = usize>,
        W::Elem: Pairs<R>,
    {
        self.address_map().check_injective()?;
        let (indexes, values) = (indexes.into_expr(), W::Elem::pair(values));
        let own = self.shape();
        let shape = along::shared(&own, &indexes.shape()?, &values.shape()?, axis)?;
        if shape.count()? == 0 {
            return Ok(());
        }
        check_operand(&indexes)?;
        let indexes = elements_at(&indexes, &shape)?;
        let at = along::positions((&own, &shape), axis, (0, &indexes))?;
        check_operand(&values)?;
        let values = elements_at(&values, &shape)?;
        if let Some((first, second)) = first_repeat(&at)? {
            let index = own.unravel(at[second]).to_vec();
            let [first, second] = [first, second].map(|place| shape.unravel(place).to_vec());
            return Err(Error::RepeatedIndex { index, first, second });
        }
        if along::is_few(&own, &shape, axis) {
            let (map, storage) = self.parts_mut();
            let mut addresses = try_with_capacity(at.len())?;
            map.addresses_at(&at, &mut addresses);
            return write_elements(map, storage, &addresses, &values);
        }
        let indexes = Tensor::new(&shape, &indexes[..])?;
        let values = Tensor::new(&shape, &values[..])?;
        let (indexes, values) = (indexes.lazy(), values.lazy());
        zip_blocks((&indexes, &values), axis, self, true, |lanes, out| {
            lanes.for_each(out, |indexes, values, lane| {
                along::put(indexes, values, lane);
                Ok(())
            })
        })
    }
}

/// Changes lanes, several at a time, by a function from a copy of them.
fn in_place<W, S, F>(tensor: &mut Tensor<W>, axis: usize, f: F) -> Result<()>
where
    W: Writer,
    S: Default,
    F: Fn(&mut S, Batch<'_, W::Elem>, &mut [W::Elem]) -> Result<()> + Sync,
{
    update_blocks(axis, tensor, |length, alone, out| {
        let (mut scratch, mut copy) = (S::default(), Vec::new());
        let lanes = (COPIED / size_of::<W::Elem>().max(1) / length).max(1);
        out.chunks_mut(lanes.saturating_mul(length)).try_for_each(|out| {
            refill(&mut copy, out.iter().copied())?;
            let lanes = Batch::new(&copy, length, out.len() / length);
            f(&mut scratch, Batch { alone, ..lanes }, out)
        })
    })
}
