//! A call as it is computed, whatever the types of its function, operands and mask.

use super::arguments::{Destinations, Held};
use super::axes::Options;
use super::elementary::{Function, Inputs, Outputs};
use super::eval::{Masking, Prepared, result_map};
use super::explain::explain;
use super::fit::Fit;
use super::function::Rules;
use crate::error::{Error, Result};
use crate::expr::machinery::Kept;
use crate::expr::{Explanation, Prepare, prepared};
use crate::memory::list;
use crate::ops::cores;
use crate::shape::Shape;
use std::sync::Arc;

/// What a call makes of the shapes of its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallShapes {
    /// Extents of the core dimensions by name, those that are fixed and those that are missing aside.
    pub dims: Vec<(String, usize)>,
    /// Joint shape of the loop axes.
    pub loops: Shape,
    /// Shape of each result.
    pub outputs: Vec<Shape>,
}

/// What was asked for by a call.
pub(super) struct Request<'c, I, O: Outputs> {
    pub(super) rules: &'c Rules,
    pub(super) function: &'c dyn Function<I, O>,
    pub(super) operands: &'c dyn Held<I>,
    pub(super) mask: Option<&'c dyn Masking>,
    pub(super) options: &'c Options,
    pub(super) or: Option<O::Elems>,
}

impl<'c, I: Inputs, O: Outputs> Request<'c, I, O> {
    /// The call fitted to its shapes, and to those of outputs that are there.
    pub(super) fn fitted(&self, outs: Option<&[Shape]>) -> Result<Arc<Fit>> {
        let fit = self.masked(outs)?;
        if self.or.is_none() && outs.is_none() && self.mask.is_some() {
            return Err(Error::MaskedOutput);
        }
        Ok(fit)
    }

    /// The same of a call whose results may be left out.
    pub(super) fn masked(&self, outs: Option<&[Shape]>) -> Result<Arc<Fit>> {
        let fit = self.rules.fit(&self.operands.shapes()?, outs, self.options)?;
        if let Some(mask) = self.mask {
            fit.loops.check_mask(&mask.extents()?, <I as cores::Inputs>::COUNT + 1)?;
        }
        Ok(fit)
    }

    pub(super) fn shapes_for(&self, outs: Option<&[Shape]>) -> Result<CallShapes> {
        let fit = self.rules.fit(&self.operands.shapes()?, outs, self.options)?;
        Ok(CallShapes {
            dims: fit.named_extents(self.rules.signature()?),
            loops: fit.loops.clone(),
            outputs: list(fit.shapes.iter().cloned())?,
        })
    }

    pub(super) fn eval(&self) -> Result<O::Tensors> {
        let fit = self.fitted(None)?;
        let vectors = self.vectors(&fit)?;
        O::tensors(vectors, &mut |k| result_map(&fit, k))
    }

    /// The call with operands that are not evaluated yet.
    #[inline(always)]
    pub(super) fn prepared<'f>(&self, fit: &'f Fit) -> Result<Prepared<'f, I, O>>
    where
        'c: 'f,
    {
        let fits =
            |core: &[usize], strides: &[isize], step| self.function.fits(core, strides, step);
        Prepared::new((self.operands, self.mask), self.or, fit, &fits)
    }

    /// All results in vectors, with the loop axes first.
    pub(super) fn vectors(&self, fit: &Fit) -> Result<<O as cores::Outputs>::Vectors> {
        if let Some(row) = self.in_order(fit) {
            let mut vectors = O::vectors(&fit.counts()?)?;
            row.run(self.function, O::slices(&mut vectors), false)?;
            return Ok(vectors);
        }
        let _results = self.results_of_operands(fit)?;
        self.computed(fit)
    }

    /// The same, once what is deferred in operands is computed.
    pub(super) fn computed(&self, fit: &Fit) -> Result<<O as cores::Outputs>::Vectors> {
        let mut prepared = self.prepared(fit)?;
        prepared.hold()?;
        let mut vectors = O::vectors(&fit.counts()?)?;
        prepared.fill(self.function, O::slices(&mut vectors), false)?;
        Ok(vectors)
    }

    pub(super) fn assign_to<D: Destinations<O>>(&self, mut outs: D) -> Result<()> {
        let fit = self.fitted(Some(&outs.shapes()))?;
        if let Some(row) = self.in_order(&fit)
            && let Some(outs) = outs.row_major(&fit.outputs)
        {
            return row.run(self.function, outs, true);
        }
        let _results = self.results_of_operands(&fit)?;
        outs.with(&fit.outputs, |outs| {
            let mut prepared = self.prepared(&fit)?;
            prepared.hold()?;
            prepared.assign(self.function, outs)
        })
    }

    pub(super) fn explain(&self) -> Result<Explanation> {
        let fit = self.masked(None)?;
        let prepared = self.prepared(&fit)?;
        explain(self.rules.signature()?, &fit, &prepared, self.operands.about())
    }

    /// Computes the deferred operations that operands and mask read, if there is a call.
    pub(super) fn results_of_operands(&self, fit: &Fit) -> Result<Kept<'c>> {
        self.check_reads(fit)?;
        prepared(fit.has_calls(), &mut |visit| self.deferred(visit))
    }

    /// Refuses very many elements of sparse operands, before what is deferred among operands is computed.
    pub(super) fn check_reads(&self, fit: &Fit) -> Result<()> {
        if self.defers() && fit.has_calls() {
            self.prepared(fit)?;
        }
        Ok(())
    }

    /// Whether operands or mask read deferred operations.
    pub(super) fn defers(&self) -> bool {
        let mut defers = false;
        self.deferred(&mut |_| defers = true);
        defers
    }

    /// The deferred operations that operands and mask read.
    pub(super) fn deferred(&self, visit: &mut dyn FnMut(&'c dyn Prepare)) {
        self.operands.deferred(visit);
        if let Some(mask) = self.mask {
            mask.reads(visit);
        }
    }
}
