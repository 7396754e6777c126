//! Outputs that are written in parts: each from one end to the other, and once.

use super::inner::{RowsMut, as_slots};
use super::{FenceOnDrop, Fill, Filled, LARGE, PART, Stop, is_streamed, simd};
use crate::error::{Error, Result};
use crate::memory::{list, push, resize};
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
    /// `#[inline(always)]`, see [`super::Loop`].
    fn compute(&mut self, start: usize, results: [&mut [T]; N]);
}

/// Pieces of an output that one task writes, in order or in the opposite order.
pub(crate) struct Part<'a, T> {
    /// Pieces that are still to be written.
    pieces: std::vec::IntoIter<&'a mut [MaybeUninit<T>]>,
    /// What is left of the piece that is being written.
    current: &'a mut [MaybeUninit<T>],
    stream: bool,
}

impl<'a, T: Copy> Part<'a, T> {
    /// Runs a task that writes to this part, whose stores are then seen by other threads.
    pub(crate) fn task<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let _fence = FenceOnDrop(self.stream);
        run(self)
    }

    /// Writes the next elements; there are slots for them.
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

    /// As [`Self::drain`].
    #[inline(always)]
    pub(crate) fn drain_queue(&mut self, queue: &mut Queue<T>) {
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
                let end = self.current.as_ptr().wrapping_add(count).addr() % simd::LINE;
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

    /// Writes the last elements that are still to be written.
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
        if size_of::<T>() > LARGE {
            return false;
        }
        let Some(mut rows) = self.take_rows::<N>(width) else { return false };
        let mut results = [[seed; FEW_COLUMNS]; N];
        let start = |row: &[MaybeUninit<T>]| row.as_ptr().align_offset(simd::LINE).min(row.len());
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
            for (row, results) in rows.iter_mut().zip(&results) {
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
            let phase = |piece: &&mut [MaybeUninit<T>]| piece.as_ptr().addr() % simd::LINE;
            if self.stream && pieces.iter().any(|piece| phase(piece) != phase(&pieces[0])) {
                return None;
            }
        } else {
            if self.current.is_empty() {
                self.current = self.pieces.next()?;
            }
            let bytes = width * size_of::<T>();
            if self.current.len() < N * width || self.stream && !bytes.is_multiple_of(simd::LINE) {
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

    fn is_written(&self) -> bool {
        self.current.is_empty() && self.pieces.as_slice().iter().all(|piece| piece.is_empty())
    }
}

/// Results that were computed and are still to be written. Slots are kept, as it takes a while to fill them anew for
/// every few results.
pub(crate) struct Queue<T> {
    slots: Vec<T>,
    len: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }
}

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

/// Slots of an output that are still to be written, block after block.
pub(crate) struct Pending<'a, T> {
    rest: &'a mut [MaybeUninit<T>],
    stream: bool,
}

impl<'a, T: Copy> Pending<'a, T> {
    pub(crate) fn new(out: &'a mut [MaybeUninit<T>]) -> Self {
        Self { stream: is_streamed::<T>(size_of_val(out)), rest: out }
    }

    /// Evaluates the row of `count` elements that a cursor is bound to into the next slots.
    ///
    /// # Errors
    ///
    /// [`Stop::Fault`], and [`Error::OutOfSpan`] if there are fewer slots.
    pub(crate) fn fill(self, cursor: &dyn Fill<T>, count: usize) -> Result<Self, Stop> {
        let Self { rest, stream } = self;
        let _fence = FenceOnDrop(stream);
        let len = rest.len();
        let beyond = || Error::OutOfSpan { span: 0..count, len };
        let (now, rest) = rest.split_at_mut_checked(count).ok_or_else(beyond)?;
        let mut out = RowsMut::new(now, 1, count, count).ok_or_else(beyond)?;
        let written =
            if stream { cursor.fill_streaming(&mut out) } else { cursor.fill(0, false, &mut out) };
        if written.has_fault() { Err(Stop::Fault) } else { Ok(Self { rest, stream }) }
    }

    /// The proof that all slots were written.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if some were not.
    pub(crate) fn finish(self) -> Result<Filled> {
        match self.rest.len() {
            0 => Ok(Filled(())),
            len => Err(Error::OutOfSpan { span: 0..0, len }),
        }
    }
}

/// Copies elements to all slots.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if there are not as many.
pub(crate) fn copy<T: Copy>(from: &[T], out: &mut [MaybeUninit<T>]) -> Result<Filled> {
    if from.len() != out.len() {
        return Err(Error::OutOfSpan { span: 0..out.len(), len: from.len() });
    }
    out.copy_from_slice(as_slots(from));
    Ok(Filled(()))
}

/// Hands `out` in parts to `run`. Piece `k` of `out`, of the lengths that `pieces` says, belongs to the
/// part that it says; the parts are numbered up to `count`.
///
/// Returns what `run` does, and a proof if all parts were written to their ends.
pub(crate) fn fill_parts<T: Copy, E: From<Error>>(
    out: &mut [MaybeUninit<T>],
    count: usize,
    pieces: impl Iterator<Item = (usize, usize)>,
    run: impl FnOnce(&mut [Part<'_, T>]) -> Result<(), E>,
) -> Result<Option<Filled>, E> {
    let stream = is_streamed::<T>(size_of_val(out));
    let mut lists: Vec<Vec<&mut [MaybeUninit<T>]>> = list((0..count).map(|_| Vec::new()))?;
    let mut rest = out;
    for (part, len) in pieces {
        let (piece, left) = rest.split_at_mut(len.min(rest.len()));
        rest = left;
        push(&mut lists[part], piece)?;
    }
    let parts = lists.into_iter().map(IntoIterator::into_iter);
    let mut parts: Vec<Part<'_, T>> =
        list(parts.map(|pieces| Part { pieces, current: &mut [], stream }))?;
    run(&mut parts)?;
    let written = rest.is_empty() && parts.iter().all(Part::is_written);
    Ok(written.then_some(Filled(())))
}
