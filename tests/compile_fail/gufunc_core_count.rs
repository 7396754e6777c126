//! A closure takes as many cores as the gufunc names types.

use lensor::gufunc::Gufunc;

fn main() {
    let _ = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),(n)->()", |[x], [mut out]| {
        out[0] = x[0];
    });
}
