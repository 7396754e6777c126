//! Operations: one file or folder for each.

#[cfg(feature = "quickcheck")]
mod along;
#[cfg(feature = "quickcheck")]
mod assign;
#[cfg(feature = "quickcheck")]
mod compare;
#[cfg(feature = "complex")]
mod complex;
mod einsum;
#[cfg(feature = "quickcheck")]
mod extract;
mod filtered;
mod generate;
#[cfg(feature = "half")]
mod halves;
#[cfg(feature = "quickcheck")]
mod indexing;
mod indexing_faults;
#[cfg(feature = "quickcheck")]
mod lanes;
#[cfg(feature = "quickcheck")]
mod linalg;
mod narrow;
#[cfg(feature = "quickcheck")]
mod product;
mod reduce;
#[cfg(feature = "quickcheck")]
mod rolling;
#[cfg(feature = "quickcheck")]
mod rolling_places;
#[cfg(feature = "quickcheck")]
mod scan;
#[cfg(feature = "quickcheck")]
mod scan_lazy;
#[cfg(feature = "quickcheck")]
mod segments;
#[cfg(feature = "quickcheck")]
mod short_lanes;
#[cfg(feature = "quickcheck")]
mod stencil;
#[cfg(feature = "quickcheck")]
mod within;
