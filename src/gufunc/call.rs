//! Gufuncs and their calls, which are deferred.

use super::arguments::{Arguments, Destinations, Held};
use super::axes::Options;
use super::elementary::{Elementary, Inputs, Outputs};
use super::eval::Masking;
use super::function::{Gufunc, Inner};
use super::request::{CallShapes, Request};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Explanation, Expr, IntoExpr, Scalar};
use crate::memory::debug_of_fields;
use crate::ops::cores;
use crate::shape::Shape;
use std::marker::PhantomData;
use std::sync::Arc;

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Gufunc<I, O, F> {
    /// A call with operands: a tuple of them, or an array of operands of one type. Computes nothing yet.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let weights = Tensor::from(vec![10, 1]);
    /// assert_eq!(inner1d().call([&a, &a]).to_vec()?, [5, 25]);
    /// assert_eq!(inner1d().call((&a * 2, &weights)).to_vec()?, [24, 68]); // a call for each row of `a`
    /// # Ok::<(), Error>(())
    /// ```
    pub fn call<X: Arguments<I>>(&self, operands: X) -> Call<I, O, F, X::Held> {
        self.call_of(operands.hold())
    }

    /// A call with operands of any kind.
    pub(crate) fn call_of<X>(&self, operands: X) -> Call<I, O, F, X> {
        Call {
            inner: self.inner.clone(),
            operands,
            mask: None,
            options: Options { empty: self.inner.rules.empty, ..Options::default() },
            or: None,
            types: PhantomData,
        }
    }
}

/// A call of a gufunc, not computed yet: with operands `X` and, if there is one, a mask `M`.
///
/// With one output it is an operand itself; with several, [`Self::outputs`] are.
#[must_use = "nothing is computed before it is asked for"]
pub struct Call<I, O: Outputs, F, X, M = Scalar<bool>> {
    pub(super) inner: Arc<Inner<F>>,
    pub(crate) operands: X,
    pub(crate) mask: Option<M>,
    pub(super) options: Options,
    pub(crate) or: Option<O::Elems>,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O: Outputs, F, X: Clone, M: Clone> Clone for Call<I, O, F, X, M> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            operands: self.operands.clone(),
            mask: self.mask.clone(),
            options: self.options.clone(),
            or: self.or,
            types: PhantomData,
        }
    }
}

debug_of_fields!([I, O: Outputs, F, X, M] Call<I, O, F, X, M> |own| call: own.inner.rules.signature());

impl<I, O: Outputs, F, X, M> Call<I, O, F, X, M> {
    /// The core axes of each argument, in the order of its signature: of inputs, then of outputs. Negative ones count
    /// from the end, unlike elsewhere, as in NumPy's gufuncs. Each output without core axes may be left out, or has an
    /// empty list.
    ///
    /// ```
    /// use lensor::gufunc::matmul;
    /// use lensor::prelude::*;
    /// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let transposed = matmul().call([&a, &a]).axes([[1, 0], [0, 1], [0, 1]]);
    /// assert_eq!(transposed.eval()?[0].to_vec()?, [10, 14, 14, 20]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axes<L: AsRef<[isize]>>(mut self, axes: impl IntoIterator<Item = L>) -> Self {
        self.options.axes = Some(axes.into_iter().map(|list| list.as_ref().to_vec()).collect());
        self
    }

    /// The core axis of all arguments, for a signature with one core dimension, once in each input and at most once in
    /// each output. Negative ones count from the end, unlike elsewhere, as in NumPy's gufuncs.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(inner1d().call([&t, &t]).axis(0).to_vec()?, [10, 20]); // of columns
    /// assert_eq!(inner1d().call([&t, &t]).axis(-1).to_vec()?, [5, 25]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axis(mut self, axis: isize) -> Self {
        self.options.axis = Some(axis);
        self
    }

    /// Keeps the core axes of the inputs in results that have none of their own, with extent 1.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0, 4.0], [0.0, 2.0]])?;
    /// let squares = inner1d().call([&t, &t]).keepdims();
    /// assert_eq!(squares.shape()?, [2, 1]);
    /// assert_eq!((&t / squares.sqrt()).to_vec()?, [0.6, 0.8, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn keepdims(mut self) -> Self {
        self.options.keepdims = true;
        self
    }

    /// The elements of results that the mask leaves out, one value for each output.
    ///
    /// ```
    /// use lensor::gufunc::minmax;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3, 1], [2, 5]])?;
    /// let is_valid = Tensor::from(vec![true, false]);
    /// let [least, greatest] = minmax().call([&t]).filter(&is_valid).or([0, 99]).eval()?;
    /// assert_eq!((least.to_vec()?, greatest.to_vec()?), (vec![1, 0], vec![3, 99]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn or(mut self, values: O::Elems) -> Self {
        self.or = Some(values);
        self
    }

    /// The same call where a mask of any kind is true.
    pub(crate) fn filtered<E>(self, mask: E) -> Call<I, O, F, X, E> {
        Call {
            inner: self.inner,
            operands: self.operands,
            mask: Some(mask),
            options: self.options,
            or: self.or,
            types: PhantomData,
        }
    }
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>, X: Held<I>> Call<I, O, F, X> {
    /// Makes only the calls where `mask`, which stretches to the shape of the loop, is true. Elsewhere destinations
    /// keep what they have, or get the values of [`Self::or`]. A call has one mask: several are joined by `&`.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Operands`] for a mask that does not stretch to the loop.
    ///
    /// ```
    /// use lensor::gufunc::inv;
    /// use lensor::prelude::*;
    /// let a = Tensor::from_vec([2, 1, 1], vec![4.0, 0.0])?;
    /// let regular = Tensor::from(vec![true, false]);
    /// let [inverses] = inv().call([&a]).filter(&regular).or([f64::NAN]).eval()?;
    /// assert_eq!(inverses.get([0, 0, 0])?, 0.25);
    /// assert!(inverses.get([1, 0, 0])?.is_nan());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter<N: IntoExpr<Elem = bool>>(self, mask: N) -> Call<I, O, F, X, N::Expr> {
        self.filtered(mask.into_expr())
    }
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>, X: Held<I>, M: Expr<Elem = bool>>
    Call<I, O, F, X, M>
{
    /// The call without the types of its function, operands and mask.
    pub(super) fn request(&self) -> Request<'_, I, O> {
        let Inner { rules, function } = &*self.inner;
        let mask = self.mask.as_ref().map(|mask| mask as &dyn Masking);
        let (operands, options) = (&self.operands, &self.options);
        Request { rules, function, operands, mask, options, or: self.or }
    }

    /// The extents and shapes of the call.
    ///
    /// # Errors
    ///
    /// What the operands carry, then in this order [`Error::CoreRank`], [`Error::CoreAxes`],
    /// [`Error::CoreExtent`], [`Error::Operands`], [`Error::CoreRefused`], [`Error::CoreUnknown`] or
    /// [`Error::CoreComputed`], and [`Error::RankLimit`] or [`Error::ShapeOverflow`] for a result of too many axes
    /// or elements.
    ///
    /// ```
    /// use lensor::gufunc::matmul;
    /// use lensor::prelude::*;
    /// let (a, b) = (Tensor::full([7, 2, 3], 1.0)?, Tensor::full([3, 5], 1.0)?);
    /// let shapes = matmul().call([&a, &b]).shapes()?;
    /// assert_eq!((&shapes.loops[..], &shapes.outputs[0][..]), (&[7][..], &[7, 2, 5][..]));
    /// assert_eq!(shapes.dims[1], ("n".to_string(), 3));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn shapes(&self) -> Result<CallShapes> {
        self.shapes_for(None)
    }

    /// As [`Self::shapes`], for destinations of these shapes, which give extents to core dimensions that are in no
    /// input.
    ///
    /// # Errors
    ///
    /// As [`Self::shapes`], and [`Error::Destination`] for a destination of another shape than the result.
    ///
    /// ```
    /// use lensor::gufunc::Gufunc;
    /// use lensor::prelude::*;
    /// let ramp = Gufunc::<[i32; 1], [i32; 1], _>::each("()->(n)", |[step], [mut out]| {
    ///     (0..).zip(out.iter_mut()).for_each(|(k, out)| *out = k * step[0]);
    /// })?;
    /// let steps = Tensor::from(vec![1, 10]);
    /// let call = ramp.call([&steps]);
    /// assert!(matches!(call.shapes(), Err(Error::CoreUnknown { .. }))); // how long is a ramp?
    /// assert_eq!(call.shapes_for(Some(&[[2, 3].into()]))?.dims, [("n".to_string(), 3)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn shapes_for(&self, outs: Option<&[Shape]>) -> Result<CallShapes> {
        self.request().shapes_for(outs)
    }

    /// Computes all results: a tensor for each output, in a tuple or an array.
    ///
    /// # Errors
    ///
    /// What [`Self::shapes`] reports, [`Error::Operands`] for a mask that does not stretch to the loop,
    /// [`Error::MaskedOutput`] for one without values by [`Self::or`]; what evaluating the operands and the mask
    /// reports; [`Error::WouldDensify`] for very many elements of a sparse one, see
    /// [`Lazy::densely`](crate::Lazy::densely); [`Error::Elementary`] if the function fails, with the first index
    /// of the loop, in row-major order, at which it does; [`Error::OutOfMemory`] if results cannot be kept.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// One output is an array or a tuple of one tensor; the tensor itself is `call.deferred().eval()?`:
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let [squares] = inner1d().call((&t, &t)).eval()?;
    /// assert_eq!(squares.to_vec()?, [5, 25]);
    /// let squares = inner1d().call((&t, &t)).deferred().eval()?;
    /// assert_eq!(squares.to_vec()?, [5, 25]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn eval(&self) -> Result<O::Tensors> {
        self.request().eval()
    }

    /// Computes all results into existing tensors or views of any storage with a writer, of just the shapes of the
    /// results: a tuple or an array of them, or one alone. What a mask leaves out stays as it is there, without values
    /// by [`Self::or`].
    ///
    /// # Errors
    ///
    /// As [`Self::eval`], but for [`Error::MaskedOutput`], and [`Error::Destination`] if a shape is another,
    /// [`Error::NotInjective`] if two indexes of a destination share an address, [`Error::Storage`] if its storage
    /// fails. After an error the destinations may be partly written.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::minmax;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3, 1], [2, 5]])?;
    /// let (mut least, mut both) = (Tensor::full([2], 0)?, Tensor::full([2, 2], 0)?);
    /// minmax().call([&t]).assign_to((&mut least, &mut both.view_mut().select((.., 1))?))?;
    /// assert_eq!(least.to_vec()?, [1, 2]);
    /// assert_eq!(both.to_vec()?, [0, 3, 0, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assign_to<D: Destinations<O>>(&self, outs: D) -> Result<()> {
        self.request().assign_to(outs)
    }

    /// Says in a few lines how it would be computed: signature, extents, where cores are read, calls of a block,
    /// threads and bytes.
    ///
    /// # Errors
    ///
    /// What [`Self::shapes`] reports, and [`Error::Operands`] for a mask that does not stretch to the loop.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::prelude::*;
    /// let t = Tensor::full([100, 3], 1.0)?;
    /// let text = inner1d().call((&t, &t * 2.0)).explain()?.to_string();
    /// assert!(text.contains("100 calls"));
    /// assert!(text.contains("operand 1: cores [3] read where they lie"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain(&self) -> Result<Explanation> {
        self.request().explain()
    }

    /// Boxes within one another in operands and mask.
    pub(super) fn depth_of_operands(&self) -> usize {
        self.operands.depth().max(self.mask.as_ref().map_or(0, Expr::depth))
    }
}

/// Lists of one output. Sealed.
pub trait Single: Outputs {
    /// Type of its elements.
    type Elem: Copy + Default + Send + Sync + 'static;

    #[doc(hidden)]
    fn only(vectors: <Self as cores::Outputs>::Vectors) -> Vec<Self::Elem>;

    #[doc(hidden)]
    fn one(out: &mut [Self::Elem]) -> <Self as cores::Outputs>::Slices<'_>;

    #[doc(hidden)]
    fn slots<'s>(out: &'s mut <Self as cores::Outputs>::Slices<'_>) -> &'s mut [Self::Elem];
}

impl<T: Copy + Default + Send + Sync + 'static> Single for [T; 1] {
    type Elem = T;

    fn only(vectors: <Self as cores::Outputs>::Vectors) -> Vec<T> {
        vectors.into_iter().next().unwrap_or_default()
    }

    fn one(out: &mut [T]) -> [&mut [T]; 1] {
        [out]
    }

    fn slots<'s>([out]: &'s mut [&mut [T]; 1]) -> &'s mut [T] {
        out
    }
}

impl<T: Copy + Default + Send + Sync + 'static> Single for (T,) {
    type Elem = T;

    fn only(vectors: (Vec<T>,)) -> Vec<T> {
        vectors.0
    }

    fn one(out: &mut [T]) -> (&mut [T],) {
        (out,)
    }

    fn slots<'s>((out,): &'s mut (&mut [T],)) -> &'s mut [T] {
        out
    }
}
