//! Uses a tensor after an operator took it. Borrow it: `&a + 1.0`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let a = Tensor::from_vec([2], vec![1.0, 2.0])?;
    let b = a + 1.0;
    let c = a * 2.0;
    (b + c).eval()?;
    Ok(())
}
