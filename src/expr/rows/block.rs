//! Rows that were read.

use super::VisitRows;
use crate::error::Result;
use crate::kernel::{Fill, Stop};
use crate::memory::try_reserve_exact;
use smallvec::SmallVec;
use std::ops::Range;

/// Most rows that are visited at once, where they lie in memory.
const FEW: usize = 64;

/// Rows of equal length.
pub(crate) struct Block<'b, T> {
    pub(super) data: Data<'b, T>,
    pub(super) columns: usize,
}

pub(super) enum Data<'b, T> {
    /// In memory, each row where it starts.
    Apart(&'b [T], &'b [usize]),
    /// One after another, in scratch memory or in that of a tensor.
    Together(&'b [T]),
    /// Where the leaf has packed them.
    Bound(&'b dyn Fill<T>),
}

impl<'b, T: Copy> Block<'b, T> {
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &'b [T] {
        match self.data {
            Data::Apart(slice, starts) => &slice[starts[row]..][..self.columns],
            Data::Together(block) => &block[row * self.columns..][..self.columns],
            Data::Bound(leaf) => leaf.row_in_memory(row, self.columns).unwrap_or_default(),
        }
    }

    /// All rows as one, if they are one after another.
    pub(crate) fn flat(&self) -> Option<&'b [T]> {
        match self.data {
            Data::Together(block) => Some(block),
            Data::Apart(_, starts) => self.flat_rows(0..starts.len()),
            Data::Bound(_) => None,
        }
    }

    /// Some rows as one, in `room` if they are not one after another.
    pub(crate) fn run<'a>(&self, rows: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]>
    where
        'b: 'a,
    {
        if rows.len() == 1 {
            return Ok(self.row(rows.start));
        }
        if let Some(run) = self.flat_rows(rows.clone()) {
            return Ok(run);
        }
        room.clear();
        try_reserve_exact(room, rows.len() * self.columns)?;
        rows.for_each(|row| room.extend_from_slice(self.row(row)));
        Ok(room)
    }

    fn flat_rows(&self, rows: Range<usize>) -> Option<&'b [T]> {
        let count = rows.len() * self.columns;
        match self.data {
            Data::Together(block) => Some(&block[rows.start * self.columns..][..count]),
            Data::Apart(slice, starts) => {
                let starts = &starts[rows];
                let neighbours = starts.windows(2).all(|pair| pair[1] == pair[0] + self.columns);
                let first = starts.first().filter(|_| neighbours);
                first.map(|&first| &slice[first..][..count])
            }
            Data::Bound(_) => None,
        }
    }
}

/// Calls `visit` with rows in memory, a few at a time.
#[inline(never)]
pub(super) fn visit_few<'b, T: 'b>(
    count: usize,
    row: impl Fn(usize) -> &'b [T],
    visit: VisitRows<'_, T>,
) -> Result<(), Stop> {
    let mut few: SmallVec<[&[T]; FEW]> = SmallVec::new();
    for first in (0..count).step_by(FEW) {
        few.clear();
        few.extend((first..count.min(first + FEW)).map(&row));
        visit(first, &few)?;
    }
    Ok(())
}
