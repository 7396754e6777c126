//! Lets an expression borrow a tensor without a name. Write `.lazy()` before `.sqrt()`, or name the tensor.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let roots = Tensor::from(vec![1.0, 4.0]).sqrt();
    roots.eval()?;
    Ok(())
}
