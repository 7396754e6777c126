//! Verbs on tensors that compute: copies, assignments, comparisons, folds, scans, lanes, products, stencils.

mod along;
mod assign;
pub(crate) mod compare;
mod contraction;
pub(crate) mod cores;
pub mod diff;
mod elements;
pub mod generate;
pub mod indexing;
pub mod lanes;
pub mod linalg;
pub(crate) mod number;
pub mod product;
pub(crate) mod products;
pub mod reduce;
pub mod rolling;
pub mod scan;
pub mod segments;
mod sparse;
pub mod stencil;

pub use elements::Elements;
