//! Formats and libraries of others, a module for each: files ([`npy`], `npz`, `safetensors`, `zarr`, [`mtx`], [`tns`]),
//! arrays and matrices (`ndarray`, `nalgebra`, `faer`, `sprs`, `arrow`, `dlpack`), and `serde`, `roaring` and
//! `proptest`. Most need the feature of their name. What is shared and what is copied stands at the head of each.

// Nothing uses these modules, and they know no kernels: they are built on the public interface and on a few helpers
// that are private (memory that may be refused, the pieces of an expression, positions of indexes, reading until a
// buffer is full).

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "faer")]
pub mod faer;
mod file;
#[cfg(any(feature = "faer", feature = "ndarray"))]
mod lines;
mod matrix;
#[cfg(any(feature = "dlpack", feature = "faer", feature = "nalgebra", feature = "ndarray"))]
mod memory;
pub mod mtx;
#[cfg(feature = "nalgebra")]
pub mod nalgebra;
#[cfg(any(feature = "npz", feature = "safetensors"))]
mod named;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "proptest")]
pub mod proptest;
#[cfg(feature = "roaring")]
pub mod roaring;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "serde")]
pub mod serde;
#[cfg(feature = "sprs")]
pub mod sprs;
mod text;
pub mod tns;
#[cfg(feature = "zarr")]
pub mod zarr;
