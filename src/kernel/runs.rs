//! The union of ascending runs, by a network of comparisons.
//!
//! A number becomes a key: how far it lies from the lowest one, and below that where it comes from. So keys
//! differ, and minima and maxima of vectors of keys merge runs without a branch and without one step that
//! waits for another: two runs end to end, the second one backwards, rise and fall, and halves of those
//! that are compared place by place rise and fall again (Batcher 1968). Runs that do not ascend give other
//! numbers, in as many steps.

use super::{dispatch, merge_u32, merge_u64, prefetch_span};

/// Keys of all runs together.
pub(crate) const KEYS: usize = 512;
/// Most runs.
pub(crate) const RUNS: usize = 16;
/// Bits of a key that say where it comes from.
const ID_BITS: u32 = KEYS.trailing_zeros();
/// Keys that are looked at together for equal numbers.
const PART: usize = 16;
/// Numbers in a line of cache.
const LINE: usize = 8;

/// The next `count` numbers of an ascending list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run<'l> {
    pub(crate) rest: &'l [usize],
    pub(crate) count: usize,
}

impl<'l> Run<'l> {
    #[inline(always)]
    fn numbers(self) -> &'l [usize] {
        &self.rest[..self.count.min(self.rest.len())]
    }
}

/// Merges runs, and keeps their union.
#[derive(Debug, Clone)]
pub(crate) struct MergeNetwork {
    short: Keys<u32>,
    long: Keys<u64>,
    /// The numbers of the union, of which the last call of [`Self::merge`] gave the count.
    pub(crate) numbers: [usize; KEYS],
    /// For each number of each run its place in the union; run `k` begins at `k` times [`longest_run`].
    pub(crate) places: [u16; KEYS],
}

#[derive(Debug, Clone)]
#[repr(align(64))]
struct Keys<K>([K; KEYS]);

/// Most numbers of a run where there are `count` runs.
pub(crate) fn longest_run(count: usize) -> usize {
    KEYS / count.next_power_of_two().max(2)
}

impl MergeNetwork {
    pub(crate) fn new() -> Self {
        Self {
            short: Keys([0; KEYS]),
            long: Keys([0; KEYS]),
            numbers: [0; KEYS],
            places: [0; KEYS],
        }
    }

    /// Merges ascending runs, 16 of them at the most and each with no more numbers than it has room for;
    /// returns how many numbers the union has. `None` if they lie too far apart.
    pub(crate) fn merge(&mut self, runs: &[Run<'_>]) -> Option<usize> {
        let room = longest_run(runs.len());
        if runs.len() > RUNS || runs.iter().any(|run| run.numbers().len() > room) {
            return None;
        }
        let base = runs.iter().filter_map(|run| run.numbers().first()).copied().min()?;
        let last = runs.iter().filter_map(|run| run.numbers().last()).copied().max()?;
        let span = last.wrapping_sub(base);
        let Self { short, long, numbers, places } = self;
        if span >> (u32::BITS - ID_BITS) == 0 {
            Some(dispatch(
                #[inline(always)]
                || merge_keys(runs, room, base, &mut short.0, numbers, places),
            ))
        } else if (span as u64) >> (u64::BITS - ID_BITS) == 0 {
            Some(dispatch(
                #[inline(always)]
                || merge_keys(runs, room, base, &mut long.0, numbers, places),
            ))
        } else {
            None
        }
    }
}

/// An integer that holds how far a number lies from the lowest one, and where it comes from.
trait Key: Copy + Ord {
    const LARGEST: Self;

    /// The key of a number that lies so far from `base` that it fits.
    fn pack(number: usize, base: usize, id: u32) -> Self;

    /// How far the number lies from the lowest one.
    fn away(self) -> usize;

    fn id(self) -> usize;

    /// Merges `count` runs of `run` keys in registers, if this machine can.
    fn in_registers(keys: &mut [Self; KEYS], run: usize, count: usize) -> bool;
}

macro_rules! keys {
    ($($Key:ident: $merge:ident;)+) => { $(
        impl Key for $Key {
            const LARGEST: Self = $Key::MAX;

            #[inline(always)]
            fn pack(number: usize, base: usize, id: u32) -> Self {
                (number as $Key).wrapping_sub(base as $Key) << ID_BITS | id as $Key
            }

            #[inline(always)]
            fn away(self) -> usize {
                (self >> ID_BITS) as usize
            }

            #[inline(always)]
            fn id(self) -> usize {
                self as usize % KEYS
            }

            #[inline(always)]
            fn in_registers(keys: &mut [Self; KEYS], run: usize, count: usize) -> bool {
                $merge(keys, run, count)
            }
        }
    )+ };
}
keys! {
    u32: merge_u32;
    u64: merge_u64;
}

/// [`MergeNetwork::merge`] by keys of one type.
#[inline(always)]
fn merge_keys<K: Key>(
    runs: &[Run<'_>],
    room: usize,
    base: usize,
    keys: &mut [K; KEYS],
    numbers: &mut [usize; KEYS],
    places: &mut [u16; KEYS],
) -> usize {
    let mut rest = &mut keys[..];
    let mut id = 0_u32;
    for run in runs.iter().map(|run| run.numbers()) {
        let (own, later) = rest.split_at_mut(room);
        let (own, spare) = own.split_at_mut(run.len());
        for ((key, &number), id) in own.iter_mut().zip(run).zip(id..) {
            *key = K::pack(number, base, id);
        }
        spare.fill(K::LARGEST);
        rest = later;
        id += room as u32;
    }
    rest.fill(K::LARGEST);
    if !K::in_registers(keys, room, runs.len()) {
        merge_runs(keys, room, runs.len());
    }
    unpack(keys, runs, base, numbers, places)
}

/// Merges `count` runs of `run` keys, a power of two; keys beyond them are the largest.
#[inline(always)]
fn merge_runs<K: Key>(keys: &mut [K; KEYS], run: usize, count: usize) {
    let used = run * count;
    if run <= 32 {
        merge_pairs::<K, 32>(keys, used);
    }
    if run <= 64 {
        merge_pairs::<K, 64>(keys, used);
    }
    if run <= 128 {
        merge_pairs::<K, 128>(keys, used);
    }
    merge_pairs::<K, 256>(keys, used);
}

/// Merges runs of `RUN` keys in pairs, where the second run of a pair begins before `used`.
#[inline(always)]
fn merge_pairs<K: Key, const RUN: usize>(keys: &mut [K; KEYS], used: usize) {
    let pairs = used.saturating_sub(RUN).div_ceil(2 * RUN);
    for pair in keys.chunks_exact_mut(2 * RUN).take(pairs) {
        let (low, high) = pair.split_at_mut(RUN);
        for (low, high) in low.iter_mut().zip(high.iter_mut().rev()) {
            (*low, *high) = ((*low).min(*high), (*low).max(*high));
        }
        if RUN > 128 {
            halves::<K, 128>(pair);
        }
        if RUN > 64 {
            halves::<K, 64>(pair);
        }
        if RUN > 32 {
            halves::<K, 32>(pair);
        }
        halves::<K, 16>(pair);
        halves::<K, 8>(pair);
        for eight in pair.as_chunks_mut::<8>().0 {
            for with in [4, 2, 1] {
                let other: [K; 8] = std::array::from_fn(|k| eight[k ^ with]);
                let low: [K; 8] = std::array::from_fn(|k| eight[k].min(other[k]));
                let high: [K; 8] = std::array::from_fn(|k| eight[k].max(other[k]));
                *eight = std::array::from_fn(|k| if k & with == 0 { low[k] } else { high[k] });
            }
        }
    }
}

/// Puts all keys in order with those `HALF` places on, in parts of twice as many.
#[inline(always)]
fn halves<K: Key, const HALF: usize>(keys: &mut [K]) {
    for part in keys.chunks_exact_mut(2 * HALF) {
        let (low, high) = part.split_at_mut(HALF);
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = ((*low).min(*high), (*low).max(*high));
        }
    }
}

/// The numbers of keys that ascend, each once, and the places of all of them; returns how many there are.
/// Meanwhile it asks for the memory that the next runs lie in, a little at a time: a processor waits for
/// no more than a few lines at once.
#[inline(always)]
fn unpack<K: Key>(
    keys: &[K; KEYS],
    runs: &[Run<'_>],
    base: usize,
    numbers: &mut [usize; KEYS],
    places: &mut [u16; KEYS],
) -> usize {
    let total: usize = runs.iter().map(|run| run.numbers().len()).sum();
    let (mut count, mut before, mut left) = (0, usize::MAX, total);
    let (mut run, mut ahead) = (0, 0);
    for part in keys[..total.next_multiple_of(PART)].as_chunks::<PART>().0 {
        for _ in 0..PART / LINE {
            if let Some(Run { rest, count }) = runs.get(run) {
                prefetch_span(rest, count + ahead, LINE);
            }
            run += 1;
            if run == runs.len() {
                (run, ahead) = (0, ahead + LINE);
            }
        }
        let away = part.map(K::away);
        let mut equal = away[0] == before;
        for k in 1..PART {
            equal |= part[k].away() == part[k - 1].away();
        }
        let to = numbers[count.min(KEYS)..].first_chunk_mut::<PART>();
        if let (false, true, Some(to)) = (equal, left >= PART, to) {
            *to = away.map(|away| base.wrapping_add(away));
            for (k, key) in part.iter().enumerate() {
                places[key.id()] = (count + k) as u16;
            }
            count += PART;
        } else {
            for key in &part[..left.min(PART)] {
                count += usize::from(key.away() != before);
                before = key.away();
                let place = count.wrapping_sub(1) % KEYS;
                numbers[place] = base.wrapping_add(key.away());
                places[key.id()] = place as u16;
            }
        }
        before = part[PART - 1].away();
        left = left.saturating_sub(PART);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{KEYS, Key, MergeNetwork, RUNS, Run, merge_runs};

    /// The loops that machines without wide registers use.
    #[test]
    fn networks_sort() {
        fn sorts<K: Key + std::fmt::Debug>(run: usize, count: usize, numbers: &[usize]) {
            let mut keys = [K::LARGEST; KEYS];
            let numbers = numbers.iter().cycle().take(run * count).enumerate();
            let numbers = numbers.map(|(k, &number)| K::pack(number % 1000, 0, k as u32));
            keys.iter_mut().zip(numbers).for_each(|(key, own)| *key = own);
            keys.chunks_exact_mut(run).for_each(<[K]>::sort);
            let mut expected = keys;
            expected.sort();
            let mut found = keys;
            merge_runs(&mut found, run, count);
            assert_eq!(found, expected, "{run} {count}");
            if K::in_registers(&mut keys, run, count) {
                assert_eq!(keys, expected, "{run} {count}, in registers");
            }
        }
        let numbers: Vec<usize> = (0..KEYS).map(|k| k * 7919 % 65_537).collect();
        for run in [32, 64, 128, 256] {
            for count in 2..=KEYS / run {
                sorts::<u32>(run, count, &numbers);
                sorts::<u64>(run, count, &numbers);
            }
        }
    }

    #[test]
    fn what_does_not_ascend_is_harmless() {
        let falling: Vec<usize> = (0..256).map(|k| usize::MAX - k * 1000).collect();
        let equal = vec![5; 256];
        let mixed: Vec<usize> =
            (0..256).map(|k| (k * 7919 % 257) << (k % (usize::BITS as usize - 9))).collect();
        for lists in [[&falling, &equal], [&mixed, &falling], [&equal, &mixed], [&equal, &equal]] {
            let runs = lists.map(|list| Run { rest: list, count: list.len() });
            assert!(MergeNetwork::new().merge(&runs).is_none_or(|count| count <= KEYS));
        }
        let many = vec![Run { rest: &equal, count: 1 }; RUNS + 1];
        assert!(MergeNetwork::new().merge(&many).is_none(), "too many");
        let long = [Run { rest: &falling, count: 200 }; 3];
        assert!(MergeNetwork::new().merge(&long).is_none(), "too long");
        assert!(MergeNetwork::new().merge(&[]).is_none());
    }
}
