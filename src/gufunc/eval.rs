//! Calls at work: rows of calls as the driver hands them out, and cores cleared before each.

use super::arguments::{Fits, Held};
use super::elementary::{Args, ElementaryError, Function, Inputs, Outputs, Place};
use super::fit::Fit;
use crate::error::{Cause, Error, Result};
use crate::expr::{Expr, Prepare};
use crate::map::AddressMap;
use crate::ops::cores::{self, Arrangement, Calls, Cut, Operand, Row, Source, Work};
use crate::shape::Shape;
use crate::tensor::inverse;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;

/// Elements read and written from which on threads share a loop, and fewest of a task.
const PARALLEL: usize = 1 << 17;
const GRAIN: usize = 1 << 15;

/// The loop of a call, whose results have so many elements.
pub(super) fn looped<'c>(fit: &'c Fit, results: &'c [usize]) -> Calls<'c> {
    Calls { loops: &fit.loops, results, parallel: PARALLEL, grain: GRAIN }
}

/// Inputs of types `I`, and the mask of the calls if there is one.
pub(super) struct Masked<I>(PhantomData<I>);

impl<I: cores::Inputs> cores::Inputs for Masked<I> {
    type Operands<'e>
        = (I::Operands<'e>, Option<Box<Operand<'e, bool>>>)
    where
        Self: 'e;
    type Buffers = (I::Buffers, Vec<bool>);
    type Slices<'g>
        = (I::Slices<'g>, Option<&'g [bool]>)
    where
        Self: 'g;
    const COUNT: usize = I::COUNT + 1;

    fn sources<'s>((operands, mask): &'s Self::Operands<'_>) -> cores::Sources<'s> {
        let mut sources = I::sources(operands);
        if let Some(mask) = mask {
            sources.push(mask.source());
        }
        sources
    }

    fn hold((operands, mask): &mut Self::Operands<'_>) -> Result<()> {
        I::hold(operands)?;
        mask.as_mut().map_or(Ok(()), |mask| mask.hold()).or_else(|error| {
            // Operands come before the mask, and would be read later.
            I::try_all(operands)?;
            Err(error)
        })
    }

    fn read(
        (operands, mask): &Self::Operands<'_>,
        buffers: &mut Self::Buffers,
        ranges: &[Range<usize>],
    ) -> Result<()> {
        I::read(operands, &mut buffers.0, ranges)?;
        mask.as_ref().map_or(Ok(()), |mask| mask.read(&mut buffers.1, ranges))
    }

    fn try_all((operands, mask): &Self::Operands<'_>) -> Result<()> {
        I::try_all(operands)?;
        mask.as_deref().map_or(Ok(()), Operand::try_all)
    }

    fn blocks_in_words(
        (operands, mask): &Self::Operands<'_>,
        number: usize,
        name: &str,
        boxes: &mut dyn Iterator<Item = Vec<Range<usize>>>,
    ) -> Result<Vec<String>> {
        match mask {
            Some(mask) if number == I::COUNT => mask.blocks_in_words(Some(name), boxes),
            _ => I::blocks_in_words(operands, number, name, boxes),
        }
    }

    fn slices<'g>(
        (operands, mask): &'g Self::Operands<'_>,
        buffers: &'g Self::Buffers,
    ) -> Self::Slices<'g> {
        let mask = mask.as_ref().map(|mask| mask.slice(&buffers.1));
        (I::slices(operands, &buffers.0), mask)
    }

    fn shorter<'s, 'l: 's>((slices, mask): Self::Slices<'l>) -> Self::Slices<'s> {
        (I::shorter(slices), mask)
    }
}

/// What tells of each index of a loop whether its call is made, of any type.
pub(super) trait Masking: Send + Sync {
    fn extents(&self) -> Result<Shape>;

    fn reads<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    fn operand(&self, loops: &Shape) -> Result<Box<Operand<'_, bool>>>;
}

impl<M: Expr<Elem = bool>> Masking for M {
    fn extents(&self) -> Result<Shape> {
        self.shape()
    }

    fn reads<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.deferred(visit);
    }

    fn operand(&self, loops: &Shape) -> Result<Box<Operand<'_, bool>>> {
        let rank = self.shape()?.rank();
        let arranged =
            Arrangement { order: (0..rank).collect(), loops: rank, ..Default::default() };
        Ok(Box::new(Operand::new(self, &arranged, loops, |_, _, _| true)?))
    }
}

/// A call whose operands are known.
pub(super) struct Prepared<'c, I: Inputs + 'c, O: Outputs> {
    fit: &'c Fit,
    operands: (<I as cores::Inputs>::Operands<'c>, Option<Box<Operand<'c, bool>>>),
    or: Option<O::Elems>,
    /// Elements of a core of each output.
    results: SmallVec<[usize; 2]>,
}

impl<'c, I: Inputs, O: Outputs> Prepared<'c, I, O> {
    /// `fits` returns whether cores of an input need not be row-major.
    #[inline(always)]
    pub(super) fn new(
        (operands, mask): (&'c dyn Held<I>, Option<&'c dyn Masking>),
        or: Option<O::Elems>,
        fit: &'c Fit,
        fits: Fits<'_>,
    ) -> Result<Self> {
        let operands = operands.operands(&fit.inputs, &fit.loops, fits)?;
        let mask = mask.map(|mask| mask.operand(&fit.loops)).transpose()?;
        let mut results = SmallVec::new();
        for output in &fit.outputs {
            results.push(output.elements()?);
        }
        Ok(Self { fit, operands: (operands, mask), or, results })
    }

    /// Evaluates what is to be held, so that operands can be read.
    pub(super) fn hold(&mut self) -> Result<()> {
        <Masked<I> as cores::Inputs>::hold(&mut self.operands)
    }

    fn calls(&self) -> Calls<'_> {
        looped(self.fit, &self.results)
    }

    /// How the loop is cut, and by how many threads it is shared.
    pub(super) fn cut(&self) -> (Cut, usize) {
        let cut = self.calls().cut(&self.sources());
        (cut, self.calls().threads(cut))
    }

    pub(super) fn sources(&self) -> cores::Sources<'_> {
        <Masked<I> as cores::Inputs>::sources(&self.operands)
    }

    /// What is said of the blocks of an operand, or of the mask behind them.
    pub(super) fn blocks_in_words(&self, number: usize, name: &str) -> Result<Vec<String>> {
        let (calls, sources) = (self.calls(), self.sources());
        let boxes = &mut calls.boxes(&sources, true);
        <Masked<I> as cores::Inputs>::blocks_in_words(&self.operands, number, name, boxes)
    }

    fn work<'w>(&'w self, function: &'w dyn Function<I, O>, clear: bool) -> Calling<'w, I, O> {
        let sources = <I as cores::Inputs>::sources(&self.operands.0);
        let strides = sources.iter().map(|source| &source.strides);
        let packed = sources.iter().all(|source| source.packed);
        let mut calling = Calling::new(function, self.fit, strides);
        (calling.packed, calling.clear) = (packed, clear && !function.fills());
        calling.or = self.or.as_ref();
        calling
    }

    /// Makes all calls, with their results one after another in slices: of elements that are to be cleared, or of
    /// defaults.
    pub(super) fn fill(
        &self,
        function: &dyn Function<I, O>,
        out: <O as cores::Outputs>::Slices<'_>,
        clear: bool,
    ) -> Result<()> {
        let work = self.work(function, clear);
        self.calls().fill::<Masked<I>, O>(&self.operands, out, &work)
    }

    /// Makes all calls, with their results to destinations.
    pub(super) fn assign(
        &self,
        function: &dyn Function<I, O>,
        outs: &mut <O as cores::Outputs>::Destinations<'_>,
    ) -> Result<()> {
        let (work, kept) =
            (self.work(function, true), self.operands.1.is_some() && self.or.is_none());
        self.calls().assign::<Masked<I>, O>(&self.operands, outs, kept, &work)
    }
}

/// Where each element of output `k` lies among results that come loop first.
pub(super) fn result_map(fit: &Fit, k: usize) -> Result<AddressMap> {
    let output = &fit.outputs[k];
    if output.is_in_order() {
        return AddressMap::of_shape(&fit.shapes[k]);
    }
    let extents = fit.loops.iter().copied().chain(output.present());
    let map = AddressMap::of_shape(&extents.collect())?;
    let map = (map.rank()..output.order.len()).try_fold(map, AddressMap::insert_axis)?;
    map.transpose(inverse(&output.order))
}

/// What is done with rows of cores.
pub(crate) struct Calling<'w, I, O: Outputs> {
    function: &'w dyn Function<I, O>,
    pub(super) fit: &'w Fit,
    /// Strides of all core axes, one argument after another.
    strides: SmallVec<[isize; 8]>,
    packed: bool,
    /// Whether outputs are to be cleared before calls.
    pub(super) clear: bool,
    or: Option<&'w O::Elems>,
    types: PhantomData<fn(I)>,
}

impl<'w, I: Inputs, O: Outputs> Calling<'w, I, O> {
    /// Calls with cores of inputs that are row-major, of these strides, and outputs that need not be cleared.
    pub(super) fn new(
        function: &'w dyn Function<I, O>,
        fit: &'w Fit,
        inputs: impl Iterator<Item = impl AsRef<[isize]>>,
    ) -> Self {
        let mut strides = SmallVec::new();
        inputs.for_each(|own| strides.extend_from_slice(own.as_ref()));
        fit.outputs.iter().for_each(|output| strides.extend(Source::packed(&output.core)));
        Self { function, fit, strides, packed: true, clear: false, or: None, types: PhantomData }
    }
}

impl<I: Inputs, O: Outputs> Work<Masked<I>, O> for Calling<'_, I, O> {
    fn run(&self, row: Row<'_, Masked<I>, O>) -> Result<()> {
        let (inputs, mask) = row.inputs;
        let operands = <I as cores::Inputs>::COUNT;
        let Some(mask) = mask else {
            return self.calls(
                0..row.count,
                row.first,
                inputs,
                row.offsets,
                row.steps,
                row.outputs,
            );
        };
        let made = |k: usize| {
            let at =
                row.offsets[operands].wrapping_add(row.steps[operands].wrapping_mul(k as isize));
            mask.get(at as usize).copied().unwrap_or(false)
        };
        let (mut start, mut out) = (0, row.outputs);
        while start < row.count {
            let make = made(start);
            let end = (start + 1..row.count).find(|&k| made(k) != make).unwrap_or(row.count);
            let (mut now, later) =
                <O as cores::Outputs>::split(out, |k| (end - start) * self.fit.outputs[k].size());
            out = later;
            match self.or {
                _ if make => {
                    self.calls(start..end, row.first, inputs, row.offsets, row.steps, now)?;
                }
                Some(values) => <O as Outputs>::put(&mut now, values),
                None => {}
            }
            start = end;
        }
        Ok(())
    }
}

impl<I: Inputs, O: Outputs> Calling<'_, I, O> {
    /// Makes some calls of a row, the first of which has this number among all: of cores that begin at offsets and are
    /// steps apart, with results one after another.
    pub(crate) fn calls(
        &self,
        calls: Range<usize>,
        first: usize,
        inputs: <I as cores::Inputs>::Slices<'_>,
        offsets: &[isize],
        steps: &[isize],
        mut outputs: <O as cores::Outputs>::Slices<'_>,
    ) -> Result<()> {
        if self.clear {
            <O as Outputs>::clear(&mut outputs);
        }
        let fit = self.fit;
        let start = |(offset, step): (&isize, &isize)| {
            offset.wrapping_add(step.wrapping_mul(calls.start as isize))
        };
        let mut all: SmallVec<[isize; 12]> = SmallVec::from_slice(&steps[..fit.inputs.len()]);
        fit.outputs.iter().for_each(|output| all.push(output.size() as isize));
        let (dimensions, places) =
            (fit.dimensions(calls.len()), places(fit, &all, offsets.iter().zip(steps).map(start)));
        all.extend_from_slice(&self.strides);
        let (dimensions, steps, packed) = (&dimensions[..], &all[..], self.packed);
        let (places, inputs) = (&places[..], <I as cores::Inputs>::shorter(inputs));
        let outputs = <O as cores::Outputs>::reborrow(&mut outputs);
        let mut args = Args::<I, O> { inputs, outputs, dimensions, steps, places, packed };
        let made = self.function.run_block(&mut args);
        made.map_err(|failed| failed_call(fit, calls, first, failed))
    }
}

/// Where the cores of all arguments begin: those of inputs at offsets, of outputs at the start; `steps` come first among
/// those that a function is told.
pub(super) fn places<'f>(
    fit: &'f Fit,
    steps: &[isize],
    offsets: impl Iterator<Item = isize>,
) -> SmallVec<[Place<'f>; 4]> {
    let place = |argument: &'f Arrangement, step, offset| {
        let shape = &argument.core[..];
        Place { offset, step, len: argument.size(), shape }
    };
    // A loop each, as iterators that are chained take longer than a small call.
    let (of_inputs, of_outputs) = steps.split_at(fit.inputs.len());
    let mut places = SmallVec::new();
    for ((input, &step), offset) in fit.inputs.iter().zip(of_inputs).zip(offsets) {
        places.push(place(input, step, offset));
    }
    for (output, &step) in fit.outputs.iter().zip(of_outputs) {
        places.push(place(output, step, 0));
    }
    places
}

/// The error of some calls of a row, the first of which has this number among all, of the one that is said to have failed.
#[cold]
pub(super) fn failed_call(
    fit: &Fit,
    calls: Range<usize>,
    first: usize,
    (k, error): (usize, ElementaryError),
) -> Error {
    // A function may say anything.
    let last = calls.end.saturating_sub(1);
    let k = calls.start.saturating_add(k).min(last);
    let index = fit.loops.unravel(first + k).to_vec();
    let source = match error.downcast::<Error>() {
        Ok(error) if matches!(*error, Error::OutOfMemory { .. }) => return *error,
        Ok(error) => error,
        Err(error) => error,
    };
    Error::Elementary { index, source: Cause::new(source) }
}
