//! The addresses that one operand has in a nest, as runs in ascending order, and strides in a copy of them.

use super::{Loop, Nest, Step, TableRef};
use crate::error::Result;
use crate::memory::list;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// Lowest and highest position along a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) low: usize,
    pub(crate) high: usize,
}

impl Reach {
    pub(crate) fn of(l: &Loop, operand: usize, tables: &[Cow<'_, [usize]>]) -> Self {
        match table(l, operand, tables) {
            None => Self { low: 0, high: l.extent - 1 },
            Some(table) => {
                let (low, high) =
                    table.iter().fold((usize::MAX, 0), |(low, high), &p| (low.min(p), high.max(p)));
                Self { low, high }
            }
        }
    }

    pub(crate) fn is_still(self) -> bool {
        self.low == self.high
    }
}

/// The positions of an operand along a loop, if they are listed.
pub(super) fn table<'t>(
    l: &Loop,
    operand: usize,
    tables: &'t [Cow<'_, [usize]>],
) -> Option<&'t [usize]> {
    l.steps[operand].table.map(|t| &tables[t.index][t.start..t.start + l.extent])
}

/// Runs are read with gaps of at most as many elements as are wanted.
const SPARSEST: usize = 2;

/// What an operand reads in a nest.
#[derive(Debug)]
pub(crate) struct Footprint {
    base: isize,
    /// Elements of a run, and their distance.
    run: usize,
    step: usize,
    /// Offsets of runs: sums of one of each list, outermost first.
    outer: SmallVec<[Side; 4]>,
    /// Elements of the copy.
    pub(crate) len: usize,
}

#[derive(Debug)]
enum Side {
    Strided { extent: usize, stride: usize },
    Listed(Vec<usize>),
}

impl Side {
    fn len(&self) -> usize {
        match self {
            Self::Strided { extent, .. } => *extent,
            Self::Listed(list) => list.len(),
        }
    }

    fn at(&self, k: usize) -> usize {
        match self {
            Self::Strided { stride, .. } => k * stride,
            Self::Listed(list) => list[k],
        }
    }
}

/// Neighbours in storage, and where they go in the copy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Run<'f> {
    Strided { start: usize, step: usize, to: Range<usize> },
    Listed { addresses: &'f [usize], to: Range<usize> },
}

impl Footprint {
    /// The footprint of an operand, whose place in `nest` becomes that in the copy. With `gaps`, a run may have
    /// elements that the nest does not.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(
        nest: &mut Nest,
        operand: usize,
        tables: &mut Vec<Cow<'_, [usize]>>,
        gaps: bool,
    ) -> Result<Self> {
        let mut order: SmallVec<[usize; 4]> = (0..nest.loops.len()).collect();
        order.retain(|&mut l| nest.loops[l].steps[operand].stride != 0);
        order.sort_by_key(|&l| {
            std::cmp::Reverse(nest.loops[l].steps[operand].stride.unsigned_abs())
        });
        let mut found =
            Self { base: nest.bases[operand], run: 1, step: 1, outer: SmallVec::new(), len: 1 };
        let mut base = 0_isize;
        // Elements that the run is for.
        let (mut wanted, mut open) = (1_usize, true);
        for &which in order.iter().rev() {
            let step = nest.loops[which].steps[operand];
            let reach = Reach::of(&nest.loops[which], operand, tables);
            let (weight, far) = (step.stride.unsigned_abs(), reach.high - reach.low);
            let lowest = if step.stride < 0 { reach.high } else { reach.low };
            found.base = found.base.wrapping_add(step.stride.wrapping_mul(lowest as isize));
            let list = table(&nest.loops[which], operand, tables);
            let extent = list.map_or(nest.loops[which].extent, |list| list.len().min(far + 1));
            let span = weight.saturating_mul(far).saturating_add(found.run);
            let most = wanted.saturating_mul(extent);
            let joins = if gaps {
                span <= most.saturating_mul(SPARSEST)
            } else {
                span == most && (list.is_none() || far == 0)
            };
            if open && joins {
                base = base.wrapping_sub(step.stride.wrapping_mul(lowest as isize));
                (found.run, wanted) = (span, most.min(span));
                continue;
            }
            let first = open && found.run == 1;
            open = false;
            let at = if first && list.is_none() { 1 } else { found.run * found.rows() };
            let side = match list {
                None => Side::Strided { extent, stride: weight },
                Some(list) => {
                    let sorted = distinct(list, step.stride < 0, weight)?;
                    // Mostly the same one or the next.
                    let mut at = 0;
                    let entry = |&p: &usize| {
                        let offset = weight * p.abs_diff(lowest);
                        if sorted.get(at) != Some(&offset) {
                            at = match sorted.get(at + 1) {
                                Some(next) if *next == offset => at + 1,
                                _ => sorted.binary_search(&offset).unwrap_or_default(),
                            };
                        }
                        at
                    };
                    let entries = self::list(list.iter().map(entry))?;
                    tables.push(Cow::Owned(entries));
                    Side::Listed(sorted)
                }
            };
            let stride = at as isize;
            nest.loops[which].steps[operand] = match side {
                Side::Listed(_) => {
                    Step { stride, table: Some(TableRef { index: tables.len() - 1, start: 0 }) }
                }
                Side::Strided { .. } if step.stride < 0 => {
                    base += stride * far as isize;
                    Step { stride: -stride, table: None }
                }
                Side::Strided { .. } => Step { stride, table: None },
            };
            match side {
                Side::Strided { extent, stride } if first => {
                    (found.run, found.step) = (extent, stride)
                }
                side => found.outer.insert(0, side),
            }
        }
        nest.bases[operand] = base;
        found.len = found.run.saturating_mul(found.rows());
        Ok(found)
    }

    fn rows(&self) -> usize {
        self.outer.iter().map(Side::len).fold(1, usize::saturating_mul)
    }

    /// Address of the first element.
    pub(crate) fn first(&self) -> usize {
        self.base as usize
    }

    /// Calls `visit` with all runs, in ascending order where the loops nest.
    ///
    /// # Errors
    ///
    /// Those of `visit`, and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(never)]
    pub(crate) fn for_each_run<E: From<crate::Error>>(
        &self,
        visit: &mut dyn FnMut(Run<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Single elements are read as lists.
        let listed = self.run == 1 && !self.outer.is_empty();
        let (outer, last) = match (listed, self.outer.split_last()) {
            (true, Some((last, outer))) => (outer, Some(last)),
            _ => (&self.outer[..], None),
        };
        let mut digits: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        let mut addresses = Vec::new();
        let mut at = 0;
        loop {
            let offset: usize = outer.iter().zip(&digits).map(|(side, &k)| side.at(k)).sum();
            let start = (self.base as usize).wrapping_add(offset);
            match last {
                Some(last) => {
                    let entry = |k| start.wrapping_add(last.at(k));
                    crate::memory::refill(&mut addresses, (0..last.len()).map(entry))?;
                    visit(Run::Listed { addresses: &addresses, to: at..at + last.len() })?;
                    at += last.len();
                }
                None => {
                    visit(Run::Strided { start, step: self.step, to: at..at + self.run })?;
                    at += self.run;
                }
            }
            if crate::grid::advance(&mut digits, |k| outer[k].len()).is_none() {
                return Ok(());
            }
        }
    }
}

/// Ascending distinct offsets of listed positions from the lowest address.
fn distinct(positions: &[usize], backward: bool, weight: usize) -> Result<Vec<usize>> {
    let end = if backward { positions.iter().max() } else { positions.iter().min() };
    let end = end.copied().unwrap_or_default();
    let mut offsets = list(positions.iter().map(|p| weight * p.abs_diff(end)))?;
    if !offsets.is_sorted() {
        offsets.sort_unstable();
    }
    offsets.dedup();
    Ok(offsets)
}
