//! Folds by reducers.

use super::apply::ApplyRagged;
use super::deferred::DeferredRagged;
use super::expr::{IntoRagged, RaggedExpr, RaggedRows};
use super::folding::{GroupFold, GroupedFold};
use super::form::check_mask;
use super::offsets::Offsets;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Expr, Lazy};
use crate::ops::reduce::{Filtered, Freedom, Or, Pair, Reducer, fold_dense};
use crate::ops::segments::{SegmentOffsets, fold_cuts};

/// A fold by a reducer.
pub type RaggedFold<E, R> = GroupedFold<E, ByReducer<R>>;

/// A [`RaggedFold`] by a reducer, not yet computed.
pub type RaggedReduction<E, R> = DeferredRagged<RaggedFold<E, R>>;

/// A fold of those elements beside which a mask is true.
pub type FilteredRagged<E, M, R> = RaggedReduction<PairedRagged<E, M>, Filtered<R>>;

/// The elements that are folded, each beside a mask.
pub type PairedRagged<E, M> = ApplyRagged<Pair, (E, <M as IntoRagged>::Expr)>;

impl<E: RaggedExpr, R: Reducer<E::Elem>> RaggedReduction<E, R> {
    /// Gives `value` for rows without items, and for those of which none is left, as all were filtered or skipped.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![1, 5, 3], vec![], vec![4]])?;
    /// assert_eq!(r.max(1).filter(r.less(4)).or(0).eval()?.to_string(), "[3, 0, 0]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn or(self, value: R::Out) -> RaggedReduction<E, Or<R, R::Out>> {
        let GroupedFold { e, axes, folder, keepdims } = self.operation;
        let folder = ByReducer(Or::new(folder.0, value));
        DeferredRagged::new(GroupedFold { e, axes, folder, keepdims })
    }

    /// Folds only elements where a mask is true; it stretches as an operand does. Fixed axes of the operand do not stretch to
    /// it: that is [`Error::Operands`]. Rows of one item are repeated for longer ones of the mask, as beside any operand.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![1, 5, 3], vec![4]])?;
    /// assert_eq!(r.sum(1).filter(r.less(5)).eval()?.to_string(), "[4, 4]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn filter<M: IntoRagged<Elem = bool>>(self, mask: M) -> FilteredRagged<E, M, R> {
        let GroupedFold { e, axes, folder, keepdims } = self.operation;
        let (e, folder) = (paired(e, mask), ByReducer(Filtered(folder.0)));
        DeferredRagged::new(GroupedFold { e, axes, folder, keepdims })
    }

    /// Divides by the number of elements less `ddof`.
    pub fn ddof(self, ddof: usize) -> Self
    where
        R: Freedom,
    {
        let operation = self.operation;
        let folder = ByReducer(operation.folder.0.with_ddof(ddof));
        DeferredRagged::new(GroupedFold { folder, ..operation })
    }
}

/// Elements beside a mask, which stretches to them.
pub(super) fn paired<E, M>(e: E, mask: M) -> PairedRagged<E, M>
where
    E: RaggedExpr,
    M: IntoRagged<Elem = bool>,
{
    let mask = mask.into_ragged_expr();
    let fits = e.extents().and_then(|own| check_mask(&own, &mask.extents()?, 2, true));
    let mut e = ApplyRagged::new(Pair, (e, mask));
    if let Err(error) = fits {
        e.extents = Err(error);
    }
    e
}

/// Folds by a reducer.
#[derive(Debug, Clone, Copy)]
pub struct ByReducer<R>(pub(super) R);

impl<T: Copy + Send + Sync, R: Reducer<T>> GroupFold<T> for ByReducer<R> {
    type Out = R::Out;

    const COMMUTATIVE: bool = R::COMMUTATIVE;

    fn needs_elements(&self) -> bool {
        self.0.empty().is_none()
    }

    fn words(
        &self,
        axes: &[usize],
        _mean: &dyn Fn() -> Result<usize>,
    ) -> Result<(String, Option<String>)> {
        let out = std::any::type_name::<R::Out>();
        Ok((format!("fold over axes {axes:?} to {out}, of:"), None))
    }

    fn fold_axes<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        reduced: &[bool],
    ) -> Result<Vec<R::Out>> {
        fold_dense(&content.0, reduced, &self.0)
    }

    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        rows: &Offsets,
    ) -> Result<Vec<R::Out>> {
        match rows.as_u32() {
            Some(table) => fold_cuts(content, 0, SegmentOffsets::Short(table), &self.0),
            None => fold_cuts(content, 0, SegmentOffsets::Wide(&rows.numbers()?), &self.0),
        }
    }
}
