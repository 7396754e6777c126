//! How lanes would be sorted and selected from.

use crate::dtype::{Radix, Sortable};
use crate::error::Result;
use crate::expr::{Explanation, Expr, bytes_read};
use crate::map::AddressMap;
use crate::ops::explain::{Explained, report};
#[cfg(doc)]
use crate::ops::lanes::Lanes;
use crate::ops::lanes::driver::{Old, explain_lanes, nothing};
use crate::ops::lanes::sort::Method;
use crate::ops::lanes::{SortOrder, select};
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::any::type_name;
use std::cmp::Ordering;
use std::fmt::Display;

type Key<T> = <T as Sortable>::Key;

/// What a lane is sorted by that has no keys.
const BY_COMPARISON: &str = "sorted as it is, by comparisons";

/// Sorts and selections of [`Lanes`]. Errors are those that they report before they read an element.
impl<E: Expr> Explained<E> {
    /// How [`Lanes::sort`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([100, 8], 1_u8)?;
    /// let text = t.explained().sort(0, Ascending)?.to_string();
    /// assert!(text.contains("each lane: sorted by 1-byte keys, byte by byte"));
    /// let text = t.explained().sort(1, Ascending)?.to_string();
    /// assert!(text.contains("1-byte keys, by a network that takes sixteen lanes at once"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort(&self, axis: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let each = Method::by_keys::<Key<E::Elem>>(self.extent(axis)?);
        self.same::<E::Elem>(&in_order(order, "sort"), axis, each)
    }

    /// How [`Lanes::argsort`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Descending};
    /// let t = Tensor::full([2, 1000], 1.0_f32)?;
    /// let text = t.explained().argsort(1, Descending)?.to_string();
    /// assert!(text.starts_with("descending argsort of f32 [2, 1000] along axis 1 to usize"));
    /// assert!(text.contains("sorted by 4-byte keys with positions"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn argsort(&self, axis: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let each = Method::by_pairs::<Key<E::Elem>>(self.extent(axis)?);
        self.same::<usize>(&in_order(order, "argsort"), axis, each)
    }

    /// How [`Lanes::sort_by_key`] would go about it: the operand is evaluated, and the result sorted.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().sort_by_key(1, Ascending, |x| x > 0.5)?.to_string();
    /// assert!(text.contains("each lane: sorted by 1-byte keys with positions, byte by byte"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_by_key<K, F>(&self, axis: usize, order: SortOrder, _key: F) -> Result<Explanation>
    where
        K: Sortable,
        F: Fn(E::Elem) -> K + Sync,
    {
        let each = Method::by_pairs::<Key<K>>(self.extent(axis)?);
        self.evaluated(&in_order(order, "sort by key"), axis, each)
    }

    /// How [`Lanes::sort_by`] would go about it: the operand is evaluated, and the result sorted.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().sort_by(1, f64::total_cmp)?.to_string();
    /// assert!(text.contains("operand: evaluated to the result, which is sorted in place"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_by<F>(&self, axis: usize, _compare: F) -> Result<Explanation>
    where
        F: Fn(&E::Elem, &E::Elem) -> Ordering + Sync,
    {
        self.evaluated("sort by comparison", axis, BY_COMPARISON)
    }

    /// How [`Lanes::argsort_by`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().argsort_by(1, f64::total_cmp)?.to_string();
    /// assert!(text.contains("each lane: sorted as it is, by comparisons"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn argsort_by<F>(&self, axis: usize, _compare: F) -> Result<Explanation>
    where
        F: Fn(&E::Elem, &E::Elem) -> Ordering + Sync,
    {
        self.same::<usize>("argsort by comparison", axis, BY_COMPARISON)
    }

    /// How [`Lanes::partition`] would go about it.
    ///
    /// # Errors
    ///
    /// As `partition`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([100], 1.0)?;
    /// let text = t.explained().partition(0, 50, Ascending)?.to_string();
    /// assert!(text.contains("each lane: rank 50 of 8-byte keys with positions selected"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn partition(&self, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        select::check_rank(axis, k, &self.0.shape()?)?;
        self.same::<E::Elem>(&in_order(order, "partition"), axis, around::<E::Elem>(k))
    }

    /// How [`Lanes::argpartition`] would go about it.
    ///
    /// # Errors
    ///
    /// As `argpartition`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().argpartition(1, 9, Ascending)?.to_string();
    /// assert!(text.starts_with("ascending argpartition of f64 [2, 1000] along axis 1 to usize"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn argpartition(&self, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        select::check_rank(axis, k, &self.0.shape()?)?;
        self.same::<usize>(&in_order(order, "argpartition"), axis, around::<E::Elem>(k))
    }

    /// How [`Lanes::top_k`] would go about it.
    ///
    /// # Errors
    ///
    /// As `top_k`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Descending};
    /// let t = Tensor::full([100], 1_i16)?;
    /// let text = t.explained().top_k(0, 3, Descending)?.to_string();
    /// assert!(text.contains("each lane: 3 of 2-byte keys with positions selected, then sorted"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn top_k(&self, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        self.top::<E::Elem>("top elements", axis, k, order)
    }

    /// How [`Lanes::arg_top_k`] would go about it.
    ///
    /// # Errors
    ///
    /// As `arg_top_k`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Descending};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().arg_top_k(1, 3, Descending)?.to_string();
    /// assert!(text.contains("to usize [2, 3]"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn arg_top_k(&self, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        self.top::<usize>("positions of top elements", axis, k, order)
    }

    fn top<U>(&self, what: &str, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let out = select::top(&self.0.shape()?, axis, k)?;
        let each = format!("{k} of {} selected, then sorted", ranked::<E::Elem>());
        self.lanes::<U>(&in_order(order, what), axis, &out, &each)
    }

    /// Lanes that stay as long as they are.
    fn same<U>(&self, what: &str, axis: usize, each: impl Display) -> Result<Explanation> {
        self.lanes::<U>(what, axis, &self.0.shape()?, &each.to_string())
    }

    /// Lanes that are evaluated to the result and sorted there.
    fn evaluated(&self, what: &str, axis: usize, each: impl Display) -> Result<Explanation> {
        let map = AddressMap::row_major(&self.0.shape()?)?;
        let evaluated = "operand: evaluated to the result, which is sorted in place".to_string();
        changed::<E::Elem>(what, axis, (&map, true), [evaluated], bytes_read(&self.0.0), each)
    }
}

/// Sorts in place. Storage that is memory to read from is taken to be memory to write to.
impl<S: Reader> Explained<Tensor<S>> {
    /// How [`Tensor::sort_in_place`] would go about it.
    ///
    /// # Errors
    ///
    /// As `sort_in_place`, but for those of the storage.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([4, 100], 1.0)?;
    /// let text = t.explained().sort_in_place(1, Ascending)?.to_string();
    /// assert!(text.contains("destination: changed where it lies"));
    /// let text = t.explained().sort_in_place(0, Ascending)?.to_string();
    /// assert!(text.contains("destination: changed in scratch memory and assigned back"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place(&self, axis: usize, order: SortOrder) -> Result<Explanation>
    where
        S::Elem: Sortable,
    {
        let each = Method::by_keys::<Key<S::Elem>>(self.extent(axis)?);
        self.in_place(&in_order(order, "sort in place"), axis, format!("copied and {each}"))
    }

    /// How [`Tensor::sort_in_place_by_key`] would go about it.
    ///
    /// # Errors
    ///
    /// As `sort_in_place_by_key`, but for those of the storage.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().sort_in_place_by_key(1, Ascending, |x| x > 0.5)?.to_string();
    /// assert!(text.contains("each lane: copied and sorted by 1-byte keys with positions"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place_by_key<K, F>(
        &self,
        axis: usize,
        order: SortOrder,
        _key: F,
    ) -> Result<Explanation>
    where
        K: Sortable,
        F: Fn(S::Elem) -> K + Sync,
    {
        let each = Method::by_pairs::<Key<K>>(self.extent(axis)?);
        self.in_place(&in_order(order, "sort in place by key"), axis, format!("copied and {each}"))
    }

    /// How [`Tensor::sort_in_place_by`] would go about it.
    ///
    /// # Errors
    ///
    /// As `sort_in_place_by`, but for those of the storage.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().sort_in_place_by(1, f64::total_cmp)?.to_string();
    /// assert!(text.contains("each lane: sorted as it is, by comparisons"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sort_in_place_by<F>(&self, axis: usize, _compare: F) -> Result<Explanation>
    where
        F: Fn(&S::Elem, &S::Elem) -> Ordering + Sync,
    {
        self.in_place("sort in place by comparison", axis, BY_COMPARISON)
    }

    /// How [`Tensor::partition_in_place`] would go about it.
    ///
    /// # Errors
    ///
    /// As `partition_in_place`, but for those of the storage.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::SortOrder::Ascending};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().partition_in_place(1, 9, Ascending)?.to_string();
    /// assert!(text.contains("each lane: copied, rank 9 of 8-byte keys with positions selected"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn partition_in_place(&self, axis: usize, k: usize, order: SortOrder) -> Result<Explanation>
    where
        S::Elem: Sortable,
    {
        select::check_rank(axis, k, &self.0.shape()?)?;
        let each = format!("copied, {}", around::<S::Elem>(k));
        self.in_place(&in_order(order, "partition in place"), axis, each)
    }

    fn in_place(&self, what: &str, axis: usize, each: impl Display) -> Result<Explanation> {
        let tensor = &self.0.0;
        let out = (tensor.address_map(), tensor.storage().as_slice().is_some());
        changed::<S::Elem>(what, axis, out, None, bytes_read(tensor), each)
    }
}

/// What becomes of lanes of `T` that are changed, after the steps `before`.
fn changed<T>(
    what: &str,
    axis: usize,
    out: (&AddressMap, bool),
    before: impl IntoIterator<Item = String>,
    read: usize,
    each: impl Display,
) -> Result<Explanation> {
    let (map, none) = (out.0, nothing(&out.0.shape(), axis)?);
    let (how, threads) = explain_lanes((&none, &none), axis, out, Old::Kept, each)?;
    let what = format!("{what} of {} {:?} along axis {axis}", type_name::<T>(), map.shape());
    let written = map.count().saturating_mul(size_of::<T>());
    Ok(report(what, before.into_iter().chain(how), threads, [read, written]))
}

fn in_order(order: SortOrder, what: &str) -> String {
    format!("{} {what}", order.word())
}

/// What ranks are selected among.
fn ranked<T: Sortable>() -> String {
    format!("{}-byte keys with positions", Key::<T>::BYTES)
}

fn around<T: Sortable>(k: usize) -> String {
    format!("rank {k} of {} selected, the others as they come on its sides", ranked::<T>())
}
