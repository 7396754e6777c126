//! Compensated sums in registers of 256 bits. Written with vectors, as the compiler finds those of a loop
//! over elements in one program and misses half of them in another.

use super::{Level, ask_ahead, level};
use std::arch::x86_64::*;

/// Lanes of a sum.
const LANES: usize = 16;

macro_rules! compensated {
    ($($name:ident, $vectors:ident: $Float:ty, $Vector:ty, $add:ident $sub:ident;)*) => { $(
        /// Adds each chunk to the sums, lane by lane, and what is rounded away to the errors (Knuth's two-sum),
        /// if this machine can do so in registers; says whether it could.
        #[inline(always)]
        pub(crate) fn $name(
            chunks: &[[$Float; LANES]],
            sums: &mut [$Float; LANES],
            errors: &mut [$Float; LANES],
        ) -> bool {
            if level() == Level::Baseline {
                return false;
            }
            // SAFETY: the level says that AVX2 was detected.
            unsafe { $vectors(chunks, sums, errors) };
            true
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn $vectors(
            chunks: &[[$Float; LANES]],
            sums: &mut [$Float; LANES],
            errors: &mut [$Float; LANES],
        ) {
            const VECTORS: usize = size_of::<[$Float; LANES]>() / size_of::<$Vector>();
            let mut sum: [$Vector; VECTORS] = bytemuck::cast(*sums);
            let mut error: [$Vector; VECTORS] = bytemuck::cast(*errors);
            for chunk in chunks {
                ask_ahead(chunk);
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
compensated! {
    compensate_f32, vectors_f32: f32, __m256, _mm256_add_ps _mm256_sub_ps;
    compensate_f64, vectors_f64: f64, __m256d, _mm256_add_pd _mm256_sub_pd;
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

    #[test]
    fn vectors_add_as_elements_do() {
        let element =
            |k: usize| ((k * 7919 % 1013) as f64 - 500.0) * 10_f64.powi(k as i32 % 40 - 20);
        for count in [0, 1, 2, 31] {
            let elements: Vec<f64> = (0..count * LANES).map(element).collect();
            let chunks = elements.as_chunks().0;
            let (mut sums, mut errors) = ([0.1; LANES], [-0.0; LANES]);
            let (mut expected, mut lost) = (sums, errors);
            if compensate_f64(chunks, &mut sums, &mut errors) {
                by_element(chunks, &mut expected, &mut lost);
                let bits = |lanes: [f64; LANES]| lanes.map(f64::to_bits);
                assert_eq!((bits(sums), bits(errors)), (bits(expected), bits(lost)), "{count}");
            }
        }
    }
}
