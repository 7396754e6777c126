//! Expressions concatenated before they are evaluated.

use lensor::prelude::*;
use lensor::tensor::concat;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1.0, 2.0]);
    let _ = concat(0, [&t + 1.0, &t + 2.0])?;
    Ok(())
}
