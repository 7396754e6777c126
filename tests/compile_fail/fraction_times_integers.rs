//! Integers times a fraction.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let counts = Tensor::from(vec![1, 2]);
    let _ = &counts * 0.5;
    Ok(())
}
