//! Single writes from several threads, what dropping stores, and blocks that are stored by one thread at a time.

use super::blocks_of;
use super::clones::Watched;
use crate::support::pool;
use lensor::gufunc::Gufunc;
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Writer};
use lensor::{Reader, StorageError};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Blocks of 8 of 64 elements that take a while to load and to store.
#[derive(Clone)]
struct Lingering(Arc<Shared>);

struct Shared {
    below: BlockMemory<u32>,
    storing: Mutex<Vec<usize>>,
    twice: AtomicBool,
    stores: AtomicUsize,
    /// The block that cannot be stored.
    full: Option<usize>,
}

impl Lingering {
    fn new(full: Option<usize>) -> Self {
        let below = blocks_of(&[64], &[8], &[0; 64]);
        let (storing, twice, stores) = <(Mutex<Vec<usize>>, AtomicBool, AtomicUsize)>::default();
        Self(Arc::new(Shared { below, storing, twice, stores, full }))
    }

    fn stored(&self) -> Vec<u32> {
        let chunked = Chunked::new(self.clone()).unwrap();
        (0..64).map(|k| chunked.read(k)).collect()
    }
}

impl Blocks for Lingering {
    type Elem = u32;

    fn extents(&self) -> &[usize] {
        &[64]
    }

    fn block(&self) -> &[usize] {
        &[8]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
        std::thread::sleep(Duration::from_millis(1));
        self.0.below.load(index)
    }
}

impl BlocksMut for Lingering {
    fn store(&self, index: &[usize], from: &[u32]) -> Result<(), StorageError> {
        let shared = &self.0;
        if shared.full == Some(index[0]) {
            return Err(StorageError::new(3, "the disk is full"));
        }
        {
            let mut storing = shared.storing.lock().unwrap();
            let twice = storing.contains(&index[0]);
            shared.twice.fetch_or(twice, Ordering::Relaxed);
            storing.push(index[0]);
        }
        std::thread::sleep(Duration::from_millis(2));
        let done = shared.below.store(index, from);
        shared.stores.fetch_add(1, Ordering::Relaxed);
        shared.storing.lock().unwrap().retain(|&other| other != index[0]);
        done
    }
}

/// Clones on threads of their own write every fourth element each, while blocks make room for one another.
#[test]
fn writes_of_clones_are_all_kept() {
    for blocks in [1, 3, 8] {
        let storage = Lingering::new(None);
        let chunked = Chunked::new(storage.clone()).unwrap().with_blocks(blocks);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let mut own = chunked.clone();
                scope.spawn(move || {
                    for k in (thread..64).step_by(4) {
                        own.try_write(k, k as u32 + 1).unwrap();
                    }
                });
            }
        });
        chunked.flush().unwrap();
        assert!(chunked.unsaved().is_empty());
        assert_eq!(storage.stored(), (1..=64).collect::<Vec<u32>>(), "{blocks} blocks");
        assert!(!storage.0.twice.load(Ordering::Relaxed), "{blocks} blocks");
    }
}

/// Also beside blocks that are stored whole.
#[test]
fn a_block_is_stored_by_one_thread_at_a_time() {
    let storage = Lingering::new(None);
    let chunked = Chunked::new(storage.clone()).unwrap().with_blocks(2);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let mut own = chunked.clone();
            scope.spawn(move || {
                for k in 0..60 {
                    let block = k % 8;
                    match thread {
                        0 => own.store(&[block], &[7; 8]).unwrap(),
                        1 => own.try_write(8 * block + 1, 9).unwrap(),
                        _ => own.flush().unwrap(),
                    }
                }
            });
        }
    });
    chunked.flush().unwrap();
    assert!(!storage.0.twice.load(Ordering::Relaxed));
    assert!(storage.stored().iter().enumerate().all(|(k, &x)| x == 7 || (k % 8 == 1 && x == 9)));
}

/// A clone writes and stores a block while another loads it to write beside that.
#[test]
fn a_copy_from_before_a_store_is_not_written() {
    let storage = Watched::new();
    let mut chunked = Chunked::new(storage.clone()).unwrap();
    let mut clone = chunked.clone();
    let other = move || {
        clone.try_write(1, 11).unwrap();
        clone.flush().unwrap();
    };
    storage.while_loading(other);
    chunked.try_write(0, 10).unwrap();
    chunked.flush().unwrap();
    assert_eq!(chunked.load(&[0, 0]).unwrap().as_slice().unwrap()[..3], [10, 11, 0]);
}

/// Storage that takes longer to store than to load, and is stored by two at once.
#[test]
fn a_slow_store_is_waited_for() {
    let storage = Watched::new();
    let mut chunked = Chunked::new(storage.clone()).unwrap();
    chunked.try_write(0, 10).unwrap();
    let (clone, (begun, begins)) = (chunked.clone(), std::sync::mpsc::channel());
    let slowly = move || {
        begun.send(()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    };
    storage.while_storing(slowly);
    std::thread::scope(|scope| {
        scope.spawn(move || clone.flush().unwrap());
        begins.recv().unwrap();
        chunked.flush().unwrap();
    });
}

/// Many writes to a block change it where it lies: it is loaded once and stored once.
#[test]
fn a_block_is_changed_in_place() {
    let storage = Lingering::new(None);
    let mut t = Tensor::new([64], Chunked::new(storage.clone()).unwrap()).unwrap();
    for k in 0..1000 {
        t.set([k % 8], k as u32).unwrap();
    }
    // Those who read it keep what they have.
    let clone = t.storage().clone();
    let before = clone.load(&[0]).unwrap();
    t.set([0], 5).unwrap();
    assert_eq!(before.as_slice().unwrap()[0], 992);
    assert_eq!(t.get([0]), Ok(5));
    let stats = t.storage().stats();
    assert_eq!((stats.loads, stats.stores), (1, 0));
    drop(before);
    drop((clone, t));
    assert_eq!(storage.0.stores.load(Ordering::Relaxed), 1);
    assert_eq!(storage.stored()[..8], [5, 993, 994, 995, 996, 997, 998, 999]);
}

/// What is dropped is stored before that returns, and storage is given back, though threads load ahead of it.
#[test]
fn threads_that_load_ahead_do_not_hold_on() {
    for round in 0..40 {
        let storage = Lingering::new(None);
        let mut chunked = Chunked::new(storage.clone()).unwrap().with_ahead(3).unwrap();
        chunked.try_write(20, round).unwrap();
        let next: Vec<_> = (0..8).map(|block| [block].into_iter().collect()).collect();
        chunked.expect(&next);
        std::thread::sleep(Duration::from_micros(u64::from(round) * 50));
        if round % 2 == 0 {
            drop(chunked);
        } else {
            assert!(chunked.into_inner().is_ok());
        }
        assert_eq!(storage.0.stores.load(Ordering::Relaxed), 1);
    }
}

/// A block that cannot make room is the one that the error names.
#[test]
fn an_error_names_the_block_that_was_not_stored() {
    let mut chunked = Chunked::new(Lingering::new(Some(2))).unwrap().with_blocks(1);
    chunked.try_write(17, 1).unwrap();
    let error = chunked.try_write(40, 2).unwrap_err();
    assert_eq!(error.to_string(), "storage failed at address 16: the disk is full");
    // The write itself is done, and nothing is lost.
    let unsaved: Vec<usize> = chunked.unsaved().iter().map(|index| index[0]).collect();
    assert_eq!(unsaved, [2, 5]);
    assert_eq!((chunked.read(17), chunked.read(40)), (1, 2));
    assert_eq!(chunked.flush().unwrap_err().address, 16);
    assert_eq!(chunked.unsaved().len(), 1);
}

/// Blocks that show what was stored at once, and put it where it stays when the writing ends.
struct HeldBack {
    below: BlockMemory<u32>,
    held: AtomicUsize,
    ends: AtomicUsize,
}

impl HeldBack {
    fn new(len: usize, block: usize) -> Self {
        let (held, ends) = Default::default();
        Self { below: blocks_of(&[len], &[block], &vec![0; len]), held, ends }
    }
}

impl Blocks for HeldBack {
    type Elem = u32;

    fn extents(&self) -> &[usize] {
        self.below.extents()
    }

    fn block(&self) -> &[usize] {
        self.below.block()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
        self.below.load(index)
    }
}

impl BlocksMut for HeldBack {
    fn store(&self, index: &[usize], from: &[u32]) -> Result<(), StorageError> {
        self.held.fetch_add(1, Ordering::Relaxed);
        self.below.store(index, from)
    }

    fn finish(&self) -> Result<(), StorageError> {
        self.held.store(0, Ordering::Relaxed);
        self.ends.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Assignments, flushes, the end of a cache and taking its storage end the writing of the storage below.
#[test]
fn what_the_storage_below_holds_back_is_finished() {
    let storage = HeldBack::new(64, 8);
    let held = || storage.held.load(Ordering::Relaxed);
    let tensor = || Tensor::new([64], Chunked::new(&storage).unwrap().with_blocks(1)).unwrap();
    let mut t = tensor();
    t.assign(7).unwrap();
    assert_eq!(held(), 0);
    t.set([3], 1).unwrap();
    t.set([33], 2).unwrap(); // the first block makes room
    assert_eq!(held(), 1);
    t.storage().flush().unwrap();
    assert_eq!(held(), 0);
    t.set([3], 4).unwrap();
    assert!(t.into_storage().into_inner().is_ok());
    assert_eq!(held(), 0);
    let mut t = tensor();
    t.set([63], 5).unwrap();
    t.set([0], 6).unwrap();
    assert_eq!(held(), 1);
    drop(t);
    assert_eq!(held(), 0);
    assert_eq!((tensor().get([63]), tensor().get([0]), tensor().get([33])), (Ok(5), Ok(6), Ok(2)));
}

/// The storage need not be one that prints.
#[test]
fn storage_is_taken_from_its_cache() {
    let mut chunked = Chunked::new(HeldBack::new(64, 8)).unwrap();
    chunked.try_write(3, 7).unwrap();
    let storage = chunked.into_inner().unwrap();
    assert_eq!(storage.below.load(&[0]).unwrap().as_slice().unwrap()[3], 7);
}

/// However many boxes an assignment is computed in.
#[test]
fn writing_ends_once_for_each_assignment() {
    let storage = HeldBack::new(1 << 17, 1 << 13);
    let ended = |storage: &HeldBack| storage.ends.swap(0, Ordering::Relaxed);
    let mut t = Tensor::new([1 << 17], Chunked::new(&storage).unwrap()).unwrap();
    t.assign(7).unwrap();
    assert_eq!(ended(&storage), 1);
    t.map_in_place(|x| x + 1).unwrap();
    assert_eq!(ended(&storage), 1);
    let row = Tensor::full([1, 1 << 17], 9_u32).unwrap();
    pool(1).install(|| row.max(0).assign_to(&mut t)).unwrap();
    assert_eq!((ended(&storage), t.get([(1 << 17) - 1])), (1, Ok(9)));

    let storage = HeldBack::new(256, 8);
    let mut t = Tensor::new([256], Chunked::new(&storage).unwrap()).unwrap();
    let first =
        Gufunc::<[u32; 1], [u32; 1], _>::each("(n)->()", |[x], [mut out]| out[0] = x[0]).unwrap();
    let rows = Tensor::full([1, 1 << 14], 5_u32).unwrap().broadcast([256, 1 << 14]).unwrap();
    pool(1).install(|| first.call([&rows]).assign_to(&mut t)).unwrap();
    assert_eq!((ended(&storage), t.get([255])), (1, Ok(5)));
}
