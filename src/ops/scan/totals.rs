//! The states of all blocks, for lanes that are cut into jobs.

use super::running::{Places, Running};
use super::sweep::Memory;
use crate::expr::Stop;
use crate::kernel;
use crate::memory::{list, try_with_capacity};
use crate::ops::along::{At, BLOCK, GROUP, Lane, LaneRows, Sweep};
use crate::ops::reduce::Reducer;
use std::sync::{Mutex, PoisonError};

/// The states of all blocks of lanes that are cut into jobs.
pub(super) struct Totals<'s, 'r, T: Copy, R: Reducer<T>> {
    pub(super) scan: &'s Running<'r, T, R>,
    /// For every job, the states of its blocks, block after block.
    pub(super) found: Mutex<Vec<Vec<R::State>>>,
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Totals<'_, '_, T, R> {
    /// Keeps the states of a job, whose results are nothing.
    fn keep(&self, at: &mut At<'_, '_, T, Self>, states: Vec<R::State>) -> Result<(), Stop> {
        let At { job, out, .. } = at;
        out.put(&list(std::iter::repeat_n((), job.results.len() * job.width))?);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = found.get_mut(job.number) {
            *slot = states;
        }
        Ok(())
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> Sweep<T> for Totals<'_, '_, T, R> {
    type Out = ();
    type Memory = Memory<T, R::State, ()>;

    const LARGE: bool = Running::<T, R>::LARGE;

    fn results(&self) -> usize {
        self.scan.results()
    }

    fn grain(&self) -> Option<usize> {
        self.scan.grain()
    }

    fn in_order(&self) -> bool {
        true
    }

    /// Jobs are numbered as those of the scan, so they must be cut alike.
    fn width(&self) -> usize {
        self.scan.width()
    }

    fn lane(&self, lane: &mut dyn Lane<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let job = &at.job;
        let step = (lane.best_in_order() / BLOCK).max(1) * BLOCK;
        let mut totals = try_with_capacity(job.results.len().div_ceil(BLOCK))?;
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(step).min(job.results.end);
            let run = lane.run(first..end)?;
            kernel::dispatch(
                #[inline(always)]
                || {
                    for block in run.chunks(BLOCK) {
                        let places = Places { extent: self.scan.extent, reverse: false, first };
                        totals.extend(self.scan.total(block, places));
                        first += block.len();
                    }
                },
            );
        }
        self.keep(at, totals)
    }

    fn table(&self, table: &mut dyn LaneRows<T>, at: &mut At<'_, '_, T, Self>) -> Result<(), Stop> {
        let At { memory: Memory { lanes, .. }, job, .. } = at;
        let together = (table.best() / job.width).max(1);
        lanes.reset(job.width)?;
        let mut totals =
            try_with_capacity(job.results.len().div_ceil(BLOCK).saturating_mul(job.width))?;
        let mut first = job.results.start;
        while first < job.results.end {
            let end = first.saturating_add(together).min(job.results.end);
            let panel = table.rows(first..end)?;
            kernel::dispatch(
                #[inline(always)]
                || {
                    for k in first..end {
                        self.scan.turn(k, lanes);
                        totals.append(&mut lanes.blocks);
                        self.scan.step(panel.row(k - first), 0..job.width, k % GROUP, k, lanes);
                    }
                },
            );
            first = end;
        }
        self.scan.append(&mut lanes.groups, &mut lanes.group);
        totals.append(&mut lanes.groups);
        self.keep(at, totals)
    }
}
