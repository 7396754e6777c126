//! Merging of sorted runs of unsigned integers in registers of 512 bits, by Batcher's bitonic network.

use super::{Simd, level};
use std::arch::x86_64::*;

/// Keys that are merged.
const KEYS: usize = 512;
/// Registers that keys are kept in from one exchange to the next.
const KEPT: usize = 16;

/// Calls of `exchange`, of which those of a line make runs of `$size` sorted keys out of two runs of half as
/// many, for runs of at least `$run` keys that are sorted already. The first exchange of a line meets the
/// second run backwards. Of registers beyond `$used` nothing is to be merged. Exchanges of few registers are
/// made together.
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

macro_rules! mergers {
    ($($merge:ident, $module:ident: $Key:ident, $lanes:literal, $Mask:ident, $permute:ident $min:ident
        $max:ident $mask_max:ident;)*) => { $(
        /// Merges `count` runs of `run` sorted keys each, if this machine can do so in registers, and says
        /// whether it could. A run has 32, 64, 128 or 256 keys; keys beyond them are the largest.
        pub(crate) fn $merge(keys: &mut [$Key; KEYS], run: usize, count: usize) -> bool {
            let detected = level() == Simd::Avx512 && std::is_x86_feature_detected!("popcnt");
            let registers = bytemuck::try_cast_mut::<_, [__m512i; size_of::<$Key>() * KEYS / 64]>(keys);
            let (true, Ok(registers)) = (detected, registers) else { return false };
            // SAFETY: the level says that AVX-512 was detected, and POPCNT was.
            unsafe { $module::merge(registers, run, count) };
            true
        }

        mod $module {
            use super::*;

            const LANES: usize = $lanes;

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

            /// Puts every key `i` and key `i ^ WITH` in order.
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
                for k in (0..K / 2).map(|k| k / bit * 2 * bit + k % bit) {
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
mergers! {
    merge_u32, of_u32: u32, 16, __mmask16, _mm512_permutexvar_epi32 _mm512_min_epu32 _mm512_max_epu32
        _mm512_mask_max_epu32;
    merge_u64, of_u64: u64, 8, __mmask8, _mm512_permutexvar_epi64 _mm512_min_epu64 _mm512_max_epu64
        _mm512_mask_max_epu64;
}
