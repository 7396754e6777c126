//! Dense operations on lanes that have one result, as folds.

use super::rows::LaneRows;
use super::runs::{Lanes, Lengths, RowResults};
use crate::error::{Error, Result};
use crate::expr::{self, Explanation, Expr, Lazy};
use crate::ops::lanes::LaneOperation;
use crate::ops::reduce::Axes;
use crate::ops::segments::SegmentOffsets;
use crate::ragged::deferred::{DeferredRagged, RaggedCompute};
use crate::ragged::explain::explain;
use crate::ragged::expr::{Ahead, RaggedExpr};
use crate::ragged::folding::{Folding, GroupFold};
use crate::ragged::form::{Extent, Form};
use crate::ragged::offsets::Offsets;
use crate::ragged::{Ragged, Stretch, sealed};
use crate::shape::Shape;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// An operation with one result of all elements along some axes, not computed yet.
#[derive(Debug, Clone)]
pub struct LaneFold<E, O> {
    pub(super) e: E,
    pub(super) axes: Axes,
    pub(super) operation: LaneRows<O>,
    pub(super) keepdims: bool,
}

impl<E: RaggedExpr, O: LaneOperation<E::Elem>> DeferredRagged<LaneFold<E, O>> {
    /// Keeps the axes that go away, with extent 1, so that the result aligns with the operand.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![1.0, 2.0, 9.0], vec![4.0]])?;
    /// assert_eq!((&r - r.median(1).keepdims()).to_vec()?, [-1.0, 0.0, 7.0, 0.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn keepdims(self) -> Self {
        DeferredRagged::new(LaneFold { keepdims: true, ..self.operation })
    }
}

impl<E, O> sealed::Operation for LaneFold<E, O> {}

impl<E: RaggedExpr, O: LaneOperation<E::Elem>> RaggedCompute for LaneFold<E, O> {
    type Elem = O::Elem;

    fn extents(&self) -> Result<Vec<Extent>> {
        let extents = self.folding().extents()?;
        self.operation.0.results()?;
        Ok(extents)
    }

    fn knows_rows(&self) -> bool {
        self.e.ahead() < Ahead::Lengths
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        self.extents()?;
        self.folding().form(stretch)
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<O::Elem>>> {
        self.extents()?;
        self.folding().compute(stretch, &self.operation)
    }

    fn explain(&self) -> Result<Explanation> {
        let mut mean = 0;
        if self.knows_rows() {
            let all = self.e.outline(Stretch::Rows)?.form.count()?;
            mean = all.div_ceil(self.form(Stretch::Rows)?.count()?.max(1));
        }
        let [what, each] = self.operation.0.words(mean, 1)?;
        let what = format!("{what} over axes {:?}, of:", self.folding().numbers()?);
        let each = format!("lanes of {mean} elements: {each}");
        Ok(explain(&self.e)?.below([what]).above([each]))
    }
}

impl<E, O> LaneFold<E, O> {
    fn folding(&self) -> Folding<'_, E> {
        Folding { e: &self.e, axes: &self.axes, keepdims: self.keepdims }
    }
}

impl<T: Copy + Send + Sync, O: LaneOperation<T>> GroupFold<T> for LaneRows<O> {
    type Out = O::Elem;

    const COMMUTATIVE: bool = true;

    fn needs_elements(&self) -> bool {
        O::NEEDS_ELEMENTS
    }

    fn fold_axes<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        reduced: &[bool],
    ) -> Result<Vec<O::Elem>> {
        let shape = content.shape()?;
        let of = |folded: bool| (0..shape.rank()).filter(move |&axis| reduced[axis] == folded);
        if let Some(axis) = of(true).find(|&axis| O::NEEDS_ELEMENTS && shape[axis] == 0) {
            return Err(Error::EmptyReduction { axis, shape: shape.to_vec() });
        }
        let order: SmallVec<[usize; 4]> = of(false).chain(of(true)).collect();
        let extents: SmallVec<[usize; 4]> = order.iter().map(|&axis| shape[axis]).collect();
        let (others, folded) = extents.split_at(of(false).count());
        let length = Lengths::Fixed { length: Shape::count_of(folded)?, rows: 1 };
        Ok(self.fold(content, &order, others, length)?.into_storage())
    }

    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        bounds: SegmentOffsets<'_>,
    ) -> Result<Vec<O::Elem>> {
        let rows = match bounds {
            SegmentOffsets::Wide(bounds) => Offsets::new(bounds)?,
            SegmentOffsets::Short(bounds) => Offsets::new(bounds)?,
        };
        let shape = content.shape()?;
        let order: SmallVec<[usize; 4]> = (1..shape.rank()).chain([0]).collect();
        let results = self.fold(content, &order, &shape[1..], Lengths::Rows(rows))?;
        match shape.rank() {
            1 => Ok(results.into_storage()),
            rank => results.move_axis(rank - 1, 0)?.to_vec(),
        }
    }
}

impl<O> LaneRows<O> {
    /// The results of lanes of content whose axes come in this order, first those of the extents `others`, then those that
    /// lanes lie along. The last axis of the results has one for each lane there.
    fn fold<X: Expr>(
        &self,
        content: &Lazy<X>,
        order: &[usize],
        others: &[usize],
        items: Lengths,
    ) -> Result<Tensor<Vec<O::Elem>>>
    where
        O: LaneOperation<X::Elem>,
    {
        let moved = Lazy(content.0.by_ref()).transpose(order)?;
        let data = expr::elements(&moved).map_err(|mut error| {
            if let Some(index) = error.element_index() {
                let own = std::mem::replace(index, vec![0; order.len()]);
                order.iter().zip(own).for_each(|(&axis, digit)| index[axis] = digit);
            }
            error
        })?;
        Lanes::of(items, RowResults::Fixed(1))?.compute(self, others, &data)
    }
}
