//! Shapes with one axis changed, and axes made one.

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Expr, Lazy};
use crate::ops::reduce::Axes;
use crate::shape::Shape;
use smallvec::SmallVec;

/// The extents of all axes but one.
pub(super) fn without(shape: &Shape, axis: usize) -> Result<Shape> {
    shape.extent(axis)?;
    Ok(shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, &extent)| extent).collect())
}

/// `shape` with another extent of one axis.
pub(super) fn with_extent(shape: &Shape, axis: usize, extent: usize) -> Result<Shape> {
    shape.extent(axis)?;
    Ok(shape.iter().enumerate().map(|(k, &own)| if k == axis { extent } else { own }).collect())
}

/// Makes axes one axis behind all others. Gives its number, and the axes ascending.
pub(super) fn merge_last<E: Expr>(
    a: &mut Lazy<E>,
    axes: &Axes,
) -> Result<(usize, SmallVec<[usize; 1]>)> {
    let rank = a.shape()?.rank();
    let mask = axes.mask(rank)?;
    let of = |chosen: bool| {
        let mask = &mask;
        (0..rank).filter(move |&axis| mask[axis] == chosen)
    };
    let order: SmallVec<[usize; 4]> = of(false).chain(of(true)).collect();
    let last = of(false).count();
    a.change(&mut |map| map.transpose(&order)?.merge_axes(last..))?;
    let given: SmallVec<[usize; 1]> = of(true).collect();
    Ok((last, given))
}
