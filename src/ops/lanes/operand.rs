//! Lanes in memory, as operations see them.

use crate::error::{Error, Result};
use std::ops::Range;

/// Lanes of two operands that go together.
pub(super) type Both<'a, 'g, T, U> = (&'a LaneSlices<'g, T>, &'a LaneSlices<'g, U>);

/// Neighbouring lanes of one operand in memory, each as far from the one before as all others.
#[derive(Debug, Clone, Copy)]
pub struct LaneSlices<'g, T> {
    elements: &'g [T],
    pub(super) length: usize,
    start: isize,
    step: isize,
}

impl<'g, T> LaneSlices<'g, T> {
    /// Lanes of `length` elements, one after another.
    pub(super) fn new(elements: &'g [T], length: usize) -> Self {
        Self::apart(elements, length, [0, length as isize])
    }

    /// Lanes of `length` elements, the first of them from `start` on and each `step` after the one before.
    pub(super) fn apart(elements: &'g [T], length: usize, [start, step]: [isize; 2]) -> Self {
        Self { elements, length, start, step }
    }

    /// Several lanes, if they follow one another.
    #[inline]
    pub(super) fn several(&self, lanes: Range<usize>) -> Option<&'g [T]> {
        let start =
            usize::try_from(self.start).ok().filter(|_| self.step == self.length as isize)?;
        self.elements.get(start + lanes.start * self.length..start + lanes.end * self.length)
    }

    #[inline]
    pub(super) fn lane(&self, k: usize) -> Result<&'g [T]> {
        if self.length == 0 {
            return Ok(&[]);
        }
        let start = self.start.wrapping_add(self.step.wrapping_mul(k as isize)) as usize;
        let span = start..start.saturating_add(self.length);
        let lane = self.elements.get(span.clone());
        lane.ok_or_else(|| Error::OutOfSpan { span, len: self.elements.len() })
    }
}

/// Calls `f` with every lane, the one beside it, and its results.
pub(super) fn for_each_lane<T, U, R>(
    (a, b): Both<'_, '_, T, U>,
    numbers: Range<usize>,
    out: &mut [R],
    mut f: impl FnMut(&[T], &[U], &mut [R]) -> Result<()>,
) -> Result<()> {
    let length = out.len() / numbers.len().max(1);
    numbers
        .zip(out.chunks_exact_mut(length.max(1)))
        .try_for_each(|(k, out)| f(a.lane(k)?, b.lane(k)?, out))
}
