//! Uses a view after an operation took it. Write `rows.view().sum(0)` or `rows.clone().sum(0)`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let rows = t.view().flip(0)?;
    let sums = rows.sum(0);
    let means = rows.mean(0);
    (sums + means).eval()?;
    Ok(())
}
