//! Sparse operands of operations: what is stored is visited, what is not is counted.

mod convert;
pub(crate) mod reduce;
