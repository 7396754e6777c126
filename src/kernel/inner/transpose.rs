//! Blocks whose source is nearer across the rows than along them.

use super::RowsMut;
use crate::kernel::Place;
use crate::kernel::simd::{self, Level, level};
use std::mem::MaybeUninit;

/// A block whose source is nearer across the rows than along them: small squares in registers where
/// neighbours are adjacent, otherwise column by column.
///
/// # Safety
///
/// As [`pack_rows`], and the place has no tables.
#[inline(always)]
pub(super) unsafe fn transpose<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    let (rows, columns) = (out.rows, out.columns);
    let (across, along) = (place.rows.stride, place.columns.stride);
    // SAFETY: the base is the address of row 0 and column 0, which lies in `from`. Below, rows and
    // columns stay under those of `out`, for which the caller and `RowsMut` vouch.
    unsafe {
        let source = from.as_ptr().offset(place.base);
        let (whole_rows, whole_columns) = match size_of::<T>() {
            _ if across != 1 => (0, 0),
            #[cfg(target_arch = "x86_64")]
            8 if level() != Level::Baseline => {
                squares::<T, 4>(source, along, out, simd::transpose_4x4)
            }
            #[cfg(target_arch = "x86_64")]
            4 if level() != Level::Baseline => {
                squares::<T, 8>(source, along, out, simd::transpose_8x8)
            }
            // Squares of large elements would need much of the stack.
            257.. => (0, 0),
            8.. => squares::<T, 4>(source, along, out, square::<T, 4>),
            _ => squares::<T, 8>(source, along, out, square::<T, 8>),
        };
        for column in 0..columns {
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

/// Columns that are taken together: each is a stream of its own in the source, and those of a wide block
/// would evict one another's lines before they are used.
const BAND: usize = 32;

/// Transposes whole `N` by `N` squares with `square`; returns the rows and columns done.
///
/// # Safety
///
/// `source` can be read at `row + along * column` for all rows and columns of `out`, and `square` may be
/// called for one square of both sides.
#[inline(always)]
unsafe fn squares<T: Copy, const N: usize>(
    source: *const T,
    along: isize,
    out: &mut RowsMut<'_, T>,
    square: unsafe fn(*const T, isize, *mut MaybeUninit<T>, isize),
) -> (usize, usize) {
    let (rows, columns) = (out.rows / N * N, out.columns / N * N);
    for band in (0..columns).step_by(BAND) {
        let band = band..columns.min(band + BAND);
        // Two squares at a time take whole cache lines of the source.
        for first in (0..rows).step_by(2 * N) {
            for column in band.clone().step_by(N) {
                for row in (first..rows.min(first + 2 * N)).step_by(N) {
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
