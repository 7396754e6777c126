//! Leaves that are operations of their own: computed before the expression that reads them, once.

use super::node::Tree;
use crate::error::{Result, StorageError};
use crate::storage::Reader;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What keeps the results of deferred operations alive while an evaluation runs.
#[derive(Default)]
pub struct Kept<'a>(Vec<Arc<dyn Hold + 'a>>);

/// Anything that is kept.
pub(crate) trait Hold: Send + Sync {}

impl<T: Send + Sync> Hold for T {}

impl<'a> Kept<'a> {
    pub(crate) fn keep<T: Send + Sync + 'a>(&mut self, result: Arc<T>) {
        self.0.push(result);
    }
}

impl std::fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({})", self.0.len())
    }
}

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

    /// The result that some evaluation holds, or else the one of `compute`.
    pub(crate) fn get_or(&self, compute: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        match self.get() {
            Some(result) => Ok(result),
            None => Ok(self.set(compute()?)),
        }
    }

    /// The result, if some evaluation holds it.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.cell().upgrade()
    }

    /// The result that all evaluations share: this one, unless another thread was faster and still holds its own. What
    /// an evaluation holds is never replaced, as its leaves look for it here.
    fn set(&self, result: T) -> Arc<T> {
        let mut cell = self.cell();
        if let Some(earlier) = cell.upgrade() {
            return earlier;
        }
        let result = Arc::new(result);
        *cell = Arc::downgrade(&result);
        result
    }
}

/// A deferred operation as a leaf. Not for use.
#[doc(hidden)]
pub trait Prepare {
    /// Computes the operation, and those that it reads, unless some evaluation holds the result already.
    ///
    /// # Errors
    ///
    /// What computing reports.
    fn prepare<'a>(&'a self, kept: &mut Kept<'a>) -> Result<()>;
}

/// Computes the deferred leaves of `e`, left to right; they are to be kept until `e` has been evaluated. Nothing
/// is computed for an expression that carries an error or has no elements.
#[inline]
pub(crate) fn prepare(e: &dyn Tree) -> Result<Kept<'_>> {
    if defers(e) { compute(e) } else { Ok(Kept::default()) }
}

/// Calls `visit` with the deferred operations that an operand reads, if it has elements.
#[inline(always)]
pub(crate) fn deferred_of<'a, E: Tree + ?Sized>(e: &'a E, visit: Visit<'_, 'a>) {
    let mut some = None;
    e.deferred(&mut |operation| {
        if *some.get_or_insert_with(|| e.shape().is_ok_and(|shape| !shape.contains(&0))) {
            visit(operation);
        }
    });
}

/// Whether some leaf is a deferred operation.
#[inline]
pub(crate) fn defers(e: &dyn Tree) -> bool {
    let mut some = false;
    e.deferred(&mut |_| some = true);
    some
}

#[cold]
fn compute(e: &dyn Tree) -> Result<Kept<'_>> {
    prepared(e.shape()?.count()? > 0, &mut |visit| e.deferred(visit))
}

/// What is called with deferred operations.
type Visit<'v, 'a> = &'v mut dyn FnMut(&'a dyn Prepare);

/// What all deferred operations that `each` visits compute, to be kept until it has been read, if there are `some` elements
/// to compute from them.
#[inline]
pub(crate) fn prepared<'a>(some: bool, each: &mut dyn FnMut(Visit<'_, 'a>)) -> Result<Kept<'a>> {
    let mut kept = Kept::default();
    if some {
        prepare_all(each, &mut kept)?;
    }
    Ok(kept)
}

/// Prepares all deferred operations that `each` visits.
pub(crate) fn prepare_all<'a>(
    each: &mut dyn FnMut(Visit<'_, 'a>),
    kept: &mut Kept<'a>,
) -> Result<()> {
    let mut done = Ok(());
    each(&mut |operation| {
        if done.is_ok() {
            done = operation.prepare(kept);
        }
    });
    done
}

/// In the place of a result that was not computed.
#[derive(Clone)]
pub(crate) struct Missing<T> {
    pub(crate) len: usize,
    elem: PhantomData<T>,
}

impl<T> Missing<T> {
    pub(crate) fn new(len: usize) -> Self {
        Self { len, elem: PhantomData }
    }
}

impl<T: Copy + Send + Sync> Reader for Missing<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    ///
    /// Panics: there are no elements.
    fn read(&self, address: usize) -> T {
        panic!("element {address} was not computed")
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        Err(StorageError::new(address, "the operation was not computed"))
    }
}
