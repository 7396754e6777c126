//! Makes a tensor of something that is no storage. Implement `Reader`, or collect into a `Vec`.

use lensor::{Error, Tensor};

fn main() -> Result<(), Error> {
    let _ = Tensor::new([2, 3], 0..6)?;
    Ok(())
}
