//! Blocks as storage, behind a cache.

mod ahead;
mod cache;
mod claims;
mod inside;
mod memory;
mod read;
mod shard;
mod write;

pub use memory::BlockMemory;
pub use write::NotStored;

use super::{Block, Blocks};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, StorageError};
use crate::grid::Sides;
use crate::memory::debug_of_fields;
use ahead::Ahead;
use cache::{Cache, increment};
use claims::Claims;
use inside::Inside;
use shard::Held;
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use write::Saver;

/// Bytes of blocks that a new cache holds.
const BUDGET_BYTES: usize = 64 << 20;

/// What it takes to keep a block, about, however few elements it has.
const KEEPING_BYTES: usize = 256;

/// Storage in blocks as a reader, and as a writer if its blocks can be stored, behind a cache of the blocks that were
/// used last.
///
/// Clones share the storage and the cache. A block is loaded once however many threads ask for it at once; an error is
/// not kept. Unless a call says otherwise, a cache holds 64 MiB, or one block for each processor if that is more.
///
/// # Writing
///
/// Assignments, updates and fills store each block once, before they return: blocks that they cover are stored as they
/// are, others are loaded and changed first. Sparse expressions store the fill value everywhere, and then the blocks that
/// have entries; lists of elements store what is changed, before they return. Single writes stay in the cache until [`Self::flush`], or until their
/// block has to make room. A block whose store failed stays in the cache: the error names its first address,
/// [`Self::unsaved`] lists it, and [`Self::flush`] tries again. Dropping the last clone flushes and swallows errors, as
/// that of a [`BufWriter`](std::io::BufWriter) does; [`Self::into_inner`] reports them instead.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::storage::{BlockMemory, Chunked};
///
/// let blocks = BlockMemory::new([100, 100], [32, 32], 0.0_f64)?;
/// let mut t = Tensor::new([100, 100], Chunked::new(blocks)?)?;
/// t.assign(&Tensor::full([100, 100], 1.0)?)?;
/// assert_eq!(t.view().transpose([1, 0])?.slice(0, 0..10)?.sum(..).item()?, 1000.0);
/// assert_eq!(t.storage().stats().stores, 16);
/// # Ok::<(), Error>(())
/// ```
pub struct Chunked<S: Blocks>
where
    S::Elem: 'static,
{
    inner: Arc<Owner<S>>,
}

/// What clones share. Dropping it stores what is not stored, and swallows errors.
struct Owner<S: Blocks>(Arc<Inner<S>>)
where
    S::Elem: 'static;

/// What threads that load ahead share with it, while they load.
struct Inner<S: Blocks>
where
    S::Elem: 'static,
{
    storage: Arc<S>,
    sides: Sides,
    cache: Cache<S::Elem>,
    claims: Claims,
    /// How blocks are stored, known since the first was changed.
    saver: OnceLock<Saver<S>>,
    /// The last block that could not be stored to make room for one that is read: until others are changed or flushed,
    /// readers do not try it again.
    refused: AtomicUsize,
    ahead: Option<Ahead>,
    /// How many threads load ahead, and what starts them.
    starter: Option<(usize, Starter<S>)>,
    check: Option<Arc<Check>>,
}

type Starter<S> = fn(&Arc<Inner<S>>) -> io::Result<()>;
type Check = dyn Fn() -> Result<(), StorageError> + Send + Sync;

/// How often a cache was asked, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Blocks that the storage loaded.
    pub loads: usize,
    /// Blocks that were there.
    pub hits: usize,
    /// Blocks that the storage stored.
    pub stores: usize,
    /// Times that a thread waited for a block that another one loaded.
    pub waits: usize,
}

impl<S: Blocks> Clone for Chunked<S>
where
    S::Elem: 'static,
{
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

debug_of_fields!([S: Blocks<Elem: 'static>] Chunked<S> |own|
    extents: own.inner.sides.extents, block: own.inner.sides.block, stats: own.stats());

impl<S: Blocks> Chunked<S>
where
    S::Elem: 'static,
{
    /// Storage behind a cache of 64 MiB.
    ///
    /// # Errors
    ///
    /// [`Error::Blocks`] if a block has no elements, if the numbers of axes differ, if blocks begin farther
    /// apart than they are long or are of another extent, or if there are more elements than addresses.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let t = Tensor::new([4, 6], Chunked::new(BlockMemory::new([4, 6], [2, 2], 1.5)?)?)?;
    /// assert_eq!(t.view().slice(0, ..1)?.to_vec()?, [1.5; 6]);
    /// assert_eq!(t.storage().stats().loads, 3); // of six blocks
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(storage: S) -> Result<Self> {
        let sides = Sides::of(&storage)?;
        let bytes = sides.block_len.saturating_mul(size_of::<S::Elem>()).max(KEEPING_BYTES);
        let blocks = (BUDGET_BYTES / bytes).max(processors());
        Ok(Self::of(Inner::new(Arc::new(storage), sides, blocks)))
    }

    /// The same storage behind a new cache of `bytes`, or of one block for each processor if that is more. What it takes
    /// to keep a block, some 256 bytes, is not counted. Its counts begin at 0. Blocks that are changed and not yet stored move to it; if there are clones, which keep the old cache,
    /// they are stored first, and those that cannot be stored stay with the clones. Afterwards, what is written through
    /// one cache may not be seen through the other. What [`Self::with_ahead`] asked for holds for the new one, as far as
    /// threads can be started.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let roomy = Chunked::new(BlockMemory::new([4], [2], 1.0)?)?.with_budget(1 << 20);
    /// let t = Tensor::new([4], roomy)?;
    /// assert_eq!((t.sum(..).item()?, t.sum(..).item()?), (4.0, 4.0));
    /// assert_eq!(t.storage().stats().loads, 2); // both blocks were kept
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_budget(self, bytes: usize) -> Self {
        let each = self.inner.sides.block_len.saturating_mul(size_of::<S::Elem>()).max(1);
        self.with_blocks((bytes / each).max(processors()))
    }

    /// As [`Self::with_budget`], with a cache of so many blocks, at least one.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let one = Chunked::new(BlockMemory::new([4], [2], 1.0)?)?.with_blocks(1);
    /// let t = Tensor::new([4], one)?;
    /// assert_eq!((t.sum(..).item()?, t.sum(..).item()?), (4.0, 4.0));
    /// assert_eq!(t.storage().stats().loads, 4); // two would do if both blocks were kept
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_blocks(self, blocks: usize) -> Self {
        self.rebuilt(|inner| inner.cache = Cache::new(blocks)).0
    }

    /// As [`Self::with_blocks`], with `check` asked before every load: an error of it ends the evaluation, and what
    /// is loaded ahead. So long work can be cancelled.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::{StorageError, storage::{BlockMemory, Chunked}};
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed}};
    /// let cancelled = Arc::new(AtomicBool::new(false));
    /// let flag = cancelled.clone();
    /// let check = move || if flag.load(Relaxed) { Err(StorageError::new(0, "cancelled")) } else { Ok(()) };
    /// let t = Tensor::new([4], Chunked::new(BlockMemory::new([4], [2], 1)?)?.with_check(check))?;
    /// assert_eq!(t.get([0])?, 1);
    /// cancelled.store(true, Relaxed); // by another thread, while an evaluation runs
    /// assert!(t.sum(..).item().unwrap_err().to_string().contains("cancelled"));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_check(
        self,
        check: impl Fn() -> Result<(), StorageError> + Send + Sync + 'static,
    ) -> Self {
        self.rebuilt(|inner| inner.check = Some(Arc::new(check))).0
    }

    fn of(inner: Inner<S>) -> Self {
        Self { inner: Arc::new(Owner(Arc::new(inner))) }
    }

    /// The same storage behind another cache, and whether the threads that load ahead could be started.
    fn rebuilt(self, change: impl FnOnce(&mut Inner<S>)) -> (Self, io::Result<()>) {
        let old = &self.inner;
        let mut inner = Inner::new(old.storage.clone(), old.sides.clone(), old.cache.capacity());
        (inner.check, inner.starter) = (old.check.clone(), old.starter);
        change(&mut inner);
        inner.ahead = inner.starter.map(|(threads, _)| Ahead::new(threads, &inner.cache));
        let has_clones = Arc::strong_count(old) > 1;
        if let Some(ahead) = old.ahead.as_ref().filter(|_| !has_clones) {
            // Threads that load ahead store blocks to make room.
            ahead.end();
            ahead.wait();
        }
        for number in old.cache.unsaved() {
            if has_clones {
                // What fails stays with the clones.
                let _ = old.save(number, old.cache.patience_with_stores());
            } else if let Some(elements) = old.cache.unsaved_elements(number)
                && inner.cache.put(number, Held::Changed(elements)).is_ok()
            {
                old.cache.forget(number);
            }
        }
        if let Some(&Saver { store, finish }) = old.saver.get() {
            inner.saver.get_or_init(|| Saver { store, finish });
        }
        let chunked = Self::of(inner);
        let started = chunked.inner.starter.map_or(Ok(()), |(_, start)| start(&chunked.inner.0));
        (chunked, started)
    }

    /// The storage below. What was written to it behind the cache may not be seen.
    pub fn storage(&self) -> &S {
        &self.inner.storage
    }

    /// Counts since this was made.
    pub fn stats(&self) -> Stats {
        let counters = &self.inner.cache.counters;
        Stats {
            loads: counters.loads.load(Ordering::Relaxed),
            hits: counters.hits.load(Ordering::Relaxed),
            stores: counters.stores.load(Ordering::Relaxed),
            waits: counters.waits.load(Ordering::Relaxed),
        }
    }
}

impl<S: Blocks> Inner<S>
where
    S::Elem: 'static,
{
    fn new(storage: Arc<S>, sides: Sides, blocks: usize) -> Self {
        let cache = Cache::new(blocks);
        let (claims, saver) = (Claims::default(), OnceLock::new());
        let refused = AtomicUsize::new(usize::MAX);
        let (ahead, starter, check) = (None, None, None);
        Self { storage, sides, cache, claims, saver, refused, ahead, starter, check }
    }

    /// A block, from the cache if it is there.
    fn load(&self, index: &[usize], ahead: bool) -> Result<Block<'_, S::Elem>, StorageError> {
        let Some(number) = self.sides.number(index) else {
            return Err(StorageError::new(0, format!("there is no block {index:?}")));
        };
        let len = self.sides.block_len;
        let load = || {
            if let Some(check) = &self.check {
                check()?;
            }
            increment(&self.cache.counters.loads);
            let block = self.storage.load(index).map_err(|error| self.named(index, error))?;
            block.check(len, self.sides.first_address(index))?;
            Ok(block)
        };
        let loaded = self.cache.load(number, ahead, &load).map(|(block, in_the_way)| {
            for other in in_the_way {
                // Where that fails, the block stays in the cache, and a flush says why.
                let known = self.refused.load(Ordering::Relaxed) == other;
                if !known && self.save(other, Duration::ZERO).is_err() {
                    self.refused.store(other, Ordering::Relaxed);
                }
            }
            block
        });
        if let Some(ahead) = &self.ahead {
            ahead.go_on(number);
        }
        loaded
    }

    /// Stores a block if it is one that is not stored; returns whether another thread still does after some time.
    fn save(&self, number: usize, patience: Duration) -> Result<bool, StorageError> {
        let Some(saver) = self.saver.get() else { return Ok(false) };
        let index = self.sides.index(number);
        let claim = self.claims.claim(number, patience).map_err(|error| self.named(&index, error));
        let Some(_claim) = claim? else { return Ok(true) };
        if let Some(elements) = self.cache.unsaved_elements(number) {
            increment(&self.cache.counters.stores);
            let _inside = Inside::enter();
            let saved = self.cache.timed(|| (saver.store)(&self.storage, &index, &elements));
            saved.map_err(|error| self.named(&index, error))?;
            self.cache.stored(number, &elements);
        }
        Ok(false)
    }

    /// The same; an error if another thread stores it for longer than anyone waits.
    fn save_or_taken(&self, number: usize) -> Result<(), StorageError> {
        match self.save(number, self.cache.patience_with_stores())? {
            true => Err(self.taken(&self.sides.index(number))),
            false => Ok(()),
        }
    }

    /// An error of a block, at its first address.
    fn named(&self, index: &[usize], error: StorageError) -> StorageError {
        error.at(self.sides.first_address(index))
    }

    /// Another thread stores the block, for longer than anyone waits.
    fn taken(&self, index: &[usize]) -> StorageError {
        self.named(index, StorageError::new(0, "another thread stores the block"))
    }

    /// Stores all blocks that were changed, trying each, and what the storage holds back; the first error is reported.
    fn flush(&self) -> Result<(), StorageError> {
        self.refused.store(usize::MAX, Ordering::Relaxed);
        let mut done = Ok(());
        for number in self.cache.unsaved() {
            done = done.and(self.save_or_taken(number));
        }
        done.and(self.finish())
    }

    /// Has the storage below store what it holds back.
    fn finish(&self) -> Result<(), StorageError> {
        let Some(saver) = self.saver.get() else { return Ok(()) };
        let _inside = Inside::enter();
        (saver.finish)(&self.storage)
    }
}

impl<S: Blocks> Deref for Owner<S>
where
    S::Elem: 'static,
{
    type Target = Inner<S>;

    fn deref(&self) -> &Inner<S> {
        &self.0
    }
}

impl<S: Blocks> Drop for Owner<S>
where
    S::Elem: 'static,
{
    fn drop(&mut self) {
        if let Some(ahead) = &self.ahead {
            ahead.end();
        }
        // After a panic of the storage the rest is stored all the same, and one that unwinds already goes on.
        for number in self.cache.unsaved() {
            let _ = catch_unwind(AssertUnwindSafe(|| self.save_or_taken(number)));
        }
        let _ = catch_unwind(AssertUnwindSafe(|| self.finish()));
    }
}

/// Processors that may ask at once.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
