//! Calls whose results take the place of their first operand.

use super::arguments::{Arguments, Destinations, Held};
use super::axes::Options;
use super::call::Single;
use super::elementary::{Elementary, Inputs};
use super::eval::{Calling, Masked, looped};
use super::function::Gufunc;
use crate::error::{CoreAxesFlaw, Error, Result};
use crate::expr::{check_copies, prepared};
use crate::memory::{for_tuples, refill};
use crate::ops::cores::{self, Row, Source, Work};
use crate::storage::Writer;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Types of inputs, told apart into the first and the others. Sealed.
pub trait FirstAndRest: Inputs {
    /// The first.
    type First: Copy + Send + Sync;
    /// The others.
    type Rest: Inputs;

    #[doc(hidden)]
    fn joined<'s>(
        first: &'s [Self::First],
        rest: <Self::Rest as cores::Inputs>::Slices<'s>,
    ) -> <Self as cores::Inputs>::Slices<'s>;
}

macro_rules! lists {
    ($count:literal: $A:ident $a:ident $z:tt $(, $T:ident $name:ident $k:tt)*) => {
        impl<T: Copy + Send + Sync> FirstAndRest for [T; $count] {
            type First = T;
            type Rest = [T; $count - 1];

            fn joined<'s>(first: &'s [T], [$($name),*]: [&'s [T]; $count - 1]) -> [&'s [T]; $count] {
                [first, $($name),*]
            }
        }

        lists!(@tuple $($T $name),*);
    };
    (@tuple) => {
        impl<A: Copy + Send + Sync> FirstAndRest for (A,) {
            type First = A;
            type Rest = [A; 0];

            fn joined<'s>(first: &'s [A], _rest: [&'s [A]; 0]) -> (&'s [A],) {
                (first,)
            }
        }
    };
    (@tuple $($T:ident $name:ident),*) => {
        impl<A: Copy + Send + Sync, $($T: Copy + Send + Sync),*> FirstAndRest for (A, $($T),*) {
            type First = A;
            type Rest = ($($T,)*);

            fn joined<'s>(first: &'s [A], ($($name,)*): ($(&'s [$T],)*)) -> (&'s [A], $(&'s [$T]),*) {
                (first, $($name),*)
            }
        }
    };
}
for_tuples!(lists 6);

impl<I: FirstAndRest, O: Single<Elem = I::First>, F: Elementary<I, O>> Gufunc<I, O, F> {
    /// Makes all calls with the cores of a tensor as those of the first input, and writes the results in their places:
    /// for a signature whose first input and only output are alike. `others` are the other operands, up to five, `()`
    /// if there are none. Each old core is copied before its call.
    ///
    /// # Errors
    ///
    /// [`Error::CoreAxes`] if the first input and the output are not alike, [`Error::Destination`] if the loop
    /// axes of the others stretch those of the tensor, [`Error::WouldDensify`] for more than 2^33 elements of a
    /// sparse tensor, and what [`Call::assign_to`](super::Call::assign_to) reports. After an error the tensor may
    /// be partly written.
    ///
    /// # Panics
    ///
    /// Panics if the function does.
    ///
    /// ```
    /// use lensor::gufunc::{sort, solve, Gufunc};
    /// use lensor::prelude::*;
    /// let mut t = Tensor::from_nested([[3.0, 1.0], [2.0, 5.0]])?;
    /// sort().update(&mut t, ())?;
    /// assert_eq!(t.to_vec()?, [1.0, 3.0, 2.0, 5.0]);
    ///
    /// let scale = Gufunc::<[f64; 2], [f64; 1], _>::each("(n),()->(n)", |[x, by], [mut out]| {
    ///     out.iter_mut().zip(x.iter()).for_each(|(slot, x)| *slot = x * by[0]);
    /// })?;
    /// scale.update(&mut t.view_mut().transpose([1, 0])?, [Tensor::from(vec![10.0, 1.0]).view()])?;
    /// assert_eq!(t.to_vec()?, [10.0, 3.0, 20.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn update<W, R>(&self, t: &mut Tensor<W>, others: R) -> Result<()>
    where
        W: Writer<Elem = I::First>,
        R: Arguments<I::Rest>,
        for<'t> &'t mut Tensor<W>: Destinations<O>,
    {
        let signature = self.inner.rules.signature()?;
        if !signature.is_alike() {
            let (signature, flaw) = (signature.to_string(), CoreAxesFlaw::Update);
            return Err(Error::CoreAxes { signature, flaw });
        }
        let others = others.hold();
        let mut shapes = others.shapes()?;
        shapes.insert(0, t.shape());
        let options = Options { empty: self.inner.rules.empty, ..Options::default() };
        let fit = self.inner.rules.fit(&shapes, Some(&[t.shape()]), &options)?;
        check_copies(&t.view(), t.shape().count()?)?;
        t.address_map().check_injective()?;
        let _results = prepared(fit.has_calls(), &mut |visit| others.deferred(visit))?;
        let mut rest = (others.operands(&fit.inputs[1..], &fit.loops, &|_, _, _| false)?, None);
        <Masked<I::Rest> as cores::Inputs>::hold(&mut rest)?;
        let first = Source::packed(&fit.inputs[0].core);
        let sources = <I::Rest as cores::Inputs>::sources(&rest.0);
        let strides = std::iter::once(&first).chain(sources.iter().map(|source| &source.strides));
        let mut calling = Calling::<I, O>::new(&self.inner.function, &fit, strides);
        calling.clear = !F::FILLS;
        let results: SmallVec<[usize; 1]> = SmallVec::from_iter([fit.inputs[0].size()]);
        t.with(&fit.outputs, |outs| {
            let calls = looped(&fit, &results);
            calls.assign::<Masked<I::Rest>, O>(&rest, outs, true, &Updating { calling })
        })
    }
}

/// Calls of rows whose old results are the cores of the first input.
struct Updating<'w, I, O: Single> {
    calling: Calling<'w, I, O>,
}

impl<I, O> Work<Masked<I::Rest>, O> for Updating<'_, I, O>
where
    I: FirstAndRest,
    O: Single<Elem = I::First>,
{
    fn run(&self, row: Row<'_, Masked<I::Rest>, O>) -> Result<()> {
        let (mut outputs, mut old) = (row.outputs, Vec::new());
        refill(&mut old, O::slots(&mut outputs).iter().copied())?;
        let mut offsets: SmallVec<[isize; 4]> = SmallVec::from_slice(row.offsets);
        let mut steps: SmallVec<[isize; 4]> = SmallVec::from_slice(row.steps);
        offsets.insert(0, 0);
        steps.insert(0, self.calling.fit.inputs[0].size() as isize);
        let rest = <I::Rest as cores::Inputs>::shorter(row.inputs.0);
        let inputs = I::joined(&old, rest);
        let outputs = <O as cores::Outputs>::reborrow(&mut outputs);
        self.calling.calls(0..row.count, row.first, inputs, &offsets, &steps, outputs)
    }
}
