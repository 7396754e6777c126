//! The scan of one run in memory.

use super::advance::Advance;
use super::running::{Places, Running};
use crate::error::Result;
use crate::kernel::{self, Filled, Queue, fill_slots, inner};
use crate::ops::along::Gap;
use crate::ops::reduce::Reducer;
use std::mem::MaybeUninit;

/// Writes the running results of runs, the same bits as those of lanes, one run after another; tells the first that does
/// not exist, by its number among all.
pub(crate) fn scan_rows<'d, T: Copy + 'd, R: Reducer<T>>(
    reducer: &R,
    rows: impl Iterator<Item = &'d [T]>,
    out: &mut [MaybeUninit<R::Out>],
) -> Result<(Filled, Gap)> {
    let (mut queue, mut gap, mut done) = (Queue::default(), None, 0);
    let filled = fill_slots(out, |out| {
        for run in rows {
            let extent = run.len();
            let places = Places { extent, reverse: false, first: 0 };
            let carries = Vec::new();
            let scan = Running { reducer, extent, exclusive: false, reverse: false, carries };
            let (far, mut carry, queue) = (false, None, &mut queue);
            let advance =
                Advance { scan: &scan, run, far, places, carry: &mut carry, queue, out: &mut *out };
            let found = kernel::dispatch(advance)?;
            gap = gap.or(found.map(|(k, why)| (done + k, why)));
            done += extent;
        }
        out.put(queue.results());
        Ok::<_, crate::Error>(())
    })?;
    Ok((filled, gap))
}

/// [`scan_rows`] of one run.
pub(crate) fn scan_run<T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[T],
    out: &mut [R::Out],
) -> Result<Gap> {
    Ok(scan_rows(reducer, std::iter::once(run), inner::slots(out))?.1)
}
