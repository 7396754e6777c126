//! Results of calls as operands: of the only output, or of several that share one computation.

use super::arguments::Held;
use super::call::{Call, Single};
use super::elementary::{Elementary, Inputs, Outputs};
use super::eval::result_map;
use crate::compute::{Compute, Deferred, Pending};
use crate::error::{Error, Result};
use crate::expr::machinery::Kept;
use crate::expr::sealed::Sealed;
use crate::expr::{Explanation, Expr, Lazy, NOT_COMPUTED, Prepare, SharedResult, prepare_all};
use crate::kernel::{self, Filled, inner};
use crate::map::AddressMap;
use crate::memory::{debug_of_fields, for_tuples};
use crate::ops::cores;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::array::from_fn;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;

impl<I, O: Outputs, F, X, M> Sealed for Call<I, O, F, X, M> {}

/// What it is, and how to compute it; computes nothing.
impl<I: Inputs, O: Single, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>> fmt::Display
    for Call<I, O, F, X, M>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = self.request();
        match (request.masked(None), request.rules.signature()) {
            (Ok(_), Ok(signature)) => write!(f, "gufunc {signature}, {NOT_COMPUTED}"),
            (Err(error), _) | (_, Err(error)) => write!(f, "gufunc without a result: {error}"),
        }
    }
}

/// Refuses other results than there is room for: extents that are asked for may differ from those before.
fn check_count(shape: &Shape, count: usize) -> Result<()> {
    match shape.count()? == count {
        true => Ok(()),
        false => Err(Error::OutOfSpan { span: 0..shape.count()?, len: count }),
    }
}

impl<I: Inputs, O: Single, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>> Compute
    for Call<I, O, F, X, M>
{
    type Elem = O::Elem;

    fn shape(&self) -> Result<Shape> {
        Ok(self.request().fitted(None)?.shapes[0].clone())
    }

    fn layout(&self) -> Result<AddressMap> {
        result_map(&*self.request().fitted(None)?, 0)
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.request().deferred(visit);
    }

    fn check_reads(&self) -> Result<()> {
        let request = self.request();
        // Others are refused where they are read, without asking once more what extents are.
        if request.defers() { request.check_reads(&*request.fitted(None)?) } else { Ok(()) }
    }

    fn depth(&self) -> usize {
        self.depth_of_operands()
    }

    fn fill(&self, out: &mut [MaybeUninit<O::Elem>]) -> Result<Filled> {
        let fit = self.request().fitted(None)?;
        check_count(&fit.shapes[0], out.len())?;
        let request = self.request();
        let _results = request.results_of_operands(&fit)?;
        let mut prepared = request.prepared(&fit)?;
        prepared.hold()?;
        inner::overwrite(out, Some(O::Elem::default()), |out| {
            prepared.fill(request.function, O::one(out), false)
        })
    }

    fn collect(&self, count: usize) -> Result<Vec<O::Elem>> {
        let fit = self.request().fitted(None)?;
        check_count(&fit.shapes[0], count)?;
        Ok(O::only(self.request().vectors(&fit)?))
    }

    fn explain(&self) -> Result<Explanation> {
        Call::explain(self)
    }
}

impl<I: Inputs, O: Single, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>>
    Call<I, O, F, X, M>
{
    /// The result as a deferred operation, which has views, operators and all that takes operands. Within one evaluation
    /// it is computed once, however many views and references of it are read; a call itself, once for each reference.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [0.0, 3.0]])?;
    /// let squares = inner1d().call([&t, &t]).deferred();
    /// assert_eq!((&squares / (&squares + 1.0)).to_vec()?, [5.0 / 6.0, 0.9]);
    /// assert_eq!(squares.eval()?.shape(), [2]); // a tensor, where `eval` of the call gives a list
    /// # Ok::<(), Error>(())
    /// ```
    pub fn deferred(self) -> Deferred<Self> {
        Deferred::new(self)
    }

    /// The result as an expression.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0_f64, 4.0], [0.0, 2.0]])?;
    /// let norms: BoxExpr<f64> = norm().call([&t]).lazy().boxed();
    /// assert_eq!((norms + 1.0).to_vec()?, [6.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn lazy(self) -> Lazy<Pending<Self>> {
        self.deferred().lazy()
    }

    /// As [`Self::lazy`], of a reference, to be viewed more than once.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [0.0, 3.0]])?;
    /// let squares = inner1d().call([&t, &t]);
    /// assert_eq!(squares.view().flip(0)?.to_vec()?, [9.0, 5.0]);
    /// assert_eq!(squares.view().sum(0).to_vec()?, [14.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view(&self) -> Lazy<Pending<&Self>> {
        Deferred::new(self).lazy()
    }

    /// The shape of the result.
    ///
    /// # Errors
    ///
    /// As [`Self::shapes`], and [`Error::Operands`] for a mask that does not stretch to the loop.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::full([2, 5, 3], 1.0)?;
    /// let products = inner1d().call([&t, &t]);
    /// assert_eq!(products.shape()?, [2, 5]);
    /// assert_eq!(products.select((1, ..2))?.to_vec()?, [3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn shape(&self) -> Result<Shape> {
        Ok(self.request().masked(None)?.shapes[0].clone())
    }

    fn rewrite(
        self,
        change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<Lazy<Pending<Self>>> {
        self.lazy().rewrite(change)
    }

    crate::tensor::views::view_operations!(Lazy<Pending<Self>>);

    /// Computes the result, in row-major order, into a vector.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`].
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0_f64, 4.0], [0.0, 2.0]])?;
    /// assert_eq!(norm().call([&t]).to_vec()?, [5.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec(&self) -> Result<Vec<O::Elem>> {
        Deferred::new(self).to_vec()
    }

    /// Computes the only element of the result.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`], and [`Error::NotSingle`](crate::Error::NotSingle) if there are more or none.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::det;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[2.0_f64, 1.0], [1.0, 3.0]])?;
    /// assert_eq!(det().call([&t]).item()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn item(&self) -> Result<O::Elem> {
        Deferred::new(self).item()
    }
}

/// A call of several outputs, which is computed once for all of them.
pub struct Whole<I, O: Outputs, F, X, M> {
    call: Call<I, O, F, X, M>,
    results: SharedResult<<O as cores::Outputs>::Vectors>,
}

impl<I, O, F, X, M> Prepare for Whole<I, O, F, X, M>
where
    I: Inputs,
    O: Outputs<Vectors: Send + Sync>,
    F: Elementary<I, O>,
    X: Held<I>,
    M: Expr<Elem = bool>,
{
    fn prepare<'a>(&'a self, kept: &mut Kept<'a>) -> Result<()> {
        let results = self.results.get_or(|| {
            let request = self.call.request();
            let fit = request.fitted(None)?;
            if fit.has_calls() {
                request.check_reads(&fit)?;
                prepare_all(&mut |visit| request.deferred(visit), kept)?;
            }
            request.computed(&fit)
        })?;
        kept.keep(results);
        Ok(())
    }
}

/// One output of a call of several.
pub type Output<I, O, F, X, M, T> = Part<Whole<I, O, F, X, M>, <O as cores::Outputs>::Vectors, [T]>;

/// One of the results of what has several, found among all by its number.
pub struct Part<W, R, T: ?Sized> {
    pub(crate) whole: Arc<W>,
    pub(crate) number: usize,
    pub(crate) of: fn(&R, usize) -> &T,
}

impl<W, R, T: ?Sized> Clone for Part<W, R, T> {
    fn clone(&self) -> Self {
        Self { whole: self.whole.clone(), ..*self }
    }
}

debug_of_fields!([W: fmt::Debug, R, T: ?Sized] Part<W, R, T> |own| whole: own.whole, number: own.number);

debug_of_fields!([I, O: Outputs, F, X, M] Whole<I, O, F, X, M> |own| call: own.call);

impl<W, R, T: ?Sized> Sealed for Part<W, R, T> {}

impl<I, O, F, X, M, T> Compute for Output<I, O, F, X, M, T>
where
    I: Inputs,
    O: Outputs<Vectors: Send + Sync>,
    F: Elementary<I, O>,
    X: Held<I>,
    M: Expr<Elem = bool>,
    T: Copy + Send + Sync,
{
    type Elem = T;

    fn shape(&self) -> Result<Shape> {
        Ok(self.whole.call.request().fitted(None)?.shapes[self.number].clone())
    }

    fn layout(&self) -> Result<AddressMap> {
        result_map(&*self.whole.call.request().fitted(None)?, self.number)
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        visit(&*self.whole);
    }

    fn depth(&self) -> usize {
        self.whole.call.depth_of_operands()
    }

    fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        match self.whole.results.get() {
            Some(results) => kernel::copy((self.of)(&results, self.number), out),
            None => {
                let call = self.whole.call.request();
                kernel::copy((self.of)(&call.vectors(&*call.fitted(None)?)?, self.number), out)
            }
        }
    }

    fn explain(&self) -> Result<Explanation> {
        self.whole.call.explain()
    }
}

/// Lists of outputs whose results are operands of their own. Sealed.
pub trait Shared<I, F, X, M>: Outputs<Vectors: Send + Sync> {
    /// A deferred operation for each output.
    type Deferred;

    #[doc(hidden)]
    fn shared(whole: Arc<Whole<I, Self, F, X, M>>) -> Self::Deferred;
}

impl<T, I, F, X, M, const N: usize> Shared<I, F, X, M> for [T; N]
where
    T: Copy + Default + Send + Sync + 'static,
    I: Inputs,
    F: Elementary<I, Self>,
    X: Held<I>,
    M: Expr<Elem = bool>,
{
    type Deferred = [Deferred<Output<I, Self, F, X, M, T>>; N];

    fn shared(whole: Arc<Whole<I, Self, F, X, M>>) -> Self::Deferred {
        fn of<T>(vectors: &SmallVec<[Vec<T>; 2]>, number: usize) -> &[T] {
            &vectors[number]
        }
        from_fn(|number| Deferred::new(Part { whole: whole.clone(), number, of: of::<T> }))
    }
}

macro_rules! shared {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<I, F, X, M, $($T: Copy + Default + Send + Sync + 'static),*> Shared<I, F, X, M> for ($($T,)*)
        where
            I: Inputs,
            F: Elementary<I, Self>,
            X: Held<I>,
            M: Expr<Elem = bool>,
        {
            type Deferred = ($(Deferred<Output<I, Self, F, X, M, $T>>,)*);

            fn shared(whole: Arc<Whole<I, Self, F, X, M>>) -> Self::Deferred {
                ($(Deferred::new(Part {
                    whole: whole.clone(),
                    number: $k,
                    of: |vectors, _| &vectors.$k,
                }),)*)
            }
        }
    };
}
for_tuples!(shared 4);

impl<I: Inputs, O: Shared<I, F, X, M>, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>>
    Call<I, O, F, X, M>
{
    /// The results as operands, one for each output. Within one evaluation all of them are computed by one call.
    ///
    /// ```
    /// use lensor::gufunc::minmax;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0, 1.0], [2.0, 5.0]])?;
    /// let [least, most] = minmax().call([&t]).outputs();
    /// let scaled = (&t - least.insert_axis(1)?) / (&most - 1.0).insert_axis(1)?;
    /// assert_eq!(scaled.eval()?.to_vec()?, [1.0, 0.0, 0.0, 0.75]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn outputs(self) -> O::Deferred {
        O::shared(Arc::new(Whole { call: self, results: SharedResult::default() }))
    }
}
