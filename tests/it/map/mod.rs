//! Address maps. Every property is named after its law; the model is the oracle.

mod extremes;
#[cfg(feature = "quickcheck")]
mod facts;
#[cfg(feature = "quickcheck")]
mod generators;
#[cfg(feature = "quickcheck")]
mod inverse;
#[cfg(feature = "quickcheck")]
mod normal_form;
#[cfg(feature = "quickcheck")]
mod refusals;
#[cfg(feature = "quickcheck")]
mod same;
#[cfg(feature = "quickcheck")]
mod support;
#[cfg(feature = "quickcheck")]
mod undo;
#[cfg(feature = "quickcheck")]
mod wild;
