//! Every error is reached here, or beside the operation that gives it, with its exact values and text.

mod densely;
mod map;
mod sparse;
mod tensor;
