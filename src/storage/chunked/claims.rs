//! Blocks that are being stored: of each, one thread at a time.

use super::cache::lock;
use crate::error::StorageError;
use crate::memory::push;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The numbers of the blocks.
#[derive(Default)]
pub(super) struct Claims {
    numbers: Mutex<Vec<usize>>,
    signal: Condvar,
}

/// A block that is this thread's to store until it is dropped.
pub(super) struct Claim<'c> {
    claims: &'c Claims,
    number: usize,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut numbers = lock(&self.claims.numbers);
        if let Some(own) = numbers.iter().position(|&number| number == self.number) {
            numbers.swap_remove(own);
        }
        self.claims.signal.notify_all();
    }
}

impl Claims {
    /// Waits until no other thread stores the block, but not much longer than storing takes: a store that shares work
    /// among threads may wait for this one. `None` if one still does then.
    pub(super) fn claim(
        &self,
        number: usize,
        patience: Duration,
    ) -> Result<Option<Claim<'_>>, StorageError> {
        let numbers = lock(&self.numbers);
        let is_taken = |numbers: &mut Vec<usize>| numbers.contains(&number);
        let waited = self.signal.wait_timeout_while(numbers, patience, is_taken);
        let (mut numbers, result) = waited.unwrap_or_else(PoisonError::into_inner);
        if result.timed_out() {
            return Ok(None);
        }
        push(&mut numbers, number).map_err(|error| StorageError::new(0, error))?;
        Ok(Some(Claim { claims: self, number }))
    }
}
