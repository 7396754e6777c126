//! Lazy elementwise expressions: operator trees over tensors and scalars.
//!
//! An expression computes nothing until it is evaluated, as one fused loop. A view of it is a view of its leaves.
//!
//! ```
//! use lensor::prelude::*;
//! let a = Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
//! let b = Tensor::from_vec([2], vec![10.0, 20.0])?;
//! let e = (&a * 2.0 + &b).transpose(&[1, 0])?;
//! assert_eq!(e.eval()?.to_vec()?, [12.0, 16.0, 24.0, 28.0]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod access;
mod apply;
mod arrays;
mod boxed;
mod deferred;
mod elements;
mod elementwise;
mod eval;
mod explain;
mod leaf;
mod locate;
mod node;
mod operands;
mod operators;
mod pairs;
mod pieces;
mod prepared;
mod rows;
mod scalar;
mod sink;
mod sparse;
mod tables;
mod update;

pub(crate) use crate::kernel::Stop;
pub(crate) use access::Access;
pub use apply::{Apply, Op};
pub(crate) use boxed::erased;
pub use boxed::{BoxExpr, Boxed};
pub use deferred::Prepare;
pub(crate) use deferred::{Missing, prepare, prepare_all};
pub(crate) use elements::{elements_at, failed_at, fill_all, write_elements};
pub use elementwise::*;
pub(crate) use eval::{SMALL, are_small, for_each_block, is_small, small_elements};
pub use explain::Explanation;
pub(crate) use explain::{NOT_COMPUTED, SMALL_WORDS, bytes_read, densely};
pub(crate) use locate::explain_rows;
pub use operands::{IntoOperands, Operands, align, zip_with};
pub use operators::*;
pub use pairs::{IntoExpr, Pairs};
pub use pieces::Pieces;
pub(crate) use pieces::*;
pub(crate) use rows::{RowReader, Rows};
pub use scalar::Scalar;
pub(crate) use sparse::for_each_stored;
pub use sparse::{Densely, ZipStored, zip_stored};
pub(crate) use {tables::*, update::update_with};

/// What evaluates expressions, named so that their types can be written down. Not for use.
#[doc(hidden)]
pub mod machinery {
    pub use super::apply::{ApplyCursor, ApplyRow};
    pub use super::boxed::{BoxedCursor, BoxedRow};
    pub use super::deferred::Kept;
    pub use super::leaf::{LeafCursor, LeafRow};
    pub use super::node::{StoredOnly, Worker};
    pub use super::operands::Function;
    pub use super::pieces::Boxes;
    pub use super::sparse::{Block, Share, StoredCursor, StoredLeaf};
    pub use crate::kernel::{Cursor, Dest, Fault, Filled, Local, Place, Row, Steps, Stop, Tile};
}

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::map::AddressMap;
use crate::shape::{Align, Shape};
use crate::tensor::Tensor;
use node::{StoredOnly, Worker};
use sparse::StoredCursor;

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
    const IS_LEAF: bool = false; // For `Box<dyn Expr<Elem = T>>` write `BoxExpr<T>`, made by `.boxed()`.

    /// Whether it evaluates as a tensor and nothing else does.
    #[doc(hidden)]
    fn is_leaf(&self) -> bool {
        Self::IS_LEAF
    }

    #[doc(hidden)]
    fn stored_only(&self) -> Option<StoredOnly<'_, Self::Elem>> {
        None
    }

    /// Borrows every leaf.
    fn by_ref(&self) -> Self::Ref<'_>;

    /// Joint shape of the leaves.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if they do not align, and what else a part of the expression carries.
    fn shape(&self) -> Result<Shape>;

    /// Whether the joint shape is known to be `shape`.
    #[doc(hidden)]
    fn is_shaped(&self, shape: &Shape) -> bool;

    /// Calls `visit` with every leaf that has a map, in the order of binding.
    #[doc(hidden)]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>));

    /// The elements and the map of an expression that is a tensor in memory and nothing else.
    #[doc(hidden)]
    fn in_memory(&self) -> Option<(&[Self::Elem], &AddressMap)> {
        None
    }

    /// Changes the map of every leaf.
    #[doc(hidden)]
    fn rewrite(self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<Self>
    where
        Self: Sized;

    /// A worker that evaluates tiles.
    #[doc(hidden)]
    fn cursor(&self) -> Self::Cursor<'_>;

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

    /// Whether some leaf is a deferred operation.
    #[doc(hidden)]
    fn defers(&self) -> bool {
        false
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
}

pub(crate) mod sealed {
    /// Kinds of expressions are closed: kernels rely on what they know of them.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Sealed {}
}

/// An expression with operators and views: `Lazy<impl Expr<Elem = f64>>` is how a function returns one.
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct Lazy<E>(pub(crate) E);

impl<E: Expr> Lazy<E> {
    crate::tensor::views::view_operations!();

    /// Anything that can stand as an operand, a scalar for example, as an expression.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let half: BoxExpr<f64> = Lazy::new(0.5).boxed();
    /// assert_eq!((half + 1.0).eval()?.item()?, 1.5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new<X: IntoExpr<Expr = E>>(operand: X) -> Self {
        Self(operand.into_expr())
    }

    /// Joint shape of the operands.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if they do not align, and what else a part of the expression carries.
    pub fn shape(&self) -> Result<Shape> {
        self.0.shape()
    }

    /// Computes all elements, in row-major order, into a new tensor.
    ///
    /// # Errors
    ///
    /// The error that the expression carries, if its operands do not align; [`Error::Cast`] and
    /// [`Error::Arithmetic`] with the first failing index; [`Error::Storage`] if a storage fails;
    /// [`Error::OutOfMemory`] if the result cannot be kept.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([2], vec![1.0, 2.0])?;
    /// let e = (&t + 1.0) * &t;
    /// assert_eq!(e.eval()?.to_vec()?, [2.0, 6.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn eval(&self) -> Result<Tensor<Vec<E::Elem>>> {
        eval::eval(&self.0)
    }

    /// Computes all elements into an existing tensor or view of any storage with a writer.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`], and [`Error::Destination`] if the shapes differ, [`Error::NotInjective`] if
    /// two indexes of the destination share an address. After an error the destination is partly
    /// written.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([2], vec![1, 2])?;
    /// let mut out = Tensor::full([2, 2], 0)?;
    /// (&t * 10).assign_to(&mut out.view_mut().select((1,))?)?;
    /// assert_eq!(out.to_vec()?, [0, 0, 10, 20]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign_to<W: crate::Writer<Elem = E::Elem>>(&self, out: &mut Tensor<W>) -> Result<()> {
        let (map, storage) = out.parts_mut();
        eval::assign(&self.0, map, storage)
    }

    /// Erases the type of the expression, so that different ones fit in a `Vec`.
    ///
    /// Boxes nest up to 100 deep, as each level needs stack to evaluate. A deeper expression carries
    /// [`Error::TooDeep`], as it would a shape error: evaluate a part of it and go on from the result. The
    /// same holds for more than 65,536 leaves, counted with repeats, and [`Error::TooManyLeaves`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let mut sum = Tensor::from_vec([2], vec![0, 1])?.lazy().boxed();
    /// for k in 1..=150 {
    ///     sum = (sum + k).boxed();
    ///     if k % 50 == 0 {
    ///         sum = sum.eval()?.lazy().boxed();
    ///     }
    /// }
    /// assert_eq!(sum.eval()?.to_vec()?, [11325, 11326]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn boxed<'a>(self) -> BoxExpr<'a, E::Elem>
    where
        E: 'a,
    {
        boxed::boxed(self.0)
    }

    /// Says in a few lines how the expression would be evaluated: stages, loops, operands, threads and bytes.
    ///
    /// # Errors
    ///
    /// The error that the expression carries.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let a = Tensor::from_vec([2, 3], vec![0_u8; 6])?;
    /// let text = (a.cast::<f32>() / 255.0).explain()?.to_string();
    /// assert!(text.ends_with("bytes: 6 read, 24 written"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn explain(&self) -> Result<Explanation> {
        explain::explain(&self.0)
    }

    /// A change of every leaf's map, all brought to the joint shape first.
    fn rewrite(self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<Self> {
        let joint = self.0.shape()?;
        let inner = self.0.rewrite(&mut |map| change(map.stretch(&joint, Align::Right)?))?;
        Ok(Self(inner))
    }
}

impl<E: Expr> sealed::Sealed for Lazy<E> {}

impl<E: Expr> Expr for Lazy<E> {
    const IS_LEAF: bool = E::IS_LEAF;
    type Elem = E::Elem;
    type Cursor<'a>
        = E::Cursor<'a>
    where
        E: 'a;
    type Ref<'a>
        = Lazy<E::Ref<'a>>
    where
        E: 'a;

    fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    fn stored_only(&self) -> Option<StoredOnly<'_, E::Elem>> {
        self.0.stored_only()
    }

    fn by_ref(&self) -> Lazy<E::Ref<'_>> {
        Lazy(self.0.by_ref())
    }

    fn shape(&self) -> Result<Shape> {
        self.0.shape()
    }

    #[inline]
    fn is_shaped(&self, shape: &Shape) -> bool {
        self.0.is_shaped(shape)
    }

    #[inline]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.0.leaves(visit);
    }

    #[inline]
    fn in_memory(&self) -> Option<(&[E::Elem], &AddressMap)> {
        self.0.in_memory()
    }

    fn rewrite(self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<Self> {
        Ok(Self(self.0.rewrite(change)?))
    }

    fn cursor(&self) -> E::Cursor<'_> {
        self.0.cursor()
    }

    fn worker(&self) -> Worker<'_, E::Elem> {
        self.0.worker()
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.0.deferred(visit);
    }

    #[inline]
    fn defers(&self) -> bool {
        self.0.defers()
    }

    fn leaf_count(&self) -> usize {
        self.0.leaf_count()
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }
}
