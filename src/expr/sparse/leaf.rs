//! Leaves of sparse evaluations.

use super::cursor::{Block, Opened, Positions, Share, StoredCursor, StoredLeaf};
use crate::error::{Error, Result, SparseFlaw, StorageError};
use crate::expr::Stop;
use crate::expr::leaf::{Bound, LeafCursor};
use crate::kernel::{Kernel, Local, dispatch, prefetch_span};
use crate::map::{AddressMap, Plane};
use crate::memory::{owned, refill, resize, try_reserve_exact};
use crate::tensor::stored::entries_of;
use std::borrow::Cow;
use std::sync::Arc;

impl<'a, T: Copy + Send + Sync> StoredCursor<'a> for LeafCursor<'a, T> {
    #[inline(never)]
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        visit(self);
    }

    #[inline(never)]
    fn take_values(&mut self) -> Result<Vec<T>, Stop> {
        match self.opened.take() {
            Some(Opened::Stored { values, .. }) => {
                let values = Arc::try_unwrap(values);
                Ok(match values {
                    Ok(own) => owned(own)?,
                    Err(shared) => owned(Cow::Borrowed(&shared))?,
                })
            }
            _ => Ok(Vec::new()),
        }
    }

    #[inline(never)]
    fn fork(&self) -> Self {
        Self { opened: self.opened.clone(), ..Self::new(self.storage, self.memory.clone()) }
    }
}

impl<'a, T: Copy + Send + Sync> StoredLeaf<'a> for LeafCursor<'a, T> {
    #[inline(never)]
    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        let map = &maps[lists.len()];
        let (positions, opened) = match self.storage.stored() {
            Some(stored) if self.memory.slice().is_none() => {
                let entries = entries_of(map, stored)?;
                let values = Arc::new(entries.values);
                (entries.positions, Opened::Stored { values, fill: stored.fill() })
            }
            _ => (Cow::Borrowed(&[][..]), Opened::Dense(Arc::new(map.coalesced()))),
        };
        lists.push(positions);
        self.opened = Some(opened);
        Ok(())
    }

    #[inline(never)]
    fn load(&mut self, local: &mut Local<'_>, next: &mut usize) -> Result<(), Stop> {
        *next += 1;
        self.load_box(local, *next - 1)
    }

    #[inline(never)]
    fn first_failure(
        &mut self,
        local: &Local<'_>,
        next: &mut usize,
    ) -> Result<Option<(usize, StorageError)>> {
        *next += 1;
        LeafCursor::first_failure(self, local, *next - 1)
    }

    #[inline(never)]
    fn expect(&mut self, boxes: &[Local<'_>], next: &mut usize) {
        *next += 1;
        self.expect_boxes(boxes, *next - 1);
    }

    #[inline(never)]
    fn ahead(&mut self) -> usize {
        self.storage.blocks().map_or(0, |blocks| blocks.ahead())
    }

    #[inline(never)]
    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        let leaf = *next;
        *next += 1;
        let (share, count) = (&block.shares[leaf], block.positions.len());
        match (&self.opened, share) {
            (Some(Opened::Stored { values, .. }), Share::Whole(ordinals)) => {
                let missing = || Stop::Error(invalid(values.len(), ordinals.end));
                values.get(ordinals.clone()).ok_or_else(missing)?;
                self.bound = Bound::Values { start: ordinals.start };
                return Ok(());
            }
            (Some(Opened::Stored { values, fill }), Share::Picked { list }) => {
                let picked = block.picked.get(*list).map_or(&[][..], |picked| picked);
                let value = |&ordinal: &usize| values.get(ordinal).copied().unwrap_or(*fill);
                refill(&mut self.scratch, picked.iter().map(value))?;
            }
            (Some(Opened::Stored { values, fill }), Share::Placed { ordinals, slot }) => {
                let slots = block.placed(*slot, ordinals.len());
                let values = values.get(ordinals.start..).unwrap_or_default();
                resize(&mut self.scratch, count, *fill)?;
                dispatch(Place { values, slots, fill: *fill, out: &mut self.scratch });
            }
            (Some(Opened::Dense(map)), _) => {
                if let Some((slice, plane)) = self.memory.slice().zip(map.plane()) {
                    gather(slice, plane, block.positions, &mut self.scratch)?;
                    self.bound = Bound::Scratch { stride: count };
                    return Ok(());
                }
                self.addresses.clear();
                try_reserve_exact(&mut self.addresses, count)?;
                map.addresses_at(block.positions, &mut self.addresses);
                let (Some(&first), storage) = (self.addresses.first(), self.storage) else {
                    return Ok(());
                };
                let failed = |source| Stop::Storage { leaf: leaf + 1, source };
                match self.memory.slice() {
                    Some(slice) => {
                        let highest = self.addresses.iter().fold(0, |high, &a| high.max(a));
                        if highest >= slice.len() {
                            return Err(beyond(highest, slice.len()));
                        }
                        let elements = self.addresses.iter().map(|&address| slice[address]);
                        refill(&mut self.scratch, elements)?;
                    }
                    None => {
                        let seed = storage.try_read(first).map_err(failed)?;
                        resize(&mut self.scratch, count, seed)?;
                        storage.read_at(&self.addresses, &mut self.scratch).map_err(failed)?;
                    }
                }
            }
            (None, _) => {}
        }
        self.bound = Bound::Scratch { stride: count };
        Ok(())
    }
}

/// Values that are placed between two requests for memory.
const REQUEST: usize = 8;

/// Puts the first values where the slots say and `fill` everywhere else, and asks for the memory of the next
/// values, a little at a time: a processor waits for no more than a few lines at once.
struct Place<'p, T> {
    values: &'p [T],
    slots: &'p [u16],
    fill: T,
    out: &'p mut [T],
}

impl<T: Copy> Kernel for Place<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { values, slots, fill, out } = self;
        out.fill(fill);
        let count = slots.len().min(values.len());
        let ((some, last), (own, rest)) =
            (slots[..count].as_chunks::<REQUEST>(), values[..count].as_chunks::<REQUEST>());
        for (some, own) in some.iter().zip(own) {
            prefetch_span(own, count, REQUEST);
            put(some, own, out);
        }
        put(last, rest, out);
    }
}

/// Puts values where slots say that lie inside.
#[inline(always)]
fn put<T: Copy>(slots: &[u16], values: &[T], out: &mut [T]) {
    for (&slot, &value) in slots.iter().zip(values) {
        if let Some(place) = out.get_mut(usize::from(slot)) {
            *place = value;
        }
    }
}

/// Reads the elements at positions of a plane.
fn gather<T: Copy>(
    slice: &[T],
    plane: Plane,
    positions: &[usize],
    out: &mut Vec<T>,
) -> Result<(), Stop> {
    match plane.only_row() {
        Some(by) => gather_at(slice, positions, |position| by.divide(position).1, out),
        None => gather_at(slice, positions, |position| plane.address(position), out),
    }
}

/// Reads the elements at the addresses of positions.
#[inline(always)]
fn gather_at<T: Copy>(
    slice: &[T],
    positions: &[usize],
    address: impl Fn(usize) -> usize,
    out: &mut Vec<T>,
) -> Result<(), Stop> {
    let mut missing = None;
    let Some(&first) = slice.first() else { return Err(beyond(0, 0)) };
    // Those of the next block.
    prefetch_span(positions, positions.len(), positions.len());
    let elements = positions.iter().map(|&position| {
        let address = address(position);
        slice.get(address).copied().unwrap_or_else(|| {
            missing = Some(address);
            first
        })
    });
    refill(out, elements)?;
    missing.map_or(Ok(()), |address| Err(beyond(address, slice.len())))
}

/// The error for storage that gave fewer values than addresses.
#[cold]
fn invalid(values: usize, addresses: usize) -> Error {
    Error::InvalidSparse { at: values, what: SparseFlaw::Counts { addresses, values } }
}

#[cold]
fn beyond(address: usize, len: usize) -> Stop {
    crate::kernel::inner::out_of_span(address as i128, address as i128, len).into()
}
