//! Scans, sorts and ranks of rows as methods.
//!
//! Longer than 400 lines because it is one table of operations.

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
    Positions, Quantiles, SortBy, SortByKey, SortOrder,
};
use crate::ops::reduce::{IntoAxes, Max, Min, Product, Reducer, Sum};
#[cfg(doc)]
use crate::ops::scan::Scan;
use std::cmp::Ordering;

/// The methods of one rule for NaN, with their documentation.
macro_rules! quantiles {
    (
        $nan:expr;
        $(#[$about_one:meta])* $quantile:ident;
        $(#[$about_several:meta])* $quantiles:ident;
        $(#[$about_median:meta])* $median:ident;
    ) => {
        $(#[$about_one])*
        fn $quantile(
            self,
            axes: impl IntoAxes,
            q: f64,
            interpolation: Interpolation,
        ) -> LazyLanes<Self, Quantiles>
        where
            Self::Elem: Measure + Sortable,
        {
            lanes(self, axes, Quantiles::one(q, interpolation, $nan))
        }

        $(#[$about_several])*
        fn $quantiles(
            self,
            axis: usize,
            q: impl AsRef<[f64]>,
            interpolation: Interpolation,
        ) -> LazyRows<Self, LaneRows<Quantiles>>
        where
            Self::Elem: Measure + Sortable,
        {
            rows(self, axis, LaneRows(Quantiles::several(q.as_ref(), interpolation, $nan)))
        }

        $(#[$about_median])*
        fn $median(self, axes: impl IntoAxes) -> LazyLanes<Self, Quantiles>
        where
            Self::Elem: Measure + Sortable,
        {
            self.$quantile(axes, 0.5, Interpolation::Midpoint)
        }
    };
}

/// Scans, sorts, quantiles, modes and histograms of ragged tensors and expressions as methods, along the last var axis or
/// a fixed axis behind it: row by row. Those with one result a row take any axes that folds take, see [`ReduceRagged`].
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
/// # Ok::<(), lensor::Error>(())
/// ```
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

    /// Running sums of each row.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let lengths = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// let ends = lengths.cumsum(1); // each row begins at 0 again
    /// assert_eq!(ends.eval()?.to_string(), "[[3, 4, 6], [], [5, 9]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn cumsum(self, axis: usize) -> LazyRows<Self, ScanRows<Sum>>
    where
        Sum: Reducer<Self::Elem>,
    {
        self.scan(axis, Sum)
    }

    /// Running products of each row.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let growth = Ragged::from_nested(vec![vec![2.0, 0.5], vec![], vec![1.5, 2.0, 2.0]])?;
    /// assert_eq!(growth.cumprod(1).eval()?.to_string(), "[[2, 1], [], [1.5, 3, 6]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn cumprod(self, axis: usize) -> LazyRows<Self, ScanRows<Product>>
    where
        Product: Reducer<Self::Elem>,
    {
        self.scan(axis, Product)
    }

    /// The smallest element of each row so far.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let bids = Ragged::from_nested(vec![vec![7, 9, 4, 5], vec![], vec![3, 2]])?;
    /// assert_eq!(bids.cummin(1).eval()?.to_string(), "[[7, 7, 4, 4], [], [3, 2]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn cummin(self, axis: usize) -> LazyRows<Self, ScanRows<Min>>
    where
        Min: Reducer<Self::Elem>,
    {
        self.scan(axis, Min)
    }

    /// The largest element of each row so far.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![5, 8, 2, 6], vec![], vec![3, 4]])?;
    /// let below_peak = r.cummax(1) - &r;
    /// assert_eq!(below_peak.eval()?.to_string(), "[[0, 0, 6, 2], [], [0, 0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn cummax(self, axis: usize) -> LazyRows<Self, ScanRows<Max>>
    where
        Max: Reducer<Self::Elem>,
    {
        self.scan(axis, Max)
    }

    /// The elements of each row in order, NaN last in both orders.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::{Ascending, Descending};
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![2.0, f64::NAN, 1.0, 3.0], vec![], vec![5.0, 4.0]])?;
    /// assert_eq!(r.sort(1, Ascending).eval()?.to_string(), "[[1, 2, 3, NaN], [], [4, 5]]");
    /// assert_eq!(r.sort(1, Descending).eval()?.to_string(), "[[3, 2, 1, NaN], [], [5, 4]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn sort(self, axis: usize, order: SortOrder) -> LazyRows<Self, SortRows<Elements>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows::new(order, usize::MAX))
    }

    /// The first `k` elements of each row in order, or all if it has fewer.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Descending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let scores = Ragged::from_nested(vec![vec![3, 9, 7], vec![], vec![5]])?;
    /// assert_eq!(scores.top_k(1, 2, Descending).eval()?.to_string(), "[[9, 7], [], [5]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn top_k(self, axis: usize, k: usize, order: SortOrder) -> LazyRows<Self, SortRows<Elements>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows::new(order, k))
    }

    /// Where in its row each element of the sorted row stands; equal elements keep their order.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Descending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let scores = Ragged::from_nested(vec![vec![7, 9, 7], vec![], vec![5, 6]])?;
    /// let order = scores.argsort(1, Descending).eval()?;
    /// assert_eq!(order.to_string(), "[[1, 0, 2], [], [1, 0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn argsort(self, axis: usize, order: SortOrder) -> LazyRows<Self, SortRows<Positions>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows::new(order, usize::MAX))
    }

    /// Where in its row each of the first `k` elements in order stands.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Descending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let scores = Ragged::from_nested(vec![vec![3, 9, 7], vec![], vec![5]])?;
    /// assert_eq!(scores.arg_top_k(1, 2, Descending).eval()?.to_string(), "[[1, 2], [], [0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn arg_top_k(
        self,
        axis: usize,
        k: usize,
        order: SortOrder,
    ) -> LazyRows<Self, SortRows<Positions>>
    where
        Self::Elem: Sortable,
    {
        rows(self, axis, SortRows::new(order, k))
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
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![9, 4, 7, 1], vec![6, 5], vec![3]])?;
    /// assert_eq!(r.argpartition(1, 1, Ascending).eval()?.to_string(), "[[3, 1, 0, 2], [1, 0], [0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
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

    /// The elements of each row in order of their keys. Elements with equal keys keep their order.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![-3, 2, -2, 1], vec![], vec![5, -4]])?;
    /// let sorted = r.sort_by_key(1, Ascending, |x: i32| x.abs());
    /// assert_eq!(sorted.eval()?.to_string(), "[[1, 2, -2, -3], [], [-4, 5]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn sort_by_key<K, F>(
        self,
        axis: usize,
        order: SortOrder,
        key: F,
    ) -> LazyRows<Self, LaneRows<SortByKey<F>>>
    where
        K: Sortable,
        F: Fn(Self::Elem) -> K + Send + Sync,
    {
        rows(self, axis, LaneRows(SortByKey { order, key }))
    }

    /// The elements of each row in the order of a comparison. Equal elements keep their order.
    ///
    /// Where `compare` is not an order of all elements they come in some order.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![2.5, 0.5, 1.0], vec![], vec![3.0_f64]])?;
    /// let sorted = r.sort_by(1, |a, b| b.total_cmp(a));
    /// assert_eq!(sorted.eval()?.to_string(), "[[2.5, 1, 0.5], [], [3]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn sort_by<F>(self, axis: usize, compare: F) -> LazyRows<Self, LaneRows<SortBy<F>>>
    where
        F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync,
    {
        rows(self, axis, LaneRows(SortBy(compare)))
    }

    /// Where in its row each element stands that [`Self::sort_by`] would give.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5_i32, 4]])?;
    /// let positions = r.argsort_by(1, |a, b| b.cmp(a));
    /// assert_eq!(positions.eval()?.to_string(), "[[0, 2, 1], [], [0, 1]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn argsort_by<F>(self, axis: usize, compare: F) -> LazyRows<Self, LaneRows<ArgSortBy<F>>>
    where
        F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync,
    {
        rows(self, axis, LaneRows(ArgSortBy(compare)))
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
        Nan::Wins;

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
        /// # Errors
        ///
        /// As [`Self::quantile`].
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
        /// # Errors
        ///
        /// As [`Self::quantile`].
        ///
        /// ```
        /// use lensor::ragged::{LanesRagged, Ragged};
        /// let r = Ragged::from_nested(vec![vec![9.0, 1.0, 2.0], vec![8.0, 4.0]])?;
        /// assert_eq!(r.median(1).to_vec()?, [2.0, 6.0]);
        /// assert_eq!(r.median(0).to_vec()?, [8.5, 2.5, 2.0]);
        /// let empty = Ragged::from_nested(vec![vec![9.0], vec![]])?;
        /// assert_eq!(
        ///     empty.median(1).eval().unwrap_err().to_string(),
        ///     "row [1] of axis 1 has no items, and there is no result for none"
        /// );
        /// # Ok::<(), lensor::Error>(())
        /// ```
        median;
    }

    quantiles! {
        Nan::Skipped;

        /// As [`Self::quantile`] of the elements that are not NaN; NaN if there are none.
        ///
        /// # Errors
        ///
        /// As [`Self::quantile`].
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
        /// # Errors
        ///
        /// As [`Self::quantile`].
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
        /// # Errors
        ///
        /// As [`Self::quantile`].
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
