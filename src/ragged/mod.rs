//! Ragged tensors: axes whose rows differ in length, as DyND's `var` dimensions.
//!
//! A [`Ragged`] is a tensor of items and, for each var axis, a table that cuts the items into rows. Var axes may stand
//! anywhere among fixed ones, and any number of times. [`LanesRagged`] says what rows have no methods for.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::ragged::{Offsets, Ragged};
//! // Three collisions with two, no and three jets.
//! let energies = Tensor::from(vec![30.0, 20.0, 50.0, 10.0, 40.0]);
//! let jets = Ragged::new([3], Offsets::new(vec![0_u32, 2, 2, 5])?, energies)?;
//! assert_eq!(jets.to_string(), "[[30, 20], [], [50, 10, 40]]");
//!
//! let shares = &jets / jets.sum(1).keepdims();
//! assert_eq!(shares.eval()?.to_string(), "[[0.6, 0.4], [], [0.5, 0.1, 0.4]]");
//! assert_eq!(jets.max(1).or(0.0).eval_dense()?.to_vec()?, [30.0, 0.0, 50.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Broadcasting
//!
//! Axes meet from the right. Rows of two var axes have equal lengths, or one item, which stretches; where a var axis
//! meets a fixed one of another extent than 1, its rows have that many items or 1, and the result is fixed. Extents of 1
//! and missing axes meet rows of any length. A dense operand stands on the right, `&r * &w`, or says on the left what it
//! is: `w.as_ragged() * &r`.
//!
//! # Dense verbs
//!
//! Those that have another name for rows, or are made of others. [`LanesRagged`] has more, of what goes along an axis.
//!
//! | dense | ragged |
//! |---|---|
//! | `compress`, `take_along` | `keep`, `take`; `select` of one mask or list for all rows |
//! | `repeat` | `take` of positions that repeat, on a fixed axis `select` of them |
//! | `merge_axes(k..k + 2)` | `flatten(k + 1)` |
//! | `reshape`, `split_axis` | of the content, before it has rows |
//! | `broadcast`, `stretch` | operators and [`zip_ragged`] stretch |
//! | `pad` | [`Ragged::padded`], or [`concat()`] along the axis |
//! | `stack(axis, ..)` | [`concat()`] of parts with `insert_axis(axis)` |
//! | `split`, `outer_iter` | `slice` of each part, [`Ragged::rows`] |
//! | `zip_with`, `choose`, `call` | [`zip_ragged`] of a tuple, [`choose`], [`call_ragged`](crate::gufunc::Gufunc::call_ragged) |
//! | `ddof` of scans | a field of the reducer: `scan(axis, Variance { ddof: 1 })` |
//! | `map_in_place`, `zip_in_place`, `update` | `+=` and kin, or `assign` of what was evaluated before |
//! | `unique`, `for_each_piece`, .. | of the items, [`Ragged::into_items`] |
//! | `boxed`, `erase` | `eval`, whose results have one type |

mod apply;
mod assign;
mod build;
mod compare;
mod cores;
mod deferred;
mod elements;
mod eval;
mod explain;
mod expr;
mod flat;
mod fmt;
mod folding;
mod folds;
mod form;
mod groups;
mod join;
mod joint;
mod lanes;
mod leaves;
mod levels;
mod merge;
mod offsets;
mod operators;
mod pad;
mod picks;
mod places;
mod reduce;
mod results;
mod rows;
mod select;
mod table;
mod verbs;
mod viewed;
mod views;

pub use apply::{ApplyRagged, IntoRaggedOperands, RaggedOperands, zip_ragged};
pub use build::NestedRows;
pub use cores::{
    IntoRaggedArguments, OutputRows, RaggedArguments, RaggedCall, RaggedDestination,
    RaggedDestinations, RaggedResults, SharedRagged, WholeRagged,
};
pub use deferred::{DeferredRagged, PendingRagged, RaggedCompute};
pub use expr::{IntoRagged, LazyRagged, PairsRagged, RaggedExpr};
pub use flat::repeat;
pub use folds::ReduceRagged;
pub use form::{Extent, Form};
pub use join::{Aligned, IntoRaggedTensor, align, concat};
pub use lanes::{LaneFold, LaneRows, LanesRagged, LazyLanes, LazyRows, ScanRows, SortRows};
pub use lanes::{RowOperation, RowWise};
pub use offsets::{OffsetInteger, Offsets, SharedInteger, SharedTable};
pub use operators::{ElementwiseRagged, choose};
pub use pad::{PaddedRows, RowMask};
pub use reduce::{FilteredRagged, PairedRagged, RaggedFold, RaggedReduction};
pub use viewed::Viewed;

use crate::error::{Error, Result};
use crate::storage::Reader;
use crate::tensor::Tensor;
use form::Axis;
use levels::{Bounds, Level, Resolved, RowItems, settle};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Types that appear in signatures, public only so that these can be spelled. Not part of the interface.
#[doc(hidden)]
pub mod machinery {
    pub use super::cores::{Held, Places};
    pub use super::deferred::Kept;
    pub use super::expr::{Ahead, RaggedRows};
    pub use super::folding::{GroupFold, GroupedFold};
    pub use super::joint::Joint;
    pub use super::lanes::{RowResults, Runs};
    pub use super::reduce::ByReducer;
    pub use super::rows::Rows;
}

mod sealed {
    /// Tuples of operands are closed.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Operands {}

    /// Kinds of operations are closed.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Operation {}

    /// Kinds of destinations are closed.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Destination {}
}

/// Which lengths of 1 are stretched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stretch {
    /// Rows of one item as well as fixed axes of extent 1.
    #[default]
    Rows,
    /// Fixed axes of extent 1 alone.
    Strict,
}

/// A tensor with axes whose rows differ in length, over any storage.
///
/// Tables of rows are checked when it is made, and shared by all views, clones and threads.
///
/// ```
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
/// assert_eq!(format!("{} {}", r.form()?, r.view().flip(1)?), "3 * var [[3, 2, 1], [], [4]]");
/// # Ok::<(), lensor::Error>(())
/// ```
#[doc(alias = "jagged")]
#[doc(alias = "awkward")]
#[derive(Clone)]
pub struct Ragged<S> {
    levels: SmallVec<[Level; 1]>,
    /// `[items of the last level, fixed axes..]`, or the fixed axes alone if there is no level.
    content: Tensor<S>,
    /// Found when first asked for, and kept for all views that change nothing.
    resolved: Arc<OnceLock<Resolved>>,
}

impl<S> Ragged<S> {
    fn of(levels: SmallVec<[Level; 1]>, content: Tensor<S>) -> Self {
        Self { levels, content, resolved: Arc::default() }
    }

    /// The lengths of all rows. Found once, and kept.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::ShapeOverflow`] if the items of all rows cannot be counted.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
    /// let form = r.form()?;
    /// assert_eq!((form.to_string(), form.lengths(1)?), ("3 * var".to_string(), vec![3, 0, 1]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn form(&self) -> Result<Form> {
        Ok(self.resolved()?.form.clone())
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        let fixed = if self.levels.is_empty() { 0 } else { 1 };
        self.levels.iter().map(|level| level.extents.len() + 1).sum::<usize>() + self.content.rank()
            - fixed
    }

    /// What every axis is.
    pub fn extents(&self) -> Vec<Extent> {
        self.kinds().into_vec()
    }

    fn kinds(&self) -> form::Extents {
        let mut all = form::Extents::new();
        for level in &self.levels {
            all.extend(level.extents.iter().map(|&extent| Extent::Fixed(extent)));
            all.push(Extent::Var);
        }
        all.extend(self.trailing().iter().map(|&extent| Extent::Fixed(extent)));
        all
    }

    /// The content: `[items, fixed axes..]`, of which rows may show a part, in any order: [`Self::into_items`] is what they
    /// show.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?.flip(0)?;
    /// assert_eq!((r.to_vec()?, r.content().to_vec()?), (vec![3, 1, 2], vec![1, 2, 3]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn content(&self) -> &Tensor<S> {
        &self.content
    }

    /// The content without the rows, see [`Self::content`].
    pub fn into_content(self) -> Tensor<S> {
        self.content
    }

    /// Whether the storage holds the items and nothing else, one after another in row-major order, as results do.
    ///
    /// # Errors
    ///
    /// As for [`Self::form`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
    /// assert!(r.is_packed()? && !r.flip(1)?.is_packed()?);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn is_packed(&self) -> Result<bool>
    where
        S: Reader,
    {
        let (resolved, map) = (self.resolved()?, self.content.address_map());
        let len = self.content.storage().len();
        let whole = map.consecutive().is_some_and(|run| run.len() == len);
        let in_order = matches!(resolved.rows, RowItems::From(0));
        Ok(whole && in_order && resolved.form.count()? == map.count())
    }

    /// This tensor over borrowed storage: operations take a tensor by value.
    pub fn view(&self) -> Ragged<&S> {
        Ragged {
            levels: self.levels.clone(),
            content: self.content.view(),
            resolved: self.resolved.clone(),
        }
    }

    /// What lies along the first axis, one after another, as views, as [`Tensor::outer_iter`] gives it; a row of a var axis
    /// is one axis that is var. If rows cannot be counted, one error stands for all of them.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?;
    /// let rows = r.rows().map(|row| row?.to_vec());
    /// assert_eq!(rows.collect::<lensor::Result<Vec<_>>>()?, [vec![1, 2], vec![], vec![3]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "outer_iter")]
    pub fn rows(&self) -> impl Iterator<Item = Result<Ragged<&S>>>
    where
        S: Reader,
    {
        let count = match self.kinds().first() {
            Some(Extent::Fixed(extent)) => Ok(*extent),
            Some(Extent::Var) => self.form().and_then(|form| Ok(form.offsets(0)?.last())),
            None => Ok(0),
        };
        let (count, failed) =
            count.map_or_else(|error| (0, Some(Err(error))), |count| (count, None));
        failed.into_iter().chain((0..count).map(|row| self.view().select((row,))))
    }

    /// This tensor over storage that is borrowed to be written.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let mut r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3, 4]])?;
    /// r.view_mut().select((2,))?.fill(0)?;
    /// assert_eq!(r.to_string(), "[[1, 2], [], [0, 0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> Ragged<&mut S> {
        Ragged {
            levels: self.levels.clone(),
            content: self.content.view_mut(),
            resolved: self.resolved.clone(),
        }
    }

    /// The same items in the same order of another storage.
    fn with_storage<A>(self, change: impl FnOnce(S) -> A) -> Ragged<A> {
        let (map, storage) = self.content.into_parts();
        let content = Tensor::from_parts(map, change(storage));
        Ragged { levels: self.levels, content, resolved: self.resolved }
    }

    /// Extents of the fixed axes after the last var axis.
    fn trailing(&self) -> SmallVec<[usize; 4]> {
        let skipped = usize::from(!self.levels.is_empty());
        self.content.shape().iter().skip(skipped).copied().collect()
    }

    fn resolved(&self) -> Result<&Resolved> {
        if let Some(resolved) = self.resolved.get() {
            return Ok(resolved);
        }
        let resolved = self.resolve()?;
        Ok(self.resolved.get_or_init(|| resolved))
    }

    fn resolve(&self) -> Result<Resolved> {
        let (mut levels, mut axes) = (self.levels.clone(), SmallVec::new());
        let (mut rows, last) = (RowItems::From(0), levels.len().saturating_sub(1));
        settle(&mut levels, last)?;
        for level in levels {
            axes.extend(level.extents.into_iter().map(Axis::Fixed));
            let (first, offsets) = match level.bounds {
                Bounds::Offsets(offsets) => (RowItems::From(offsets.first()), offsets.rebased()),
                Bounds::Views(views) => (
                    RowItems::Starts { starts: views.starts.clone(), step: views.step },
                    Offsets::from_lengths(views.lens.iter().copied())?,
                ),
            };
            rows = first;
            axes.push(Axis::Var(offsets));
        }
        axes.extend(self.trailing().into_iter().map(Axis::Fixed));
        Ok(Resolved { form: Form { axes }, rows })
    }
}

impl<S: Reader> Ragged<S> {
    /// The tensor, if there is no var axis; [`Self::into_tensor`] has an example.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedAxes`] if there is one.
    pub fn as_tensor(&self) -> Result<Tensor<&S>> {
        self.view().into_tensor()
    }

    /// The tensor itself, if there is no var axis.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedAxes`] if there is one.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3, 4]])?;
    /// assert_eq!(r.view().select((2, 1))?.into_tensor()?.to_vec()?, [4]); // an item has no row
    /// assert!(r.into_tensor().is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn into_tensor(self) -> Result<Tensor<S>> {
        match self.levels.first() {
            None => Ok(self.content),
            Some(level) => {
                let crossed = level.extents.len();
                Err(Error::RaggedAxes { axis: crossed, crossed })
            }
        }
    }
}
