//! Files, streams and other libraries. Files from strangers are in `tests/hostile`, whose allocator counts.

#[cfg(all(feature = "arrow", feature = "conformance"))]
mod arrow;
#[cfg(all(feature = "dlpack", feature = "quickcheck"))]
mod dlpack;
#[cfg(all(feature = "conformance", feature = "faer", feature = "quickcheck"))]
mod faer;
mod files;
#[cfg(all(feature = "nalgebra", feature = "quickcheck"))]
mod nalgebra;
#[cfg(all(feature = "conformance", feature = "ndarray", feature = "quickcheck"))]
mod ndarray;
mod npy;
#[cfg(all(feature = "conformance", feature = "npz", feature = "quickcheck"))]
mod npz;
#[cfg(feature = "proptest")]
mod proptest;
mod round_trip;
#[cfg(all(feature = "quickcheck", feature = "safetensors"))]
mod safetensors;
#[cfg(all(feature = "quickcheck", feature = "serde"))]
mod serde;
#[cfg(all(feature = "conformance", feature = "quickcheck", feature = "sprs"))]
mod sprs;
mod symmetry;
#[cfg(all(feature = "npz", feature = "safetensors", feature = "zarr"))]
mod written;
#[cfg(all(feature = "quickcheck", feature = "zarr"))]
mod zarr;
