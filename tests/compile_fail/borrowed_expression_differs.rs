//! A borrowed expression of other elements.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let a = Tensor::from_vec([2], vec![1.0, 2.0])?;
    let b = Tensor::from_vec([2], vec![1, 2])?;
    let doubled = &b * 2;
    let _ = &a + &doubled;
    Ok(())
}
