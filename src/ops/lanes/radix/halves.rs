//! Sorting of one long lane by several threads: its items are dealt to both sides of a pivot, and the sides are sorted
//! at once.

use super::Algorithm;
use crate::dtype::Radix;
use crate::kernel::{Kernel, dispatch, join, threads};
use std::ops::Range;

/// Fewest items of a part.
const GRAIN: usize = 1 << 17;
/// Items that a pivot is chosen from.
const SAMPLES: usize = 1024;

/// In how many parts, a power of two, so many items are sorted by all threads.
#[inline]
pub(super) fn parts(len: usize) -> usize {
    match len / GRAIN {
        0 | 1 => 1,
        most => threads().next_power_of_two().min(1 << most.ilog2()),
    }
}

/// Sorts the first `len` items in so many parts. After them, and in the memory to spare after as many, there is
/// [room](Algorithm::spare) for each part, and all that it holds is lost.
///
/// What a side leaves of both memories is to spare for the other one.
#[inline(never)]
pub(super) fn sort<R: Radix>(
    algorithm: Algorithm,
    (items, spare): (&mut [R], &mut [R]),
    len: usize,
    parts: usize,
    bytes: &Range<usize>,
) {
    let pivot = if parts > 1 { pivot(&items[..len]) } else { None };
    let Some(pivot) = pivot else {
        if algorithm.sort_part((items, spare), len, &mut Vec::new(), bytes.clone()) {
            items[..len].copy_from_slice(&spare[..len]);
        }
        return;
    };
    let below = algorithm
        .in_registers(items, len, spare, &mut [pivot])
        .unwrap_or_else(|| dispatch(Deal { items, spare, len, pivot }));
    let (above, parts) = (len - below, parts / 2);
    let room = parts * algorithm.spare();
    let (low, high_spare) = items.split_at_mut(below + room);
    let (high, low_spare) = spare.split_at_mut(above + room);
    join(
        || sort(algorithm, (low, low_spare), below, parts, bytes),
        || sort(algorithm, (high, high_spare), above, parts, bytes),
    );
    items[below..len].copy_from_slice(&spare[..above]);
}

/// About the median of many items, or the next larger one if nothing may be below it, as of items most of which are equal.
fn pivot<R: Radix>(items: &[R]) -> Option<R> {
    if items.len() < SAMPLES {
        return None;
    }
    let mut samples = [R::default(); SAMPLES];
    let apart = items.iter().step_by(items.len() / SAMPLES);
    samples.iter_mut().zip(apart).for_each(|(sample, &item)| *sample = item);
    samples.sort_unstable();
    let least = samples[0];
    samples[SAMPLES / 2..].iter().copied().find(|&sample| sample > least)
}

/// Moves the first items below the pivot to the start of `items`, and the others to the start of `spare`, in the order in
/// which they come; gives how many are below.
struct Deal<'i, R> {
    items: &'i mut [R],
    spare: &'i mut [R],
    len: usize,
    pivot: R,
}

impl<R: Radix> Kernel for Deal<'_, R> {
    type Out = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { items, spare, len, pivot } = self;
        let (items, spare) = (&mut items[..len], &mut spare[..len]);
        let mut below = 0;
        for k in 0..len {
            let item = items[k];
            // To both, without a branch.
            items[below] = item;
            spare[k - below] = item;
            below += usize::from(item < pivot);
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, sort};
    use crate::dtype::Radix;
    use crate::kernel::SPARE;

    /// Sorts items in parts by both algorithms, and with all bytes above the lowest ones, which ascend.
    fn check<R: Radix>(items: &[R], ascending: usize) {
        let mut expected = items.to_vec();
        expected.sort();
        for algorithm in [Algorithm::Registers, Algorithm::Bytes] {
            for parts in [1, 2, 4, 8] {
                let room = items.len() + parts * SPARE;
                let mut found = items.to_vec();
                found.resize(room, R::default());
                let mut spare = vec![R::default(); room];
                let bytes = ascending..R::BYTES;
                sort(algorithm, (&mut found, &mut spare), items.len(), parts, &bytes);
                assert_eq!(found[..items.len()], expected, "{algorithm:?} {parts}");
            }
        }
    }

    #[test]
    fn parts_are_sorted_as_the_whole() {
        let noise = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3;
        for len in [0, 1, 100, 1024, 3000, 10_000] {
            for (different, from) in [(1, 0), (2, 0), (90, 0), (100, 70), (u64::MAX, 0)] {
                // From 70 of a hundred on: most are equal, and the smallest.
                let keys: Vec<u64> = (0..len).map(|k| (noise(k) % different).max(from)).collect();
                check(&keys, 0);
                check(&keys.iter().map(|&key| key as u32).collect::<Vec<_>>(), 0);
                check(&keys.iter().map(|&key| key as u16).collect::<Vec<_>>(), 0);
                let pair =
                    |(position, &key): (usize, &u64)| u128::from(key) << 64 | position as u128;
                check(&keys.iter().enumerate().map(pair).collect::<Vec<_>>(), 8);
            }
            let falling: Vec<u64> = (0..len).rev().collect();
            check(&falling, 0);
        }
    }
}
