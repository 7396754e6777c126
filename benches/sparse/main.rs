//! Sparse operations against sprs and a naive loop, interleaved in one run.
//!
//! `cargo bench --features sprs --bench sparse [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed. A ratio is the median over rounds of our time divided by that of sprs, or of memcpy of the
//! output where the name says so, in the same round: lower is better.

mod cases;
mod products;

use report::Bench;

fn main() {
    let mut bench = Bench::from_arguments();
    cases::run(&mut bench);
    products::run(&mut bench);
}
