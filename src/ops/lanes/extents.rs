//! Shapes with one axis changed, and axes made one.

use crate::error::{Error, Result};
use crate::expr::{Boxed, Expr, Lazy, erased, first_error};
use crate::map::AddressMap;
use crate::ops::reduce::Axes;
use crate::shape::{Align, Shape};
use smallvec::SmallVec;

/// Axes that are one now, after all others, as the operand was given.
#[derive(Debug, Clone)]
pub(super) struct MergedAxes {
    /// Ascending.
    pub(super) axes: SmallVec<[usize; 1]>,
    pub(super) shape: Shape,
}

impl MergedAxes {
    /// The axis that these are.
    pub(super) fn axis(&self) -> usize {
        self.shape.rank() - self.axes.len()
    }

    /// An error of the operand in which the axes are one as one of the operand that was given.
    pub(super) fn restored<E: Expr>(&self, a: &Lazy<E>, error: Error) -> Error {
        let Error::EmptyReduction { .. } = error else {
            return match self.given(a) {
                Ok(given) => first_error(&given, error, &|map| self.merged(map)),
                Err(_) => error.without_index(),
            };
        };
        let empty = self.axes.iter().copied().find(|&axis| self.shape[axis] == 0);
        Error::EmptyReduction { axis: empty.unwrap_or_default(), shape: self.shape.to_vec() }
    }

    /// A map with these axes as one.
    fn merged(&self, map: AddressMap) -> Result<AddressMap> {
        let others = (0..self.shape.rank()).filter(|axis| !self.axes.contains(axis));
        let order: SmallVec<[usize; 4]> = others.chain(self.axes.iter().copied()).collect();
        map.transpose(&order)?.merge_axes(self.axis()..)
    }

    /// The operand that was given.
    fn given<'a, E: Expr>(&self, a: &'a Lazy<E>) -> Result<Lazy<Boxed<'a, E::Elem>>> {
        let extents: SmallVec<[usize; 4]> =
            self.axes.iter().map(|&axis| self.shape[axis]).collect();
        let others = (0..self.shape.rank()).filter(|axis| !self.axes.contains(axis));
        let mut places: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.shape.rank());
        let order = others.chain(self.axes.iter().copied()).enumerate();
        order.for_each(|(place, axis)| places[axis] = place);
        let mut given = Lazy(erased(&a.0));
        given.change(&mut |map| map.split_axis(self.axis(), &extents[..])?.transpose(&places))?;
        Ok(given)
    }
}

/// The axis that is meant, if it is one.
pub(super) fn single<E: Expr>(a: &Lazy<E>, axes: &Axes) -> Option<usize> {
    let mask = axes.mask(a.shape().ok()?.rank()).ok()?;
    let mut meant = (0..mask.len()).filter(|&axis| mask[axis]);
    meant.next().filter(|_| meant.next().is_none())
}

/// An axis of extent 1 as a lane, where no axis is asked for and there is no room for one more. Without such an axis
/// there are no elements.
pub(super) fn spare<E: Expr>(a: &Lazy<E>, axes: &Axes) -> Option<usize> {
    let shape = a.shape().ok().filter(|shape| shape.rank() == Shape::MAX_RANK)?;
    let mask = axes.mask(shape.rank()).ok()?;
    shape.iter().position(|&extent| extent == 1).filter(|_| !mask.contains(&true))
}

/// Makes axes one axis after all others.
pub(super) fn merge_last<E: Expr>(a: &mut Lazy<E>, axes: &Axes) -> Result<MergedAxes> {
    let shape = a.shape()?;
    let rank = shape.rank();
    let mask = axes.mask(rank)?;
    let merged = MergedAxes { axes: (0..rank).filter(|&axis| mask[axis]).collect(), shape };
    a.change(&mut |map| merged.merged(map))?;
    Ok(merged)
}

/// Operands that go together, if there is anything to compute from them.
pub(super) type Together<A, B> = Option<(Lazy<A>, Lazy<B>)>;

/// Operands of types `A` and `B` by reference that go together, and the shape of what is computed from them.
pub(super) type Joint<'a, A, B> = (Shape, Together<<A as Expr>::Ref<'a>, <B as Expr>::Ref<'a>>);

/// Two operands of one rank whose axes other than `axis` are stretched to one another, and their joint shape
/// but for `axis`, whose extent is that of the second.
///
/// `None` if that has no elements.
pub(super) fn together<A: Expr, B: Expr>(
    a: Lazy<A>,
    b: Lazy<B>,
    axis: usize,
) -> Result<(Shape, Together<A, B>)> {
    let (first, second) = (a.shape()?, b.shape()?);
    let apart = || Error::Lanes { axis, shape: first.to_vec(), other: second.to_vec() };
    let kept = first.with_extent(axis, 1)?;
    if second.rank() != first.rank() {
        return Err(apart());
    }
    let joint = kept.join(&second.with_extent(axis, 1)?, Align::Right, 2).map_err(|_| apart())?;
    let shape = joint.with_extent(axis, second[axis])?;
    if shape.count()? == 0 {
        return Ok((shape, None));
    }
    let a = a.broadcast(joint.with_extent(axis, first[axis])?)?;
    let b = b.broadcast(&shape)?;
    Ok((shape, Some((a, b))))
}
