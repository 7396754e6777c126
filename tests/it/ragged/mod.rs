//! Laws of ragged tensors: views, expressions, folds and assignments against lists in lists with index arithmetic of
//! their own.
//!
//! `QUICKCHECK_TESTS` sets how many cases each property sees.

mod addresses;
mod assign;
mod chains;
mod cores;
mod elements;
mod errors;
mod expressions;
mod faults;
mod folds;
mod forms;
mod indexes;
mod lanes;
mod large;
mod lies;
mod model;
mod padding;
mod ranks;
mod threads;
mod views;
mod views_at_random;
