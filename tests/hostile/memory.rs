//! An allocator that counts, and a bound on what a call may hold.
#![allow(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes each thread holds and the most it held, and refuses blocks above a limit.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    pub(crate) static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Whether a block of `allocated` bytes may replace one of `freed`.
fn count(freed: usize, allocated: usize) -> bool {
    let allowed = allocated <= LIMIT.get();
    if allowed {
        let held = HELD.get().saturating_sub(freed) + allocated;
        HELD.set(held);
        PEAK.set(PEAK.get().max(held));
    }
    allowed
}

// SAFETY: every call is handed on to the system's allocator as it is, or refused with null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count(0, layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !count(layout.size(), size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What may be held besides twice the bytes present: a block, a header of the largest size, an error.
const CONSTANT: usize = 3 << 16;

/// Runs `read` and checks how much memory it held.
pub(crate) fn bounded<T>(present: usize, read: impl FnOnce() -> T) -> T {
    let before = HELD.get();
    PEAK.set(before);
    let result = read();
    let held = PEAK.get() - before;
    assert!(held <= 2 * present + CONSTANT, "held {held} bytes for {present}");
    result
}
