//! Views and expressions against memcpy, a naive loop and ndarray, interleaved in one run.
//!
//! `cargo bench --bench kernels [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before
//! it is timed. A ratio is the median over rounds of the time divided by the time in which memcpy
//! moves as many bytes (half read, half written) in the same round: lower is better.

mod copies;
mod expressions;
mod small;

use report::Bench;

fn main() {
    let mut bench = Bench::from_arguments();
    copies::run(&mut bench);
    expressions::run(&mut bench);
    small::run(&mut bench);
}
