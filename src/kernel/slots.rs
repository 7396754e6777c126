//! Slots of an output that one task writes from one end to the other, once, and then proves it.

use super::evaluate::FenceOnDrop;
use super::filled::Filled;
use super::inner::{RowsMut, as_slots};
use super::{Cursor, Fault, Fill, LARGE_BYTES, PART, Row, Stop, Tile, simd};
use crate::error::{Error, Result};
use crate::memory::{Aligned, LINE, default_of_fields, resize};
use std::array::from_fn;
use std::mem::MaybeUninit;

/// Elements up to which a run is moved in one go.
const FEW: usize = 4 * PART;

/// Columns of rows that are written side by side in one go. Few, so that stores past the caches do not come
/// in bursts, in which nothing is loaded.
const FEW_COLUMNS: usize = 32;

/// Computes `N` rows side by side.
pub(crate) trait Columns<T, const N: usize> {
    /// Computes as many columns as there is room for, from column `start` on. Implementations are
    /// `#[inline(always)]`, see [`super::Kernel`].
    fn compute(&mut self, start: usize, results: [&mut [T]; N]);
}

/// Slots of an output that one task writes, in order or in the opposite order: of one piece or of several.
pub(crate) struct Slots<'a, T> {
    /// Pieces that are still to be written.
    pieces: std::vec::IntoIter<&'a mut [MaybeUninit<T>]>,
    /// What is left of the piece that is being written.
    current: &'a mut [MaybeUninit<T>],
    stream: bool,
}

impl<'a, T: Copy> Slots<'a, T> {
    /// Those of one piece. `stream` tells whether the output they belong to is written past the caches.
    pub(super) fn of_piece(current: &'a mut [MaybeUninit<T>], stream: bool) -> Self {
        Self { pieces: Vec::new().into_iter(), current, stream }
    }

    /// Those of several pieces.
    pub(super) fn of_pieces(
        pieces: std::vec::IntoIter<&'a mut [MaybeUninit<T>]>,
        stream: bool,
    ) -> Self {
        Self { pieces, current: &mut [], stream }
    }

    /// Runs a task that writes to these slots, whose stores are then seen by other threads.
    pub(crate) fn task<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let _fence = FenceOnDrop(self.stream);
        run(self)
    }

    /// Writes the next elements. Those beyond the last slot are dropped: [`Self::finish`] finds slots that are left, not
    /// elements.
    pub(crate) fn put(&mut self, mut from: &[T]) {
        while !from.is_empty() {
            if self.current.is_empty() {
                let Some(piece) = self.pieces.next() else { return };
                self.current = piece;
                continue;
            }
            let (now, later) = from.split_at(from.len().min(self.current.len()));
            let (slots, left) = std::mem::take(&mut self.current).split_at_mut(now.len());
            self.write(now, slots);
            (from, self.current) = (later, left);
        }
    }

    /// Writes the next elements as far as they fill cache lines, and removes them.
    #[inline]
    pub(crate) fn drain(&mut self, results: &mut Vec<T>) {
        let taken = self.write_lines(results);
        let left = results.len() - taken;
        results.copy_within(taken.., 0);
        results.truncate(left);
    }

    /// As [`Self::drain`], once they are a part.
    #[inline(always)]
    pub(crate) fn drain_queue(&mut self, queue: &mut Queue<T>) {
        if queue.len < PART {
            return;
        }
        let taken = self.write_lines(queue.results());
        let left = queue.len - taken;
        // Hardly more than a line, for which a call would take longer.
        for k in 0..left {
            queue.slots[k] = queue.slots[k + taken];
        }
        queue.len = left;
    }

    /// Writes the next elements as far as they fill cache lines, and returns their number.
    #[inline(always)]
    fn write_lines(&mut self, results: &[T]) -> usize {
        let mut taken = 0;
        while taken < results.len() {
            if self.current.is_empty() {
                let Some(piece) = self.pieces.next() else { break };
                self.current = piece;
                continue;
            }
            let mut count = (results.len() - taken).min(self.current.len());
            if self.stream && count < self.current.len() {
                let end = self.current.as_ptr().wrapping_add(count).addr() % LINE;
                let over = end.div_ceil(size_of::<T>());
                if over >= count {
                    break;
                }
                count -= over;
            }
            let (slots, left) = std::mem::take(&mut self.current).split_at_mut(count);
            self.write(&results[taken..taken + count], slots);
            self.current = left;
            taken += count;
        }
        taken
    }

    /// Writes the last elements that are still to be written, and drops what is too much as [`Self::put`] does.
    pub(crate) fn put_back(&mut self, mut from: &[T]) {
        while !from.is_empty() {
            if self.current.is_empty() {
                let Some(piece) = self.pieces.next_back() else { return };
                self.current = piece;
                continue;
            }
            let (later, now) = from.split_at(from.len() - from.len().min(self.current.len()));
            let middle = self.current.len() - now.len();
            let (left, slots) = std::mem::take(&mut self.current).split_at_mut(middle);
            self.write(now, slots);
            (from, self.current) = (later, left);
        }
    }

    /// Writes the next `N` rows of `width` elements side by side, a few columns of each in turn, which
    /// `columns` computes. Returns `false` and does nothing if they do not lie in whole pieces, or do not
    /// begin at the same place of a cache line, or are of large elements.
    #[inline(always)]
    pub(crate) fn put_rows<const N: usize>(
        &mut self,
        width: usize,
        seed: T,
        mut columns: impl Columns<T, N>,
    ) -> bool {
        if size_of::<T>() > LARGE_BYTES {
            return false;
        }
        let Some(mut rows) = self.take_rows::<N>(width) else { return false };
        let Aligned(results) = &mut Aligned([[seed; FEW_COLUMNS]; N]);
        let start = |row: &[MaybeUninit<T>]| row.as_ptr().align_offset(LINE).min(row.len());
        let head = if self.stream { rows.first().map_or(0, |row| start(row)) } else { 0 };
        let mut done = 0;
        while done < width {
            let limit = if done < head { head } else { width };
            let count = FEW_COLUMNS.min(limit - done);
            if count == FEW_COLUMNS {
                columns.compute(done, results.each_mut().map(|row| row.as_mut_slice()));
            } else {
                columns.compute(done, results.each_mut().map(|row| &mut row[..count]));
            }
            for (row, results) in rows.iter_mut().zip(&*results) {
                self.write(&results[..count], &mut row[done..done + count]);
            }
            done += count;
        }
        true
    }

    /// The slots of the next `N` rows.
    #[inline]
    fn take_rows<const N: usize>(&mut self, width: usize) -> Option<[&'a mut [MaybeUninit<T>]; N]> {
        let next = self.pieces.as_slice().first_chunk::<N>();
        let next = next.filter(|pieces| pieces.iter().all(|piece| piece.len() == width));
        if let (true, Some(pieces)) = (self.current.is_empty(), next) {
            let phase = |piece: &&mut [MaybeUninit<T>]| piece.as_ptr().addr() % LINE;
            if self.stream && pieces.iter().any(|piece| phase(piece) != phase(&pieces[0])) {
                return None;
            }
        } else {
            if self.current.is_empty() {
                self.current = self.pieces.next()?;
            }
            let bytes = width * size_of::<T>();
            if self.current.len() < N * width || self.stream && !bytes.is_multiple_of(LINE) {
                return None;
            }
        }
        Some(from_fn(|_| {
            if self.current.is_empty() {
                return self.pieces.next().unwrap_or_default();
            }
            let (row, rest) = std::mem::take(&mut self.current).split_at_mut(width);
            self.current = rest;
            row
        }))
    }

    #[inline]
    fn write(&self, from: &[T], to: &mut [MaybeUninit<T>]) {
        let from = as_slots(from);
        match self.stream {
            true if from.len() <= FEW => simd::stream_few(from, to),
            true => simd::stream(from, to),
            false => to.copy_from_slice(from),
        }
    }

    /// Has `write` write the next `count` slots. They stay to be written if it fails, or if the piece that is being
    /// written has fewer.
    fn next<E: From<Error>>(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<T>], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let len = self.current.len();
        let slots = self.current.get_mut(..count);
        write(slots.ok_or(Error::OutOfSpan { span: 0..count, len })?, self.stream)?;
        self.current = &mut std::mem::take(&mut self.current)[count..];
        Ok(())
    }

    /// Writes what `write` writes to the next `count` slots.
    ///
    /// # Errors
    ///
    /// What `write` reports, and [`Error::OutOfSpan`] if there are fewer slots.
    pub(crate) fn extend_with(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled>,
    ) -> Result<()> {
        self.next(count, |slots, _| {
            write(slots)?.check(slots);
            Ok(())
        })
    }

    /// Evaluates the row of `count` elements that a cursor is bound to into the next slots.
    ///
    /// # Errors
    ///
    /// [`Stop::Fault`], and [`Error::OutOfSpan`] if there are fewer slots.
    pub(crate) fn extend_from(&mut self, cursor: &dyn Fill<T>, count: usize) -> Result<(), Stop> {
        self.next(count, |slots, stream| match fill_bound_row(cursor, slots, stream)? {
            true => Err(Stop::Fault),
            false => Ok(()),
        })
    }

    /// Writes `f` of the elements of rows of equal length, column by column.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if there are fewer slots.
    pub(crate) fn extend<const N: usize>(
        &mut self,
        rows: [&[T]; N],
        f: impl Fn([T; N]) -> T + Copy,
    ) -> Result<()> {
        let columns = rows.first().map_or(0, |row| row.len());
        // Of rows that are read as they are none has a fault.
        self.next(columns, |slots, stream| {
            fill_bound_row(&Zipped { rows, f }, slots, stream).map(drop)
        })
    }

    /// Makes sure that no slot is left.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if there is one.
    pub(crate) fn finish(self) -> Result<()> {
        match self.current.len()
            + self.pieces.as_slice().iter().map(|piece| piece.len()).sum::<usize>()
        {
            0 => Ok(()),
            len => Err(unwritten(len)),
        }
    }
}

/// A task left `len` slots unwritten.
pub(super) fn unwritten(len: usize) -> Error {
    Error::OutOfSpan { span: 0..len, len: 0 }
}

/// Evaluates the row that a cursor is bound to into slots, and returns whether an element has a fault.
pub(super) fn fill_bound_row<T>(
    cursor: &(impl Fill<T> + ?Sized),
    slots: &mut [MaybeUninit<T>],
    stream: bool,
) -> Result<bool> {
    let len = slots.len();
    let row = RowsMut::new(slots, 1, len, len);
    let mut out = row.ok_or(Error::OutOfSpan { span: 0..len, len })?;
    let written = match stream {
        true => cursor.fill_streaming(&mut out),
        false => cursor.fill(0, false, &mut out),
    };
    Ok(written.has_fault())
}

/// Results that were computed and are still to be written. Slots are kept, as it takes a while to fill them anew for
/// every few results.
pub(crate) struct Queue<T> {
    slots: Vec<T>,
    len: usize,
}

default_of_fields!(Queue<T> { slots, len });

impl<T: Copy> Queue<T> {
    /// The next `count` slots, whose elements are to be replaced; `any` gives what stands in them if they are new.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[inline(always)]
    pub(crate) fn room(&mut self, count: usize, any: impl FnOnce() -> T) -> Result<&mut [T]> {
        let (start, end) = (self.len, self.len + count);
        if self.slots.len() < end {
            resize(&mut self.slots, end.max(2 * PART), any())?;
        }
        self.len = end;
        Ok(&mut self.slots[start..end])
    }

    #[inline]
    pub(crate) fn results(&mut self) -> &mut [T] {
        &mut self.slots[..self.len]
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
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

    fn fault(&mut self, _: &Tile<'_>, _: &mut usize) -> Result<Option<Fault>, Stop> {
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
    fn prefetch(&self, column: Option<usize>) {
        let Some(column) = column else { return };
        for row in self.rows {
            simd::prefetch_span(row, column, PART);
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
