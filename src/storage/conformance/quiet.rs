//! Panics that are caught without a word.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `call` returns, unless it panics. The panic hook does not hear of that.
///
/// A hook belongs to the process, and tests run side by side. So one is put in front of the one that is there,
/// once, which keeps silent for threads that are in here and leaves all others to that one.
pub(super) fn catch<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    // A thread that unwinds may not change hooks.
    if !std::thread::panicking() {
        HOOK.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |panic| {
                if !QUIET.try_with(Cell::get).unwrap_or(false) {
                    before(panic);
                }
            }));
        });
    }
    let outer = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    QUIET.set(outer);
    result.ok()
}
