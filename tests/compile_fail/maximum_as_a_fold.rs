//! The larger of elements and a number, as NumPy's `maximum`, by the name of a fold.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1.0, 2.0]);
    let _ = t.max(1.5);
    Ok(())
}
