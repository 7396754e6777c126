//! The tests of the library, in the order of its modules: what tests `src/ops/scan` stands in `ops/scan.rs`.
//!
//! `cargo test --test it --features quickcheck ops::scan` runs a part: laws that draw views need that feature, and
//! `QUICKCHECK_TESTS` sets how many cases each property sees. What needs a process of its own, for its allocator
//! or its output, is another crate beside this one.

mod support;

#[cfg(feature = "quickcheck")]
mod model;
#[cfg(feature = "quickcheck")]
mod views;

mod compute;
mod dtype;
mod error;
mod expr;
mod generic;
#[cfg(feature = "quickcheck")]
mod gufunc;
mod interop;
mod large_elements;
mod map;
mod ops;
mod plain_values;
mod ragged;
mod storage;
#[cfg(feature = "quickcheck")]
mod tensor;
