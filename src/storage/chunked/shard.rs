//! Some of the blocks of a cache, in the order of their last use.

use crate::error::{Error, Result, StorageError};
use crate::storage::Block;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Uses that are noted at least, before those that later ones replace are dropped.
const USES: usize = 64;

/// Blocks in the way that are stored at once, to make room for one.
pub(super) const STORED: usize = 4;

/// Counters of what is newer than a copy.
const COUNTERS: usize = 16;

/// Elements that were removed. They are dropped once the shard is unlocked: how is up to the storage.
pub(super) type Removed<T> = SmallVec<[Held<T>; 2]>;

/// Blocks that have to be stored to make room, which stay until they are removed.
pub(super) type InTheWay = SmallVec<[usize; STORED]>;

/// Elements of a block that outlive a borrow.
#[derive(Clone)]
pub(super) enum Held<T> {
    Fill(T),
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
    /// Written here, and not stored yet.
    Changed(Arc<Vec<T>>),
}

impl<T: Copy + Send + Sync + 'static> Held<T> {
    /// The elements of a block, unless they are borrowed.
    pub(super) fn of(block: &Block<'_, T>) -> Option<Self> {
        match block {
            Block::Fill(value) => Some(Self::Fill(*value)),
            Block::Shared(elements) => Some(Self::Shared(elements.clone())),
            Block::Borrowed(_) => None,
        }
    }

    pub(super) fn into_block<'b>(self) -> Block<'b, T> {
        match self {
            Self::Fill(value) => Block::Fill(value),
            Self::Shared(elements) => Block::Shared(elements),
            Self::Changed(elements) => Block::Shared(elements),
        }
    }
}

/// What a shard knows of a block.
pub(super) enum Entry<T> {
    /// A thread loads it.
    Loading(Arc<Load<T>>),
    /// A thread stores it past the cache, and it cannot be changed meanwhile.
    Storing(Arc<Load<T>>),
    /// It is there, and was used last at this time.
    Held { held: Held<T>, used: u64, ahead: bool },
}

/// What came of a load, unless it cannot be shared.
pub(super) type Outcome<T> = Option<Result<Held<T>, StorageError>>;

/// A load, or a store, that threads may wait for.
pub(super) struct Load<T> {
    pub(super) done: Mutex<Option<Outcome<T>>>,
    pub(super) signal: Condvar,
}

/// Counts of all shards.
#[derive(Default)]
pub(super) struct Totals {
    /// Blocks that are there.
    held: AtomicUsize,
    /// Uses so far.
    clock: AtomicU64,
    /// Blocks that were loaded ahead and not used yet.
    pub(super) unused: Arc<AtomicUsize>,
}

impl Totals {
    /// How many blocks are there.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// The time of a use, one after the other.
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A hash of the number of a block, by its upper bits: of Fibonacci.
pub(super) fn hash(number: usize) -> u64 {
    (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

pub(super) struct Shard<T> {
    pub(super) entries: HashMap<usize, Entry<T>>,
    /// Uses in order, those that a later one replaces among them.
    uses: VecDeque<(u64, usize)>,
    /// Count what was stored, by number, which several blocks share: what was loaded before may be older.
    renewed: [u64; COUNTERS],
}

impl<T> Default for Shard<T> {
    fn default() -> Self {
        let (entries, uses) = (HashMap::default(), VecDeque::new());
        Self { entries, uses, renewed: [0; COUNTERS] }
    }
}

impl<T: Copy> Shard<T> {
    /// The block, which is used now.
    pub(super) fn touch(&mut self, number: usize, totals: &Totals) -> Option<Held<T>> {
        let now = totals.tick();
        let Some(Entry::Held { held, used, ahead }) = self.entries.get_mut(&number) else {
            return None;
        };
        *used = now;
        if std::mem::take(ahead) {
            totals.unused.fetch_sub(1, Ordering::Relaxed);
        }
        let held = held.clone();
        self.note_use(number, now);
        Some(held)
    }

    /// How often this block, or another with its counter, was stored.
    pub(super) fn renewed(&mut self, number: usize) -> &mut u64 {
        // Not the bits that the shard was found by.
        &mut self.renewed[(hash(number) >> 40) as usize % COUNTERS]
    }

    fn note_use(&mut self, number: usize, time: u64) {
        if self.uses.try_reserve(1).is_ok() {
            self.uses.push_back((time, number));
        }
        if self.uses.len() > 8 * self.entries.len() + USES {
            let entries = &self.entries;
            self.uses.retain(|(time, number)| {
                matches!(entries.get(number), Some(Entry::Held { used, .. }) if used == time)
            });
        }
    }

    /// Whether a block is here, and neither under way nor being stored.
    pub(super) fn holds(&self, number: usize) -> bool {
        matches!(self.entries.get(&number), Some(Entry::Held { .. }))
    }

    /// The elements of a block that is not stored.
    pub(super) fn unsaved(&mut self, number: usize) -> Option<&mut Arc<Vec<T>>> {
        match self.entries.get_mut(&number) {
            Some(Entry::Held { held: Held::Changed(elements), .. }) => Some(elements),
            _ => None,
        }
    }

    /// Makes sure that [`Self::insert`] adds a block.
    pub(super) fn make_room(&mut self) -> Result<()> {
        let failed = |_| Error::OutOfMemory { bytes: size_of::<Entry<T>>() };
        self.entries.try_reserve(1).map_err(failed)
    }

    /// Adds a block that is not there, if there is memory for it.
    pub(super) fn insert(&mut self, number: usize, held: Held<T>, ahead: bool, totals: &Totals) {
        if self.make_room().is_err() {
            return;
        }
        let used = totals.tick();
        totals.held.fetch_add(1, Ordering::Relaxed);
        totals.unused.fetch_add(usize::from(ahead), Ordering::Relaxed);
        self.entries.insert(number, Entry::Held { held, used, ahead });
        self.note_use(number, used);
    }

    pub(super) fn remove(&mut self, number: usize, totals: &Totals, removed: &mut Removed<T>) {
        if let Some(Entry::Held { held, ahead, .. }) = self.entries.remove(&number) {
            totals.held.fetch_sub(1, Ordering::Relaxed);
            totals.unused.fetch_sub(usize::from(ahead), Ordering::Relaxed);
            removed.push(held);
        }
    }

    /// When the block was used that was not used for longest.
    pub(super) fn oldest(&mut self) -> Option<u64> {
        while let Some(&(time, number)) = self.uses.front() {
            if matches!(self.entries.get(&number), Some(Entry::Held { used, .. }) if *used == time)
            {
                return Some(time);
            }
            self.uses.pop_front();
        }
        None
    }

    /// Removes the block that was used last at this time, if it is still so. One that is not stored stays, as if it were used
    /// now, and is returned.
    pub(super) fn evict(
        &mut self,
        time: u64,
        totals: &Totals,
        removed: &mut Removed<T>,
    ) -> Option<usize> {
        self.oldest().filter(|oldest| *oldest == time)?;
        let &(_, number) = self.uses.front()?;
        if self.unsaved(number).is_none() {
            self.remove(number, totals, removed);
            return None;
        }
        self.touch(number, totals);
        Some(number)
    }
}
