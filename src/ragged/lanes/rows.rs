//! Sorts of rows, several at a time, and dense operations on lanes for all others.

#[cfg(doc)]
use super::LanesRagged;
use super::runs::{RowOperation, RowResults, Runs};
use crate::dtype::Sortable;
use crate::error::Result;
use crate::kernel::Filled;
use crate::kernel::inner::overwrite;
use crate::ops::lanes::{LaneOperation, SortOrder, SortedRows, compute_runs, sort_rows};
use crate::ragged::sealed;
use bytemuck::Zeroable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A dense operation on lanes, on rows.
#[derive(Debug, Clone, Copy)]
pub struct LaneRows<O>(pub(super) O);

impl<O> sealed::Operation for LaneRows<O> {}

impl<T: Copy + Send + Sync, O: LaneOperation<T>> RowOperation<T> for LaneRows<O> {
    type Elem = O::Elem;

    const NEEDS_ITEMS: bool = O::NEEDS_ELEMENTS;

    fn results(&self) -> Result<RowResults> {
        Ok(self.0.results()?.map_or(RowResults::Items, RowResults::Fixed))
    }

    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<O::Elem>]) -> Result<Filled> {
        let (elements, results) = (rows.elements(), rows.results());
        compute_runs(&self.0, elements, rows, results, out)
    }

    fn words(&self, items: usize) -> Result<(String, Option<String>)> {
        let [what, each] = self.0.words(items, 1)?;
        Ok((what, Some(each)))
    }
}

/// See [`LanesRagged::sort`] and [`LanesRagged::top_k`], and their twins of positions.
#[derive(Debug, Clone, Copy)]
pub struct SortRows<P> {
    order: SortOrder,
    limit: usize,
    picked: PhantomData<P>,
}

impl<P> SortRows<P> {
    /// The first results of each row, at most `limit`.
    pub(super) fn new(order: SortOrder, limit: usize) -> Self {
        Self { order, limit, picked: PhantomData }
    }
}

impl<P> sealed::Operation for SortRows<P> {}

impl<T: Sortable, P: SortedRows<T>> RowOperation<T> for SortRows<P> {
    type Elem = P::Elem;

    fn results(&self) -> Result<RowResults> {
        Ok(match self.limit {
            usize::MAX => RowResults::Items,
            limit => RowResults::AtMost(limit),
        })
    }

    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<P::Elem>]) -> Result<Filled> {
        overwrite(out, Some(P::Elem::zeroed()), |out| {
            sort_rows::<T, P>(rows, out, self.order, self.limit)
        })
    }

    fn words(&self, _items: usize) -> Result<(String, Option<String>)> {
        Ok((P::WHAT.into(), None))
    }
}
