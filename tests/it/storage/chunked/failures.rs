//! Blocks that cannot be loaded or stored, or that are not what they should be.

use super::{all, blocks_of, tensor, unravel};
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked};
use lensor::{Index, StorageError};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks some of which cannot be loaded, or stored.
struct Failing {
    below: BlockMemory<i64>,
    /// The indexes of blocks that cannot be loaded, and of the one that cannot be stored.
    load: Mutex<Vec<Vec<usize>>>,
    store: Mutex<Option<Vec<usize>>>,
    loads: AtomicUsize,
}

const EXTENTS: [usize; 2] = [150, 130];
const BLOCK: [usize; 2] = [64, 64];

fn data() -> Vec<i64> {
    (0..(EXTENTS[0] * EXTENTS[1]) as i64).collect()
}

impl Failing {
    fn new(load: Option<&[usize]>, store: Option<&[usize]>) -> Self {
        Self {
            below: blocks_of(&EXTENTS, &BLOCK, &data()),
            load: Mutex::new(load.iter().map(|index| index.to_vec()).collect()),
            store: Mutex::new(store.map(<[usize]>::to_vec)),
            loads: AtomicUsize::new(0),
        }
    }
}

impl Blocks for Failing {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        &EXTENTS
    }

    fn block(&self) -> &[usize] {
        &BLOCK
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        if self.load.lock().unwrap().iter().any(|failing| failing == index) {
            return Err(StorageError::new(7, "the chunk is damaged"));
        }
        self.below.load(index)
    }
}

impl BlocksMut for Failing {
    fn store(&self, index: &[usize], from: &[i64]) -> Result<(), StorageError> {
        if self.store.lock().unwrap().as_deref() == Some(index) {
            return Err(StorageError::new(7, "the disk is full"));
        }
        self.below.store(index, from)
    }
}

/// The index of the block of each address, and all such indexes.
fn counts() -> [usize; 2] {
    [0, 1].map(|axis: usize| EXTENTS[axis].div_ceil(BLOCK[axis]))
}

fn first_of<S: Reader>(t: &Tensor<S>, block: &[usize]) -> Option<Vec<usize>> {
    let in_block = |index: &Index| {
        let address = t.address_map().to_local(index).unwrap();
        let at = unravel(address, &EXTENTS);
        (0..2).all(|axis| at[axis] / BLOCK[axis] == block[axis])
    };
    t.shape().indexes().unwrap().find(in_block).map(|index| index.to_vec())
}

/// The first index whose element lies in the block is named, whatever is evaluated, and each block is loaded twice at
/// most.
#[test]
fn a_failing_load_is_the_first_index_in_its_block() {
    for number in 0..9 {
        let block = unravel(number, &counts());
        let t = tensor(Chunked::new(Failing::new(Some(&block), None)).unwrap());
        let views = [
            t.clone(),
            t.clone().transpose([1, 0]).unwrap(),
            t.clone().rotate([40, -30]).unwrap(),
            t.clone().flip(0).unwrap().slice(1, 3..120).unwrap(),
            t.clone().transpose([1, 0]).unwrap().reshape(EXTENTS).unwrap().slice(0, 1..).unwrap(),
        ];
        for view in views {
            let index = first_of(&view, &block);
            let named = |error: Error| match error {
                Error::Storage { index, source } => {
                    assert!(source.to_string().contains("the chunk is damaged"), "{source}");
                    index
                }
                other => panic!("{other}"),
            };
            t.storage().storage().loads.store(0, Ordering::Relaxed);
            let fresh = view.clone();
            match (fresh.to_vec(), &index) {
                (Err(error), Some(_)) => assert_eq!(named(error), index),
                (Ok(_), None) => {}
                (other, _) => panic!("{:?}", other.map(|_| ())),
            }
            let loads = t.storage().storage().loads.load(Ordering::Relaxed);
            assert!(loads <= 2 * 9 + 1, "{loads} loads");
            if index.is_some() {
                assert_eq!(named((&view + 1).eval().unwrap_err()), index);
                assert_eq!(named(view.sum(0).eval().unwrap_err()), index);
                assert_eq!(named(view.cumsum(1).eval().unwrap_err()), index);
                let sorted = view.sort(0, SortOrder::Ascending).eval().unwrap_err();
                assert_eq!(named(sorted), index);
            }
        }
        // Errors are not kept.
        t.storage().storage().load.lock().unwrap().clear();
        assert_eq!(t.to_vec().unwrap(), data());
    }
}

/// Of several blocks that cannot be loaded, that counts whose element comes first in the result, whichever is visited
/// first.
#[test]
fn the_first_of_several_failing_blocks_is_named() {
    let views = |holes: [usize; 2]| {
        let failing = Failing::new(None, None);
        failing.load.lock().unwrap().extend(holes.map(|number| unravel(number, &counts())));
        let t = tensor(Chunked::new(failing).unwrap());
        [
            t.clone(),
            t.clone().transpose([1, 0]).unwrap(),
            t.clone().rotate([40, -30]).unwrap(),
            t.flip(0).unwrap().flip(1).unwrap(),
        ]
    };
    let index = |error: Error| match error {
        Error::Storage { index, .. } => index,
        other => panic!("{other}"),
    };
    for holes in [[1, 3], [1, 8]] {
        for view in views(holes) {
            let of_block = |number| first_of(&view, &unravel(number, &counts()));
            let [a, b] = holes.map(of_block);
            let first = a.min(b);
            assert_eq!(index(view.to_vec().unwrap_err()), first);
            assert_eq!(index((&view + 1).eval().unwrap_err()), first);
            assert_eq!(index(view.cumsum(1).eval().unwrap_err()), first);
        }
    }
}

/// A block that cannot be stored is named and kept; those before it and after it are stored.
#[test]
fn a_failing_store_loses_nothing() {
    for number in 0..9 {
        let block = unravel(number, &counts());
        let mut t = tensor(Chunked::new(Failing::new(None, Some(&block))).unwrap().with_blocks(2));
        let new = Tensor::from_vec(EXTENTS, data().iter().map(|x| -x).collect()).unwrap();
        let error = t.assign(&new).unwrap_err();
        let first = [block[0] * BLOCK[0], block[1] * BLOCK[1]];
        let Error::Storage { index, source } = error else { panic!("{error}") };
        assert_eq!(index.as_deref(), Some(&first[..]));
        assert_eq!(source.address, first[0] * EXTENTS[1] + first[1]);
        assert!(source.to_string().contains("the disk is full"));
        assert_eq!(t.storage().unsaved(), [Index::from_slice(&block)]);
        // It reads as it was written, and what is stored below is old or new.
        assert_eq!(t.get(first).unwrap(), new.get(first).unwrap());
        for (address, element) in all(t.storage()).into_iter().enumerate() {
            assert!(element == address as i64 || element == -(address as i64));
        }
        assert!(t.storage().flush().is_err());
        let chunked = t.into_storage().into_inner().err().unwrap().chunked;
        *chunked.storage().store.lock().unwrap() = None;
        chunked.flush().unwrap();
        assert!(chunked.unsaved().is_empty());
        let below = chunked.into_inner().ok().unwrap();
        let at = |address: usize| Chunked::new(&below.below).unwrap().read(address);
        assert_eq!(at(source.address), -(source.address as i64));
    }
}

/// Readers do not try again and again to store what cannot be stored, until there is a reason to.
#[test]
fn a_failing_store_does_not_hold_up_readers() {
    let failing = || Failing::new(None, Some(&[0, 0]));
    let mut chunked = Chunked::new(failing()).unwrap().with_blocks(1);
    chunked.write(0, -1);
    let stores_after_reads = |chunked: &Chunked<Failing>| {
        (0..6).for_each(|k| drop(chunked.load(&[1 + k % 2, 1]).unwrap()));
        chunked.stats().stores
    };
    assert_eq!(stores_after_reads(&chunked), 1);
    chunked.flush().unwrap_err();
    assert_eq!(stores_after_reads(&chunked), 3);
    chunked.write(0, -2);
    assert_eq!((stores_after_reads(&chunked), chunked.unsaved().len()), (4, 1));
    // Others are stored all the same.
    let mut chunked = Chunked::new(failing()).unwrap().with_blocks(2);
    for address in [0, 2 * BLOCK[0] * EXTENTS[1]] {
        chunked.write(address, -1);
    }
    stores_after_reads(&chunked);
    assert_eq!(chunked.unsaved().iter().map(|index| index.to_vec()).collect::<Vec<_>>(), [[0, 0]]);
}

/// A drop flushes.
#[test]
fn single_writes_are_stored_when_the_last_clone_is_dropped() {
    let blocks = blocks_of(&EXTENTS, &BLOCK, &data());
    let shared = std::sync::Arc::new(blocks);
    let mut chunked = Chunked::new(shared.clone()).unwrap();
    chunked.write(5, -5);
    chunked.write(12_000, -6);
    assert_eq!(chunked.unsaved().len(), 2);
    assert_eq!((chunked.read(5), chunked.read(12_000)), (-5, -6));
    let clone = chunked.clone();
    drop(chunked);
    assert_eq!(Chunked::new(shared.clone()).unwrap().read(5), 5);
    drop(clone);
    let below = Chunked::new(shared).unwrap();
    assert_eq!((below.read(5), below.read(12_000)), (-5, -6));
}

/// What a block should be and is not: an error, or other numbers.
#[test]
fn blocks_that_lie_give_errors() {
    struct Liar {
        short: usize,
        extents: AtomicUsize,
    }
    impl Blocks for Liar {
        type Elem = i64;
        fn extents(&self) -> &[usize] {
            match self.extents.fetch_add(1, Ordering::Relaxed) {
                0 => &[100, 100],
                _ => &[7, 9, 3],
            }
        }
        fn block(&self) -> &[usize] {
            &[64, 64]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
            Ok(Block::from(vec![index[0] as i64; 64 * 64 - self.short]))
        }
    }
    for short in [0, 1, 64 * 64] {
        let liar = Liar { short, extents: AtomicUsize::new(0) };
        let t = tensor(Chunked::new(liar).unwrap());
        let turned = t.clone().transpose([1, 0]).unwrap();
        if short == 0 {
            assert_eq!(turned.sum(..).item().unwrap(), 36 * 100);
            continue;
        }
        let text = turned.to_vec().unwrap_err().to_string();
        assert!(
            text.contains(&format!("a block has {} elements instead of 4096", 4096 - short)),
            "{text}"
        );
        assert!(t.sum(0).eval().is_err() && t.get([3, 3]).is_err());
    }
    // As a reader of its own, with extents that are not its length.
    struct Own;
    impl Reader for Own {
        type Elem = i64;
        fn len(&self) -> usize {
            12
        }
        fn read(&self, address: usize) -> i64 {
            address as i64
        }
        fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
            Some(self)
        }
    }
    impl Blocks for Own {
        type Elem = i64;
        fn extents(&self) -> &[usize] {
            &[5, 5]
        }
        fn block(&self) -> &[usize] {
            &[0, 2]
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, i64>, StorageError> {
            Err(StorageError::new(0, "never asked"))
        }
    }
    let t = Tensor::new([3, 4], Own).unwrap().transpose([1, 0]).unwrap();
    assert_eq!(t.to_vec().unwrap(), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
}

/// Large and small blocks that nobody could follow one by one, and repeats of a few.
#[test]
fn endless_blocks_are_told_of_at_once() {
    /// Blocks that nobody loads.
    struct Endless([usize; 1]);
    impl Blocks for Endless {
        type Elem = f64;
        fn extents(&self) -> &[usize] {
            &[1 << 45]
        }
        fn block(&self) -> &[usize] {
            &self.0
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
            Err(StorageError::new(index[0], "nobody asks for it"))
        }
    }
    for side in [4096, 64] {
        let t = Tensor::new([1 << 45], Chunked::new(Endless([side])).unwrap()).unwrap();
        let text = (&t + 1.0).explain().unwrap().to_string();
        let expected = format!("read in blocks of {side}, in more boxes than are followed here");
        assert!(text.contains(&expected), "{text}");
    }
    let few = BlockMemory::new([10, 10], [4, 4], 0).unwrap();
    let few = Tensor::new([10, 10], Chunked::new(few).unwrap()).unwrap();
    let repeated = few.view().reshape([100]).unwrap().broadcast([1 << 40, 100]).unwrap();
    assert_eq!(repeated.touched_blocks().unwrap().unwrap().len(), 9);
}

/// So is one of the destination, which updates and assignments to parts of blocks read.
#[test]
fn a_failing_load_of_the_destination_is_the_first_index_in_its_block() {
    for block in (0..9).map(|number| unravel(number, &counts())) {
        let t = || tensor(Chunked::new(Failing::new(Some(&block), None)).unwrap());
        let mut flipped = t().flip(0).unwrap();
        let mut part = t().transpose([1, 0]).unwrap().select((5..129, 10..149)).unwrap();
        let all = [flipped.try_add_assign(1), part.map_in_place(|x| x + 1)];
        for (done, first) in
            all.into_iter().zip([first_of(&flipped, &block), first_of(&part, &block)])
        {
            let Err(Error::Storage { index, .. }) = done else { panic!("{done:?}") };
            assert_eq!(index, first);
        }
    }
}
