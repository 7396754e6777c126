//! Copying the elements of a place, wherever they lie, into rows.

use super::transpose::transpose;
use super::{Dest, RowsMut, as_slots, out_of_span};
use crate::error::Result;
use crate::kernel::simd::{self, Simd, level};
use crate::kernel::{PART, Place, Steps};
use crate::memory::{Aligned, LINE};
use std::mem::MaybeUninit;

/// Copies the elements at `place` of `from` into rows.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if `place` reaches beyond the slice.
pub(crate) fn pack<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) -> Result<()> {
    let (low, high) = span(place, out.rows, out.columns);
    if low < 0 || high >= from.len() as i128 {
        return Err(out_of_span(low, high, from.len()));
    }
    // SAFETY: the span of all addresses of the place was just held against this slice; the level says
    // which features were detected.
    unsafe {
        match level() {
            Simd::Baseline => pack_rows(from, place, out),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => pack_avx2(from, place, out),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => pack_avx512(from, place, out),
        }
    }
    Ok(())
}

/// Copies rows that are contiguous in `from` to a destination, past the caches if it asks for that.
///
/// Returns `None` if the rows of either side are not contiguous.
pub(crate) fn copy_rows<T: Copy>(
    from: &[T],
    place: &Place<'_>,
    dest: &mut Dest<'_, T>,
) -> Option<Result<()>> {
    if !place.columns.is(1) {
        return None;
    }
    let (stream, columns) = (dest.stream, dest.columns);
    let mut out = dest.rows()?;
    let stream = stream && (STREAMED_ROW_BYTES..MEMCPY_BYTES).contains(&(columns * size_of::<T>()));
    if !stream {
        return Some(pack(from, place, &mut out));
    }
    for row in 0..out.rows {
        let base = place.base.wrapping_add(place.rows.at(row));
        let range =
            usize::try_from(base).ok().and_then(|base| from.get(base..base.checked_add(columns)?));
        match range {
            Some(from) => simd::stream(as_slots(from), out.row(row)),
            None => {
                return Some(Err(out_of_span(
                    base as i128,
                    base as i128 + columns as i128 - 1,
                    from.len(),
                )));
            }
        }
    }
    Some(Ok(()))
}

/// Most elements of a row that are copied by a loop, as a call of `memcpy` takes longer.
const LOOPED: usize = 128;
/// Shortest row that is worth to be streamed by itself.
const STREAMED_ROW_BYTES: usize = 512;
/// Rows from this size on are left to `memcpy`, which streams by itself.
const MEMCPY_BYTES: usize = 4 << 20;

/// Lowest and highest address of a tile.
#[inline]
pub(crate) fn span(place: &Place<'_>, rows: usize, columns: usize) -> (i128, i128) {
    let side = |steps: &Steps<'_>, count: usize| -> (i128, i128) {
        match steps.table {
            None => {
                let end = steps.stride as i128 * (count as i128 - 1);
                (end.min(0), end.max(0))
            }
            Some(table) => {
                let (low, high) = table[..count]
                    .iter()
                    .fold((usize::MAX, 0), |(low, high), &p| (low.min(p), high.max(p)));
                let (a, b) =
                    (steps.stride as i128 * low as i128, steps.stride as i128 * high as i128);
                (a.min(b), a.max(b))
            }
        }
    };
    let (row_low, row_high) = side(&place.rows, rows);
    let (column_low, column_high) = side(&place.columns, columns);
    let base = place.base as i128;
    (base + row_low + column_low, base + row_high + column_high)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn pack_avx2<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    // SAFETY: the caller's promise is the one asked for.
    unsafe { pack_rows(from, place, out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
unsafe fn pack_avx512<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    // SAFETY: the caller's promise is the one asked for.
    unsafe { pack_rows(from, place, out) }
}

/// # Safety
///
/// Every address of `place` within the rows and columns of `out` lies in `from`.
#[inline(always)]
unsafe fn pack_rows<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    // SAFETY: the caller's promise is the one asked for; each row's base is that of its first column.
    unsafe {
        match out.columns {
            _ if lies_across(place, out.rows) => return transpose(from, place, out),
            1 if is_strided(place) => return short_rows::<T, 1>(from, place, out),
            2 if is_strided(place) => return short_rows::<T, 2>(from, place, out),
            3 if is_strided(place) => return short_rows::<T, 3>(from, place, out),
            4 if is_strided(place) => return short_rows::<T, 4>(from, place, out),
            _ => {}
        }
        for row in 0..out.rows {
            let base = place.base.wrapping_add(place.rows.at(row));
            pack_row(from, base, &place.columns, place.rows.stride, out.row(row));
        }
    }
}

#[inline(always)]
fn is_strided(place: &Place<'_>) -> bool {
    place.rows.table.is_none() && place.columns.table.is_none()
}

/// Whether neighbours in the source are nearer across the rows than along them.
#[inline(always)]
fn lies_across(place: &Place<'_>, rows: usize) -> bool {
    let (across, along) = (place.rows.stride.unsigned_abs(), place.columns.stride.unsigned_abs());
    is_strided(place) && rows >= 4 && along > across && across != 0
}

/// Rows of `N` elements, pixels for example: the loop runs over the rows.
///
/// # Safety
///
/// As [`pack_rows`]; the place has no tables and `out` has `N` columns.
#[inline(always)]
unsafe fn short_rows<T: Copy, const N: usize>(
    from: &[T],
    place: &Place<'_>,
    out: &mut RowsMut<'_, T>,
) {
    let (across, along) = (place.rows.stride, place.columns.stride);
    // SAFETY: all addresses of the place lie in `from`, and `out` has that many rows of `N` columns.
    unsafe {
        let source = from.as_ptr().offset(place.base);
        for row in 0..out.rows as isize {
            let (source, target) =
                (source.offset(across * row), out.pointer.offset(out.stride * row));
            for column in 0..N {
                (*target.add(column)).write(*source.offset(along * column as isize));
            }
        }
    }
}

/// One row: `columns` are the steps from `base` on, and the next row is probably `across` away.
///
/// # Safety
///
/// Every address that the steps reach lies in `from`.
#[inline(always)]
unsafe fn pack_row<T: Copy>(
    from: &[T],
    base: isize,
    columns: &Steps<'_>,
    across: isize,
    out: &mut [MaybeUninit<T>],
) {
    // SAFETY: the caller's promise; the first step is 0 where there is no table, so `base` is an address.
    unsafe {
        let first = from.as_ptr();
        match (columns.table, columns.stride) {
            (None, 1) if out.len() <= LOOPED => strided_row::<T, 1>(first.offset(base), out),
            (None, 1) => out
                .copy_from_slice(std::slice::from_raw_parts(first.offset(base).cast(), out.len())),
            (None, 0) => out.fill(MaybeUninit::new(*first.offset(base))),
            (None, -1) => strided_row::<T, -1>(first.offset(base), out),
            (None, 2) => strided_row::<T, 2>(first.offset(base), out),
            (None, 3) => strided_row::<T, 3>(first.offset(base), out),
            (None, 4) => strided_row::<T, 4>(first.offset(base), out),
            (None, stride) => {
                for (column, slot) in out.iter_mut().enumerate() {
                    slot.write(*first.offset(base + stride * column as isize));
                }
            }
            (Some(table), stride) => {
                // Hardware prefetchers see no pattern within the row, but the next one is known.
                simd::prefetch_span(from, base.wrapping_add(across) as usize, out.len());
                for (slot, &position) in out.iter_mut().zip(table) {
                    slot.write(*first.offset(base + stride * position as isize));
                }
            }
        }
    }
}

/// [`pack`] for rows that are written past the caches, part by part. Returns `None` for places that are
/// better transposed in scratch memory first, and for destinations without contiguous rows.
pub(crate) fn pack_streaming<T: Copy>(
    from: &[T],
    place: &Place<'_>,
    dest: &mut Dest<'_, T>,
) -> Option<Result<()>> {
    let out = dest.rows()?;
    if lies_across(place, out.rows) || out.columns < PART || level() == Simd::Baseline {
        return None;
    }
    let (low, high) = span(place, out.rows, out.columns);
    if low < 0 || high >= from.len() as i128 {
        return Some(Err(out_of_span(low, high, from.len())));
    }
    // SAFETY: the span of all addresses of the place was just held against this slice; the level says
    // that AVX2 was detected.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        pack_streaming_avx2(from, place, out)
    };
    Some(Ok(()))
}

/// # Safety
///
/// Every address of `place` within the rows and columns of `out` lies in `from`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn pack_streaming_avx2<T: Copy>(from: &[T], place: &Place<'_>, mut out: RowsMut<'_, T>) {
    for row in 0..out.rows {
        let base = place.base.wrapping_add(place.rows.at(row));
        let columns = place.columns;
        // Where a part begins, and its steps from there.
        let part_at = |column: usize| match columns.table {
            Some(table) => (base, Steps { table: Some(&table[column..]), ..columns }),
            None => (base.wrapping_add(columns.at(column)), columns),
        };
        let out = out.row(row);
        let head = out.as_ptr().align_offset(LINE).min(out.len()).min(PART);
        let pack_part = |column: usize, to: &mut [MaybeUninit<T>]| {
            if to.is_empty() {
                return;
            }
            let (base, steps) = part_at(column);
            let across = place.rows.stride.wrapping_add(column as isize);
            // SAFETY: the steps are a part of those that the caller vouches for.
            unsafe {
                pack_row(from, base, &steps, if steps.table.is_some() { across } else { 0 }, to)
            };
        };
        let (first, rest) = out.split_at_mut(head);
        pack_part(0, first);
        let mut column = head;
        let mut parts = rest.chunks_exact_mut(PART);
        for to in &mut parts {
            let Aligned(part) = &mut Aligned([const { MaybeUninit::uninit() }; PART]);
            pack_part(column, part);
            simd::stream_lines(part, to);
            column += PART;
        }
        pack_part(column, parts.into_remainder());
    }
}

/// # Safety
///
/// `source` can be read at every multiple of `STRIDE` below the length of `out`.
#[inline(always)]
unsafe fn strided_row<T: Copy, const STRIDE: isize>(source: *const T, out: &mut [MaybeUninit<T>]) {
    for (column, slot) in out.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        slot.write(unsafe { *source.offset(STRIDE * column as isize) });
    }
}
