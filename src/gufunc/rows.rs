//! Calls whose cores differ in extent from one to the next: what ragged operands need of a gufunc.

use super::axes::{Axes, Options, arguments, missing};
use super::call::Call;
use super::elementary::{Elementary, Function, Inputs, Outputs};
use super::eval::Calling;
use super::extent::{Extent, Kind};
use super::fit::{Fit, NamedExtents, extents};
use super::function::Rules;
use super::signature::Signature;
use crate::error::{Error, Result};
use crate::ops::cores::{Arrangement, Source};
use crate::shape::Shape;
use smallvec::SmallVec;

/// The core axes of a call, for operands of known ranks.
pub(crate) struct CoreRanks {
    /// Core axes that each input has.
    pub(crate) inputs: SmallVec<[usize; 3]>,
    /// All axes of each input, those of the loop first.
    pub(crate) orders: SmallVec<[Axes; 3]>,
    /// The axes of each result: those of the loop, those of the core, then those that are kept.
    pub(crate) outputs: SmallVec<[Axes; 2]>,
}

/// Extents of core axes, none where they differ from call to call.
pub(crate) type CoreExtents = SmallVec<[Option<usize>; 4]>;

/// Extents by name that destinations give.
pub(crate) type Given = SmallVec<[Option<usize>; 4]>;

/// Shapes of these ranks.
fn shapes_of(cores: &[CoreExtents]) -> Vec<Shape> {
    let shape = |core: &CoreExtents| core.iter().map(|extent| extent.unwrap_or(1)).collect();
    cores.iter().map(shape).collect()
}

impl CoreRanks {
    /// An error of cores as one of the axes of operands.
    pub(crate) fn in_operands(&self, mut error: Error) -> Error {
        if let Error::CoreExtent { argument, axis, .. } = &mut error
            && let Some(k) = argument.checked_sub(1)
            && let Some(&own) = self.orders[k].get(self.orders[k].len() - self.inputs[k] + *axis)
        {
            *axis = own;
        }
        error
    }
}

/// What a call makes of the extents of cores, whatever the types of its function and operands.
#[derive(Clone, Copy)]
pub(crate) struct CoreRules<'c> {
    rules: &'c Rules,
    options: &'c Options,
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>, X, M> Call<I, O, F, X, M> {
    pub(crate) fn core_rules(&self) -> CoreRules<'_> {
        CoreRules { rules: &self.inner.rules, options: &self.options }
    }

    pub(crate) fn function(&self) -> &dyn Function<I, O> {
        &self.inner.function
    }
}

impl<'c> CoreRules<'c> {
    pub(crate) fn signature(&self) -> Result<&'c Signature> {
        self.rules.signature()
    }

    /// Which axes are core axes, for operands of these ranks. Extents are for errors alone.
    pub(crate) fn core_ranks(&self, shapes: &[Shape]) -> Result<CoreRanks> {
        let signature = self.signature()?;
        let missing = missing(signature, shapes)?;
        let (mut inputs, mut outputs) = Default::default();
        arguments(signature, shapes, self.options, missing, (&mut inputs, &mut outputs))?;
        Ok(CoreRanks {
            inputs: inputs.iter().map(|input| input.order.len() - input.loops).collect(),
            orders: inputs.into_iter().map(|input| input.order).collect(),
            outputs: outputs.into_iter().map(|output| output.order).collect(),
        })
    }

    /// Holds extents of cores against each other, as far as they are known.
    pub(crate) fn check_cores(&self, cores: &[CoreExtents]) -> Result<()> {
        self.core_dims(cores, &[]).map(drop)
    }

    /// The extents that destinations with these core axes give to names, those that are the same in all calls.
    pub(crate) fn given(
        &self,
        cores: &[CoreExtents],
        outs: impl Iterator<Item = CoreExtents>,
    ) -> Result<Given> {
        let signature = self.signature()?;
        let missing = missing(signature, &shapes_of(cores))?;
        let mut given = Given::from_elem(None, signature.names().len());
        for (axes, out) in signature.output_axes().iter().zip(outs) {
            let there = axes.iter().filter(|axis| !axis.is_missing(missing));
            for (axis, extent) in there.zip(out) {
                if let Extent::Of(name) = axis {
                    given[*name] = given[*name].or(extent);
                }
            }
        }
        Ok(given)
    }

    /// The extents of names as far as they are known, one for those that differ from call to call.
    fn core_dims(
        &self,
        cores: &[CoreExtents],
        given: &[Option<usize>],
    ) -> Result<SmallVec<[Option<usize>; 4]>> {
        let signature = self.signature()?;
        let missing = missing(signature, &shapes_of(cores))?;
        let named = || {
            (1..).zip(signature.input_axes().iter().zip(cores)).flat_map(
                |(argument, (axes, core))| {
                    let there = axes.iter().filter(|name| !missing.contains(**name));
                    there.zip(core).map(move |(&name, &extent)| (argument, name, extent))
                },
            )
        };
        // An extent that differs is taken for one that meets the others.
        let any = |name: usize| match signature.names()[name].kind {
            Kind::Fixed(extent) => extent,
            _ => named().find_map(|(_, own, extent)| extent.filter(|_| own == name)).unwrap_or(1),
        };
        let mut met = named().map(|(_, name, extent)| extent.unwrap_or_else(|| any(name)));
        let shapes: Vec<Shape> =
            cores.iter().map(|core| met.by_ref().take(core.len()).collect()).collect();
        let (mut inputs, mut outputs) = Default::default();
        let options = Options::default();
        arguments(signature, &shapes, &options, missing, (&mut inputs, &mut outputs))?;
        let found = extents(signature, &shapes, &inputs, missing);
        let mut dims = found.map_err(|mut error| {
            // Of an argument whose own extent it is.
            if let Error::CoreExtent { dim, so_far, first: first @ 1.., .. } = &mut error {
                let has = |name: usize| signature.names()[name].text == *dim;
                let known = named().find(|&(_, name, own)| own == Some(*so_far) && has(name));
                *first = known.map_or(*first, |(argument, ..)| argument);
            }
            error
        })?;
        let unknown = dims.iter_mut().zip(given).enumerate();
        let unknown = unknown.filter(|(name, _)| !missing.contains(*name));
        unknown.for_each(|(_, (dim, given))| *dim = dim.or(*given));
        Ok(dims)
    }

    /// Extents of the core axes of results, for cores some of whose extents differ from call to call: none for those
    /// that follow from such ones, or that the function may make of them.
    pub(crate) fn core_results(
        &self,
        cores: &[CoreExtents],
        given: &[Option<usize>],
    ) -> Result<Vec<CoreExtents>> {
        let signature = self.signature()?;
        let shapes = shapes_of(cores);
        if cores.iter().flatten().all(Option::is_some) {
            let fit = self.fit_cores(&shapes, given)?;
            let core = |output: &Arrangement| output.present().map(Some).collect();
            return Ok(fit.outputs.iter().map(core).collect());
        }
        let missing = missing(signature, &shapes)?;
        let mut dims = self.core_dims(cores, given)?;
        let names = 0..signature.names().len();
        let unknown = names.filter(|&name| dims[name].is_none() && !missing.contains(name));
        if !self.rules.gives_extents() {
            // Known of no call.
            let named = NamedExtents { signature, dims: &dims, missing, empty: false };
            unknown.map(|name| named.name(name)).collect::<Result<Vec<_>>>()?;
        }
        for (axes, core) in signature.input_axes().iter().zip(cores) {
            let there = axes.iter().filter(|name| !missing.contains(**name));
            for (&name, _) in there.zip(core).filter(|(_, extent)| extent.is_none()) {
                dims[name] = None;
            }
        }
        let named = NamedExtents { signature, dims: &dims, missing, empty: self.options.empty };
        let differs = |name: usize| !missing.contains(name) && dims[name].is_none();
        let extent = |extent: &Extent| match extent {
            Extent::Of(name) if differs(*name) => Ok(None),
            Extent::Sum(sum) if sum.names().any(differs) => Ok(None),
            extent => named.extent(extent).map(Some),
        };
        let there = |axis: &&Extent| !axis.is_missing(missing);
        let of = |axes: &Vec<Extent>| axes.iter().filter(there).map(extent).collect();
        signature.output_axes().iter().map(of).collect()
    }

    /// The signature fitted to cores of these shapes, with extents of names that are in none of them.
    pub(crate) fn fit_cores(&self, cores: &[Shape], given: &[Option<usize>]) -> Result<Box<Fit>> {
        let options = Options { empty: self.options.empty, ..Options::default() };
        let mut fit = Box::<Fit>::default();
        self.rules.fit_given(cores, None, given, &options, &mut fit)?;
        // Failures tell the number of a call.
        fit.loops = Shape::from([isize::MAX as usize]);
        Ok(fit)
    }
}

/// The calls of a function with cores of these extents, row-major.
pub(crate) fn core_calls<'w, I: Inputs, O: Outputs>(
    function: &'w dyn Function<I, O>,
    fit: &'w Fit,
) -> Calling<'w, I, O> {
    let strides = fit.inputs.iter().map(|input| Source::packed(&input.core));
    Calling::new(function, fit, strides)
}

/// An error of the extents of cores as one of the cores of a row.
pub(crate) fn of_cores(error: Error, row: impl FnOnce() -> Vec<usize>) -> Error {
    match error {
        Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, .. } => {
            let row = Some(row());
            Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, row }
        }
        error => error,
    }
}
