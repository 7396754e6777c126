//! Adds tensors of different element types. Cast one: `&a + b.cast::<f64>()`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let a = Tensor::from_vec([2], vec![1.0_f64, 2.0])?;
    let b = Tensor::from_vec([2], vec![1_i32, 2])?;
    let _ = &a + &b;
    Ok(())
}
