//! Shapes with one axis changed.

use crate::error::{Error, Result};
use crate::shape::Shape;

/// The extents of all axes but one.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis.
pub(super) fn without(shape: &Shape, axis: usize) -> Result<Shape> {
    if axis >= shape.rank() {
        return Err(Error::Axis { axis, rank: shape.rank() });
    }
    Ok(shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, &extent)| extent).collect())
}

/// `shape` with another extent of one axis.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis.
pub(super) fn with_extent(shape: &Shape, axis: usize, extent: usize) -> Result<Shape> {
    if axis >= shape.rank() {
        return Err(Error::Axis { axis, rank: shape.rank() });
    }
    Ok(shape.iter().enumerate().map(|(k, &own)| if k == axis { extent } else { own }).collect())
}
