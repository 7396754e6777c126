//! The leaves of expressions, and the one place where storage meets map.

mod blocks;
mod cover;
mod load;
mod memory;
mod row;
mod stages;

pub(super) use blocks::{copy_area, for_each_line, place};
pub(super) use load::{ascending, blocks_of, read_footprint, read_listed, relocated};
pub(super) use memory::{Memory, Origin};
pub use row::LeafRow;
pub(crate) use stages::Stages;
use stages::{copy_runs, gather, lies_across, read_across};

use super::sparse::cursor::Opened;
use super::{Access, Expr, Leaf, sealed::Sealed};
use crate::error::Result;
use crate::kernel::inner::{self, RowsMut, slots};
use crate::kernel::{Cursor, Dest, Fault, PART, Place, Stop, Tile};
use crate::map::AddressMap;
use crate::memory::{AlignedVec, debug_of_fields, refill};
use crate::shape::Shape;
use crate::storage::{Reader, Sparse, read_steps};
use crate::tensor::Tensor;
use std::sync::Arc;

impl<S: Reader> Sealed for Tensor<S> {}

impl<S: Reader> Expr for Tensor<S> {
    const IS_LEAF: bool = true;
    type Elem = S::Elem;
    type Cursor<'a>
        = LeafCursor<'a, S::Elem>
    where
        S: 'a;
    type Ref<'a>
        = Tensor<&'a S>
    where
        S: 'a;

    #[inline]
    fn by_ref(&self) -> Tensor<&S> {
        self.view()
    }

    #[inline]
    fn shape(&self) -> Result<Shape> {
        Ok(self.address_map().shape())
    }

    #[inline]
    fn fits(&self, shape: &Shape) -> bool {
        let axes = self.address_map().top().plain_axes();
        axes.len() == shape.rank()
            && axes.iter().zip(shape.iter()).all(|(axis, extent)| axis.extent == *extent)
    }

    #[inline]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        let access = Access::of(self.storage());
        visit(Leaf { map: self.address_map(), elem_bytes: size_of::<S::Elem>(), access });
    }

    #[inline]
    fn in_memory(&self) -> Option<(&[S::Elem], &AddressMap)> {
        Some((self.storage().as_slice()?, self.address_map()))
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        self.change_map(change)
    }

    #[inline(always)]
    fn cursor(&self) -> LeafCursor<'_, S::Elem> {
        LeafCursor::new(Origin::Borrowed(self.storage()), Memory::of(self.storage().as_slice()))
    }

    #[inline(always)]
    fn row_in_order(&self, count: usize) -> Option<LeafRow<'_, S::Elem>> {
        let run = self.address_map().consecutive().filter(|run| run.len() == count)?;
        self.storage().as_slice()?.get(run).map(LeafRow::new)
    }

    #[inline]
    fn leaf_count(&self) -> usize {
        1
    }
}

/// A leaf at work: bound to the rows of a slice, or to scratch memory that its tile was packed into.
pub struct LeafCursor<'a, T: Copy> {
    pub(super) storage: Origin<'a, T>,
    /// What the storage said once; a safe trait may answer differently the second time.
    pub(super) memory: Memory<'a, T>,
    pub(super) bound: Bound,
    pub(super) scratch: AlignedVec<T>,
    pub(super) addresses: Vec<usize>,
    /// What this leaf is in a sparse evaluation, if it is part of one.
    pub(super) opened: Option<Box<Opened<'a, T>>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// Rows of the slice as they lie.
    Direct { base: usize, stride: isize },
    /// Rows in scratch memory.
    Scratch { stride: usize },
    /// One row of the stored values of a sparse evaluation.
    Values { start: usize },
    /// Rows of one element each, which scratch memory holds [`PART`] times over.
    Uniform,
}

debug_of_fields!([T: Copy] LeafCursor<'_, T> |own| bound: own.bound);

/// Bytes between scratch rows, so that the columns of a tile do not all fall into one cache set.
const PAD_BYTES: usize = 64;

impl<'a, T: Copy + Send + Sync> LeafCursor<'a, T> {
    /// A leaf whose elements are the result of a deferred operation; without one, they are read from a storage
    /// that has none.
    pub(crate) fn of_result(
        storage: &'a dyn Reader<Elem = T>,
        result: Option<Arc<Vec<T>>>,
    ) -> Self {
        let memory = result.map_or(Memory::None, Memory::Shared);
        Self::new(Origin::Borrowed(storage), memory)
    }

    /// The same of the result of a function of stored entries.
    pub(super) fn of_entries(result: Arc<Sparse<T>>) -> Self {
        Self::new(Origin::Shared(result), Memory::None)
    }

    #[inline(always)]
    pub(super) fn new(storage: Origin<'a, T>, memory: Memory<'a, T>) -> Self {
        Self {
            storage,
            memory,
            bound: Bound::Scratch { stride: 0 },
            scratch: AlignedVec::default(),
            addresses: Vec::new(),
            opened: None,
        }
    }

    /// Elements of a row, wherever they are. All cases would be most of the code of a loop, which has the usual ones.
    #[inline(never)]
    fn elements(&self, row: usize, columns: usize) -> &[T] {
        match (self.bound, self.memory.slice(), self.opened.as_deref()) {
            (Bound::Direct { base, stride }, Some(slice), _) => {
                &slice[base.wrapping_add_signed(stride * row as isize)..][..columns]
            }
            (Bound::Uniform, ..) => &self.scratch[row * PART..][..PART],
            (Bound::Scratch { stride }, ..) => &self.scratch[row * stride..][..columns],
            (Bound::Values { start }, _, Some(Opened::Stored { values, .. })) => {
                &values[start..][..columns]
            }
            (Bound::Values { .. } | Bound::Direct { .. }, ..) => &self.scratch[..columns],
        }
    }

    /// Repeats the one element of each row.
    #[inline(never)]
    fn repeat(&mut self, place: &Place<'_>, rows: usize) -> Result<(), Stop> {
        let memory = self.memory.clone();
        let slice = memory.slice().unwrap_or_default();
        if let Some(&seed) = slice.first() {
            self.scratch.resize(rows * PART, seed)?;
        }
        for row in 0..rows {
            let mut address = [place.base.wrapping_add(place.rows.at(row)) as usize];
            if let Some(relocate) = place.relocate {
                relocate.relocate(&mut address);
            }
            let [address] = address;
            let Some(&element) = slice.get(address) else {
                return Err(
                    inner::out_of_span(address as i128, address as i128, slice.len()).into()
                );
            };
            self.scratch[row * PART..][..PART].fill(element);
        }
        self.bound = Bound::Uniform;
        Ok(())
    }

    /// Packs a tile into scratch memory.
    #[inline(never)]
    fn pack(&mut self, tile: &Tile<'_>, leaf: usize) -> Result<(), Stop> {
        let place = &tile.places[leaf];
        let (rows, columns) = (tile.rows, tile.columns);
        let pad = PAD_BYTES / size_of::<T>().max(1);
        let memory = &self.memory;
        let aliased = rows > 4 && !tile.dense && (columns * size_of::<T>()).is_multiple_of(512);
        let padded = aliased && (memory.slice().is_some() || !follow(place, rows, columns));
        let stride = if padded { columns + pad } else { columns };
        self.bound = Bound::Scratch { stride };
        if let (Some(slice), None) = (memory.slice(), place.relocate) {
            let first = place.at(0, 0);
            let seed = usize::try_from(first).ok().and_then(|first| slice.get(first));
            let Some(&seed) = seed else {
                return Err(inner::out_of_span(first as i128, first as i128, slice.len()).into());
            };
            self.scratch.resize(rows * stride, seed)?;
            let scratch = slots(&mut self.scratch);
            if let Some(mut out) = RowsMut::new(scratch, rows, columns, stride) {
                inner::pack(slice, place, &mut out)?;
            }
            return Ok(());
        }
        self.read(place, rows, columns, stride, leaf)
    }

    /// Reads a tile that does not lie in memory as it is needed.
    #[inline(never)]
    fn read(
        &mut self,
        place: &Place<'_>,
        rows: usize,
        columns: usize,
        stride: usize,
        leaf: usize,
    ) -> Result<(), Stop> {
        let failed = |source| Stop::Storage { leaf, source };
        let mut first = [place.at(0, 0) as usize];
        if let Some(relocate) = place.relocate {
            relocate.relocate(&mut first);
        }
        let memory = self.memory.clone();
        let seed = match memory.slice() {
            Some(slice) => *slice.get(first[0]).ok_or_else(|| {
                inner::out_of_span(first[0] as i128, first[0] as i128, slice.len())
            })?,
            None => self.storage.try_read(first[0]).map_err(failed)?,
        };
        self.scratch.resize(rows * stride, seed)?;
        if let (Some(slice), Some(relocate)) = (memory.slice(), place.relocate)
            && lies_across(place, rows)
        {
            let (sides, addresses) = ([rows, columns, stride], &mut self.addresses);
            return Ok(read_across(slice, relocate, place, sides, addresses, &mut self.scratch)?);
        }
        let plain = place.relocate.is_none() && place.columns.table.is_none();
        // Rows that follow one another are one run.
        let (rows, columns) = match plain && stride == columns && follow(place, rows, columns) {
            true => (1, rows * columns),
            false => (rows, columns),
        };
        for row in 0..rows {
            let base = place.base.wrapping_add(place.rows.at(row));
            let out = &mut self.scratch[row * stride..][..columns];
            if plain {
                let step = place.columns.stride;
                if step == 0 {
                    out.fill(self.storage.try_read(base as usize).map_err(failed)?);
                } else {
                    read_steps(&*self.storage, base as usize, step, out).map_err(failed)?;
                }
                continue;
            }
            if let (Some(slice), Some(relocate)) = (memory.slice(), place.relocate)
                && copy_runs(slice, relocate, base, place.columns, out)?
            {
                continue;
            }
            let address = |column| base.wrapping_add(place.columns.at(column)) as usize;
            refill(&mut self.addresses, (0..columns).map(address))?;
            if let Some(relocate) = place.relocate {
                relocate.relocate(&mut self.addresses);
            }
            match memory.slice() {
                Some(slice) => gather(slice, &self.addresses, out)?,
                None => self.storage.read_at(&self.addresses, out).map_err(failed)?,
            }
        }
        Ok(())
    }
}

/// Rows of a slice that can be read where they are.
#[inline(always)]
fn direct<T>(slice: &[T], place: &Place<'_>, [rows, columns]: [usize; 2]) -> Option<Bound> {
    let strided = place.rows.table.is_none() || rows == 1;
    if !place.columns.is(1) || !strided || place.relocate.is_some() {
        return None;
    }
    let base = place.base.wrapping_add(place.rows.at(0));
    let inside = if rows == 1 {
        base >= 0 && slice.len().checked_sub(base as usize).is_some_and(|n| n >= columns)
    } else {
        let (low, high) = inner::span(place, rows, columns);
        low >= 0 && high < slice.len() as i128
    };
    let stride = if rows == 1 { 0 } else { place.rows.stride };
    inside.then_some(Bound::Direct { base: base as usize, stride })
}

/// Whether each row of a tile begins where the one before ends, in either direction.
fn follow(place: &Place<'_>, rows: usize, columns: usize) -> bool {
    let on = |step| place.columns.is(step) && place.rows.is(step * columns as isize);
    rows == 1 || on(1) || on(-1)
}

impl<T: Copy + Send + Sync> Cursor for LeafCursor<'_, T> {
    type Elem = T;
    type Row<'r>
        = LeafRow<'r, T>
    where
        Self: 'r;

    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        let place = &tile.places[*next];
        *next += 1;
        let slice = self.memory.slice();
        if slice.is_some() && place.columns.is(0) && !tile.dense && tile.columns > PART {
            return self.repeat(place, tile.rows);
        }
        let flat = !tile.dense || place.rows.is(tile.columns as isize);
        let bound = slice.filter(|_| flat).and_then(|slice| direct(slice, place, tile.sides()));
        let Some(bound) = bound else { return self.pack(tile, *next - 1) };
        // A shared block may give a shorter slice next time: `elements` hands out this row of scratch then.
        if let (Memory::Block(..), Some(&seed)) = (&self.memory, slice.and_then(<[T]>::first)) {
            self.scratch.resize(self.scratch.len().max(tile.sides()[1]), seed)?;
        }
        self.bound = bound;
        Ok(())
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> LeafRow<'_, T> {
        let elements = match (self.bound, &self.memory) {
            (Bound::Direct { base, stride }, Memory::Borrowed(slice)) => {
                &slice[base.wrapping_add_signed(stride * row as isize)..][..columns]
            }
            (Bound::Scratch { stride }, _) => &self.scratch[row * stride..][..columns],
            _ => self.elements(row, columns),
        };
        let uniform = matches!(self.bound, Bound::Uniform);
        LeafRow { elements, uniform, direct: matches!(self.bound, Bound::Direct { .. }) }
    }

    #[inline(never)]
    fn copy(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, T>) -> Option<Result<(), Stop>> {
        let memory = self.memory.clone();
        let slice = memory.slice()?;
        let place = &tile.places[1];
        if place.relocate.is_some() {
            return None;
        }
        if let Some(copied) = inner::copy_rows(slice, place, dest) {
            return Some(copied.map_err(Stop::from));
        }
        if dest.streams() {
            if let Some(packed) = inner::pack_streaming(slice, place, dest) {
                return Some(packed.map_err(Stop::from));
            }
        } else if let Some(mut rows) = dest.rows() {
            return Some(inner::pack(slice, place, &mut rows).map_err(Stop::from));
        }
        let plain = Tile { dense: false, ..*tile };
        if let Err(stop) = self.pack(&plain, 1) {
            return Some(Err(stop));
        }
        let Bound::Scratch { stride } = self.bound else { return None };
        dest.put(&self.scratch, stride);
        Some(Ok(()))
    }

    #[inline]
    fn row_in_memory(&self, row: usize, columns: usize) -> Option<&[T]> {
        let row = self.row(row, columns);
        (!row.uniform).then_some(row.elements)
    }

    #[inline]
    fn slice(&self) -> Option<&[T]> {
        self.memory.slice()
    }

    fn fault(&mut self, _tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        *next += 1;
        Ok(None)
    }
}
