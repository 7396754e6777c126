//! Blocks that are loaded before they are asked for.

use super::tensor;
use super::threads::{SUM, Slow, watched};
use crate::support::pool;
use lensor::StorageError;
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Blocks are loaded before they are asked for, each once, and no more than the cache takes.
#[test]
fn blocks_are_loaded_ahead() {
    watched(|| {
        let chunked = Chunked::new(Slow::new(2)).unwrap().with_ahead(8).unwrap();
        let t = tensor(chunked.clone());
        let turned = t.view().transpose([1, 0]).unwrap();
        assert_eq!(turned.to_vec().unwrap().iter().sum::<u32>(), SUM);
        assert_eq!(chunked.stats().loads, 16);
        assert!(chunked.stats().hits + chunked.stats().waits > 0);
        // A small cache is not run over.
        let small = Chunked::new(Slow::new(1)).unwrap().with_blocks(4).with_ahead(8).unwrap();
        assert_eq!(tensor(small.clone()).sum(..).item().unwrap(), u64::from(SUM));
        // What is not used yet fills half of it, however many threads load.
        let new = || Chunked::new(Slow::new(5)).unwrap();
        let next: Vec<_> = (0..8).map(|k| [k / 4, k % 4].into_iter().collect()).collect();
        // In whatever order it is told what they are to be.
        let halves = [
            new().with_blocks(4).with_ahead(8).unwrap(),
            new().with_ahead(8).unwrap().with_blocks(4),
            new().with_blocks(4).with_ahead(1).unwrap().with_check(|| Ok(())),
        ];
        for half in halves {
            assert!(half.ahead() > 0);
            half.expect(&next);
            std::thread::sleep(Duration::from_millis(200));
            assert_eq!(half.stats().loads, 2);
        }
        assert_eq!(new().with_ahead(8).unwrap().with_ahead(0).unwrap().with_blocks(4).ahead(), 0);
    });
}

/// Clones that are operands of one expression tell of their blocks one after the other, and so do threads: all are
/// loaded ahead, in turn, until the thread that told of them tells again.
#[test]
fn operands_that_share_blocks_are_all_loaded_ahead() {
    let block = |row, column| [row, column].into_iter().collect();
    let (rows, columns): (Vec<_>, Vec<_>) = (0..4).map(|k| (block(0, k), block(k, 3))).unzip();
    watched(move || {
        let chunked = Chunked::new(Slow::new(0)).unwrap().with_blocks(16).with_ahead(1).unwrap();
        let reaches = |loads: usize| {
            while chunked.stats().loads < loads {
                std::thread::yield_now();
            }
        };
        chunked.expect(&rows[..3]);
        chunked.clone().expect(&columns);
        std::thread::scope(|scope| {
            scope.spawn(|| chunked.expect(&[block(3, 0)]));
        });
        // Half of the cache.
        reaches(8);
        let known = chunked.stats();
        let all = rows.iter().chain(&columns);
        all.for_each(|index| drop(chunked.load(index).unwrap()));
        drop(chunked.load(&[3, 0]).unwrap());
        assert_eq!(chunked.stats().loads, known.loads);

        // What is told of after a block was used takes the place of what there was no room for.
        let small = Chunked::new(Slow::new(0)).unwrap().with_blocks(2).with_ahead(1).unwrap();
        small.expect(&rows[..3]);
        drop(small.load(&rows[0]).unwrap());
        small.expect(&[block(3, 0)]);
        drop(small.load(&rows[1]).unwrap());
        drop(small.load(&[3, 0]).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(small.stats().loads, 3);
    });
}

/// Remembers which blocks were loaded; the first cannot be.
struct Remembers(Mutex<Vec<usize>>);

impl Blocks for Remembers {
    type Elem = usize;
    fn extents(&self) -> &[usize] {
        &[8]
    }
    fn block(&self) -> &[usize] {
        &[1]
    }
    fn load(&self, index: &[usize]) -> Result<Block<'_, usize>, StorageError> {
        self.0.lock().unwrap().push(index[0]);
        match index[0] {
            0 => Err(StorageError::new(0, "bad")),
            number => Ok(vec![number].into()),
        }
    }
}

/// Those, of which two are held and one is loaded ahead at a time.
fn two_held() -> Chunked<Arc<Remembers>> {
    let chunked = Chunked::new(Arc::new(Remembers(Mutex::default()))).unwrap();
    chunked.with_blocks(2).with_ahead(1).unwrap()
}

fn tell(chunked: &Chunked<Arc<Remembers>>, numbers: impl IntoIterator<Item = usize>) {
    let blocks: Vec<_> = numbers.into_iter().map(|k| [k].into_iter().collect()).collect();
    chunked.expect(&blocks);
}

fn loaded(chunked: &Chunked<Arc<Remembers>>) -> Vec<usize> {
    chunked.storage().0.lock().unwrap().clone()
}

/// What a thread told of before a load of its own failed is not loaded once it tells of other blocks.
#[test]
fn failed_loads_end_what_was_told_before() {
    watched(|| {
        let chunked = two_held();
        tell(&chunked, 1..4);
        chunked.load(&[0]).unwrap_err();
        tell(&chunked, [5]);
        // Of no blocks, which changes nothing.
        tell(&chunked, []);
        for number in [1, 5, 6] {
            drop(chunked.load(&[number]).unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
        let loaded = loaded(&chunked);
        assert!(!loaded.contains(&2) && !loaded.contains(&3), "{loaded:?}");
    });
}

/// Loads ahead stop at their first error, until a thread tells of blocks again, and where a check refuses.
#[test]
fn loads_ahead_stop_at_an_error() {
    watched(|| {
        let chunked = two_held();
        tell(&chunked, [0, 1, 2, 3]);
        while loaded(&chunked).is_empty() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(loaded(&chunked), [0]);
        tell(&chunked, [4]);
        while loaded(&chunked).len() < 2 {
            std::thread::yield_now();
        }
        assert_eq!(loaded(&chunked), [0, 4]);
        let refused = two_held().with_check(|| Err(StorageError::new(0, "cancelled")));
        tell(&refused, 1..5);
        std::thread::sleep(Duration::from_millis(30));
        assert!(loaded(&refused).is_empty());
    });
}

/// Blocks that are lent are not held, so that few of them are loaded ahead.
#[test]
fn blocks_that_are_lent_are_not_loaded_ahead() {
    struct Lends(Vec<u32>);
    impl Blocks for Lends {
        type Elem = u32;
        fn extents(&self) -> &[usize] {
            &[256, 256]
        }
        fn block(&self) -> &[usize] {
            &[64, 64]
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, u32>, StorageError> {
            Ok(Block::Borrowed(&self.0))
        }
    }
    let new = || Chunked::new(Lends(vec![1; 64 * 64])).unwrap().with_blocks(4);
    let sum = |chunked: &Chunked<Lends>| {
        let t = tensor(chunked.clone());
        pool(1).install(|| assert_eq!(t.map(u64::from).sum(..).item(), Ok(256 * 256)));
        chunked.stats().loads
    };
    watched(move || {
        let expected = sum(&new());
        let chunked = new().with_ahead(2).unwrap();
        let next: Vec<_> = (0..16).map(|k| [k / 4, k % 4].into_iter().collect()).collect();
        chunked.expect(&next);
        while chunked.ahead() > 0 {
            std::thread::yield_now();
        }
        chunked.expect(&next);
        sum(&chunked);
        std::thread::sleep(Duration::from_millis(20));
        // Each thread may have had one under way.
        let more = chunked.stats().loads - expected;
        assert!((1..=2).contains(&more), "{more}");
    });
}

/// What a thread loaded itself is not loaded ahead any more, although it is not held any more either.
#[test]
fn blocks_that_were_used_are_not_loaded_ahead() {
    watched(|| {
        let chunked = two_held();
        tell(&chunked, 1..6);
        while chunked.stats().loads < 1 {
            std::thread::yield_now();
        }
        for number in [2, 3, 4, 1, 4] {
            drop(chunked.load(&[number]).unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
        let loaded = loaded(&chunked);
        let ahead = loaded.iter().filter(|&&number| number == 2 || number == 3);
        assert_eq!(ahead.count(), 2, "{loaded:?}");
    });
}

/// Nor is it by another operand, which all the same is given what it told of before.
#[test]
fn blocks_of_other_operands_are_loaded_ahead_all_the_same() {
    watched(|| {
        let chunked = two_held();
        tell(&chunked, 1..5);
        tell(&chunked.clone(), [5, 6, 2]);
        let next = |before: usize| {
            while loaded(&chunked).len() <= before {
                std::thread::yield_now();
            }
            loaded(&chunked)[before]
        };
        let first = next(0);
        drop(chunked.load(&[2]).unwrap());
        // There is room for one block at a time.
        let mut ahead = vec![first];
        while ahead.len() < 5 {
            drop(chunked.load(&[*ahead.last().unwrap()]).unwrap());
            ahead.push(next(ahead.len() + 1));
        }
        ahead.sort();
        assert_eq!(ahead, [1, 3, 4, 5, 6]);
    });
}

/// Whatever is done to storage with a delay, many of its blocks are loaded ahead, and each once.
#[test]
fn all_operations_load_ahead() {
    /// Counts its loads, and those that threads of others made.
    struct Far([AtomicUsize; 2]);
    impl Blocks for Far {
        type Elem = f64;
        fn extents(&self) -> &[usize] {
            &[4, 128, 512]
        }
        fn block(&self) -> &[usize] {
            &[2, 64, 64]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
            std::thread::sleep(Duration::from_millis(2));
            let ahead = std::thread::current().name() == Some("lensor-ahead");
            self.0[usize::from(ahead)].fetch_add(1, Ordering::Relaxed);
            let first = index[0] * 16 + index[1] * 8 + index[2];
            let element = |k: usize| ((first + k * 7) % 101) as f64;
            Ok((0..2 * 64 * 64).map(element).collect::<Vec<_>>().into())
        }
    }
    type Operation = fn(&Tensor<Chunked<Arc<Far>>>) -> lensor::Result<Vec<f64>>;
    let operations: [(&str, Operation); 12] = [
        ("copy", |t| t.to_vec()),
        ("transposed copy", |t| t.view().transpose([2, 0, 1])?.to_vec()),
        ("sum", |t| Ok(vec![t.sum(..).item()?])),
        ("sum 0", |t| t.sum(0).to_vec()),
        ("sum 1", |t| t.sum(1).to_vec()),
        ("sum 2", |t| t.sum(2).to_vec()),
        ("sum of a window", |t| t.view().select((.., 3..100, 5..500))?.sum(1).to_vec()),
        ("sum of an expression", |t| (t * 2.0).sum([0, 1]).to_vec()),
        ("cumsum 1", |t| t.cumsum(1).to_vec()),
        ("cumsum 2", |t| t.cumsum(2).to_vec()),
        ("rolling", |t| t.rolling(1, 5).sum().to_vec()),
        ("sort", |t| t.sort(1, SortOrder::Ascending).to_vec()),
    ];
    watched(move || {
        for (name, operation) in operations {
            let far = Arc::new(Far(Default::default()));
            let near = Tensor::new([4, 128, 512], Chunked::new(far.clone()).unwrap()).unwrap();
            let far_ahead = Arc::new(Far(Default::default()));
            let chunked = Chunked::new(far_ahead.clone()).unwrap().with_ahead(4).unwrap();
            let t = Tensor::new([4, 128, 512], chunked).unwrap();
            let [found, expected] = [operation(&t), operation(&near)];
            assert_eq!(found, expected, "{name}");
            let [own, ahead] = far_ahead.0.each_ref().map(|count| count.load(Ordering::Relaxed));
            assert_eq!(own + ahead, 32, "{name}");
            assert!(ahead >= 2, "{name}: {ahead} of 32");
            assert_eq!(far.0[1].load(Ordering::Relaxed), 0);
        }
    });
}

/// Nor do assignments, updates and comparisons wait for one block after another.
#[test]
fn assignments_load_ahead() {
    /// Takes a while to load, and counts loads by threads of others.
    struct Far(BlockMemory<f64>, AtomicUsize);
    impl Blocks for Far {
        type Elem = f64;
        fn extents(&self) -> &[usize] {
            self.0.extents()
        }
        fn block(&self) -> &[usize] {
            self.0.block()
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
            std::thread::sleep(Duration::from_millis(2));
            let ahead = std::thread::current().name() == Some("lensor-ahead");
            self.1.fetch_add(usize::from(ahead), Ordering::Relaxed);
            self.0.load(index)
        }
    }
    impl BlocksMut for Far {
        fn store(&self, index: &[usize], from: &[f64]) -> Result<(), StorageError> {
            self.0.store(index, from)
        }
    }
    let far = || {
        let memory = BlockMemory::new([512, 512], [64, 64], 1.0).unwrap();
        let far = Arc::new(Far(memory, AtomicUsize::new(0)));
        let chunked = Chunked::new(far.clone()).unwrap().with_ahead(4).unwrap();
        (far, Tensor::new([512, 512], chunked).unwrap())
    };
    watched(move || {
        let check = |what: &str, far: &Far| {
            let ahead = far.1.load(Ordering::Relaxed);
            assert!(ahead >= 8, "{what}: {ahead} of 64");
        };
        crate::support::pool(1).install(|| {
            let (source, t) = far();
            let memory = BlockMemory::new([512, 512], [64, 64], 0.0).unwrap();
            let mut out = Tensor::new([512, 512], Chunked::new(memory).unwrap()).unwrap();
            out.assign(&t * 2.0).unwrap();
            assert_eq!(out.sum(..).item(), Ok(2.0 * 512.0 * 512.0));
            check("assign", &source);
            let (source, mut t) = far();
            t += 1.0;
            check("+=", &source);
            assert_eq!(t.sum(..).item(), Ok(2.0 * 512.0 * 512.0));
            let (source, t) = far();
            out += &t;
            check("+= of another", &source);
            let (source, t) = far();
            assert!(t.try_equal(Tensor::constant([512, 512], 1.0).unwrap()).unwrap());
            check("equal", &source);
        });
    });
}

/// The threads end with the storage.
#[test]
fn threads_that_load_ahead_end() {
    let blocks = Arc::new(BlockMemory::new([64, 64], [16, 16], 1_u8).unwrap());
    let t = tensor(Chunked::new(blocks.clone()).unwrap().with_ahead(3).unwrap());
    assert_eq!(t.map(u64::from).sum(..).item().unwrap(), 4096);
    drop(t);
    watched(move || {
        while Arc::strong_count(&blocks) > 1 {
            std::thread::yield_now();
        }
    });
}
