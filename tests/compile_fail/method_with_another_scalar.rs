//! The larger of `f32` elements and a variable of `f64`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1.0_f32, 2.0]);
    let k: f64 = 0.5;
    let _ = t.maximum(k);
    Ok(())
}
