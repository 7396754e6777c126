//! Scans, sorts and ranks of rows as methods.

mod fold;
mod row_wise;
mod rows;
mod runs;
mod scans;

pub use fold::LaneFold;
pub use row_wise::RowWise;
pub use rows::{LaneRows, SortRows};
pub use runs::{RowOperation, RowResults, Runs};
pub use scans::ScanRows;

#[cfg(doc)]
use super::Ragged;
use super::deferred::{DeferredRagged, RaggedCompute};
use super::expr::IntoRagged;
#[cfg(doc)]
use super::expr::LazyRagged;
#[cfg(doc)]
use super::folds::ReduceRagged;
use super::folds::for_ragged;
use crate::dtype::{Measure, Sortable};
#[cfg(doc)]
use crate::error::Error;
#[cfg(doc)]
use crate::ops::lanes::Lanes;
use crate::ops::lanes::{
    ArgSortBy, Bins, Counts, Elements, Interpolation, LaneOperation, Mode, Nan, Partition,
    Positions, Quantiles, SortBy, SortByKey, SortOrder, lane_methods, quantiles,
};
use crate::ops::reduce::{IntoAxes, Max, Min, Product, Reducer, Sum};
#[cfg(doc)]
use crate::ops::scan::Scan;
use std::cmp::Ordering;

/// Scans, sorts, quantiles, modes and histograms of ragged tensors and expressions as methods, along the last var axis or
/// a fixed axis after it: row by row. Those with one result a row take any axes that folds take, see [`ReduceRagged`].
/// What they give is [`DeferredRagged`]: computed when it is asked for, and an operand itself.
///
/// Scans are those of [`Scan`], all others those of [`Lanes`], but that rows too short for `top_k` and `partition` give what
/// they have.
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
/// assert_eq!((r.cummax(1) - &r).eval()?.to_string(), "[[0, 2, 1], [], [0, 1]]");
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// Beside these, rows have views, elementwise functions ([`ElementwiseRagged`](super::ElementwiseRagged)), folds
/// ([`ReduceRagged`]) and gufuncs ([`call_ragged`](crate::gufunc::Gufunc::call_ragged)). Differences, rolling windows, segments,
/// derivatives, convolutions and searches have no methods for rows. Differences are those of two views, what else is made of
/// a row alone is a gufunc, such as one of `(n)->(n)`, and what needs no rows is asked of all items, [`Ragged::into_items`],
/// or of rows of one length, [`Ragged::padded`]:
///
/// ```
/// use lensor::gufunc::Gufunc;
/// use lensor::prelude::*;
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![1.0, 4.0, 9.0], vec![], vec![2.0, 7.0]])?;
/// let later = r.view().select((.., 1..))?;
/// let earlier = r.view().flip(1)?.select((.., 1..))?.flip(1)?; // all but the last of each row
/// assert_eq!((later - earlier).eval()?.to_string(), "[[3, 5], [], [5]]");
///
/// let largest_of_two = Gufunc::<[f64; 1], [f64; 1], _>::each("(n)->(n)", |[x], [mut out]| {
///     for (k, slot) in out.iter_mut().enumerate() {
///         *slot = x[k].max(x[k.saturating_sub(1)]);
///     }
/// })?;
/// assert_eq!(largest_of_two.call_ragged([&r]).to_vec()?, [1.0, 4.0, 9.0, 2.0, 7.0]);
/// let last = r.select((1..,))?; // `content` has the items of the first row, too
/// assert_eq!(last.into_items()?.unique()?.values.to_vec()?, [2.0, 7.0]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows to scan, sort or rank",
    note = "`&Ragged`, views, `LazyRagged` expressions, deferred operations, calls with one output and references to these have; a dense tensor becomes one by `t.as_ragged()`"
)]
pub trait LanesRagged: IntoRagged + Sized {
    /// What a fold by a reducer gives after each item of a row.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// use lensor::reduce::{ArgMax, Max};
    /// let r = Ragged::from_nested(vec![vec![1, 3, 2], vec![], vec![5, 4]])?;
    /// let records = r.scan(1, (Max, ArgMax));
    /// assert_eq!(records.to_vec()?, [(1, 0), (3, 1), (3, 1), (5, 0), (5, 0)]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn scan<R: Reducer<Self::Elem>>(self, axis: usize, reducer: R) -> LazyRows<Self, ScanRows<R>> {
        rows(self, axis, ScanRows::new(reducer))
    }

    lane_methods! {
        rows -> LazyRows, "use lensor::{prelude::*, ragged::Ragged};",
        r = "Ragged::from_nested([" .. "])?", ".eval()?.to_string()";

        /// Running sums of each row, each of which begins at 0 again.
        cumsum() -> ScanRows<Sum> where [Sum: Reducer<Self::Elem>] = ScanRows::new(Sum),
            [3, 1, 2] [] [5, 4], (1) => "[[3, 4, 6], [], [5, 9]]";

        /// Running products of each row.
        cumprod() -> ScanRows<Product>
        where [Product: Reducer<Self::Elem>] = ScanRows::new(Product),
            [2.0, 0.5] [] [1.5, 2.0, 2.0], (1) => "[[2, 1], [], [1.5, 3, 6]]";

        /// The smallest element of each row so far.
        cummin() -> ScanRows<Min> where [Min: Reducer<Self::Elem>] = ScanRows::new(Min),
            [7, 9, 4, 5] [] [3, 2], (1) => "[[7, 7, 4, 4], [], [3, 2]]";

        /// The largest element of each row so far.
        cummax() -> ScanRows<Max> where [Max: Reducer<Self::Elem>] = ScanRows::new(Max),
            [5, 8, 2, 6] [] [3, 4], (1) => "[[5, 8, 8, 8], [], [3, 4]]";

        /// The elements of each row in order, NaN last in both orders.
        sort(order: SortOrder) -> SortRows<Elements>
        where [Self::Elem: Sortable] = SortRows::new(order, usize::MAX),
            [2.0, f64::NAN, 1.0, 3.0] [] [5.0, 4.0],
            (1, SortOrder::Ascending) => "[[1, 2, 3, NaN], [], [4, 5]]",
            (1, SortOrder::Descending) => "[[3, 2, 1, NaN], [], [5, 4]]";

        /// The first `k` elements of each row in order, or all if it has fewer.
        top_k(k: usize, order: SortOrder) -> SortRows<Elements>
        where [Self::Elem: Sortable] = SortRows::new(order, k),
            [3, 9, 7] [] [5], (1, 2, SortOrder::Descending) => "[[9, 7], [], [5]]";

        /// Where in its row each element of the sorted row stands; equal elements keep their order.
        argsort(order: SortOrder) -> SortRows<Positions>
        where [Self::Elem: Sortable] = SortRows::new(order, usize::MAX),
            [7, 9, 7] [] [5, 6], (1, SortOrder::Descending) => "[[1, 0, 2], [], [1, 0]]";

        /// Where in its row each of the first `k` elements in order stands.
        arg_top_k(k: usize, order: SortOrder) -> SortRows<Positions>
        where [Self::Elem: Sortable] = SortRows::new(order, k),
            [3, 9, 7] [] [5], (1, 2, SortOrder::Descending) => "[[1, 2], [], [0]]";

        /// Each row around its element of rank `k`: what comes before it in order, that element, what comes after it, both
        /// as they came. Rows of at most `k` items stay as they are.
        partition(k: usize, order: SortOrder) -> LaneRows<Partition<Elements>>
        where [Self::Elem: Sortable] = LaneRows(Partition { k, order, picked: Elements }),
            [9, 4, 7, 1] [6, 5] [3], (1, 1, SortOrder::Ascending) => "[[1, 4, 9, 7], [5, 6], [3]]";

        /// Where in its row each element of the partitioned row stands, see [`Self::partition`].
        argpartition(k: usize, order: SortOrder) -> LaneRows<Partition<Positions>>
        where [Self::Elem: Sortable] = LaneRows(Partition { k, order, picked: Positions }),
            [9, 4, 7, 1] [6, 5] [3], (1, 1, SortOrder::Ascending) => "[[3, 1, 0, 2], [1, 0], [0]]";

        /// The elements of each row in order of their keys. Elements with equal keys keep their order.
        sort_by_key<K, F>(order: SortOrder, key: F) -> LaneRows<SortByKey<F>>
        where [K: Sortable, F: Fn(Self::Elem) -> K + Send + Sync]
            = LaneRows(SortByKey { order, key }),
            [-3, 2, -2, 1] [] [5, -4],
            (1, SortOrder::Ascending, |x: i32| x.abs()) => "[[1, 2, -2, -3], [], [-4, 5]]";

        /// The elements of each row in the order of a comparison. Equal elements keep their order.
        ///
        /// Where `compare` is not an order of all elements they come in some order.
        sort_by<F>(compare: F) -> LaneRows<SortBy<F>>
        where [F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync]
            = LaneRows(SortBy(compare)),
            [2.5, 0.5, 1.0] [] [3.0_f64], (1, |a, b| b.total_cmp(a)) => "[[2.5, 1, 0.5], [], [3]]";

        /// Where in its row each element stands that [`Self::sort_by`] would give.
        argsort_by<F>(compare: F) -> LaneRows<ArgSortBy<F>>
        where [F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync]
            = LaneRows(ArgSortBy(compare)),
            [3, 1, 2] [] [5_i32, 4], (1, |a, b| b.cmp(a)) => "[[0, 2, 1], [], [0, 1]]";
    }

    /// How many elements of each row fall into each of `bins`, which are a fixed axis in the place of the row. Elements
    /// outside all of them are left out, and so is NaN; rows without items have zeros.
    ///
    /// ```
    /// use lensor::lanes::Edges;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4, 9, 10]])?;
    /// let counts = r.histogram_along(1, Edges::new([1, 3, 9])?);
    /// assert_eq!(counts.eval_dense()?.to_vec()?, [2, 1, 0, 0, 0, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn histogram_along<B: Bins<Self::Elem>>(
        self,
        axis: usize,
        bins: B,
    ) -> LazyRows<Self, LaneRows<Counts<B>>> {
        rows(self, axis, LaneRows(Counts(bins)))
    }

    /// The element that comes most often in each row, of several the smallest. The axis goes away; several are one lane.
    ///
    /// NaN and zeros are those of [`Lanes::mode`].
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::EmptyRow`] for the first row without items, and [`Error::EmptyReduction`] if a fixed
    /// axis has extent 0.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![5, 3, 5, 1], vec![4, 2]])?;
    /// assert_eq!(r.mode(1).to_vec()?, [5, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn mode(self, axes: impl IntoAxes) -> LazyLanes<Self, Mode>
    where
        Self::Elem: Sortable,
    {
        lanes(self, axes, Mode)
    }

    quantiles! {
        Nan::Wins, lanes -> LazyLanes,
        lane_rows(axis: usize) -> LazyRows<Self, LaneRows<Quantiles>>;

        /// The number that a share `q` of each row does not exceed, exact, as [`Lanes::quantile`] of its elements. The axis
        /// goes away; several are one lane. NaN in a row gives NaN.
        ///
        /// # Errors
        ///
        /// When it is computed: [`Error::Quantile`] if `q` does not lie between 0 and 1, [`Error::EmptyRow`] for
        /// the first row without items, [`Error::EmptyReduction`] if a fixed axis has extent 0.
        ///
        /// ```
        /// use lensor::lanes::Interpolation;
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![50.0, 10.0, 40.0, 20.0, 30.0], vec![7.0]])?;
        /// assert_eq!(r.quantile(1, 0.25, Interpolation::Linear).to_vec()?, [20.0, 7.0]);
        /// assert_eq!(r.quantile(.., 1.0, Interpolation::Linear).to_vec()?, [50.0]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        quantile;

        /// Several quantiles of each row, in the order of the list: a fixed axis in its place, see [`Self::quantile`].
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Linear;
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![4.0, 1.0, 3.0, 2.0], vec![7.0]])?;
        /// let quantiles = r.quantiles(1, [0.0, 0.5, 1.0], Linear).eval_dense()?;
        /// assert_eq!(quantiles.to_vec()?, [1.0, 2.5, 4.0, 7.0, 7.0, 7.0]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        quantiles;

        /// The middle element of each sorted row, or the number half way between the two in the middle. The axis goes
        /// away. NaN in a row gives NaN.
        ///
        /// It is no fold, as quantiles and [modes](Self::mode) are not, so there is no `or` for rows without items. Padded
        /// rows have NaN for them: `r.padded(1, None, f64::NAN)?.nan_median(1)`.
        ///
        /// # Errors
        ///
        /// As [`Self::quantile`].
        ///
        /// ```
        /// use lensor::lanes::Lanes;
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![9.0, 1.0, 2.0], vec![8.0, 4.0]])?;
        /// assert_eq!(r.median(1).to_vec()?, [2.0, 6.0]);
        /// assert_eq!(r.median(0).to_vec()?, [8.5, 2.5, 2.0]);
        /// let empty = Ragged::from_nested(vec![vec![9.0], vec![]])?;
        /// assert_eq!(
        ///     empty.median(1).eval().unwrap_err().to_string(),
        ///     "row [1] of axis 1 has no items, and there is no result for none"
        /// );
        /// assert_eq!(empty.padded(1, None, f64::NAN)?.nan_median(1).eval()?.to_string(), "[  9, NaN]");
        /// # Ok::<(), lensor::Error>(())
        /// ```
        median;
    }

    quantiles! {
        Nan::Skipped, lanes -> LazyLanes,
        lane_rows(axis: usize) -> LazyRows<Self, LaneRows<Quantiles>>;

        /// As [`Self::quantile`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Linear;
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![4.0, f64::NAN, 3.0, 2.0], vec![7.0]])?;
        /// assert_eq!(r.nan_quantile(1, 0.25, Linear).to_vec()?, [2.5, 7.0]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        nan_quantile;

        /// As [`Self::quantiles`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Lower;
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![4.0, f64::NAN, 3.0, 2.0], vec![7.0]])?;
        /// assert_eq!(r.nan_quantiles(1, [0.25, 1.0], Lower).to_vec()?, [2.0, 4.0, 7.0, 7.0]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        nan_quantiles;

        /// As [`Self::median`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![4.0, f64::NAN, 3.0, 2.0], vec![7.0]])?;
        /// assert_eq!(r.nan_median(1).to_vec()?, [3.0, 7.0]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        nan_median;
    }
}

for_ragged!(LanesRagged);

fn rows<X: IntoRagged, P>(e: X, axis: usize, operation: P) -> LazyRows<X, P>
where
    RowWise<X::Expr, P>: RaggedCompute,
{
    DeferredRagged::new(RowWise { e: e.into_ragged_expr(), axis, operation })
}

fn lane_rows<X: IntoRagged, O: LaneOperation<X::Elem>>(
    e: X,
    axis: usize,
    operation: O,
) -> LazyRows<X, LaneRows<O>> {
    rows(e, axis, LaneRows(operation))
}

fn lanes<X: IntoRagged, O: LaneOperation<X::Elem>>(
    e: X,
    axes: impl IntoAxes,
    operation: O,
) -> LazyLanes<X, O> {
    DeferredRagged::of_groups(e.into_ragged_expr(), axes.into_axes(), LaneRows(operation))
}

/// An operation with one result of each row that is not computed yet.
pub type LazyLanes<X, O> = DeferredRagged<LaneFold<<X as IntoRagged>::Expr, O>>;

/// An operation on rows that is not computed yet.
pub type LazyRows<X, P> = DeferredRagged<RowWise<<X as IntoRagged>::Expr, P>>;
