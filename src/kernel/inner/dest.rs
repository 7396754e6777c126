//! Outputs and the parts of them that tiles write.

use super::{RowsMut, as_slots, out_of_span, slots, span};
use crate::error::Result;
use crate::kernel::plan::Nest;
use crate::kernel::{Filled, Place, Tile, simd};
use crate::memory::try_reserve_exact;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Memory for an output.
pub(crate) struct Output<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    /// Whether every slot holds an element already.
    held: bool,
}

impl<'a, T> Output<'a, T> {
    /// An output to be filled.
    pub(crate) fn new(slots: &'a mut [MaybeUninit<T>]) -> Self {
        Self { slots, held: false }
    }

    /// Elements to be updated.
    pub(crate) fn held(elements: &'a mut [T]) -> Self {
        Self { slots: slots(elements), held: true }
    }

    /// The part that is one tile's, if that is all that is written.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`](crate::Error::OutOfSpan) if it does not lie in the output.
    pub(crate) fn dest<'t>(self, tile: &Tile<'t>) -> Result<Dest<'t, T>>
    where
        'a: 't,
    {
        check_span(span(&tile.places[0], tile.rows, tile.columns), self.slots.len())?;
        Ok(Dest::new(self.slots.as_mut_ptr(), self.held, tile, false))
    }
}

/// The whole output of an evaluation, shared by its tasks.
pub(crate) struct Target<'a, T> {
    pointer: *mut MaybeUninit<T>,
    len: usize,
    held: bool,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: a `Target` gives access to elements only through `dest`, whose contract says that no two
// threads write the same one.
unsafe impl<T: Send> Sync for Target<'_, T> {}

impl<'a, T> Target<'a, T> {
    pub(crate) fn new(Output { slots, held }: Output<'a, T>) -> Self {
        Self { pointer: slots.as_mut_ptr(), len: slots.len(), held, memory: PhantomData }
    }

    /// Refuses a nest that writes an address which does not lie in the output.
    pub(crate) fn check(&self, nest: &Nest, tables: &[Cow<'_, [usize]>]) -> Result<()> {
        check_span(nest.span(0, tables), self.len)
    }

    /// The proof for all slots, as the caller has had so many written, each once.
    pub(in crate::kernel) fn filled(&self, written: usize) -> Option<Filled> {
        (written == self.len).then(|| Filled::at(self.pointer, self.len))
    }

    /// Columns up to the first cache line, if all rows of the output start alike and are cut.
    pub(crate) fn lead(&self, nest: &Nest) -> usize {
        const LINE: usize = 64;
        let size = size_of::<T>();
        let alike = |stride: isize| (stride.unsigned_abs() * size).is_multiple_of(LINE);
        let Some((columns, outer)) = nest.loops.split_last() else { return 0 };
        let unit = columns.steps[0].table.is_none() && columns.steps[0].stride == 1;
        let cut = columns.extent > nest.block[1];
        if size == 0 || !unit || !cut || !outer.iter().all(|l| alike(l.steps[0].stride)) {
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
    /// The tile is one of a nest that [`Self::check`] has passed, and no other destination that is alive, in this thread
    /// or another, shares an element with it.
    pub(crate) unsafe fn dest<'t>(&'t self, tile: &Tile<'t>, stream: bool) -> Dest<'t, T> {
        Dest::new(self.pointer, self.held, tile, stream)
    }
}

/// Refuses addresses, from the lowest to the highest, of which some do not lie in an output of this length.
fn check_span((low, high): (i128, i128), len: usize) -> Result<()> {
    if low >= 0 && high < len as i128 { Ok(()) } else { Err(out_of_span(low, high, len)) }
}

/// The part of an output that is one tile's. All its addresses lie in the memory, and no other destination that is alive has
/// one of them: `Output::dest` checks the first and takes the whole output, the contract of `Target::dest` says both.
#[derive(Debug)]
pub struct Dest<'a, T> {
    pointer: *mut MaybeUninit<T>,
    place: Place<'a>,
    rows: usize,
    pub(super) columns: usize,
    pub(super) stream: bool,
    held: bool,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

impl<'a, T> Dest<'a, T> {
    fn new(pointer: *mut MaybeUninit<T>, held: bool, tile: &Tile<'a>, stream: bool) -> Self {
        let (place, rows, columns) = (tile.places[0], tile.rows, tile.columns);
        Self { pointer, place, rows, columns, stream, held, memory: PhantomData }
    }
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
        // SAFETY: all addresses of the tile lie in the memory, see `Dest`; the rows do not
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

    /// Reads the old elements of the tile, row after row; returns whether there are any.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn get(&mut self, block: &mut Vec<T>) -> Result<bool> {
        block.clear();
        if !self.held {
            return Ok(false);
        }
        try_reserve_exact(block, self.rows * self.columns)?;
        if let Some(mut rows) = self.rows() {
            for row in 0..rows.rows {
                // SAFETY: `MaybeUninit<T>` has the layout of `T`, and the memory holds elements everywhere:
                // it was made by `Output::held`.
                let elements = unsafe { &*(std::ptr::from_mut(rows.row(row)) as *const [T]) };
                block.extend_from_slice(elements);
            }
            return Ok(true);
        }
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: all addresses of the tile lie in the memory, see `Dest`, which holds
                // elements everywhere: it was made by `Output::held`.
                block.push(unsafe {
                    (*self.pointer.offset(self.place.at(row, column))).assume_init()
                });
            }
        }
        Ok(true)
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
                // SAFETY: all addresses of the tile lie in the memory, see `Dest`, and this
                // destination is the only one alive that holds them.
                unsafe {
                    *self.pointer.offset(base.wrapping_add(self.place.columns.at(column))) = *value
                };
            }
        }
    }
}
