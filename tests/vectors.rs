//! Runs the test vectors: programs and address maps computed by NumPy, see `tests/vectors/README.md`.
//!
//! Reads every `*.jsonl` in the folders named by `LENSOR_VECTORS` (separated by `:`), or in
//! `tests/vectors` if that is unset.

mod runner;

use runner::{Tally, passed_wrongly};
use std::process::ExitCode;

fn main() -> ExitCode {
    let folders = std::env::var_os("LENSOR_VECTORS").unwrap_or_else(|| "tests/vectors".into());
    let print = |failure: &str| println!("{failure}");
    let mut tally = Tally { passed: 0, failed: 0, report: &print };
    for folder in std::env::split_paths(&folders).filter(|path| !path.as_os_str().is_empty()) {
        tally.folder(&folder);
    }
    // What must fail and does is no vector that passed. Its numbers have 64 bits.
    if cfg!(target_pointer_width = "64") {
        for wrong in passed_wrongly() {
            tally.fail(&format!("self-check: {wrong}"));
        }
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ExitCode::from(u8::from(tally.failed > 0 || tally.passed == 0))
}
