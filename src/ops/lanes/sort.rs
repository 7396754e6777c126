//! Sorting lanes and their positions.

use super::SortOrder;
use super::operand::Batch;
use super::radix::{Algorithm, Spare};
use crate::dtype::{Radix, SortKey, Sortable};
use crate::error::Result;
use crate::kernel::{self, inner::map_all};
use crate::memory::{make_room, sort_by};
use std::cmp::Ordering;
use std::fmt;

/// Lanes up to this length are sorted as they are, without keys in memory, if no network sorts them.
const TINY: usize = 8;
/// Lanes up to this length, and from this number on, are sorted for some of their elements if a network sorts them.
const WHOLE: usize = 16;
const MANY: usize = 4;

/// Memory to sort keys with.
#[derive(Debug, Default)]
pub struct Keys<K> {
    /// Of the lanes that are sorted together, and what it takes to sort them beside.
    keys: Vec<K>,
    spare: Spare<K>,
}

impl<K: Radix> Keys<K> {
    /// The keys of at most `together` lanes, sorted lane by lane, and whether each is that of one element alone.
    #[inline(always)]
    pub(super) fn sorted<T: Sortable<Key = K>>(
        &mut self,
        lanes: Batch<'_, T>,
        algorithm: Algorithm,
        together: usize,
        descending: bool,
    ) -> Result<(&[K], bool)> {
        let Self { keys, spare } = self;
        let len = lanes.length();
        let parts = algorithm.parts(len, K::BYTES, lanes.alone);
        make_room(keys, algorithm.room(len, together, parts))?;
        let key = move |_, x: T| (x.key(descending), x.is_own_key());
        let own_keys =
            for_slices(lanes, |start, elements| map_all(elements, &mut keys[start..], parts, key))?;
        algorithm.sort(keys, len, [together, parts], spare, 0..K::BYTES)?;
        Ok((keys, own_keys))
    }
}

/// How a lane is sorted.
#[derive(Debug, Clone, Copy)]
pub(super) enum SortMethod {
    /// As it is, by comparisons that keep the order of equal elements.
    Plain,
    /// By the keys of its elements, or by pairs of these and positions.
    Keys { bytes: usize, pairs: bool, algorithm: Algorithm },
}

impl SortMethod {
    /// For lanes of `len` elements by their keys.
    #[inline(always)]
    pub(super) fn by_keys<K: SortKey>(len: usize, lanes: usize) -> Self {
        let algorithm = Algorithm::of::<K>(len, K::BYTES, lanes);
        if is_plain(len, algorithm) {
            return Self::Plain;
        }
        Self::Keys { bytes: K::BYTES, pairs: false, algorithm }
    }

    /// For the positions of lanes of `len` elements by their keys.
    #[inline(always)]
    pub(super) fn by_pairs<K: SortKey>(len: usize, lanes: usize) -> Self {
        // Positions take 32 bits beside keys of as many.
        let fits = K::POSITION_BYTES == 8 || u32::try_from(len).is_ok();
        let algorithm = Algorithm::of::<K::Pair>(len, K::BYTES, lanes);
        if is_plain(len, algorithm) || !fits {
            return Self::Plain;
        }
        Self::Keys { bytes: K::BYTES, pairs: true, algorithm }
    }

    /// How many threads share in each of so many lanes of `len` elements.
    pub(super) fn threads(self, len: usize, lanes: usize) -> usize {
        match self {
            Self::Plain => 1,
            Self::Keys { algorithm, bytes, .. } => {
                algorithm.parts(len, bytes, lanes == 1).min(kernel::threads())
            }
        }
    }
}

impl fmt::Display for SortMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Keys { bytes, pairs, algorithm } = self else {
            return f.write_str("sorted as it is, by comparisons");
        };
        let with = if *pairs { " with positions" } else { "" };
        write!(f, "sorted by {bytes}-byte keys{with}, {algorithm}")
    }
}

/// How many of `lanes` lanes of `len` elements are sorted at once by their keys.
pub(super) fn keys_together<T: Sortable>(len: usize, lanes: usize) -> usize {
    match SortMethod::by_keys::<T::Key>(len, lanes) {
        SortMethod::Plain => 1,
        SortMethod::Keys { algorithm, .. } => algorithm.together::<T::Key>(lanes),
    }
}

/// What sorts lanes so short that several together are sorted sooner than any element of one is selected.
pub(super) fn sorted_whole<T: Sortable>(len: usize, lanes: usize) -> Option<Algorithm> {
    match SortMethod::by_keys::<T::Key>(len, lanes) {
        SortMethod::Keys { algorithm: Algorithm::Network, .. } if len <= WHOLE && lanes >= MANY => {
            Some(Algorithm::Network)
        }
        _ => None,
    }
}

/// Whether keys of lanes would cost more than they save.
#[inline(always)]
fn is_plain(len: usize, algorithm: Algorithm) -> bool {
    len <= 1 || len <= TINY && algorithm != Algorithm::Network
}

/// The elements of some lanes in `order`.
pub(super) fn sort_lanes<T: Sortable>(
    memory: &mut Keys<T::Key>,
    lanes: Batch<'_, T>,
    out: &mut [T],
    order: SortOrder,
) -> Result<()> {
    let (len, descending) = (lanes.length(), order.is_descending());
    let SortMethod::Keys { algorithm, .. } = SortMethod::by_keys::<T::Key>(len, lanes.count) else {
        return lanes.for_each(out, |lane, _, out| {
            out.copy_from_slice(lane);
            sort_by(out, &mut Vec::new(), |a, b| a.key(descending).cmp(&b.key(descending)))
        });
    };
    let together = algorithm.together::<T::Key>(lanes.count);
    for (lanes, out) in lanes.parts(together).zip(out.chunks_mut(together * len)) {
        let (keys, own_keys) = memory.sorted(lanes, algorithm, together, descending)?;
        let parts = algorithm.parts(len, T::Key::BYTES, lanes.alone);
        let element = move |_, key| (T::from_key(key, descending), true);
        map_all(&keys[..out.len()], out, parts, element);
        if !own_keys {
            for (k, (keys, out)) in keys.chunks(len).zip(out.chunks_exact_mut(len)).enumerate() {
                restore(lanes.lane(k)?, keys, out, descending);
            }
        }
    }
    Ok(())
}

/// Calls `f` with slices that hold all lanes, and how many elements come before them; returns whether it always was
/// true.
#[inline(always)]
fn for_slices<T: Copy>(
    lanes: Batch<'_, T>,
    mut f: impl FnMut(usize, &[T]) -> bool,
) -> Result<bool> {
    if let Some(elements) = lanes.together() {
        return Ok(f(0, elements));
    }
    (0..lanes.count).try_fold(true, |all, k| Ok(all & f(k * lanes.length(), lanes.lane(k)?)))
}

/// Puts the elements that share a key with others back, in the order in which they came, as far as `out` has slots.
#[cold]
pub(super) fn restore<T: Sortable>(lane: &[T], sorted: &[T::Key], out: &mut [T], descending: bool) {
    for shared in T::SHARED {
        let key = shared.key(descending);
        let start = sorted.partition_point(|&other| other < key).min(out.len());
        let own = lane.iter().filter(|x| x.key(descending) == key);
        out[start..].iter_mut().zip(own).for_each(|(slot, &x)| *slot = x);
    }
}

/// Memory to sort keys with their positions. Positions take 32 bits where keys do.
pub(crate) type Pairs<K> = Keys<<K as SortKey>::Pair>;

/// Sorts the keys of some lanes with their positions. `write` makes results of lanes and their sorted pairs, in so many
/// tasks, and `plain` the result of a lane that is to be sorted without.
fn sort_pairs<T: Copy + Sync, K: SortKey, U>(
    Keys { keys: pairs, spare }: &mut Pairs<K>,
    lanes: Batch<'_, T>,
    out: &mut [U],
    key: impl Fn(T) -> K + Sync,
    plain: impl Fn(&[T], &mut [U]) -> Result<()>,
    write: impl Fn(Batch<'_, T>, &[K::Pair], &mut [U], usize) -> Result<()>,
) -> Result<()> {
    let len = lanes.length();
    let SortMethod::Keys { algorithm, .. } = SortMethod::by_pairs::<K>(len, lanes.count) else {
        return lanes.for_each(out, |lane, _, out| plain(lane, out));
    };
    let together = algorithm.together::<K::Pair>(lanes.count);
    let parts = algorithm.parts(len, K::BYTES, lanes.alone);
    make_room(pairs, algorithm.room(len, together, parts))?;
    for (lanes, out) in lanes.parts(together).zip(out.chunks_mut(together * len)) {
        for (k, pairs) in pairs.chunks_mut(len).take(out.len() / len).enumerate() {
            let pair = |position, x| (key(x).pair(position), true);
            map_all(lanes.lane(k)?, pairs, parts, pair);
        }
        let bytes = K::POSITION_BYTES..K::POSITION_BYTES + K::BYTES;
        algorithm.sort(pairs, len, [together, parts], spare, bytes)?;
        write(lanes, &pairs[..out.len()], out, parts)?;
    }
    Ok(())
}

/// The positions of the elements of some lanes in order of their keys.
pub(super) fn argsort_lanes<T: Copy + Sync, K: SortKey>(
    scratch: &mut Pairs<K>,
    lanes: Batch<'_, T>,
    out: &mut [usize],
    key: impl Fn(T) -> K + Sync,
) -> Result<()> {
    let plain = |lane: &[T], out: &mut [usize]| {
        argsort_lane_by(lane, out, &mut Vec::new(), |&a, &b| key(a).cmp(&key(b)))
    };
    sort_pairs(scratch, lanes, out, &key, plain, |_, pairs, out, tasks| {
        map_all(pairs, out, tasks, |_, pair| (K::position(pair), true));
        Ok(())
    })
}

/// The positions of the elements of `lane` in order of a comparison.
pub(super) fn argsort_lane_by<T>(
    lane: &[T],
    out: &mut [usize],
    spare: &mut Vec<usize>,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<()> {
    out.iter_mut().enumerate().for_each(|(position, slot)| *slot = position);
    sort_by(out, spare, |&a, &b| compare(&lane[a], &lane[b]))
}

/// The elements of some lanes in order of their keys.
pub(super) fn sort_lanes_by_key<T: Copy + Send + Sync, K: SortKey>(
    scratch: &mut Pairs<K>,
    lanes: Batch<'_, T>,
    out: &mut [T],
    key: impl Fn(T) -> K + Sync,
) -> Result<()> {
    let plain = |lane: &[T], out: &mut [T]| {
        out.copy_from_slice(lane);
        sort_by(out, &mut Vec::new(), |&a, &b| key(a).cmp(&key(b)))
    };
    sort_pairs(scratch, lanes, out, &key, plain, |lanes, pairs, out, tasks| {
        let mut pairs = pairs.chunks(lanes.length());
        lanes.for_each(out, |lane, _, out| {
            let pairs = pairs.next().unwrap_or_default();
            map_all(pairs, out, tasks, |_, pair| (lane[K::position(pair)], true));
            Ok(())
        })
    })
}
