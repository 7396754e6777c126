//! What an operation that computes at once would do, in words.
//!
//! Expressions, reductions, scans, windows and segments are lazy, and have a method `explain`. Sorts,
//! products and stencils compute when they are called. With [`explained`](Explain::explained) before the
//! call it computes nothing and says how it would go about it.
//!
//! ```
//! use lensor::explain::Explain;
//! use lensor::lanes::{Lanes, SortOrder::Ascending};
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[3, 1, 2], [6, 4, 5]])?;
//!
//! assert_eq!(t.sort(0, Ascending)?.to_vec()?, [3, 1, 2, 6, 4, 5]);
//! let text = t.explained().sort(0, Ascending)?.to_string();
//! assert!(text.contains("lanes: 3 of 2 elements"));
//! assert!(text.contains("operand: evaluated to scratch memory"));
//! # Ok::<(), Error>(())
//! ```
//!
//! Products of sparse tensors are functions; [`product::explained`](crate::product::explained) has their
//! twins. What gives an expression, as `diff`, `outer` and `stencil` do, is explained by
//! [`Lazy::explain`]. Methods that end in `_to` go about it in the same way, and assign the result where the
//! destination does not lie contiguous in memory.

use crate::expr::{Explanation, Expr, IntoExpr, Lazy};
use crate::storage::Reader;
use crate::tensor::Tensor;

/// An operand whose operations are explained, see the [module](self).
pub trait Explain: IntoExpr + Sized {
    /// This operand with methods that are named as those that compute, take the same arguments and report
    /// the same errors of shapes, but compute nothing and return an [`Explanation`].
    ///
    /// ```
    /// use lensor::explain::Explain;
    /// use lensor::lanes::SortOrder::Ascending;
    /// use lensor::prelude::*;
    /// let t = Tensor::full([100, 8], 1_u8)?;
    /// let text = t.explained().sort(0, Ascending)?.to_string();
    /// assert!(text.contains("each lane: sorted by 1-byte keys, byte by byte"));
    /// # Ok::<(), Error>(())
    /// ```
    fn explained(self) -> Explained<Self::Expr> {
        Explained(Lazy(self.into_expr()))
    }
}

impl<S: Reader> Explain for &Tensor<S> {}
impl<E: Expr> Explain for &Lazy<E> {}

/// An operand that explains instead of computing, see [`Explain::explained`].
///
/// Its methods report errors of axes and shapes as those that compute do, and none of elements, as they read
/// none.
#[derive(Debug, Clone)]
pub struct Explained<E>(pub(super) Lazy<E>);

/// What is done to what, how, by how many threads, and how many bytes are read and written.
pub(super) fn report(
    what: String,
    how: impl IntoIterator<Item = String>,
    threads: usize,
    [read, written]: [usize; 2],
) -> Explanation {
    let mut lines = vec![what];
    lines.extend(how);
    lines.push(format!("threads: {threads}"));
    lines.push(format!("bytes: {read} read, {written} written"));
    Explanation::new(lines, threads)
}
