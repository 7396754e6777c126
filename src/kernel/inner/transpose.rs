//! Blocks whose source is nearer across the rows than along them.

use super::RowsMut;
use crate::kernel::simd;
#[cfg(target_arch = "x86_64")]
use crate::kernel::simd::{Simd, level};
use crate::kernel::{LARGE_BYTES, Place};
use crate::memory::LINE;
use std::mem::MaybeUninit;

/// Bytes from which on columns are far apart: in pages of their own. Near ones are in the cache more often
/// than not, where vectors of a whole line lose more to lines they span than they gain.
const PAGE: usize = 4096;

/// A block whose source is nearer across the rows than along them: small squares in registers where
/// neighbours are adjacent, otherwise column by column.
///
/// # Safety
///
/// As [`pack_rows`], and the place has no tables.
#[inline(always)]
pub(super) unsafe fn transpose<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    let (rows, columns) = (out.rows, out.columns);
    let (mut base, mut across, along) = (place.base, place.rows.stride, place.columns.stride);
    let mut turned = RowsMut { ..*out };
    if across == -1 {
        // From the last row to the first, neighbours in the source are adjacent.
        let last = rows as isize - 1;
        (base, across) = (base.wrapping_sub(last), 1);
        turned.pointer = out.pointer.wrapping_offset(out.stride * last);
        turned.stride = -out.stride;
    }
    let out = &mut turned;
    // From this block to the next, which is read after it.
    let next = place.rows.stride.wrapping_mul(rows as isize);
    let far = along.unsigned_abs().saturating_mul(size_of::<T>()) >= PAGE;
    // SAFETY: the base is the address of column 0 in row 0, or in the last, which lies in `from`. Below, rows and
    // columns stay under those of `out`, for which the caller and `RowsMut` vouch. The level says which
    // squares this machine can turn.
    unsafe {
        let source = from.as_ptr().offset(base);
        let (whole_rows, whole_columns) = match size_of::<T>() {
            _ if across != 1 => (0, 0),
            #[cfg(target_arch = "x86_64")]
            8 if far && level() == Simd::Avx512 => {
                squares::<T, 8>(source, along, far.then_some(next), out, simd::eights_8x8)
            }
            #[cfg(target_arch = "x86_64")]
            8 if level() != Simd::Baseline => {
                squares::<T, 4>(source, along, far.then_some(next), out, simd::eights_4x4)
            }
            #[cfg(target_arch = "x86_64")]
            4 if level() != Simd::Baseline => {
                squares::<T, 8>(source, along, far.then_some(next), out, simd::fours_8x8)
            }
            // Squares of large elements would need much of the stack.
            size if size > LARGE_BYTES => (0, 0),
            8.. => squares::<T, 4>(source, along, far.then_some(next), out, square::<T, 4>),
            _ => squares::<T, 8>(source, along, far.then_some(next), out, square::<T, 8>),
        };
        // Columns of whole squares have nothing left if all rows are in squares.
        let done = if whole_rows == rows { whole_columns } else { 0 };
        for column in done..columns {
            let first = if column < whole_columns { whole_rows } else { 0 };
            let source = source.offset(along * column as isize);
            let target = out.pointer.add(column);
            for row in first..rows {
                let value = *source.offset(across * row as isize);
                (*target.offset(out.stride * row as isize)).write(value);
            }
        }
    }
}

/// Transposes whole `N` by `N` squares with `square`; returns the rows and columns done.
///
/// Columns are taken in narrow bands: each is a stream of its own in the source, and those of a wide block
/// would evict one another's lines before they are used. What is asked for ahead is the block `next` rows from
/// this one, if that is far.
///
/// # Safety
///
/// `source` can be read at `row + along * column` for all rows and columns of `out`, and `square` may be
/// called for one square of both sides.
#[inline(always)]
unsafe fn squares<T: Copy, const N: usize>(
    source: *const T,
    along: isize,
    next: Option<isize>,
    out: &mut RowsMut<'_, T>,
    square: unsafe fn(*const T, isize, *mut MaybeUninit<T>, isize),
) -> (usize, usize) {
    let (rows, columns) = (out.rows / N * N, out.columns / N * N);
    let line = (LINE / size_of::<T>().max(1)).max(1).next_multiple_of(N);
    let band_columns = 64 / N;
    for band in (0..columns).step_by(band_columns) {
        let band = band..columns.min(band + band_columns);
        // As many squares at a time as take whole cache lines of the source.
        for first in (0..rows).step_by(line) {
            for column in band.clone().step_by(N) {
                if let Some(next) = next {
                    for column in column..column + N {
                        let beside = source.wrapping_offset(along * column as isize);
                        simd::prefetch_at(beside.wrapping_offset(next).wrapping_add(first));
                    }
                }
                for row in (first..rows.min(first + line)).step_by(N) {
                    // SAFETY: `row + N <= rows` and `column + N <= columns`, all inside for both sides.
                    unsafe {
                        let source = source.add(row).offset(along * column as isize);
                        let target = out.pointer.offset(out.stride * row as isize).add(column);
                        square(source, along, target, out.stride);
                    }
                }
            }
        }
    }
    (rows, columns)
}

/// One square through registers.
///
/// # Safety
///
/// `source` can be read at `i + along * j` and `target` written at `stride * i + j`, for `i, j < N`.
#[inline(always)]
unsafe fn square<T: Copy, const N: usize>(
    source: *const T,
    along: isize,
    target: *mut MaybeUninit<T>,
    stride: isize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut square = [[*source; N]; N];
        for j in 0..N {
            for (i, line) in square.iter_mut().enumerate() {
                line[j] = *source.offset(along * j as isize).add(i);
            }
        }
        for (i, line) in square.iter().enumerate() {
            for (j, &value) in line.iter().enumerate() {
                (*target.offset(stride * i as isize).add(j)).write(value);
            }
        }
    }
}
