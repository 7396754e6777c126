//! Boxes of a loop: those whose results are brought to a destination, and those for which operands are evaluated.

use super::{Calls, Cut, ELEMENTS_IN_BLOCKS, MOST_ELEMENTS_AT_ONCE, RESULT_ELEMENTS, Source};
use super::{product, range};
use crate::expr::Boxes;
use crate::kernel;
use std::ops::Range;

impl Calls<'_> {
    /// Calls whose results are brought to a destination at once.
    pub(super) fn together(&self, sources: &[&Source], cut: Cut) -> usize {
        let written = self.results.iter().fold(0_usize, |sum, n| sum.saturating_add(*n)).max(1);
        // Of storage in blocks as many as are held, or it would be loaded again and again.
        let in_blocks =
            sources.iter().any(|source| !source.direct && source.at_once > MOST_ELEMENTS_AT_ONCE);
        let share = ELEMENTS_IN_BLOCKS / self.threads(cut);
        let most = if in_blocks { share.max(RESULT_ELEMENTS) } else { RESULT_ELEMENTS };
        let block = cut.block.min(most / written).max(1);
        let alone = (RESULT_ELEMENTS / cut.each).max(block);
        match self.threads(cut) {
            1 => alone,
            threads => {
                let least = block.saturating_mul(threads);
                kernel::at_once(product(self.loops), least, alone)
            }
        }
    }

    /// Boxes for which operands are evaluated, one after another where one thread makes the calls, to results that lie in
    /// memory `in_order` or in another one.
    pub(crate) fn boxes(
        &self,
        sources: &[&Source],
        in_order: bool,
    ) -> impl Iterator<Item = Vec<Range<usize>>> {
        let (loops, cut) = (self.loops, self.cut(sources));
        let together = if in_order { usize::MAX } else { self.together(sources, cut) };
        Boxes::new(loops.clone(), together).flat_map(move |group| {
            let extents = (0..loops.rank()).map(|axis| range(loops, &group, axis).len());
            let boxes = Boxes::new(extents.collect(), cut.block);
            boxes.map(move |ranges| within(&group, ranges))
        })
    }
}

/// A box of a box of a loop as one of the loop.
pub(super) fn within(group: &[Range<usize>], mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.iter_mut().zip(group).for_each(|(range, group)| {
        *range = range.start + group.start..range.end + group.start;
    });
    let missing = group.get(ranges.len()..).unwrap_or_default();
    ranges.extend(missing.iter().cloned());
    ranges
}
