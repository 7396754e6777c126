//! Files, streams and other libraries. Files from strangers are in `tests/hostile`, whose allocator counts.

mod files;
mod npy;
mod round_trip;
#[cfg(all(feature = "conformance", feature = "quickcheck", feature = "sprs"))]
mod sprs;
mod symmetry;
