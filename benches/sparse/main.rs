//! Sparse operations against sprs and a naive loop, interleaved in one run.
//!
//! `cargo bench --bench sparse [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed. A ratio is the median over rounds of our time divided by that of sprs, or of memcpy of the
//! output where the name says so, in the same round: lower is better.

mod cases;
mod products;
mod report;

use report::Bench;

fn main() {
    let mut filter = None;
    let (mut quick, mut json) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            "--json" => json = true,
            // Cargo passes this to every bench.
            "--bench" => {}
            other => filter = Some(other.to_string()),
        }
    }
    let mut bench = Bench::new(quick, json, filter);
    cases::run(&mut bench);
    products::run(&mut bench);
}
