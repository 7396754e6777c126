//! Calls on few elements that lie in memory in row-major order: one row, for which nothing is described, cut or copied.

use super::elementary::{Args, Function, Inputs, Outputs};
use super::eval::{failed_call, places};
use super::fit::{Fit, OneRow};
use super::request::Request;
use crate::error::Result;
use crate::ops::cores;

/// A call on elements in memory.
pub(super) struct InOrder<'c, I: Inputs + 'c> {
    fit: &'c Fit,
    row: &'c OneRow,
    inputs: <I as cores::Inputs>::Slices<'c>,
}

impl<'c, I: Inputs, O: Outputs> Request<'c, I, O> {
    /// The calls as one row, if there is no mask, and all operands lie in memory in row-major order.
    pub(super) fn in_order<'f>(&self, fit: &'f Fit) -> Option<InOrder<'f, I>>
    where
        'c: 'f,
    {
        let row = fit.row.as_ref().filter(|_| self.mask.is_none())?;
        Some(InOrder { fit, row, inputs: self.operands.row_major(&row.counts)? })
    }
}

impl<I: Inputs> InOrder<'_, I> {
    /// Makes all calls, with their results one after another in slices, which are cleared if need be.
    pub(super) fn run<O: Outputs>(
        self,
        function: &dyn Function<I, O>,
        mut outputs: <O as cores::Outputs>::Slices<'_>,
        clear: bool,
    ) -> Result<()> {
        if clear && !function.fills() {
            <O as Outputs>::clear(&mut outputs);
        }
        let (fit, OneRow { dimensions, steps, .. }) = (self.fit, self.row);
        let (places, packed) = (places(fit, steps, std::iter::repeat(0)), true);
        let (places, inputs) = (&places[..], <I as cores::Inputs>::shorter(self.inputs));
        let outputs = <O as cores::Outputs>::reborrow(&mut outputs);
        let mut args = Args::<I, O> { inputs, outputs, dimensions, steps, places, packed };
        let made = function.run_block(&mut args);
        made.map_err(|failed| failed_call(fit, 0..dimensions[0], 0, failed))
    }
}
