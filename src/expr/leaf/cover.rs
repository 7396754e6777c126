//! Boxes of storage that is not memory, under a stage: positions that lie together are read as a box below it.

use super::{LeafCursor, Memory};
use crate::error::Result;
use crate::kernel::inner::out_of_span;
use crate::kernel::plan::Step;
use crate::kernel::{Cover, Local, Stop, Supply};
use crate::memory::try_reserve;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Most positions that are read for each that is wanted.
const SPARSEST: usize = 2;

impl<T: Copy + Send + Sync> LeafCursor<'_, T> {
    /// Where operand `k` has most positions of a stage between its first and its last along the loops of small strides, and
    /// those are many, brings them to memory, in their order, for each index of the others; `false` if it does not, or if
    /// what lies between fails.
    #[inline(never)]
    pub(super) fn load_cover(&mut self, local: &mut Local<'_>, k: usize) -> Result<bool, Stop> {
        let Some(relocate) = local.relocates[k] else { return Ok(false) };
        let Some(Dense { inner, outer, len }) = Dense::of(local, k) else { return Ok(false) };
        let lowest = local.lowest_along(k, &inner);
        let mut copy = Vec::new();
        for start in local.addresses(k, &outer)? {
            let start = start.wrapping_add_signed(lowest);
            let cover = relocate.cover(start..start.saturating_add(len));
            let cover = cover.filter(|cover| cover.count() / SPARSEST <= len);
            let Some(Cover { first, base, sides }) = cover else { return Ok(false) };
            let mut part = Local::of_leaf(base, &sides, local.supplies[k]);
            match self.load_box(&mut part, 1) {
                Err(Stop::Storage { .. }) => return Ok(false),
                done => done?,
            }
            let slice = self.memory.slice().unwrap_or_default();
            read_in_order(slice, &part, 1, start - first..start - first + len, &mut copy)?;
        }
        self.memory = Memory::Copied(Arc::new(copy));
        local.nest.bases[k] = lowest.wrapping_neg();
        let mut stride = len as isize;
        for &l in outer.iter().rev() {
            local.nest.loops[l].steps[k] = Step { stride, table: None };
            stride *= local.nest.loops[l].extent as isize;
        }
        local.relocates[k] = None;
        local.supplies[k] = Supply::Memory;
        Ok(true)
    }
}

/// Loops along which an operand has most positions between its first and its last, and the others.
struct Dense {
    inner: SmallVec<[usize; 4]>,
    outer: SmallVec<[usize; 4]>,
    /// Positions from the first to the last.
    len: usize,
}

impl Dense {
    /// `None` if they are few.
    fn of(local: &Local<'_>, k: usize) -> Option<Self> {
        /// Fewest positions that are worth being read together.
        const FEW: usize = 128;
        let stride = |l: usize| local.nest.loops[l].steps[k].stride.unsigned_abs();
        let all = 0..local.nest.loops.len();
        let mut loops: SmallVec<[usize; 4]> = all.filter(|&l| stride(l) != 0).collect();
        loops.sort_by_key(|&l| stride(l));
        let (mut wanted, mut len, mut depth) = (1_usize, 1_usize, 0);
        for (number, &l) in loops.iter().enumerate() {
            let far = local.reach_along(k, l);
            wanted = wanted.saturating_mul(local.nest.loops[l].extent);
            if len.saturating_add(far) / SPARSEST > wanted {
                break;
            }
            (len, depth) = (len + far, number + 1);
        }
        let mut outer: SmallVec<[usize; 4]> = loops.drain(depth..).collect();
        outer.sort_unstable();
        (len >= FEW).then_some(Self { inner: loops, outer, len })
    }
}

/// Copies elements, by their numbers in the order of the loops, of operand `k` in a box of memory without tables.
fn read_in_order<T: Copy>(
    slice: &[T],
    local: &Local<'_>,
    k: usize,
    numbers: Range<usize>,
    out: &mut Vec<T>,
) -> Result<()> {
    let sides = local.nest.loops.iter().map(|l| (l.extent, l.steps[k].stride));
    let sides: SmallVec<[(usize, isize); 4]> = sides.collect();
    let (&(columns, stride), outer) = sides.split_last().unwrap_or((&(1, 0), &[]));
    try_reserve(out, numbers.len())?;
    let mut next = numbers.start;
    while next < numbers.end {
        let (mut rest, column) = (next / columns, next % columns);
        let mut at = local.nest.bases[k].wrapping_add(stride.wrapping_mul(column as isize));
        for (extent, stride) in outer.iter().rev() {
            at = at.wrapping_add(stride.wrapping_mul((rest % extent) as isize));
            rest /= extent;
        }
        let count = (columns - column).min(numbers.end - next);
        let last = at.wrapping_add(stride.wrapping_mul(count as isize - 1));
        let inside = |at: isize| (at as usize) < slice.len();
        if !inside(at) || !inside(last) {
            return Err(out_of_span(at.min(last) as i128, at.max(last) as i128, slice.len()));
        }
        out.extend((0..count).map(|k| slice[(at + stride * k as isize) as usize]));
        next += count;
    }
    Ok(())
}
