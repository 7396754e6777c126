//! A list of indexes that are not `usize`.

use lensor::indexing::Indexing;
use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1, 2, 3]);
    let at = Tensor::from_nested([[0_i64], [-1]])?;
    let _ = t.take_at(&at);
    Ok(())
}
