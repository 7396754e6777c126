//! Verbs on tensors that compute: copies, assignments, comparisons.

mod assign;
mod compare;
pub mod lanes;
pub mod product;
pub mod reduce;
mod sparse;
