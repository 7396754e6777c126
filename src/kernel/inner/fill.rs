//! Evaluating the rows of a bound cursor.

use super::RowsMut;
use crate::kernel::simd::{self, Level, level};
use crate::kernel::{Cursor, Fault, PART, Row, Stop, Tile};
use std::mem::MaybeUninit;

/// A bound cursor with one of its rows only.
pub(super) struct OneRow<'c, C> {
    pub(super) cursor: &'c C,
    pub(super) row: usize,
}

impl<C: Cursor> Cursor for OneRow<'_, C> {
    type Elem = C::Elem;
    type Row<'r>
        = C::Row<'r>
    where
        Self: 'r;

    /// It is bound already.
    fn bind(&mut self, _tile: &Tile<'_>, _next: &mut usize) -> Result<(), Stop> {
        Ok(())
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> C::Row<'_> {
        self.cursor.row(self.row + row, columns)
    }

    fn fault(&mut self, _tile: &Tile<'_>, _next: &mut usize) -> Result<Option<Fault>, Stop> {
        Ok(None)
    }
}

/// Evaluates every row of a bound cursor into `out`; returns whether an element had a fault.
pub(crate) fn fill<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    match level() {
        Level::Baseline => fill_rows(cursor, out),
        // SAFETY: the level says that AVX2 and FMA were detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { fill_avx2(cursor, out) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    fill_rows(cursor, out)
}

#[inline(always)]
fn fill_rows<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    let mut fault = false;
    for row in 0..out.rows {
        let columns = out.columns;
        let lanes = cursor.row(row, columns);
        let mut parts = out.row(row)[..columns].chunks_exact_mut(PART);
        let mut column = 0;
        for part in &mut parts {
            fault |= fill_part(&lanes.part(column, PART), part);
            column += PART;
        }
        let rest = parts.into_remainder();
        fault |= fill_part(&lanes.part(column, rest.len()), rest);
    }
    fault
}

/// [`fill`] for outputs that are written past the caches.
pub(crate) fn fill_streaming<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    match level() {
        Level::Baseline => fill_rows(cursor, out),
        // SAFETY: the level says that AVX2 and FMA were detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { stream_rows(cursor, out) },
    }
}

/// Evaluates rows part by part and moves each part on past the caches, asking for the memory of a later
/// one in between.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn stream_rows<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    /// Parts between what is evaluated and what is asked for.
    const AHEAD: usize = 4;
    let mut fault = false;
    for row in 0..out.rows {
        let columns = out.columns;
        let lanes = cursor.row(row, columns);
        let out = &mut out.row(row)[..columns];
        let head = out.as_ptr().align_offset(simd::LINE).min(columns).min(PART);
        let (first, rest) = out.split_at_mut(head);
        fault |= fill_part(&lanes.part(0, head), first);
        let mut parts = rest.chunks_exact_mut(PART);
        let mut column = head;
        for to in &mut parts {
            let mut part = [const { MaybeUninit::uninit() }; PART];
            fault |= fill_part(&lanes.part(column, PART), &mut part);
            if columns >= 2 * AHEAD * PART {
                lanes.prefetch(column + AHEAD * PART);
            }
            simd::stream_lines(&part, to);
            column += PART;
        }
        let tail = parts.into_remainder();
        fault |= fill_part(&lanes.part(column, tail.len()), tail);
    }
    fault
}

/// Evaluates a part of a row. That a whole part has a constant length makes its loop one of vector
/// instructions without a remainder; a shorter constant would be unrolled before it is vectorised.
#[inline(always)]
fn fill_part<R: Row>(lanes: &R, out: &mut [MaybeUninit<R::Elem>]) -> bool {
    let mut fault = false;
    for (column, slot) in out.iter_mut().enumerate() {
        if R::FAULTS {
            let (value, bad) = lanes.checked(column);
            slot.write(value);
            fault |= bad;
        } else {
            slot.write(lanes.get(column));
        }
    }
    fault
}
