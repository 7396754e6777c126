//! Two tasks at once, or one after the other. No result depends on which.

/// Runs two tasks, and gives the results of both.
///
/// # Panics
///
/// Panics if a task does.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (None, None);
    let (mut a, mut b) = (Some(a), Some(b));
    both(&mut || first = a.take().map(|a| a()), &mut || second = b.take().map(|b| b()));
    match (first, second) {
        (Some(first), Some(second)) => (first, second),
        _ => panic!("a task did not run"),
    }
}

/// A task without its type, so that what shares it among threads is compiled once and not for each.
type Task<'a> = &'a mut (dyn FnMut() + Send);

#[cfg(feature = "rayon")]
fn both(a: Task<'_>, b: Task<'_>) {
    rayon::join(a, b);
}

#[cfg(not(feature = "rayon"))]
fn both(a: Task<'_>, b: Task<'_>) {
    a();
    b();
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

/// How many of `count` all threads work on at once where memory is taken for as many: `most` a thread, but no more
/// than a quarter of all unless that is less than `least`.
pub(crate) fn at_once(count: usize, least: usize, most: usize) -> usize {
    (count / 4).min(most.saturating_mul(threads())).max(least)
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
