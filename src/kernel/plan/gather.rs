//! Inner loops that are too short for tiles of their own, as one.

use super::{Loop, Nest, PerOperand, SHORT, Step, TableRef};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Elements of a tile below which setting it up costs more than it does.
const MIN_TILE: usize = 64;
/// Most columns that short loops are merged to.
const MOST_COLUMNS: usize = 512;

/// Positions of an operand along merged loops.
enum Merged {
    /// With the stride of the innermost one.
    Even(isize),
    Listed(SmallVec<[isize; 16]>),
}

impl Nest {
    /// Whether tiles would be too small: the two innermost of three or more loops have few elements, or rows are
    /// short and follow a table.
    pub(super) fn is_small(&self) -> bool {
        match &self.loops[..] {
            [.., _, rows, columns] if rows.extent * columns.extent < MIN_TILE => true,
            [.., columns] => {
                let listed = columns.steps.iter().any(|step| step.table.is_some());
                self.loops.len() > 1 && columns.extent <= SHORT && listed
            }
            [] => false,
        }
    }

    /// Merges the innermost of these loops to columns along which operands that move unevenly are gathered, each by a
    /// table, if the output moves evenly. What is left over of a loop that is cut for it is returned as a nest of its own.
    pub(super) fn merge_columns(
        &mut self,
        loops: SmallVec<[Loop; 4]>,
        tables: &mut Vec<Cow<'_, [usize]>>,
    ) -> Option<Nest> {
        let depth = loops.len();
        let (mut first, mut columns) = (depth - 1, loops[depth - 1].extent);
        let even = |k: usize, columns: usize| {
            let ends = [&loops[k], &loops[depth - 1]].map(|l| l.steps[0]);
            ends.iter().all(|step| step.table.is_none())
                && ends[1].stride.checked_mul(columns as isize) == Some(ends[0].stride)
        };
        while first > 0
            && even(first - 1, columns)
            && loops[first - 1].extent * columns <= MOST_COLUMNS
        {
            first -= 1;
            columns *= loops[first].extent;
        }
        // Part of a longer loop.
        let cut = first.checked_sub(1).filter(|&k| columns < MIN_TILE && even(k, columns));
        let cut = cut.filter(|&k| loops[k].steps.iter().all(|step| step.table.is_none()));
        // In parts of about one length, so that what is left over is few.
        let part = cut.map_or(1, |k| {
            let extent = loops[k].extent;
            extent.div_ceil(extent.div_ceil(MOST_COLUMNS / columns))
        });
        if columns * part < MIN_TILE {
            return None;
        }
        let inner = cut.unwrap_or(first)..depth;
        (self.loops, self.transposed, self.row_by_row) = (loops, false, true);
        let short: SmallVec<[Loop; 4]> = self.loops.drain(inner).collect();
        let mut each: SmallVec<[_; 4]> = short.iter().map(|l| (l, l.extent)).collect();
        if cut.is_some() {
            each[0].1 = part;
        }
        let merged: PerOperand<(isize, Step)> =
            (0..self.bases.len()).map(|k| merged(k, &each, tables)).collect();
        for (base, (least, _)) in self.bases.iter_mut().zip(&merged) {
            *base = base.wrapping_add(*least);
        }
        let steps: PerOperand<Step> = merged.iter().map(|(_, step)| *step).collect();
        let mut rest = None;
        if let Some(Loop { extent, steps: far }) = short.first().filter(|_| cut.is_some()) {
            let (times, left) = (extent / part, extent % part);
            let far = |times: usize| far.iter().map(move |step| step.stride * times as isize);
            if left > 0 {
                let mut nest = self.clone();
                let moved = nest.bases.iter_mut().zip(far(times * part));
                moved.for_each(|(base, more)| *base += more);
                nest.loops.push(Loop { extent: left * columns, steps: steps.clone() });
                rest = Some(nest);
            }
            let steps: PerOperand<Step> =
                far(part).map(|stride| Step { stride, table: None }).collect();
            self.loops.push(Loop { extent: times, steps });
        }
        self.loops.push(Loop { extent: columns * part, steps });
        rest
    }
}

/// How an operand moves along some loops as one, so much of each and outermost first, and the least that they add to its
/// address.
pub(super) fn merged(
    k: usize,
    loops: &[(&Loop, usize)],
    tables: &mut Vec<Cow<'_, [usize]>>,
) -> (isize, Step) {
    let (mut merged, mut count) = (Merged::Even(0), 1);
    for &(own, extent) in loops.iter().rev() {
        let step = own.steps[k];
        let even = |stride: isize| stride.checked_mul(count as isize) == Some(step.stride);
        merged = match merged {
            Merged::Even(_) if step.table.is_none() && count == 1 => Merged::Even(step.stride),
            Merged::Even(stride) if step.table.is_none() && even(stride) => Merged::Even(stride),
            near => {
                let far = |i: usize| match step.table {
                    Some(table) => tables[table.index][table.start + i] as isize,
                    None => i as isize,
                };
                let near = |i: usize| match &near {
                    Merged::Even(stride) => stride * i as isize,
                    Merged::Listed(list) => list[i],
                };
                let at = |i: usize| step.stride * far(i / count) + near(i % count);
                let list: SmallVec<[isize; 16]> = (0..extent * count).map(at).collect();
                Merged::Listed(list)
            }
        };
        count *= extent;
    }
    match merged {
        Merged::Even(stride) => (0, Step { stride, table: None }),
        Merged::Listed(list) => {
            let least = list.iter().copied().min().unwrap_or(0);
            tables.push(Cow::Owned(list.iter().map(|&at| at.abs_diff(least)).collect()));
            let table = TableRef { index: tables.len() - 1, start: 0 };
            (least, Step { stride: 1, table: Some(table) })
        }
    }
}
