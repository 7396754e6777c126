//! Lanes.
pub(crate) mod driver;
