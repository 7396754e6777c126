//! Views and expressions against memcpy, a naive loop and ndarray, interleaved in one run.
//!
//! `cargo bench --bench kernels [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before
//! it is timed. A ratio is the median over rounds of the time divided by the time in which memcpy
//! moves as many bytes (half read, half written) in the same round: lower is better. With `-- --sizes` it prints
//! curves instead, from one element to ten million.

mod copies;
mod expressions;
mod sizes;
mod small;

use report::Bench;

fn main() {
    let mut bench = Bench::from_arguments();
    if bench.sizes {
        return sizes::run(&mut bench);
    }
    copies::run(&mut bench);
    expressions::run(&mut bench);
    small::run(&mut bench);
}
