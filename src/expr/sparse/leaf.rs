//! Leaves of sparse evaluations.

use super::cursor::{Block, Maps, Opened, Positions, Share, StoredCursor, StoredLeaf};
use crate::error::{Error, Result, SparseFlaw, StorageError};
use crate::expr::Stop;
use crate::expr::leaf::{Bound, LeafCursor};
use crate::kernel::{Kernel, Local, dispatch, prefetch_span};
use crate::map::{AddressMap, Plane};
use crate::memory::{AlignedVec, owned, try_reserve_exact};
use crate::tensor::stored::Entries;
use std::borrow::Cow;
use std::sync::Arc;

impl<'a, T: Copy + Send + Sync> StoredCursor<'a> for LeafCursor<'a, T> {
    #[inline(never)]
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        visit(self);
    }

    #[inline(never)]
    fn take_values(&mut self) -> Result<Vec<T>, Stop> {
        match self.opened.take().map(|opened| *opened) {
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
        Self { opened: self.opened.clone(), ..Self::new(self.storage.clone(), self.memory.clone()) }
    }
}

impl<'a, T: Copy + Send + Sync> StoredLeaf<'a> for LeafCursor<'a, T> {
    #[inline(never)]
    fn open(&mut self, maps: &Maps, lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        let leaf = lists.len();
        let (map, step, fiber) = (&maps.maps[leaf], maps.steps[leaf], maps.fiber);
        let one_a_fiber = self.memory.slice().is_none() && (fiber == 1 || step == 0);
        // Of other entries there may be any number, of which few are looked at.
        let listed = one_a_fiber && maps.decides[leaf] && !maps.looked_up[leaf];
        let entries = if listed { self.storage.entries(map, None)? } else { None };
        let (positions, opened) = match entries {
            Some((Entries { positions, values }, fill)) => {
                (positions, Opened::Stored { values: Arc::new(values), fill, fiber })
            }
            None => {
                let map = Arc::new(map.coalesced());
                (Cow::Borrowed(&[][..]), Opened::Dense { map, fiber, step })
            }
        };
        lists.push(positions);
        self.opened = Some(Box::new(opened));
        Ok(())
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        maps: &Maps,
        at: &[usize],
        lists: &mut [Positions<'a>],
        next: &mut usize,
    ) -> Result<(), Stop> {
        let leaf = *next;
        *next += 1;
        if maps.looked_up[leaf]
            && let Some((Entries { positions, values }, fill)) =
                self.storage.entries(&maps.maps[leaf], Some(at))?
        {
            lists[leaf] = positions;
            let opened = Opened::Stored { values: Arc::new(values), fill, fiber: maps.fiber };
            self.opened = Some(Box::new(opened));
        }
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
        let (share, mut count) = (&block.shares[leaf], block.positions.len());
        match (self.opened.as_deref(), share) {
            (Some(Opened::Stored { values, fill, fiber }), Share::Whole(ordinals)) => {
                let missing = || Stop::from(invalid(values.len(), ordinals.end));
                let own = values.get(ordinals.clone()).ok_or_else(missing)?;
                if *fiber == 1 {
                    self.bound = Bound::Values { start: ordinals.start };
                    return Ok(());
                }
                count *= fiber;
                self.scratch.resize(count, *fill)?;
                dispatch(Fibers { source: own, fiber: *fiber, out: &mut self.scratch });
            }
            (Some(Opened::Stored { values, fill, .. }), Share::Picked { list }) => {
                let picked = block.picked.get(*list).map_or(&[][..], |picked| picked);
                let value = |&ordinal: &usize| values.get(ordinal).copied().unwrap_or(*fill);
                self.scratch.refill(picked.iter().map(value))?;
            }
            (Some(Opened::Stored { values, fill, fiber }), Share::Placed { ordinals, slot }) => {
                let slots = block.placed(*slot, ordinals.len());
                let values = values.get(ordinals.start..).unwrap_or_default();
                // Among fibers there are no slots, only fill values.
                count *= fiber;
                self.scratch.resize(count, *fill)?;
                dispatch(
                    #[inline(always)]
                    || place(values, slots, *fill, &mut self.scratch),
                );
            }
            (Some(Opened::Dense { map, fiber, step }), _) => {
                let (fiber, memory) = (*fiber, self.memory.slice());
                let (addresses, scratch) = (&mut self.addresses, &mut self.scratch);
                count *= fiber;
                match (memory, map.plane()) {
                    (Some(slice), Some(plane)) if fiber == 1 => {
                        gather(slice, plane, block.positions, scratch)?;
                    }
                    (Some(slice), _) if fiber > 1 && *step == 1 => {
                        gather_fibers(slice, map, fiber, block, addresses, scratch)?;
                    }
                    _ => {
                        addresses.clear();
                        try_reserve_exact(addresses, count)?;
                        map.addresses_at(block.positions, addresses);
                        spread(addresses, fiber, *step);
                        let Some(&first) = addresses.first() else { return Ok(()) };
                        let failed = |source| Stop::Storage { leaf: leaf + 1, source };
                        if let Some(slice) = memory {
                            let highest = addresses.iter().fold(0, |high, &a| high.max(a));
                            if highest >= slice.len() {
                                return Err(beyond(highest, slice.len()));
                            }
                            scratch.refill(addresses.iter().map(|&address| slice[address]))?;
                        } else {
                            let seed = self.storage.try_read(first).map_err(failed)?;
                            scratch.resize(count, seed)?;
                            self.storage.read_at(addresses, scratch).map_err(failed)?;
                        }
                    }
                }
            }
            (None, _) => {}
        }
        self.bound = Bound::Scratch { stride: count };
        Ok(())
    }
}

/// Where fibers have their elements.
trait Source<'f, T>: Copy {
    /// What tells where a fiber has them.
    type Place: Copy + 'f;

    /// Those of all fibers.
    fn places(self) -> &'f [Self::Place];

    /// Copies neighbours in a fiber, from this one on; returns whether they are there.
    fn copy_to<const N: usize>(self, place: Self::Place, first: usize, out: &mut [T; N]) -> bool;
}

/// Fibers of one value each.
impl<'f, T: Copy> Source<'f, T> for &'f [T] {
    type Place = T;

    #[inline(always)]
    fn places(self) -> &'f [T] {
        self
    }

    #[inline(always)]
    fn copy_to<const N: usize>(self, value: T, _: usize, out: &mut [T; N]) -> bool {
        *out = [value; N];
        true
    }
}

/// Fibers that begin at these addresses of a slice and whose elements are neighbours.
impl<'f, T: Copy> Source<'f, T> for (&[T], &'f [usize]) {
    type Place = usize;

    #[inline(always)]
    fn places(self) -> &'f [usize] {
        self.1
    }

    #[inline(always)]
    fn copy_to<const N: usize>(self, address: usize, first: usize, out: &mut [T; N]) -> bool {
        let rest = self.0.get(address.saturating_add(first)..);
        rest.and_then(|rest| rest.first_chunk()).map(|own| *out = *own).is_some()
    }
}

/// Fills fibers, some neighbours of all of them at a time: of one fiber after another each would be a call of the C
/// library.
struct Fibers<'f, T, S> {
    source: S,
    fiber: usize,
    out: &'f mut [T],
}

impl<'f, T: Copy, S: Source<'f, T>> Kernel for Fibers<'f, T, S> {
    /// Whether all elements were found.
    type Out = bool;

    #[inline(always)]
    fn run(mut self) -> bool {
        let mut found = true;
        let next = self.fill::<16>(0, &mut found);
        let next = self.fill::<4>(next, &mut found);
        self.fill::<1>(next, &mut found);
        found
    }
}

impl<'f, T: Copy, S: Source<'f, T>> Fibers<'f, T, S> {
    /// Fills from a neighbour on, `N` at a time. Returns the first that is left.
    #[inline(always)]
    fn fill<const N: usize>(&mut self, first: usize, found: &mut bool) -> usize {
        let mut next = first;
        while next + N <= self.fiber {
            let places = self.source.places();
            for (out, &place) in self.out.chunks_exact_mut(self.fiber).zip(places) {
                let part = out[next..].first_chunk_mut::<N>();
                *found &= part.is_some_and(|part| self.source.copy_to(place, next, part));
            }
            next += N;
        }
        next
    }
}

/// Reads the fibers at the positions of a block, the elements of each of which are neighbours in memory.
fn gather_fibers<T: Copy>(
    slice: &[T],
    map: &AddressMap,
    fiber: usize,
    block: &Block<'_>,
    addresses: &mut Vec<usize>,
    out: &mut AlignedVec<T>,
) -> Result<(), Stop> {
    let (group, first) = block.group.unwrap_or((block.positions, 0));
    if first == 0 {
        addresses.clear();
        try_reserve_exact(addresses, group.len())?;
        map.addresses_at(group, addresses);
    }
    let own = addresses.get(first..).and_then(|own| own.get(..block.positions.len()));
    let (own, &seed) = own.zip(slice.first()).ok_or_else(|| beyond(0, slice.len()))?;
    out.resize(own.len() * fiber, seed)?;
    if dispatch(Fibers { source: (slice, own), fiber, out }) {
        return Ok(());
    }
    let highest = own.iter().fold(0, |high, &a| high.max(a));
    Err(beyond(highest.saturating_add(fiber - 1), slice.len()))
}

/// Addresses of the first elements of fibers become those of all, for which there is room.
fn spread(addresses: &mut Vec<usize>, fiber: usize, step: isize) {
    let count = addresses.len();
    addresses.resize(count * fiber, 0);
    for k in (0..count).rev() {
        let first = addresses[k];
        for (j, address) in addresses[k * fiber..][..fiber].iter_mut().enumerate() {
            *address = first.wrapping_add_signed(step.wrapping_mul(j as isize));
        }
    }
}

/// Values that are placed between two requests for memory.
const REQUEST: usize = 8;

/// Puts the first values where the slots say and `fill` everywhere else, and asks for the memory of the next
/// values, a little at a time: a processor waits for no more than a few lines at once.
#[inline(always)]
fn place<T: Copy>(values: &[T], slots: &[u16], fill: T, out: &mut [T]) {
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
    out: &mut AlignedVec<T>,
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
    out: &mut AlignedVec<T>,
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
    out.refill(elements)?;
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
