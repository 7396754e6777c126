//! Cores have the element types that the gufunc names.

use lensor::gufunc::Gufunc;

fn main() {
    let _ = Gufunc::<[f64; 1], [usize; 1], _>::each("(n)->()", |[x], [mut out]| {
        out[0] = x[0];
    });
}
