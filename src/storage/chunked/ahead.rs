//! Blocks that are loaded before they are asked for, by threads of their own: those may sleep.

mod spawn;

use super::cache::{Cache, lock};
use super::{Blocks, Chunked, Inner};
use crate::error::Result;
use crate::storage::Block;
use spawn::spawn;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, ThreadId};

/// The blocks to come, and the threads that load them.
#[derive(Clone)]
pub(super) struct Ahead {
    shared: Arc<Shared>,
    threads: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    signal: Condvar,
    /// Blocks that were loaded ahead and not used yet, and how many there may be.
    unused: Arc<AtomicUsize>,
    most: usize,
}

#[derive(Default)]
struct Queue {
    lists: Vec<List>,
    /// Loads under way.
    busy: usize,
    /// The storage is gone.
    ended: bool,
    /// A block was lent: those are not held, so that loading them ahead saves nothing.
    lends: bool,
}

/// Most lists that are kept, those of threads that have ended among them.
const LISTS: usize = 256;

/// How far in a list a block is looked for that its thread asked for.
const NEAR: usize = 8;

/// What a thread told of, for one operand.
struct List {
    numbers: VecDeque<usize>,
    /// How many there were.
    told: usize,
    thread: ThreadId,
    /// Whether the thread has asked for a block since: what it tells of now comes in the place of this.
    asked: bool,
}

impl Queue {
    /// The next block of the list of which least is done: operands of one evaluation tell of the same boxes.
    fn pop(&mut self) -> Option<usize> {
        self.lists.retain(|list| !list.numbers.is_empty());
        let done = |list: &List| list.told - list.numbers.len();
        let least = |a: &&mut List, b: &&mut List| (done(a) * b.told).cmp(&(done(b) * a.told));
        self.lists.iter_mut().min_by(least)?.numbers.pop_front()
    }
}

/// A load under way, until it is dropped.
struct Busy<'s>(&'s Shared);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).busy -= 1;
        self.0.signal.notify_all();
    }
}

impl Ahead {
    pub(super) fn new<T: Copy>(threads: usize, cache: &Cache<T>) -> Self {
        let (queue, signal) = (Mutex::default(), Condvar::new());
        let (unused, most) = (cache.totals.unused.clone(), (cache.capacity() / 2).max(1));
        Self { shared: Arc::new(Shared { queue, signal, unused, most }), threads }
    }

    /// How many blocks are loaded at once; none where blocks are lent.
    pub(super) fn threads(&self) -> usize {
        if lock(&self.shared.queue).lends { 0 } else { self.threads }
    }

    /// Tells of blocks to come, in the place of those that this thread told of before it asked for one.
    pub(super) fn expect(&self, numbers: Vec<usize>) {
        let (thread, told) = (thread::current().id(), numbers.len());
        let mut queue = lock(&self.shared.queue);
        let is_due =
            |list: &List| !list.numbers.is_empty() && (list.thread != thread || !list.asked);
        queue.lists.retain(is_due);
        if queue.lists.len() == LISTS {
            let old = queue.lists.iter().position(|list| list.asked).unwrap_or(0);
            queue.lists.remove(old);
        }
        if told > 0 && !queue.lends && queue.lists.try_reserve(1).is_ok() {
            queue.lists.push(List { numbers: numbers.into(), told, thread, asked: false });
        }
        self.shared.signal.notify_all();
    }

    /// This thread asked for a block, which need not be loaded ahead any more, so that there may be room for another.
    pub(super) fn go_on(&self, number: usize) {
        let thread = thread::current().id();
        // Behind whoever found no room and does not wait yet.
        let mut queue = lock(&self.shared.queue);
        let own = queue.lists.iter_mut().filter(|list| list.thread == thread);
        for list in own {
            list.asked = true;
            if let Some(at) = list.numbers.iter().take(NEAR).position(|&told| told == number) {
                list.numbers.remove(at);
            }
        }
        drop(queue);
        self.shared.signal.notify_all();
    }

    pub(super) fn end(&self) {
        lock(&self.shared.queue).ended = true;
        self.shared.signal.notify_all();
    }

    /// Waits until no thread loads any more; none begins to after the end.
    pub(super) fn wait(&self) {
        let queue = lock(&self.shared.queue);
        let done = self.shared.signal.wait_while(queue, |queue| queue.busy > 0);
        drop(done.unwrap_or_else(PoisonError::into_inner));
    }

    /// What was told of is not loaded ahead, nor anything from now on where blocks are lent.
    fn give_up(&self, lends: bool) {
        let mut queue = lock(&self.shared.queue);
        queue.lends |= lends;
        queue.lists.clear();
    }

    /// The next block to load, as soon as there is room; `None` at the end.
    fn next(&self) -> Option<(usize, Busy<'_>)> {
        let Shared { queue, signal, unused, most } = &*self.shared;
        let mut queue = lock(queue);
        loop {
            if queue.ended {
                return None;
            }
            if unused.load(Ordering::Relaxed) + queue.busy < *most
                && let Some(number) = queue.pop()
            {
                queue.busy += 1;
                return Some((number, Busy(&self.shared)));
            }
            queue = signal.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<S: Blocks + 'static> Chunked<S>
where
    S::Elem: 'static,
{
    /// This storage, with up to so many loads under way before their blocks are asked for, on threads of their own: for
    /// storage that keeps one waiting, a disk, a network, an object store. Loads stop at the first error, until a
    /// thread tells of blocks again, as evaluations do every few boxes, and never fill more than half of the cache with
    /// blocks that were not used yet. The first block that is lent ([`Block::Borrowed`]) ends them for good: the cache
    /// does not hold those.
    ///
    /// 0, which is what a new one has, loads nothing ahead: best for what is computed or lies in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if a thread cannot be started: what was not stored is stored then, and if that
    /// fails, its error is reported.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::{BlockMemory, Chunked};
    /// let slow = BlockMemory::new([64, 64], [16, 16], 1.0_f64)?;
    /// let t = Tensor::new([64, 64], Chunked::new(slow)?.with_ahead(4)?)?;
    /// assert_eq!(t.sum(..).item()?, 4096.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_ahead(self, loads: usize) -> Result<Self> {
        let starter = (loads > 0).then_some((loads, start as _));
        let (chunked, started) = self.rebuilt(|inner| inner.starter = starter);
        if let Err(error) = started {
            // Dropping this stores what is unsaved as well, but swallows errors.
            chunked.inner.flush()?;
            return Err(error.into());
        }
        Ok(chunked)
    }
}

/// Starts the threads that load ahead, if there are to be any.
fn start<S: Blocks + 'static>(storage: &Arc<Inner<S>>) -> io::Result<()>
where
    S::Elem: 'static,
{
    for ahead in storage.ahead.iter().flat_map(|ahead| std::iter::repeat_n(ahead, ahead.threads)) {
        let (ahead, storage) = (ahead.clone(), Arc::downgrade(storage));
        spawn("lensor-ahead", move || load_all(&ahead, &storage))?;
    }
    Ok(())
}

/// Loads what comes until the storage is gone.
fn load_all<S: Blocks>(ahead: &Ahead, storage: &Weak<Inner<S>>)
where
    S::Elem: 'static,
{
    // The storage is let go before the load is no longer under way.
    while let Some((number, _busy)) = ahead.next() {
        let Some(inner) = storage.upgrade() else { return };
        if inner.cache.knows(number) {
            continue;
        }
        // A panic of the storage ends this thread alone; whoever asks for the block meets it again.
        match inner.load(&inner.sides.index(number), true) {
            Ok(Block::Fill(_) | Block::Shared(_)) => {}
            Ok(Block::Borrowed(_)) => ahead.give_up(true),
            Err(_) => ahead.give_up(false),
        }
    }
}
