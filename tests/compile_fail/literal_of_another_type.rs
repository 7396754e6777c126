//! A literal that comes first is an `i32`, whatever follows.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let bytes = Tensor::from_vec([2], vec![1_u8, 2])?;
    let mask = (&bytes).greater(1);
    let _ = choose(mask, 10, 0) + &bytes;
    Ok(())
}
