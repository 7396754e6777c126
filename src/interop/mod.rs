//! Formats and libraries of others. Each module uses the public API alone and nothing uses it.

pub mod npy;
