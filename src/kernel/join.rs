//! Two tasks at once, or one after the other. No result depends on which.

#[cfg(feature = "rayon")]
pub(crate) use rayon::join;

#[cfg(not(feature = "rayon"))]
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// Largest number of elements that one task should do of `count`: all of them below `threshold` or
/// on one thread, otherwise a share that leaves each thread a few tasks of at least `grain`.
#[cfg(feature = "rayon")]
pub(crate) fn task_size(count: usize, threshold: usize, grain: usize) -> usize {
    if count < threshold {
        return usize::MAX;
    }
    match threads() {
        0 | 1 => usize::MAX,
        threads => (count / (4 * threads)).max(grain),
    }
}

/// Threads that share in an evaluation that is large enough.
#[cfg(feature = "rayon")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "rayon"))]
pub(crate) fn threads() -> usize {
    1
}

#[cfg(not(feature = "rayon"))]
pub(crate) fn task_size(_count: usize, _threshold: usize, _grain: usize) -> usize {
    usize::MAX
}
