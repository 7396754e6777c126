//! Sorting lanes and their positions.

use super::SortOrder;
use super::radix::{Algorithm, Spare};
use crate::dtype::{Radix, SortKey, Sortable};
use crate::error::Result;
use crate::kernel::inner::map_all;
use crate::memory::reserve;
use std::cmp::Ordering;
use std::fmt;

/// Lanes up to this length are sorted as they are, without keys in memory.
const TINY: usize = 8;

/// Memory to sort keys with.
#[derive(Debug)]
pub(super) struct Keys<K> {
    pub(super) keys: Vec<K>,
    spare: Spare<K>,
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), spare: Spare::default() }
    }
}

/// How a lane is sorted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Method {
    /// As it is, by comparisons that keep the order of equal elements.
    Plain,
    /// By the keys of its elements, or by pairs of these and positions.
    Keys { bytes: usize, pairs: bool, algorithm: Algorithm },
}

impl Method {
    /// For `len` elements by their keys.
    #[inline(always)]
    pub(super) fn by_keys<K: SortKey>(len: usize) -> Self {
        if len <= TINY {
            return Self::Plain;
        }
        Self::Keys { bytes: K::BYTES, pairs: false, algorithm: Algorithm::of::<K>(len, K::BYTES) }
    }

    /// For the positions of `len` elements by their keys.
    #[inline(always)]
    pub(super) fn by_pairs<K: SortKey>(len: usize) -> Self {
        // Positions take 32 bits beside keys of as many.
        let fits = K::POSITION_BYTES == 8 || u32::try_from(len).is_ok();
        if len <= TINY || !fits {
            return Self::Plain;
        }
        let algorithm = Algorithm::of::<K::Pair>(len, K::BYTES);
        Self::Keys { bytes: K::BYTES, pairs: true, algorithm }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Keys { bytes, pairs, algorithm } = self else {
            return f.write_str("sorted as it is, by comparisons");
        };
        let with = if *pairs { " with positions" } else { "" };
        write!(f, "sorted by {bytes}-byte keys{with}, {algorithm}")
    }
}

/// The elements of `lane` in `order`.
pub(super) fn sort_lane<T: Sortable>(
    Keys { keys, spare }: &mut Keys<T::Key>,
    lane: &[T],
    out: &mut [T],
    order: SortOrder,
) -> Result<()> {
    let descending = order.is_descending();
    let Method::Keys { algorithm, .. } = Method::by_keys::<T::Key>(lane.len()) else {
        out.copy_from_slice(lane);
        out.sort_by_key(|x| x.key(descending));
        return Ok(());
    };
    resize(keys, lane.len())?;
    let own_keys = map_all(lane, keys, |_, x: T| (x.key(descending), x.is_own_key()));
    algorithm.sort(keys, spare, 0..T::Key::BYTES)?;
    map_all(keys, out, |_, key| (T::from_key(key, descending), true));
    if !own_keys {
        restore(lane, keys, out, descending);
    }
    Ok(())
}

/// Puts the elements that share a key with others back, in the order in which they came.
#[cold]
fn restore<T: Sortable>(lane: &[T], sorted: &[T::Key], out: &mut [T], descending: bool) {
    for shared in T::SHARED {
        let key = shared.key(descending);
        let start = sorted.partition_point(|&other| other < key);
        let own = lane.iter().filter(|x| x.key(descending) == key);
        out[start..].iter_mut().zip(own).for_each(|(slot, &x)| *slot = x);
    }
}

/// Memory to sort keys with their positions. Positions take 32 bits where keys do.
pub(super) type Pairs<K> = Keys<<K as SortKey>::Pair>;

/// The keys of a lane with their positions, sorted.
fn sort_pairs<T: Copy, K: SortKey>(
    Keys { keys: pairs, spare }: &mut Pairs<K>,
    algorithm: Algorithm,
    lane: &[T],
    key: impl Fn(T) -> K,
) -> Result<()> {
    resize(pairs, lane.len())?;
    map_all(lane, pairs, |position, x| (key(x).pair(position), true));
    algorithm.sort(pairs, spare, K::POSITION_BYTES..K::POSITION_BYTES + K::BYTES)
}

/// The positions of the elements of `lane` in order of their keys.
pub(super) fn argsort_lane<T: Copy, K: SortKey>(
    scratch: &mut Pairs<K>,
    lane: &[T],
    out: &mut [usize],
    key: impl Fn(T) -> K,
) -> Result<()> {
    let Method::Keys { algorithm, .. } = Method::by_pairs::<K>(lane.len()) else {
        argsort_lane_by(lane, out, |&a, &b| key(a).cmp(&key(b)));
        return Ok(());
    };
    sort_pairs(scratch, algorithm, lane, key)?;
    map_all(&scratch.keys, out, |_, pair| (K::position(pair), true));
    Ok(())
}

/// The positions of the elements of `lane` in order of a comparison.
pub(super) fn argsort_lane_by<T>(
    lane: &[T],
    out: &mut [usize],
    compare: impl Fn(&T, &T) -> Ordering,
) {
    out.iter_mut().enumerate().for_each(|(position, slot)| *slot = position);
    out.sort_by(|&a, &b| compare(&lane[a], &lane[b]));
}

/// The elements of `lane` in order of their keys.
pub(super) fn sort_lane_by_key<T: Copy, K: SortKey>(
    scratch: &mut Pairs<K>,
    lane: &[T],
    out: &mut [T],
    key: impl Fn(T) -> K,
) -> Result<()> {
    let Method::Keys { algorithm, .. } = Method::by_pairs::<K>(lane.len()) else {
        out.copy_from_slice(lane);
        out.sort_by_key(|&x| key(x));
        return Ok(());
    };
    sort_pairs(scratch, algorithm, lane, key)?;
    for (slot, &pair) in out.iter_mut().zip(&scratch.keys) {
        *slot = lane[K::position(pair)];
    }
    Ok(())
}

/// Makes a vector `len` long, whatever it then holds.
fn resize<T: Copy + Default>(vec: &mut Vec<T>, len: usize) -> Result<()> {
    if vec.len() < len {
        let more = len - vec.len();
        reserve(vec, more)?;
    }
    vec.resize(len, T::default());
    Ok(())
}

/// Replaces the elements of a vector.
pub(super) fn refill<T>(vec: &mut Vec<T>, items: impl ExactSizeIterator<Item = T>) -> Result<()> {
    vec.clear();
    reserve(vec, items.len())?;
    vec.extend(items);
    Ok(())
}
