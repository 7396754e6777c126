//! Takes the mean of literals without a type. Give one its type: `1.0_f64`.

use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let t = Tensor::from(vec![1.0, 2.0]);
    println!("{}", t.mean(..).eval()?.item()?);
    Ok(())
}
