//! Sorting of unsigned integers in registers of 512 bits.
//!
//! A quicksort: keys are dealt to both sides of a pivot some registers at a time, by compressing those of one
//! side together. What sixteen registers hold is sorted by a network, whose exchanges are minima and maxima
//! of whole registers. Follows Bramas (2017, arXiv:1704.08579) and Intel's x86-simd-sort, which NumPy uses.
//!
//! Equal keys are the same, so no order among them can be told. What sorts keys in this way must tell its
//! elements apart in the keys.

use super::network::{exchanges, merge_lanes, pairs, partners, sort_lanes, turn_lanes};
use super::{Simd, level};
use std::arch::x86_64::*;
use std::hint::black_box;

/// Memory after the keys to sort, and in spare memory besides as many: what is read and written past the
/// last key, so that registers are whole.
pub(crate) const SPARE: usize = 256;
/// Registers that are dealt at a time.
const TOGETHER: usize = 4;
/// Registers that a pivot is chosen from.
const SAMPLES: usize = 8;

macro_rules! sorters {
    ($($sort:ident, $module:ident: $Key:ident, $lanes:literal, $Mask:ident, $splat:ident $less:ident
        $not_greater:ident $compress:ident $permute:ident $permute2:ident $min:ident $max:ident $mask_max:ident
        $sub:ident $signed_less:ident $mask_mov:ident;)*) => { $(
        /// Sorts the first `len` keys; with a pivot, only moves those below it to the start of `keys` and the others to the
        /// start of `spare`, in any order. How many are below, or sorted; `None`, and nothing is done, if this machine
        /// cannot do so in registers.
        ///
        /// `keys` and `spare` hold [`SPARE`] keys more, whose values are lost, or nothing is done.
        pub(crate) fn $sort(
            keys: &mut [$Key],
            len: usize,
            spare: &mut [$Key],
            pivot: Option<$Key>,
        ) -> Option<usize> {
            let detected = level() == Simd::Avx512 && std::is_x86_feature_detected!("popcnt");
            let room = keys.len().min(spare.len());
            if !detected || room.checked_sub(SPARE).is_none_or(|most| most < len) {
                return None;
            }
            let depth = 2 * len.checked_ilog2().unwrap_or(0);
            // SAFETY: the level says that AVX-512 was detected, and POPCNT was.
            Some(unsafe {
                match pivot {
                    Some(pivot) => $module::partition::<false, false>(keys, len, spare, pivot),
                    None => {
                        $module::sort(keys, len, spare, depth);
                        len
                    }
                }
            })
        }

        mod $module {
            use super::*;

            const LANES: usize = $lanes;
            /// Keys that are dealt at a time.
            const STEP: usize = TOGETHER * LANES;
            /// Most keys that are sorted by a network.
            const FEW: usize = 16 * LANES;

            /// Sorts the first `len` keys; after `depth` partitions that were of little use, by other means.
            ///
            /// Whatever comes after these keys may be overwritten: all that is still to be sorted there
            /// waits in spare memory.
            #[target_feature(enable = "avx512f,popcnt")]
            pub(super) fn sort(
                mut keys: &mut [$Key],
                mut len: usize,
                spare: &mut [$Key],
                mut depth: u32,
            ) {
                // Whether the keys are at the start of spare memory.
                let mut away = false;
                while len > FEW {
                    if depth == 0 {
                        if away {
                            keys[..len].copy_from_slice(&spare[..len]);
                        }
                        return keys[..len].sort_unstable();
                    }
                    depth -= 1;
                    let pivot = pivot(if away { &spare[..len] } else { &keys[..len] });
                    let low = if away {
                        partition::<true, false>(keys, len, spare, pivot)
                    } else {
                        partition::<false, false>(keys, len, spare, pivot)
                    };
                    away = true;
                    let placed = if low == 0 {
                        // The pivot is the smallest key: all that equal it are in their places.
                        partition::<true, true>(keys, len, spare, pivot)
                    } else {
                        sort(keys, low, &mut spare[len - low..], depth);
                        low
                    };
                    keys = &mut keys[placed..];
                    len -= placed;
                }
                let from = away.then_some(&*spare);
                match len.div_ceil(LANES) {
                    0..=1 => sort_few::<1>(from, keys, len),
                    2 => sort_few::<2>(from, keys, len),
                    3..=4 => sort_few::<4>(from, keys, len),
                    5..=8 => sort_few::<8>(from, keys, len),
                    _ => sort_few::<16>(from, keys, len),
                }
            }

            /// The median of medians, of registers full of keys.
            #[inline]
            #[target_feature(enable = "avx512f,popcnt")]
            fn pivot(keys: &[$Key]) -> $Key {
                const K: usize = SAMPLES;
                let distance = keys.len() / SAMPLES;
                let mut registers = [_mm512_setzero_si512(); K];
                for (k, register) in registers.iter_mut().enumerate() {
                    let start = k * distance + distance.saturating_sub(LANES) / 2;
                    if let Some(&sample) = keys[start..].first_chunk::<LANES>() {
                        *register = bytemuck::cast(sample);
                    }
                }
                sort_lanes!($min $max registers);
                let mut medians: [$Key; LANES] = bytemuck::cast(registers[K / 2]);
                sort_few::<1>(None, &mut medians, LANES);
                medians[LANES / 2]
            }

            /// Moves the keys below the pivot, or also those that equal it, to the start of `keys`, and the
            /// others to the start of `spare`; returns how many are below. They come from there if they are
            /// `AWAY`.
            #[target_feature(enable = "avx512f,popcnt")]
            pub(super) fn partition<const AWAY: bool, const EQUAL: bool>(
                keys: &mut [$Key],
                len: usize,
                spare: &mut [$Key],
                pivot: $Key,
            ) -> usize {
                let pivots = $splat(pivot.cast_signed());
                let (mut read, mut low) = (0, 0);
                while read + STEP <= len {
                    low += deal::<AWAY, EQUAL, true>(keys, spare, [read, low, STEP], pivots);
                    read += STEP;
                }
                low + deal::<AWAY, EQUAL, false>(keys, spare, [read, low, len - read], pivots)
            }

            /// Deals `count` keys at `read`, of those before which `low` were below the pivot; returns how
            /// many of these are. All are read before any is written, so that registers are written whole:
            /// that spoils no other key, as no more were written to either side.
            #[inline]
            #[target_feature(enable = "avx512f,popcnt")]
            fn deal<const AWAY: bool, const EQUAL: bool, const ALL: bool>(
                keys: &mut [$Key],
                spare: &mut [$Key],
                [read, low, count]: [usize; 3],
                pivots: __m512i,
            ) -> usize {
                let from = if AWAY { &*spare } else { &*keys };
                let Some(&words) = from[read..].first_chunk::<STEP>() else { return 0 };
                let registers: [__m512i; TOGETHER] = bytemuck::cast(words);
                let below = keys[low..].first_chunk_mut::<STEP>();
                let above = spare[read - low..].first_chunk_mut::<STEP>();
                let (Some(below), Some(above)) = (below, above) else { return 0 };
                let there = if ALL { !0 } else { (1_u64 << count) - 1 };
                let (mut low, mut high) = (0, 0);
                for (k, register) in registers.into_iter().enumerate() {
                    let is_below =
                        if EQUAL { $not_greater(register, pivots) } else { $less(register, pivots) };
                    let there = (there >> (k * LANES)) as $Mask;
                    let (is_below, is_above) = (is_below & there, !is_below & there);
                    if let Some(to) = below[low..].first_chunk_mut::<LANES>() {
                        *to = bytemuck::cast($compress(is_below, register));
                    }
                    if let Some(to) = above[high..].first_chunk_mut::<LANES>() {
                        *to = bytemuck::cast($compress(is_above, register));
                    }
                    low += is_below.count_ones() as usize;
                    high += is_above.count_ones() as usize;
                }
                low
            }

            /// Sorts what `K` registers hold, filled up with the largest key, of `from` or of `keys`, to
            /// `keys`.
            #[inline]
            #[target_feature(enable = "avx512f,popcnt")]
            fn sort_few<const K: usize>(from: Option<&[$Key]>, keys: &mut [$Key], len: usize) {
                let from = from.unwrap_or(keys).as_chunks::<LANES>().0.first_chunk::<K>();
                let Some(from) = from else { return };
                let lanes: [$Key; LANES] = std::array::from_fn(|lane| lane as $Key);
                let (lanes, count) = (bytemuck::cast(lanes), $splat(len as _));
                let mut registers = [_mm512_set1_epi32(-1); K];
                for (k, (register, words)) in registers.iter_mut().zip(from).enumerate() {
                    let there = $signed_less(lanes, $sub(count, $splat((k * LANES) as _)));
                    *register = $mask_mov(*register, there, bytemuck::cast(*words));
                }
                // Lanes with a bit in their number. Were these known to the compiler, it would make
                // blends of maxima under a mask, one instruction more for each.
                let uppers = black_box([0xaaaa_u16, 0xcccc, 0xf0f0, 0xff00]).map(|mask| mask as $Mask);
                sort_lanes!($min $max registers);
                merge_lanes!($permute $min $max $mask_max $Key uppers registers; 1);
                merge_lanes!($permute $min $max $mask_max $Key uppers registers; 3 1);
                merge_lanes!($permute $min $max $mask_max $Key uppers registers; 7 2 1);
                if LANES == 16 {
                    merge_lanes!($permute $min $max $mask_max $Key uppers registers; 15 4 2 1);
                }
                turn_lanes!($permute2 $Key registers);
                if let Some(to) = keys.as_chunks_mut::<LANES>().0.first_chunk_mut::<K>() {
                    for (words, register) in to.iter_mut().zip(&registers) {
                        *words = bytemuck::cast(*register);
                    }
                }
            }
        }
    )* };
}
sorters! {
    sort_u32, of_u32: u32, 16, __mmask16, _mm512_set1_epi32 _mm512_cmplt_epu32_mask
        _mm512_cmple_epu32_mask _mm512_maskz_compress_epi32 _mm512_permutexvar_epi32
        _mm512_permutex2var_epi32 _mm512_min_epu32 _mm512_max_epu32 _mm512_mask_max_epu32 _mm512_sub_epi32
        _mm512_cmplt_epi32_mask _mm512_mask_mov_epi32;
    sort_u64, of_u64: u64, 8, __mmask8, _mm512_set1_epi64 _mm512_cmplt_epu64_mask
        _mm512_cmple_epu64_mask _mm512_maskz_compress_epi64 _mm512_permutexvar_epi64
        _mm512_permutex2var_epi64 _mm512_min_epu64 _mm512_max_epu64 _mm512_mask_max_epu64 _mm512_sub_epi64
        _mm512_cmplt_epi64_mask _mm512_mask_mov_epi64;
}

#[cfg(test)]
mod tests {
    use super::{SPARE, sort_u32, sort_u64};

    /// Keys with memory after them, which holds whatever.
    fn with_spare<K: Copy + From<u8>>(keys: &[K]) -> Vec<K> {
        keys.iter().copied().chain(std::iter::repeat_n(K::from(7), SPARE)).collect()
    }

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
        for len in (0..600).chain([1000, 4096, 20_000]) {
            for different in [1, 2, 90, u64::MAX] {
                let keys: Vec<u64> = (0..len).map(|_| next() % different).collect();
                let mut expected = keys.clone();
                expected.sort();
                let mut found = with_spare(&keys);
                if sort_u64(&mut found, len, &mut vec![0; len + SPARE], None) == Some(len) {
                    assert_eq!(found[..len], expected, "{len} {different}");
                }
                let mut expected: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
                let mut found = with_spare(&expected);
                expected.sort();
                if sort_u32(&mut found, len, &mut vec![0; len + SPARE], None) == Some(len) {
                    assert_eq!(found[..len], expected, "{len} {different}");
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
                let mut found = with_spare(&keys);
                if sort_u64(&mut found, len, &mut vec![0; len + SPARE], None) == Some(len) {
                    assert_eq!(found[..len], expected);
                }
            }
        }
        let (mut keys, mut spare) = (with_spare(&[3, 1, 2]), [0; SPARE]);
        assert_eq!(sort_u32(&mut keys, 3, &mut spare, None), None, "too little to spare");
        assert_eq!(sort_u32(&mut spare, 3, &mut keys, None), None, "too little behind the keys");
    }
}
