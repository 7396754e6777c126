//! Leaves of sparse evaluations.

use super::cursor::{Block, Maps, Opened, Positions, Share, StoredCursor, StoredLeaf};
use crate::error::{Error, Result, SparseFlaw, StorageError};
use crate::expr::Stop;
use crate::expr::leaf::{Bound, LeafCursor};
use crate::kernel::{Kernel, Local, dispatch, prefetch_span};
use crate::map::Plane;
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
    fn open(&mut self, maps: &Maps, lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        let (map, step) = (&maps.maps[lists.len()], maps.steps[lists.len()]);
        let fiber = maps.fiber;
        let (positions, opened) = match self.storage.stored() {
            Some(stored) if self.memory.slice().is_none() && (fiber == 1 || step == 0) => {
                let entries = entries_of(map, stored)?;
                let values = Arc::new(entries.values);
                (entries.positions, Opened::Stored { values, fill: stored.fill(), fiber })
            }
            _ => {
                let map = Arc::new(map.coalesced());
                (Cow::Borrowed(&[][..]), Opened::Dense { map, fiber, step })
            }
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
        let (share, mut count) = (&block.shares[leaf], block.positions.len());
        match (&self.opened, share) {
            (Some(Opened::Stored { values, fiber, .. }), Share::Whole(ordinals)) => {
                let missing = || Stop::Error(invalid(values.len(), ordinals.end));
                let own = values.get(ordinals.clone()).ok_or_else(missing)?;
                if *fiber == 1 {
                    self.bound = Bound::Values { start: ordinals.start };
                    return Ok(());
                }
                count *= fiber;
                repeat(own, *fiber, &mut self.scratch)?;
            }
            (Some(Opened::Stored { values, fill, .. }), Share::Picked { list }) => {
                let picked = block.picked.get(*list).map_or(&[][..], |picked| picked);
                let value = |&ordinal: &usize| values.get(ordinal).copied().unwrap_or(*fill);
                refill(&mut self.scratch, picked.iter().map(value))?;
            }
            (Some(Opened::Stored { values, fill, fiber }), Share::Placed { ordinals, slot }) => {
                let slots = block.placed(*slot, ordinals.len());
                let values = values.get(ordinals.start..).unwrap_or_default();
                // Among fibers there are no slots, only fill values.
                count *= fiber;
                resize(&mut self.scratch, count, *fill)?;
                dispatch(Place { values, slots, fill: *fill, out: &mut self.scratch });
            }
            (Some(Opened::Dense { map, fiber, step }), _) => {
                let plane = self.memory.slice().zip(map.plane());
                if let Some((slice, plane)) = plane.filter(|_| *fiber == 1) {
                    gather(slice, plane, block.positions, &mut self.scratch)?;
                    self.bound = Bound::Scratch { stride: count };
                    return Ok(());
                }
                let (group, first) = block.group.unwrap_or((block.positions, 0));
                let in_fibers = self.memory.slice().filter(|_| *fiber > 1 && *step == 1);
                if let Some(slice) = in_fibers {
                    if first == 0 {
                        self.addresses.clear();
                        try_reserve_exact(&mut self.addresses, group.len())?;
                        map.addresses_at(group, &mut self.addresses);
                    }
                    let own = self.addresses.get(first..).and_then(|own| own.get(..count));
                    fibers(slice, own.unwrap_or_default(), *fiber, &mut self.scratch)?;
                    self.bound = Bound::Scratch { stride: count * fiber };
                    return Ok(());
                }
                count *= fiber;
                self.addresses.clear();
                try_reserve_exact(&mut self.addresses, count)?;
                map.addresses_at(block.positions, &mut self.addresses);
                spread(&mut self.addresses, *fiber, *step);
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

/// Each value `fiber` times.
fn repeat<T: Copy>(values: &[T], fiber: usize, out: &mut Vec<T>) -> Result<()> {
    let Some(&first) = values.first() else { return Ok(()) };
    resize(out, values.len() * fiber, first)?;
    dispatch(Repeat { values, fiber, out });
    Ok(())
}

/// Fills fibers, each with its value, some neighbours at a time.
struct Repeat<'r, T> {
    values: &'r [T],
    fiber: usize,
    out: &'r mut [T],
}

impl<T: Copy> Kernel for Repeat<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (out, &value) in self.out.chunks_exact_mut(self.fiber).zip(self.values) {
            let (some, rest) = out.as_chunks_mut::<4>();
            some.iter_mut().for_each(|some| *some = [value; 4]);
            rest.iter_mut().for_each(|one| *one = value);
        }
    }
}

/// The elements of fibers that begin at `addresses`, whose elements are neighbours.
fn fibers<T: Copy>(
    slice: &[T],
    addresses: &[usize],
    fiber: usize,
    out: &mut Vec<T>,
) -> Result<(), Stop> {
    let &seed = slice.first().ok_or_else(|| beyond(0, 0))?;
    resize(out, addresses.len() * fiber, seed)?;
    let missing = dispatch(Fibers { slice, addresses, fiber, out });
    missing.map_or(Ok(()), |address| Err(beyond(address, slice.len())))
}

/// Copies fibers, some neighbours of all of them at a time: of one fiber after another each would be a call of the C
/// library.
struct Fibers<'f, T> {
    slice: &'f [T],
    addresses: &'f [usize],
    fiber: usize,
    out: &'f mut [T],
}

impl<T: Copy> Kernel for Fibers<'_, T> {
    /// An address that lies outside the slice, if there is one.
    type Out = Option<usize>;

    #[inline(always)]
    fn run(mut self) -> Option<usize> {
        let mut missing = None;
        let next = self.copy::<16>(0, &mut missing);
        let next = self.copy::<4>(next, &mut missing);
        self.copy::<1>(next, &mut missing);
        missing
    }
}

impl<T: Copy> Fibers<'_, T> {
    /// Copies from a neighbour on, `N` at a time. Returns the first that is left.
    #[inline(always)]
    fn copy<const N: usize>(&mut self, first: usize, missing: &mut Option<usize>) -> usize {
        let mut next = first;
        while next + N <= self.fiber {
            for (out, &address) in self.out.chunks_exact_mut(self.fiber).zip(self.addresses) {
                let start = address.saturating_add(next);
                let own = self.slice.get(start..).and_then(|rest| rest.first_chunk::<N>());
                match (out[next..].first_chunk_mut(), own) {
                    (Some(out), Some(own)) => *out = *own,
                    _ => *missing = Some(start.saturating_add(N - 1)),
                }
            }
            next += N;
        }
        next
    }
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
