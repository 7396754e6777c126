//! Compensated sums in registers of 256 or 512 bits. Written with vectors, as the compiler finds those of a loop
//! over elements in one program and misses half of them in another.

use super::{Simd, level, prefetch_row};
use std::arch::x86_64::*;

/// Lanes of a sum.
const LANES: usize = 16;
/// Chunks for which registers of 512 bits pay: to load lanes that were just stored in halves takes long.
const LONG: usize = 8;

macro_rules! compensated {
    ($($name:ident: $Float:ty, $avx2:ident, $avx512:ident;)*) => { $(
        /// Adds each chunk to the sums, lane by lane, and what is rounded away to the errors (Knuth's two-sum),
        /// if this machine can do so in registers; says whether it could.
        #[inline(always)]
        pub(crate) fn $name(
            chunks: &[[$Float; LANES]],
            sums: &mut [$Float; LANES],
            errors: &mut [$Float; LANES],
        ) -> bool {
            match level() {
                Simd::Baseline => return false,
                // SAFETY: the level says that AVX-512F was detected.
                Simd::Avx512 if chunks.len() >= LONG => unsafe { $avx512(chunks, sums, errors) },
                // SAFETY: either level says that AVX2 was detected.
                Simd::Avx2 | Simd::Avx512 => unsafe { $avx2(chunks, sums, errors) },
            }
            true
        }
    )* };
}
compensated! {
    compensate_f32: f32, f32_avx2, f32_avx512;
    compensate_f64: f64, f64_avx2, f64_avx512;
}

macro_rules! vectors {
    ($($name:ident, $feature:literal: $Float:ty, $Vector:ty, $add:ident $sub:ident;)*) => { $(
        #[inline]
        #[target_feature(enable = $feature)]
        fn $name(
            chunks: &[[$Float; LANES]],
            sums: &mut [$Float; LANES],
            errors: &mut [$Float; LANES],
        ) {
            const VECTORS: usize = size_of::<[$Float; LANES]>() / size_of::<$Vector>();
            let mut sum: [$Vector; VECTORS] = bytemuck::cast(*sums);
            let mut error: [$Vector; VECTORS] = bytemuck::cast(*errors);
            for chunk in chunks {
                prefetch_row(chunk);
                let elements: [$Vector; VECTORS] = bytemuck::cast(*chunk);
                for ((sum, error), x) in sum.iter_mut().zip(&mut error).zip(elements) {
                    let next = $add(*sum, x);
                    let added = $sub(next, *sum);
                    let lost = $sub(*sum, $sub(next, added));
                    *error = $add(*error, $add(lost, $sub(x, added)));
                    *sum = next;
                }
            }
            (*sums, *errors) = (bytemuck::cast(sum), bytemuck::cast(error));
        }
    )* };
}
vectors! {
    f32_avx2, "avx2": f32, __m256, _mm256_add_ps _mm256_sub_ps;
    f64_avx2, "avx2": f64, __m256d, _mm256_add_pd _mm256_sub_pd;
    f32_avx512, "avx512f": f32, __m512, _mm512_add_ps _mm512_sub_ps;
    f64_avx512, "avx512f": f64, __m512d, _mm512_add_pd _mm512_sub_pd;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and errors as loops over elements make them.
    fn by_element(chunks: &[[f64; LANES]], sums: &mut [f64; LANES], errors: &mut [f64; LANES]) {
        for chunk in chunks {
            for (k, x) in chunk.iter().enumerate() {
                let sum = sums[k] + x;
                let added = sum - sums[k];
                errors[k] += (sums[k] - (sum - added)) + (x - added);
                sums[k] = sum;
            }
        }
    }

    /// Adds in registers of one width, if the machine has them.
    type Add = fn(&[[f64; LANES]], &mut [f64; LANES], &mut [f64; LANES]) -> bool;

    /// What is detected is the widest, so others are asked for by name.
    fn narrow(chunks: &[[f64; LANES]], sums: &mut [f64; LANES], errors: &mut [f64; LANES]) -> bool {
        let avx2 = level() != Simd::Baseline;
        if avx2 {
            // SAFETY: the level says that AVX2 was detected.
            unsafe { f64_avx2(chunks, sums, errors) };
        }
        avx2
    }

    #[test]
    fn vectors_add_as_elements_do() {
        let element =
            |k: usize| ((k * 7919 % 1013) as f64 - 500.0) * 10_f64.powi(k as i32 % 40 - 20);
        let all: [Add; 2] = [compensate_f64, narrow];
        for (add, count) in all.into_iter().flat_map(|add| [0, 1, 2, 31].map(|count| (add, count)))
        {
            let elements: Vec<f64> = (0..count * LANES).map(element).collect();
            let chunks = elements.as_chunks().0;
            let (mut sums, mut errors) = ([0.1; LANES], [-0.0; LANES]);
            let (mut expected, mut lost) = (sums, errors);
            if add(chunks, &mut sums, &mut errors) {
                by_element(chunks, &mut expected, &mut lost);
                let bits = |lanes: [f64; LANES]| lanes.map(f64::to_bits);
                assert_eq!((bits(sums), bits(errors)), (bits(expected), bits(lost)), "{count}");
            }
        }
    }
}
