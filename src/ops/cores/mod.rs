//! Calls on cores: small tensors of the operands, one for every index of a loop, that are needed whole.
//!
//! Cores that lie in memory as they are needed are handed out where they are. Others are evaluated to scratch
//! memory, those of neighbouring calls at a time: an evaluation like any other, which goes from one order of
//! memory to another tile by tile. Results are written where they belong if they lie there one after another,
//! and otherwise assigned from scratch memory. Threads share the loop.

mod boxes;
mod destination;
mod operand;
mod tuples;

pub use destination::Destination;
pub(crate) use destination::{Arranged, memory_in_order};
pub(crate) use operand::SmallSet;
pub use operand::{Arrangement, Operand, Source};
pub(crate) use tuples::Sources;
pub use tuples::{Inputs, Outputs};

use crate::error::{Cause, Error, Result};
use crate::expr::Boxes;
use crate::kernel::{self, join};
use crate::shape::{Index, Shape, collect_inline};
use smallvec::SmallVec;
use std::ops::Range;

/// Elements that are evaluated at once, if cores have fewer.
const ELEMENTS_AT_ONCE: usize = 1 << 14;
/// Cores that are evaluated or read at once, if they have more: neighbours share cache lines.
const CORES_AT_ONCE: usize = 64;
/// Most elements that are evaluated at once, if a core has fewer; and as many from storage that is not memory, which
/// costs least in its own order.
const MOST_ELEMENTS_AT_ONCE: usize = 1 << 20;
/// Elements of a block of calls that are evaluated where they lie.
pub(crate) const BLOCK_ELEMENTS: usize = 1 << 15;
/// Calls of cores without elements beyond which only the first is made.
const MOST_EMPTY_CALLS: usize = 1 << 33;
/// Elements of results on their way to a destination, of a thread, if operands are not in blocks.
const RESULT_ELEMENTS: usize = 1 << 20;
/// Elements of operands and results of a box that is whole blocks of a destination; and of results beside operands in blocks.
const ELEMENTS_IN_BLOCKS: usize = 1 << 24;

/// What is done with cores.
pub(crate) trait Work<I: Inputs, O: Outputs>: Sync {
    /// Makes the calls of a row.
    fn run(&self, row: Row<'_, I, O>) -> Result<()>;
}

/// Calls one after another, in row-major order of the loop.
pub(crate) struct Row<'r, I: Inputs + 'r, O: Outputs + 'r> {
    /// How many.
    pub(crate) count: usize,
    /// Number of the first call: its row-major position in the loop at the start of a box, then one more for each
    /// call of the box. Errors of calls have the index of this number, of which [`in_box`] makes that of the call.
    pub(crate) first: usize,
    pub(crate) inputs: I::Slices<'r>,
    /// Where the first core of each operand begins, and how far the next is.
    pub(crate) offsets: &'r [isize],
    pub(crate) steps: &'r [isize],
    /// Results, one after another.
    pub(crate) outputs: O::Slices<'r>,
}

/// A loop of calls.
#[derive(Debug, Clone)]
pub(crate) struct Calls<'c> {
    pub(crate) loops: &'c Shape,
    /// Elements that a call makes of each result.
    pub(crate) results: &'c [usize],
    /// Elements from which on threads share the loop, and fewest of a task.
    pub(crate) parallel: usize,
    pub(crate) grain: usize,
}

/// How a loop is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Calls of a block.
    pub(crate) block: usize,
    /// Elements that a call reads and writes.
    pub(crate) each: usize,
}

impl Calls<'_> {
    /// How the loop is cut for operands.
    pub(crate) fn cut(&self, sources: &[&Source]) -> Cut {
        let written = self.results.iter().fold(0_usize, |sum, n| sum.saturating_add(*n));
        let each = sources.iter().fold(written, |sum, s| sum.saturating_add(s.elements)).max(1);
        // Elements of cores beside those of the next ones.
        let last = self.loops.rank().checked_sub(1);
        let near = |source: &&Source| last.is_some_and(|axis| source.step(&[], axis) == 1);
        let interleaved = |source: &&Source| source.direct && !source.packed && near(source);
        let fewest = if sources.iter().any(interleaved) { CORES_AT_ONCE } else { 1 };
        let mut block = (BLOCK_ELEMENTS / each).max(fewest);
        let packed = sources.iter().filter(|source| !source.direct);
        if let Some(longest) = packed.clone().map(|source| source.elements).max() {
            let at_once = packed.map(|source| source.at_once).max().unwrap_or(ELEMENTS_AT_ONCE);
            block = (at_once / longest).max(CORES_AT_ONCE.min(MOST_ELEMENTS_AT_ONCE / longest));
        }
        if self.task(self.loops, each).is_some() {
            // As many for each thread, should they be few.
            let (calls, threads) = (product(self.loops), kernel::threads());
            let blocks = calls.div_ceil(block.max(1)).next_multiple_of(threads);
            block = if blocks < 4 * threads { calls.div_ceil(blocks) } else { block };
        }
        Cut { block: block.max(1), each }
    }

    /// Calls of a task of a box of the loop, each of which reads and writes `each` elements, if threads share it.
    fn task(&self, extents: &[usize], each: usize) -> Option<usize> {
        let total = product(extents).saturating_mul(each);
        let task = kernel::task_size(total, self.parallel, self.grain);
        (task < total).then_some(task / each)
    }

    /// Whether threads share the loop.
    pub(crate) fn threads(&self, cut: Cut) -> usize {
        let shared = product(self.loops) > cut.block && self.task(self.loops, cut.each).is_some();
        if shared { kernel::threads() } else { 1 }
    }

    /// Makes all calls, with their results to slices.
    pub(crate) fn fill<I: Inputs, O: Outputs>(
        &self,
        operands: &I::Operands<'_>,
        out: O::Slices<'_>,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        let sources = I::sources(operands);
        let ranges = self.first_of_empty_calls(&sources);
        let done = self.part::<I, O>(operands, &sources, &ranges, out, work);
        done.map_err(|error| first(error, || I::try_all(operands)))
    }

    /// A box of the first call alone, where more than [`MOST_EMPTY_CALLS`] calls write no element, and read none or
    /// the same: all would do what it does. Otherwise an empty list: the whole loop.
    fn first_of_empty_calls(&self, sources: &[&Source]) -> SmallVec<[Range<usize>; 4]> {
        let same = |source: &&Source| source.elements == 0 || source.loops.iter().all(|n| *n == 1);
        let nothing = self.results.iter().all(|n| *n == 0) && sources.iter().all(same);
        if !nothing || product(self.loops) <= MOST_EMPTY_CALLS {
            return SmallVec::new();
        }
        self.loops.iter().map(|_| 0..1).collect()
    }

    /// Makes all calls, with their results to destinations. `kept` tells whether calls find there what they change.
    pub(crate) fn assign<I: Inputs, O: Outputs>(
        &self,
        operands: &I::Operands<'_>,
        out: &mut O::Destinations<'_>,
        kept: bool,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        if self.loops.contains(&0) {
            return Ok(());
        }
        if let Some(out) = O::memory(out) {
            return self.fill::<I, O>(operands, out, work);
        }
        let sources = I::sources(operands);
        if !self.first_of_empty_calls(&sources).is_empty() {
            let mut nothing = O::Vectors::default();
            return self.fill::<I, O>(operands, O::slices(&mut nothing), work);
        }
        let cut = self.cut(&sources);
        let mut boxes = Boxes::new(self.loops.clone(), self.together(&sources, cut));
        if let Some(starts) = O::block_starts(out)? {
            boxes = boxes.in_blocks(starts, ELEMENTS_IN_BLOCKS / cut.each);
        }
        let done = self.store::<I, O>(operands, boxes, out, kept, work);
        let finished = O::finish(out, done.is_ok());
        done.and(finished)
    }

    /// Makes all calls, box by box, with their results to destinations.
    fn store<I: Inputs, O: Outputs>(
        &self,
        operands: &I::Operands<'_>,
        boxes: Boxes,
        out: &mut O::Destinations<'_>,
        kept: bool,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        let (sources, mut vectors) = (I::sources(operands), O::Vectors::default());
        let mut failed: Option<(Vec<usize>, Cause)> = None;
        for ranges in boxes {
            // Boxes of whole blocks begin in row-major order, but have calls after those of later boxes.
            let starts = ranges.iter().map(|range| range.start);
            if failed.as_ref().is_some_and(|(index, _)| starts.ge(index.iter().copied())) {
                break;
            }
            let calls = size(self.loops, &ranges);
            let least = |k: usize| calls * self.results[k];
            let least: Option<&dyn Fn(usize) -> usize> = if kept { None } else { Some(&least) };
            let done = O::load(out, &mut vectors, &ranges, least).and_then(|()| {
                let (results, _) = O::split(O::slices(&mut vectors), |k| calls * self.results[k]);
                self.part::<I, O>(operands, &sources, &ranges, results, work)?;
                if failed.is_none() { O::store(out, &vectors, &ranges) } else { Ok(()) }
            });
            let done = match &failed {
                None => done.map_err(|error| first(error, || I::try_all(operands))),
                Some(_) => done,
            };
            match done {
                Err(Error::Elementary { index, source }) => {
                    if failed.as_ref().is_none_or(|(first, _)| index < *first) {
                        failed = Some((index, source));
                    }
                }
                // What changes is read after the call that is known to fail.
                Err(Error::Storage { index: Some(index), .. })
                    if failed.as_ref().is_some_and(|(first, _)| index > *first) => {}
                done => done?,
            }
        }
        match failed {
            Some((index, source)) => Err(Error::Elementary { index, source }),
            None => Ok(()),
        }
    }

    /// Makes the calls of a box of the loop.
    fn part<I: Inputs, O: Outputs>(
        &self,
        operands: &I::Operands<'_>,
        sources: &[&Source],
        group: &[Range<usize>],
        out: O::Slices<'_>,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        if self.loops.contains(&0) {
            return Ok(());
        }
        let cut = self.cut(sources);
        if group.is_empty() && product(self.loops) <= cut.block {
            let group = Group { calls: self, sources, start: group, task: 1 };
            let mut buffers = I::Buffers::default();
            if sources.iter().any(|source| !source.direct) {
                I::read(operands, &mut buffers, &[])?;
            }
            return group.block::<I, O>(&[], I::slices(operands, &buffers), out, work);
        }
        let extents = (0..self.loops.rank()).map(|axis| range(self.loops, group, axis).len());
        let extents: Shape = extents.collect();
        // Of this box: a share of the whole loop may be all of it, and leave nothing to other threads.
        let (mut block, mut task) = (cut.block, usize::MAX);
        if let Some(calls) = self.task(&extents, cut.each) {
            block = block.min(product(&extents).div_ceil(kernel::threads())).max(1);
            task = calls / block;
        }
        let boxes = Boxes::new(extents, block);
        let group = Group { calls: self, sources, start: group, task: task.max(1) };
        group.boxes::<I, O>(operands, boxes, out, work)
    }
}

/// A box of the loop, in blocks.
struct Group<'g> {
    calls: &'g Calls<'g>,
    sources: &'g [&'g Source],
    start: &'g [Range<usize>],
    /// Most blocks of a task.
    task: usize,
}

impl Group<'_> {
    /// Makes the calls of some blocks, in halves as long as they are more than one task.
    #[inline(never)]
    fn boxes<I: Inputs, O: Outputs>(
        &self,
        operands: &I::Operands<'_>,
        boxes: Boxes,
        out: O::Slices<'_>,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        if boxes.count_left() > self.task {
            let (low, high, calls) = boxes.halves();
            let (first, second) = O::split(out, |k| calls * self.calls.results[k]);
            let (low, high) = join(
                || self.boxes::<I, O>(operands, low, first, work),
                || self.boxes::<I, O>(operands, high, second, work),
            );
            return low.and(high);
        }
        let (mut buffers, mut out) = (I::Buffers::default(), out);
        for ranges in boxes {
            let ranges = boxes::within(self.start, ranges);
            I::read(operands, &mut buffers, &ranges)?;
            let calls = size(self.calls.loops, &ranges);
            let (now, later) = O::split(out, |k| calls * self.calls.results[k]);
            out = later;
            self.block::<I, O>(&ranges, I::slices(operands, &buffers), now, work)?;
        }
        Ok(())
    }

    /// Makes the calls of one block, row by row.
    #[inline(never)]
    fn block<I: Inputs, O: Outputs>(
        &self,
        ranges: &[Range<usize>],
        inputs: I::Slices<'_>,
        out: O::Slices<'_>,
        work: &impl Work<I, O>,
    ) -> Result<()> {
        let loops = self.calls.loops;
        let step = |axis: usize| self.sources.iter().map(move |source| source.step(ranges, axis));
        // Axes that are one for all operands are one, with the steps of the last of them; the first of these is a row.
        let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        for axis in (0..loops.rank()).rev() {
            let extent = range(loops, ranges, axis).len();
            if extent == 1 {
                continue;
            }
            let follows = |inner: usize, count: usize| {
                let mut both = step(inner).zip(step(axis));
                both.all(|(own, outer)| own.checked_mul(count as isize) == Some(outer))
            };
            match axes.last_mut() {
                Some((inner, count)) if follows(*inner, *count) => *count *= extent,
                _ => axes.push((axis, extent)),
            }
        }
        let (row, outer) = match axes.split_first() {
            Some((row, outer)) => (Some(row), outer),
            None => (None, &[][..]),
        };
        let count = row.map_or(1, |(_, count)| *count);
        let steps: SmallVec<[isize; 4]> = collect_inline(self.sources.len(), 0, |k| match row {
            Some((axis, _)) => self.sources[k].step(ranges, *axis),
            None => 0,
        });
        let rows: usize = outer.iter().map(|(_, extent)| extent).product();
        let starts = (0..loops.rank()).map(|axis| range(loops, ranges, axis).start);
        let origin = if ranges.is_empty() { 0 } else { loops.ravel(&starts.collect::<Index>()) };
        let (mut first, mut out) = (origin, out);
        for row in 0..rows {
            let mut offsets: SmallVec<[isize; 4]> =
                collect_inline(self.sources.len(), 0, |k| self.sources[k].start(ranges));
            let mut rest = row;
            for &(axis, extent) in outer {
                let digit = (rest % extent) as isize;
                rest /= extent;
                let moved = offsets.iter_mut().zip(step(axis));
                moved.for_each(|(offset, step)| {
                    *offset = offset.wrapping_add(step.wrapping_mul(digit));
                });
            }
            let (mut now, later) = O::split(out, |k| count * self.calls.results[k]);
            out = later;
            let (inputs, outputs) = (I::shorter(inputs), O::reborrow(&mut now));
            let row = Row { count, first, inputs, offsets: &offsets, steps: &steps, outputs };
            work.run(row).map_err(|error| in_box(error, loops, ranges, origin))?;
            first += count;
        }
        Ok(())
    }
}

/// The error of a call of a box, whose numbers begin at `origin`, at its index.
#[cold]
fn in_box(error: Error, loops: &Shape, ranges: &[Range<usize>], origin: usize) -> Error {
    let Error::Elementary { index, source } = error else { return error };
    let own = || (0..loops.rank()).map(|axis| range(loops, ranges, axis));
    let extents: Shape = own().map(|range| range.len()).collect();
    let place = extents.unravel(loops.ravel(&index).saturating_sub(origin));
    let index = own().zip(place.iter()).map(|(range, place)| range.start + place).collect();
    Error::Elementary { index, source }
}

/// The range of an axis of a box, which is whole along the last axes.
fn range(loops: &Shape, ranges: &[Range<usize>], axis: usize) -> Range<usize> {
    ranges.get(axis).cloned().unwrap_or(0..loops[axis])
}

/// Calls of a loop.
fn product(extents: &[usize]) -> usize {
    extents.iter().fold(1, |product, n| product.saturating_mul(*n))
}

/// Calls of a box.
fn size(loops: &Shape, ranges: &[Range<usize>]) -> usize {
    (0..loops.rank()).map(|axis| range(loops, ranges, axis).len()).product()
}

/// Which error is the first: what the operands report comes before what is done with them, whatever was read when.
#[cold]
fn first(error: Error, operands: impl FnOnce() -> Result<()>) -> Error {
    match error {
        Error::OutOfMemory { .. } => error,
        error => operands().err().unwrap_or(error),
    }
}
