//! The mistakes that users make first, and the compiler's words for them.
//!
//! The `.stderr` files hold the words of one compiler, so the test passes over any other: after an
//! update of the compiler, set `RUSTC` below, run with `TRYBUILD=overwrite` and read the difference.
//! A message that got worse is a reason to change the library.

#![cfg(all(
    feature = "mmap",
    not(feature = "half"),
    not(feature = "complex"),
    not(feature = "sprs")
))]

use std::process::Command;

/// The compiler whose messages are on file.
const RUSTC: &str = "rustc 1.95.0";

#[test]
fn mistakes_have_messages_that_help() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs").stdout;
    let version = String::from_utf8_lossy(&version);
    if !version.starts_with(RUSTC) {
        eprintln!("skipped: the messages on file are those of {RUSTC}, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
