//! Assignment to sparse storage: entries are merged, and elements without one are not visited.

use super::{evaluate, stored_count};
use crate::error::{Error, Result};
use crate::expr::boxed::borrowed;
use crate::expr::node::Node;
use crate::expr::{Boxes, Expr, Lazy, boxes_of, moved, selectors};
use crate::map::AddressMap;
use crate::memory::{
    default_of_fields, list, push, resize, try_reserve, try_reserve_exact, try_with_capacity,
};
use crate::shape::{Align, Shape};
use crate::storage::{Reader, StoredMut, Writer, sort_entries};
use crate::tensor::stored::{reached, read};
use itertools::Itertools;
use std::ops::Range;

/// Assigns `e`, which [`check_copies`](super::check_copies) does not refuse, to a view of sparse storage; `None` if the
/// storage is not sparse.
///
/// The entries of the view give way to those of `e` that differ from the fill value of the storage. A
/// sparse source of another fill value would make an entry of every element: it may do so if it stores
/// nothing else, and if the view is the whole storage that takes over the fill value instead.
#[inline(never)]
pub(in crate::expr) fn assign_entries<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    writer: &mut dyn Writer<Elem = T>,
) -> Option<Result<()>> {
    let len = writer.len();
    let storage = writer.stored_mut()?;
    if let (stored, true) = stored_count(e) {
        let whole = map.count() == len && storage.owns_fill();
        return Some(sparse(e, shape, map, storage, stored, whole));
    }
    let mut source = borrowed(e);
    let stretched = source.rewrite(&mut |map| map.stretched(shape, Align::Right));
    let done = stretched.and_then(|()| {
        assign_dense(map, writer, boxes_of(&source, shape, AT_ONCE)?, &|_, ranges| {
            let part = Lazy(source.by_ref()).select(selectors(ranges))?.eval();
            Ok(part.map_err(|error| moved(error, ranges))?.into_storage())
        })
    });
    done.map(|done| done.then_some(())).transpose()
}

/// Computes a box of what is assigned to a storage, in row-major order.
type Part<'p, W> = &'p dyn Fn(&W, &[Range<usize>]) -> Result<Vec<<W as Reader>::Elem>>;

/// Elements on their way to a view of sparse storage, box by box: its entries are replaced once, at the end.
#[derive(Debug)]
pub(crate) struct Gathered<T> {
    addresses: Vec<usize>,
    values: Vec<T>,
}

default_of_fields!(Gathered<T> { addresses, values });

impl<T: Copy> Gathered<T> {
    /// Keeps those of the elements, in row-major order, of a part of the view that are not the fill value. Tells whether
    /// the storage is sparse.
    pub(crate) fn add<W: Writer<Elem = T> + ?Sized>(
        &mut self,
        part: &AddressMap,
        writer: &mut W,
        elements: &[T],
    ) -> Result<bool> {
        let Some(storage) = writer.stored_mut() else { return Ok(false) };
        let mut positions = Vec::new();
        for (position, &value) in elements.iter().enumerate() {
            if !storage.is_fill(value) {
                push(&mut positions, position)?;
                push(&mut self.values, value)?;
            }
        }
        try_reserve(&mut self.addresses, positions.len())?;
        part.addresses_at(&positions, &mut self.addresses);
        Ok(true)
    }

    /// Replaces the entries of the view, whose elements were all added. Tells whether the storage is sparse.
    pub(crate) fn replace<W: Writer<Elem = T> + ?Sized>(
        mut self,
        map: &AddressMap,
        writer: &mut W,
    ) -> Result<bool> {
        let Some(storage) = writer.stored_mut() else { return Ok(false) };
        sort_entries(&mut self.addresses, &mut self.values)?;
        replace(map, storage, self.addresses, self.values).map(|()| true)
    }
}

/// Replaces the entries of a view of sparse storage by the elements of a source that are not the fill value: `part` computes
/// each of these boxes of them. Tells whether the storage is sparse.
pub(crate) fn assign_dense<W: Writer + ?Sized>(
    map: &AddressMap,
    writer: &mut W,
    boxes: Boxes,
    part: Part<'_, W>,
) -> Result<bool> {
    let mut gathered = Gathered::default();
    for ranges in boxes {
        let elements = part(writer, &ranges)?;
        let own = map.clone().select(selectors(&ranges))?;
        if !gathered.add(&own, writer, &elements)? {
            return Ok(false);
        }
    }
    gathered.replace(map, writer)
}

/// Elements of a source that are computed at once, or more of storage in blocks.
pub(in crate::expr) const AT_ONCE: usize = 1 << 16;

/// A source that is known by its entries and its fill value.
fn sparse<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    storage: &mut dyn StoredMut<Elem = T>,
    stored: usize,
    whole: bool,
) -> Result<()> {
    let count = map.count();
    let (_, fill, mut positions, mut values) = evaluate(e, shape, count)?.into_parts();
    if !storage.is_fill(fill) && positions.len() < count {
        if whole {
            storage.set_fill(fill)?;
        } else if stored > 0 {
            return Err(Error::WouldDensify { stored, dense: count });
        } else {
            positions = list(0..count)?;
            values.clear();
            resize(&mut values, count, fill)?;
        }
    }
    let mut addresses = try_with_capacity(positions.len())?;
    map.addresses_at(&positions, &mut addresses);
    let mut kept = 0;
    for k in 0..values.len() {
        (addresses[kept], values[kept]) = (addresses[k], values[k]);
        kept += usize::from(!storage.is_fill(values[k]));
    }
    addresses.truncate(kept);
    values.truncate(kept);
    sort_entries(&mut addresses, &mut values)?;
    replace(map, storage, addresses, values)
}

/// Puts entries in ascending order of address in the place of those that the map reaches.
fn replace<T: Copy>(
    map: &AddressMap,
    storage: &mut dyn StoredMut<Elem = T>,
    addresses: Vec<usize>,
    values: Vec<T>,
) -> Result<()> {
    let span = map.span();
    let first = storage.rank(span.start);
    let (mut all_addresses, mut all_values) = (Vec::new(), Vec::new());
    let old_count = {
        let old = read(&*storage, span)?;
        let reached = reached(map, &old.positions)?;
        let kept = old.positions.len() - reached.len().min(old.positions.len());
        try_reserve_exact(&mut all_addresses, kept + addresses.len())?;
        try_reserve_exact(&mut all_values, kept + addresses.len())?;
        let mut reached = reached.into_iter().peekable();
        let entries = old.positions.iter().zip(&*old.values).enumerate();
        let kept = entries.filter(|(ordinal, _)| reached.next_if_eq(ordinal).is_none());
        let new = addresses.iter().zip(&values);
        let all = kept.map(|(_, entry)| entry).merge_by(new, |(old, _), (new, _)| old <= new);
        // Without a call for each, as in a loop over them.
        all.for_each(|(&address, &value)| {
            all_addresses.push(address);
            all_values.push(value);
        });
        old.positions.len()
    };
    storage.splice(first..first.saturating_add(old_count), all_addresses, all_values)
}
