//! Storage: the library's own under any views, and that of others.

#[cfg(feature = "conformance")]
mod conformance;
mod foreign;
#[cfg(feature = "mmap")]
mod mapped;
#[cfg(feature = "quickcheck")]
mod views;
