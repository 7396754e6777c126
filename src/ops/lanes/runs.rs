//! Operations on runs of any lengths, one after another.

use super::before::Before;
use super::operand::Batch;
use super::operation::{Alone, LaneOperation};
use super::rows::Run;
use crate::error::Result;
use crate::expr::Lazy;
use crate::kernel::Filled;
use crate::kernel::inner::overwrite;
use crate::tensor::Tensor;
use std::mem::MaybeUninit;

/// Computes the results of runs of `elements`, one run after another: so many of each, or as many as it has elements.
pub(crate) fn compute_runs<'d, T: Copy + Send + Sync, O: LaneOperation<T>>(
    operation: &O,
    elements: &'d [T],
    runs: impl Iterator<Item = Run<'d, T>>,
    results: Option<usize>,
    out: &mut [MaybeUninit<O::Elem>],
) -> Result<Filled> {
    let mut before = None;
    if !out.is_empty() {
        let (a, b) = (Tensor::new([elements.len()], elements)?, Alone::from(Vec::new()));
        before = Some(O::Before::one(&Lazy(a), &Lazy(b), 0)?);
    }
    overwrite(out, before, |mut out| {
        let mut memory = O::Memory::default();
        for run in runs {
            let mut run = run.elements();
            let (slots, later) = out.split_at_mut(results.unwrap_or(run.len()).min(out.len()));
            out = later;
            if results.is_none() {
                run = &run[..slots.len()];
            }
            // A table of rows may have changed since they were found to have elements.
            let has_none = O::NEEDS_ELEMENTS && run.is_empty();
            if !slots.is_empty() && !has_none {
                operation.compute(&mut memory, Batch::one(run), slots)?;
            }
        }
        Ok(())
    })
}
