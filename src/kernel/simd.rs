//! Instruction sets: which there are, and stores past the caches.
#![allow(unsafe_code, reason = "vector instructions take pointers and need a detected feature")]

use std::mem::MaybeUninit;

/// Instruction sets that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best level of this machine; the standard library caches the detection.
#[inline(always)]
pub(crate) fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            let wide = std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512bw");
            return if wide { Level::Avx512 } else { Level::Avx2 };
        }
    }
    Level::Baseline
}

/// Copies `from` to `to` past the caches where whole vectors of `to` are aligned.
///
/// The slices have the same length. The stores are ordered by [`fence`].
pub(crate) fn stream<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") && from.len() == to.len() {
        // SAFETY: AVX was detected and the lengths compared in the line above.
        unsafe { stream_avx(from, to) };
        return;
    }
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_avx<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    const LINE: usize = 64;
    let bytes = size_of_val(from);
    let (source, dest) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    let head = dest.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: source and destination hold `bytes` bytes each and do not overlap (one is borrowed
    // mutably); the caller says the lengths agree. `head + lines * LINE <= bytes`, and `dest + head` is
    // aligned to a line if there is a line at all. Bytes are moved as they are, initialised or not.
    unsafe {
        dest.copy_from_nonoverlapping(source, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let (low, high) =
                (source.add(at).cast::<__m256i>(), source.add(at + 32).cast::<__m256i>());
            let (low, high) = (_mm256_loadu_si256(low), _mm256_loadu_si256(high));
            _mm256_stream_si256(dest.add(at).cast::<__m256i>(), low);
            _mm256_stream_si256(dest.add(at + 32).cast::<__m256i>(), high);
        }
        dest.add(tail).copy_from_nonoverlapping(source.add(tail), bytes - tail);
    }
}

/// Makes streamed stores visible to other threads that are told so.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `sfence` is part of the baseline of x86-64 and touches no memory.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
