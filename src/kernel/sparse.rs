//! Rows of entries times rows in memory.

use super::{Filled, GRAIN, LARGE_BYTES, PARALLEL, dispatch, join, threads};
use crate::error::{Error, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Columns whose sums are kept in registers at once: eight vectors of four `f64`.
const LANES: usize = 32;
/// The same for what remains of a row.
const FEW: usize = 4;

/// Entries of a row, on average, below which it is short.
const SHORT: usize = 8;

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

    /// Steps of a product of `rows` rows with rows of `width` elements.
    fn work(&self, rows: usize, width: usize) -> usize {
        (self.positions.len() + rows).saturating_mul(width)
    }

    /// Most of these steps that one task should do.
    fn task(&self, rows: usize, width: usize) -> usize {
        let work = self.work(rows, width);
        let tasks = if work < PARALLEL || threads() < 2 { 1 } else { 4 * threads() };
        GRAIN.max(work.div_ceil(tasks))
    }

    /// Threads that take part in such a product.
    pub(crate) fn threads(&self, rows: usize, width: usize) -> usize {
        let shared = rows > 1 && self.work(rows, width) > self.task(rows, width);
        if shared { threads() } else { 1 }
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
    /// A sparse matrix of `rows` rows times `dense`, rows of `width` elements, into `out`, rows of as many.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] unless `out` holds just the result.
    pub(crate) fn times_rows(
        self,
        entries: Entries<'_, T>,
        rows: usize,
        dense: &[T],
        width: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        if rows.checked_mul(width) != Some(out.len()) {
            return Err(Error::OutOfSpan { span: 0..rows.saturating_mul(width), len: out.len() });
        }
        if width == 0 {
            return Ok(Filled::of(out));
        }
        share(entries, width, &mut *out, &|entries, first, out| {
            dispatch(
                #[inline(always)]
                || self.rows(entries, first, dense, width, out),
            );
        });
        Ok(Filled::of(out))
    }

    /// A sparse matrix times a column into `out`, which has an element for every row, each of them zero. The row of
    /// a position and its column are as `split` says.
    pub(crate) fn times_column(
        self,
        entries: Entries<'_, T>,
        column: &[T],
        out: &mut [T],
        split: impl Fn(usize) -> (usize, usize) + Copy + Sync,
    ) {
        share(entries, 1, out, &|entries, first, out| {
            if entries.positions.len() / SHORT < out.len() {
                self.short_dots(entries, first, column, out, split);
            } else {
                self.dots(entries, first, column, out);
            }
        });
    }

    /// As [`Self::times_column`] of a matrix whose entries come by columns: `split` says the column and the row. The terms of
    /// a row come in the same order.
    pub(crate) fn columns_times_column(
        self,
        entries: Entries<'_, T>,
        column: &[T],
        out: &mut [T],
        split: impl Fn(usize) -> (usize, usize),
    ) {
        for (&position, &value) in entries.positions.iter().zip(entries.values) {
            let (place, row) = split(position);
            // Out of reach are entries of storage that breaks its promises only.
            if let (Some(slot), Some(&element)) = (out.get_mut(row), column.get(place)) {
                *slot = (self.step)(*slot, value, element);
            }
        }
    }

    /// Rows of few entries times a column: the row of an entry is found by division, as a loop for each row
    /// would end in a branch that no processor predicts. The sum so far is stored for every entry and stays in a register,
    /// so that no entry waits for the store of the one before.
    fn short_dots(
        self,
        entries: Entries<'_, T>,
        first: usize,
        column: &[T],
        out: &mut [T],
        split: impl Fn(usize) -> (usize, usize),
    ) {
        let (mut last, mut sum) = (usize::MAX, self.zero);
        for (&position, &value) in entries.positions.iter().zip(entries.values) {
            let (row, place) = split(position);
            // Out of reach are entries of storage that breaks its promises only.
            let slot = out.get_mut(row.wrapping_sub(first));
            if let (Some(slot), Some(&element)) = (slot, column.get(place)) {
                sum = (self.step)(if row == last { sum } else { self.zero }, value, element);
                last = row;
                *slot = sum;
            }
        }
    }

    /// Rows times a column.
    fn dots(self, entries: Entries<'_, T>, first: usize, column: &[T], out: &mut [T]) {
        let columns = entries.columns;
        let mut rest = entries.positions.iter().zip(entries.values).peekable();
        for (row, out) in out.iter_mut().enumerate() {
            let start = (first + row) * columns;
            let mut sum = self.zero;
            while let Some((&position, &value)) = rest.next_if(|entry| *entry.0 < start + columns) {
                // Out of reach are entries of storage that breaks its promises only.
                if let Some(&element) = column.get(position.wrapping_sub(start)) {
                    sum = (self.step)(sum, value, element);
                }
            }
            *out = sum;
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
            let few = size_of::<T>() <= LARGE_BYTES;
            while few && at + LANES <= width {
                self.part::<LANES>(&row, at, &mut out[at..at + LANES]);
                at += LANES;
            }
            while few && at + FEW <= width {
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

/// Calls `run` with parts of the rows, the number of their first one, and where their results go: `width`
/// elements a row. Parts run at once if there is enough to do.
fn share<T: Sync, U: Send>(
    entries: Entries<'_, T>,
    width: usize,
    out: &mut [U],
    run: &(impl Fn(Entries<'_, T>, usize, &mut [U]) + Sync),
) {
    let rows = out.len() / width.max(1);
    let task = entries.task(rows, width);
    split(entries, 0..rows, width, out, task, run);
}

/// [`share`] for a range of rows, in tasks of at most `task` steps where a row is not more.
fn split<T: Sync, U: Send>(
    entries: Entries<'_, T>,
    rows: Range<usize>,
    width: usize,
    out: &mut [U],
    task: usize,
    run: &(impl Fn(Entries<'_, T>, usize, &mut [U]) + Sync),
) {
    if entries.work(rows.len(), width) <= task || rows.len() < 2 {
        return run(entries, rows.start, out);
    }
    let middle = entries.middle(&rows);
    let (low, high) = entries.split(middle);
    let (first, second) = out.split_at_mut((middle - rows.start) * width);
    join(
        || split(low, rows.start..middle, width, first, task, run),
        || split(high, middle..rows.end, width, second, task, run),
    );
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
