//! Sparse operands of operations: what is stored is visited, what is not is counted.

pub(crate) mod reduce;
