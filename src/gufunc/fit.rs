//! From shapes to a plan of calls: which axes are core axes, and what they and the loop extend to.

use super::axes::{Axes, InputArrangements, Options, OutputArrangements, arguments, missing};
use super::extent::{Extent, Kind};
use super::signature::Signature;
use crate::error::{Error, Result};
use crate::ops::cores::{Arrangement, BLOCK_ELEMENTS, SmallSet, Source};
use crate::shape::{Align, Shape, collect_inline};
use smallvec::SmallVec;

/// A call fitted to shapes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    /// Extents of the names, if they are not missing.
    pub(super) dims: SmallVec<[Option<usize>; 4]>,
    pub(super) loops: Shape,
    pub(crate) inputs: InputArrangements,
    pub(crate) outputs: OutputArrangements,
    pub(super) shapes: SmallVec<[Shape; 2]>,
    /// The loop where inputs are row-major, if it is one row then.
    pub(super) row: Option<OneRow>,
    fitted_to: Subject,
}

/// What a call was fitted to.
#[derive(Debug, Clone, Default)]
struct Subject {
    /// Of inputs.
    shapes: SmallVec<[Shape; 3]>,
    with_outputs: bool,
    options: Options,
}

/// The loop of a call as one row, if all inputs are row-major.
#[derive(Debug, Clone, Default)]
pub(super) struct OneRow {
    /// Elements of each input.
    pub(super) counts: SmallVec<[usize; 3]>,
    /// What a function is told, see [`Args`](super::Args).
    pub(super) dimensions: SmallVec<[usize; 8]>,
    pub(super) steps: SmallVec<[isize; 12]>,
}

impl OneRow {
    /// That of a loop in which each input has a core for every call or one for all, if there are few elements.
    pub(super) fn of(fit: &Fit) -> Option<Self> {
        let calls = fit.loops.count().ok().filter(|calls| *calls > 0)?;
        let mut row = Self { dimensions: fit.dimensions(calls), ..Self::default() };
        let mut each = 0_usize;
        for (input, shape) in fit.inputs.iter().zip(&fit.fitted_to.shapes) {
            let own: usize = input.order[..input.loops].iter().map(|axis| shape[*axis]).product();
            let (elements, count) = (input.elements().ok()?, shape.count().ok()?);
            let is_whole = input.is_in_order() && elements.checked_mul(own) == Some(count);
            if !is_whole || (own != 1 && own != calls) || count == 0 {
                return None;
            }
            row.counts.push(count);
            row.steps.push(if own == calls && calls > 1 { elements as isize } else { 0 });
            each = each.saturating_add(elements);
        }
        for output in &fit.outputs {
            let elements = output.elements().ok()?;
            row.steps.push(elements as isize);
            each = each.saturating_add(elements);
        }
        let arguments = fit.inputs.iter().chain(&fit.outputs);
        arguments.for_each(|argument| row.steps.extend(Source::packed(&argument.core)));
        (calls <= BLOCK_ELEMENTS / each.max(1)).then_some(row)
    }
}

/// Extents that the function gives to names that are in no input.
pub(super) type Given<'g> = &'g dyn Fn(&mut CoreDims<'_>) -> Result<()>;

/// The extents of the core dimensions of a call, for [`Gufunc::with_extents`](super::Gufunc::with_extents).
#[derive(Debug)]
pub struct CoreDims<'d> {
    signature: &'d Signature,
    dims: &'d mut [Option<usize>],
    /// Whether the extent is that of an input, is fixed, or is missing: not for the function to give.
    settled: SmallVec<[bool; 4]>,
}

impl CoreDims<'_> {
    /// The extents that are known, but for those that are fixed.
    pub(super) fn named_extents(&self) -> Vec<(String, usize)> {
        named(self.signature, self.dims)
    }

    /// Sets those that inputs do not.
    pub(super) fn give(&mut self, given: &[Option<usize>]) {
        let dims = self.dims.iter_mut().zip(&self.settled).zip(given);
        dims.filter(|((_, settled), _)| !**settled).for_each(|((dim, _), given)| {
            *dim = dim.or(*given);
        });
    }

    /// The extent of a dimension, unless it is not known or missing.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.dims[self.number(name)?]
    }

    /// All dimensions, in the order in which the signature names them first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<usize>)> {
        let names = self.signature.names().iter().map(|name| name.text.as_str());
        names.zip(self.dims.iter().copied())
    }

    /// Sets the extent of a dimension that is in no input;
    /// [`Gufunc::with_extents`](super::Gufunc::with_extents) has an example.
    ///
    /// # Errors
    ///
    /// [`Error::CoreUnknown`] if the signature has no such dimension, [`Error::CoreExtent`] if inputs have another
    /// extent, which is 1 of a dimension that is missing.
    pub fn set(&mut self, name: &str, extent: usize) -> Result<()> {
        let Some(number) = self.number(name) else {
            return Err(Error::CoreUnknown { dim: name.to_string() });
        };
        if !self.settled[number] {
            self.dims[number] = Some(extent);
            return Ok(());
        }
        // Functions see extent 1 of what is missing.
        let so_far = self.dims[number].unwrap_or(1);
        if so_far == extent {
            return Ok(());
        }
        Err(Error::CoreExtent {
            signature: self.signature.to_string(),
            dim: name.to_string(),
            argument: 0,
            axis: 0,
            extent,
            so_far,
            first: 0,
            row: None,
        })
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.signature.names().iter().position(|own| own.text == name)
    }
}

/// Fits a signature to shapes of inputs, and of outputs that are there.
pub(super) fn fit(
    signature: &Signature,
    shapes: &[Shape],
    outs: Option<&[Shape]>,
    options: &Options,
    given: Option<Given<'_>>,
    into: &mut Fit,
) -> Result<()> {
    let missing = missing(signature, shapes)?;
    let Fit { inputs, outputs, loops, .. } = into;
    arguments(signature, shapes, options, missing, (inputs, outputs))?;
    let mut dims = extents(signature, shapes, inputs, missing)?;
    for (k, (argument, shape)) in inputs.iter().zip(shapes).enumerate() {
        let own = collect_inline(argument.loops, 0, |axis| shape[argument.order[axis]]).into();
        if k == 0 {
            *loops = own;
        } else if *loops != own {
            *loops = loops.join(&own, Align::Right, k + 1)?;
        }
    }
    let has_extent = |name: usize| dims[name].is_some() || missing.contains(name);
    let names = if given.is_some() { dims.len() } else { 0 };
    let settled: SmallVec<[bool; 4]> = collect_inline(names, false, has_extent);
    for ((extents, argument), out) in
        signature.output_axes().iter().zip(&*outputs).zip(outs.into_iter().flatten())
    {
        if out.rank() != argument.order.len() || options.keepdims {
            continue;
        }
        let present = extents.iter().enumerate();
        let present = present.filter(|(axis, _)| !argument.lacks.contains(*axis));
        for ((_, extent), &axis) in present.zip(argument.core_axes()) {
            if let Extent::Of(name) = extent {
                dims[*name].get_or_insert(out[axis]);
            }
        }
    }
    if let Some(given) = given {
        given(&mut CoreDims { signature, dims: &mut dims, settled })?;
    }
    into.dims = dims;
    into.fitted_to = Subject {
        shapes: SmallVec::from(shapes),
        with_outputs: outs.is_some(),
        options: options.clone(),
    };
    into.cores(signature, options, missing)?;
    for (shape, out) in into.shapes.iter().zip(outs.into_iter().flatten()) {
        if shape != out {
            return Err(Error::Destination { expected: out.to_vec(), found: shape.to_vec() });
        }
    }
    Ok(())
}

/// Extents by name, but for those that are fixed or not known.
fn named(signature: &Signature, dims: &[Option<usize>]) -> Vec<(String, usize)> {
    let names = signature.names().iter().zip(dims);
    let extents = names.filter(|(name, _)| !matches!(name.kind, Kind::Fixed(_)));
    extents.filter_map(|(name, extent)| Some((name.text.clone(), (*extent)?))).collect()
}

impl Fit {
    /// Whether any call is made.
    pub(super) fn has_calls(&self) -> bool {
        !self.loops.contains(&0)
    }

    /// A number of calls, and the extents of the names, 1 of those that are missing.
    pub(super) fn dimensions(&self, calls: usize) -> SmallVec<[usize; 8]> {
        let extents = self.dims.iter().map(|extent| extent.unwrap_or(1));
        std::iter::once(calls).chain(extents).collect()
    }

    /// Elements of each result.
    pub(super) fn counts(&self) -> Result<SmallVec<[usize; 2]>> {
        let mut counts = SmallVec::new();
        for shape in &self.shapes {
            counts.push(shape.count()?);
        }
        Ok(counts)
    }

    /// Whether it was made for such a call.
    pub(super) fn is_for(
        &self,
        shapes: &[Shape],
        outs: Option<&[Shape]>,
        options: &Options,
    ) -> bool {
        let own = &self.fitted_to;
        own.shapes[..] == *shapes
            && outs.map_or(!own.with_outputs, |outs| own.with_outputs && self.shapes[..] == *outs)
            && own.options == *options
    }

    /// The extents by name, but for those that are fixed or missing.
    pub(super) fn named_extents(&self, signature: &Signature) -> Vec<(String, usize)> {
        named(signature, &self.dims)
    }

    /// Core extents of all arguments, and shapes of the results.
    fn cores(&mut self, signature: &Signature, options: &Options, missing: SmallSet) -> Result<()> {
        let extents = NamedExtents { signature, dims: &self.dims, missing, empty: options.empty };
        for (argument, axes) in self.inputs.iter_mut().zip(signature.input_axes()) {
            for &name in axes {
                argument.core.push(extents.name(name)?);
            }
        }
        for (argument, axes) in self.outputs.iter_mut().zip(signature.output_axes()) {
            for axis in axes {
                argument.core.push(extents.extent(axis)?);
            }
        }
        for argument in &self.outputs {
            let shape = shape_of(argument, &self.loops);
            Shape::check_rank(shape.rank())?;
            shape.count()?;
            self.shapes.push(shape);
        }
        Ok(())
    }
}

/// The extents of names.
pub(super) struct NamedExtents<'f> {
    pub(super) signature: &'f Signature,
    pub(super) dims: &'f [Option<usize>],
    pub(super) missing: SmallSet,
    /// Whether a sum of names one of which is 0 is 0.
    pub(super) empty: bool,
}

impl NamedExtents<'_> {
    fn unknown(&self, name: usize) -> Error {
        Error::CoreUnknown { dim: self.signature.names()[name].text.clone() }
    }

    /// The extent of a name, 1 if it is missing.
    pub(super) fn name(&self, name: usize) -> Result<usize> {
        match (self.missing.contains(name), self.dims[name]) {
            (true, _) => Ok(1),
            (_, extent) => extent.ok_or_else(|| self.unknown(name)),
        }
    }

    /// The extent of a core axis of an output.
    pub(super) fn extent(&self, extent: &Extent) -> Result<usize> {
        let sum = match extent {
            Extent::Of(name) => return self.name(*name),
            Extent::Sum(sum) => sum,
        };
        if let Some(name) = sum.names().find(|name| self.name(*name).is_err()) {
            return Err(self.unknown(name));
        }
        let own = |name: usize| self.dims[name].unwrap_or(1);
        if self.empty && sum.names().any(|name| own(name) == 0) {
            return Ok(0);
        }
        let value = sum.value(own)?;
        let extent = value.and_then(|value| isize::try_from(value).ok());
        extent.and_then(|extent| usize::try_from(extent).ok()).ok_or_else(|| {
            let names = self.signature.names();
            let mut extents: Vec<(String, usize)> = Vec::new();
            for name in sum.names() {
                let one = (names[name].text.clone(), own(name));
                if !extents.contains(&one) {
                    extents.push(one);
                }
            }
            Error::CoreComputed { sum: sum.text(|name| &names[name].text), value, extents }
        })
    }
}

/// The shape of a result: `loops`, then the core axes that it has, each at its place, and 1 where axes are kept.
fn shape_of(argument: &Arrangement, loops: &[usize]) -> Shape {
    let extents = loops.iter().copied().chain(argument.present());
    let mut shape: Axes = collect_inline(argument.order.len(), 1, |_| 1);
    argument.order.iter().zip(extents).for_each(|(&axis, extent)| shape[axis] = extent);
    shape.into()
}

/// The extents of names that inputs have.
pub(super) fn extents(
    signature: &Signature,
    shapes: &[Shape],
    inputs: &[Arrangement],
    missing: SmallSet,
) -> Result<SmallVec<[Option<usize>; 4]>> {
    let names = signature.names();
    let mut first: SmallVec<[usize; 4]> = collect_inline(names.len(), 0, |_| 0);
    let mut dims = collect_inline(names.len(), None, |name| match names[name].kind {
        Kind::Fixed(extent) => Some(extent),
        _ => None,
    });
    for (k, (axes, shape)) in signature.input_axes().iter().zip(shapes).enumerate() {
        let there = axes.iter().filter(|name| !missing.contains(**name));
        for (&name, &axis) in there.zip(inputs[k].core_axes()) {
            let (extent, stretches) = (shape[axis], names[name].kind == Kind::Stretching);
            match dims[name] {
                None => (dims[name], first[name]) = (Some(extent), k + 1),
                Some(1) if stretches => {
                    if extent != 1 {
                        (dims[name], first[name]) = (Some(extent), k + 1);
                    }
                }
                Some(so_far) if so_far == extent || (stretches && extent == 1) => {}
                Some(so_far) => {
                    return Err(Error::CoreExtent {
                        signature: signature.to_string(),
                        dim: names[name].text.clone(),
                        argument: k + 1,
                        axis,
                        extent,
                        so_far,
                        first: first[name],
                        row: None,
                    });
                }
            }
        }
    }
    Ok(dims)
}
