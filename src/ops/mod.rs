//! Verbs on tensors that compute: copies, assignments, comparisons.

mod assign;
mod compare;
pub mod generate;
pub mod linalg;
pub mod reduce;
pub mod stencil;
