//! Rows of entries times rows in memory.

use super::{Filled, GRAIN, PARALLEL, join, threads, wide};
use crate::error::{Error, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Columns whose sums are kept in registers at once: eight vectors of four `f64`.
const LANES: usize = 32;
/// The same for what remains of a row.
const FEW: usize = 4;

/// A sparse matrix by rows: ascending row-major positions, and the values there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries<'a, T> {
    pub(crate) positions: &'a [usize],
    pub(crate) values: &'a [T],
    /// Extent of a row.
    pub(crate) columns: usize,
}

impl<'a, T> Entries<'a, T> {
    /// The entries before row `row`, and the others.
    pub(crate) fn split(self, row: usize) -> (Self, Self) {
        let limit = row.saturating_mul(self.columns);
        let count = self.positions.partition_point(|&position| position < limit);
        let (first, second) = self.positions.split_at(count);
        let (low, high) = self.values.split_at(count.min(self.values.len()));
        (
            Self { positions: first, values: low, ..self },
            Self { positions: second, values: high, ..self },
        )
    }

    /// A row inside `rows` that has about as many entries before it as after it.
    pub(crate) fn middle(&self, rows: &Range<usize>) -> usize {
        let median = self.positions.get(self.positions.len() / 2);
        let row =
            median.map_or(rows.start + rows.len() / 2, |position| position / self.columns.max(1));
        row.clamp(rows.start + 1, (rows.end - 1).max(rows.start + 1))
    }
}

/// Sums of products: `step(sum, a, b)` is `sum + a * b`, from `zero` on, in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums<T, F> {
    pub(crate) zero: T,
    pub(crate) step: F,
}

impl<T: Copy + Send + Sync, F: Fn(T, T, T) -> T + Copy + Send + Sync> Sums<T, F> {
    /// A sparse matrix of `rows` times `dense`, rows of `width` elements, into `out`, rows of as many.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] unless `out` holds just the result.
    pub(crate) fn times_rows(
        self,
        entries: Entries<'_, T>,
        rows: Range<usize>,
        dense: &[T],
        width: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        if rows.len().checked_mul(width) != Some(out.len()) {
            return Err(Error::OutOfSpan {
                span: 0..rows.len().saturating_mul(width),
                len: out.len(),
            });
        }
        let work = (entries.positions.len() + rows.len()).saturating_mul(width);
        let task = if work < PARALLEL || threads() < 2 {
            usize::MAX
        } else {
            GRAIN.max(work / (4 * threads()))
        };
        Ok(self.run(entries, rows, dense, width, out, task))
    }

    /// The same, where `out` is known to hold `width` elements for each of `rows`, so that all are written.
    fn run(
        self,
        entries: Entries<'_, T>,
        rows: Range<usize>,
        dense: &[T],
        width: usize,
        out: &mut [MaybeUninit<T>],
        task: usize,
    ) -> Filled {
        let work = (entries.positions.len() + rows.len()).saturating_mul(width);
        if work > task && rows.len() > 1 {
            let middle = entries.middle(&rows);
            let (low, high) = entries.split(middle);
            let (first, second) = out.split_at_mut((middle - rows.start) * width);
            join(
                || self.run(low, rows.start..middle, dense, width, first, task),
                || self.run(high, middle..rows.end, dense, width, second, task),
            );
            return Filled(());
        }
        match width {
            0 => {}
            1 => wide(
                #[inline(always)]
                || self.dots(entries, rows.start, dense, out),
            ),
            _ => wide(
                #[inline(always)]
                || self.rows(entries, rows.start, dense, width, out),
            ),
        }
        Filled(())
    }

    /// Rows times one column.
    #[inline(always)]
    fn dots(self, entries: Entries<'_, T>, first: usize, dense: &[T], out: &mut [MaybeUninit<T>]) {
        let columns = entries.columns;
        let mut rest = entries.positions.iter().zip(entries.values).peekable();
        for (row, out) in out.iter_mut().enumerate() {
            let start = (first + row) * columns;
            let mut sum = self.zero;
            while let Some((&position, &value)) = rest.next_if(|entry| *entry.0 < start + columns) {
                // Out of reach are entries of storage that breaks its promises only.
                if let Some(&element) = dense.get(position.wrapping_sub(start)) {
                    sum = (self.step)(sum, value, element);
                }
            }
            out.write(sum);
        }
    }

    /// Rows times rows, a part of them at a time.
    #[inline(always)]
    fn rows(
        self,
        entries: Entries<'_, T>,
        first: usize,
        dense: &[T],
        width: usize,
        out: &mut [MaybeUninit<T>],
    ) {
        let Entries { positions, values, columns } = entries;
        let mut from = 0;
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            let start = (first + row) * columns;
            let more = positions[from..].iter().take_while(|position| **position < start + columns);
            let ordinals = from..from + more.count();
            from = ordinals.end;
            let row = Line {
                positions: &positions[ordinals.clone()],
                values: &values[ordinals],
                start,
                dense,
                width,
            };
            let mut at = 0;
            while at + LANES <= width {
                self.part::<LANES>(&row, at, &mut out[at..at + LANES]);
                at += LANES;
            }
            while at + FEW <= width {
                self.part::<FEW>(&row, at, &mut out[at..at + FEW]);
                at += FEW;
            }
            while at < width {
                self.part::<1>(&row, at, &mut out[at..at + 1]);
                at += 1;
            }
        }
    }

    /// `N` columns from `at` on of one row of the result.
    #[inline(always)]
    fn part<const N: usize>(self, row: &Line<'_, T>, at: usize, out: &mut [MaybeUninit<T>]) {
        let mut sums = [self.zero; N];
        for (position, &value) in row.positions.iter().zip(row.values) {
            let column = position.wrapping_sub(row.start);
            let from = column.wrapping_mul(row.width).wrapping_add(at);
            // Out of reach are entries of storage that breaks its promises only.
            let elements = row.dense.get(from..).and_then(|rest| rest.first_chunk::<N>());
            if let Some(elements) = elements {
                for (sum, &element) in sums.iter_mut().zip(elements) {
                    *sum = (self.step)(*sum, value, element);
                }
            }
        }
        for (slot, sum) in out.iter_mut().zip(sums) {
            slot.write(sum);
        }
    }
}

/// Entries of one row, and the rows that they meet.
struct Line<'a, T> {
    positions: &'a [usize],
    values: &'a [T],
    /// Position of the first element of the row.
    start: usize,
    dense: &'a [T],
    width: usize,
}
