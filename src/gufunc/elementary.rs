//! Elementary functions: what is called for every index of a loop.

use super::sealed::Sealed;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, dispatch, prefetch_at};
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::ops::cores;

/// What an elementary function reports: any error, a string for example.
pub type ElementaryError = Box<dyn std::error::Error + Send + Sync>;

/// Element types of inputs: a tuple of one to six types, or an array of one type. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of input types",
    note = "write a tuple of element types such as `(f64, usize)`, or an array of one such as `[f64; 2]`"
)]
pub trait Inputs: cores::Inputs + Sealed {
    /// Cores of the inputs: a tuple or an array of [`Core`](super::Core).
    type Cores<'c>
    where
        Self: 'c;

    #[doc(hidden)]
    fn lent(buffers: &Self::Buffers) -> Self::Slices<'_>;

    #[doc(hidden)]
    fn cores<'c>(
        slices: &'c Self::Slices<'_>,
        places: &[Place<'c>],
        k: usize,
    ) -> Option<Self::Cores<'c>>;

    #[doc(hidden)]
    fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize));
}

/// Element types of outputs: a tuple of one to four types, or an array of one type. Sealed.
///
/// They have a default, which cores of outputs are full of before each call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of output types",
    note = "write a tuple of element types with a default such as `(f64, usize)`, or an array of one such as `[f64; 2]`"
)]
pub trait Outputs: cores::Outputs + Sealed {
    /// Cores of the outputs: a tuple or an array of [`CoreMut`](super::CoreMut).
    type Cores<'c>
    where
        Self: 'c;
    /// An element of each output.
    type Elems: Copy + Send + Sync;
    /// A tensor for each output.
    type Tensors;

    #[doc(hidden)]
    fn cores<'c>(
        slices: &'c mut Self::Slices<'_>,
        places: &[Place<'c>],
        k: usize,
    ) -> Option<Self::Cores<'c>>;
    #[doc(hidden)]
    fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize));
    #[doc(hidden)]
    fn clear(slices: &mut Self::Slices<'_>);
    #[doc(hidden)]
    fn put(slices: &mut Self::Slices<'_>, values: &Self::Elems);
    #[doc(hidden)]
    fn bytes(counts: &[usize]) -> usize;
    #[doc(hidden)]
    fn vectors(counts: &[usize]) -> Result<Self::Vectors>;
    #[doc(hidden)]
    fn tensors(
        vectors: Self::Vectors,
        map: &mut dyn FnMut(usize) -> Result<AddressMap>,
    ) -> Result<Self::Tensors>;
}

/// Where the cores of an argument begin in its slice.
#[derive(Debug, Clone, Copy)]
pub struct Place<'c> {
    pub(super) offset: isize,
    pub(super) step: isize,
    /// Elements of a core.
    pub(super) len: usize,
    pub(super) shape: &'c [usize],
}

/// Bytes between a core and what is prefetched with it: the calls in between take longer than memory does.
const AHEAD_BYTES: usize = 1024;

impl Place<'_> {
    /// Where core `k` begins.
    #[inline(always)]
    fn start(&self, k: usize) -> usize {
        self.offset.wrapping_add(self.step.wrapping_mul(k as isize)) as usize
    }

    #[inline(always)]
    pub(super) fn core<'c, T>(&self, slice: &'c [T], k: usize) -> Option<&'c [T]> {
        let start = self.start(k);
        if self.len > 1 {
            prefetch_at(slice.as_ptr().wrapping_add(start).wrapping_byte_add(AHEAD_BYTES));
        }
        slice.get(start..)?.get(..self.len)
    }

    #[inline(always)]
    pub(super) fn core_mut<'c, T>(&self, slice: &'c mut [T], k: usize) -> Option<&'c mut [T]> {
        slice.get_mut(self.start(k)..)?.get_mut(..self.len)
    }
}

/// The arguments of a block of calls, as loops in C get them: a slice and an offset for each, extents and steps.
///
/// `dimensions` are the number of calls and an extent for every core dimension, in the order in which the signature
/// names them first. `steps` are, in elements, that from one call to the next for each argument, then the strides of
/// all core axes of all arguments: `(i,j),(i)->()` over 4 calls has dimensions `[4, I, J]` and steps
/// `[a_N, b_N, c_N, a_i, a_j, b_i]`.
pub struct Args<'a, I: Inputs + 'a, O: Outputs + 'a> {
    /// Slices of the inputs.
    pub inputs: I::Slices<'a>,
    /// Slices of the outputs, which hold elements.
    pub outputs: O::Slices<'a>,
    /// Number of calls, then the extents of the core dimensions.
    pub dimensions: &'a [usize],
    /// Steps of the loop, then of core axes.
    pub steps: &'a [isize],
    /// Of inputs, then of outputs.
    pub(super) places: &'a [Place<'a>],
    /// Whether the cores of all inputs are row-major.
    pub(super) packed: bool,
}

impl<I: Inputs, O: Outputs> Args<'_, I, O> {
    /// Number of calls.
    #[allow(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub fn len(&self) -> usize {
        self.dimensions[0]
    }

    /// Where the first core of an argument begins in its slice; inputs first.
    pub fn offset(&self, argument: usize) -> usize {
        self.places[argument].offset as usize
    }

    /// The cores of call `k`, if inputs are row-major.
    #[inline(always)]
    pub fn cores<'c>(&'c mut self, k: usize) -> Option<(I::Cores<'c>, O::Cores<'c>)> {
        let (inputs, outputs) = self.places.split_at_checked(<I as cores::Inputs>::COUNT)?;
        let inputs = <I as Inputs>::cores(&self.inputs, inputs, k).filter(|_| self.packed)?;
        Some((inputs, <O as Outputs>::cores(&mut self.outputs, outputs, k)?))
    }

    /// Holds the elements of all cores of all calls against the slices; [`Elementary`] has an example.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if one lies outside.
    pub fn check(&self) -> Result<()> {
        let (mut next, mut checked) = (0, Ok(()));
        let mut core = self.steps.get(self.places.len()..).unwrap_or_default().iter();
        let mut each = |len: usize| {
            let place = &self.places[next];
            let mut span = [place.offset as i128; 2];
            let mut reach = |extent: usize, step: isize| {
                let far = (extent as i128 - 1) * step as i128;
                span[usize::from(far > 0)] += far;
            };
            reach(self.dimensions[0], place.step);
            place.shape.iter().zip(core.by_ref()).for_each(|(extent, step)| reach(*extent, *step));
            next += 1;
            if place.len > 0 && (span[0] < 0 || span[1] >= len as i128) && checked.is_ok() {
                let span = span[0].max(0) as usize..span[1].max(0) as usize + 1;
                checked = Err(Error::OutOfSpan { span, len });
            }
        };
        <I as Inputs>::lens(&self.inputs, &mut each);
        <O as Outputs>::lens(&self.outputs, &mut each);
        checked
    }

    /// Why cores cannot be read one by one.
    #[cold]
    fn unreadable(&self) -> ElementaryError {
        match self.check() {
            Err(error) if self.packed => error.into(),
            _ => "cores are strided, and `run` was not written for such".into(),
        }
    }
}

debug_of_fields!([I: Inputs, O: Outputs] Args<'_, I, O> |own| dimensions: own.dimensions, steps: own.steps);

/// A function of cores. Closures are made into one by [`Gufunc::each`](super::Gufunc::each).
///
/// ```
/// use lensor::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
/// use lensor::prelude::*;
///
/// /// Weighted sums of rows, a block of calls at a time and whatever the strides.
/// struct Weighted;
///
/// impl Elementary<[f64; 2], [f64; 1]> for Weighted {
///     const STRIDED: bool = true;
///     const FILLS: bool = true;
///
///     fn call(&self, [a, w]: [Core<'_, f64>; 2], [mut out]: [CoreMut<'_, f64>; 1]) -> Result<(), ElementaryError> {
///         out[0] = a.iter().zip(w.iter()).map(|(x, y)| x * y).sum();
///         Ok(())
///     }
///
///     fn run(&self, args: &mut Args<'_, [f64; 2], [f64; 1]>) -> Result<(), (usize, ElementaryError)> {
///         args.check().map_err(|error| (0, error.into()))?;
///         let (&[count, n], &[a, w, out, a_i, w_i]) = (args.dimensions, args.steps) else {
///             return Err((0, "signature (i),(i)->()".into()));
///         };
///         let at = |offset: usize, step: isize, k: usize| offset.wrapping_add_signed(step * k as isize);
///         for call in 0..count {
///             let (first, second) = (at(args.offset(0), a, call), at(args.offset(1), w, call));
///             let terms = (0..n).map(|k| args.inputs[0][at(first, a_i, k)] * args.inputs[1][at(second, w_i, k)]);
///             args.outputs[0][at(args.offset(2), out, call)] = terms.sum();
///         }
///         Ok(())
///     }
/// }
///
/// let weighted = Gufunc::of("(i),(i)->()", Weighted)?;
/// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
/// let [sums] = weighted.call([t.view().transpose([1, 0])?, t.view()]).eval()?;
/// assert_eq!(sums.to_vec()?, [7.0, 22.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Elementary<I: Inputs, O: Outputs>: Send + Sync {
    /// Whether [`Self::run`] takes inputs with any strides. Otherwise their cores are row-major, copied if they
    /// are not.
    const STRIDED: bool = false;
    /// Whether each call writes every element of its outputs, which then need not be cleared before.
    const FILLS: bool = false;

    /// Whether an input is read where it lies though its cores are not row-major: cores of these extents and strides,
    /// with this step from one call to the next along the last axis of the loop.
    #[doc(hidden)]
    fn fits(_core: &[usize], _strides: &[isize], _step: isize) -> bool
    where
        Self: Sized,
    {
        Self::STRIDED
    }

    /// Makes one call.
    ///
    /// # Errors
    ///
    /// What the function reports: any error.
    fn call<'c>(&self, cores: I::Cores<'c>, out: O::Cores<'c>) -> Result<(), ElementaryError>;

    /// Makes a block of calls: one after another by [`Self::call`], unless said otherwise.
    ///
    /// # Errors
    ///
    /// That of the first call that fails, with the number of the call in the block.
    fn run(&self, args: &mut Args<'_, I, O>) -> Result<(), (usize, ElementaryError)> {
        one_by_one(self, args)
    }
}

/// Makes calls one after another, compiled for the processor.
#[inline(always)]
pub(super) fn one_by_one<I: Inputs, O: Outputs, F: Elementary<I, O> + ?Sized>(
    function: &F,
    args: &mut Args<'_, I, O>,
) -> Result<(), (usize, ElementaryError)> {
    let done = dispatch(Block { function, args: &mut *args });
    done.map_err(|(k, error)| (k, error.unwrap_or_else(|| args.unreadable())))
}

/// An elementary function without its type, so that what brings cores is compiled once for the types of the elements
/// and not for each function.
pub(crate) trait Function<I: Inputs, O: Outputs>: Send + Sync {
    fn fits(&self, core: &[usize], strides: &[isize], step: isize) -> bool;
    fn fills(&self) -> bool;
    fn run_block(&self, args: &mut Args<'_, I, O>) -> Result<(), (usize, ElementaryError)>;
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Function<I, O> for F {
    fn fits(&self, core: &[usize], strides: &[isize], step: isize) -> bool {
        F::fits(core, strides, step)
    }

    fn fills(&self) -> bool {
        F::FILLS
    }

    fn run_block(&self, args: &mut Args<'_, I, O>) -> Result<(), (usize, ElementaryError)> {
        self.run(args)
    }
}

/// Calls one after another, compiled for the processor.
struct Block<'b, 'a, I: Inputs + 'a, O: Outputs + 'a, F: ?Sized> {
    function: &'b F,
    args: &'b mut Args<'a, I, O>,
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O> + ?Sized> Kernel for Block<'_, '_, I, O, F> {
    /// The call that failed, and why, unless its cores cannot be had.
    type Out = Result<(), (usize, Option<ElementaryError>)>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        for k in 0..self.args.len() {
            let Some((cores, out)) = self.args.cores(k) else {
                return Err((k, None));
            };
            self.function.call(cores, out).map_err(|error| (k, Some(error)))?;
        }
        Ok(())
    }
}

/// What a closure may return: nothing, or a result of nothing with any error. Sealed.
#[diagnostic::on_unimplemented(
    message = "an elementary function returns `()` or `Result<(), E>`, not `{Self}`",
    note = "results are written to the cores of the outputs"
)]
pub trait Outcome: Sealed {
    #[doc(hidden)]
    fn outcome(self) -> Result<(), ElementaryError>;
}

impl Sealed for () {}
impl<E> Sealed for Result<(), E> {}

impl Outcome for () {
    #[inline(always)]
    fn outcome(self) -> Result<(), ElementaryError> {
        Ok(())
    }
}

impl<E: Into<ElementaryError>> Outcome for Result<(), E> {
    #[inline(always)]
    fn outcome(self) -> Result<(), ElementaryError> {
        self.map_err(Into::into)
    }
}

/// A closure as an elementary function.
#[derive(Clone, Copy)]
pub struct Each<F>(pub(super) F);

debug_of_fields!([F] Each<F>);

impl<I: Inputs, O: Outputs, F, R> Elementary<I, O> for Each<F>
where
    F: for<'c> Fn(<I as Inputs>::Cores<'c>, <O as Outputs>::Cores<'c>) -> R + Send + Sync,
    R: Outcome,
{
    #[inline(always)]
    fn call<'c>(
        &self,
        cores: <I as Inputs>::Cores<'c>,
        out: <O as Outputs>::Cores<'c>,
    ) -> Result<(), ElementaryError> {
        (self.0)(cores, out).outcome()
    }
}
