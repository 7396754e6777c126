//! Reducers that most programs need.

mod adapters;
mod by_element;
mod distances;
mod exact;
mod extrema;
mod lanes;
mod maybe;
mod means;
mod moments;
mod norms;
mod products;
mod sums;
mod taken;
mod tuples;

pub use adapters::{Filtered, Mapped, SameType, SkipNan};
pub use by_element::Summable;
pub use extrema::{ArgMax, ArgMin, Max, Min, PeakToPeak};
pub use maybe::{Maybe, Or};
pub use means::Mean;
pub use moments::{Covariance, Freedom, StandardDeviation, Variance};
pub use norms::{LogSumExp, Norm, NormL1, NormMax};
pub use sums::{
    All, Any, CompensatedSum, CountNonzero, NaiveSum, Product, Sum, WrappingProduct, WrappingSum,
};
pub use tuples::Separate;

/// States of reducers, which appear in signatures: public only so that these can be spelled. Not part of the
/// interface.
#[doc(hidden)]
pub mod states {
    pub use super::by_element::{ProductOf, SumOf};
    pub use super::extrema::Found;
    pub use super::means::Total;
    pub use super::moments::{CoMoments, Moments};
    pub use super::norms::{Exponentials, Squares};
    pub use super::products::CheckedProduct;
    pub use super::sums::Compensated;
    pub use super::taken::Taken;
}
