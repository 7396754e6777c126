//! Generalized ufuncs: functions of small tensors, called for every index of all other axes.
//!
//! An *elementary function* works on *cores*, whose axes a [`Signature`] names; all other axes of the operands are
//! *loop* axes, which join as those of operators do, and the function is called once for each index of them. After
//! NumPy's generalized ufuncs and NEP 20.
//!
//! ```
//! use lensor::gufunc::Gufunc;
//! use lensor::prelude::*;
//! let inner = Gufunc::<[f64; 2], [f64; 1], _>::each("(i),(i)->()", |[a, b], [mut out]| {
//!     out[0] = a.iter().zip(b.iter()).map(|(x, y)| x * y).sum();
//! })?;
//! let a = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
//! let b = Tensor::from(vec![10.0, 1.0]);
//! let [c] = inner.call([&a, &b]).eval()?;
//! assert_eq!(c.to_vec()?, [12.0, 34.0]);
//!
//! // Along another axis, which stays; and as an operand, computed when the expression is.
//! let [c] = inner.call([&a, &a]).axis(0).keepdims().eval()?;
//! assert_eq!((c.shape(), c.to_vec()?), (Shape::from([1, 2]), vec![10.0, 20.0]));
//! let scaled = &b - inner.call([&a, &b]);
//! assert_eq!(scaled.eval()?.to_vec()?, [-2.0, -33.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Operands are tensors of any storage under any view, expressions, deferred operations and scalars. Element types
//! match exactly: cast lazily where they do not. Cores that lie in memory in row-major order are read where they lie;
//! others are evaluated for some calls at a time, those of sparse operands densely. Results have the loop axes first,
//! then the core axes of the output. No result depends on the number of threads.
//!
//! Functions that are ready made, all but `cumulative` by their names in [`NAMES`]: [`inner1d`], [`outer`],
//! [`matmul`], [`cross`], [`det`], [`trace`], [`inv`], [`solve`], [`norm`], [`normalize`], [`minmax`], [`argminmax`],
//! [`cumulative`], [`sort`], [`argsort`], [`convolve_full`], [`convolve_valid`], [`cdist`], [`pdist`], [`polyval`],
//! [`interp`], [`histogram`].

mod arguments;
mod axes;
mod call;
mod core;
mod elementary;
mod eval;
mod explain;
mod extent;
mod fit;
mod function;
mod in_order;
mod library;
mod operand;
mod outputs;
mod parse;
mod request;
mod rows;
mod signature;
mod tuples;
mod update;

pub use self::core::{Core, CoreMut};
pub use arguments::{Arguments, Destinations, Held, Several, Tuple};
pub use call::{Call, Single};
pub(crate) use elementary::Function;
pub use elementary::{Args, Each, Elementary, ElementaryError, Inputs, Outcome, Outputs, Place};
pub(crate) use eval::Calling;
pub use fit::CoreDims;
pub(crate) use fit::Fit;
pub use function::Gufunc;
pub use library::*;
pub use outputs::{Output, Part, Shared, Whole};
pub use request::CallShapes;
pub(crate) use rows::{CoreExtents, CoreRanks, CoreRules, Given, core_calls, of_cores};
pub use signature::Signature;
pub use update::FirstAndRest;

mod sealed {
    /// Lists of element types and of operands are closed.
    #[allow(unnameable_types, reason = "this is what seals the traits")]
    pub trait Sealed {}
}
