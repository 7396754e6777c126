//! Rows of leaves.

use crate::kernel::{PART, Row, prefetch_row, prefetch_span};

/// A row of elements in memory, or of one element that is repeated.
#[derive(Debug)]
pub struct LeafRow<'r, T> {
    pub(super) elements: &'r [T],
    /// Whether the elements are copies of one, of which any part of the row can be had.
    pub(super) uniform: bool,
    /// Whether the elements are those of the storage, where it holds them.
    pub(super) direct: bool,
}

impl<'r, T> LeafRow<'r, T> {
    /// A row of these elements.
    #[inline(always)]
    pub(in crate::expr) fn new(elements: &'r [T]) -> Self {
        Self { elements, uniform: false, direct: false }
    }
}

impl<T: Copy> Row for LeafRow<'_, T> {
    type Elem = T;
    const FAULTS: bool = false;

    #[inline(always)]
    fn part(&self, start: usize, columns: usize) -> Self {
        let start = if self.uniform { 0 } else { start };
        Self { elements: &self.elements[start..start + columns], ..*self }
    }

    #[inline(always)]
    fn prefetch(&self, column: Option<usize>) {
        match column {
            Some(column) => prefetch_span(self.elements, column, PART),
            None if self.direct => prefetch_row(self.elements),
            None => {}
        }
    }

    #[inline(always)]
    fn get(&self, column: usize) -> T {
        self.elements[column]
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (T, bool) {
        (self.elements[column], false)
    }
}
