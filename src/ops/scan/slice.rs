//! The scan of one run in memory.

use super::advance::Advance;
use super::running::{Places, Running};
use crate::error::Result;
use crate::kernel::{self, Queue, fill_slots, inner};
use crate::ops::along::Gap;
use crate::ops::reduce::Reducer;

/// Writes the running results of a run, the same bits as those of a lane; tells the first that does not exist.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and [`Error::OutOfSpan`](crate::Error::OutOfSpan) if there are
/// not as many results.
pub(crate) fn scan_run<T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[T],
    out: &mut [R::Out],
) -> Result<Gap> {
    let places = Places { extent: run.len(), reverse: false, first: 0 };
    let carries = Vec::new();
    let scan = Running { reducer, extent: run.len(), exclusive: false, reverse: false, carries };
    let (mut queue, mut carry, mut gap) = (Queue::default(), None, None);
    fill_slots(inner::slots(out), |out| {
        let (queue, carry) = (&mut queue, &mut carry);
        let far = false;
        gap = kernel::dispatch(Advance { scan: &scan, run, far, places, carry, queue, out })?;
        out.put(queue.results());
        Ok::<_, crate::Error>(())
    })?;
    Ok(gap)
}
