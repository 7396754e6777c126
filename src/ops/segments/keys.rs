//! Elements that belong together by keys.

use crate::error::{Error, Result};
use crate::memory::{list, refill, resize, sort_by, try_reserve, try_with_capacity, zeros};
use std::borrow::Cow;

/// Most keys that are looked up one by one.
const FEW_KINDS: usize = 1024;

/// The keys that occur, ascending, and which of them each key is.
type Kinds<K> = (Vec<K>, Vec<usize>);

/// [`Kinds`] of keys of any type.
pub(super) fn kinds<K: Ord + Clone>(keys: &[K]) -> Result<Kinds<K>> {
    match few_kinds(keys)? {
        Some(kinds) => Ok(kinds),
        None => sorted_kinds(keys),
    }
}

/// Those of keys of at most [`FEW_KINDS`], each of which is looked up among the ones before.
fn few_kinds<K: Ord + Clone>(keys: &[K]) -> Result<Option<Kinds<K>>> {
    // In the order of the keys, with their numbers in the order of appearance.
    let mut kinds: Vec<(K, usize)> = Vec::new();
    let mut numbers = try_with_capacity(keys.len())?;
    for key in keys {
        let number = match kinds.binary_search_by(|(kind, _)| kind.cmp(key)) {
            Ok(at) => kinds[at].1,
            Err(_) if kinds.len() == FEW_KINDS => return Ok(None),
            Err(at) => {
                let number = kinds.len();
                try_reserve(&mut kinds, 1)?;
                kinds.insert(at, (key.clone(), number));
                number
            }
        };
        numbers.push(number);
    }
    let mut places: Vec<usize> = zeros(kinds.len())?;
    kinds.iter().enumerate().for_each(|(place, (_, number))| places[*number] = place);
    numbers.iter_mut().for_each(|number| *number = places[*number]);
    Ok(Some((list(kinds.into_iter().map(|(kind, _)| kind))?, numbers)))
}

/// Those of any keys, which are sorted.
fn sorted_kinds<K: Ord + Clone>(keys: &[K]) -> Result<Kinds<K>> {
    let mut order = list(0..keys.len())?;
    sort_by(&mut order, &mut Vec::new(), |&a, &b| keys[a].cmp(&keys[b]))?;
    let kinds = || order.chunk_by(|&a, &b| keys[a].cmp(&keys[b]).is_eq());
    let (mut found, mut numbers) = (try_with_capacity(kinds().count())?, zeros(keys.len())?);
    for (number, kind) in kinds().enumerate() {
        found.extend(kind.first().map(|&first| keys[first].clone()));
        kind.iter().for_each(|&k| numbers[k] = number);
    }
    Ok((found, numbers))
}

/// Where each group begins if elements with the same key lie one after another.
pub(super) fn offsets_of(
    keys: &[usize],
    groups: usize,
    axis: usize,
    extent: usize,
) -> Result<Vec<usize>> {
    if keys.len() != extent {
        return Err(Error::ListLength { what: "keys", axis, extent, found: keys.len() });
    }
    let mut offsets: Vec<usize> = zeros(groups.saturating_add(1))?;
    let counts = &mut offsets[..groups];
    for (at, &key) in keys.iter().enumerate() {
        *counts.get_mut(key).ok_or(Error::Key { at, key, groups })? += 1;
    }
    let mut start = 0;
    for offset in &mut offsets {
        start += std::mem::replace(offset, start);
    }
    Ok(offsets)
}

/// The elements of lanes with a key each, those of one key one after another: a sort by counting, in place if they are
/// owned.
pub(super) fn in_order<T: Copy>(
    elements: Cow<'_, [T]>,
    keys: &[usize],
    offsets: &[usize],
) -> Result<Vec<T>> {
    let Some(&first) = elements.first() else { return Ok(Vec::new()) };
    let mut next: Vec<usize> = zeros(offsets.len())?;
    let mut put = |lane: &[T], ordered: &mut [T]| {
        next.copy_from_slice(offsets);
        put_in_order(lane.iter().copied(), keys, &mut next, ordered);
    };
    let mut ordered = Vec::new();
    match elements {
        Cow::Owned(mut elements) => {
            for lane in elements.chunks_exact_mut(keys.len()) {
                refill(&mut ordered, lane.iter().copied())?;
                put(&ordered, lane);
            }
            Ok(elements)
        }
        Cow::Borrowed(elements) => {
            resize(&mut ordered, elements.len(), first)?;
            let lanes = elements.chunks_exact(keys.len()).zip(ordered.chunks_exact_mut(keys.len()));
            lanes.for_each(|(lane, ordered)| put(lane, ordered));
            Ok(ordered)
        }
    }
}

/// Which elements of a lane are put where [`in_order`] puts them.
pub(super) fn order(keys: &[usize], offsets: &[usize]) -> Result<Vec<usize>> {
    let (mut next, mut order) = (list(offsets.iter().copied())?, zeros(keys.len())?);
    put_in_order(0..keys.len(), keys, &mut next, &mut order);
    Ok(order)
}

/// Puts the elements of a lane in order; `next` is where the next element of each key goes.
fn put_in_order<T>(
    lane: impl Iterator<Item = T>,
    keys: &[usize],
    next: &mut [usize],
    ordered: &mut [T],
) {
    for (x, &key) in lane.zip(keys) {
        ordered[next[key]] = x;
        next[key] += 1;
    }
}
