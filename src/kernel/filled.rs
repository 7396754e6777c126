//! The proof that an output was written.

use std::mem::MaybeUninit;

/// Proof that every slot of one output was written: of the very slice that it names.
#[derive(Debug)]
pub struct Filled {
    start: usize,
    len: usize,
}

impl Filled {
    /// Of slots that the caller has all written. Made by kernels only.
    pub(in crate::kernel) fn of<T>(out: &[MaybeUninit<T>]) -> Self {
        Self { start: out.as_ptr().addr(), len: out.len() }
    }

    /// Of so many slots, which the caller has all written, from an address on.
    pub(in crate::kernel) fn at<T>(start: *const MaybeUninit<T>, len: usize) -> Self {
        Self { start: start.addr(), len }
    }

    /// Makes sure that it is of these slots.
    ///
    /// # Panics
    ///
    /// If it is of others: the code that fills them is wrong.
    pub(crate) fn check<T>(&self, out: &[MaybeUninit<T>]) {
        let slots = (out.as_ptr().addr(), out.len());
        assert!((self.start, self.len) == slots, "a proof of other slots");
    }
}
