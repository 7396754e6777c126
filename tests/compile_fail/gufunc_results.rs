//! Asks the results of a gufunc for a shape. They are a list: `let [inverse] = inv().call([&a]).eval()?`.

use lensor::gufunc::inv;
use lensor::prelude::*;

fn main() -> Result<(), Error> {
    let a = Tensor::full([2, 2], 1.0_f64)?;
    let inverse = inv().call([&a]).eval()?;
    println!("{}", inverse.shape());
    Ok(())
}
