//! The square root of integers.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let counts = Tensor::from(vec![1, 4]);
    let _ = (&counts).sqrt();
    Ok(())
}
