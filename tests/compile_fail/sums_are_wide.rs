//! Takes the sum of `i32` for an `i32`. It is an `i64`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let counts = Tensor::from(vec![1, 2, 3]);
    let total: i32 = counts.sum(..).item()?;
    println!("{total}");
    Ok(())
}
