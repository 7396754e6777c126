//! How a call would be computed, in words.

use super::elementary::{Inputs, Outputs};
use super::eval::Prepared;
use super::fit::Fit;
use super::signature::Signature;
use crate::error::Result;
use crate::expr::Explanation;
use crate::memory::push;
use crate::ops::cores;

/// `read` are the bytes that the operands have, and `told` what is to be said of them besides.
pub(super) fn explain<I: Inputs, O: Outputs>(
    signature: &Signature,
    fit: &Fit,
    prepared: &Prepared<'_, I, O>,
    (read, told): (usize, Vec<String>),
) -> Result<Explanation> {
    let (loops, inputs) = (&fit.loops, <I as cores::Inputs>::COUNT);
    let calls = loops.count()?;
    let (cut, threads) = prepared.cut();
    let mut lines = Vec::new();
    push(
        &mut lines,
        format!("loop: {calls} calls over {loops:?}, {} in a block", cut.block.min(calls.max(1))),
    )?;
    for (k, source) in prepared.sources().iter().enumerate() {
        let (name, cores) = match k < inputs {
            true => (
                format!("operand {}", k + 1),
                format!("cores {:?} ", fit.inputs[k].core.as_slice()),
            ),
            false => ("mask".into(), String::new()),
        };
        let how = match source {
            source if source.held => "evaluated once, as they are needed again and again",
            source if source.direct && !source.packed => "read where they lie, under strides",
            source if source.direct => "read where they lie",
            _ => "evaluated for a block of calls at a time",
        };
        push(&mut lines, format!("{name}: {cores}{how}"))?;
        lines.extend(prepared.blocks_in_words(k, &name)?);
    }
    lines.extend(told);
    for (k, output) in fit.outputs.iter().enumerate() {
        let (core, shape) = (output.core.as_slice(), &fit.shapes[k]);
        push(&mut lines, format!("output {}: cores {core:?}, in {shape:?}", k + 1))?;
    }
    let written = O::bytes(&fit.counts()?);
    Ok(Explanation::report(format!("gufunc {signature}"), lines, threads, [read, written]))
}
