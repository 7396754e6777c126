//! Leaves of sparse evaluations.

use super::cursor::{Block, Positions, StoredCursor, StoredLeaf};
use crate::error::{Error, SparseFlaw};
use crate::expr::Stop;
use crate::expr::leaf::{Bound, LeafCursor};
use crate::kernel::prefetch;
use crate::map::AddressMap;
use crate::tensor::stored::entries_of;
use std::borrow::Cow;
use std::sync::Arc;

/// What a leaf is in a sparse evaluation.
#[derive(Clone)]
pub(in crate::expr) enum Opened<'a, T: Copy> {
    /// Stored values, and one value for everything else.
    Stored { values: Arc<Cow<'a, [T]>>, fill: T },
    /// Elements of any other storage, by the map that finds them.
    Dense(Arc<AddressMap>),
}

impl<'a, T: Copy + Send + Sync> StoredCursor<'a> for LeafCursor<'a, T> {
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        visit(self);
    }

    fn take_values(&mut self) -> Result<Vec<T>, Stop> {
        match self.opened.take() {
            Some(Opened::Stored { values, .. }) => {
                let values = Arc::try_unwrap(values);
                Ok(super::owned(values.unwrap_or_else(|shared| Cow::Owned(shared.to_vec())))?)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn fork(&self) -> Self {
        Self {
            storage: self.storage,
            slice: self.slice,
            bound: Bound::Scratch { stride: 0 },
            scratch: Vec::new(),
            addresses: Vec::new(),
            opened: self.opened.clone(),
        }
    }
}

impl<'a, T: Copy + Send + Sync> StoredLeaf<'a> for LeafCursor<'a, T> {
    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        let map = &maps[lists.len()];
        let (positions, opened) = match self.storage.stored() {
            Some(stored) if self.slice.is_none() => {
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

    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        let leaf = *next;
        *next += 1;
        let (share, count) = (&block.shares[leaf], block.positions.len());
        match &self.opened {
            Some(Opened::Stored { values, .. }) if share.whole => {
                let missing = || Stop::Error(invalid(values.len(), share.ordinals.end));
                values.get(share.ordinals.clone()).ok_or_else(missing)?;
                self.bound = Bound::Values { start: share.ordinals.start };
                return Ok(());
            }
            Some(Opened::Stored { values, fill }) if !share.picked.is_empty() => {
                let value = |&ordinal: &usize| values.get(ordinal).copied().unwrap_or(*fill);
                self.scratch.clear();
                self.scratch.extend(share.picked.iter().map(value));
            }
            Some(Opened::Stored { values, fill }) => {
                // What the next blocks will read.
                let ahead = share.ordinals.len();
                prefetch(values, share.ordinals.end.wrapping_add(ahead), ahead);
                self.scratch.clear();
                self.scratch.resize(count, *fill);
                let scratch = &mut self.scratch[..];
                let values = values.get(share.ordinals.clone()).unwrap_or_default();
                for (&slot, &value) in share.slots.iter().zip(values) {
                    if let Some(place) = scratch.get_mut(usize::from(slot)) {
                        *place = value;
                    }
                }
            }
            Some(Opened::Dense(map))
                if self.slice.is_some_and(|slice| {
                    gather_rows(slice, map, block.positions, &mut self.scratch)
                }) => {}
            Some(Opened::Dense(map)) => {
                self.addresses.clear();
                map.addresses_at(block.positions, &mut self.addresses);
                let (Some(&first), storage) = (self.addresses.first(), self.storage) else {
                    return Ok(());
                };
                let failed = |source| Stop::Storage { leaf: leaf + 1, source };
                match self.slice {
                    Some(slice) => {
                        let highest = self.addresses.iter().fold(0, |high, &a| high.max(a));
                        if highest >= slice.len() {
                            return Err(beyond(highest, slice.len()));
                        }
                        self.scratch.clear();
                        self.scratch.extend(self.addresses.iter().map(|&address| slice[address]));
                    }
                    None => {
                        let seed = storage.try_read(first).map_err(failed)?;
                        self.scratch.clear();
                        self.scratch.resize(count, seed);
                        storage.read_at(&self.addresses, &mut self.scratch).map_err(failed)?;
                    }
                }
            }
            None => {}
        }
        self.bound = Bound::Scratch { stride: count };
        Ok(())
    }
}

/// Fewest positions of a row, on average, for which it is looked up.
const PER_ROW: usize = 8;

/// Reads the elements at ascending positions row by row. Tells whether it did: it does not if rows have few
/// positions or are no runs of addresses.
fn gather_rows<T: Copy>(
    slice: &[T],
    map: &AddressMap,
    positions: &[usize],
    out: &mut Vec<T>,
) -> bool {
    let (Some(&low), Some(&high)) = (positions.first(), positions.last()) else { return false };
    let Some((row, _)) = map.row_of(low) else { return false };
    // Storage that lies about its entries may give them in any order.
    let Some(distance) = high.checked_sub(low) else { return false };
    if distance / row.len() >= positions.len() / PER_ROW {
        return false;
    }
    out.clear();
    let mut rest = positions;
    while let Some(&next) = rest.first() {
        let Some((row, first)) = map.row_of(next) else { return false };
        let Some(elements) = slice.get(first..).and_then(|rest| rest.get(..row.len())) else {
            return false;
        };
        let count = rest.iter().take_while(|position| **position < row.end).count();
        if count == 0 {
            return false;
        }
        let (own, later) = rest.split_at(count);
        for position in own {
            let Some(&element) = elements.get(position.wrapping_sub(row.start)) else {
                return false;
            };
            out.push(element);
        }
        rest = later;
    }
    true
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
