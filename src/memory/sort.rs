//! Sorting by comparison, stable, with memory that may be refused: what the standard library does aborts.

use super::refill;
use crate::error::Result;
use std::cmp::Ordering;

/// Most elements that are sorted by insertion.
const FEW: usize = 20;
/// A first run of at least one part in so many is kept and merged.
const PARTS: usize = 8;

/// Sorts by a comparison; what is equal keeps its order. `spare` is memory to be used again.
///
/// A quicksort, whose partitions write what is not less to the end of spare memory, without an unpredictable
/// branch. Sorted runs, falling ones too, are found and merged, and so is what partitions badly. A comparison
/// that is no order gives some order.
pub(crate) fn sort_by<T: Copy>(
    items: &mut [T],
    spare: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<()> {
    let is_less = |a: &T, b: &T| compare(a, b).is_lt();
    if items.len() <= FEW {
        insert(items, &is_less);
    } else if !items.is_sorted_by(|a, b| !is_less(b, a)) {
        refill(spare, items.iter().copied())?;
        sort_runs(items, spare, &is_less);
    }
    Ok(())
}

/// Sorts with the first run as it is, if it is long.
fn sort_runs<T: Copy>(items: &mut [T], spare: &mut [T], is_less: &impl Fn(&T, &T) -> bool) {
    let len = items.len();
    let falls = |pair: &[T]| is_less(&pair[1], &pair[0]);
    let falling = items.windows(2).take_while(|pair| falls(pair)).count();
    let rising = items.windows(2).take_while(|pair| !falls(pair)).count();
    let run = (1 + falling.max(rising)).min(len);
    if run < len / PARTS {
        return partition(items, spare, is_less, 2 * len.ilog2());
    }
    if falling > rising {
        items[..run].reverse();
    }
    if run < len {
        sort_runs(&mut items[run..], spare, is_less);
        merge(items, run, spare, is_less);
    }
}

/// Sorts by partitions, at most so many one in another.
fn partition<T: Copy>(
    items: &mut [T],
    spare: &mut [T],
    is_less: &impl Fn(&T, &T) -> bool,
    levels: u32,
) {
    let len = items.len();
    if len <= FEW {
        return insert(items, is_less);
    }
    if levels == 0 {
        let (low, high) = items.split_at_mut(len / 2);
        partition(low, spare, is_less, 0);
        partition(high, spare, is_less, 0);
        return merge(items, len / 2, spare, is_less);
    }
    let pivot = pivot(items, is_less);
    let mut low = split(items, spare, |x, items| is_less(x, &items[pivot]));
    // Nothing is less: what is equal is where it belongs.
    let is_lowest = low == 0;
    if is_lowest {
        low = split(items, spare, |x, items| !is_less(&items[pivot], x));
    }
    let (below, above) = items.split_at_mut(low);
    if !is_lowest {
        partition(below, spare, is_less, levels - 1);
    }
    partition(above, spare, is_less, levels - 1);
}

/// Moves elements that are `low` before the others, both in order; returns how many they are.
#[inline(always)]
fn split<T: Copy>(items: &mut [T], spare: &mut [T], low: impl Fn(&T, &[T]) -> bool) -> usize {
    let len = items.len();
    let spare = &mut spare[..len];
    let mut count = 0;
    for (k, x) in items.iter().enumerate() {
        let is_low = low(x, items);
        spare[if is_low { count } else { len - 1 - (k - count) }] = *x;
        count += usize::from(is_low);
    }
    let (below, above) = spare.split_at(count);
    items[..count].copy_from_slice(below);
    items[count..].iter_mut().zip(above.iter().rev()).for_each(|(slot, x)| *slot = *x);
    count
}

/// Where an element stands that is about the middle one.
fn pivot<T>(items: &[T], is_less: &impl Fn(&T, &T) -> bool) -> usize {
    let less = |a: usize, b: usize| is_less(&items[a], &items[b]);
    let median = |a, b, c| match (less(a, b), less(a, c)) {
        (true, true) if less(b, c) => b,
        (true, true) => c,
        (false, false) if less(b, c) => c,
        (false, false) => b,
        _ => a,
    };
    let at = |k: usize| k * (items.len() - 1) / 8;
    median(median(at(0), at(1), at(2)), median(at(3), at(4), at(5)), median(at(6), at(7), at(8)))
}

/// Merges two sorted parts, of which the first has `middle` elements.
fn merge<T: Copy>(
    items: &mut [T],
    middle: usize,
    spare: &mut [T],
    is_less: &impl Fn(&T, &T) -> bool,
) {
    let low = &mut spare[..middle];
    low.copy_from_slice(&items[..middle]);
    let (mut first, mut second) = (0, middle);
    while first < middle {
        let is_high = items.get(second).is_some_and(|high| is_less(high, &low[first]));
        let next = if is_high { items[second] } else { low[first] };
        items[first + second - middle] = next;
        first += usize::from(!is_high);
        second += usize::from(is_high);
    }
}

/// Sorts few elements, one after another.
fn insert<T: Copy>(items: &mut [T], is_less: &impl Fn(&T, &T) -> bool) {
    for k in 1..items.len() {
        let x = items[k];
        let mut at = k;
        while at > 0 && is_less(&x, &items[at - 1]) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = x;
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, sort_by};
    use std::cmp::Ordering;

    /// Lists that are random, sorted, falling, of runs, of few kinds, and some that partition badly.
    fn lists() -> impl Iterator<Item = Vec<u32>> {
        let lengths = [0, 1, 2, 3, FEW, FEW + 1, 50, 100, 1000, 5000];
        lengths.into_iter().flat_map(|len| {
            let mut state = 88_172_645_463_325_252_u64;
            let mut random = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 40) as u32
            };
            let random: Vec<u32> = (0..len).map(|_| random()).collect();
            let of = |f: &dyn Fn(usize) -> u32| (0..len).map(f).collect::<Vec<u32>>();
            [
                of(&|k| k as u32),
                of(&|k| (len - k) as u32),
                of(&|k| (len - k) as u32 / 3),
                of(&|k| (k % (len / 2 + 1)) as u32),
                of(&|k| (len / 3).abs_diff(k) as u32),
                of(&|k| (k % 7) as u32),
                of(&|k| k.reverse_bits() as u32),
                of(&|k| (k.wrapping_mul(k) % 101) as u32),
                of(&|k| random[k] % 3),
                random,
            ]
        })
    }

    #[test]
    fn what_is_equal_keeps_its_order() {
        let mut spare = Vec::new();
        for list in lists() {
            for kinds in [1, 10, u32::MAX] {
                let mut found: Vec<_> = list.iter().map(|x| x % kinds).zip(0_u32..).collect();
                let mut expected = found.clone();
                // Without positions equal elements could not be told apart.
                expected.sort_unstable();
                sort_by(&mut found, &mut spare, |a, b| a.0.cmp(&b.0)).unwrap();
                assert_eq!(found, expected);
                expected.sort_unstable_by_key(|&(x, position)| (std::cmp::Reverse(x), position));
                sort_by(&mut found, &mut spare, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1))).unwrap();
                assert_eq!(found, expected);
            }
        }
    }

    /// The comparisons of many elements stay near `n log n`, whatever answers them: this one, after
    /// McIlroy's "A killer adversary for quicksort", makes every pivot as bad as it can be.
    #[test]
    fn no_order_is_slow() {
        use std::cell::{Cell, RefCell};
        let len = 20_000_usize;
        let (gas, solid) = (u32::MAX, Cell::new(0_u32));
        let values = RefCell::new(vec![gas; len]);
        let (candidate, count) = (Cell::new(0), Cell::new(0_usize));
        let mut items: Vec<usize> = (0..len).collect();
        sort_by(&mut items, &mut Vec::new(), |&a, &b| {
            count.set(count.get() + 1);
            let mut values = values.borrow_mut();
            if values[a] == gas && values[b] == gas {
                let frozen = if a == candidate.get() { a } else { b };
                values[frozen] = solid.replace(solid.get() + 1);
            }
            if values[a] == gas {
                candidate.set(a);
            } else if values[b] == gas {
                candidate.set(b);
            }
            values[a].cmp(&values[b])
        })
        .unwrap();
        let values = values.borrow();
        assert!(items.is_sorted_by_key(|&k| values[k]));
        assert!(count.get() < 10 * len * len.ilog2() as usize, "{} comparisons", count.get());
    }

    #[test]
    fn what_is_no_order_comes_to_an_end() {
        for list in lists() {
            let mut found = list.clone();
            let wild = |a: &u32, b: &u32| match a.wrapping_mul(31) ^ b.wrapping_mul(17) {
                x if x % 3 == 0 => Ordering::Less,
                _ => Ordering::Greater,
            };
            sort_by(&mut found, &mut Vec::new(), wild).unwrap();
            let mut expected = list;
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
