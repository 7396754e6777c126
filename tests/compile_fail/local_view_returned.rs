//! Returns an expression that borrows a local tensor. Move it in: `a * 2.0` instead of `&a * 2.0`.

use lensor::prelude::*;

fn doubled() -> Result<Lazy<impl Expr<Elem = f64>>, Error> {
    let a = Tensor::from_vec([2], vec![1.0, 2.0])?;
    Ok(&a * 2.0)
}

fn main() -> Result<(), Error> {
    doubled()?.eval()?;
    Ok(())
}
