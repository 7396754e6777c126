//! Formats and libraries of others. Each module uses the public API alone and nothing uses it.

mod file;
pub mod mtx;
pub mod npy;
#[cfg(feature = "roaring")]
pub mod roaring;
#[cfg(feature = "sprs")]
pub mod sprs;
mod text;
pub mod tns;
