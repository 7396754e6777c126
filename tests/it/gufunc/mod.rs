//! Laws of generalized ufuncs: signatures against a second parser, calls against nested loops over copies.
//!
//! `QUICKCHECK_TESTS` sets how many cases each property sees.

mod calls;
mod checks;
mod edges;
mod errors;
mod exact;
mod grammar;
mod in_order;
mod large;
mod laws;
mod library;
mod matrices;
mod model;
mod operands;
mod signature;
