//! The scan of one run in memory.

use super::advance::Advance;
use super::running::{Places, Running};
use super::{planned, scan_lanes};
use crate::error::Result;
use crate::expr::moved;
use crate::kernel::{self, Filled, Queue, Slots, fill_slots};
use crate::memory::refill;
use crate::ops::along::{Gap, Sweep};
use crate::ops::reduce::{Reducer, undefined};
use crate::tensor::Tensor;
use std::mem::MaybeUninit;

/// How a scan goes along a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way {
    /// Whether an element is left out of its own result.
    pub(crate) exclusive: bool,
    /// Whether it goes from the last element to the first.
    pub(crate) reverse: bool,
}

/// Writes the running results of runs, the same bits as those of lanes, one run after another. That one does not exist is
/// an error at its number among all.
pub(crate) fn scan_rows<'d, T: Copy + Send + Sync + 'd, R: Reducer<T>>(
    reducer: &R,
    way: Way,
    rows: impl Iterator<Item = &'d [T]>,
    out: &mut [MaybeUninit<R::Out>],
) -> Result<Filled> {
    let (mut queue, mut backwards, mut done) = (Queue::default(), Vec::new(), 0);
    fill_slots(out, |out| {
        for run in rows {
            let (len, range) = (run.len(), done..done + run.len());
            done = range.end;
            let mut gap = None;
            if Running::<T, R>::LARGE {
                let lane = Tensor::new([len], run)?;
                let scanned = out.extend_with(len, |out| scan_lanes(&lane, 0, reducer, way, out));
                scanned.map_err(|error| moved(error, std::slice::from_ref(&range)))?;
            } else if way.reverse {
                refill(&mut backwards, run.iter().rev().copied())?;
                out.extend_with(len, |out| {
                    fill_slots(out, |out| {
                        gap = scan_one(reducer, way, &backwards, len, &mut queue, out)?;
                        Ok(())
                    })
                })?;
                gap = gap.map(|(k, why)| (len - 1 - k, why));
            } else {
                gap = scan_one(reducer, way, run, len, &mut queue, out)?;
            }
            if let Some((k, why)) = gap {
                return Err(undefined::<R::Out>(why, vec![range.start + k]));
            }
        }
        out.put(queue.results());
        Ok(())
    })
}

/// Scans one run in the order in which it goes, or several of `each` elements that lie one after another.
fn scan_one<T: Copy, R: Reducer<T>>(
    reducer: &R,
    way: Way,
    run: &[T],
    each: usize,
    queue: &mut Queue<R::Out>,
    out: &mut Slots<'_, R::Out>,
) -> Result<Gap> {
    let scan = planned(reducer, each, way);
    let places = Places { extent: each, reverse: way.reverse, first: 0 };
    let (far, carry) = (false, &mut None);
    kernel::dispatch(Advance { scan: &scan, run, each, far, places, carry, queue, out })
}

/// The same of lanes of `extent` elements that lie one after another, from their first elements on.
pub(super) fn scan_together<T: Copy, R: Reducer<T>>(
    reducer: &R,
    elements: &[T],
    extent: usize,
    out: &mut [MaybeUninit<R::Out>],
) -> Result<Filled> {
    let mut queue = Queue::default();
    fill_slots(out, |out| {
        let gap = scan_one(reducer, Way::default(), elements, extent, &mut queue, out)?;
        if let Some((k, why)) = gap {
            let index = vec![k];
            return Err(undefined::<R::Out>(why, index));
        }
        out.put(queue.results());
        Ok(())
    })
}
