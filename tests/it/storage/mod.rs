//! Storage: the library's own under any views, and that of others.

#[cfg(feature = "quickcheck")]
mod asked;
#[cfg(feature = "quickcheck")]
mod chunked;
#[cfg(feature = "conformance")]
mod conformance;
#[cfg(all(feature = "conformance", feature = "quickcheck"))]
mod cost;
mod foreign;
#[cfg(all(feature = "conformance", feature = "quickcheck"))]
mod joined;
#[cfg(feature = "mmap")]
mod mapped;
#[cfg(feature = "quickcheck")]
mod views;
