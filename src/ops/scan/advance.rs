//! The loop over the blocks of a lane.

use super::running::{Places, Running};
use crate::error::Result;
use crate::kernel::{self, Kernel, PART, Queue, Slots};
use crate::ops::along::{BLOCK, Gap, States};
use crate::ops::reduce::{Reducer, Undefined};

/// The next blocks of a lane, or whole lanes one after another.
pub(super) struct Advance<'a, 'o, 'r, T: Copy, R: Reducer<T>> {
    pub(super) scan: &'a Running<'r, T, R>,
    pub(super) run: &'a [T],
    /// Elements of each lane in it.
    pub(super) each: usize,
    /// Whether it may lie farther than the caches.
    pub(super) far: bool,
    pub(super) places: Places,
    pub(super) carry: &'a mut Option<R::State>,
    pub(super) queue: &'a mut Queue<R::Out>,
    pub(super) out: &'a mut Slots<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for Advance<'_, '_, '_, T, R> {
    type Out = Result<Gap>;

    /// Scans lane after lane; returns the first result that does not exist.
    #[inline(always)]
    fn run(mut self) -> Result<Gap> {
        let (mut gap, mut done): (Gap, _) = (None, 0);
        let each = self.each.max(1);
        // Short lanes are parts of a part.
        let several = R::ASSOCIATIVE && !self.scan.reverse && each < self.run.len();
        let short = Some(each).filter(|_| several && each <= PART / 2);
        for lanes in self.run.chunks(short.map_or(each, |each| PART / each * each)) {
            if done > 0 {
                *self.carry = None;
            }
            let found = self.lanes(lanes, short)?;
            gap = gap.or(found.map(|(k, reason)| (done + k, reason)));
            done += lanes.len();
        }
        Ok(gap)
    }
}

impl<T: Copy, R: Reducer<T>> Advance<'_, '_, '_, T, R> {
    /// Takes the next blocks of a lane, or some lanes of `short` elements, and writes their results part by part; returns
    /// which has none, the one at the first place along the axis.
    #[inline(always)]
    fn lanes(&mut self, lanes: &[T], short: Option<usize>) -> Result<Gap> {
        let Self { scan, far, places, carry, queue, out, .. } = self;
        let Some(&first) = lanes.first() else { return Ok(None) };
        let (mut gap, mut done): (Gap, _) = (None, 0);
        for block in lanes.chunks(BLOCK) {
            let mut groups = None;
            for part in block.chunks(PART) {
                let places = if short.is_some() { *places } else { places.after(done) };
                // A result of this lane, as others may not exist.
                let any = || {
                    let empty = || scan.reducer.empty().filter(|_| scan.exclusive);
                    let before = carry.clone().or_else(empty);
                    let own = || scan.reducer.first_at(first, places.position(0));
                    scan.reducer.finish(before.unwrap_or_else(own))
                };
                let results = queue.room(part.len(), any)?;
                let found = if R::ASSOCIATIVE {
                    if *far {
                        kernel::prefetch_row(part);
                    }
                    let (each, carry) = (short.unwrap_or(PART), carry.as_ref());
                    let (mut found, mut start): (Gap, _) = (None, 0);
                    for run in part.chunks(each) {
                        let results = &mut results[start..start + run.len()];
                        let before = groups.clone();
                        let one = scan.part(run, places, carry, &mut groups, results);
                        let is_first = found.is_none() && (gap.is_none() || scan.reverse);
                        if one.is_some() && is_first {
                            let at = |k| {
                                let reason =
                                    scan.reason(run, k, places, carry, before.clone(), results);
                                Some((start + k, reason?))
                            };
                            // From the side of the first place along the axis, as each takes a part.
                            let mut all = 0..run.len();
                            found = if scan.reverse {
                                all.rev().find_map(at)
                            } else {
                                all.find_map(at)
                            };
                        }
                        start += run.len();
                        groups = groups.filter(|_| short.is_none());
                    }
                    found
                } else {
                    scan.one_by_one(part, places, carry, results)
                };
                let found = found.map(|(k, reason)| (done + k, reason));
                gap = if scan.reverse { found.or(gap) } else { gap.or(found) };
                done += part.len();
                if scan.reverse {
                    let results = queue.results();
                    results.reverse();
                    out.put_back(results);
                    queue.clear();
                } else {
                    out.drain_queue(queue);
                }
            }
            if R::ASSOCIATIVE {
                **carry = scan.reducer.sum(carry.as_ref(), groups.as_ref());
            }
        }
        Ok(gap)
    }
}

impl<T: Copy, R: Reducer<T>> Running<'_, T, R> {
    /// Takes elements one after another; returns whose result does not exist, as [`Advance`] does.
    #[inline(always)]
    fn one_by_one(
        &self,
        part: &[T],
        places: Places,
        carry: &mut Option<R::State>,
        results: &mut [R::Out],
    ) -> Gap {
        let mut gap = None;
        for (k, (&x, result)) in part.iter().zip(results).enumerate() {
            let before = self.exclusive.then(|| carry.clone().or_else(|| self.reducer.empty()));
            let position = places.position(k);
            match carry {
                Some(state) => self.reducer.step_at(state, x, position),
                None => *carry = Some(self.reducer.first_at(x, position)),
            }
            let reason = match before.unwrap_or_else(|| carry.clone()) {
                Some(state) => {
                    let reason = self.reducer.undefined(&state);
                    *result = self.reducer.finish(state);
                    reason
                }
                None => Some(Undefined::Empty),
            };
            let found = reason.map(|reason| (k, reason));
            gap = if self.reverse { found.or(gap) } else { gap.or(found) };
        }
        gap
    }
}
