//! Operands have exactly the element types of the inputs.

use lensor::Tensor;
use lensor::gufunc::inner1d;

fn main() {
    let (a, b) = (Tensor::from(vec![1.0_f64]), Tensor::from(vec![1_i32]));
    let _ = inner1d::<f64>().call((&a, &b));
}
