//! Calls of one output as ragged operands.

use super::RaggedCall;
use super::arguments::RaggedArguments;
use crate::dtype::{Arithmetic, Bits, Signed};
use crate::error::Result;
use crate::expr::*;
use crate::gufunc::{Elementary, Inputs, Outputs, Single};
use crate::ragged::compare::comparisons;
use crate::ragged::deferred::{DeferredRagged, PendingRagged, RaggedCompute};
use crate::ragged::expr::{IntoRagged, LazyRagged, PairsRagged, RaggedExpr};
use crate::ragged::form::{Extent, Form};
use crate::ragged::{ApplyRagged, ElementwiseRagged, LanesRagged, ReduceRagged};
use crate::ragged::{Ragged, Stretch, sealed};
use crate::tensor::Tensor;
use std::fmt;

impl<I, O: Single, F, X, M> sealed::Operation for RaggedCall<I, O, F, X, M> {}

impl<I: Inputs, O: Single, F: Elementary<I, O>, X: RaggedArguments<I>, M: RaggedExpr<Elem = bool>>
    RaggedCompute for RaggedCall<I, O, F, X, M>
{
    type Elem = O::Elem;

    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(Self::extents(self)?.swap_remove(0))
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        self.request().form_of(0, stretch)
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<O::Elem>>> {
        let (vectors, places) = self.request().results(stretch)?;
        let result = places.place(0, O::only(vectors))?;
        if result.is_packed()? { Ok(result) } else { result.lazy().eval() }
    }

    fn explain(&self) -> Result<Explanation> {
        Self::explain(self)
    }
}

impl<I: Inputs, O: Single, F: Elementary<I, O>, X: RaggedArguments<I>, M: RaggedExpr<Elem = bool>>
    RaggedCall<I, O, F, X, M>
{
    /// The result as a deferred operation, which has views, operators and all that takes ragged operands.
    pub fn deferred(self) -> DeferredRagged<Self> {
        DeferredRagged::new(self)
    }

    /// The result as an expression.
    pub fn lazy(self) -> LazyRagged<PendingRagged<Self>> {
        self.deferred().lazy()
    }

    /// As [`Self::lazy`], of a reference, to be viewed more than once.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::ragged::{Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![3.0, 4.0], vec![], vec![2.0]])?;
    /// let norms = norm().call_ragged([&r]);
    /// assert_eq!(norms.view().flip(0)?.to_vec()?, [2.0, 0.0, 5.0]);
    /// assert_eq!(norms.view().max(0).to_vec()?, [5.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn view(&self) -> LazyRagged<PendingRagged<&Self>> {
        DeferredRagged::new(self).lazy()
    }

    /// The lengths of all rows of the result, which is not computed.
    ///
    /// # Errors
    ///
    /// What [`Self::extents`](RaggedCall::extents) reports, and what joining lengths does.
    ///
    /// ```
    /// use lensor::gufunc::sort;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 4.0], vec![], vec![2.0]])?;
    /// let sorted = sort().call_ragged([&r]);
    /// assert_eq!(sorted.form()?.lengths(1)?, [2, 0, 1]);
    /// assert_eq!(sorted.select((0, 1))?.item(), Ok(4.0));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn form(&self) -> Result<Form> {
        DeferredRagged::new(self).form()
    }

    /// Computes the items of the result, row after row.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`](RaggedCall::eval).
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 4.0], vec![], vec![2.0]])?;
    /// assert_eq!(norm().call_ragged([&r]).to_vec()?, [5.0, 0.0, 2.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn to_vec(&self) -> Result<Vec<O::Elem>> {
        DeferredRagged::new(self).to_vec()
    }

    /// Computes the only element of the result.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`](RaggedCall::eval), and [`Error::NotSingle`](crate::Error::NotSingle) if there are more or none.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 4.0]])?;
    /// assert_eq!(norm().call_ragged([&r]).item(), Ok(5.0));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn item(&self) -> Result<O::Elem> {
        DeferredRagged::new(self).item()
    }

    /// Computes the result into a tensor, if no axis of it is var.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`](RaggedCall::eval), and [`Error::RaggedAxes`](crate::Error::RaggedAxes) if an axis is var, before
    /// anything is computed.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    pub fn eval_dense(&self) -> Result<Tensor<Vec<O::Elem>>> {
        DeferredRagged::new(self).eval_dense()
    }
}

/// What it is, and how to compute it; computes nothing.
impl<I, O: Outputs, F, X, M> fmt::Display for RaggedCall<I, O, F, X, M>
where
    Self: RaggedCompute,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&DeferredRagged::new(self), f)
    }
}

comparisons!(
    [I: Inputs, O: Single, F: Elementary<I, O>, H: RaggedArguments<I>, M: RaggedExpr<Elem = bool>]
        RaggedCall<I, O, F, H, M>, O::Elem
);

impl<I, O: Outputs, F, X, M> IntoRagged for RaggedCall<I, O, F, X, M>
where
    Self: RaggedCompute,
{
    type Elem = <Self as RaggedCompute>::Elem;
    type Expr = PendingRagged<Self>;

    fn into_ragged_expr(self) -> Self::Expr {
        DeferredRagged::new(self).into_ragged_expr()
    }
}

impl<I, O: Outputs, F, X, M> IntoRagged for &RaggedCall<I, O, F, X, M>
where
    RaggedCall<I, O, F, X, M>: RaggedCompute,
{
    type Elem = <RaggedCall<I, O, F, X, M> as RaggedCompute>::Elem;
    type Expr = PendingRagged<Self>;

    fn into_ragged_expr(self) -> Self::Expr {
        DeferredRagged::new(self).into_ragged_expr()
    }
}

pairs! {
    [PairsRagged IntoRagged into_ragged_expr]
    [] [I, O: Outputs, F, X, M] RaggedCall<I, O, F, X, M>;
    ['a] [I, O: Outputs, F, X, M] &'a RaggedCall<I, O, F, X, M>;
}

/// Implements traits for calls of one output.
macro_rules! for_calls {
    ($($Trait:ident)*) => { $(
        impl<I, O: Outputs, F, X, M> $Trait for RaggedCall<I, O, F, X, M> where Self: IntoRagged {}
        impl<I, O: Outputs, F, X, M> $Trait for &RaggedCall<I, O, F, X, M> where Self: IntoRagged {}
    )* };
}
for_calls!(ElementwiseRagged LanesRagged ReduceRagged);

operators! {
    [LazyRagged ApplyRagged RaggedExpr PairsRagged]
    [I: Inputs, O: Single, F: Elementary<I, O>, X: RaggedArguments<I>, M: RaggedExpr<Elem = bool>]
        RaggedCall<I, O, F, X, M> => PendingRagged<RaggedCall<I, O, F, X, M>>, |x| x.into_ragged_expr();
    ['a, I: Inputs, O: Single, F: Elementary<I, O>, X: RaggedArguments<I>, M: RaggedExpr<Elem = bool>]
        &'a RaggedCall<I, O, F, X, M> => PendingRagged<&'a RaggedCall<I, O, F, X, M>>, |x| x.into_ragged_expr();
}
