//! Filling an output: by a copy, as slots of one task, in parts of several, chunk by chunk, in halves, or as results side by side.

use super::evaluate::{FenceOnDrop, is_streamed};
use super::filled::Filled;
use super::inner::{Output, as_slots};
use super::join;
use super::slots::{Slots, unwritten};
use super::{Dest, Stop, Tile};
use crate::error::{Error, Result};
use crate::memory::{list, push};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Slots of a component that are filled before those of the next: so few that what both read stays in the nearest
/// cache.
pub(crate) const COMPONENT_SLOTS: usize = 1 << 10;

/// Has `write` write all slots, block after block.
///
/// # Errors
///
/// What `write` reports, and [`Error::OutOfSpan`] if it leaves a slot.
pub(crate) fn fill_slots<T: Copy, E: From<Error>>(
    out: &mut [MaybeUninit<T>],
    write: impl FnOnce(&mut Slots<'_, T>) -> Result<(), E>,
) -> Result<Filled, E> {
    let stream = is_streamed::<T>(size_of_val(out));
    let mut slots = Slots::of_piece(&mut *out, stream);
    slots.task(write)?;
    slots.finish()?;
    Ok(Filled::of(out))
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
    Ok(Filled::of(out))
}

/// Writes a tile to its destination, or nothing.
type CopyTile<'c, T> = dyn FnMut(&mut Dest<'_, T>) -> Option<Result<(), Stop>> + 'c;

/// Has `copy` write a tile whose rows follow one another in `out` and fill it; `None` if they do not, or nothing is written.
///
/// # Errors
///
/// What `copy` reports.
#[inline(never)]
pub(crate) fn copy_tile<T>(
    tile: &Tile<'_>,
    out: &mut [MaybeUninit<T>],
    copy: &mut CopyTile<'_, T>,
) -> Result<Option<Filled>, Stop> {
    let (place, count) = (&tile.places[0], tile.rows * tile.columns);
    let in_order = tile.rows == 1 || place.rows.is(tile.columns as isize);
    if place.base != 0 || !place.columns.is(1) || !in_order || count != out.len() {
        return Ok(None);
    }
    let copied = copy(&mut Output::new(&mut *out).dest(tile)?);
    Ok(copied.transpose()?.map(|()| Filled::of(out)))
}

/// Hands `out` in parts to `run`. Piece `k` of `out`, of the lengths that `pieces` says, belongs to the
/// part that it says; the parts are numbered up to `count`.
///
/// # Errors
///
/// What `run` reports, and [`Error::OutOfSpan`] if it does not write all parts to their ends.
#[inline(never)]
pub(crate) fn fill_parts<T: Copy, E: From<Error>>(
    out: &mut [MaybeUninit<T>],
    count: usize,
    pieces: impl Iterator<Item = (usize, usize)>,
    run: impl FnOnce(&mut [Slots<'_, T>]) -> Result<(), E>,
) -> Result<Filled, E> {
    let stream = is_streamed::<T>(size_of_val(out));
    let mut lists: Vec<Vec<&mut [MaybeUninit<T>]>> = list((0..count).map(|_| Vec::new()))?;
    let mut rest = &mut *out;
    for (part, len) in pieces {
        let (piece, left) = rest.split_at_mut(len.min(rest.len()));
        rest = left;
        push(&mut lists[part], piece)?;
    }
    let left = rest.len();
    let parts = lists.into_iter().map(IntoIterator::into_iter);
    let mut parts: Vec<Slots<'_, T>> = list(parts.map(|pieces| Slots::of_pieces(pieces, stream)))?;
    run(&mut parts)?;
    parts.into_iter().try_for_each(Slots::finish)?;
    match left {
        0 => Ok(Filled::of(out)),
        len => Err(unwritten(len).into()),
    }
}

/// Has `fill` write the chunks of `each` slots, one for every item, which together are the whole output.
///
/// # Errors
///
/// What `fill` reports, and [`Error::OutOfSpan`] if there are more slots or fewer.
pub(crate) fn fill_chunks<T>(
    out: &mut [MaybeUninit<T>],
    each: usize,
    items: Range<usize>,
    mut fill: impl FnMut(usize, &mut [MaybeUninit<T>]) -> Result<Filled>,
) -> Result<Filled> {
    let len = out.len();
    if items.len().checked_mul(each) != Some(len) {
        return Err(Error::OutOfSpan { span: 0..items.len().saturating_mul(each), len });
    }
    if each > 0 {
        for (item, chunk) in items.zip(out.chunks_exact_mut(each)) {
            fill(item, chunk)?.check(chunk);
        }
    }
    Ok(Filled::of(out))
}

/// Has the two parts of an output on either side of `at` written, at once where there are threads.
///
/// # Errors
///
/// What `low` reports, otherwise what `high` does.
pub(crate) fn fill_halves<T: Send, E: Send>(
    out: &mut [MaybeUninit<T>],
    at: usize,
    low: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled, E> + Send,
    high: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled, E> + Send,
) -> Result<Filled, E> {
    let (first, second) = out.split_at_mut(at);
    let (low, high) = join::join(
        || low(first).map(|proof| proof.check(first)),
        || high(second).map(|proof| proof.check(second)),
    );
    low.and(high)?;
    Ok(Filled::of(out))
}

/// Outputs of one size, which lie one after another and are written item by item, all of them at one item
/// before the next.
pub(crate) struct Components {
    /// How many outputs.
    pub(crate) count: usize,
    /// Items of each.
    pub(crate) items: Range<usize>,
    /// Slots of an item.
    pub(crate) each: usize,
    /// Items that share what `open` returns.
    pub(crate) block: usize,
}

impl Components {
    /// Threads that share the blocks.
    pub(crate) fn threads(&self) -> usize {
        if self.items.len() > self.block { join::threads() } else { 1 }
    }

    /// Calls `open` for blocks of items, and `fill` with what it returned for each component and some items of the
    /// block. Blocks are shared among threads; where they begin depends on `self` only.
    ///
    /// # Errors
    ///
    /// What `open` and `fill` report, and [`Error::OutOfSpan`] if `out` has more slots or fewer, or `fill` leaves one.
    pub(crate) fn fill<T: Copy + Send, C>(
        &self,
        out: &mut [MaybeUninit<T>],
        open: &(impl Fn(Range<usize>) -> Result<C> + Sync),
        fill: &(impl Fn(&C, usize, Range<usize>, &mut Slots<'_, T>) -> Result<()> + Sync),
    ) -> Result<Filled> {
        let (len, component) = (out.len(), self.items.len().saturating_mul(self.each));
        if component.checked_mul(self.count) != Some(len) {
            return Err(Error::OutOfSpan { span: 0..component.saturating_mul(self.count), len });
        }
        if len == 0 {
            return Ok(Filled::of(out));
        }
        let stream = is_streamed::<T>(len.saturating_mul(size_of::<T>()));
        let components = out.chunks_exact_mut(component).collect();
        self.run(self.items.clone(), components, stream, open, fill)?;
        Ok(Filled::of(out))
    }

    fn run<T: Copy + Send, C>(
        &self,
        items: Range<usize>,
        components: Vec<&mut [MaybeUninit<T>]>,
        stream: bool,
        open: &(impl Fn(Range<usize>) -> Result<C> + Sync),
        fill: &(impl Fn(&C, usize, Range<usize>, &mut Slots<'_, T>) -> Result<()> + Sync),
    ) -> Result<()> {
        let blocks = items.len().div_ceil(self.block.max(1));
        if blocks > 1 {
            let half = blocks / 2 * self.block;
            let middle = items.start + half;
            let (low, high): (Vec<_>, Vec<_>) = components
                .into_iter()
                .map(|component| component.split_at_mut(half * self.each))
                .unzip();
            let (low, high) = join::join(
                || self.run(items.start..middle, low, stream, open, fill),
                || self.run(middle..items.end, high, stream, open, fill),
            );
            return low.and(high);
        }
        let _fence = FenceOnDrop(stream);
        let opened = open(items.clone())?;
        let together = (COMPONENT_SLOTS / self.each.max(1)).max(1);
        let chunks = |component| <[_]>::chunks_mut(component, together * self.each);
        let mut chunks: Vec<_> = components.into_iter().map(chunks).collect();
        for first in items.clone().step_by(together) {
            for (component, chunks) in chunks.iter_mut().enumerate() {
                if let Some(piece) = chunks.next() {
                    let mut slots = Slots::of_piece(piece, stream);
                    fill(&opened, component, first..items.end.min(first + together), &mut slots)?;
                    slots.finish()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Vec<MaybeUninit<u8>> {
        vec![MaybeUninit::uninit(); 8]
    }

    #[test]
    fn slots_whose_writing_failed_are_still_to_be_written() {
        let refused = || Error::Axis { axis: 0, rank: 0 };
        let mut out = slots();
        let filled = fill_slots::<_, Error>(&mut out, |slots| {
            slots.put(&[1; 3]);
            assert_eq!(slots.extend_with(5, |_| Err(refused())), Err(refused()));
            assert!(matches!(slots.extend([&[1; 6]], |[x]| x), Err(Error::OutOfSpan { .. })));
            Ok(())
        });
        assert!(
            matches!(filled, Err(Error::OutOfSpan { span: Range { start: 0, end: 5 }, len: 0 })),
            "{filled:?}"
        );
        let filled = fill_slots::<_, Error>(&mut out, |slots| {
            slots.put(&[1; 3]);
            slots.extend_with(2, |slots| copy(&[2; 2], slots))?;
            slots.extend([&[1; 3], &[2; 3]], |[x, y]| x + y)
        });
        filled.unwrap().check(&out);
    }

    #[test]
    #[should_panic(expected = "a proof of other slots")]
    fn a_proof_is_of_its_own_slots() {
        let (mut out, mut other) = (slots(), slots());
        let _ = fill_slots::<_, Error>(&mut out, |slots| {
            slots.extend_with(8, |_| copy(&[1; 8], &mut other))
        });
    }
}
