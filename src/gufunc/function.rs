//! Gufuncs: elementary functions with their signatures.

use super::axes::Options;
use super::elementary::{Each, Elementary, ElementaryError, Inputs, Outcome, Outputs};
use super::fit::{CoreDims, Fit, Given, OneRow, fit};
use super::signature::Signature;
use crate::error::{Cause, Error, Result};
use crate::memory::debug_of_fields;
use crate::ops::cores;
use crate::shape::Shape;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

type Extents = dyn Fn(&mut CoreDims<'_>) -> Result<()> + Send + Sync;

/// A generalized ufunc: an elementary function of inputs of types `I` and outputs of types `O`, with the signature of
/// its cores. Clones share the function.
pub struct Gufunc<I, O, F> {
    pub(super) inner: Arc<Inner<F>>,
    types: PhantomData<fn(I) -> O>,
}

pub(super) struct Inner<F> {
    pub(super) rules: Arc<Rules>,
    pub(super) function: F,
}

/// What a gufunc makes of shapes. Those of the ready-made ones are shared by all that are made.
pub(super) struct Rules {
    signature: Result<Signature>,
    extents: Option<Box<Extents>>,
    /// Whether outputs of a sum of names one of which is 0 are empty.
    pub(super) empty: bool,
    /// That of the last call: many are of the same shapes as the one before.
    last: Mutex<Option<Arc<Fit>>>,
}

impl Rules {
    /// Of a signature: outputs are `empty` where a name in their extent is 0, or sums are what they come to.
    pub(super) fn new(signature: Result<Signature>, empty: bool) -> Self {
        Self { signature, extents: None, empty, last: Mutex::default() }
    }

    /// Whether the function may give extents to names that are in no input.
    pub(super) fn gives_extents(&self) -> bool {
        self.extents.is_some()
    }

    pub(super) fn signature(&self) -> Result<&Signature> {
        self.signature.as_ref().map_err(Error::copy)
    }

    /// Fits the signature to the shapes of a call.
    pub(super) fn fit(
        &self,
        shapes: &[Shape],
        outs: Option<&[Shape]>,
        options: &Options,
    ) -> Result<Arc<Fit>> {
        // Another thread may be here as well, and the function may give other extents next time.
        let mut last = if self.gives_extents() { None } else { self.last.try_lock().ok() };
        let before = last.as_deref().and_then(Option::as_ref);
        if let Some(fit) = before.filter(|fit| fit.is_for(shapes, outs, options)) {
            return Ok(fit.clone());
        }
        let mut made = Arc::<Fit>::default();
        let fit = Arc::make_mut(&mut made);
        self.fit_given(shapes, outs, &[], options, fit)?;
        fit.row = OneRow::of(fit);
        if let Some(last) = &mut last {
            **last = Some(made.clone());
        }
        Ok(made)
    }

    /// Fits the signature to shapes, with extents by name for those that are in none of them, if there are any.
    pub(super) fn fit_given(
        &self,
        shapes: &[Shape],
        outs: Option<&[Shape]>,
        given: &[Option<usize>],
        options: &Options,
        made: &mut Fit,
    ) -> Result<()> {
        let extents = |dims: &mut CoreDims<'_>| {
            dims.give(given);
            self.extents.as_deref().map_or(Ok(()), |extents| extents(dims))
        };
        let gives = self.gives_extents() || !given.is_empty();
        let extents: Option<Given<'_>> = if gives { Some(&extents) } else { None };
        fit(self.signature()?, shapes, outs, options, extents, made)
    }
}

impl<I, O, F> Clone for Gufunc<I, O, F> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), types: PhantomData }
    }
}

debug_of_fields!([I, O, F] Gufunc<I, O, F> |own| signature: own.inner.rules.signature);

impl<I: Inputs, O: Outputs, F> Gufunc<I, O, Each<F>> {
    /// A gufunc that calls a closure with the cores of inputs and those of outputs, for every index of the loop.
    ///
    /// The closure takes two tuples or arrays, of [`Core`](super::Core) and [`CoreMut`](super::CoreMut), which are
    /// slices. It returns nothing, or `Result<(), E>` with any error.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`], and [`Error::SignatureArguments`] if the signature has other numbers of arguments.
    ///
    /// ```
    /// use lensor::gufunc::Gufunc;
    /// use lensor::prelude::*;
    /// let mean = Gufunc::<(f64, bool), (f64,), _>::each("(n),(n)->()", |(x, use_it), (mut mean,)| {
    ///     let used: Vec<f64> = x.iter().zip(use_it.iter()).filter(|(_, u)| **u).map(|(x, _)| *x).collect();
    ///     if used.is_empty() {
    ///         return Err("nothing to average");
    ///     }
    ///     mean[0] = used.iter().sum::<f64>() / used.len() as f64;
    ///     Ok(())
    /// })?;
    /// let x = Tensor::from_nested([[1.0, 3.0], [5.0, 7.0]])?;
    /// let (means,) = mean.call((&x, x.less(6.0))).eval()?;
    /// assert_eq!(means.to_vec()?, [2.0, 5.0]);
    /// let error = mean.call((&x, x.less(4.0))).eval().unwrap_err();
    /// assert_eq!(error.to_string(), "elementary function failed at [1]: nothing to average");
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "apply_along_axis")]
    #[doc(alias = "map_axis")]
    pub fn each<R>(signature: &str, f: F) -> Result<Self>
    where
        F: for<'c> Fn(<I as Inputs>::Cores<'c>, <O as Outputs>::Cores<'c>) -> R + Send + Sync,
        R: Outcome,
    {
        Self::of(signature, Each(f))
    }
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Gufunc<I, O, F> {
    /// A gufunc of an elementary function, see [`Elementary`].
    ///
    /// # Errors
    ///
    /// [`Error::Signature`], and [`Error::SignatureArguments`] if the signature has other numbers of arguments.
    ///
    /// ```
    /// use lensor::gufunc::{Core, CoreMut, Elementary, ElementaryError, Gufunc};
    /// use lensor::prelude::*;
    /// /// The sum of the elements above a threshold.
    /// struct Above(f64);
    /// impl Elementary<[f64; 1], [f64; 1]> for Above {
    ///     fn call(&self, [x]: [Core<'_, f64>; 1], [mut out]: [CoreMut<'_, f64>; 1]) -> Result<(), ElementaryError> {
    ///         out[0] = x.iter().filter(|x| **x > self.0).sum();
    ///         Ok(())
    ///     }
    /// }
    /// let above = Gufunc::of("(n)->()", Above(1.5))?;
    /// assert_eq!(above.call([&Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?]).to_vec()?, [2.0, 7.0]);
    /// assert!(Gufunc::of("(n),(n)->()", Above(1.5)).is_err()); // it has one input
    /// # Ok::<(), Error>(())
    /// ```
    pub fn of(signature: &str, function: F) -> Result<Self> {
        let signature = Signature::parse(signature)?;
        let counts = [signature.inputs(), signature.outputs()];
        let [inputs, outputs] = [<I as cores::Inputs>::COUNT, <O as cores::Outputs>::COUNT];
        if counts != [inputs, outputs] {
            let signature = signature.to_string();
            return Err(Error::SignatureArguments { signature, counts, inputs, outputs });
        }
        Ok(Self::with_rules(Arc::new(Rules::new(Ok(signature), false)), function))
    }

    /// One whose signature has the right numbers of arguments.
    pub(super) fn with_rules(rules: Arc<Rules>, function: F) -> Self {
        Self { inner: Arc::new(Inner { rules, function }), types: PhantomData }
    }

    /// Gives extents to core dimensions that are in no input, or refuses the extents of a call.
    ///
    /// `extents` sees all extents that are known, from inputs and from outputs that are given. An error of it is the
    /// cause of [`Error::CoreRefused`], but for one of this library, which is passed on.
    ///
    /// ```
    /// use lensor::gufunc::Gufunc;
    /// use lensor::prelude::*;
    /// let pairs = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
    ///     out.iter_mut().zip(x.chunks(2)).for_each(|(out, pair)| *out = pair.iter().sum());
    /// })?
    /// .with_extents(|dims| match dims.get("n") {
    ///     Some(n) if n % 2 == 0 => Ok(dims.set("p", n / 2)?),
    ///     _ => Err(lensor::gufunc::ElementaryError::from("n is odd")),
    /// });
    /// let [sums] = pairs.call([Tensor::from(vec![1, 2, 3, 4]).view()]).eval()?;
    /// assert_eq!(sums.to_vec()?, [3, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_extents<E: Into<ElementaryError>>(
        self,
        extents: impl Fn(&mut CoreDims<'_>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self
    where
        F: Clone,
    {
        let refused = move |dims: &mut CoreDims<'_>| {
            let Err(error) = extents(dims) else { return Ok(()) };
            let error: ElementaryError = error.into();
            Err(match error.downcast::<Error>() {
                Ok(error) => *error,
                Err(error) => {
                    Error::CoreRefused { extents: dims.named_extents(), source: Cause::new(error) }
                }
            })
        };
        let Inner { rules, function } = &*self.inner;
        let mut own = Rules::new(rules.signature.clone(), rules.empty);
        own.extents = Some(Box::new(refused));
        Self::with_rules(Arc::new(own), function.clone())
    }

    /// The signature.
    ///
    /// # Errors
    ///
    /// None for one that was made by [`Self::each`] or [`Self::of`].
    ///
    /// ```
    /// use lensor::gufunc::Gufunc;
    /// let dot = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),(n)->()", |[a, b], [mut out]| {
    ///     out[0] = a.iter().zip(b.iter()).map(|(a, b)| a * b).sum();
    /// })?;
    /// let signature = dot.signature()?;
    /// assert_eq!((signature.inputs(), signature.outputs()), (2, 1));
    /// assert_eq!(signature.to_string(), "(n),(n)->()");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn signature(&self) -> Result<&Signature> {
        self.inner.rules.signature()
    }
}
