//! Derivatives as operations.

use super::EdgeOrder;
use super::field::Derivatives;
use super::rule::DerivativeOrder;
use super::spacing::{Checked, IntoSpacing};
use crate::compute::{Compute, Deferred, reads};
use crate::dtype::{Arithmetic, Real};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{Boxes, Explanation, Expr, Lazy, blocks_in_words, box_shape, bytes_read, erased};
use crate::kernel::{self, Filled, inner};
use crate::map::AddressMap;
use crate::memory::{list, push};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Derivatives of an operand: along one axis, along all, or along all pairs of axes.
#[derive(Debug, Clone)]
pub struct Derivative<E: Expr> {
    operand: Lazy<E>,
    kind: Kind,
    /// Distances along the only axis that is looked at, or along each.
    spacing: Result<Vec<Checked<E::Elem>>>,
}

/// Which derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    First { axis: usize, edges: EdgeOrder },
    Second { axis: usize },
    Gradient(EdgeOrder),
    Hessian(EdgeOrder),
    Laplacian,
}

impl<E: Expr<Elem: Real>> Derivative<E> {
    pub(super) fn deferred(
        operand: E,
        kind: Kind,
        spacing: impl IntoIterator<Item: IntoSpacing<E::Elem>>,
    ) -> Deferred<Self> {
        let mut each = Vec::new();
        // One more than there are axes is refused, however many there are.
        let mut spacing = spacing.into_iter().take(Shape::MAX_RANK + 1);
        let kept = spacing.try_for_each(|one| push(&mut each, one.into_spacing()?.into()));
        let spacing = kept.map(|()| each);
        Deferred::new(Self { operand: Lazy(operand), kind, spacing })
    }

    /// One spacing per axis.
    fn spacing(&self) -> Result<Vec<&Checked<E::Elem>>> {
        let given = self.spacing.as_ref().map_err(Error::copy)?;
        Ok(match self.kind {
            Kind::First { .. } | Kind::Second { .. } => {
                given.iter().cycle().take(self.operand.shape()?.rank()).collect()
            }
            _ => list(given.iter())?,
        })
    }

    /// Axes and orders of the derivatives that are computed from the operand in one pass.
    fn axes(&self, rank: usize) -> Vec<(usize, DerivativeOrder)> {
        let all = |order| (0..rank).map(|axis| (axis, order)).collect();
        match self.kind {
            Kind::First { axis, edges } => vec![(axis, DerivativeOrder::First(edges))],
            Kind::Second { axis } => vec![(axis, DerivativeOrder::Second)],
            Kind::Gradient(edges) => all(DerivativeOrder::First(edges)),
            Kind::Hessian(_) | Kind::Laplacian => all(DerivativeOrder::Second),
        }
    }

    /// The pass over the operand, or what shapes and spacings do not allow.
    fn derivatives(&self) -> Result<Derivatives<'_, E::Elem, E>> {
        let axes = self.axes(self.operand.shape()?.rank());
        let all = Derivatives::new(&self.operand, &axes, &self.spacing()?)?;
        Ok(if matches!(self.kind, Kind::Laplacian) { all.summed() } else { all })
    }

    /// All second derivatives: shape `(rank, rank, ..)`.
    fn hessian(&self, edges: EdgeOrder) -> Result<Vec<E::Elem>> {
        let (shape, spacing) = (self.operand.shape()?, self.spacing()?);
        let rank = shape.rank();
        let zero = E::Elem::one().minus(E::Elem::one());
        let extents = [rank, rank].into_iter().chain(shape.iter().copied());
        let mut all = Tensor::full(extents.collect::<Shape>(), zero)?;
        // Kept no longer than this, as it is large.
        let diagonal = self.derivatives()?.eval()?;
        all.view_mut().diagonal(0, 1)?.move_axis(rank, 0)?.assign(&diagonal)?;
        drop(diagonal);
        for row in 0..rank.saturating_sub(1) {
            let along = |axis: usize| [(axis, DerivativeOrder::First(edges))];
            let slope = Derivatives::new(&self.operand, &along(row), &spacing)?.eval()?;
            let slope = slope.slice(0, 0..1)?.remove_axis(0)?.lazy();
            for column in row + 1..rank {
                let mixed = Derivatives::new(&slope, &along(column), &spacing)?.eval()?;
                for [i, j] in [[row, column], [column, row]] {
                    all.view_mut().slice(0, i..i + 1)?.slice(1, j..j + 1)?.assign(&mixed)?;
                }
            }
        }
        Ok(all.into_storage())
    }
}

impl<E: Expr> Sealed for Derivative<E> {}

impl<E: Expr<Elem: Real>> Compute for Derivative<E> {
    type Elem = E::Elem;

    fn shape(&self) -> Result<Shape> {
        Ok(self.layout()?.shape())
    }

    /// Components come one after another.
    fn layout(&self) -> Result<AddressMap> {
        self.derivatives()?;
        let shape = self.operand.shape()?;
        let rank = shape.rank();
        let components = match self.kind {
            Kind::Gradient(_) => 1,
            Kind::Hessian(_) => 2,
            _ => 0,
        };
        let extents = std::iter::repeat_n(rank, components).chain(shape.iter().copied());
        let mut map = AddressMap::of_shape(&extents.collect())?;
        for _ in 0..components {
            map = map.move_axis(0, rank + components - 1)?;
        }
        Ok(map)
    }

    reads!(operand);

    fn fill(&self, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled> {
        match self.kind {
            Kind::Hessian(edges) => kernel::copy(&self.hessian(edges)?, out),
            _ => self.derivatives()?.fill(out),
        }
    }

    fn collect(&self, count: usize) -> Result<Vec<E::Elem>> {
        match self.kind {
            Kind::Hessian(edges) => self.hessian(edges),
            _ => inner::collect(count, |out| self.fill(out)),
        }
    }

    /// Indexes of the first axis, of all components.
    fn boxes(&self, limit: usize) -> Result<Boxes> {
        let shape = self.shape()?;
        let whole = matches!(self.kind, Kind::Hessian(_));
        let limit = if whole || self.operand.shape()?.rank() < 2 { usize::MAX } else { limit };
        Ok(Boxes::around(&shape, limit, |axis| axis > 0))
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<E::Elem>>> {
        let layout = self.layout()?;
        let Some(items) = ranges.first() else {
            return Ok(Tensor::from_parts(layout.clone(), self.collect(layout.count())?));
        };
        // Components come one after another in a box too.
        let shape = box_shape(&layout.shape(), ranges);
        let components = usize::from(matches!(self.kind, Kind::Gradient(_)));
        let extents =
            shape[shape.rank() - components..].iter().chain(&shape[..shape.rank() - components]);
        let data = inner::collect(shape.count()?, |out| {
            self.derivatives()?.fill_items(items.clone(), out)
        })?;
        let part = Tensor::new(extents.copied().collect::<Shape>(), data)?;
        if components > 0 { part.move_axis(0, shape.rank() - 1) } else { Ok(part) }
    }

    fn explain(&self) -> Result<Explanation> {
        let (shape, out) = (self.operand.shape()?, self.shape()?);
        let rank = shape.rank();
        let derivatives = self.derivatives()?;
        let (mut lines, threads) = derivatives.explain()?;
        // How often the operand is read, and how many tensors of its shape are read and written besides.
        let (what, [operand, read, written]) = match self.kind {
            Kind::First { .. } => ("derivative", [1, 0, 1]),
            Kind::Second { .. } => ("second derivative", [1, 0, 1]),
            Kind::Gradient(_) => ("gradient", [1, 0, rank]),
            Kind::Hessian(edges) => {
                let slopes = rank.saturating_sub(1);
                let mixed = rank * slopes / 2;
                let along: Vec<_> =
                    (0..slopes).map(|axis| (axis, DerivativeOrder::First(edges))).collect();
                let more = Derivatives::new(&self.operand, &along, &self.spacing()?)?.explain()?.0;
                lines.push(format!(
                    "beside the diagonal: derivatives of derivatives, {mixed} in all"
                ));
                lines.extend(more.into_iter().skip(1));
                // All are computed to memory of their own, and then assigned: to both sides, off the diagonal.
                let written = rank * rank + 2 * rank + slopes + 3 * mixed;
                ("hessian", [1 + slopes, rank + 3 * mixed, written])
            }
            Kind::Laplacian => {
                lines.push("terms: added up a few lines at a time".into());
                ("laplacian", [1, 0, 1])
            }
        };
        if !out.contains(&0) {
            let parts = derivatives.parts()?;
            let parts = &mut (0..operand).flat_map(|_| parts.clone());
            let how = "evaluated in many parts";
            lines.extend(blocks_in_words(&erased(&self.operand.0), None, Some(parts), how)?);
        }
        let plane = shape.count()?.saturating_mul(size_of::<E::Elem>());
        let read = bytes_read(&self.operand.0)
            .saturating_mul(operand)
            .saturating_add(plane.saturating_mul(read));
        let what = format!("{what} of {} {shape:?} to {out:?}", std::any::type_name::<E::Elem>());
        Ok(Explanation::report(what, lines, threads, [read, plane.saturating_mul(written)]))
    }
}
