//! A mask of all axes is no selector of one.

use lensor::prelude::*;

fn main() {
    let t = Tensor::from(vec![1, 2, 3]);
    let _ = t.view().select(t.greater(1));
}
