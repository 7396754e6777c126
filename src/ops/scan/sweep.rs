//! A scan as what becomes of lanes.

use super::across::{Cross, Lanes};
use super::advance::Advance;
use super::running::{Places, Running};
use crate::expr::Stop;
use crate::kernel::{self, LARGE_BYTES, PART, Queue};
use crate::memory::{default_of_fields, refill, try_reserve_exact};
use crate::ops::along::{At, BLOCK, GROUP, Lane, LaneRows, Sweep, each_lane};
use crate::ops::reduce::Reducer;

/// Memory of a task.
pub(super) struct Memory<T, S, U> {
    reversed: Vec<T>,
    pub(super) lanes: Lanes<S>,
    results: Vec<U>,
    queue: Queue<U>,
}

default_of_fields!(Memory<T, S, U> { reversed, lanes, results, queue });

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Running<'_, T, R> {
    type Out = R::Out;
    type Memory = Memory<T, R::State, R::Out>;

    const LARGE: bool = size_of::<R::State>() > LARGE_BYTES || size_of::<R::Out>() > LARGE_BYTES;

    fn results(&self) -> usize {
        self.extent
    }

    fn grain(&self) -> Option<usize> {
        (R::ASSOCIATIVE && !self.reverse).then_some(BLOCK)
    }

    fn backward(&self) -> bool {
        self.reverse
    }

    fn in_order(&self) -> bool {
        !self.reverse
    }

    fn width(&self) -> usize {
        4096
    }

    fn lane(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory: Memory { reversed, queue, .. }, job, out } = at;
        let mut carry = self.carries.get(job.number).and_then(|carry| carry.first().cloned());
        let best = if self.reverse { lane.best() } else { lane.best_in_order() };
        let step = (best / BLOCK).max(1) * BLOCK;
        let far = lane.is_far();
        let mut first = job.results.start;
        while first < job.results.end {
            let places = Places { extent: self.extent, reverse: self.reverse, first };
            let end = first.saturating_add(step).min(job.results.end);
            let run = if self.reverse {
                let run = lane.run(self.extent - end..self.extent - first)?;
                refill(reversed, run.iter().rev().copied())?;
                reversed.as_slice()
            } else {
                lane.run(first..end)?
            };
            let (carry, queue, out) = (&mut carry, &mut *queue, &mut *out);
            let each = run.len();
            let advance = Advance { scan: self, run, each, far, places, carry, queue, out };
            let gap = kernel::dispatch(advance)?;
            if let Some((k, reason)) = gap {
                job.undefined(places.position(k), 0, reason);
            }
            first = end;
        }
        out.put(queue.results());
        queue.clear();
        Ok(())
    }

    fn lanes(
        &self,
        elements: &[T],
        extent: usize,
        at: &mut At<'_, '_, T, Self>,
    ) -> Result<(), Stop> {
        if self.reverse || !self.carries.is_empty() {
            return each_lane(self, elements.chunks_exact(extent), at);
        }
        let At { memory: Memory { queue, .. }, job, out } = at;
        let places = Places { extent, reverse: false, first: 0 };
        let (run, each, far, carry, queue) = (elements, extent, true, &mut None, &mut *queue);
        let advance = Advance { scan: self, run, each, far, places, carry, queue, out };
        if let Some((k, reason)) = kernel::dispatch(advance)? {
            job.undefined(k, 0, reason);
        }
        out.put(queue.results());
        queue.clear();
        Ok(())
    }

    fn table(&self, table: &mut dyn LaneRows<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory: Memory { lanes, results, .. }, job, out } = at;
        let together = (table.best() / job.width).clamp(1, self.extent.max(1));
        let together = together.next_multiple_of(GROUP);
        let (extent, reverse) = (self.extent, self.reverse);
        lanes.reset(job.width)?;
        try_reserve_exact(results, job.width.saturating_add(2 * PART))?;
        lanes.blocks.extend(self.carries.get(job.number).into_iter().flatten().cloned());
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel =
                table.rows(if reverse { extent - end..extent - first } else { first..end })?;
            let (results, out) = (&mut *results, &mut *out);
            kernel::dispatch(Cross {
                scan: self,
                panel: &panel,
                rows: first..end,
                job,
                lanes,
                results,
                out,
            });
            first = end;
        }
        out.put(results);
        results.clear();
        Ok(())
    }
}
