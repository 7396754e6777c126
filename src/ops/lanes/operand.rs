//! Lanes in memory, as operations see them.

use crate::error::{Error, Result};

/// Neighbouring lanes of an operand in memory, and those of another that go with them.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'g, T, U = ()> {
    pub(super) lanes: LaneSlices<'g, T>,
    pub(super) beside: LaneSlices<'g, U>,
    /// Number of lanes.
    pub(super) count: usize,
    /// Whether there is no other lane for other threads, so that several may share in this one.
    pub(super) alone: bool,
}

impl<'g, T: Copy, U: Copy> Batch<'g, T, U> {
    /// Lanes of `length` elements, one after another, with nothing beside them.
    pub(super) fn new(elements: &'g [T], length: usize, count: usize) -> Self {
        Self::apart(elements, length, [0, length as isize], count)
    }

    /// As [`Self::new`], the first lane from a start on and each a step after the one before.
    pub(super) fn apart(elements: &'g [T], length: usize, place: [isize; 2], count: usize) -> Self {
        let beside = LaneSlices::new(&[], 0, [0, 0]);
        Self { lanes: LaneSlices::new(elements, length, place), beside, count, alone: false }
    }

    /// One lane by itself.
    pub(super) fn one(lane: &'g [T]) -> Self {
        Self::new(lane, lane.len(), 1)
    }

    /// Elements of each lane.
    #[inline]
    pub(super) fn length(&self) -> usize {
        self.lanes.length
    }

    #[inline]
    pub(super) fn lane(&self, k: usize) -> Result<&'g [T]> {
        self.lanes.lane(k)
    }

    /// All lanes as one slice, if they follow one another.
    #[inline]
    pub(super) fn together(&self) -> Option<&'g [T]> {
        let LaneSlices { elements, length, start, step } = self.lanes;
        let start = usize::try_from(start).ok().filter(|_| step == length as isize)?;
        elements.get(start..start + self.count * length)
    }

    /// Parts of at most `most` lanes.
    #[inline]
    pub(super) fn parts(self, most: usize) -> impl Iterator<Item = Self> {
        (0..self.count).step_by(most).map(move |first| Self {
            lanes: self.lanes.skip(first),
            beside: self.beside.skip(first),
            count: most.min(self.count - first),
            alone: self.alone,
        })
    }

    /// Calls `f` with every lane, the one beside it, and its results.
    pub(super) fn for_each<R>(
        self,
        out: &mut [R],
        mut f: impl FnMut(&[T], &[U], &mut [R]) -> Result<()>,
    ) -> Result<()> {
        let length = out.len() / self.count.max(1);
        (0..self.count)
            .zip(out.chunks_exact_mut(length.max(1)))
            .try_for_each(|(k, out)| f(self.lane(k)?, self.beside.lane(k)?, out))
    }
}

/// Lanes of one operand, each as far from the one before as all others.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneSlices<'g, T> {
    elements: &'g [T],
    length: usize,
    start: isize,
    step: isize,
}

impl<'g, T> LaneSlices<'g, T> {
    /// Lanes of `length` elements, the first of them from `start` on and each `step` after the one before.
    pub(super) fn new(elements: &'g [T], length: usize, [start, step]: [isize; 2]) -> Self {
        Self { elements, length, start, step }
    }

    #[inline]
    fn at(&self, k: usize) -> isize {
        self.start.wrapping_add(self.step.wrapping_mul(k as isize))
    }

    /// The lanes from number `first` on.
    #[inline]
    fn skip(self, first: usize) -> Self {
        Self { start: self.at(first), ..self }
    }

    #[inline]
    fn lane(&self, k: usize) -> Result<&'g [T]> {
        if self.length == 0 {
            return Ok(&[]);
        }
        let start = self.at(k) as usize;
        let span = start..start.saturating_add(self.length);
        let lane = self.elements.get(span.clone());
        lane.ok_or_else(|| Error::OutOfSpan { span, len: self.elements.len() })
    }
}
