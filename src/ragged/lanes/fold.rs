//! Dense operations on lanes that have one result, as folds.

use super::rows::LaneRows;
use super::runs::{Lanes, RowResults};
use crate::error::{Error, Result};
use crate::expr::{self, Expr, Lazy};
use crate::ops::lanes::LaneOperation;
use crate::ragged::folding::{GroupFold, GroupedFold};
use crate::ragged::offsets::Offsets;
use crate::ragged::places::Lengths;
use crate::shape::Shape;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// An operation with one result of all elements along some axes.
pub type LaneFold<E, O> = GroupedFold<E, LaneRows<O>>;

impl<T: Copy + Send + Sync, O: LaneOperation<T>> GroupFold<T> for LaneRows<O> {
    type Out = O::Elem;

    const COMMUTATIVE: bool = true;

    fn needs_elements(&self) -> bool {
        O::NEEDS_ELEMENTS
    }

    fn check(&self) -> Result<()> {
        self.0.results().map(drop)
    }

    fn words(
        &self,
        axes: &[usize],
        mean: &dyn Fn() -> Result<usize>,
    ) -> Result<(String, Option<String>)> {
        let mean = mean()?;
        let [what, each] = self.0.words(mean, 1)?;
        let each = format!("lanes of {mean} elements: {each}");
        Ok((format!("{what} over axes {axes:?}, of:"), Some(each)))
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
        let length = Lengths::Fixed(1, Shape::count_of(folded)?);
        Ok(self.fold(content, &order, others, length)?.into_storage())
    }

    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        rows: &Offsets,
    ) -> Result<Vec<O::Elem>> {
        let shape = content.shape()?;
        let order: SmallVec<[usize; 4]> = (1..shape.rank()).chain([0]).collect();
        let results = self.fold(content, &order, &shape[1..], Lengths::Var(rows.clone()))?;
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
        let data = expr::elements(&moved)
            .map_err(|error| expr::of_view(content, error, &|map| map.transpose(order)))?;
        Lanes::of(items, RowResults::Fixed(1))?.compute(self, others, &data)
    }
}
