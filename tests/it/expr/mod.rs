//! Expressions: trees of them under any chain of views, their storage, and what `explain` says.

mod division;
#[cfg(feature = "quickcheck")]
mod elementwise;
mod explain;
#[cfg(feature = "quickcheck")]
mod expressions;
#[cfg(feature = "quickcheck")]
mod faults;
mod fibers;
mod operators;
mod rows;
mod same_bits;
mod short_axes;
#[cfg(feature = "quickcheck")]
mod sparse;
mod streaming;
#[cfg(feature = "rayon")]
mod threads;
mod zip_stored;
