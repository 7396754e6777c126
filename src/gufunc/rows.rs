//! Calls whose cores differ in extent from one to the next: what ragged operands need of a gufunc.

use super::axes::{Options, missing};
use super::elementary::{Elementary, Inputs, Outputs};
use super::eval::Calling;
use super::extent::Extent;
use super::fit::Fit;
use super::function::Gufunc;
use crate::error::{Error, Result};
use crate::ops::cores::{self, Source};
use crate::shape::Shape;
use smallvec::SmallVec;

/// The core axes of a signature, for operands of known ranks.
pub(crate) struct CoreRanks {
    /// Core axes that each input has.
    pub(crate) inputs: SmallVec<[usize; 3]>,
    /// The names of the core axes that each input has.
    pub(crate) names: Vec<Vec<usize>>,
    /// For each core axis that an output has, the names that its extent follows from.
    pub(crate) outputs: Vec<Vec<Vec<usize>>>,
}

/// A signature fitted to the extents of cores.
pub(crate) struct CoreFit(Box<Fit>);

impl CoreFit {
    /// Core extents of all inputs, those that are missing as 1.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &[usize]> {
        self.0.inputs.iter().map(|input| input.core.as_slice())
    }

    /// Extents of the core axes that each output has.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = SmallVec<[usize; 4]>> + '_ {
        self.0.outputs.iter().map(|output| {
            let there = output.core.iter().zip(&output.lacks).filter(|(_, lacks)| !**lacks);
            there.map(|(&extent, _)| extent).collect()
        })
    }
}

/// Neighbouring calls with cores of the same extents.
pub(crate) struct RowCalls<'c> {
    /// How many.
    pub(crate) count: usize,
    /// The number of the first among all.
    pub(crate) first: usize,
    /// The first element of the core of each input, and the distance to that of the next call.
    pub(crate) offsets: &'c [isize],
    pub(crate) steps: &'c [isize],
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Gufunc<I, O, F> {
    /// Which axes are core axes, for operands of these ranks. Shapes are for errors alone.
    ///
    /// # Errors
    ///
    /// [`Error::CoreRank`].
    pub(crate) fn core_ranks(&self, shapes: &[Shape]) -> Result<CoreRanks> {
        let signature = self.signature()?;
        let missing = missing(signature, shapes)?;
        let names: Vec<Vec<usize>> = signature
            .input_axes()
            .iter()
            .map(|axes| axes.iter().copied().filter(|&name| !missing[name]).collect())
            .collect();
        let of = |extent: &Extent| match extent {
            Extent::Of(name) if missing[*name] => None,
            Extent::Of(name) => Some(vec![*name]),
            Extent::Sum(sum) => Some(sum.names().collect()),
        };
        let outputs = signature.output_axes().iter();
        Ok(CoreRanks {
            inputs: names.iter().map(Vec::len).collect(),
            outputs: outputs.map(|axes| axes.iter().filter_map(of).collect()).collect(),
            names,
        })
    }

    /// The signature fitted to cores of these shapes.
    ///
    /// # Errors
    ///
    /// [`Error::CoreExtent`], [`Error::CoreUnknown`], [`Error::CoreComputed`], [`Error::CoreRefused`].
    pub(crate) fn fit_cores(&self, cores: &[Shape]) -> Result<CoreFit> {
        let options = Options { empty: self.inner.rules.empty, ..Options::default() };
        let mut fit = self.inner.rules.fit(cores, None, &options)?;
        // Failures tell the number of a call.
        fit.loops = Shape::from([isize::MAX as usize]);
        Ok(CoreFit(fit))
    }

    /// Makes calls with cores that are row-major, and results one after another.
    ///
    /// # Errors
    ///
    /// [`Error::Elementary`] with the number of the call in the place of its index.
    pub(crate) fn call_rows(
        &self,
        fit: &CoreFit,
        calls: &RowCalls<'_>,
        inputs: <I as cores::Inputs>::Slices<'_>,
        outputs: <O as cores::Outputs>::Slices<'_>,
    ) -> Result<()> {
        let strides: SmallVec<[SmallVec<[isize; 4]>; 3]> =
            fit.inputs().map(Source::packed).collect();
        let strides = strides.iter().map(SmallVec::as_slice);
        let calling = Calling::<I, O>::new(&self.inner.function, &fit.0, strides);
        let (offsets, steps) = (calls.offsets, calls.steps);
        calling.calls(0..calls.count, calls.first, inputs, offsets, steps, outputs)
    }
}

/// Whether an error names the extents of cores.
pub(crate) fn of_cores(error: Error, row: impl FnOnce() -> Vec<usize>) -> Error {
    match error {
        Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, .. } => {
            let row = Some(row());
            Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, row }
        }
        error => error,
    }
}
