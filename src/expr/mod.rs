//! Lazy elementwise expressions: operator trees over tensors and scalars.
//!
//! An expression computes nothing until it is evaluated, as one fused loop. A view of it is a view of its leaves.
//!
//! ```
//! use lensor::prelude::*;
//! let a = Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
//! let b = Tensor::from_vec([2], vec![10.0, 20.0])?;
//! let e = (&a * 2.0 + &b).transpose([1, 0])?;
//! assert_eq!(e.eval()?.to_vec()?, [12.0, 16.0, 24.0, 28.0]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod access;
mod apply;
mod arrays;
mod boxed;
mod boxes;
mod deferred;
mod elements;
mod elementwise;
mod eval;
mod explain;
mod implement;
mod lazy;
mod leaf;
mod locate;
mod node;
mod operands;
mod operators;
mod pairs;
mod pieces;
mod prepared;
mod results;
mod rows;
mod scalar;
mod sink;
mod sparse;
mod tables;
mod update;

pub(crate) use crate::kernel::Stop;
pub(crate) use access::{
    Access, BadBlock, MOST_BYTES, block_starts, first_in_block, room, room_of_all,
    starts_of_operand,
};
pub use apply::{Apply, Op};
pub(crate) use boxed::erased;
pub use boxed::{BoxExpr, Boxed};
pub(crate) use boxes::*;
pub use deferred::Prepare;
pub(crate) use deferred::{
    Hold, Missing, SharedResult, deferred_of, defers, prepare, prepare_all, prepared,
};
pub(crate) use elements::{elements_at, fill_all, write_elements};
pub use elementwise::*;
pub(crate) use eval::{UNPLANNED_ELEMENTS, assign_part, is_small, small_elements, small_in_words};
pub use explain::Explanation;
pub(crate) use explain::{NOT_COMPUTED, blocks_at_once, blocks_in_words, bytes_read, densely};
pub use lazy::Lazy;
pub(crate) use locate::explain_rows;
pub(crate) use operands::zip_made;
pub use operands::{IntoOperands, Operands, align, zip_with};
pub use operators::*;
pub use pairs::{IntoExpr, Pairs};
pub use pieces::Pieces;
pub(crate) use pieces::*;
pub(crate) use results::results;
pub(crate) use rows::{
    Block, COPIED, COPIED_BYTES, MIN_READ, RowReader, Rows, TRANSPOSED, lies_across,
    lies_transposed, order_in_memory,
};
pub use scalar::Scalar;
pub(crate) use sink::{failed_at, finish};
pub use sparse::{Densely, ZipStored, zip_stored};
pub(crate) use sparse::{
    Gathered, assign_dense, check_copies, check_operand, check_reads, check_stored,
    deferred_of_stored, for_each_fiber, for_each_stored, goes_by_entries, has_entries,
};
pub(crate) use {implement::*, tables::*, update::update_with};

/// Types that appear in signatures, public only so that these can be spelled. Not part of the interface.
#[doc(hidden)]
pub mod machinery {
    pub use super::apply::{ApplyCursor, ApplyRow};
    pub use super::boxed::{BoxedCursor, BoxedRow};
    pub use super::boxes::Boxes;
    pub use super::deferred::Kept;
    pub use super::leaf::{LeafCursor, LeafRow};
    pub use super::node::{StoredOnly, Worker};
    pub use super::operands::Function;
    pub use super::sparse::{Block, Maps, Share, StoredCursor, StoredLeaf};
    pub use crate::kernel::{Cursor, Dest, Fault, Filled, Local, Place, Row, Steps, Stop, Tile};
}

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::RowOf;
use crate::map::AddressMap;
use crate::shape::Shape;
#[cfg(doc)]
use crate::tensor::Tensor;
use lazy::forward_expr;
use node::{StoredOnly, Worker};
use sparse::StoredCursor;
use std::sync::Arc;

/// A lazy tensor: a tensor, a scalar, or operators over them. Sealed.
///
/// Elementwise functions are in [`Elementwise`]; operators and views are on [`Tensor`] and [`Lazy`].
/// [`BoxExpr`] takes the place of `Box<dyn Expr>`, which cannot be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an expression",
    note = "expressions are tensors, `Lazy` operator trees and scalars; a `&Tensor` becomes one by `.view()`"
)]
pub trait Expr: Send + Sync + sealed::Sealed {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;
    /// The expression at work.
    type Cursor<'a>: StoredCursor<'a, Elem = Self::Elem>
    where
        Self: 'a;
    /// The same expression over borrowed storage, for use more than once.
    type Ref<'a>: Expr<Elem = Self::Elem>
    where
        Self: 'a;

    /// Whether this is a tensor and nothing else.
    #[doc(hidden)]
    // rustc prints the next line where someone writes `Box<dyn Expr>`: its comment is for them.
    const IS_LEAF: bool = false; // For `Box<dyn Expr<Elem = T>>` write `BoxExpr<T>`, made by `.boxed()`.

    /// As [`Self::IS_LEAF`], of boxed expressions too.
    #[doc(hidden)]
    fn is_leaf(&self) -> bool {
        Self::IS_LEAF
    }

    #[doc(hidden)]
    fn stored_only(&self) -> Option<StoredOnly<'_, Self::Elem>> {
        None
    }

    /// The expression with operators, views and methods that compute it.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// fn halved(t: &Tensor<Vec<f64>>) -> impl Expr<Elem = f64> {
    ///     t * 0.5
    /// }
    /// let t = Tensor::from(vec![1.0, 2.0]);
    /// assert_eq!((halved(&t).lazy() + 1.0).eval()?.to_vec()?, [1.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn lazy(self) -> Lazy<Self>
    where
        Self: Sized,
    {
        Lazy(self)
    }

    /// Borrows every leaf.
    fn by_ref(&self) -> Self::Ref<'_>;

    /// Joint shape of the leaves.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if they do not align, and what else a part of the expression carries.
    fn shape(&self) -> Result<Shape>;

    /// Whether this is known to stretch to `shape`: it has that shape, or is a scalar.
    #[doc(hidden)]
    fn fits(&self, shape: &Shape) -> bool;

    /// Calls `visit` with every leaf that has a map, in the order of binding.
    #[doc(hidden)]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>));

    /// The elements and the map of an expression that is a tensor in memory and nothing else.
    #[doc(hidden)]
    fn in_memory(&self) -> Option<(&[Self::Elem], &AddressMap)> {
        None
    }

    /// The result and the map of an expression that is a view of a deferred operation and nothing else, while an evaluation
    /// holds the result.
    #[doc(hidden)]
    fn held(&self) -> Option<(Arc<Vec<Self::Elem>>, &AddressMap)> {
        None
    }

    /// Changes the map of every leaf. After an error the expression has no meaning.
    #[doc(hidden)]
    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()>;

    /// A cursor that evaluates tiles.
    #[doc(hidden)]
    fn cursor(&self) -> Self::Cursor<'_>;

    /// All elements in row-major order, if every leaf is memory that has just `count` of them in order. Parts of it may be
    /// of any length.
    #[doc(hidden)]
    #[inline(always)]
    fn row_in_order(&self, count: usize) -> Option<RowOf<'_, Self::Cursor<'_>>> {
        let _ = count;
        None
    }

    /// [`Self::cursor`], its type erased.
    #[doc(hidden)]
    fn worker(&self) -> Worker<'_, Self::Elem> {
        Worker::new(self.cursor())
    }

    /// Number of leaves, counted with repeats, or `usize::MAX`.
    #[doc(hidden)]
    fn leaf_count(&self) -> usize;

    /// Calls `visit` with every leaf that is a deferred operation, left to right. They are computed before the
    /// expression is.
    #[doc(hidden)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        let _ = visit;
    }

    /// Boxes within boxes, at the deepest.
    #[doc(hidden)]
    fn depth(&self) -> usize {
        0
    }
}

/// What an evaluation knows of a leaf besides its elements.
#[derive(Debug, Clone)]
pub struct Leaf<'a> {
    pub(crate) map: &'a AddressMap,
    pub(crate) elem_bytes: usize,
    pub(crate) access: Access,
}

impl Leaf<'_> {
    /// Entries that the storage holds, if it is sparse.
    pub(crate) fn stored(&self) -> usize {
        match self.access {
            Access::Stored { count } => count,
            _ => 0,
        }
    }

    /// The same, each as often as `len` elements of a view of the leaf repeat it.
    pub(crate) fn stored_in(&self, len: usize) -> usize {
        let repeats = len / self.map.span().len().max(1);
        self.stored().saturating_mul(repeats.max(1))
    }
}

pub(crate) mod sealed {
    /// Kinds of expressions are closed: kernels rely on what they know of them.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Sealed {}
}
