//! Errors of storage that other storage around it names by addresses of its own.

use super::StorageError;
use std::sync::Arc;

/// The error of the storage below.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.source)]
struct Below(StorageError);

impl StorageError {
    /// This error as one of storage around that in which it was met, at an address of the former.
    pub(crate) fn around(self, address: usize) -> Self {
        Self { address, source: Arc::new(Below(self)) }
    }

    /// The error as it was met, without what was [around](Self::around) it.
    pub(crate) fn below(self) -> Self {
        match self.source.downcast_ref() {
            Some(Below(own)) => own.clone(),
            None => self,
        }
    }

    /// The error at the address that it names now, whatever it was below.
    pub(crate) fn here(self) -> Self {
        let address = self.address;
        self.below().at(address)
    }
}
