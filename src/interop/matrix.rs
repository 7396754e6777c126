//! Tensors with two axes.

use crate::error::{Error, Result};
use crate::shape::Shape;

pub(super) fn matrix_extents(shape: &Shape) -> Result<[usize; 2]> {
    match shape.extents() {
        &[rows, columns] => Ok([rows, columns]),
        _ => Err(Error::ExpectedRank { expected: 2, shape: shape.to_vec() }),
    }
}
