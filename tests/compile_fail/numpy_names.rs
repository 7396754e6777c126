//! `log` of NumPy, which is `ln` here.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1.0, 2.0]);
    let _ = (&t).log();
    Ok(())
}
