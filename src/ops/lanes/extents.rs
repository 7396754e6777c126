//! Shapes with one axis changed.

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::shape::Shape;

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
