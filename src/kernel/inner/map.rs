//! A function of every element of a slice.

use crate::kernel::simd::{Simd, level};

/// Writes `f` of every element of `from` and its position to `to`, of the same length. `f` also returns
/// whether something holds for an element; whether it holds for all is returned.
pub(crate) fn map_all<T: Copy, U>(
    from: &[T],
    to: &mut [U],
    f: impl Fn(usize, T) -> (U, bool),
) -> bool {
    match level() {
        Simd::Baseline => map_elements(from, to, f),
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => unsafe { map_avx2(from, to, f) },
    }
}

/// A function of its own: of slices in what [`dispatch`](crate::kernel::simd::dispatch) takes, a closure or a struct, the
/// compiler does not know that they do not overlap.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn map_avx2<T: Copy, U>(from: &[T], to: &mut [U], f: impl Fn(usize, T) -> (U, bool)) -> bool {
    map_elements(from, to, f)
}

#[inline(always)]
fn map_elements<T: Copy, U>(from: &[T], to: &mut [U], f: impl Fn(usize, T) -> (U, bool)) -> bool {
    let mut all = true;
    for (k, (&x, slot)) in from.iter().zip(to).enumerate() {
        let (value, holds) = f(k, x);
        *slot = value;
        all &= holds;
    }
    all
}
