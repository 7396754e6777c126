//! Gufuncs of ragged operands: loops over rows, and cores that are rows.

mod arguments;
mod destinations;
mod kinds;
mod operand;
mod outputs;
mod places;
mod plan;
mod request;
mod work;

pub use arguments::{Held, IntoRaggedArguments, RaggedArguments};
pub use destinations::{RaggedDestination, RaggedDestinations};
pub use outputs::{OutputRows, SharedRagged, WholeRagged};
pub use places::{Places, RaggedResults};

use super::Stretch;
use super::expr::{IntoRagged, RaggedExpr};
use super::form::Extent;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Explanation, Scalar};
use crate::gufunc::{Call, Elementary, Gufunc, Inputs, Outputs};
use arguments::CallMask;
use request::Request;
use std::fmt;

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Gufunc<I, O, F> {
    /// A call with ragged operands: a tuple of them, or an array of operands of one type. Computes nothing yet.
    ///
    /// Axes in front of the core axes are those of a loop, which join as those of any ragged operands. The first core axis
    /// of an operand may be its last var axis: each call then has the extents of its row, and results whose core
    /// dimensions follow from it are var.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::gufunc::{convolve_full, minmax};
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1.0, 2.0], vec![3.0]])?;
    /// let [smoothed] = convolve_full().call_ragged((&r, Tensor::from(vec![1.0, 1.0]))).eval()?;
    /// assert_eq!(smoothed.to_string(), "[[1, 3, 2], [3, 3]]");
    ///
    /// // Results are operands, each computed by the one call.
    /// let [least, most] = minmax().call_ragged([&r]).outputs();
    /// assert_eq!((most - least).eval()?.to_string(), "[1, 0]");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn call_ragged<X: IntoRaggedArguments<I>>(
        &self,
        operands: X,
    ) -> RaggedCall<I, O, F, X::Arguments> {
        RaggedCall(self.call_of(operands.into_arguments()))
    }
}

/// A call of a gufunc with ragged operands, not computed yet: with operands `X` and, if there is one, a mask `M`.
///
/// With one output it is an operand itself; with several, [`Self::outputs`] are.
#[must_use = "nothing is computed before it is asked for"]
pub struct RaggedCall<I, O: Outputs, F, X, M = Scalar<bool>>(Call<I, O, F, X, M>);

impl<I, O: Outputs, F, X: Clone, M: Clone> Clone for RaggedCall<I, O, F, X, M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I, O: Outputs, F, X, M> fmt::Debug for RaggedCall<I, O, F, X, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RaggedCall").field(&self.0).finish()
    }
}

impl<I, O: Outputs, F, X, M> RaggedCall<I, O, F, X, M> {
    /// The core axes of each argument, as [`Call::axes`]. Nothing crosses a var axis.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::prelude::*;
    /// use lensor::ragged::{Offsets, Ragged};
    /// let pairs = Tensor::from_nested([[[3.0, 0.0], [4.0, 2.0]]])?;
    /// let r = Ragged::new([2], Offsets::new(vec![0_u32, 1, 1])?, pairs)?;
    /// let [lengths] = norm().call_ragged([&r]).axes([[2]]).eval()?;
    /// assert_eq!(lengths.to_string(), "[[[5, 2]], []]");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axes<L: AsRef<[isize]>>(self, axes: impl IntoIterator<Item = L>) -> Self {
        Self(self.0.axes(axes))
    }

    /// The core axis of all arguments, as [`Call::axis`].
    pub fn axis(self, axis: isize) -> Self {
        Self(self.0.axis(axis))
    }

    /// Keeps the core axes of the inputs in results that have none of their own, with extent 1.
    pub fn keepdims(self) -> Self {
        Self(self.0.keepdims())
    }

    /// The elements of results that the mask leaves out, one value for each output.
    pub fn or(self, values: O::Elems) -> Self {
        Self(self.0.or(values))
    }
}

impl<I, O: Outputs, F, X> RaggedCall<I, O, F, X> {
    /// Makes only the calls where `mask`, which stretches to the rows of the loop, is true. Elsewhere destinations
    /// keep what they have, or get the values of [`Self::or`]. A call has one mask: several are joined by `&`.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::gufunc::norm;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 4.0], vec![], vec![5.0]])?;
    /// let [lengths] = norm().call_ragged([&r]).filter(r.count_nonzero(1).greater(0)).or([-1.0]).eval()?;
    /// assert_eq!(lengths.to_string(), "[5, -1, 5]");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter<N>(self, mask: N) -> RaggedCall<I, O, F, X, N::Expr>
    where
        N: IntoRagged<Elem = bool>,
    {
        RaggedCall(self.0.filtered(mask.into_ragged_expr()))
    }
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>, X: RaggedArguments<I>, M: RaggedExpr<Elem = bool>>
    RaggedCall<I, O, F, X, M>
{
    /// What the axes of each result are; rows are not looked at. Core axes that follow from rows, or that the function
    /// gives extents to where operands have rows, are var.
    ///
    /// # Errors
    ///
    /// What the operands carry, [`Error::CoreRank`], [`Error::CoreAxes`], [`Error::RaggedAxes`] for a var axis that is
    /// not the first core axis, or that others cross, [`Error::CoreExtent`], [`Error::Operands`],
    /// [`Error::CoreUnknown`] or [`Error::CoreComputed`].
    ///
    /// ```
    /// use lensor::gufunc::{norm, sort};
    /// use lensor::ragged::{Extent, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3.0_f64, 4.0], vec![1.0]])?;
    /// assert_eq!(sort().call_ragged([&r]).extents()?, [[Extent::Fixed(2), Extent::Var]]);
    /// assert_eq!(norm().call_ragged([&r]).extents()?, [[Extent::Fixed(2)]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn extents(&self) -> Result<Vec<Vec<Extent>>> {
        Ok(self.request().own_kinds()?.results)
    }

    /// Computes all results: a ragged tensor for each output, in a tuple or an array.
    ///
    /// # Errors
    ///
    /// What [`Self::extents`] reports; [`Error::MaskedOutput`] for a mask without values by [`Self::or`];
    /// [`Error::RaggedOperands`] for loops that do not join, [`Error::CoreExtent`] with
    /// the first row where extents differ, [`Error::CoreComputed`]; what computing operands and mask reports;
    /// [`Error::Elementary`] with the first index of the loop at which the function failed; [`Error::OutOfMemory`].
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::minmax;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0_f64, 1.0, 2.0], vec![5.0]])?;
    /// let [least, most] = minmax().call_ragged([&r]).eval()?;
    /// assert_eq!((least.to_vec()?, most.to_vec()?), (vec![1.0, 5.0], vec![3.0, 5.0]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn eval(&self) -> Result<<O::Tensors as RaggedResults>::Ragged>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        self.eval_with(Stretch::Rows)
    }

    /// As [`Self::eval`], with a say in which lengths of 1 stretch along the axes of the loop.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`].
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    pub fn eval_with(&self, stretch: Stretch) -> Result<<O::Tensors as RaggedResults>::Ragged>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        self.request().eval(stretch)
    }

    /// Computes all results into existing tensors or views of any storage with a writer, ragged or dense, of just the
    /// rows of the results: a tuple or an array of them, or one alone. What a mask leaves out stays as it is there,
    /// without values by [`Self::or`]: it is read, and written again. Core axes of destinations that are not
    /// var give extents to core dimensions that are in no input.
    ///
    /// # Errors
    ///
    /// Before anything is written: what [`Self::eval`] reports, but for [`Error::MaskedOutput`];
    /// [`Error::Destination`] and [`Error::RowLength`] for a destination of other rows than the result,
    /// [`Error::OverlappingRows`] and [`Error::NotInjective`] if an item would be written twice. Then
    /// [`Error::Storage`] if the storage of a destination fails, and [`Error::OutOfMemory`]; some are partly written.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::gufunc::{minmax, sort};
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 1.0, 2.0], vec![], vec![5.0, 4.0]])?;
    /// let filled = r.count_nonzero(1).greater(0);
    /// let (mut least, mut most) = (Tensor::full([3], 0.0)?, Tensor::full([3], 9.0)?);
    /// minmax().call_ragged([&r]).filter(&filled).assign_to((&mut least, &mut most))?;
    /// assert_eq!(least.to_vec()?, [1.0, 0.0, 4.0]);
    /// assert_eq!(most.to_vec()?, [3.0, 9.0, 5.0]);
    ///
    /// let mut sorted = Ragged::from_nested(vec![vec![0.0; 3], vec![], vec![0.0; 2]])?;
    /// sort().call_ragged([&r]).assign_to(&mut sorted)?;
    /// assert_eq!(sorted.to_string(), "[[1, 2, 3], [], [4, 5]]");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assign_to<D: RaggedDestinations<O>>(&self, mut outs: D) -> Result<()>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        let request = self.request();
        let kinds = request.kinds(&outs.extents())?;
        let (results, made) = request.assigned(&kinds, &mut |places| outs.accept(places))?;
        outs.write_all(results, made)
    }

    /// Says in a few lines how it would be computed: signature, loop, calls and the extents of their cores.
    ///
    /// # Errors
    ///
    /// What [`Self::extents`] reports, and what joining lengths does.
    pub fn explain(&self) -> Result<Explanation> {
        self.request().explain()
    }

    /// The call without the types of its function, operands and mask.
    fn request(&self) -> Request<'_, I, O> {
        let mask = self.0.mask.as_ref().map(|mask| mask as &dyn CallMask);
        let (rules, function) = (self.0.core_rules(), self.0.function());
        Request { rules, function, operands: &self.0.operands, mask, or: self.0.or }
    }
}
