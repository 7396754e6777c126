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

/// Parts of a row that are copied alternately: each is a stream of its own to the prefetchers, which
/// stop at the end of a page.
#[cfg(target_arch = "x86_64")]
const PARTS: usize = 4;
/// Cache lines of a part before it is another one's turn.
#[cfg(target_arch = "x86_64")]
const TURN: usize = 4;

/// # Safety
///
/// The CPU has AVX, and the lengths are equal.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_avx<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm256_loadu_si256, _mm256_stream_si256};
    const AHEAD: usize = 8 * LINE;
    let bytes = size_of_val(from);
    let (source, dest) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    let head = dest.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let part = lines / PARTS;
    let tail = head + lines * LINE;
    // SAFETY: source and destination hold `bytes` bytes each, as the lengths are equal, and do not
    // overlap (one is borrowed mutably). All lines lie in `head..tail` and `tail <= bytes`; `dest + head`
    // is aligned to a line if there is a line at all. Bytes are moved as they are, initialised or not.
    // Prefetching an address never faults.
    unsafe {
        let move_lines = |first: usize, count: usize| {
            for line in first..first + count {
                let at = head + line * LINE;
                _mm_prefetch::<_MM_HINT_T0>(source.wrapping_add(at + AHEAD).cast());
                let low = _mm256_loadu_si256(source.add(at).cast());
                let high = _mm256_loadu_si256(source.add(at + LINE / 2).cast());
                _mm256_stream_si256(dest.add(at).cast(), low);
                _mm256_stream_si256(dest.add(at + LINE / 2).cast(), high);
            }
        };
        dest.copy_from_nonoverlapping(source, head);
        for line in (0..part).step_by(TURN) {
            for k in 0..PARTS {
                move_lines(k * part + line, TURN.min(part - line));
            }
        }
        move_lines(PARTS * part, lines - PARTS * part);
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

/// Asks for the cache line of element `index`, which may lie beyond the slice.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching an address never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast());
    }
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Stores one cache line past the caches.
///
/// # Safety
///
/// The CPU has AVX; `to` is aligned to a line, can be written for the length of one, and `line` is as
/// long.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn stream_line<T>(line: &[MaybeUninit<T>], to: *mut MaybeUninit<T>) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    let (from, to) = (line.as_ptr().cast::<u8>(), to.cast::<u8>());
    // SAFETY: the caller's promise.
    unsafe {
        let (low, high) =
            (_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(LINE / 2).cast()));
        _mm256_stream_si256(to.cast(), low);
        _mm256_stream_si256(to.add(LINE / 2).cast(), high);
    }
}
