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

/// Runs a task for each of some items, which are numbered from `first` on: in halves, if that is to be in `parallel`.
/// The error is that of the first item that has one.
pub(crate) fn in_halves<T: Send, E: Send>(
    items: &mut [T],
    first: usize,
    parallel: bool,
    run: &(impl Fn(usize, &mut T) -> Result<(), E> + Sync),
) -> Result<(), E> {
    if !parallel || items.len() < 2 {
        return (first..).zip(items).try_for_each(|(number, item)| run(number, item));
    }
    let middle = items.len() / 2;
    let (low, high) = items.split_at_mut(middle);
    let (low, high) = join(
        || in_halves(low, first, parallel, run),
        || in_halves(high, first + middle, parallel, run),
    );
    low.and(high)
}

/// Largest number of elements that one task should do of `count`: all of them below `threshold` or
/// on one thread, otherwise a share that leaves each thread a few tasks of at least `grain`.
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
