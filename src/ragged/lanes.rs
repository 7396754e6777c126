//! Scans and sorts of rows.

use super::deferred::{DeferredRagged, RaggedCompute};
#[cfg(doc)]
use super::expr::LazyRagged;
use super::expr::{IntoRagged, RaggedExpr};
use super::folds::for_ragged;
use super::row_wise::{RowOperation, RowResults, RowWise, Runs};
use super::sealed;
use crate::dtype::Sortable;
use crate::error::{Error, Result};
use crate::kernel::Filled;
use crate::kernel::inner::overwrite;
use crate::ops::lanes::{
    Elements, LaneOperation, Partition, Positions, SortOrder, SortedRows, compute_runs, sort_rows,
};
use crate::ops::reduce::{Max, Min, Product, Reducer, Sum, undefined};
use crate::ops::scan::{Way, scan_rows};
use bytemuck::Zeroable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Scans and sorts of ragged tensors and expressions as methods, along the last var axis or a fixed axis behind it: row
/// by row. What they give is [`DeferredRagged`]: computed when it is asked for, and an operand itself.
///
/// When they are computed, all of them report [`Error::Axis`] if the axis does not exist, [`Error::RaggedAxes`] if rows lie
/// within it, [`Error::OutOfMemory`], and what the evaluation of the operand reports, see [`LazyRagged::eval`].
///
/// ```
/// use lensor::lanes::SortOrder;
/// use lensor::ragged::{LanesRagged, Ragged};
/// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
/// assert_eq!(r.sort(1, SortOrder::Ascending).eval()?.to_string(), "[[1, 2, 3], [], [4, 5]]");
/// assert_eq!(r.argsort(1, SortOrder::Ascending).eval()?.to_string(), "[[1, 2, 0], [], [1, 0]]");
/// assert_eq!(r.top_k(1, 2, SortOrder::Descending).eval()?.to_string(), "[[3, 2], [], [5, 4]]");
/// assert_eq!(r.cumsum(1).eval()?.to_string(), "[[3, 4, 6], [], [5, 9]]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub trait LanesRagged: IntoRagged + Sized {
    /// What a fold by a reducer gives after each item of a row.
    fn scan<R: Reducer<Self::Elem>>(self, axis: usize, reducer: R) -> LazyRows<Self, ScanRows<R>> {
        rows(self, axis, ScanRows { reducer, way: Way::default() })
    }

    /// Running sums of each row.
    fn cumsum(self, axis: usize) -> LazyRows<Self, ScanRows<Sum>>
    where
        Sum: Reducer<Self::Elem>,
    {
        self.scan(axis, Sum)
    }

    /// Running products of each row.
    fn cumprod(self, axis: usize) -> LazyRows<Self, ScanRows<Product>>
    where
        Product: Reducer<Self::Elem>,
    {
        self.scan(axis, Product)
    }

    /// The smallest element of each row so far.
    fn cummin(self, axis: usize) -> LazyRows<Self, ScanRows<Min>>
    where
        Min: Reducer<Self::Elem>,
    {
        self.scan(axis, Min)
    }

    /// The largest element of each row so far.
    fn cummax(self, axis: usize) -> LazyRows<Self, ScanRows<Max>>
    where
        Max: Reducer<Self::Elem>,
    {
        self.scan(axis, Max)
    }

    /// The elements of each row in order, NaN last in both orders.
    fn sort(self, axis: usize, order: SortOrder) -> LazyRows<Self, SortRows<Elements>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows { order, limit: usize::MAX, picked: PhantomData })
    }

    /// The first `k` elements of each row in order, or all if it has fewer.
    fn top_k(self, axis: usize, k: usize, order: SortOrder) -> LazyRows<Self, SortRows<Elements>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows { order, limit: k, picked: PhantomData })
    }

    /// Where in its row each element of the sorted row stands; equal elements keep their order.
    fn argsort(self, axis: usize, order: SortOrder) -> LazyRows<Self, SortRows<Positions>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows { order, limit: usize::MAX, picked: PhantomData })
    }

    /// Where in its row each of the first `k` elements in order stands.
    fn arg_top_k(
        self,
        axis: usize,
        k: usize,
        order: SortOrder,
    ) -> LazyRows<Self, SortRows<Positions>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows { order, limit: k, picked: PhantomData })
    }

    /// Each row around its element of rank `k`: what comes before it in order, that element, what comes after it, both
    /// as they came. Rows of at most `k` items stay as they are.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![9, 4, 7, 1], vec![6, 5], vec![3]])?;
    /// assert_eq!(r.partition(1, 1, Ascending).eval()?.to_string(), "[[1, 4, 9, 7], [5, 6], [3]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn partition(
        self,
        axis: usize,
        k: usize,
        order: SortOrder,
    ) -> LazyRows<Self, LaneRows<Partition<Elements>>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, LaneRows(Partition { k, order, picked: Elements }))
    }

    /// Where in its row each element of the partitioned row stands, see [`Self::partition`].
    fn argpartition(
        self,
        axis: usize,
        k: usize,
        order: SortOrder,
    ) -> LazyRows<Self, LaneRows<Partition<Positions>>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, LaneRows(Partition { k, order, picked: Positions }))
    }
}

for_ragged!(LanesRagged);

fn rows<X: IntoRagged, P>(e: X, axis: usize, operation: P) -> LazyRows<X, P>
where
    RowWise<X::Expr, P>: RaggedCompute,
{
    DeferredRagged::new(RowWise { e: e.into_ragged_expr(), axis, operation })
}

/// An operation on rows that is not computed yet.
pub type LazyRows<X, P> = DeferredRagged<RowWise<<X as IntoRagged>::Expr, P>>;

/// See [`LanesRagged::scan`].
#[derive(Debug, Clone, Copy)]
pub struct ScanRows<R> {
    reducer: R,
    way: Way,
}

impl<R> sealed::Operation for ScanRows<R> {}

impl<E: RaggedExpr, R: Reducer<E::Elem>> DeferredRagged<RowWise<E, ScanRows<R>>> {
    /// Leaves each item out of its own result, which is that of the items before it in its row. A reducer without a result
    /// of no items is [`Error::NoIdentity`] then.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// assert_eq!(r.cumsum(1).exclusive().eval()?.to_string(), "[[0, 3, 4], [], [0, 5]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn exclusive(mut self) -> Self {
        self.operation.operation.way.exclusive = true;
        self
    }

    /// Goes from the last item of each row to the first.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// assert_eq!(r.cumsum(1).reverse().eval()?.to_string(), "[[6, 3, 2], [], [9, 4]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reverse(mut self) -> Self {
        self.operation.operation.way.reverse = true;
        self
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> RowOperation<T> for ScanRows<R> {
    type Elem = R::Out;

    fn results(&self) -> Result<RowResults> {
        Ok(RowResults::Items)
    }

    fn check(&self, axis: usize) -> Result<()> {
        match self.way.exclusive && self.reducer.empty().is_none() {
            true => Err(Error::NoIdentity { axis }),
            false => Ok(()),
        }
    }

    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        let rows = rows.map(|run| run.elements());
        let (filled, gap) = scan_rows(&self.reducer, self.way, rows, out)?;
        match gap {
            None => Ok(filled),
            Some((number, why)) => Err(undefined::<R::Out>(why, vec![number])),
        }
    }

    fn words(&self, _items: usize) -> Result<(String, Option<String>)> {
        Ok(("scan".into(), None))
    }
}

/// See [`LanesRagged::sort`] and [`LanesRagged::top_k`], and their twins of positions.
#[derive(Debug, Clone, Copy)]
pub struct SortRows<P> {
    order: SortOrder,
    limit: usize,
    picked: PhantomData<P>,
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

/// A dense operation on lanes, on rows.
#[derive(Debug, Clone, Copy)]
pub struct LaneRows<O>(O);

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
        let [what, each] = self.0.words(items)?;
        Ok((what, Some(each)))
    }
}
