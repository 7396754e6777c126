//! Inner loops: the places where memory is read and written without bounds checks.
//!
//! The obligation is one: for every run, the lowest and the highest address that is reached lie
//! inside the very slice obtained for that run. Each function that relies on it checks it itself.
#![allow(unsafe_code, reason = "strided loops and parallel outputs need raw pointers")]

use super::plan::{Nest, Plan};
use super::simd::{self, Level, level};
use super::{Cursor, Filled, PART, Place, Row, Steps, Tile};
use crate::error::{Error, Result};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Rows of memory to write, each contiguous.
pub(crate) struct RowsMut<'a, T> {
    pointer: *mut MaybeUninit<T>,
    stride: isize,
    rows: usize,
    columns: usize,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

impl<'a, T> RowsMut<'a, T> {
    /// Rows of `columns` elements, `stride` apart, if they fit into `memory`.
    #[inline]
    pub(crate) fn new(
        memory: &'a mut [MaybeUninit<T>],
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Option<Self> {
        let needed = rows.checked_sub(1)?.checked_mul(stride)?.checked_add(columns)?;
        if needed > memory.len() || (stride < columns && rows > 1) {
            return None;
        }
        let pointer = memory.as_mut_ptr();
        Some(Self { pointer, stride: stride as isize, rows, columns, memory: PhantomData })
    }

    /// Row `row`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such row.
    #[inline(always)]
    pub(crate) fn row(&mut self, row: usize) -> &mut [MaybeUninit<T>] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        // SAFETY: the row was asserted to exist; the constructors checked that all rows lie in the
        // memory that `self` borrows mutably, and rows share no element with one another.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.pointer.offset(self.stride * row as isize),
                self.columns,
            )
        }
    }

    /// The same rows as one, if they follow one another.
    #[inline(always)]
    pub(crate) fn flat(self) -> Option<Self> {
        if self.rows == 1 || self.stride == self.columns as isize {
            Some(Self { rows: 1, columns: self.rows * self.columns, stride: 0, ..self })
        } else {
            None
        }
    }
}

/// Initialised memory as slots to write. What is written through them is initialised too, as slots
/// of this crate are only ever filled with elements.
pub(crate) fn slots<T>(memory: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`; the callers in this crate write elements only.
    unsafe { &mut *(std::ptr::from_mut(memory) as *mut [MaybeUninit<T>]) }
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

/// The whole output of an evaluation, shared by its tasks.
pub(crate) struct Target<'a, T> {
    pointer: *mut MaybeUninit<T>,
    len: usize,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: a `Target` gives access to elements only through `dest`, whose contract says that no two
// threads write the same one.
unsafe impl<T: Send> Sync for Target<'_, T> {}

impl<'a, T> Target<'a, T> {
    /// The output, if all addresses that `plan` writes lie in it.
    pub(crate) fn new(out: &'a mut [MaybeUninit<T>], plan: &Plan<'_>) -> Result<Self> {
        for nest in &plan.nests {
            let (low, high) = plan.span(nest);
            if low < 0 || high >= out.len() as i128 {
                return Err(out_of_span(low, high, out.len()));
            }
        }
        Ok(Self { pointer: out.as_mut_ptr(), len: out.len(), memory: PhantomData })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len.saturating_mul(size_of::<T>())
    }

    /// Columns up to the first cache line, if all rows of the output start alike.
    pub(crate) fn lead(&self, nest: &Nest) -> usize {
        const LINE: usize = 64;
        let size = size_of::<T>();
        let alike = |stride: isize| (stride.unsigned_abs() * size).is_multiple_of(LINE);
        let Some((columns, outer)) = nest.loops.split_last() else { return 0 };
        let unit = columns.steps[0].table.is_none() && columns.steps[0].stride == 1;
        if size == 0 || !unit || !outer.iter().all(|l| alike(l.steps[0].stride)) {
            return 0;
        }
        let start = self.pointer.wrapping_offset(nest.bases[0]).addr() % LINE;
        let lead = if start == 0 { 0 } else { (LINE - start) / size };
        if lead < columns.extent { lead } else { 0 }
    }

    /// The part of the output that is one tile's.
    ///
    /// # Safety
    ///
    /// No other destination that is alive, in this thread or another, shares an element with it.
    pub(crate) unsafe fn dest<'t>(&'t self, tile: &Tile<'t>, stream: bool) -> Dest<'t, T> {
        Dest {
            pointer: self.pointer,
            place: tile.places[0],
            rows: tile.rows,
            columns: tile.columns,
            stream,
            memory: PhantomData,
        }
    }
}

/// The part of an output that is one tile's. All its addresses were checked by `Target::new`.
#[derive(Debug)]
pub struct Dest<'a, T> {
    pointer: *mut MaybeUninit<T>,
    place: Place<'a>,
    rows: usize,
    columns: usize,
    stream: bool,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

impl<T: Copy> Dest<'_, T> {
    /// Whether the elements should be written past the caches.
    #[inline(always)]
    pub(crate) fn streams(&self) -> bool {
        self.stream
    }

    /// The rows, if each is contiguous.
    #[inline(always)]
    pub(crate) fn rows(&mut self) -> Option<RowsMut<'_, T>> {
        let strided = self.place.rows.table.is_none() || self.rows == 1;
        if !(strided
            && (self.place.columns.is(1)
                || (self.columns == 1 && self.place.columns.table.is_none())))
        {
            return None;
        }
        let stride = if self.rows == 1 { 0 } else { self.place.rows.stride };
        if self.rows > 1 && stride.unsigned_abs() < self.columns {
            return None;
        }
        let base = self.place.base.wrapping_add(self.place.rows.at(0));
        // SAFETY: all addresses of the tile lie in the memory, see `Target::new`; the rows do not
        // overlap, as their distance is at least their length.
        let pointer = unsafe { self.pointer.offset(base) };
        Some(RowsMut {
            pointer,
            stride,
            rows: self.rows,
            columns: self.columns,
            memory: PhantomData,
        })
    }

    /// Reads the old elements of the tile, row after row; for updates of initialised outputs only.
    pub(crate) fn get(&self, block: &mut Vec<T>) {
        block.clear();
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: all addresses of the tile lie in the memory, see `Target::new`. Updates are
                // evaluated on outputs made from `&mut [T]` by `slots`, so the elements are initialised.
                block.push(unsafe {
                    (*self.pointer.offset(self.place.at(row, column))).assume_init()
                });
            }
        }
    }

    /// Copies a block of rows that follow one another `stride` apart.
    pub(crate) fn put(&mut self, block: &[T], stride: usize) {
        let block = as_slots(block);
        let (stream, rows, columns) = (self.stream, self.rows, self.columns);
        if let Some(mut out) = self.rows() {
            for row in 0..rows {
                let from = &block[row * stride..][..columns];
                if stream {
                    simd::stream(from, out.row(row));
                } else {
                    out.row(row).copy_from_slice(from);
                }
            }
            return;
        }
        for row in 0..rows {
            let from = &block[row * stride..][..columns];
            let base = self.place.base.wrapping_add(self.place.rows.at(row));
            for (column, value) in from.iter().enumerate() {
                // SAFETY: all addresses of the tile lie in the memory, see `Target::new`, and this
                // destination is the only one alive that holds them.
                unsafe {
                    *self.pointer.offset(base.wrapping_add(self.place.columns.at(column))) = *value
                };
            }
        }
    }
}

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
            Level::Baseline => pack_rows(from, place, out),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => pack_avx2(from, place, out),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => pack_avx512(from, place, out),
        }
    }
    Ok(())
}

#[cold]
pub(crate) fn out_of_span(low: i128, high: i128, len: usize) -> Error {
    let span = usize::try_from(low).unwrap_or(0)..usize::try_from(high + 1).unwrap_or(usize::MAX);
    Error::OutOfSpan { span, len }
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

/// Shortest row that is worth to be streamed by itself.
const STREAMED_ROW_BYTES: usize = 512;
/// Rows from this size on are left to `memcpy`, which streams by itself.
const MEMCPY_BYTES: usize = 4 << 20;

/// Elements as slots that can only be read.
fn as_slots<T>(elements: &[T]) -> &[MaybeUninit<T>] {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and shared slots cannot be written.
    unsafe { &*(std::ptr::from_ref(elements) as *const [MaybeUninit<T>]) }
}

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
            (None, 1) if out.len() <= 32 => strided_row::<T, 1>(first.offset(base), out),
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
                simd::prefetch(from, base.wrapping_add(across) as usize, out.len());
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
    let mut out = dest.rows()?;
    if lies_across(place, out.rows) || out.columns < PART || level() == Level::Baseline {
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
        pack_streaming_avx2(from, place, &mut out)
    };
    Some(Ok(()))
}

/// # Safety
///
/// Every address of `place` within the rows and columns of `out` lies in `from`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn pack_streaming_avx2<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
    for row in 0..out.rows {
        let base = place.base.wrapping_add(place.rows.at(row));
        let columns = place.columns;
        // Where a part begins, and its steps from there.
        let part_at = |column: usize| match columns.table {
            Some(table) => (base, Steps { table: Some(&table[column..]), ..columns }),
            None => (base.wrapping_add(columns.at(column)), columns),
        };
        let out = out.row(row);
        let head = out.as_ptr().align_offset(simd::LINE).min(out.len()).min(PART);
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
            let mut part = [const { MaybeUninit::uninit() }; PART];
            pack_part(column, &mut part);
            simd::stream_lines(&part, to);
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

/// A block whose source is nearer across the rows than along them: small squares in registers where
/// neighbours are adjacent, otherwise column by column.
///
/// # Safety
///
/// As [`pack_rows`], and the place has no tables.
#[inline(always)]
unsafe fn transpose<T: Copy>(from: &[T], place: &Place<'_>, out: &mut RowsMut<'_, T>) {
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
    // Two squares at a time take whole cache lines of the source.
    for first in (0..rows).step_by(2 * N) {
        for column in (0..columns).step_by(N) {
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

/// A vector of `count` elements that `fill` writes.
///
/// # Errors
///
/// What `fill` reports, and [`Error::OutOfMemory`].
pub(crate) fn collect<T>(
    count: usize,
    fill: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled>,
) -> Result<Vec<T>> {
    let mut data = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    data.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes })?;
    let _proof: Filled = fill(&mut data.spare_capacity_mut()[..count])?;
    // SAFETY: the capacity is at least `count`, and the proof says that all slots were written.
    unsafe { data.set_len(count) };
    Ok(data)
}

/// Scratch memory for a tile that does not go to its destination directly.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    slots: Vec<MaybeUninit<T>>,
    /// How many slots, from the first, hold elements.
    filled: usize,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), filled: 0 }
    }
}

impl<T: Copy> Scratch<T> {
    /// Fills a block with the rows of a bound cursor; also says whether an element had a fault.
    pub(crate) fn fill<C: Cursor<Elem = T>>(
        &mut self,
        cursor: &C,
        [rows, columns]: [usize; 2],
    ) -> (&[T], bool) {
        let count = rows * columns;
        if self.slots.len() < count {
            self.slots.resize(count, MaybeUninit::uninit());
        }
        self.filled = 0;
        let Some(mut out) = RowsMut::new(&mut self.slots[..count], rows, columns, columns) else {
            return (&[], false);
        };
        let fault = fill(cursor, &mut out);
        self.filled = count;
        (self.filled(), fault)
    }

    /// The elements of the block filled last.
    pub(crate) fn filled(&self) -> &[T] {
        // SAFETY: `filled` is set only after `fill` wrote every column of every row of that many slots.
        unsafe { &*(std::ptr::from_ref(&self.slots[..self.filled]) as *const [T]) }
    }
}
