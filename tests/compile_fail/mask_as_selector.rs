//! A mask where a selector is asked for.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
    let _ = t.view().select((vec![true, false], ..))?;
    Ok(())
}
