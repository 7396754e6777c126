//! The proof that an output was written.

use crate::error::{Error, Result};
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

    /// Of no slots.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if there are some.
    pub(crate) fn nothing<T>(out: &[MaybeUninit<T>]) -> Result<Self> {
        Self::together(Vec::new(), out)
    }

    /// Of slots that these proofs are of together, in any order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if they leave a slot, or are of others.
    pub(crate) fn together<T>(mut proofs: Vec<Self>, out: &[MaybeUninit<T>]) -> Result<Self> {
        proofs.sort_unstable_by_key(|proof| proof.start);
        let whole = Self::of(out);
        let mut end = whole.start;
        for proof in proofs.iter().filter(|proof| proof.len > 0) {
            if proof.start != end {
                return Err(Error::OutOfSpan { span: 0..out.len(), len: proof.len });
            }
            end = end.wrapping_add(proof.len.wrapping_mul(size_of::<T>()));
        }
        match end == whole.start.wrapping_add(size_of_val(out)) {
            true => Ok(whole),
            false => Err(Error::OutOfSpan { span: 0..out.len(), len: 0 }),
        }
    }

    /// How many slots it is of, which are the first of these.
    ///
    /// # Panics
    ///
    /// If it is of others: the code that fills them is wrong.
    pub(in crate::kernel) fn count_from<T>(&self, slots: &[MaybeUninit<T>]) -> usize {
        let first = self.start == slots.as_ptr().addr() && self.len <= slots.len();
        assert!(first, "a proof of other slots");
        self.len
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
