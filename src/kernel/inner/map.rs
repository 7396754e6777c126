//! A function of every element of a slice.

use crate::kernel::simd::dispatch;

/// Writes `f` of every element of `from` and its position to `to`, of the same length. `f` also tells
/// something of each element, and whether that holds for all is returned.
pub(crate) fn map_all<T: Copy, U>(
    from: &[T],
    to: &mut [U],
    f: impl Fn(usize, T) -> (U, bool),
) -> bool {
    dispatch(
        #[inline(always)]
        || {
            let mut all = true;
            for (k, (&x, slot)) in from.iter().zip(&mut *to).enumerate() {
                let (value, holds) = f(k, x);
                *slot = value;
                all &= holds;
            }
            all
        },
    )
}
