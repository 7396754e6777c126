//! Results of calls of several outputs as ragged operands that share one computation.

use super::RaggedCall;
use super::arguments::RaggedArguments;
use super::places::RaggedResults;
use crate::error::Result;
use crate::expr::Explanation;
use crate::gufunc::{Elementary, Inputs, Outputs, Part};
use crate::memory::{debug_of_fields, for_tuples, list};
use crate::ragged::deferred::{DeferredRagged, Kept, RaggedCompute, SharedRows};
use crate::ragged::expr::RaggedExpr;
use crate::ragged::form::{Extent, Form};
use crate::ragged::{Ragged, Stretch, sealed};
use crate::tensor::Tensor;
use std::sync::Arc;

/// A call of several outputs, which is computed once for all of them.
pub struct WholeRagged<I, O: SharedRagged, F, X, M> {
    call: RaggedCall<I, O, F, X, M>,
    results: SharedRows<O::Kept>,
}

debug_of_fields!([I, O: SharedRagged, F, X, M] WholeRagged<I, O, F, X, M> |own| call: own.call);

/// One output of a call of several.
pub type OutputRows<I, O, F, X, M, T> =
    Part<WholeRagged<I, O, F, X, M>, <O as SharedRagged>::Kept, Ragged<Arc<Vec<T>>>>;

impl<W, R, T: ?Sized> sealed::Operation for Part<W, R, T> {}

impl<I, O, F, X, M, T> RaggedCompute for OutputRows<I, O, F, X, M, T>
where
    I: Inputs,
    O: SharedRagged,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedExpr<Elem = bool>,
    T: Copy + Send + Sync,
{
    type Elem = T;

    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(self.whole.call.extents()?.swap_remove(self.number))
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        self.whole.call.request().form_of(self.number, stretch)
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<T>>> {
        let Kept { result: Ragged { levels, content, resolved }, .. } = self.keep(stretch)?;
        let (map, elements) = content.into_parts();
        let elements = match Arc::try_unwrap(elements) {
            Ok(elements) => elements,
            Err(elements) => list(elements.iter().copied())?,
        };
        Ok(Ragged { levels, content: Tensor::from_parts(map, elements), resolved })
    }

    fn keep(&self, stretch: Stretch) -> Result<Kept<T>> {
        let whole = &self.whole;
        let compute = || Ok(O::kept(whole.call.eval_with(stretch)?));
        let results = whole.results.get_or(stretch, compute)?;
        let result = (self.of)(&results, self.number).clone();
        Ok(Kept { result, whole: Some(results) })
    }

    fn explain(&self) -> Result<Explanation> {
        self.whole.call.explain()
    }
}

/// Lists of outputs whose results are ragged operands of their own. Sealed.
pub trait SharedRagged: Outputs<Tensors: RaggedResults> {
    /// The results, shared.
    #[doc(hidden)]
    type Kept: Send + Sync + 'static;
    /// A deferred operation for each output.
    type Deferred<I, F, X, M>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: RaggedArguments<I>,
        M: RaggedExpr<Elem = bool>;

    #[doc(hidden)]
    fn kept(results: <Self::Tensors as RaggedResults>::Ragged) -> Self::Kept;

    #[doc(hidden)]
    fn shared<I, F, X, M>(whole: Arc<WholeRagged<I, Self, F, X, M>>) -> Self::Deferred<I, F, X, M>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: RaggedArguments<I>,
        M: RaggedExpr<Elem = bool>;
}

impl<T: Copy + Default + Send + Sync + 'static, const N: usize> SharedRagged for [T; N] {
    type Kept = [Ragged<Arc<Vec<T>>>; N];
    type Deferred<I, F, X, M>
        = [DeferredRagged<OutputRows<I, Self, F, X, M, T>>; N]
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: RaggedArguments<I>,
        M: RaggedExpr<Elem = bool>;

    fn kept(results: [Ragged<Vec<T>>; N]) -> Self::Kept {
        results.map(|result| result.with_storage(Arc::new))
    }

    fn shared<I, F, X, M>(whole: Arc<WholeRagged<I, Self, F, X, M>>) -> Self::Deferred<I, F, X, M>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: RaggedArguments<I>,
        M: RaggedExpr<Elem = bool>,
    {
        std::array::from_fn(|number| {
            let whole = whole.clone();
            DeferredRagged::new(Part {
                whole,
                number,
                of: |kept: &Self::Kept, number| &kept[number],
            })
        })
    }
}

macro_rules! shared {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T: Copy + Default + Send + Sync + 'static),*> SharedRagged for ($($T,)*) {
            type Kept = ($(Ragged<Arc<Vec<$T>>>,)*);
            type Deferred<I, F, X, M>
                = ($(DeferredRagged<OutputRows<I, Self, F, X, M, $T>>,)*)
            where
                I: Inputs,
                F: Elementary<I, Self>,
                X: RaggedArguments<I>,
                M: RaggedExpr<Elem = bool>;

            fn kept(results: ($(Ragged<Vec<$T>>,)*)) -> Self::Kept {
                ($(results.$k.with_storage(Arc::new),)*)
            }

            fn shared<I, F, X, M>(
                whole: Arc<WholeRagged<I, Self, F, X, M>>,
            ) -> Self::Deferred<I, F, X, M>
            where
                I: Inputs,
                F: Elementary<I, Self>,
                X: RaggedArguments<I>,
                M: RaggedExpr<Elem = bool>,
            {
                ($(DeferredRagged::new(Part {
                    whole: whole.clone(),
                    number: $k,
                    of: |kept, _| &kept.$k,
                }),)*)
            }
        }
    };
}
for_tuples!(shared 4);

impl<
    I: Inputs,
    O: SharedRagged,
    F: Elementary<I, O>,
    X: RaggedArguments<I>,
    M: RaggedExpr<Elem = bool>,
> RaggedCall<I, O, F, X, M>
{
    /// The results as ragged operands, one for each output. Within one evaluation all of them are computed by one call.
    ///
    /// ```
    /// use lensor::gufunc::minmax;
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![3.0, 1.0], vec![2.0, 5.0, 4.0]])?;
    /// let [least, most] = minmax().call_ragged([&r]).outputs();
    /// let spread = most - least;
    /// assert_eq!(spread.eval()?.to_string(), "[2, 3]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn outputs(self) -> O::Deferred<I, F, X, M> {
        O::shared(Arc::new(WholeRagged { call: self, results: SharedRows::default() }))
    }
}
