//! There are as many operands as inputs.

use lensor::Tensor;
use lensor::gufunc::inner1d;

fn main() {
    let a = Tensor::from(vec![1.0_f64]);
    let _ = inner1d::<f64>().call((&a, &a, &a));
}
