//! Verbs on tensors that compute: copies, assignments, comparisons.

mod assign;
mod compare;
pub mod generate;
pub mod lanes;
pub mod linalg;
pub mod reduce;
mod sparse;
pub mod stencil;
