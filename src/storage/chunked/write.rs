//! Writing through the cache.

use super::cache::{Cache, Change, increment};
use super::read::Part;
use super::shard::{Held, InTheWay};
use super::{Ahead, Chunked, Inner};
use crate::error::{Error, StorageError};
use crate::memory::list;
use crate::storage::{BlockIndex, Blocks, BlocksMut, Writer, stepped};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How the blocks of a storage are stored, known to those who only know that it can be read.
pub(super) struct Saver<S: Blocks> {
    pub(super) store: Store<S>,
    pub(super) finish: fn(&S) -> Result<(), StorageError>,
}

type Store<S> = fn(&S, &[usize], &[<S as Blocks>::Elem]) -> Result<(), StorageError>;

impl<S: BlocksMut> Saver<S> {
    fn new() -> Self {
        Self { store: S::store, finish: S::finish }
    }
}

/// A cache that could not be taken off its storage: [`Chunked::into_inner`] gives it back.
#[derive(thiserror::Error)]
#[error("the storage cannot be taken from its cache: {error}")]
pub struct NotStored<S: Blocks>
where
    S::Elem: 'static,
{
    /// What it was, with all blocks that are not stored.
    pub chunked: Chunked<S>,
    /// Why.
    #[source]
    pub error: StorageError,
}

impl<S: Blocks> fmt::Debug for NotStored<S>
where
    S::Elem: 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("NotStored");
        shown.field("chunked", &self.chunked).field("error", &self.error).finish()
    }
}

/// Why; the cache is let go.
impl<S: Blocks> From<NotStored<S>> for Error
where
    S::Elem: 'static,
{
    fn from(refused: NotStored<S>) -> Self {
        refused.error.into()
    }
}

impl<S: BlocksMut> Chunked<S>
where
    S::Elem: 'static,
{
    /// Stores all blocks that were changed. Each is tried; those that fail stay changed.
    ///
    /// # Errors
    ///
    /// The first error of the storage, with the first address of its block.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let mut t = Tensor::new([4, 4], Chunked::new(BlockMemory::new([4, 4], [2, 2], 0)?)?)?;
    /// t.set([0, 3], 7)?; // a single write stays in the cache
    /// assert_eq!(t.storage().unsaved()[0].as_slice(), [0, 1]);
    /// t.storage().flush()?;
    /// assert_eq!((t.storage().unsaved().len(), t.storage().stats().stores), (0, 1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn flush(&self) -> Result<(), StorageError> {
        self.inner.flush()
    }

    /// The blocks that are not stored, in order.
    pub fn unsaved(&self) -> Vec<BlockIndex> {
        let numbers = self.inner.cache.unsaved();
        let mut unsaved = Vec::new();
        unsaved.extend(numbers.iter().map(|&number| self.inner.sides.index(number)));
        unsaved
    }

    /// The storage, with all blocks stored.
    ///
    /// # Errors
    ///
    /// [`NotStored`], with this cache in it, if a block cannot be stored or if there are clones.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let mut t = Tensor::new([4, 4], Chunked::new(BlockMemory::new([4, 4], [2, 2], 0)?)?)?;
    /// t.assign(7)?;
    /// let blocks: BlockMemory<i32> = t.into_storage().into_inner()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_inner(self) -> Result<S, NotStored<S>> {
        let shared = |chunked| NotStored {
            chunked,
            error: StorageError::new(0, "a clone shares the storage"),
        };
        let owner = match Arc::try_unwrap(self.inner) {
            Ok(owner) => owner,
            Err(inner) => return Err(shared(Self { inner })),
        };
        let flushed = owner.flush();
        let is_shared = Arc::strong_count(&owner.storage) > 1;
        if flushed.is_err() || is_shared {
            let chunked = Self { inner: Arc::new(owner) };
            return Err(match flushed {
                Err(error) => NotStored { chunked, error },
                Ok(()) => shared(chunked),
            });
        }
        let (storage, sides, blocks) =
            (owner.storage.clone(), owner.sides.clone(), owner.cache.capacity());
        let ahead = owner.ahead.clone();
        drop(owner);
        // Threads that load ahead let it go.
        ahead.iter().for_each(Ahead::wait);
        Arc::try_unwrap(storage)
            .map_err(|storage| shared(Self::of(Inner::new(storage, sides, blocks))))
    }
}

impl<S: BlocksMut> Inner<S>
where
    S::Elem: 'static,
{
    /// Changes a block in the cache, for what is written from `address` on. Returns its number, and blocks that have to be
    /// stored to make room for it.
    fn change(
        &self,
        index: &[usize],
        address: usize,
        change: &mut dyn FnMut(&mut [S::Elem]),
    ) -> Result<(usize, InTheWay), StorageError> {
        self.saver.get_or_init(Saver::new);
        self.refused.store(usize::MAX, Ordering::Relaxed);
        let Some(number) = self.sides.number(index) else {
            return Err(StorageError::new(address, format!("there is no block {index:?}")));
        };
        let failed = |error: Error| StorageError::new(address, error);
        let (mut copy, mut deadline) = (None, None);
        loop {
            match self.cache.change(number, copy.take(), change).map_err(failed)? {
                Change::Made { in_the_way } => return Ok((number, in_the_way)),
                Change::Missing { seen } => {
                    // Whoever stores the block for longer than anyone waits may wait for this thread.
                    let now = Instant::now();
                    let patience = self.cache.patience_with_stores();
                    if *deadline.get_or_insert(now + patience) < now {
                        return Err(self.taken(index));
                    }
                    let block = self.load(index, false).map_err(|e| e.at(address))?;
                    copy = Some((seen, block.to_list(self.sides.block_len).map_err(failed)?));
                }
            }
        }
    }

    /// Changes a block that stays in the cache. An error of another block, which is in the way, names that block.
    fn change_and_keep(
        &self,
        index: &[usize],
        address: usize,
        change: &mut dyn FnMut(&mut [S::Elem]),
    ) -> Result<(), StorageError> {
        let (_, in_the_way) = self.change(index, address, change)?;
        self.store_first(&in_the_way)
    }

    /// Stores blocks to make room. Where other threads store all of them already, one is waited for: whoever writes
    /// faster than that would fill the memory.
    fn store_first(&self, in_the_way: &[usize]) -> Result<(), StorageError> {
        let (mut all_taken, mut done) = (true, Ok(()));
        for &other in in_the_way {
            let saved = self.save(other, Duration::ZERO);
            all_taken &= matches!(saved, Ok(true));
            done = done.and(saved.map(drop));
        }
        match in_the_way.first() {
            Some(&first) if all_taken => {
                self.save(first, self.cache.patience_with_stores()).map(drop)
            }
            _ => done,
        }
    }
}

/// Single writes, and runs of them, change blocks in the cache.
impl<S: BlocksMut> Writer for Chunked<S>
where
    S::Elem: 'static,
{
    /// # Panics
    ///
    /// Panics where [`Self::try_write`] reports an error.
    fn write(&mut self, address: usize, value: S::Elem) {
        self.try_write(address, value).unwrap_or_else(|error| panic!("{error}"));
    }

    fn try_write(&mut self, address: usize, value: S::Elem) -> Result<(), StorageError> {
        self.write_run(address, 1, &[value])
    }

    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[S::Elem],
    ) -> Result<(), StorageError> {
        let mut done = 0;
        while done < from.len() {
            let Part { address, index, inside, count } =
                self.inner.part(start, step, done..from.len())?;
            let part = &from[done..done + count];
            self.inner.change_and_keep(&index, address, &mut |block| {
                for (k, &value) in part.iter().enumerate() {
                    if let Some(slot) = block.get_mut(stepped(inside, step, k)) {
                        *slot = value;
                    }
                }
            })?;
            done += part.len();
        }
        Ok(())
    }

    fn write_at(&mut self, addresses: &[usize], from: &[S::Elem]) -> Result<(), StorageError> {
        let places = self.inner.by_block(&addresses[..addresses.len().min(from.len())])?;
        for places in places.chunk_by(|a, b| a.block == b.block) {
            let Some(first) = places.first() else { continue };
            let index = self.inner.sides.index(first.block);
            self.inner.change_and_keep(&index, addresses[first.number], &mut |block| {
                for place in places {
                    if let Some(slot) = block.get_mut(place.inside) {
                        *slot = from[place.number];
                    }
                }
            })?;
        }
        Ok(())
    }

    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = S::Elem>> {
        Some(self)
    }
}

/// Elements of a block that are not stored. The cache keeps them when this is dropped, also by a panic.
struct Kept<'c, T: Copy + Send + Sync + 'static> {
    cache: &'c Cache<T>,
    number: usize,
    from: &'c [T],
}

impl<T: Copy + Send + Sync + 'static> Drop for Kept<'_, T> {
    fn drop(&mut self) {
        if let Ok(kept) = list(self.from.iter().copied()) {
            // Room is made at the next flush.
            let _ = self.cache.put(self.number, Held::Changed(Arc::new(kept)));
        }
    }
}

/// Whole blocks past the cache, which keeps what could not be stored: whoever asks for a block meanwhile waits for it. Parts
/// of blocks are changed in the cache first, so that what others write to the same block is neither lost nor loses this.
impl<S: BlocksMut> BlocksMut for Chunked<S>
where
    S::Elem: 'static,
{
    fn store(&self, index: &[usize], from: &[S::Elem]) -> Result<(), StorageError> {
        let inner = &self.inner;
        inner.saver.get_or_init(Saver::new);
        let len = inner.sides.block_len;
        let Some(number) = inner.sides.number(index).filter(|_| from.len() == len) else {
            let text = format!("{} elements for block {index:?}", from.len());
            return Err(StorageError::new(0, text));
        };
        let kept = Kept { cache: &inner.cache, number, from };
        let patience = inner.cache.patience_with_stores();
        let claim = inner.claims.claim(number, patience).map_err(|error| inner.named(index, error));
        let Some(_claim) = claim? else {
            return Err(inner.taken(index));
        };
        increment(&inner.cache.counters.stores);
        let stored = inner.cache.store(number, || {
            let stored = inner.storage.store(index, from);
            match &stored {
                Ok(()) => std::mem::forget(kept),
                Err(_) => drop(kept),
            }
            stored
        });
        stored.map_err(|error| inner.named(index, error))
    }

    fn change(
        &self,
        index: &[usize],
        change: &mut dyn FnMut(&mut [S::Elem]),
    ) -> Result<(), StorageError> {
        // Nothing is in the way: this block does not stay.
        let (number, _) =
            self.inner.change(index, self.inner.sides.first_address(index), change)?;
        self.inner.save_or_taken(number)?;
        // It makes room for others.
        self.inner.cache.let_go(number);
        Ok(())
    }

    fn finish(&self) -> Result<(), StorageError> {
        self.inner.flush()
    }
}
