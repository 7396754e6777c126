//! Rows one after another along one axis.

use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// Cuts a range of rows where the last of their axes begins anew.
pub(super) struct Runs<'s> {
    outer: &'s [usize],
    next: usize,
    end: usize,
}

impl<'s> Runs<'s> {
    pub(super) fn new(shape: &'s Shape, rows: Range<usize>) -> Self {
        let (_, outer) = shape.extents().split_last().unwrap_or((&1, &[]));
        Self { outer, next: rows.start, end: rows.end }
    }

    /// The number of rows of the next run, and the digits of its first.
    pub(super) fn next(&mut self) -> Option<(usize, SmallVec<[usize; 4]>)> {
        if self.next >= self.end {
            return None;
        }
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.outer.len());
        let mut rest = self.next;
        for (digit, &extent) in index.iter_mut().zip(self.outer).rev() {
            *digit = rest % extent;
            rest /= extent;
        }
        let left = match (self.outer.last(), index.last()) {
            (Some(extent), Some(digit)) => extent - digit,
            _ => 1,
        };
        let run = left.min(self.end - self.next);
        self.next += run;
        Some((run, index))
    }
}
