//! Threads inside of loads and stores.

use std::cell::Cell;

thread_local! {
    /// Loads and stores that this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One more load or store of this thread, until it is dropped.
pub(super) struct Inside;

impl Inside {
    pub(super) fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }

    /// Whether this thread is inside of any.
    pub(super) fn any() -> bool {
        DEPTH.get() > 0
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
