//! A function of every element of a slice.

use crate::kernel::join;
use crate::kernel::simd::{Simd, level};

/// Writes `f` of every element of `from` and its position to `to`, of the same length, in so many tasks. `f` also
/// returns whether something holds for an element; whether it holds for all is returned. `f` is a copy in each task: what
/// is behind a reference might be what is written.
pub(crate) fn map_all<T: Copy + Sync, U: Send>(
    from: &[T],
    to: &mut [U],
    tasks: usize,
    f: impl Fn(usize, T) -> (U, bool) + Copy + Send + Sync,
) -> bool {
    if tasks < 2 { map_slice(from, to, f) } else { map_from(from, to, 0, tasks, f) }
}

/// The same of elements of which the first has this position.
fn map_from<T: Copy + Sync, U: Send>(
    from: &[T],
    to: &mut [U],
    first: usize,
    tasks: usize,
    f: impl Fn(usize, T) -> (U, bool) + Copy + Send + Sync,
) -> bool {
    if tasks < 2 {
        return map_slice(from, to, move |k, x| f(first + k, x));
    }
    let middle = from.len().min(to.len()) / 2;
    let ((low, high), (low_to, high_to)) = (from.split_at(middle), to.split_at_mut(middle));
    let (low, high) = join(
        || map_from(low, low_to, first, tasks / 2, f),
        || map_from(high, high_to, first + middle, tasks / 2, f),
    );
    low & high
}

fn map_slice<T: Copy, U>(from: &[T], to: &mut [U], f: impl Fn(usize, T) -> (U, bool)) -> bool {
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
