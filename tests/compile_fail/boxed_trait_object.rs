//! Expressions boxed as trait objects.

use lensor::prelude::*;

fn main() {
    let _several: Vec<Box<dyn Expr<Elem = f64>>> = Vec::new();
}
