//! The scan of one run in memory.

use super::advance::Advance;
use super::running::{Places, Running};
use crate::error::Result;
use crate::kernel::{self, Filled, Queue, Slots, fill_slots, inner};
use crate::memory::list;
use crate::ops::along::Gap;
use crate::ops::reduce::Reducer;
use std::mem::MaybeUninit;

/// How a scan goes along a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way {
    /// Whether an element is left out of its own result.
    pub(crate) exclusive: bool,
    /// Whether it goes from the last element to the first.
    pub(crate) reverse: bool,
}

/// Writes the running results of runs, the same bits as those of lanes, one run after another; tells the first that does
/// not exist, by its number among all.
pub(crate) fn scan_rows<'d, T: Copy + 'd, R: Reducer<T>>(
    reducer: &R,
    way: Way,
    rows: impl Iterator<Item = &'d [T]>,
    out: &mut [MaybeUninit<R::Out>],
) -> Result<(Filled, Gap)> {
    let (mut queue, mut gap, mut done) = (Queue::default(), None, 0);
    let filled = fill_slots(out, |out| {
        for run in rows {
            let found = match way.reverse {
                false => scan_one(reducer, way, run, &mut queue, out)?,
                true => {
                    let backwards = list(run.iter().rev().copied())?;
                    let (mut found, queue) = (None, &mut Queue::default());
                    let results = inner::collect(run.len(), |results| {
                        fill_slots(results, |results| {
                            found = scan_one(reducer, way, &backwards, queue, results)?;
                            Ok::<_, crate::Error>(())
                        })
                    })?;
                    out.put(&results);
                    found.map(|(k, why)| (run.len() - 1 - k, why))
                }
            };
            gap = gap.or(found.map(|(k, why)| (done + k, why)));
            done += run.len();
        }
        out.put(queue.results());
        Ok::<_, crate::Error>(())
    })?;
    Ok((filled, gap))
}

/// Scans one run in the order in which it goes.
fn scan_one<T: Copy, R: Reducer<T>>(
    reducer: &R,
    Way { exclusive, reverse }: Way,
    run: &[T],
    queue: &mut Queue<R::Out>,
    out: &mut Slots<'_, R::Out>,
) -> Result<Gap> {
    let (extent, carries) = (run.len(), Vec::new());
    let places = Places { extent, reverse, first: 0 };
    let scan = Running { reducer, extent, exclusive, reverse, carries };
    let (far, mut carry) = (false, None);
    kernel::dispatch(Advance { scan: &scan, run, far, places, carry: &mut carry, queue, out })
}

/// [`scan_rows`] of one run.
pub(crate) fn scan_run<T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[T],
    out: &mut [R::Out],
) -> Result<Gap> {
    Ok(scan_rows(reducer, Way::default(), std::iter::once(run), inner::slots(out))?.1)
}
