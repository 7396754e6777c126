//! The blocks that were used last: loaded once however many threads ask, in shards with a lock each.

use crate::error::StorageError;
use crate::storage::Block;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Elements of a block that outlive a borrow.
pub(super) enum Held<T> {
    Fill(T),
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
    /// Written here, and not stored yet.
    Changed(Arc<Vec<T>>),
}

impl<T: Copy> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Fill(value) => Self::Fill(*value),
            Self::Shared(elements) => Self::Shared(elements.clone()),
            Self::Changed(elements) => Self::Changed(elements.clone()),
        }
    }
}

impl<T: Copy + Send + Sync + 'static> Held<T> {
    pub(super) fn into_block<'b>(self) -> Block<'b, T> {
        match self {
            Self::Fill(value) => Block::Fill(value),
            Self::Shared(elements) => Block::Shared(elements),
            Self::Changed(elements) => Block::Shared(elements),
        }
    }
}

/// What a shard knows of a block.
enum Entry<T> {
    /// A thread loads it.
    Loading(Arc<Load<T>>),
    /// It is there, and was used last at this time.
    Held { held: Held<T>, used: u64, ahead: bool },
}

/// What came of a load, unless it cannot be shared.
type Outcome<T> = Option<Result<Held<T>, StorageError>>;

/// A load that threads may wait for.
struct Load<T> {
    done: Mutex<Option<Outcome<T>>>,
    signal: Condvar,
}

struct Shard<T> {
    entries: HashMap<usize, Entry<T>>,
    /// Uses in order, those that a later one replaces among them.
    uses: VecDeque<(u64, usize)>,
    now: u64,
    /// Blocks that are there.
    held: usize,
}

/// A block that has to be stored to make room.
pub(super) type Evicted<T> = (usize, Arc<Vec<T>>);

/// Counters of a cache, see [`Chunked::stats`](super::Chunked::stats).
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) loads: AtomicUsize,
    pub(super) hits: AtomicUsize,
    pub(super) stores: AtomicUsize,
    pub(super) waits: AtomicUsize,
}

pub(super) fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks by their numbers.
pub(super) struct Cache<T> {
    shards: Vec<Mutex<Shard<T>>>,
    /// Most blocks of a shard.
    each: usize,
    pub(super) counters: Counters,
    /// Blocks that were loaded ahead and not used yet.
    pub(super) ahead: AtomicUsize,
    /// Nanoseconds of the longest load.
    longest: AtomicU64,
}

/// How long a thread waits at least for a block that another one loads.
const PATIENCE: Duration = Duration::from_millis(100);

/// Caches of more blocks have several shards.
const SMALL: usize = 64;
/// Shards of a cache that is not small.
const SHARDS: usize = 16;

thread_local! {
    /// Loads that this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One more load of this thread, until it is dropped.
struct Inside;

impl Inside {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Takes a load out of the cache and tells those that wait, also after a panic.
struct Announce<'c, T: Copy> {
    cache: &'c Cache<T>,
    number: usize,
    load: Arc<Load<T>>,
    found: Outcome<T>,
}

impl<T: Copy> Drop for Announce<'_, T> {
    fn drop(&mut self) {
        let mut shard = lock(self.cache.shard(self.number));
        if let Some(Entry::Loading(load)) = shard.entries.get(&self.number)
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
        let shard = || {
            let (entries, uses) = (HashMap::default(), VecDeque::new());
            Mutex::new(Shard { entries, uses, now: 0, held: 0 })
        };
        Self {
            shards: std::iter::repeat_with(shard).take(count).collect(),
            each: blocks / count,
            counters: Counters::default(),
            ahead: AtomicUsize::new(0),
            longest: AtomicU64::new(0),
        }
    }

    /// How many blocks are held.
    pub(super) fn blocks(&self) -> usize {
        self.each * self.shards.len()
    }

    fn shard(&self, number: usize) -> &Mutex<Shard<T>> {
        &self.shards[number % self.shards.len()]
    }

    /// The block of this number, if it is there.
    pub(super) fn get(&self, number: usize) -> Option<Held<T>> {
        lock(self.shard(number)).touch(number, &self.ahead)
    }

    /// Whether the block is there, or on its way.
    pub(super) fn knows(&self, number: usize) -> bool {
        lock(self.shard(number)).entries.contains_key(&number)
    }

    /// Numbers of all blocks that are not stored.
    pub(super) fn changed(&self) -> Vec<usize> {
        let mut changed: Vec<usize> = Vec::new();
        for shard in &self.shards {
            let shard = lock(shard);
            changed.extend(shard.entries.iter().filter_map(|(number, entry)| match entry {
                Entry::Held { held: Held::Changed(_), .. } => Some(*number),
                _ => None,
            }));
        }
        changed.sort_unstable();
        changed
    }

    /// Puts a block in the place of what is known of it; returns one that has to be stored to make room, which stays
    /// until it is removed.
    pub(super) fn put(&self, number: usize, held: Held<T>) -> Option<Evicted<T>> {
        let mut shard = lock(self.shard(number));
        shard.remove(number, &self.ahead);
        shard.insert(number, held, false, &self.ahead);
        shard.evict(self.each, &self.ahead)
    }

    /// Forgets a block, or that it is being loaded.
    pub(super) fn remove(&self, number: usize) {
        lock(self.shard(number)).remove(number, &self.ahead);
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
        }
    }

    /// The block of this number, from `load` if it is not there. Of threads that ask at once one loads and the others
    /// wait.
    ///
    /// A thread inside a load neither waits nor lets others wait: what it waits for may be among its own tasks. Where
    /// loads share work among threads, a thread that is inside none may run a part of one, and wait in a circle all the
    /// same; so none waits much longer than loads take.
    pub(super) fn load<'b>(
        &self,
        number: usize,
        ahead: bool,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<(Block<'b, T>, Option<Evicted<T>>), StorageError>
    where
        T: Send + Sync + 'static,
    {
        loop {
            let other = {
                let mut shard = lock(self.shard(number));
                if let Some(held) = shard.touch(number, &self.ahead) {
                    count(&self.counters.hits);
                    return Ok((held.into_block(), None));
                }
                match shard.entries.get(&number) {
                    _ if DEPTH.get() > 0 => {
                        drop(shard);
                        return Ok((self.alone(load)?, None));
                    }
                    Some(Entry::Loading(other)) => other.clone(),
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
            count(&self.counters.waits);
            let patience =
                PATIENCE + 4 * Duration::from_nanos(self.longest.load(Ordering::Relaxed));
            let done = lock(&other.done);
            let waited = other.signal.wait_timeout_while(done, patience, |done| done.is_none());
            let done = waited.unwrap_or_else(PoisonError::into_inner).0.clone();
            match done {
                Some(Some(found)) => return Ok((found?.into_block(), None)),
                // It panicked, or lends what it has.
                Some(None) => continue,
                None => return Ok((self.alone(load)?, None)),
            }
        }
    }

    /// Loads a block for this thread and nobody else.
    fn alone<'b>(
        &self,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<Block<'b, T>, StorageError> {
        count(&self.counters.loads);
        let _inside = Inside::enter();
        load()
    }

    /// Loads a block for this thread and all that wait.
    fn run<'b>(
        &self,
        number: usize,
        own: Arc<Load<T>>,
        ahead: bool,
        load: &dyn Fn() -> Result<Block<'b, T>, StorageError>,
    ) -> Result<(Block<'b, T>, Option<Evicted<T>>), StorageError>
    where
        T: Send + Sync + 'static,
    {
        let mut announce = Announce { cache: self, number, load: own, found: None };
        let start = Instant::now();
        let block = self.alone(load);
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX >> 4);
        self.longest.fetch_max(took, Ordering::Relaxed);
        let held = match &block {
            Ok(Block::Borrowed(_)) => return block.map(|block| (block, None)),
            Ok(Block::Fill(value)) => Held::Fill(*value),
            Ok(Block::Shared(elements)) => Held::Shared(elements.clone()),
            Err(error) => {
                announce.found = Some(Err(error.clone()));
                return Err(error.clone());
            }
        };
        let mut shard = lock(self.shard(number));
        let mut evicted = None;
        // What was stored or changed meanwhile is newer.
        if matches!(shard.entries.get(&number), Some(Entry::Loading(own)) if Arc::ptr_eq(own, &announce.load))
        {
            shard.entries.remove(&number);
            shard.insert(number, held.clone(), ahead, &self.ahead);
            evicted = shard.evict(self.each, &self.ahead);
        }
        drop(shard);
        announce.found = Some(Ok(held));
        block.map(|block| (block, evicted))
    }
}

impl<T: Copy> Shard<T> {
    /// The block, which is used now.
    fn touch(&mut self, number: usize, unused: &AtomicUsize) -> Option<Held<T>> {
        self.now += 1;
        let now = self.now;
        let Some(Entry::Held { held, used, ahead }) = self.entries.get_mut(&number) else {
            return None;
        };
        *used = now;
        if std::mem::take(ahead) {
            unused.fetch_sub(1, Ordering::Relaxed);
        }
        let held = held.clone();
        self.note_use(number);
        Some(held)
    }

    fn note_use(&mut self, number: usize) {
        if self.uses.try_reserve(1).is_ok() {
            self.uses.push_back((self.now, number));
        }
        if self.uses.len() > 8 * self.entries.len() + SMALL {
            let entries = &self.entries;
            self.uses.retain(|(time, number)| {
                matches!(entries.get(number), Some(Entry::Held { used, .. }) if used == time)
            });
        }
    }

    /// Adds a block that is not there.
    fn insert(&mut self, number: usize, held: Held<T>, ahead: bool, unused: &AtomicUsize) {
        if self.entries.try_reserve(1).is_err() {
            return;
        }
        self.now += 1;
        self.held += 1;
        unused.fetch_add(usize::from(ahead), Ordering::Relaxed);
        self.entries.insert(number, Entry::Held { held, used: self.now, ahead });
        self.note_use(number);
    }

    fn remove(&mut self, number: usize, unused: &AtomicUsize) {
        if let Some(Entry::Held { ahead, .. }) = self.entries.remove(&number) {
            self.held -= 1;
            unused.fetch_sub(usize::from(ahead), Ordering::Relaxed);
        }
    }

    /// Makes room: removes what was used longest ago, but what is not stored; of that the first is returned.
    fn evict(&mut self, most: usize, unused: &AtomicUsize) -> Option<Evicted<T>> {
        let (mut passed, mut evicted) = (VecDeque::new(), None);
        while self.held > most + passed.len()
            && let Some((time, oldest)) = self.uses.pop_front()
        {
            let Some(Entry::Held { held, used, .. }) = self.entries.get(&oldest) else { continue };
            if *used != time {
                continue;
            }
            if let Held::Changed(elements) = held {
                evicted = evicted.or_else(|| Some((oldest, elements.clone())));
                passed.push_back((time, oldest));
            } else {
                self.remove(oldest, unused);
            }
        }
        while let Some(last) = passed.pop_back() {
            self.uses.push_front(last);
        }
        evicted
    }
}
