//! The blocks that were used last: loaded once however many threads ask, in shards with a lock each.

use super::inside::Inside;
use super::shard::{Entry, Held, InTheWay, Load, Outcome, Removed, STORED, Shard, Totals, hash};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, StorageError};
use crate::memory::list;
use crate::storage::Block;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counters of a cache, see [`Chunked::stats`](super::Chunked::stats).
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) loads: AtomicUsize,
    pub(super) hits: AtomicUsize,
    pub(super) stores: AtomicUsize,
    pub(super) waits: AtomicUsize,
}

pub(super) fn increment(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks by their numbers.
pub(super) struct Cache<T> {
    shards: Vec<Mutex<Shard<T>>>,
    /// Most blocks of all shards.
    most: usize,
    pub(super) counters: Counters,
    pub(super) totals: Totals,
    /// Nanoseconds of the longest load or store.
    longest: AtomicU64,
}

/// What came of changing a block.
pub(super) enum Change {
    /// It is changed; blocks may have to be stored as [`Cache::put`] says.
    Made { in_the_way: InTheWay },
    /// There is nothing to change: a copy is, if loaded from now on and given with this number.
    Missing { seen: u64 },
}

/// How long a thread waits at least for a block that another one loads.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long a load or store is taken for until one has ended.
const EXPECTED: Duration = Duration::from_millis(250);
/// What is taken for the longest load or store at most: one that waits for itself, by way of others, takes as long as
/// they are patient.
const LONGEST: Duration = Duration::from_secs(5);

/// Caches of more blocks have several shards.
const SMALL: usize = 64;
/// Shards of a cache that is not small.
const SHARDS: usize = 16;

/// Takes a load, or a store, out of the cache and tells those that wait, also after a panic.
struct Announce<'c, T: Copy> {
    cache: &'c Cache<T>,
    number: usize,
    load: Arc<Load<T>>,
    found: Outcome<T>,
}

impl<T: Copy> Drop for Announce<'_, T> {
    fn drop(&mut self) {
        let mut shard = lock(self.cache.shard(self.number));
        if let Some(Entry::Loading(load) | Entry::Storing(load)) = shard.entries.get(&self.number)
            && Arc::ptr_eq(load, &self.load)
        {
            shard.entries.remove(&self.number);
        }
        drop(shard);
        *lock(&self.load.done) = Some(self.found.take());
        self.load.signal.notify_all();
    }
}

impl<T: Copy> Cache<T> {
    /// For so many blocks, at least one.
    pub(super) fn new(blocks: usize) -> Self {
        let blocks = blocks.max(1);
        let count = if blocks < SMALL { 1 } else { SHARDS };
        Self {
            shards: std::iter::repeat_with(Mutex::default).take(count).collect(),
            most: blocks,
            counters: Counters::default(),
            totals: Totals::default(),
            longest: AtomicU64::new(0),
        }
    }

    /// Blocks beyond which room is made.
    pub(super) fn capacity(&self) -> usize {
        self.most
    }

    /// The shard of a block.
    fn shard(&self, number: usize) -> &Mutex<Shard<T>> {
        &self.shards[(hash(number) >> 60) as usize % self.shards.len()]
    }

    /// Makes room: removes what was used longest ago, in any shard, but what is not stored; some of that are returned, in
    /// order. Locks one shard after another.
    fn make_room<'c>(&'c self) -> InTheWay {
        let (mut removed, mut in_the_way) = (Removed::new(), InTheWay::new());
        while in_the_way.len() < STORED && self.totals.held() > self.most + in_the_way.len() {
            let oldest = |shard: &'c Mutex<Shard<T>>| Some((lock(shard).oldest()?, shard));
            let first = self.shards.iter().filter_map(oldest).min_by_key(|(time, _)| *time);
            let Some((time, shard)) = first else { break };
            in_the_way.extend(lock(shard).evict(time, &self.totals, &mut removed));
        }
        in_the_way
    }

    /// Whether the block is there, or on its way.
    pub(super) fn knows(&self, number: usize) -> bool {
        lock(self.shard(number)).entries.contains_key(&number)
    }

    /// Numbers of all blocks that are not stored.
    pub(super) fn unsaved(&self) -> Vec<usize> {
        let mut unsaved: Vec<usize> = Vec::new();
        for shard in &self.shards {
            let shard = lock(shard);
            unsaved.extend(shard.entries.iter().filter_map(|(number, entry)| match entry {
                Entry::Held { held: Held::Changed(_), .. } => Some(*number),
                _ => None,
            }));
        }
        unsaved.sort_unstable();
        unsaved
    }

    /// Puts a block in the place of what is known of it; returns those that have to be stored to make room.
    pub(super) fn put(&self, number: usize, held: Held<T>) -> Result<InTheWay> {
        let mut removed = Removed::new();
        let mut shard = lock(self.shard(number));
        shard.make_room()?;
        shard.remove(number, &self.totals, &mut removed);
        shard.insert(number, held, false, &self.totals);
        drop(shard);
        Ok(self.make_room())
    }

    /// Changes a block where it lies, if it is one that is not stored, or puts the changed `copy` there, unless the block
    /// was stored since that was loaded, or is being stored.
    pub(super) fn change(
        &self,
        number: usize,
        copy: Option<(u64, Vec<T>)>,
        change: &mut dyn FnMut(&mut [T]),
    ) -> Result<Change> {
        let mut removed = Removed::new();
        let mut shard = lock(self.shard(number));
        if let Some(elements) = shard.unsaved(number) {
            // Readers of the old elements keep them.
            if Arc::get_mut(elements).is_none() {
                *elements = Arc::new(list(elements.iter().copied())?);
            }
            Arc::get_mut(elements).into_iter().for_each(|elements| change(elements));
            shard.touch(number, &self.totals);
            return Ok(Change::Made { in_the_way: InTheWay::new() });
        }
        let is_stored = matches!(shard.entries.get(&number), Some(Entry::Storing(_)));
        match copy {
            Some((seen, mut elements)) if !is_stored && seen == *shard.renewed(number) => {
                shard.make_room()?;
                change(&mut elements);
                shard.remove(number, &self.totals, &mut removed);
                shard.insert(number, Held::Changed(Arc::new(elements)), false, &self.totals);
                drop(shard);
                Ok(Change::Made { in_the_way: self.make_room() })
            }
            _ => Ok(Change::Missing { seen: *shard.renewed(number) }),
        }
    }

    /// The elements of a block that is not stored.
    pub(super) fn unsaved_elements(&self, number: usize) -> Option<Arc<Vec<T>>> {
        lock(self.shard(number)).unsaved(number).cloned()
    }

    /// Forgets a block that another cache has now.
    pub(super) fn forget(&self, number: usize) {
        let mut removed = Removed::new();
        lock(self.shard(number)).remove(number, &self.totals, &mut removed);
    }

    /// Makes room for others: forgets a block that is held, unless it is one that is not stored.
    pub(super) fn let_go(&self, number: usize) {
        let mut removed = Removed::new();
        let mut shard = lock(self.shard(number));
        if shard.holds(number) && shard.unsaved(number).is_none() {
            shard.remove(number, &self.totals, &mut removed);
        }
    }

    /// Stores a block past the cache. Other threads that ask for it meanwhile wait, and load it then.
    pub(super) fn store<R>(&self, number: usize, store: impl FnOnce() -> R) -> R {
        let mut removed = Removed::new();
        let own = Arc::new(Load { done: Mutex::new(None), signal: Condvar::new() });
        let mut shard = lock(self.shard(number));
        shard.remove(number, &self.totals, &mut removed);
        if shard.make_room().is_ok() {
            shard.entries.insert(number, Entry::Storing(own.clone()));
        }
        drop(shard);
        let _announce = Announce { cache: self, number, load: own, found: None };
        let _inside = Inside::enter();
        let done = self.timed(store);
        *lock(self.shard(number)).renewed(number) += 1;
        done
    }

    /// A block that was changed is stored now, if it is still the same.
    pub(super) fn stored(&self, number: usize, elements: &Arc<Vec<T>>)
    where
        T: Send + Sync + 'static,
    {
        let mut shard = lock(self.shard(number));
        if let Some(Entry::Held { held, .. }) = shard.entries.get_mut(&number)
            && let Held::Changed(own) = held
            && Arc::ptr_eq(own, elements)
        {
            *held = Held::Shared(elements.clone());
            *shard.renewed(number) += 1;
        }
    }

    /// The block of this number, from `load` if it is not there. Of threads that ask at once one loads and the others
    /// wait.
    ///
    /// A thread inside a load neither waits nor lets others wait, as what it waits for may be among its own tasks. Where
    /// loads share work among threads, a thread that is inside none may run a part of one, and wait in a circle all the
    /// same; so none waits much longer than loads take.
    pub(super) fn load<'b>(
        &self,
        number: usize,
        ahead: bool,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<(Block<'b, T>, InTheWay), StorageError>
    where
        T: Send + Sync + 'static,
    {
        loop {
            let other = {
                let mut shard = lock(self.shard(number));
                if let Some(held) = shard.touch(number, &self.totals) {
                    increment(&self.counters.hits);
                    return Ok((held.into_block(), InTheWay::new()));
                }
                match shard.entries.get(&number) {
                    _ if Inside::any() => {
                        let seen = *shard.renewed(number);
                        drop(shard);
                        return Ok((self.inside(number, seen, load)?, InTheWay::new()));
                    }
                    Some(Entry::Loading(other) | Entry::Storing(other)) => other.clone(),
                    _ => {
                        let own = Arc::new(Load { done: Mutex::new(None), signal: Condvar::new() });
                        if shard.entries.try_reserve(1).is_ok() {
                            shard.entries.insert(number, Entry::Loading(own.clone()));
                        }
                        drop(shard);
                        return self.run(number, own, ahead, load);
                    }
                }
            };
            increment(&self.counters.waits);
            let done = lock(&other.done);
            let waited =
                other.signal.wait_timeout_while(done, self.patience(), |done| done.is_none());
            let done = waited.unwrap_or_else(PoisonError::into_inner).0.clone();
            match done {
                Some(Some(found)) => {
                    let found = found?;
                    lock(self.shard(number)).touch(number, &self.totals);
                    return Ok((found.into_block(), InTheWay::new()));
                }
                // It panicked, or lends what it has.
                Some(None) => continue,
                None => return Ok((self.alone(load)?, InTheWay::new())),
            }
        }
    }

    /// How long a thread waits for a block that another one loads.
    fn patience(&self) -> Duration {
        let longest = match self.longest.load(Ordering::Relaxed) {
            0 => EXPECTED,
            nanoseconds => Duration::from_nanos(nanoseconds),
        };
        PATIENCE + 4 * longest
    }

    /// How long a thread waits for a block that another one stores: there is nothing that it could do instead.
    pub(super) fn patience_with_stores(&self) -> Duration {
        LONGEST + self.patience()
    }

    /// Loads or stores, and notes how long that takes.
    pub(super) fn timed<R>(&self, run: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let done = run();
        let took = start.elapsed().min(LONGEST).as_nanos();
        self.longest.fetch_max(took as u64, Ordering::Relaxed);
        done
    }

    /// Loads a block for this thread and nobody else.
    fn alone<'b>(
        &self,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<Block<'b, T>, StorageError> {
        let _inside = Inside::enter();
        load()
    }

    /// Loads a block inside another load. It is kept if nobody knows or stored it meanwhile, and if nothing has to be
    /// stored to make room: what a store waits for may be the load around this one.
    fn inside<'b>(
        &self,
        number: usize,
        seen: u64,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<Block<'b, T>, StorageError>
    where
        T: Send + Sync + 'static,
    {
        let block = self.alone(load)?;
        let mut shard = lock(self.shard(number));
        if let Some(held) = Held::of(&block)
            && !shard.entries.contains_key(&number)
            && seen == *shard.renewed(number)
        {
            shard.insert(number, held, false, &self.totals);
            drop(shard);
            if !self.make_room().is_empty() {
                self.let_go(number);
            }
        }
        Ok(block)
    }

    /// Loads a block for this thread and all that wait.
    fn run<'b>(
        &self,
        number: usize,
        own: Arc<Load<T>>,
        ahead: bool,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<(Block<'b, T>, InTheWay), StorageError>
    where
        T: Send + Sync + 'static,
    {
        let mut announce = Announce { cache: self, number, load: own, found: None };
        let block = match self.timed(|| self.alone(load)) {
            Ok(block) => block,
            Err(error) => {
                announce.found = Some(Err(error.clone()));
                return Err(error);
            }
        };
        let Some(held) = Held::of(&block) else { return Ok((block, InTheWay::new())) };
        let mut in_the_way = InTheWay::new();
        let mut shard = lock(self.shard(number));
        // What was stored or changed meanwhile is newer.
        if matches!(shard.entries.get(&number), Some(Entry::Loading(own)) if Arc::ptr_eq(own, &announce.load))
        {
            shard.entries.remove(&number);
            shard.insert(number, held.clone(), ahead, &self.totals);
            drop(shard);
            in_the_way = self.make_room();
        } else {
            drop(shard);
        }
        announce.found = Some(Ok(held));
        Ok((block, in_the_way))
    }
}
