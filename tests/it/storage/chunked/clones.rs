//! Several handles of one storage: none loses what another wrote, or is told that it could not be stored.

use super::{all, blocks_of, tensor};
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Duplicates, Writer};
use lensor::{Reader, StorageError};
use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

type Meanwhile = Box<dyn FnOnce() + Send>;

/// Blocks of 4 x 4 of 8 x 8 elements. What is set is done once, within the next load, or the next store.
#[derive(Clone)]
pub(super) struct Watched(Arc<Shared>);

struct Shared {
    below: BlockMemory<u32>,
    at_load: Mutex<Option<Meanwhile>>,
    at_store: Mutex<Option<Meanwhile>>,
}

impl Watched {
    pub(super) fn new() -> Self {
        let below = blocks_of(&[8, 8], &[4, 4], &[0; 64]);
        Self(Arc::new(Shared { below, at_load: Mutex::default(), at_store: Mutex::default() }))
    }

    /// Another thread does this within the next load.
    pub(super) fn while_loading(&self, other: impl FnOnce() + Send + 'static) {
        let other = move || std::thread::spawn(other).join().unwrap();
        *self.0.at_load.lock().unwrap() = Some(Box::new(other));
    }

    pub(super) fn while_storing(&self, other: impl FnOnce() + Send + 'static) {
        *self.0.at_store.lock().unwrap() = Some(Box::new(other));
    }

    /// What is stored.
    fn stored(&self) -> Vec<u32> {
        all(&Chunked::new(self.clone()).unwrap())
    }
}

impl Blocks for Watched {
    type Elem = u32;

    fn extents(&self) -> &[usize] {
        self.0.below.extents()
    }

    fn block(&self) -> &[usize] {
        self.0.below.block()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
        let block = self.0.below.load(index);
        let other = self.0.at_load.lock().unwrap().take();
        other.into_iter().for_each(|other| other());
        block
    }
}

impl BlocksMut for Watched {
    fn store(&self, index: &[usize], from: &[u32]) -> Result<(), StorageError> {
        let other = self.0.at_store.lock().unwrap().take();
        other.into_iter().for_each(|other| other());
        self.0.below.store(index, from)
    }
}

/// While one handle loads a block to assign a part of it, another assigns, or writes, the rest.
#[test]
fn parts_of_a_block_are_assigned_by_several() {
    type Write = fn(Chunked<Watched>);
    let others: [Write; 3] = [
        |own| tensor(own).slice(0, 2..4).unwrap().fill(7).unwrap(),
        |mut own| (16..32).for_each(|address| own.write(address, 7)),
        |mut own| {
            (16..32).for_each(|address| own.write(address, 7));
            own.flush().unwrap();
        },
    ];
    for (k, other) in others.into_iter().enumerate() {
        let storage = Watched::new();
        let chunked = Chunked::new(storage.clone()).unwrap();
        let clone = chunked.clone();
        storage.while_loading(move || other(clone));
        let mut top = tensor(chunked.clone()).slice(0, 0..2).unwrap();
        top.assign(&Tensor::full([2, 8], 5).unwrap()).unwrap();
        chunked.flush().unwrap();
        let expected = |at: usize| [5, 7, 0, 0][at / 16];
        assert_eq!(storage.stored(), (0..64).map(expected).collect::<Vec<_>>(), "{k}");
        assert!(chunked.unsaved().is_empty());
    }
}

/// Assignments to every other element leave alone what lies between them.
#[test]
fn gaps_are_not_written() {
    let storage = Watched::new();
    let chunked = Chunked::new(storage.clone()).unwrap();
    let mut even = tensor(chunked.clone()).select((.., Select::every(2_usize))).unwrap();
    let clone = chunked.clone();
    // After the box was copied, before it is written.
    let odd = move || {
        let mut odd =
            tensor(clone).slice(1, 1..).unwrap().select((.., Select::every(2_usize))).unwrap();
        odd.fill(7).unwrap();
    };
    storage.while_loading(odd);
    even += 1;
    let expected: Vec<u32> = (0..64).map(|at| [1, 7][at % 2]).collect();
    assert_eq!((all(&chunked), storage.stored()), (expected.clone(), expected));
}

/// Another thread reads a block while it is stored: it waits, and sees what is stored then.
#[test]
fn readers_see_what_is_being_stored() {
    let storage = Watched::new();
    let mut t = tensor(Chunked::new(storage.clone()).unwrap().with_blocks(1));
    let (clone, (found, finds)) = (t.storage().clone(), std::sync::mpsc::channel());
    storage.while_storing(move || {
        std::thread::spawn(move || found.send(clone.read(0)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(50));
    });
    t.fill(9).unwrap();
    assert_eq!((finds.recv(), storage.stored()), (Ok(9), vec![9; 64]));
}

/// Sums of each row and those beside it, a row a block: loads that read blocks below.
struct Around(Chunked<Watched>);

impl Blocks for Around {
    type Elem = u32;

    fn extents(&self) -> &[usize] {
        &[8, 8]
    }

    fn block(&self) -> &[usize] {
        &[1, 8]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
        let (mut sums, mut row) = (vec![0; 8], [0; 8]);
        for k in index[0].saturating_sub(1)..(index[0] + 2).min(8) {
            self.0.read_run(8 * k, 1, &mut row)?;
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        Ok(Block::from(sums))
    }
}

/// Blocks that loads read are kept as others are, but not if another thread stores them meanwhile, or if what is not
/// stored would have to make room.
#[test]
fn blocks_that_loads_read_are_kept() {
    let storage = Watched::new();
    let around = |below: &Chunked<Watched>| Chunked::new(Around(below.clone())).unwrap();
    let below = Chunked::new(storage.clone()).unwrap();
    assert_eq!((all(&around(&below)), below.stats().loads), (vec![0; 64], 4));

    let below = below.with_blocks(9);
    let clone = below.clone();
    storage.while_loading(move || clone.store(&[0, 0], &[1; 16]).unwrap());
    around(&below).try_read(0).unwrap();
    assert_eq!(below.read(0), 1);

    let mut below = below.with_blocks(1);
    below.write(0, 5);
    assert_eq!(all(&around(&below))[8], 7);
    assert_eq!((below.stats().stores, below.unsaved().len()), (0, 1));
}

/// A block is stored for longer than a thread waits that writes to it: neither loses what it wrote.
#[test]
fn writes_come_after_slow_stores() {
    let storage = Watched::new();
    let mut t = tensor(Chunked::new(storage.clone()).unwrap());
    let (mut clone, (begun, begins)) = (t.storage().clone(), std::sync::mpsc::channel());
    storage.while_storing(move || {
        begun.send(()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
    });
    std::thread::scope(|scope| {
        scope.spawn(move || {
            begins.recv().unwrap();
            clone.write(0, 7);
        });
        t.fill(9).unwrap();
    });
    t.storage().flush().unwrap();
    assert_eq!(storage.stored(), [&[7][..], &[9; 63]].concat());
}

/// A cache of another size takes over what is not stored, but not from clones.
#[test]
fn clones_keep_what_they_wrote() {
    let storage = Watched::new();
    let mut own = Chunked::new(storage.clone()).unwrap();
    own.write(0, 1);
    let own = own.with_blocks(4);
    assert_eq!((own.unsaved().len(), own.read(0), storage.stored()[0]), (1, 1, 0));
    let mut clone = own.clone();
    let other = own.with_blocks(2);
    assert_eq!((other.read(0), clone.read(0), storage.stored()[0]), (1, 1, 1));
    clone.write(1, 2);
    drop(other);
    drop(clone);
    assert_eq!(storage.stored()[..2], [1, 2]);
}

/// Storage comes out of its cache once nobody else has it, and nothing is lost or changed until then.
#[test]
fn storage_is_given_back_once() {
    let storage = Watched::new();
    let mut own = Chunked::new(storage.clone()).unwrap();
    own.write(0, 1);
    let refuse = || Err(StorageError::new(0, "cancelled"));
    let other = own.clone().with_blocks(1).with_check(refuse);
    let refused = other.into_inner().err().unwrap();
    let text = "the storage cannot be taken from its cache: storage failed at address 0: a clone shares the storage";
    assert_eq!(refused.to_string(), text);
    let other = refused.chunked;
    assert_eq!(
        other.try_read(20).unwrap_err().to_string(),
        "storage failed at address 20: cancelled"
    );
    drop(other);
    assert!(own.into_inner().is_ok());
    assert_eq!(storage.stored()[0], 1);
    let own = Chunked::new(blocks_of(&[4], &[4], &[0; 4])).unwrap();
    let _clone = own.clone();
    let refused = own.into_inner().unwrap_err();
    assert_eq!(refused.source().unwrap().to_string(), refused.error.to_string());
    let text = "storage failed at address 0: a clone shares the storage";
    assert_eq!(lensor::Error::from(refused).to_string(), text);
}

/// A store that panics keeps its block, hinders no other block and does not end the process.
#[test]
fn a_store_that_panics_loses_nothing() {
    let panics = || panic!("a bug in the storage");
    let storage = Watched::new();
    let mut t = tensor(Chunked::new(storage.clone()).unwrap());
    storage.while_storing(panics);
    let row = Tensor::full([4, 4], 3).unwrap();
    let mut block = t.view_mut().slice(0, 0..4).unwrap().slice(1, 0..4).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| block.assign(&row))).is_err());
    assert_eq!(t.storage().unsaved().len(), 1);
    assert_eq!(t.get([1, 1]), Ok(3));
    // Dropped while it panics, it panics again, and the other block is stored as well.
    t.set([7, 7], 4).unwrap();
    storage.while_storing(panics);
    let unwinds = move || {
        let _t = t;
        panic!("something else");
    };
    assert!(catch_unwind(AssertUnwindSafe(unwinds)).is_err());
    assert_eq!(storage.stored()[63], 4);
}

/// What has few entries is assigned by them, and stored as everything is.
#[test]
fn sparse_expressions_are_stored_too() {
    let blocks = Arc::new(blocks_of(&[100, 100], &[32, 32], &[9.0; 10_000]));
    let mut t = tensor(Chunked::new(blocks.clone()).unwrap());
    let (indexes, values) = ([[3, 5], [70, 99]], vec![1.0, 2.0]);
    let few = Tensor::from_coordinates([100, 100], 0.0, &indexes, values, Duplicates::Refuse);
    let few = few.unwrap();
    t.assign(&few * 2.0).unwrap();
    assert!(t.storage().unsaved().is_empty());
    let stored = tensor(Chunked::new(blocks.clone()).unwrap());
    assert_eq!(
        (stored.get([3, 5]), stored.get([70, 99]), stored.get([4, 4])),
        (Ok(2.0), Ok(4.0), Ok(0.0))
    );
    t.put_at((&Tensor::from(vec![1_usize]), &Tensor::from(vec![1_usize])), 5.0).unwrap();
    assert_eq!(stored.into_storage().read(101), 0.0);
    assert_eq!(tensor(Chunked::new(blocks).unwrap()).get([1, 1]), Ok(5.0));
}

/// A block of another length is refused by blocks in memory.
#[test]
fn blocks_in_memory_keep_their_length() {
    let blocks = blocks_of(&[8, 8], &[4, 4], &[0; 64]);
    let text = blocks.store(&[1, 0], &[1, 2, 3]).unwrap_err().to_string();
    assert_eq!(text, "storage failed at address 32: 3 elements for a block of 16");
    assert!(blocks.store(&[2, 0], &[1; 16]).is_err());
    assert_eq!(all(&Chunked::new(blocks).unwrap()), [0; 64]);
}
