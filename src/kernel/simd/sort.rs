//! Sorting and merging of unsigned integers in registers of 512 bits.
//!
//! A quicksort: keys are dealt to both sides of a pivot a register at a time, by compressing those of one
//! side together. Up to eight registers are sorted by Batcher's bitonic network, whose exchanges are minima
//! and maxima of whole registers. Follows Bramas (2017, arXiv:1704.08579) and Intel's x86-simd-sort, which
//! NumPy uses.
//!
//! Equal keys are the same, so no order among them can be told. What sorts keys in this way must tell its
//! elements apart in the keys.

use super::{Level, level};
use std::arch::x86_64::*;

/// Keys that are merged.
const KEYS: usize = 512;
/// Registers that keys are kept in from one exchange to the next.
const KEPT: usize = 16;

/// Keys that spare memory must hold more than there are to sort.
pub(crate) const SPARE: usize = 16;

/// Calls of `exchange`, of which those that begin a line of the table make runs of `$size` sorted keys out of
/// two runs of half as many. The first exchange of a line meets the second run backwards.
macro_rules! network {
    ($registers:ident; $($size:literal: $($with:literal)+;)+) => { $(
        if 2 * K * LANES > $size {
            $(exchange::<K, $with>($registers);)+
        }
    )+ };
}

/// Lines of that table for runs that are sorted already, of at least `$run` keys; of registers beyond `$used`
/// nothing is to be merged. Exchanges of few registers are made together.
macro_rules! merges {
    ($registers:ident $run:ident $used:ident; $($size:literal: $($with:literal)+;)+) => { $(
        if 2 * $run <= $size {
            $(if $with >= KEPT * LANES {
                exchange::<{ KEYS / LANES }, $with>($registers);
            })+
            for kept in $registers[..$used].as_chunks_mut::<KEPT>().0 {
                $(if $with < KEPT * LANES {
                    exchange::<KEPT, $with>(kept);
                })+
            }
        }
    )+ };
}

macro_rules! sorters {
    ($($sort:ident, $merge:ident, $module:ident: $Key:ident, $lanes:literal, $Mask:ident, $splat:ident $less:ident
        $not_greater:ident $compress:ident $permute:ident $min:ident $max:ident $mask_max:ident;)*) => { $(
        /// Sorts keys if this machine can do so in registers, and says whether it could.
        ///
        /// `spare` holds [`SPARE`] keys more than `keys`, or nothing is sorted.
        pub(crate) fn $sort(keys: &mut [$Key], spare: &mut [$Key]) -> bool {
            let detected = level() == Level::Avx512 && std::is_x86_feature_detected!("popcnt");
            if !detected || spare.len() < keys.len() + SPARE {
                return false;
            }
            let depth = 2 * keys.len().checked_ilog2().unwrap_or(0);
            // SAFETY: the level says that AVX-512 was detected, and POPCNT was.
            unsafe { $module::sort(keys, spare, depth) };
            true
        }

        /// Merges `count` runs of `run` sorted keys each, if this machine can do so in registers, and says
        /// whether it could. A run has 32, 64, 128 or 256 keys; keys beyond them are the largest.
        pub(crate) fn $merge(keys: &mut [$Key; KEYS], run: usize, count: usize) -> bool {
            let detected = level() == Level::Avx512 && std::is_x86_feature_detected!("popcnt");
            let registers = bytemuck::try_cast_mut::<_, [__m512i; size_of::<$Key>() * KEYS / 64]>(keys);
            let (true, Ok(registers)) = (detected, registers) else { return false };
            // SAFETY: the level says that AVX-512 was detected, and POPCNT was.
            unsafe { $module::merge(registers, run, count) };
            true
        }

        mod $module {
            use super::*;

            const LANES: usize = $lanes;

            /// Sorts keys; after `depth` partitions that were of little use, by other means.
            #[target_feature(enable = "avx512f,popcnt")]
            pub(super) fn sort(mut keys: &mut [$Key], spare: &mut [$Key], mut depth: u32) {
                while keys.len() > 8 * LANES {
                    if depth == 0 {
                        return keys.sort_unstable();
                    }
                    depth -= 1;
                    let pivot = pivot(keys);
                    let low = partition::<false>(keys, spare, pivot);
                    if low == 0 {
                        // The pivot is the smallest key: all that equal it are in their places.
                        let equal = partition::<true>(keys, spare, pivot);
                        keys = &mut keys[equal..];
                        continue;
                    }
                    let (below, above) = keys.split_at_mut(low);
                    sort(below, spare, depth);
                    keys = above;
                }
                match keys.len().div_ceil(LANES) {
                    0..=1 => sort_few::<1>(keys),
                    2 => sort_few::<2>(keys),
                    3 => sort_few::<3>(keys),
                    4 => sort_few::<4>(keys),
                    5 => sort_few::<5>(keys),
                    6 => sort_few::<6>(keys),
                    7 => sort_few::<7>(keys),
                    _ => sort_few::<8>(keys),
                }
            }

            /// Merges runs of `run` keys.
            #[target_feature(enable = "avx512f,popcnt")]
            pub(super) fn merge(registers: &mut [__m512i; KEYS / LANES], run: usize, count: usize) {
                let used = run.saturating_mul(count).div_ceil(LANES);
                let used = used.next_multiple_of(KEPT).min(registers.len());
                merges! { registers run used;
                    64: 63 16 8 4 2 1;
                    128: 127 32 16 8 4 2 1;
                    256: 255 64 32 16 8 4 2 1;
                    512: 511 128 64 32 16 8 4 2 1;
                }
            }

            /// The median of a register full of keys, taken from all over.
            #[target_feature(enable = "avx512f,popcnt")]
            fn pivot(keys: &[$Key]) -> $Key {
                let distance = keys.len() / LANES;
                let mut sample: [$Key; LANES] =
                    std::array::from_fn(|k| keys[k * distance + distance / 2]);
                sort_few::<1>(&mut sample);
                sample[LANES / 2]
            }

            /// Moves the keys below the pivot, or also those that equal it, to the front; returns how many.
            #[target_feature(enable = "avx512f,popcnt")]
            fn partition<const EQUAL: bool>(
                keys: &mut [$Key],
                spare: &mut [$Key],
                pivot: $Key,
            ) -> usize {
                let pivots = $splat(pivot.cast_signed());
                let (mut read, mut low, mut high) = (0, 0, 0);
                // Whole registers are written, which spoils only keys that were read, as `low <= read`.
                while let Some(&keys_read) = keys[read..].first_chunk::<LANES>() {
                    let register = bytemuck::cast(keys_read);
                    let below =
                        if EQUAL { $not_greater(register, pivots) } else { $less(register, pivots) };
                    if let Some(to) = keys[low..].first_chunk_mut::<LANES>() {
                        *to = bytemuck::cast($compress(below, register));
                    }
                    if let Some(to) = spare[high..].first_chunk_mut::<LANES>() {
                        *to = bytemuck::cast($compress(!below, register));
                    }
                    let count = below.count_ones() as usize;
                    (read, low, high) = (read + LANES, low + count, high + LANES - count);
                }
                for read in read..keys.len() {
                    let key = keys[read];
                    let below = key < pivot || EQUAL && key == pivot;
                    (keys[low], spare[high]) = (key, key);
                    low += usize::from(below);
                    high += usize::from(!below);
                }
                keys[low..].copy_from_slice(&spare[..high]);
                low
            }

            /// Sorts what `K` registers hold, filled up with the largest key.
            #[target_feature(enable = "avx512f,popcnt")]
            fn sort_few<const K: usize>(keys: &mut [$Key]) {
                let mut words = [[$Key::MAX; LANES]; K];
                words.as_flattened_mut()[..keys.len()].copy_from_slice(keys);
                let mut registers = [_mm512_setzero_si512(); K];
                for (register, words) in registers.iter_mut().zip(&words) {
                    *register = bytemuck::cast(*words);
                }
                let all = &mut registers;
                network! { all;
                    2: 1;
                    4: 3 1;
                    8: 7 2 1;
                    16: 15 4 2 1;
                    32: 31 8 4 2 1;
                    64: 63 16 8 4 2 1;
                    128: 127 32 16 8 4 2 1;
                }
                for (words, register) in words.iter_mut().zip(&registers) {
                    *words = bytemuck::cast(*register);
                }
                keys.copy_from_slice(&words.as_flattened()[..keys.len()]);
            }

            /// Puts every key `i` and key `i ^ WITH` in order. Registers that are not there hold the largest
            /// key, with which nothing changes.
            #[inline]
            #[target_feature(enable = "avx512f,popcnt")]
            fn exchange<const K: usize, const WITH: usize>(registers: &mut [__m512i; K]) {
                let (inside, across) = (WITH % LANES, WITH / LANES);
                let partners: [$Key; LANES] = std::array::from_fn(|lane| (lane ^ inside) as $Key);
                let partners: __m512i = bytemuck::cast(partners);
                if across == 0 {
                    let upper = (0..LANES).filter(|lane| lane ^ inside < *lane);
                    let upper = upper.fold(0, |mask: $Mask, lane| mask | 1 << lane);
                    for register in registers {
                        let (own, other) = (*register, $permute(partners, *register));
                        *register = $mask_max($min(own, other), upper, own, other);
                    }
                    return;
                }
                // Registers without the highest bit of `across` in their number: those with it are partners.
                let bit = 1 << across.ilog2();
                let first = (0..K.next_power_of_two() / 2).map(|k| k / bit * 2 * bit + k % bit);
                for k in first.filter(|k| k ^ across < K) {
                    let turned = |register| {
                        if inside == 0 { register } else { $permute(partners, register) }
                    };
                    let (a, b) = (registers[k], turned(registers[k ^ across]));
                    registers[k] = $min(a, b);
                    registers[k ^ across] = turned($max(a, b));
                }
            }
        }
    )* };
}
sorters! {
    sort_u32, merge_u32, of_u32: u32, 16, __mmask16, _mm512_set1_epi32 _mm512_cmplt_epu32_mask
        _mm512_cmple_epu32_mask _mm512_maskz_compress_epi32 _mm512_permutexvar_epi32 _mm512_min_epu32
        _mm512_max_epu32 _mm512_mask_max_epu32;
    sort_u64, merge_u64, of_u64: u64, 8, __mmask8, _mm512_set1_epi64 _mm512_cmplt_epu64_mask
        _mm512_cmple_epu64_mask _mm512_maskz_compress_epi64 _mm512_permutexvar_epi64 _mm512_min_epu64
        _mm512_max_epu64 _mm512_mask_max_epu64;
}

#[cfg(test)]
mod tests {
    use super::{SPARE, sort_u32, sort_u64};

    /// Keys of any number, few of them different or all.
    #[test]
    fn keys_are_sorted_as_std_sorts_them() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for len in (0..300).chain([1000, 4096, 20_000]) {
            for different in [1, 2, 90, u64::MAX] {
                let keys: Vec<u64> = (0..len).map(|_| next() % different).collect();
                let mut expected = keys.clone();
                expected.sort();
                let mut found = keys.clone();
                if sort_u64(&mut found, &mut vec![0; len + SPARE]) {
                    assert_eq!(found, expected, "{len} {different}");
                }
                let mut expected: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
                let mut found = expected.clone();
                expected.sort();
                if sort_u32(&mut found, &mut vec![0; len + SPARE]) {
                    assert_eq!(found, expected, "{len} {different}");
                }
            }
        }
    }

    /// Orders that make bad pivots.
    #[test]
    fn patterns_are_sorted() {
        for len in [129_usize, 1000, 5000] {
            let organ = (0..len).map(|k| k.min(len - k));
            let patterns: [Vec<u64>; 4] = [
                (0..len as u64).collect(),
                (0..len as u64).rev().collect(),
                organ.map(|k| k as u64).collect(),
                (0..len)
                    .map(|k| if k % (len / 8) == len / 16 { 0 } else { u64::MAX - k as u64 })
                    .collect(),
            ];
            for keys in patterns {
                let mut expected = keys.clone();
                expected.sort();
                let mut found = keys;
                if sort_u64(&mut found, &mut vec![0; len + SPARE]) {
                    assert_eq!(found, expected);
                }
            }
        }
        let mut keys = [3, 1, 2];
        assert!(!sort_u32(&mut keys, &mut [0; SPARE]), "too little to spare");
    }
}
