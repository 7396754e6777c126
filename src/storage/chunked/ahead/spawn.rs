//! Threads that keep to themselves.

use std::io;

/// Starts a thread that does itself what its task would share with others: that of a thread of no pool goes to the
/// global one, whose threads may be waiting for this one.
#[cfg(feature = "rayon")]
pub(super) fn spawn(name: &'static str, task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| name.into());
    // A panic ends the task; without a handler it would end the program.
    let pool = pool.panic_handler(|_| ()).build().map_err(io::Error::other)?;
    // The thread ends with the task, as the pool is dropped.
    pool.spawn(task);
    Ok(())
}

#[cfg(not(feature = "rayon"))]
pub(super) fn spawn(name: &'static str, task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(task).map(drop)
}
