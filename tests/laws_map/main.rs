//! Laws of address maps. Every property is named after its law; `tests/model` is the oracle.
//!
//! `QUICKCHECK_TESTS` sets how many cases each property sees.

#[path = "../model/mod.rs"]
mod model;
mod support;
mod wild;

mod facts;
mod generators;
mod inverse;
mod normal_form;
mod refusals;
mod same;
mod undo;
