//! Results are written to the cores of the outputs, not returned.

use lensor::gufunc::Gufunc;

fn main() {
    let _ = Gufunc::<[f64; 1], [f64; 1], _>::each("(n)->()", |[x], _| x.iter().sum::<f64>());
}
