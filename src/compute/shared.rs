//! Results that several readers share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A result, as long as some evaluation holds it.
#[derive(Debug)]
pub(crate) struct SharedResult<T>(Mutex<Weak<T>>);

impl<T> Default for SharedResult<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> SharedResult<T> {
    fn cell(&self) -> MutexGuard<'_, Weak<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result, if some evaluation holds it.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.cell().upgrade()
    }

    /// The result that all evaluations share: this one, unless another thread was faster and still holds its own. What
    /// an evaluation holds is never replaced, as its leaves look for it here.
    pub(crate) fn set(&self, result: T) -> Arc<T> {
        let mut cell = self.cell();
        if let Some(earlier) = cell.upgrade() {
            return earlier;
        }
        let result = Arc::new(result);
        *cell = Arc::downgrade(&result);
        result
    }
}
