//! Reductions: folds along axes, made of pieces.

mod axes;
mod reducer;

pub use axes::Axes;
pub use reducer::Reducer;
