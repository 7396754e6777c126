//! Evaluating the rows of a bound cursor.

use super::RowsMut;
#[cfg(target_arch = "x86_64")]
use crate::kernel::simd;
use crate::kernel::simd::{Simd, level};
use crate::kernel::{Cursor, PART, Row};
use crate::memory::{Aligned, LINE};
use std::mem::MaybeUninit;

/// A bound cursor of any type. What is above the loops calls them through this, once a block, so that only
/// they are compiled for every expression.
pub(crate) trait Fill<T> {
    /// Evaluates rows from `first` on into all rows of `out`. `ahead` tells whether to ask for memory that
    /// is read later: it pays if that is not in the caches.
    fn fill(&self, first: usize, ahead: bool, out: &mut RowsMut<'_, T>) -> Written;

    /// [`Self::fill`] from the first row on, for outputs that are written past the caches.
    fn fill_streaming(&self, out: &mut RowsMut<'_, T>) -> Written;

    /// [`Cursor::row_in_memory`].
    fn row_in_memory(&self, row: usize, columns: usize) -> Option<&[T]>;
}

/// One row of any type.
pub(crate) trait FillRow<T> {
    /// Evaluates the row into all of `out`.
    fn fill_row(&self, out: &mut [MaybeUninit<T>]) -> Written;
}

/// Proof that all columns of all rows of an output were written, which is made here only, and whether some
/// element has a fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    fault: bool,
}

impl Written {
    /// Whether some element has a fault.
    #[inline]
    pub(crate) fn has_fault(self) -> bool {
        self.fault
    }
}

impl<C: Cursor> Fill<C::Elem> for C {
    #[inline(never)]
    fn fill(&self, first: usize, ahead: bool, out: &mut RowsMut<'_, C::Elem>) -> Written {
        let fault = match level() {
            Simd::Baseline => fill_rows(self, first, ahead, out),
            // SAFETY: the level says that AVX2 and FMA were detected.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 | Simd::Avx512 => unsafe { fill_avx2(self, first, ahead, out) },
        };
        Written { fault }
    }

    fn fill_streaming(&self, out: &mut RowsMut<'_, C::Elem>) -> Written {
        match level() {
            Simd::Baseline => self.fill(0, false, out),
            // SAFETY: the level says that AVX2 and FMA were detected.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 | Simd::Avx512 => Written { fault: unsafe { stream_rows(self, out) } },
        }
    }

    fn row_in_memory(&self, row: usize, columns: usize) -> Option<&[C::Elem]> {
        Cursor::row_in_memory(self, row, columns)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2<C: Cursor>(
    cursor: &C,
    first: usize,
    ahead: bool,
    out: &mut RowsMut<'_, C::Elem>,
) -> bool {
    fill_rows(cursor, first, ahead, out)
}

#[inline(always)]
fn fill_rows<C: Cursor>(
    cursor: &C,
    first: usize,
    ahead: bool,
    out: &mut RowsMut<'_, C::Elem>,
) -> bool {
    let mut fault = false;
    for row in 0..out.rows {
        let columns = out.columns;
        fault |= fill_parts(&cursor.row(first + row, columns), ahead, out.row(row));
    }
    fault
}

impl<R: Row> FillRow<R::Elem> for R {
    #[inline]
    fn fill_row(&self, out: &mut [MaybeUninit<R::Elem>]) -> Written {
        let fault = match level() {
            Simd::Baseline => fill_parts(self, false, out),
            // SAFETY: the level says that AVX2 and FMA were detected.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 | Simd::Avx512 => unsafe { fill_row_avx2(self, out) },
        };
        Written { fault }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn fill_row_avx2<R: Row>(lanes: &R, out: &mut [MaybeUninit<R::Elem>]) -> bool {
    fill_parts(lanes, false, out)
}

#[inline(always)]
fn fill_parts<R: Row>(lanes: &R, ahead: bool, out: &mut [MaybeUninit<R::Elem>]) -> bool {
    let (mut parts, mut column, mut fault) = (out.chunks_exact_mut(PART), 0, false);
    for part in &mut parts {
        let now = lanes.part(column, PART);
        if ahead {
            now.prefetch(None);
        }
        fault |= fill_part(&now, part);
        column += PART;
    }
    let rest = parts.into_remainder();
    if !rest.is_empty() {
        fault |= fill_part(&lanes.part(column, rest.len()), rest);
    }
    fault
}

/// Evaluates rows part by part and moves each part on past the caches, asking for the memory of a later
/// one in between.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn stream_rows<C: Cursor>(cursor: &C, out: &mut RowsMut<'_, C::Elem>) -> bool {
    /// Parts between what is evaluated and what is asked for.
    const AHEAD: usize = 4;
    let mut fault = false;
    for row in 0..out.rows {
        let columns = out.columns;
        let lanes = cursor.row(row, columns);
        let out = &mut out.row(row)[..columns];
        let head = out.as_ptr().align_offset(LINE).min(columns).min(PART);
        let (first, rest) = out.split_at_mut(head);
        if head > 0 {
            fault |= fill_edge(&lanes.part(0, head), first);
        }
        let mut parts = rest.chunks_exact_mut(PART);
        let mut column = head;
        for to in &mut parts {
            let Aligned(part) = &mut Aligned([const { MaybeUninit::uninit() }; PART]);
            fault |= fill_part(&lanes.part(column, PART), part);
            if columns >= 2 * AHEAD * PART {
                lanes.prefetch(Some(column + AHEAD * PART));
            }
            simd::stream_lines(part, to);
            column += PART;
        }
        let tail = parts.into_remainder();
        if !tail.is_empty() {
            fault |= fill_edge(&lanes.part(column, tail.len()), tail);
        }
    }
    fault
}

/// A part of a row that is less than a whole one, compiled once for both ends.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn fill_edge<R: Row>(lanes: &R, out: &mut [MaybeUninit<R::Elem>]) -> bool {
    fill_part(lanes, out)
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
