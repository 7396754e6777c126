//! The stored entries of sparse tensors, in row-major order of any view.
//!
//! Entries run backwards through the stages of the map, the one next to storage first: addresses of a stage
//! become row-major positions, which are the addresses of the stage above. What is read for one stage are
//! entries and what is written are results; the view itself is not visited. Only where a stage repeats entries
//! more often than the view has elements, or these are very few beside the entries, they are looked up one by one instead.

mod decode;
mod order;
mod repeat;

use super::Tensor;
use crate::error::{Error, Result, SparseFlaw};
use crate::map::{AddressMap, Finder, Layout};
use crate::memory::{list, owned, push, try_reserve, try_with_capacity};
use crate::storage::{Reader, Sparse, Stored, sort_entries};
use std::borrow::Cow;
use std::ops::Range;

/// Entries to list, as often as they are repeated, for each place where one might be looked up instead, at the most: about
/// what it costs to look one up.
pub(crate) const LISTED: usize = 8;

/// Entries in ascending order of address or position.
pub(crate) struct Entries<'a, T: Copy> {
    pub(crate) positions: Cow<'a, [usize]>,
    pub(crate) values: Cow<'a, [T]>,
}

impl<S: Reader> Tensor<S> {
    /// The stored entries of this view: sparse storage whose addresses are row-major positions of the
    /// view, `None` if the storage is not sparse.
    ///
    /// Takes time and memory in proportion to the entries stored and found, however many elements the
    /// view has. Entries that the view does not reach are left out, repeated ones come several times. A view
    /// that picks among repeats which lie between others (a selection of a reshaped broadcast) takes time in
    /// proportion to those repeats or to its own elements, whichever is less.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the entries cannot be kept, [`Error::InvalidSparse`] if the storage
    /// gives fewer entries than it says.
    ///
    /// ```
    /// use lensor::{Tensor, storage::Duplicates};
    /// let indexes = [[0, 2], [1, 0]];
    /// let t = Tensor::from_coordinates([2, 3], 0, &indexes, vec![5, 6], Duplicates::Refuse)?;
    /// let flipped = t.view().transpose([1, 0])?.flip(0)?;
    /// let entries = flipped.stored_entries()?.unwrap();
    /// assert!(entries.iter().eq([(0, 5), (5, 6)])); // [0, 0] and [2, 1] of 3 x 2
    ///
    /// let huge = t.broadcast([1 << 30, 1 << 10, 2, 3])?.select((9, 9))?;
    /// assert_eq!(huge.stored_entries()?.unwrap().addresses(), [2, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn stored_entries(&self) -> Result<Option<Sparse<S::Elem>>> {
        let Some(stored) = self.storage().stored() else {
            return Ok(None);
        };
        let entries = entries_of(self.address_map(), stored)?;
        let (positions, values) = (owned(entries.positions)?, owned(entries.values)?);
        Ok(Some(Sparse::of_sorted(self.len(), stored.fill(), positions, values)))
    }
}

/// The stored entries that a map shows, by row-major position.
#[inline(never)]
pub(crate) fn entries_of<'a, T: Copy>(
    map: &AddressMap,
    stored: &'a dyn Stored<Elem = T>,
) -> Result<Entries<'a, T>> {
    inverse(map, read(stored, map.span())?)
}

/// The same at ascending positions alone, each of which is looked up, however often the map repeats entries.
#[inline(never)]
pub(crate) fn entries_at<'a, T: Copy>(
    map: &AddressMap,
    stored: &'a dyn Stored<Elem = T>,
    at: &[usize],
) -> Result<Entries<'a, T>> {
    let entries = read(stored, map.span())?;
    let mut addresses = try_with_capacity(at.len())?;
    map.addresses_at(at, &mut addresses);
    looked_up(&entries, at.iter().copied().zip(addresses))
}

/// Entries by address as entries by row-major position.
fn inverse<'a, T: Copy>(map: &AddressMap, mut entries: Entries<'a, T>) -> Result<Entries<'a, T>> {
    /// Entries that are passed over in the time in which an element is looked up among many.
    const PASSED: usize = 64;
    let stages: Vec<&Layout> = map.stages().collect();
    let look_up = |stages: &[&Layout], entries: &Entries<'_, T>| {
        let address = |at: usize| stages.iter().fold(at, |at, stage| stage.address_at(at));
        looked_up(entries, (0..map.count()).map(|position| (position, address(position))))
    };
    if map.count().saturating_mul(PASSED) < entries.positions.len() {
        return look_up(&stages, &entries);
    }
    for (k, stage) in stages.iter().enumerate().rev() {
        // Only what the stage above reads is of use.
        let window = if k == 0 { 0..map.count() } else { stages[k - 1].span() };
        let most = map.count().saturating_mul(LISTED).max(entries.positions.len());
        entries = match through(stage, &entries, window, most)? {
            Some(listed) => listed,
            None => return look_up(&stages[..=k], &entries),
        };
    }
    Ok(entries)
}

/// The entries at some positions, ascending, each of which is looked up at its address.
fn looked_up<'a, T: Copy>(
    entries: &Entries<'_, T>,
    at: impl ExactSizeIterator<Item = (usize, usize)>,
) -> Result<Entries<'a, T>> {
    // All may be found: what has no room is refused before it is begun.
    let (mut positions, mut values) = (try_with_capacity(at.len())?, try_with_capacity(at.len())?);
    for (position, address) in at {
        if let Ok(ordinal) = entries.positions.binary_search(&address) {
            positions.push(position);
            values.extend(entries.values.get(ordinal));
        }
    }
    Ok(Entries { positions: Cow::Owned(positions), values: Cow::Owned(values) })
}

/// Ordinals, ascending, of the entries that a map reaches, of which none comes twice.
pub(crate) fn reached(map: &AddressMap, addresses: &[usize]) -> Result<Vec<usize>> {
    let (positions, values) = (Cow::Borrowed(addresses), Cow::Owned(list(0..addresses.len())?));
    let mut ordinals = owned(inverse(map, Entries { positions, values })?.values)?;
    ordinals.sort_unstable();
    ordinals.dedup();
    Ok(ordinals)
}

/// The entries with addresses in `span`.
#[inline(never)]
pub(crate) fn read<'a, T: Copy>(
    stored: &'a dyn Stored<Elem = T>,
    span: Range<usize>,
) -> Result<Entries<'a, T>> {
    if let Some((addresses, values)) = stored.as_slices() {
        let start = addresses.partition_point(|&address| address < span.start);
        let count = addresses[start..].partition_point(|&address| address < span.end);
        let found = addresses.get(start..start + count).zip(values.get(start..start + count));
        let (positions, values) = found.unwrap_or_default();
        return Ok(Entries { positions: Cow::Borrowed(positions), values: Cow::Borrowed(values) });
    }
    let first = stored.rank(span.start);
    let count = if span.is_empty() { 0 } else { stored.rank(span.end).saturating_sub(first) };
    let (mut positions, mut values) = (try_with_capacity(count)?, try_with_capacity(count)?);
    positions.resize(count, 0);
    values.resize(count, stored.fill());
    let found = stored.entries(first, &mut positions, &mut values);
    if found != count {
        let what = SparseFlaw::Counts { addresses: count, values: found };
        return Err(Error::InvalidSparse { at: first.saturating_add(found), what });
    }
    Ok(Entries { positions: Cow::Owned(positions), values: Cow::Owned(values) })
}

/// Entries by address of a stage as entries by row-major position of it, those of `window` at least; `None` if
/// they are more than `most`.
fn through<'a, T: Copy>(
    stage: &Layout,
    entries: &Entries<'a, T>,
    window: Range<usize>,
    most: usize,
) -> Result<Option<Entries<'a, T>>> {
    if entries.positions.is_empty() || stage.count() == 0 || window.is_empty() {
        return Ok(Some(Entries { positions: Cow::Borrowed(&[]), values: Cow::Borrowed(&[]) }));
    }
    if stage.is_contiguous() {
        return shifted(entries, stage.offset(), stage.count()).map(Some);
    }
    let stage = stage.coalesced();
    let Some(nested) = stage.nested()? else {
        return searched(&stage, entries, most);
    };
    let ways = order::ways(&nested, &entries.positions);
    if ways > most {
        return Ok(None);
    }
    let (mut positions, mut values) = order::ordered(&nested, &stage.shape(), entries, ways)?;
    for (k, &repeat) in nested.repeats.iter().enumerate() {
        // What later repeats can still add to a position.
        let later = nested.repeats.get(k + 1).map_or(0, |next| next.block);
        if !repeat::repeat(repeat, later, &window, most, &mut positions, &mut values)? {
            return Ok(None);
        }
    }
    Ok(Some(Entries { positions: Cow::Owned(positions), values: Cow::Owned(values) }))
}

/// Entries of the addresses `offset..offset + count`, from 0 on.
fn shifted<'a, T: Copy>(
    entries: &Entries<'a, T>,
    offset: usize,
    count: usize,
) -> Result<Entries<'a, T>> {
    let positions = &*entries.positions;
    let start = positions.partition_point(|&address| address < offset);
    let end =
        start + positions[start..].partition_point(|&address| address.wrapping_sub(offset) < count);
    let values = match &entries.values {
        Cow::Borrowed(values) => Cow::Borrowed(&values[start..end]),
        Cow::Owned(values) => Cow::Owned(list(values[start..end].iter().copied())?),
    };
    let positions = match &entries.positions {
        Cow::Borrowed(positions) if offset == 0 => Cow::Borrowed(&positions[start..end]),
        _ => {
            let moved = positions[start..end].iter().map(|address| address.wrapping_sub(offset));
            Cow::Owned(list(moved)?)
        }
    };
    Ok(Entries { positions, values })
}

/// The general way, where an address may be reached by several sums: one entry after another; `None` if more
/// than `most` are found.
fn searched<'a, T: Copy>(
    stage: &Layout,
    entries: &Entries<'_, T>,
    most: usize,
) -> Result<Option<Entries<'a, T>>> {
    let (finder, shape) = (Finder::new(stage)?, stage.shape());
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    for (&address, &value) in entries.positions.iter().zip(&*entries.values) {
        let before = positions.len();
        let mut pushed = Ok(());
        let all = finder.visit(address, &mut |index| {
            pushed = push(&mut positions, shape.ravel(index));
            (pushed.is_ok() && positions.len() <= most).then_some(())
        });
        pushed?;
        if all.is_none() && positions.len() <= most {
            // Hard to find: in order, which takes longer for each.
            positions.truncate(before);
            for index in AddressMap::from(stage.clone())
                .to_global(address)
                .take(most.saturating_add(1) - before)
            {
                push(&mut positions, shape.ravel(&index))?;
            }
        }
        if positions.len() > most {
            return Ok(None);
        }
        try_reserve(&mut values, positions.len() - before)?;
        values.resize(positions.len(), value);
    }
    sort_entries(&mut positions, &mut values)?;
    Ok(Some(Entries { positions: Cow::Owned(positions), values: Cow::Owned(values) }))
}
