//! A mean as an operand before it is evaluated.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
    let _ = &t - t.mean(0);
    Ok(())
}
