//! Sorts as operations on every lane.

use super::SortOrder;
use super::before::{First, Zeros};
use super::operand::Batch;
use super::operation::LaneOperation;
use super::sort::{
    Keys, Pairs, SortMethod, argsort_lane_by, argsort_lanes, sort_lanes, sort_lanes_by_key,
};
use crate::dtype::Sortable;
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::memory::sort_by;
use std::cmp::Ordering;

/// The elements of every lane in order, see [`Lanes::sort`](super::Lanes::sort).
#[derive(Debug, Clone, Copy)]
pub struct Sort(pub(super) SortOrder);

impl Sealed for Sort {}

impl<T: Sortable> LaneOperation<T> for Sort {
    type Elem = T;
    type Before = Zeros;
    type Memory = Keys<T::Key>;

    fn compute(&self, keys: &mut Self::Memory, lanes: Batch<'_, T>, out: &mut [T]) -> Result<()> {
        sort_lanes(keys, lanes, out, self.0)
    }

    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]> {
        Ok([self.0.of("sort"), SortMethod::by_keys::<T::Key>(extent, lanes).to_string()])
    }

    fn threads(&self, extent: usize, lanes: usize) -> usize {
        SortMethod::by_keys::<T::Key>(extent, lanes).threads(extent, lanes)
    }
}

/// Sorts runs of `length` elements, the first from the first of these places on and each as far after the one before as
/// the second says, to slots one after another.
pub(crate) fn sort_runs<T: Sortable>(
    elements: &[T],
    place: [isize; 2],
    length: usize,
    out: &mut [T],
    order: SortOrder,
) -> Result<()> {
    let lanes = Batch::apart(elements, length, place, out.len() / length.max(1));
    sort_lanes(&mut Keys::default(), lanes, out, order)
}

/// The positions that would sort runs in ascending order, see [`sort_runs`].
pub(crate) fn argsort_runs<T: Sortable>(
    elements: &[T],
    place: [isize; 2],
    length: usize,
    out: &mut [usize],
) -> Result<()> {
    let lanes = Batch::apart(elements, length, place, out.len() / length.max(1));
    argsort_lanes(&mut Keys::default(), lanes, out, SortOrder::Ascending.keys())
}

/// The positions of the elements of every lane in order, see [`Lanes::argsort`](super::Lanes::argsort).
#[derive(Debug, Clone, Copy)]
pub struct ArgSort(pub(super) SortOrder);

impl Sealed for ArgSort {}

impl<T: Sortable> LaneOperation<T> for ArgSort {
    type Elem = usize;
    type Before = Zeros;
    type Memory = Pairs<T::Key>;

    fn compute(
        &self,
        pairs: &mut Self::Memory,
        lanes: Batch<'_, T>,
        out: &mut [usize],
    ) -> Result<()> {
        argsort_lanes(pairs, lanes, out, self.0.keys())
    }

    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]> {
        Ok([self.0.of("argsort"), SortMethod::by_pairs::<T::Key>(extent, lanes).to_string()])
    }

    fn threads(&self, extent: usize, lanes: usize) -> usize {
        SortMethod::by_pairs::<T::Key>(extent, lanes).threads(extent, lanes)
    }
}

/// The elements of every lane in order of a key, see [`Lanes::sort_by_key`](super::Lanes::sort_by_key).
#[derive(Debug, Clone, Copy)]
pub struct SortByKey<F> {
    pub(crate) order: SortOrder,
    pub(crate) key: F,
}

impl<F> Sealed for SortByKey<F> {}

impl<T, K, F> LaneOperation<T> for SortByKey<F>
where
    T: Copy + Send + Sync,
    K: Sortable,
    F: Fn(T) -> K + Send + Sync,
{
    type Elem = T;
    type Before = First;
    type Memory = Pairs<K::Key>;

    fn compute(&self, pairs: &mut Self::Memory, lanes: Batch<'_, T>, out: &mut [T]) -> Result<()> {
        let key = |x| self.order.keys()((self.key)(x));
        sort_lanes_by_key(pairs, lanes, out, key)
    }

    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]> {
        Ok([
            self.order.of("sort by key"),
            SortMethod::by_pairs::<K::Key>(extent, lanes).to_string(),
        ])
    }

    fn threads(&self, extent: usize, lanes: usize) -> usize {
        SortMethod::by_pairs::<K::Key>(extent, lanes).threads(extent, lanes)
    }
}

/// The elements of every lane in the order of a comparison, see [`Lanes::sort_by`](super::Lanes::sort_by).
#[derive(Debug, Clone, Copy)]
pub struct SortBy<F>(pub(crate) F);

impl<F> Sealed for SortBy<F> {}

impl<T, F> LaneOperation<T> for SortBy<F>
where
    T: Copy + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Send + Sync,
{
    type Elem = T;
    type Before = First;
    type Memory = Vec<T>;

    fn compute(&self, spare: &mut Vec<T>, lanes: Batch<'_, T>, out: &mut [T]) -> Result<()> {
        lanes.for_each(out, |lane, _, out| {
            out.copy_from_slice(lane);
            sort_by(out, spare, &self.0)
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        Ok(["sort by comparison".into(), SortMethod::Plain.to_string()])
    }
}

/// The positions of the elements of every lane in the order of a comparison, see
/// [`Lanes::argsort_by`](super::Lanes::argsort_by).
#[derive(Debug, Clone, Copy)]
pub struct ArgSortBy<F>(pub(crate) F);

impl<F> Sealed for ArgSortBy<F> {}

impl<T, F> LaneOperation<T> for ArgSortBy<F>
where
    T: Copy + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Send + Sync,
{
    type Elem = usize;
    type Before = Zeros;
    type Memory = Vec<usize>;

    fn compute(
        &self,
        spare: &mut Vec<usize>,
        lanes: Batch<'_, T>,
        out: &mut [usize],
    ) -> Result<()> {
        lanes.for_each(out, |lane, _, out| argsort_lane_by(lane, out, spare, &self.0))
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        Ok(["argsort by comparison".into(), SortMethod::Plain.to_string()])
    }
}
