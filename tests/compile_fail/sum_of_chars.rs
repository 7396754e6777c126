//! A sum and a mean of elements that are no numbers.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let letters = Tensor::from(vec!['a', 'b']);
    let _ = letters.sum(0);
    let _ = letters.mean(0);
    Ok(())
}
