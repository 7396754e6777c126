//! Collects expressions of different types. Box each one: `(&a + 1.0).boxed()`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let a = Tensor::from_vec([2], vec![1.0, 2.0])?;
    let mut several = Vec::new();
    several.push(&a + 1.0);
    several.push(&a * 2.0);
    Ok(())
}
