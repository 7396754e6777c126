//! Sorts as operations on every lane.

use super::SortOrder;
use super::operand::{Both, LaneSlices};
use super::operation::{Blank, LaneOperation, for_each_lane};
use super::select::{Elements, Picked, Positions};
use super::sort::{Keys, Method, argsort_lane_by, argsort_lanes, sort_lanes, sort_lanes_by_key};
use crate::dtype::Sortable;
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{Expr, Lazy};
use crate::memory::{resize, sort_by};
use bytemuck::Zeroable;
use std::cmp::Ordering;
use std::ops::Range;

/// The elements of every lane in order, see [`Lanes::sort`](super::Lanes::sort).
#[derive(Debug, Clone, Copy)]
pub struct Sort(pub(super) SortOrder);

impl Sealed for Sort {}

impl<T: Sortable> LaneOperation<T> for Sort {
    type Elem = T;

    fn blank<A, B>(&self, _a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<Blank<T>>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = ()>,
    {
        Blank::zeros()
    }

    fn compute(
        &self,
        _axis: usize,
        (lanes, _): Both<'_, '_, T, ()>,
        numbers: Range<usize>,
        out: &mut [T],
    ) -> Result<()> {
        sort_lanes(&mut Keys::default(), lanes, numbers, out, self.0)
    }

    fn words(&self, extent: usize) -> Result<[String; 2]> {
        Ok([self.0.of("sort"), Method::by_keys::<T::Key>(extent).to_string()])
    }
}

/// Sorts runs of `length` elements, the first from the first of these places on and each as far after the one before as
/// the second says, to slots one after another.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::OutOfSpan`](crate::Error::OutOfSpan) if a run does not lie
/// in the slice.
pub(crate) fn sort_runs<T: Sortable>(
    elements: &[T],
    place: [isize; 2],
    length: usize,
    out: &mut [T],
    order: SortOrder,
) -> Result<()> {
    let numbers = 0..out.len() / length.max(1);
    let lanes = LaneSlices::apart(elements, length, place);
    sort_lanes(&mut Keys::default(), &lanes, numbers, out, order)
}

/// The positions that would sort runs in ascending order, see [`sort_runs`].
///
/// # Errors
///
/// As [`sort_runs`].
pub(crate) fn argsort_runs<T: Sortable>(
    elements: &[T],
    place: [isize; 2],
    length: usize,
    out: &mut [usize],
) -> Result<()> {
    let numbers = 0..out.len() / length.max(1);
    let lanes = LaneSlices::apart(elements, length, place);
    argsort_lanes(&mut Keys::default(), &lanes, numbers, out, SortOrder::Ascending.keys())
}

/// What is sorted row by row: the elements, or where they stand.
pub(crate) trait SortedRows<T: Sortable>: Picked<T> {
    /// The operation, in words.
    const WHAT: &'static str;

    /// The first in order of each of some runs, at most `limit`, one run after another.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn sort_rows<'d>(
        &self,
        rows: impl Iterator<Item = &'d [T]>,
        out: &mut [Self::Elem],
        order: SortOrder,
        limit: usize,
    ) -> Result<()>
    where
        T: 'd;
}

impl<T: Sortable> SortedRows<T> for Elements {
    const WHAT: &'static str = "sort";

    fn sort_rows<'d>(
        &self,
        rows: impl Iterator<Item = &'d [T]>,
        out: &mut [T],
        order: SortOrder,
        limit: usize,
    ) -> Result<()>
    where
        T: 'd,
    {
        let (mut keys, descending) = (Keys::default(), order.is_descending());
        first_of_each(rows, out, limit, |run, out| {
            if run.len() <= SHORT {
                out.copy_from_slice(run);
                insert(out, |x| x.key(descending));
                return Ok(());
            }
            sort_lanes(&mut keys, &LaneSlices::new(run, run.len()), 0..1, out, order)
        })
    }
}

impl<T: Sortable> SortedRows<T> for Positions {
    const WHAT: &'static str = "positions of a sort";

    fn sort_rows<'d>(
        &self,
        rows: impl Iterator<Item = &'d [T]>,
        out: &mut [usize],
        order: SortOrder,
        limit: usize,
    ) -> Result<()>
    where
        T: 'd,
    {
        let mut keys = Keys::default();
        first_of_each(rows, out, limit, |run, out| {
            if run.len() <= SHORT {
                out.iter_mut().enumerate().for_each(|(position, slot)| *slot = position);
                insert(out, |position| run[position].key(order.is_descending()));
                return Ok(());
            }
            let lanes = LaneSlices::new(run, run.len());
            argsort_lanes(&mut keys, &lanes, 0..1, out, order.keys())
        })
    }
}

/// Longest run that is sorted by insertion: what a call of another sort takes is as much as to sort such a run.
const SHORT: usize = 20;

/// Sorts by insertion, equal keys in their order.
#[inline(always)]
fn insert<X: Copy, K: Ord>(run: &mut [X], key: impl Fn(X) -> K) {
    for end in 1..run.len() {
        let x = run[end];
        let mut place = end;
        while place > 0 && key(run[place - 1]) > key(x) {
            run[place] = run[place - 1];
            place -= 1;
        }
        run[place] = x;
    }
}

/// Writes the first results of each run, of which `write` writes all.
fn first_of_each<'d, T: 'd, U: Copy + Zeroable>(
    rows: impl Iterator<Item = &'d [T]>,
    out: &mut [U],
    limit: usize,
    mut write: impl FnMut(&[T], &mut [U]) -> Result<()>,
) -> Result<()> {
    let (mut out, mut all) = (out, Vec::new());
    for run in rows {
        let (now, later) = out.split_at_mut(run.len().min(limit).min(out.len()));
        out = later;
        match now.len() {
            0 => {}
            count if count == run.len() => write(run, now)?,
            count => {
                resize(&mut all, run.len(), U::zeroed())?;
                write(run, &mut all[..run.len()])?;
                now.copy_from_slice(&all[..count]);
            }
        }
    }
    Ok(())
}

/// The positions of the elements of every lane in order, see [`Lanes::argsort`](super::Lanes::argsort).
#[derive(Debug, Clone, Copy)]
pub struct ArgSort(pub(super) SortOrder);

impl Sealed for ArgSort {}

impl<T: Sortable> LaneOperation<T> for ArgSort {
    type Elem = usize;

    fn blank<A, B>(&self, _a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<Blank<usize>>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = ()>,
    {
        Blank::zeros()
    }

    fn compute(
        &self,
        _axis: usize,
        (lanes, _): Both<'_, '_, T, ()>,
        numbers: Range<usize>,
        out: &mut [usize],
    ) -> Result<()> {
        argsort_lanes(&mut Keys::default(), lanes, numbers, out, self.0.keys())
    }

    fn words(&self, extent: usize) -> Result<[String; 2]> {
        Ok([self.0.of("argsort"), Method::by_pairs::<T::Key>(extent).to_string()])
    }
}

/// The elements of every lane in order of a key, see [`Lanes::sort_by_key`](super::Lanes::sort_by_key).
#[derive(Debug, Clone, Copy)]
pub struct SortByKey<F> {
    pub(super) order: SortOrder,
    pub(super) key: F,
}

impl<F> Sealed for SortByKey<F> {}

impl<T, K, F> LaneOperation<T> for SortByKey<F>
where
    T: Copy + Send + Sync,
    K: Sortable,
    F: Fn(T) -> K + Send + Sync,
{
    type Elem = T;

    fn blank<A, B>(&self, a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<Blank<T>>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = ()>,
    {
        Blank::first(a)
    }

    fn compute(
        &self,
        _axis: usize,
        (lanes, _): Both<'_, '_, T, ()>,
        numbers: Range<usize>,
        out: &mut [T],
    ) -> Result<()> {
        let key = |x| self.order.keys()((self.key)(x));
        sort_lanes_by_key(&mut Keys::default(), lanes, numbers, out, key)
    }

    fn words(&self, extent: usize) -> Result<[String; 2]> {
        Ok([self.order.of("sort by key"), Method::by_pairs::<K::Key>(extent).to_string()])
    }
}

/// The elements of every lane in the order of a comparison, see [`Lanes::sort_by`](super::Lanes::sort_by).
#[derive(Debug, Clone, Copy)]
pub struct SortBy<F>(pub(super) F);

impl<F> Sealed for SortBy<F> {}

impl<T, F> LaneOperation<T> for SortBy<F>
where
    T: Copy + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Send + Sync,
{
    type Elem = T;

    fn blank<A, B>(&self, a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<Blank<T>>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = ()>,
    {
        Blank::first(a)
    }

    fn compute(
        &self,
        _axis: usize,
        lanes: Both<'_, '_, T, ()>,
        numbers: Range<usize>,
        out: &mut [T],
    ) -> Result<()> {
        let mut spare = Vec::new();
        for_each_lane(lanes, numbers, out, |lane, _, out| {
            out.copy_from_slice(lane);
            sort_by(out, &mut spare, &self.0)
        })
    }

    fn words(&self, _extent: usize) -> Result<[String; 2]> {
        Ok(["sort by comparison".into(), Method::Plain.to_string()])
    }
}

/// The positions of the elements of every lane in the order of a comparison, see
/// [`Lanes::argsort_by`](super::Lanes::argsort_by).
#[derive(Debug, Clone, Copy)]
pub struct ArgSortBy<F>(pub(super) F);

impl<F> Sealed for ArgSortBy<F> {}

impl<T, F> LaneOperation<T> for ArgSortBy<F>
where
    T: Copy + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Send + Sync,
{
    type Elem = usize;

    fn blank<A, B>(&self, _a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<Blank<usize>>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = ()>,
    {
        Blank::zeros()
    }

    fn compute(
        &self,
        _axis: usize,
        lanes: Both<'_, '_, T, ()>,
        numbers: Range<usize>,
        out: &mut [usize],
    ) -> Result<()> {
        let mut spare = Vec::new();
        for_each_lane(lanes, numbers, out, |lane, _, out| {
            argsort_lane_by(lane, out, &mut spare, &self.0)
        })
    }

    fn words(&self, _extent: usize) -> Result<[String; 2]> {
        Ok(["argsort by comparison".into(), Method::Plain.to_string()])
    }
}
