//! Formats and libraries of others. Each module uses the public API alone and nothing uses it.

#[cfg(feature = "sparse")]
pub mod mtx;
pub mod npy;
#[cfg(feature = "sparse")]
pub mod sprs;
#[cfg(feature = "sparse")]
mod text;
#[cfg(feature = "sparse")]
pub mod tns;
