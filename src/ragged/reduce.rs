//! Folds by reducers.

use super::apply::ApplyRagged;
use super::deferred::{DeferredRagged, RaggedCompute};
use super::expr::{Ahead, IntoRagged, RaggedExpr};
use super::folding::{Folding, GroupFold};
use super::form::{Extent, Form, check_mask};
use super::{Ragged, Stretch, sealed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Explanation, Expr, Lazy};
use crate::ops::reduce::{Axes, Filtered, Freedom, Or, Pair, Reducer, fold_dense};
use crate::ops::segments::{SegmentOffsets, fold_cuts};

/// A fold that is not computed yet.
#[derive(Debug, Clone)]
pub struct RaggedFold<E, R> {
    pub(super) e: E,
    pub(super) axes: Axes,
    pub(super) reducer: R,
    pub(super) keepdims: bool,
}

/// A [`RaggedFold`] by a reducer, not yet computed.
pub type RaggedReduction<E, R> = DeferredRagged<RaggedFold<E, R>>;

/// A fold of those elements beside which a mask is true.
pub type FilteredRagged<E, M, R> = RaggedReduction<PairedRagged<E, M>, Filtered<R>>;

/// The elements that are folded, each beside a mask.
pub type PairedRagged<E, M> = ApplyRagged<Pair, (E, <M as IntoRagged>::Expr)>;

impl<E: RaggedExpr, R: Reducer<E::Elem>> RaggedReduction<E, R> {
    /// Keeps reduced axes, with extent 1.
    pub fn keepdims(self) -> Self {
        DeferredRagged::new(RaggedFold { keepdims: true, ..self.operation })
    }

    /// Gives `value` for rows without items, and for those of which none is left, as all were filtered or skipped.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![1, 5, 3], vec![], vec![4]])?;
    /// assert_eq!(r.max(1).filter(r.less(4)).or(0).eval()?.to_string(), "[3, 0, 0]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn or(self, value: R::Out) -> RaggedReduction<E, Or<R, R::Out>> {
        let RaggedFold { e, axes, reducer, keepdims } = self.operation;
        DeferredRagged::new(RaggedFold { e, axes, reducer: Or::new(reducer, value), keepdims })
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
        let RaggedFold { e, axes, reducer, keepdims } = self.operation;
        let mask = mask.into_ragged_expr();
        let fits = e.extents().and_then(|own| check_mask(&own, &mask.extents()?, 2, true));
        let mut e = ApplyRagged::new(Pair, (e, mask));
        if let Err(error) = fits {
            e.extents = Err(error);
        }
        DeferredRagged::new(RaggedFold { e, axes, reducer: Filtered(reducer), keepdims })
    }

    /// Divides by the number of elements less `ddof`.
    pub fn ddof(self, ddof: usize) -> Self
    where
        R: Freedom,
    {
        let operation = self.operation;
        let reducer = operation.reducer.with_ddof(ddof);
        DeferredRagged::new(RaggedFold { reducer, ..operation })
    }
}

impl<E, R> sealed::Operation for RaggedFold<E, R> {}

impl<E, R> RaggedCompute for RaggedFold<E, R>
where
    E: RaggedExpr,
    R: Reducer<E::Elem>,
{
    type Elem = R::Out;

    fn extents(&self) -> Result<Vec<Extent>> {
        self.folding().extents()
    }

    fn knows_rows(&self) -> bool {
        self.e.ahead() < Ahead::Lengths
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        self.folding().form(stretch)
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<R::Out>>> {
        self.folding().compute(stretch, &ByReducer(&self.reducer))
    }

    fn explain(&self) -> Result<Explanation> {
        let out = std::any::type_name::<R::Out>();
        let what = format!("fold over axes {:?} to {out}, of:", self.folding().numbers()?);
        Ok(super::explain::explain(&self.e)?.below([what]))
    }
}

impl<E, R> RaggedFold<E, R> {
    fn folding(&self) -> Folding<'_, E> {
        Folding { e: &self.e, axes: &self.axes, keepdims: self.keepdims }
    }
}

struct ByReducer<'r, R>(&'r R);

impl<T: Copy + Send + Sync, R: Reducer<T>> GroupFold<T> for ByReducer<'_, R> {
    type Out = R::Out;

    const COMMUTATIVE: bool = R::COMMUTATIVE;

    fn needs_elements(&self) -> bool {
        self.0.empty().is_none()
    }

    fn fold_axes<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        reduced: &[bool],
    ) -> Result<Vec<R::Out>> {
        fold_dense(&content.0, reduced, self.0)
    }

    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        bounds: SegmentOffsets<'_>,
    ) -> Result<Vec<R::Out>> {
        fold_cuts(content, 0, bounds, self.0)
    }
}
