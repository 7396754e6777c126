//! Inner loops: the places where memory is read and written without bounds checks.
//!
//! The obligation is one: for every run, the lowest and the highest address that is reached lie
//! inside the very slice obtained for that run. Each function that relies on it checks it itself, or is called by one
//! that has, as the contract of `Target::dest` says.
#![allow(unsafe_code, reason = "strided loops and parallel outputs need raw pointers")]

mod dest;
mod fill;
mod map;
mod pack;
#[cfg(test)]
#[allow(unsafe_code, reason = "slots that were written are read")]
mod tests;
mod transpose;

pub use dest::Dest;
pub(crate) use dest::{Output, Target};
pub(crate) use fill::{Fill, FillRow};
pub(crate) use map::map_all;
pub(crate) use pack::{copy_rows, pack, pack_streaming, span};

use super::Filled;
use crate::error::{Error, Result};
use crate::memory::{AlignedVec, try_to_fill};
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

/// Elements as slots that can only be read.
pub(super) fn as_slots<T>(elements: &[T]) -> &[MaybeUninit<T>] {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and shared slots cannot be written.
    unsafe { &*(std::ptr::from_ref(elements) as *const [MaybeUninit<T>]) }
}

#[cold]
pub(crate) fn out_of_span(low: i128, high: i128, len: usize) -> Error {
    let bound = |address: i128| usize::try_from(address.max(0)).unwrap_or(usize::MAX);
    let span = bound(low)..bound(high + 1);
    Error::OutOfSpan { span, len }
}

/// A vector of `count` elements that `fill` writes.
///
/// # Errors
///
/// What `fill` reports, and [`Error::OutOfMemory`].
pub(crate) fn collect<T, E: From<Error>>(
    count: usize,
    fill: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<Filled, E>,
) -> Result<Vec<T>, E> {
    let mut data = try_to_fill(count)?;
    let slots = &mut data.spare_capacity_mut()[..count];
    let proof = fill(slots)?;
    proof.check(slots);
    Ok(written(data, &proof))
}

/// An empty vector with the elements that were written to its slots, from the first one on.
///
/// # Panics
///
/// If they are not the first slots, or there are elements.
pub(super) fn written<T>(mut data: Vec<T>, proof: &Filled) -> Vec<T> {
    assert!(data.is_empty(), "elements before those that were written");
    let count = proof.count_from(data.spare_capacity_mut());
    // SAFETY: there are at least `count` slots, and the proof says that these very ones, from the first on, were all
    // written.
    unsafe { data.set_len(count) };
    data
}

/// Writes `value` to every slot, and then lets `change` have them as elements. Without a value there must be no slot.
///
/// # Errors
///
/// What `change` reports.
pub(crate) fn overwrite<T: Copy>(
    out: &mut [MaybeUninit<T>],
    value: Option<T>,
    change: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<Filled> {
    match value {
        Some(value) => out.fill(MaybeUninit::new(value)),
        None => assert!(out.is_empty(), "no value for {} slots", out.len()),
    }
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and every slot was written above.
    change(unsafe { &mut *(std::ptr::from_mut(out) as *mut [T]) })?;
    Ok(Filled::of(out))
}

/// Scratch memory for a tile that does not go to its destination directly.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    slots: AlignedVec<MaybeUninit<T>>,
    /// How many slots, from the first, hold elements.
    filled: usize,
    /// Whether memory that is read later is asked for.
    ahead: bool,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self::new(false)
    }
}

impl<T> Scratch<T> {
    /// `ahead` as in [`Fill::fill`].
    pub(crate) fn new(ahead: bool) -> Self {
        Self { slots: AlignedVec::default(), filled: 0, ahead }
    }
}

impl<T: Copy> Scratch<T> {
    /// Fills a block with rows of a bound cursor, from row `first` on; also says whether an element had a
    /// fault.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[inline(never)]
    pub(crate) fn fill(
        &mut self,
        cursor: &dyn Fill<T>,
        first: usize,
        [rows, columns]: [usize; 2],
    ) -> Result<(&[T], bool)> {
        let count = rows * columns;
        self.filled = 0;
        if self.slots.len() < count {
            self.slots.resize(count, MaybeUninit::uninit())?;
        }
        let Some(mut out) = RowsMut::new(&mut self.slots[..count], rows, columns, columns) else {
            return Ok((&[], false));
        };
        let written = cursor.fill(first, self.ahead, &mut out);
        self.filled = count;
        Ok((self.filled(), written.has_fault()))
    }

    /// The elements of the block filled last.
    pub(crate) fn filled(&self) -> &[T] {
        // SAFETY: `filled` is set only after a `Fill` wrote every column of every row of that many slots, of
        // which its result is the proof.
        unsafe { &*(std::ptr::from_ref(&self.slots[..self.filled]) as *const [T]) }
    }
}
