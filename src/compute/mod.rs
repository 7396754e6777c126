//! Operations whose result is one tensor, not computed yet.
//!
//! A [`Deferred`] is what operations with one dense result give, such as folds and scans; the [root](crate#views) has a
//! table of them. It is computed by [`Deferred::eval`] or [`Deferred::assign_to`], or as an operand: it may stand
//! wherever an operand of an expression may.
//!
//! ```
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[1.0, 2.0], [3.0, 6.0]])?;
//! assert_eq!(t.sum(0).eval()?.to_vec()?, [4.0, 8.0]);
//! assert_eq!((&t - t.mean(0)).eval()?.to_vec()?, [-1.0, -2.0, 1.0, 2.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # As an operand
//!
//! Within one evaluation an operation, its clones and its references are computed once, by the calling thread,
//! before anything that reads them, from left to right. All of it is computed, even if a view shows a part.
//! The result is dropped when the evaluation ends: call [`Deferred::eval`] to keep it. An error of the operation
//! carries the index in its own result, and comes before any of the expression that reads it.

mod boxes;
mod operators;
mod pending;

use boxes::assign_in_boxes;
pub(crate) use operators::{for_operands, reads};
pub use pending::Pending;

use crate::error::{Error, Result};
use crate::expr::machinery::Kept;
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, Explanation, IntoExpr, Lazy, NOT_COMPUTED, Prepare, SharedResult, prepared, results,
};
use crate::kernel::{Filled, inner};
use crate::map::AddressMap;
use crate::memory::forward;
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An operation with one dense result whose shape follows from shapes. Sealed.
///
/// Operations of this library implement it; [`Deferred`] gives them evaluation, assignment, threads and use as an
/// operand.
pub trait Compute: Send + Sync + Sealed {
    /// Type of the results.
    type Elem: Copy + Send + Sync;

    /// Shape of the result.
    ///
    /// # Errors
    ///
    /// What shapes alone can cause.
    fn shape(&self) -> Result<Shape>;

    /// Where each result lies in the order of computation: row-major unless another one costs less.
    #[doc(hidden)]
    fn layout(&self) -> Result<AddressMap> {
        AddressMap::of_shape(self.shape().as_ref().map_err(Error::copy)?)
    }

    /// Calls `visit` with the deferred operations that this one reads.
    #[doc(hidden)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    /// Refuses very many elements of sparse operands that would be read one by one, in boxes as in one.
    #[doc(hidden)]
    fn check_reads(&self) -> Result<()> {
        Ok(())
    }

    /// Boxes within one another in its operands, whose computation needs stack.
    #[doc(hidden)]
    fn depth(&self) -> usize;

    /// Computes all results, in the order of [`Self::layout`], to `out`. What [`Self::deferred`] visits is computed.
    #[doc(hidden)]
    fn fill(&self, out: &mut [MaybeUninit<Self::Elem>]) -> Result<Filled>;

    /// Computes all results into a vector.
    #[doc(hidden)]
    fn collect(&self, count: usize) -> Result<Vec<Self::Elem>> {
        inner::collect(count, |out| self.fill(out))
    }

    /// The single result, if it can be computed without a plan; otherwise `None`.
    #[doc(hidden)]
    fn only(&self) -> Result<Option<Self::Elem>> {
        Ok(None)
    }

    /// Boxes of about `limit` results that can be computed one after another: the whole, unless said otherwise.
    #[doc(hidden)]
    fn boxes(&self, _limit: usize) -> Result<Boxes> {
        Ok(Boxes::new(self.shape()?, usize::MAX))
    }

    /// Computes the results of one of [`Self::boxes`], a range per axis and whole axes beyond. Errors of elements have
    /// their index of the operand, as where all is computed.
    #[doc(hidden)]
    fn eval_box(&self, _ranges: &[Range<usize>]) -> Result<Tensor<Vec<Self::Elem>>> {
        let map = self.layout()?;
        let data = self.collect(map.count())?;
        Ok(Tensor::from_parts(map, data))
    }

    /// How it would be computed, in words.
    ///
    /// # Errors
    ///
    /// What [`Self::shape`] reports, [`Error::OutOfMemory`] for tables of a plan, and of sparse products
    /// [`Error::NotSparse`] and [`Error::FillNotZero`].
    fn explain(&self) -> Result<Explanation>;
}

impl<C: Compute + ?Sized> Sealed for &C {}

impl<C: Compute + ?Sized> Compute for &C {
    type Elem = C::Elem;

    forward! {
        ref shape() -> Result<Shape>;
        ref layout() -> Result<AddressMap>;
        ref check_reads() -> Result<()>;
        ref depth() -> usize;
        ref fill(out: &mut [MaybeUninit<C::Elem>]) -> Result<Filled>;
        ref collect(count: usize) -> Result<Vec<C::Elem>>;
        ref only() -> Result<Option<C::Elem>>;
        ref boxes(limit: usize) -> Result<Boxes>;
        ref eval_box(ranges: &[Range<usize>]) -> Result<Tensor<Vec<C::Elem>>>;
        ref explain() -> Result<Explanation>;
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        (**self).deferred(visit);
    }
}

/// An operation, not computed yet; see the [module](self).
#[must_use = "nothing is computed before it is asked for"]
pub struct Deferred<C: Compute> {
    pub(crate) operation: C,
    /// Where clones and operands find the result of a running evaluation. Made when first asked for.
    shared: OnceLock<Arc<SharedResult<Vec<C::Elem>>>>,
}

impl<C: Compute + Clone> Clone for Deferred<C> {
    fn clone(&self) -> Self {
        Self { operation: self.operation.clone(), shared: OnceLock::from(self.shared()) }
    }
}

impl<C: Compute + fmt::Debug> fmt::Debug for Deferred<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deferred").field(&self.operation).finish()
    }
}

/// What it is, and how to compute it; computes nothing.
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::full([64, 100], 1.0)?;
/// assert!(t.sum(0).to_string().ends_with("not computed yet: `.eval()?` computes it"));
/// # Ok::<(), Error>(())
/// ```
impl<C: Compute> fmt::Display for Deferred<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.explain() {
            Ok(how) => write!(f, "{}, {NOT_COMPUTED}", how.lines().first().map_or("", |line| line)),
            Err(error) => {
                let element = std::any::type_name::<C::Elem>();
                write!(f, "operation of {element} without a result: {error}")
            }
        }
    }
}

impl<C: Compute> Deferred<C> {
    pub(crate) fn new(operation: C) -> Self {
        Self { operation, shared: OnceLock::new() }
    }

    fn shared(&self) -> Arc<SharedResult<Vec<C::Elem>>> {
        self.shared.get_or_init(Arc::default).clone()
    }

    /// What the deferred operations that it reads compute, if it has results and is not refused.
    fn results_of_leaves(&self, count: usize) -> Result<Kept<'_>> {
        if count > 0 {
            self.operation.check_reads()?;
        }
        prepared(count > 0, &mut |visit| self.operation.deferred(visit))
    }

    results!(C::Elem, Pending<&C>, |deferred, out| {
        shape: deferred.operation.shape(),
        #[inline(never)]
        eval: {
            // Read where it was made: moving it just after takes longer.
            let made = deferred.operation.layout();
            let map = made.as_ref().map_err(Error::copy)?;
            let _results_of_leaves = deferred.results_of_leaves(map.count())?;
            let data = deferred.operation.collect(map.count())?;
            Ok(Tensor::from_parts(made?, data))
        },
        to_vec: Ok(deferred.eval()?.into_contiguous()?.into_storage()),
        only: deferred.operation.only()?,
        assign_to: {
            let layout = deferred.operation.layout()?;
            if layout.shape() != out.shape() {
                return Lazy(deferred.into_expr()).assign_to(out);
            }
            let (map, storage) = out.parts_mut();
            let span = map.span();
            if layout == map.clone().moved_down(span.start)?
                && let Some(slice) = storage.as_mut_slice().and_then(|slice| slice.get_mut(span))
            {
                let _results_of_leaves = deferred.results_of_leaves(layout.count())?;
                return deferred.operation.fill(inner::slots(slice)).map(drop);
            }
            out.address_map().check_injective()?;
            let _results_of_leaves = deferred.results_of_leaves(layout.count())?;
            assign_in_boxes(&deferred.operation, &layout, out)
        },
        explain: deferred.operation.explain(),
        view: deferred.into_expr(),
    });

    /// The result as an expression, to be viewed, boxed and computed with.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 6.0]])?;
    /// let either: [BoxExpr<f64>; 2] = [t.sum(0).lazy().boxed(), t.mean(1).lazy().boxed()];
    /// assert_eq!(either[1].to_vec()?, [1.5, 4.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn lazy(self) -> Lazy<Pending<C>> {
        Lazy(self.into_expr())
    }

    fn rewrite(
        self,
        change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<Lazy<Pending<C>>> {
        self.lazy().rewrite(change)
    }

    crate::tensor::views::view_operations!(Lazy<Pending<C>>);
}

impl<C: Compute> IntoExpr for Deferred<C> {
    type Elem = C::Elem;
    type Expr = Pending<C>;

    fn into_expr(self) -> Pending<C> {
        let shared = self.shared();
        Pending::new(self.operation, shared)
    }
}

impl<'a, C: Compute> IntoExpr for &'a Deferred<C> {
    type Elem = C::Elem;
    type Expr = Pending<&'a C>;

    fn into_expr(self) -> Pending<&'a C> {
        Pending::new(&self.operation, self.shared())
    }
}
