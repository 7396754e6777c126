//! Instruction sets: which there are, and stores past the caches.
#![allow(unsafe_code, reason = "vector instructions take pointers and need a detected feature")]

#[cfg(target_arch = "x86_64")]
mod compensated;
#[cfg(target_arch = "x86_64")]
mod merge;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod sort;
#[cfg(target_arch = "x86_64")]
mod transpose;

use crate::memory::LINE;
#[cfg(target_arch = "x86_64")]
pub(crate) use compensated::{compensate_f32, compensate_f64};
#[cfg(target_arch = "x86_64")]
pub(crate) use merge::{merge_u32, merge_u64};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use sort::{SPARE, sort_u32, sort_u64};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_zeroupper;
use std::mem::MaybeUninit;
#[cfg(target_arch = "x86_64")]
pub(crate) use transpose::{eights_4x4, eights_8x8, fours_8x8};

/// Instruction sets that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Simd {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best level of this machine; the standard library caches the detection.
#[inline(always)]
pub(crate) fn level() -> Simd {
    // The assembly below takes pointers of 64 bits, which the x32 targets do not have.
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
    {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            let wide = std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512bw");
            return if wide { Simd::Avx512 } else { Simd::Avx2 };
        }
    }
    Simd::Baseline
}

/// A loop to be compiled for several instruction sets. Whatever it calls must be inlined into it.
pub(crate) trait Kernel {
    type Out;

    /// Implementations are `#[inline(always)]`.
    fn run(self) -> Self::Out;
}

/// Closures are to be `#[inline(always)]` too. [`FnOnce`] would put a shim between such a closure and its call, which is
/// inlined only if the compiler likes, and compiled for the baseline otherwise.
impl<A, F: FnMut() -> A> Kernel for F {
    type Out = A;

    #[inline(always)]
    fn run(mut self) -> A {
        self()
    }
}

/// Runs a loop as compiled for the best instruction set of this machine.
#[inline(always)]
pub(crate) fn dispatch<L: Kernel>(run: L) -> L::Out {
    match level() {
        Simd::Baseline => run.run(),
        // SAFETY: the level says that AVX2 and FMA were detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => unsafe { dispatch_avx2(run) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn dispatch_avx2<L: Kernel>(run: L) -> L::Out {
    run.run()
}

/// As [`dispatch`], compiled for AVX-512 too: for loops that compute for longer than they wait for memory.
#[inline(always)]
pub(crate) fn dispatch_widest<L: Kernel>(run: L) -> L::Out {
    match level() {
        // SAFETY: the level says that the features of AVX-512 named there were detected, AVX2 and FMA too.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { dispatch_avx512(run) },
        _ => dispatch(run),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn dispatch_avx512<L: Kernel>(run: L) -> L::Out {
    run.run()
}

/// Copies `from` to `to`, of the same length, into the caches. Lines of an array in blocks have some kilobytes, for which
/// the C library may take string instructions: those are slow to begin, and on some processors slow at any length.
pub(crate) fn copy_line<T: Copy>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    /// Bytes that are copied here; less and more are left to the C library.
    const MIDDLE: std::ops::Range<usize> = 256..1 << 16;
    match level() {
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 if MIDDLE.contains(&size_of_val(from)) => unsafe {
            copy_avx(from, to);
        },
        _ => to.copy_from_slice(from),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn copy_avx<T: Copy>(from: &[T], to: &mut [T]) {
    /// Bytes between what is copied and what is asked for: the lines of a block that are copied next follow this one.
    const AHEAD: usize = 4096;
    let bytes = size_of_val(from);
    if from.len() != to.len() || bytes < LINE {
        return to.copy_from_slice(from);
    }
    let (source, dest) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    // The last line may overlap the one before.
    for at in (0..bytes - LINE).step_by(LINE).chain([bytes - LINE]) {
        prefetch_byte::<false>(source.wrapping_add(at + AHEAD));
        // SAFETY: both sides hold `bytes` bytes, which are a line at least, `at + LINE <= bytes`, and they do not
        // overlap (one is borrowed mutably). Bytes are copied as such. The registers used are declared.
        unsafe {
            std::arch::asm!(
                "vmovups {low}, [{from}]",
                "vmovups {high}, [{from} + 32]",
                "vmovups [{to}], {low}",
                "vmovups [{to} + 32], {high}",
                from = in(reg) source.add(at), to = in(reg) dest.add(at),
                low = out(ymm_reg) _, high = out(ymm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
    _mm256_zeroupper(); // As in `stream_line`.
}

/// Whether there are stores past the caches.
pub(crate) fn streams() -> bool {
    level() != Simd::Baseline
}

/// Copies `from` to `to`, of the same length, past the caches where that can be.
///
/// The stores are ordered by [`fence`].
pub(crate) fn stream<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    match level() {
        Simd::Baseline => to.copy_from_slice(from),
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => unsafe { stream_avx(from, to) },
    }
}

/// As [`stream`], for a few elements that were just computed.
#[inline]
pub(crate) fn stream_few<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    match level() {
        Simd::Baseline => to.copy_from_slice(from),
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => unsafe { stream_fresh(from, to) },
    }
}

/// Moves whole lines past the caches and copies what comes before and after them. A line is loaded in
/// halves of the vectors that were stored: a load that spans two stores would wait for both to reach the
/// cache, and for all that is streamed before them.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
fn stream_fresh<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    let head = to.as_ptr().align_offset(LINE).min(to.len());
    let lines = size_of_val(&to[head..]) / LINE;
    let count = lines * LINE / size_of::<T>().max(1);
    if from.len() != to.len() || count * size_of::<T>() != lines * LINE {
        return to.copy_from_slice(from);
    }
    // Mostly there are lines only, and calls to copy nothing would take a while.
    if count < to.len() {
        to[..head].copy_from_slice(&from[..head]);
        to[head + count..].copy_from_slice(&from[head + count..]);
    }
    let (source, dest) = (from[head..].as_ptr().cast::<u8>(), to[head..].as_mut_ptr().cast::<u8>());
    for at in (0..lines * LINE).step_by(LINE) {
        // SAFETY: both sides hold `count` elements from `head` on, which are `lines` lines, and `dest` is
        // aligned to one, or `count` is 0. The registers used are declared.
        unsafe {
            std::arch::asm!(
                "vmovups {a}, [{from}]",
                "vmovups {b}, [{from} + 16]",
                "vmovups {c}, [{from} + 32]",
                "vmovups {d}, [{from} + 48]",
                "vmovntps [{to}], {a}",
                "vmovntps [{to} + 16], {b}",
                "vmovntps [{to} + 32], {c}",
                "vmovntps [{to} + 48], {d}",
                from = in(reg) source.add(at), to = in(reg) dest.add(at),
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn stream_avx<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    /// Parts that are copied alternately: each is a stream of its own to the prefetchers, which stop at
    /// the end of a page.
    const PARTS: usize = 4;
    /// Cache lines of a part before it is another one's turn.
    const TURN: usize = 4;
    let bytes = size_of_val(from);
    let (source, dest) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    let head = dest.align_offset(LINE);
    if from.len() != to.len() || head > bytes {
        return to.copy_from_slice(from);
    }
    let lines = (bytes - head) / LINE;
    let part = lines / PARTS;
    let tail = head + lines * LINE;
    // SAFETY: source and dest hold `bytes` bytes each, as the lengths are equal, and do not overlap (one
    // is borrowed mutably). All lines lie in `head..tail` and `tail <= bytes`; `dest + head` is aligned to
    // a line. Bytes are copied as such, initialised or not.
    unsafe {
        let move_lines = |first: usize, count: usize| {
            for at in (head + first * LINE..head + (first + count) * LINE).step_by(LINE) {
                prefetch_byte::<true>(source.wrapping_add(at + 8 * LINE));
                stream_line(source.add(at), dest.add(at));
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
    _mm256_zeroupper();
}

/// [`stream`] for a few lines that were just computed: nothing to fetch ahead, nothing unaligned.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
pub(crate) fn stream_lines<T: Copy>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(from);
    let (source, dest) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    if dest.align_offset(LINE) != 0 || !bytes.is_multiple_of(LINE) || from.len() != to.len() {
        return to.copy_from_slice(from);
    }
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: both sides hold `bytes` bytes, a multiple of a line, and `dest` is aligned to one: all
        // checked above.
        unsafe { stream_line(source.add(at), dest.add(at)) };
    }
    _mm256_zeroupper();
}

/// Moves one cache line past the caches.
///
/// In assembly because elements may have bytes that are not initialised, which no vector type may hold. It leaves the
/// upper halves of registers in use, of which the compiler knows nothing: callers clear them (`_mm256_zeroupper`), as each
/// scalar instruction of a closure, or of any code that runs later, would wait for the one before.
///
/// # Safety
///
/// `from` can be read and `to` written for a line, and `to` is aligned to one.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
unsafe fn stream_line(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise; the registers used are declared.
    unsafe {
        std::arch::asm!(
            "vmovups {low}, [{from}]",
            "vmovups {high}, [{from} + 32]",
            "vmovntps [{to}], {low}",
            "vmovntps [{to} + 32], {high}",
            from = in(reg) from, to = in(reg) to,
            low = out(ymm_reg) _, high = out(ymm_reg) _,
            options(nostack, preserves_flags),
        );
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

/// Asks for the cache lines of `count` elements from `start` on, which may lie beyond the slice.
#[inline(always)]
pub(crate) fn prefetch_span<T>(slice: &[T], start: usize, count: usize) {
    let first = slice.as_ptr().wrapping_add(start).cast::<u8>();
    for line in (0..count * size_of::<T>()).step_by(LINE) {
        prefetch_byte::<true>(first.wrapping_add(line));
    }
}

/// Asks for the cache line of an element at any address, valid or not.
#[inline(always)]
pub(crate) fn prefetch_at<T>(address: *const T) {
    prefetch_byte::<true>(address.cast());
}

/// Asks for memory that a loop from lower to higher addresses comes to a little later, as many lines as
/// it takes now: `read`.
///
/// Prefetchers follow a few streams at once and stop at the end of a page. On processors of AMD it is
/// enough to be two pages ahead of them, and up to Zen 4 to ask for the second cache: lines that wait for the first one
/// hold up what is read now. Others gain most if lines are not asked for in the order in
/// which they are read, but dealt out to the pages of the next group of pages, a line of each in turn.
#[inline(always)]
pub(crate) fn prefetch_row<T>(read: &[T]) {
    /// Bytes of a page, its lines, and pages of a group.
    const PAGE: usize = 4096;
    const LINES: usize = PAGE / LINE;
    const PAGES: usize = 8;
    let start = read.as_ptr().cast::<u8>();
    let lines = (size_of_val(read) / LINE).clamp(1, PAGES);
    if let Some(near) = amd_asks_for_nearest() {
        for line in 0..lines {
            let address = start.wrapping_add(2 * PAGE + line * LINE);
            if near { prefetch_byte::<true>(address) } else { prefetch_byte::<false>(address) }
        }
        return;
    }
    let line = start.addr() / LINE % (LINES * PAGES);
    let ahead = LINES * PAGES - line + line % PAGES * LINES + line / PAGES;
    for page in 0..lines {
        prefetch_byte::<false>(start.wrapping_add((ahead + page * LINES) * LINE));
    }
}

/// Whether lines are best asked for the nearest cache, if the processor is one of AMD's or a relative of them: no other has
/// SSE4a, and none before Zen 5 has AVX-VNNI.
#[inline(always)]
fn amd_asks_for_nearest() -> Option<bool> {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("sse4a")
        .then(|| std::is_x86_feature_detected!("avxvnni"));
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Asks for the cache line at any address, valid or not: for the nearest cache or the one behind it.
#[inline(always)]
fn prefetch_byte<const NEAR: bool>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, and it is part of the baseline of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        if NEAR {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
