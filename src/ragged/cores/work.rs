//! Calls at work: neighbours with cores of the same extents together.

use super::plan::Plan;
use crate::error::Result;
use crate::gufunc::{Calling, Inputs, Outputs};
use crate::kernel;
use crate::ops::cores;
use smallvec::SmallVec;
use std::ops::Range;

/// Calls at work.
pub(super) struct Work<'w, 'c, I: Inputs, O: Outputs> {
    pub(super) plan: &'w Plan,
    /// The calls of each group of the plan.
    pub(super) calls: &'w [Calling<'c, I, O>],
    /// What calls that are not made result in.
    pub(super) or: Option<&'w O::Elems>,
    pub(super) operands: &'w I::Buffers,
    /// Elements of a task.
    pub(super) each: usize,
}

impl<I: Inputs, O: Outputs> Work<'_, '_, I, O> {
    /// Makes some calls. The error is that of the first that fails, however they are shared among threads.
    pub(super) fn run(
        &self,
        calls: Range<usize>,
        outputs: <O as cores::Outputs>::Slices<'_>,
    ) -> Result<()> {
        let plan = self.plan;
        let results = |from: usize, to: usize| {
            move |k: usize| plan.result_offsets[k][to] - plan.result_offsets[k][from]
        };
        let share = plan.elements / plan.groups.len().max(1) * calls.len();
        if share > self.each && calls.len() > 1 {
            let middle = calls.start + calls.len() / 2;
            let (low, high) = <O as cores::Outputs>::split(outputs, results(calls.start, middle));
            let (low, high) = kernel::join(
                || self.run(calls.start..middle, low),
                || self.run(middle..calls.end, high),
            );
            return low.and(high);
        }
        let (mut start, mut outputs, inputs) = (calls.start, outputs, I::lent(self.operands));
        let step =
            |starts: &Vec<usize>, call: usize| starts[call + 1] as isize - starts[call] as isize;
        while start < calls.end {
            let made = |call: usize| plan.is_called.as_ref().is_none_or(|called| called[call]);
            let follows = |&next: &usize| {
                let same = |starts: &Vec<usize>| step(starts, next - 1) == step(starts, start);
                made(next) == made(start)
                    && plan.groups[next] == plan.groups[start]
                    && plan.starts.iter().all(same)
            };
            let count = 1 + (start + 1..calls.end).take_while(follows).count();
            let offsets = plan.starts.iter().map(|starts| starts[start] as isize);
            let steps =
                plan.starts.iter().map(|starts| if count > 1 { step(starts, start) } else { 0 });
            let [offsets, steps]: [SmallVec<[isize; 6]>; 2] = [offsets.collect(), steps.collect()];
            let (mut now, later) =
                <O as cores::Outputs>::split(outputs, results(start, start + count));
            outputs = later;
            match self.or {
                _ if made(start) => {
                    let calls = &self.calls[plan.groups[start]];
                    calls.calls(0..count, start, inputs, &offsets, &steps, now)?;
                }
                Some(values) => <O as Outputs>::put(&mut now, values),
                None => {}
            }
            start += count;
        }
        Ok(())
    }
}
