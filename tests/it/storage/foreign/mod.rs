//! Storage and closures of others: they lie, fail and panic, and the library gives values or errors.

mod disorder;
mod fails;
mod kernels;
mod lies;
mod long;
mod once;
mod panics;
