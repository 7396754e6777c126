//! Whole lanes: sorting, searching, picking and ranking of the elements along one axis.
//!
//! A *lane* is what lies along one axis at one index of all others: the rows of a matrix are its lanes along
//! axis 1, the columns those along axis 0. The methods of [`Lanes`] work on each lane by itself, of
//! anything that can stand as an operand, and give a new tensor; those of [`Tensor`](crate::Tensor) that end in
//! `in_place` change the lanes of a view.
//!
//! Everything that depends on an order follows that of [`Sortable`]: numbers ascend, `-0.0` equals `0.0`,
//! NaN comes last, in descending order too. Equal elements keep the order in which they came.
//!
//! ```
//! use lensor::lanes::SortOrder::{Ascending, Descending};
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[3, 1, 2], [6, 4, 5]])?;
//!
//! assert_eq!(t.sort(1, Ascending).to_vec()?, [1, 2, 3, 4, 5, 6]);
//! assert_eq!(t.sort(0, Descending).to_vec()?, [6, 4, 5, 3, 1, 2]);
//! assert_eq!((&t % 4).argsort(1, Ascending).to_vec()?, [1, 2, 0, 1, 2, 0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Lanes are shared among threads. A lane must fit in memory; the tensor need not lie there.
//!
//! Longer than 400 lines because it is one table of operations.

mod along;
mod before;
mod driver;
mod extents;
mod histogram;
mod in_place;
mod network;
mod operand;
mod operation;
mod quantile;
mod radix;
mod rows;
mod runs;
mod search;
mod select;
mod sort;
mod sorts;
mod table;

pub use along::TakeAlong;
pub use histogram::{Bins, Counts, Edges, Histogram, Uniform};
pub use operation::{LaneOperation, Lanewise};
pub(crate) use quantile::Nan;
pub use quantile::{Interpolation, Quantiles};
pub(crate) use rows::{Run, SortedRows, sort_rows};
pub(crate) use runs::compute_runs;
pub use search::{Mode, Search, SearchSorted, Side, Unique};
pub use select::{Elements, Partition, Picked, Positions, Top};
pub use sorts::{ArgSort, ArgSortBy, Sort, SortBy, SortByKey};

pub(crate) use sorts::{argsort_runs, sort_runs};
pub(crate) use table::{lane_methods, quantiles};

/// Types that appear in signatures, public only so that these can be spelled. Not part of the interface.
#[doc(hidden)]
pub mod machinery {
    pub use super::along::FirstTaken;
    pub use super::before::{Before, First, Zeros};
    pub use super::operand::Batch;
    pub use super::operation::Alone;
    pub use super::quantile::Selection;
    pub use super::rows::Run;
    pub use super::select::Picked;
    pub use super::sort::Keys;
}

use crate::compute::Deferred;
use crate::dtype::{Measure, Sortable};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Explanation, IntoExpr, Lazy, Pairs};
use crate::ops::reduce::{Axes, IntoAxes};
use std::cmp::Ordering;

/// Which elements come first. NaN comes last either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SortOrder {
    /// Small ones.
    #[default]
    Ascending,
    /// Large ones; equal elements keep their order.
    Descending,
}

impl SortOrder {
    fn is_descending(self) -> bool {
        self == Self::Descending
    }

    /// `what` in this order, in words.
    fn of(self, what: &str) -> String {
        format!("{} {what}", if self.is_descending() { "descending" } else { "ascending" })
    }

    /// The keys that sort elements in this order.
    fn keys<T: Sortable>(self) -> impl Fn(T) -> T::Key {
        let descending = self.is_descending();
        move |x| x.key(descending)
    }
}

/// An operation on every lane of the operand `X`.
type Along<X, O> = Deferred<Lanewise<O, <X as IntoExpr>::Expr>>;
/// What `R` is beside the operand `X`.
type Beside<X, R> = <<X as IntoExpr>::Elem as Pairs<R>>::Expr;
/// A search in all elements of the operand `X`, and one in every lane.
type SearchIn<X, R> = Search<<X as IntoExpr>::Expr, Beside<X, R>>;
type SearchAlong<X, R> = Lanewise<SearchSorted, <X as IntoExpr>::Expr, Beside<X, R>>;

#[inline]
fn lanewise<X: IntoExpr, O: LaneOperation<X::Elem>>(
    x: X,
    axis: usize,
    operation: O,
) -> Along<X, O> {
    Deferred::new(Lanewise::new(operation, axis, x.into_expr()))
}

#[inline]
fn folding<X: IntoExpr, O: LaneOperation<X::Elem>>(
    x: X,
    axes: impl IntoAxes,
    operation: O,
) -> Along<X, O> {
    match axes.into_axes() {
        Axes::One(axis) => lanewise(x, axis, operation),
        axes => Deferred::new(Lanewise::folding(operation, axes, x.into_expr())),
    }
}

/// Operations on whole lanes, see the [module](self). What they give is [`Deferred`]: computed when it is asked for,
/// and an operand itself. Only [`Lanes::unique`] computes at once, as its shape depends on elements.
///
/// # Errors
///
/// When they are computed, all of them report [`Error::Axis`] if the axis does not exist, [`Error::RepeatedAxis`]
/// if one of several is given twice, [`Error::OutOfMemory`] if results or one lane cannot be kept, and what the
/// evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no lanes",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Lanes: IntoExpr + Sized {
    lane_methods! {
        lanewise -> Along, "use lensor::prelude::*;",
        t = "Tensor::from(" .. ")", ".to_vec()?";

        /// The elements of every lane in order. Follows NumPy's `sort` with `kind="stable"`.
        sort(order: SortOrder) -> Sort where [Self::Elem: Sortable] = Sort(order),
            [1.5, 3.0, -2.0], (0, SortOrder::Descending) => [3.0, 1.5, -2.0];

        /// The positions along `axis` that would sort every lane. Follows NumPy's `argsort` with
        /// `kind="stable"`.
        ///
        /// By a key that elements do not have of themselves: `t.map(key).argsort(axis, order)`.
        argsort(order: SortOrder) -> ArgSort where [Self::Elem: Sortable] = ArgSort(order),
            [1.5, f64::NAN, 3.0, -2.0], (0, SortOrder::Descending) => [2, 0, 3, 1];

        /// The elements of every lane in order of their keys. Elements with equal keys keep their order.
        sort_by_key<K, F>(order: SortOrder, key: F) -> SortByKey<F>
        where [K: Sortable, F: Fn(Self::Elem) -> K + Send + Sync] = SortByKey { order, key },
            [-3, 2, -2, 1], (0, SortOrder::Ascending, |x| x * x) => [1, 2, -2, -3];

        /// The elements of every lane in the order of a comparison. Equal elements keep their order.
        ///
        /// Where `compare` is not an order of all elements they come in some order.
        sort_by<F>(compare: F) -> SortBy<F>
        where [F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync] = SortBy(compare),
            [("b", 1), ("a", 2), ("a", 1)], (0, |a, b| a.cmp(b)) => [("a", 1), ("a", 2), ("b", 1)];

        /// The positions along `axis` that would sort every lane in the order of a comparison.
        argsort_by<F>(compare: F) -> ArgSortBy<F>
        where [F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Send + Sync] = ArgSortBy(compare),
            [(1, 2), (0, 9), (1, 1)], (0, |a, b| a.0.cmp(&b.0)) => [1, 0, 2];

        /// Every lane with its `k`-th element in order, from 0, in its place: before it the elements that come before it
        /// in `order`, after it those that come after it, both as they came.
        ///
        /// # Errors
        ///
        /// When it is computed: [`Error::Index`] if `k` is not less than the extent.
        partition(k: usize, order: SortOrder) -> Partition<Elements>
        where [Self::Elem: Sortable] = Partition { k, order, picked: Elements },
            [5, 1, 4, 2, 3], (0, 2, SortOrder::Ascending) => [1, 2, 3, 5, 4];

        /// The positions along `axis` that would partition every lane, see [`Self::partition`].
        argpartition(k: usize, order: SortOrder) -> Partition<Positions>
        where [Self::Elem: Sortable] = Partition { k, order, picked: Positions },
            [5, 1, 4, 2], (0, 1, SortOrder::Descending) => [0, 2, 1, 3];

        /// The first `k` elements of every sorted lane: the largest in descending order. Axis `axis` of the
        /// result has extent `k`.
        ///
        /// # Errors
        ///
        /// When it is computed: [`Error::LaneTooShort`] if there are fewer.
        #[doc(alias = "topk")]
        top_k(k: usize, order: SortOrder) -> Top<Elements>
        where [Self::Elem: Sortable] = Top { k, order, picked: Elements },
            [2, 6, 3, 5], (0, 2, SortOrder::Descending) => [6, 5];

        /// The positions along `axis` of the first `k` elements of every sorted lane, see [`Self::top_k`].
        #[doc(alias = "argtopk")]
        arg_top_k(k: usize, order: SortOrder) -> Top<Positions>
        where [Self::Elem: Sortable] = Top { k, order, picked: Positions },
            [5, 1, 4, 2], (0, 2, SortOrder::Ascending) => [1, 3];
    }

    /// Where each of `needles` would go among the elements of this operand, which are sorted in ascending
    /// row-major order: the number of elements before it. Has the shape of `needles`.
    ///
    /// Of an operand that is not sorted the positions mean nothing. Follows NumPy's `searchsorted`.
    ///
    /// ```
    /// use lensor::lanes::Side;
    /// use lensor::prelude::*;
    /// let sorted = Tensor::from_vec([4], vec![10, 20, 20, 30])?;
    /// let needles = Tensor::from_vec([3], vec![5, 20, 99])?;
    /// assert_eq!(sorted.search_sorted(&needles, Side::Left).to_vec()?, [0, 1, 4]);
    /// assert_eq!(sorted.search_sorted(&needles, Side::Right).to_vec()?, [0, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "searchsorted")]
    #[doc(alias = "digitize")]
    fn search_sorted<R>(self, needles: R, side: Side) -> Deferred<SearchIn<Self, R>>
    where
        Self::Elem: Sortable + Pairs<R>,
    {
        let needles = Lazy(<Self::Elem as Pairs<R>>::pair(needles));
        Deferred::new(Search { sorted: Lazy(self.into_expr()), needles, side })
    }

    /// As [`Self::search_sorted`], lane by lane along `axis`: each needle in the sorted lane at the same
    /// index of the other axes, which stretch to one another. Needles have as many axes as this operand: a number to find in
    /// all rows of a matrix is a tensor of shape `[1, 1]`.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Lanes`] if the shapes do not go together.
    ///
    /// ```
    /// use lensor::lanes::Side;
    /// use lensor::prelude::*;
    /// let sorted = Tensor::from_nested([[1, 3, 5], [2, 4, 6]])?;
    /// let needles = Tensor::from_vec([1, 1], vec![4])?;
    /// assert_eq!(sorted.search_sorted_along(1, &needles, Side::Left).to_vec()?, [2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn search_sorted_along<R>(
        self,
        axis: usize,
        needles: R,
        side: Side,
    ) -> Deferred<SearchAlong<Self, R>>
    where
        Self::Elem: Sortable + Pairs<R>,
    {
        let needles = <Self::Elem as Pairs<R>>::pair(needles);
        Deferred::new(Lanewise::beside(SearchSorted(side), axis, self.into_expr(), needles))
    }

    /// The different elements, where each comes first, how often, and which one every element is.
    ///
    /// Elements are those in row-major order. NaN equals NaN and `-0.0` equals `0.0` here, and the first
    /// to come stands for all. Follows NumPy's `unique`.
    ///
    /// # Errors
    ///
    /// What the evaluation of the operand reports, see [`Lazy::eval`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let unique = Tensor::from_vec([5], vec![7, 3, 7, 7, 5])?.unique()?;
    /// assert_eq!(unique.values.to_vec()?, [3, 5, 7]);
    /// assert_eq!(unique.first.to_vec()?, [1, 4, 0]);
    /// assert_eq!(unique.counts.to_vec()?, [1, 1, 3]);
    /// assert_eq!(unique.inverse.to_vec()?, [2, 0, 2, 2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn unique(self) -> Result<Unique<Self::Elem>>
    where
        Self::Elem: Sortable,
    {
        search::unique(&Lazy(self.into_expr()))
    }

    /// How [`Self::unique`] would go about it, in words.
    ///
    /// # Errors
    ///
    /// Those of the operand's shape.
    ///
    /// ```
    /// use lensor::{Tensor, lanes::Lanes};
    /// let text = Tensor::full([20, 20], 1_u8)?.explain_unique()?.to_string();
    /// assert!(text.contains("positions: sorted by 1-byte keys with positions, byte by byte"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn explain_unique(self) -> Result<Explanation>
    where
        Self::Elem: Sortable,
    {
        search::explain_unique(&Lazy(self.into_expr()))
    }

    /// The element that comes most often in every lane, of several the smallest. The axis goes away; several are one lane.
    ///
    /// NaN equals NaN and `-0.0` equals `0.0` here, and the first to come stands for all, as in
    /// [`Self::unique`]. NaN comes last, so of a number and NaN that come as often it is the number.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::EmptyReduction`] if an axis has extent 0.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[5, 3, 5, 1], [4, 2, 2, 4]])?;
    /// assert_eq!(t.mode(1).to_vec()?, [5, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mode(self, axes: impl IntoAxes) -> Along<Self, Mode>
    where
        Self::Elem: Sortable,
    {
        folding(self, axes, Mode)
    }

    /// The elements of every lane at `indexes` of the same lane. The other axes stretch to one another;
    /// along `axis` the result is as long as `indexes`. Follows NumPy's `take_along_axis`.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Lanes`] if the shapes do not go together, and
    /// [`Error::IndexAt`] for the first index that lies outside, with its place in the result. Errors of elements that no
    /// index names may be reported too, where whole lanes are computed: of few indexes a lane those elements often are not.
    ///
    /// ```
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[5, 1, 4], [2, 6, 3]])?;
    /// let order = t.argsort(1, Ascending).eval()?;
    /// assert_eq!(t.take_along(1, &order).to_vec()?, [1, 4, 5, 2, 3, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "take_along_axis")]
    #[doc(alias = "gather")]
    fn take_along<I>(
        self,
        axis: usize,
        indexes: I,
    ) -> Deferred<Lanewise<TakeAlong, Self::Expr, I::Expr>>
    where
        I: IntoExpr<Elem = usize>,
    {
        Deferred::new(Lanewise::beside(
            TakeAlong { axis },
            axis,
            self.into_expr(),
            indexes.into_expr(),
        ))
    }

    quantiles! {
        Nan::Wins, folding -> Along, folding(axes: impl IntoAxes) -> Along<Self, Quantiles>;

        /// The number that a share `q` of every lane does not exceed: 0 gives the least, 1 the largest, 0.5 the
        /// median. The axis goes away; several are one lane, `..` makes one of all elements. NaN in a lane gives NaN.
        /// Exact, by selection or, where lanes are short, by sorting them.
        ///
        /// The quantile of `n` elements has the rank `q * (n - 1)` among them, as NumPy's has; `interpolation`
        /// says what that means between two elements; between two equal infinities it is that infinity, unlike NumPy's NaN.
        /// Floats give their own type, integers `f64`, as means do.
        ///
        /// # Errors
        ///
        /// When it is computed: [`Error::Quantile`] if `q` does not lie between 0 and 1, and
        /// [`Error::EmptyReduction`] if an axis has extent 0.
        ///
        /// ```
        /// use lensor::lanes::Interpolation;
        /// use lensor::prelude::*;
        /// let t = Tensor::from_vec([5], vec![50.0_f64, 10.0, 40.0, 20.0, 30.0])?;
        /// assert_eq!(t.quantile(0, 0.25, Interpolation::Linear).item()?, 20.0);
        /// assert_eq!(t.quantile(0, 0.3, Interpolation::Higher).item()?, 30.0);
        /// assert_eq!(Tensor::from(vec![7_u8, 2, 4, 1]).quantile(0, 0.5, Interpolation::Linear).item()?, 3.0);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "percentile")]
        quantile;

        /// Several quantiles of every lane, in the order of the list, see [`Self::quantile`]. Those along one axis take
        /// its place; along several, which are one lane and go away, or none, they make a new last axis. NumPy's new axis
        /// is the first; with `keepdims` extents 1 stay of all axes there, here of several.
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Linear;
        /// use lensor::prelude::*;
        /// let t = Tensor::from_vec([4], vec![4.0, 1.0, 3.0, 2.0])?;
        /// assert_eq!(t.quantiles(0, [0.0, 0.5, 1.0], Linear).to_vec()?, [1.0, 2.5, 4.0]);
        /// let cube = t.reshape([2, 1, 2])?;
        /// assert_eq!(cube.view().quantiles(0, [0.0, 0.5, 1.0], Linear).shape()?, [3, 1, 2]);
        /// let of_both = cube.quantiles([0, 2], [0.0, 0.5, 1.0], Linear);
        /// assert_eq!((of_both.shape()?, of_both.keepdims().shape()?), ([1, 3].into(), [1, 1, 1, 3].into()));
        /// # Ok::<(), Error>(())
        /// ```
        quantiles;

        /// The middle element of every sorted lane, or the number half way between the two in the middle. The
        /// axis goes away. NaN in a lane gives NaN.
        ///
        /// It is no fold, as quantiles and [modes](Self::mode) are not: there is no
        /// [`filter`](Deferred::filter), no [`or`](Deferred::or) and no `rolling(..).median()`. Medians of windows are
        /// those of a view, `t.view().windows(axis, n)?.median(t.rank())`; [`Self::nan_median`] leaves out NaN.
        ///
        /// # Errors
        ///
        /// As [`Self::quantile`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[9.0_f64, 1.0, 2.0], [8.0, 4.0, 6.0]])?;
        /// assert_eq!(t.median(1).to_vec()?, [2.0, 6.0]);
        /// assert_eq!(t.median(0).to_vec()?, [8.5, 2.5, 4.0]);
        /// assert_eq!(t.median(..).item()?, 5.0);
        /// assert_eq!(t.view().windows(1, 2)?.median(2).to_vec()?, [5.0, 1.5, 6.0, 5.0]);
        /// # Ok::<(), Error>(())
        /// ```
        median;
    }

    quantiles! {
        Nan::Skipped, folding -> Along, folding(axes: impl IntoAxes) -> Along<Self, Quantiles>;

        /// As [`Self::quantile`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Linear;
        /// use lensor::prelude::*;
        /// let t = Tensor::from_vec([4], vec![4.0, f64::NAN, 3.0, 2.0])?;
        /// assert_eq!(t.nan_quantile(0, 0.25, Linear).item()?, 2.5);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanquantile")]
        #[doc(alias = "nanpercentile")]
        nan_quantile;

        /// As [`Self::quantiles`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::lanes::Interpolation::Lower;
        /// use lensor::prelude::*;
        /// let t = Tensor::from_vec([4], vec![4.0, f64::NAN, 3.0, 2.0])?;
        /// assert_eq!(t.nan_quantiles(0, [0.25, 1.0], Lower).to_vec()?, [2.0, 4.0]);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanquantile")]
        nan_quantiles;

        /// As [`Self::median`] of the elements that are not NaN; NaN if there are none.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_vec([4], vec![4.0, f64::NAN, 3.0, 2.0])?;
        /// assert_eq!(t.nan_median(0).item()?, 3.0);
        /// # Ok::<(), Error>(())
        /// ```
        #[doc(alias = "nanmedian")]
        nan_median;
    }

    /// How many elements fall into each of `bins`: [`Edges`], [`Uniform`] or bins of your own. Elements
    /// outside all of them are left out, and so is NaN. Of sparse operands only entries are visited.
    ///
    /// ```
    /// use lensor::lanes::Uniform;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(t.histogram(Uniform::new(1.0, 4.0, 3)?).to_vec()?, [1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn histogram<B: Bins<Self::Elem>>(self, bins: B) -> Deferred<Histogram<Self::Expr, B>> {
        Deferred::new(Histogram { e: Lazy(self.into_expr()), bins })
    }

    /// As [`Self::histogram`], of every lane along `axis`, along which the result has the bins.
    ///
    /// ```
    /// use lensor::lanes::Edges;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(t.histogram_along(1, Edges::new([1, 4, 9])?).to_vec()?, [3, 0, 0, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn histogram_along<B: Bins<Self::Elem>>(self, axis: usize, bins: B) -> Along<Self, Counts<B>> {
        lanewise(self, axis, Counts(bins))
    }
}

crate::compute::for_operands!(Lanes);
