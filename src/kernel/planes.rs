//! Outputs written part by part, with the proof that no part is missing.

use super::inner::RowsMut;
use super::{Cursor, FenceOnDrop, Fill, Filled, Row, Stop, Tile, is_streamed, join, simd};
use crate::error::{Error, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Has `fill` write the chunks of `each` slots, one for every item, which together are the whole output.
///
/// # Errors
///
/// What `fill` reports, and [`Error::OutOfSpan`] if there are more slots or fewer.
pub(crate) fn fill_chunks<T, I>(
    out: &mut [MaybeUninit<T>],
    each: usize,
    items: impl ExactSizeIterator<Item = I>,
    mut fill: impl FnMut(I, &mut [MaybeUninit<T>]) -> Result<Filled>,
) -> Result<Filled> {
    let len = out.len();
    if items.len().checked_mul(each) != Some(len) {
        return Err(Error::OutOfSpan { span: 0..items.len().saturating_mul(each), len });
    }
    if each > 0 {
        for (item, chunk) in items.zip(out.chunks_exact_mut(each)) {
            let _proof: Filled = fill(item, chunk)?;
        }
    }
    Ok(Filled(()))
}

/// Has the two parts of an output on either side of `at` written, at once where there are threads.
///
/// # Errors
///
/// What `low` reports, otherwise what `high` does.
pub(crate) fn fill_halves<T: Send>(
    out: &mut [MaybeUninit<T>],
    at: usize,
    low: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled> + Send,
    high: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled> + Send,
) -> Result<Filled> {
    let (first, second) = out.split_at_mut(at);
    let (a, b) =
        join::join(move || low(first).map(|_proof| ()), move || high(second).map(|_proof| ()));
    a.and(b).map(Filled)
}

/// Outputs of one size, which lie one after another and are written item by item, all of them at one item
/// before the next.
pub(crate) struct Planes {
    /// How many outputs.
    pub(crate) count: usize,
    /// Items of each.
    pub(crate) items: usize,
    /// Slots of an item.
    pub(crate) each: usize,
    /// Items that share what `open` returns.
    pub(crate) block: usize,
}

impl Planes {
    /// Threads that share the blocks.
    pub(crate) fn threads(&self) -> usize {
        if self.items > self.block { join::threads() } else { 1 }
    }

    /// Calls `open` for blocks of items, and `fill` with what it returned for each plane and item of the
    /// block. Blocks are shared among threads; where they begin depends on `self` only.
    ///
    /// # Errors
    ///
    /// What `open` and `fill` report, and [`Error::OutOfSpan`] if `out` has more slots or fewer.
    pub(crate) fn fill<T: Send, C>(
        &self,
        out: &mut [MaybeUninit<T>],
        open: &(impl Fn(Range<usize>) -> Result<C> + Sync),
        fill: &(impl Fn(&C, [usize; 2], Line<'_, T>) -> Result<Filled> + Sync),
    ) -> Result<Filled> {
        let (len, plane) = (out.len(), self.items.saturating_mul(self.each));
        if plane.checked_mul(self.count) != Some(len) {
            return Err(Error::OutOfSpan { span: 0..plane.saturating_mul(self.count), len });
        }
        if len == 0 {
            return Ok(Filled(()));
        }
        let stream = is_streamed::<T>(len.saturating_mul(size_of::<T>()));
        let planes = out.chunks_exact_mut(plane).collect();
        self.run(0..self.items, planes, stream, open, fill)
    }

    fn run<T: Send, C>(
        &self,
        items: Range<usize>,
        planes: Vec<&mut [MaybeUninit<T>]>,
        stream: bool,
        open: &(impl Fn(Range<usize>) -> Result<C> + Sync),
        fill: &(impl Fn(&C, [usize; 2], Line<'_, T>) -> Result<Filled> + Sync),
    ) -> Result<Filled> {
        let blocks = items.len().div_ceil(self.block.max(1));
        if blocks > 1 {
            let half = blocks / 2 * self.block;
            let middle = items.start + half;
            let (low, high): (Vec<_>, Vec<_>) =
                planes.into_iter().map(|plane| plane.split_at_mut(half * self.each)).unzip();
            let (a, b) = join::join(
                || self.run(items.start..middle, low, stream, open, fill).map(|_proof| ()),
                || self.run(middle..items.end, high, stream, open, fill).map(|_proof| ()),
            );
            return a.and(b).map(Filled);
        }
        let _fence = FenceOnDrop(stream);
        let opened = open(items.clone())?;
        let mut chunks: Vec<_> =
            planes.into_iter().map(|plane| plane.chunks_exact_mut(self.each)).collect();
        for item in items {
            for (plane, chunks) in chunks.iter_mut().enumerate() {
                if let Some(slots) = chunks.next() {
                    let line = Line { slots, written: 0, stream };
                    let _proof: Filled = fill(&opened, [plane, item], line)?;
                }
            }
        }
        Ok(Filled(()))
    }
}

/// A part of an output that is written from its beginning on.
pub(crate) struct Line<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    written: usize,
    stream: bool,
}

impl<T: Copy> Line<'_, T> {
    /// Writes one element.
    pub(crate) fn push(&mut self, element: T) {
        if let Some(slot) = self.slots.get_mut(self.written) {
            slot.write(element);
            self.written += 1;
        }
    }

    /// Writes what `write` writes to as many slots.
    pub(crate) fn extend_with(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled>,
    ) -> Result<()> {
        if let Some(slots) = self.slots.get_mut(self.written..self.written.saturating_add(count)) {
            let _proof: Filled = write(slots)?;
            self.written += count;
        }
        Ok(())
    }

    /// Writes `f` of the elements of rows of equal length, column by column.
    pub(crate) fn extend<const N: usize>(
        &mut self,
        rows: [&[T]; N],
        f: impl Fn([T; N]) -> T + Copy,
    ) {
        let columns = rows.first().map_or(0, |row| row.len());
        let Some(slots) = self.slots.get_mut(self.written..self.written.saturating_add(columns))
        else {
            return;
        };
        if let Some(mut out) = RowsMut::new(slots, 1, columns, columns) {
            let zipped = Zipped { rows, f };
            // Of rows that are read as they are nothing can fail.
            let _written = if self.stream {
                zipped.fill_streaming(&mut out)
            } else {
                zipped.fill(0, false, &mut out)
            };
            self.written += columns;
        }
    }

    /// The proof that all was written.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if it was not.
    pub(crate) fn finish(self) -> Result<Filled> {
        if self.written == self.slots.len() {
            Ok(Filled(()))
        } else {
            Err(Error::OutOfSpan { span: 0..self.slots.len(), len: self.written })
        }
    }
}

/// A function of the elements of several rows.
#[derive(Clone, Copy)]
struct Zipped<'a, T, F, const N: usize> {
    rows: [&'a [T]; N],
    f: F,
}

impl<T: Copy, F: Fn([T; N]) -> T + Copy, const N: usize> Cursor for Zipped<'_, T, F, N> {
    type Elem = T;
    type Row<'r>
        = Self
    where
        Self: 'r;

    fn bind(&mut self, _tile: &Tile<'_>, _next: &mut usize) -> Result<(), Stop> {
        Ok(())
    }

    #[inline(always)]
    fn row(&self, _row: usize, columns: usize) -> Self {
        self.part(0, columns)
    }

    fn fault(&mut self, _: &Tile<'_>, _: &mut usize) -> Result<Option<super::Fault>, Stop> {
        Ok(None)
    }
}

impl<T: Copy, F: Fn([T; N]) -> T + Copy, const N: usize> Row for Zipped<'_, T, F, N> {
    type Elem = T;
    const FAULTS: bool = false;

    #[inline(always)]
    fn part(&self, start: usize, columns: usize) -> Self {
        Self { rows: self.rows.map(|row| &row[start..][..columns]), f: self.f }
    }

    #[inline(always)]
    fn prefetch(&self, column: usize) {
        for row in self.rows {
            simd::prefetch_span(row, column, super::PART);
        }
    }

    #[inline(always)]
    fn get(&self, column: usize) -> T {
        (self.f)(self.rows.map(|row| row[column]))
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (T, bool) {
        (self.get(column), false)
    }
}
