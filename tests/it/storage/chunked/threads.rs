//! A cache that several threads ask.

use super::{all, blocks_of, tensor};
use crate::support::pool;
use lensor::StorageError;
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::time::Duration;

/// Runs `f` on a thread of its own, and panics if it takes a minute.
fn watched<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(f()));
    receive.recv_timeout(Duration::from_secs(60)).expect("it hangs, or it panicked")
}

/// Blocks of 64 x 64 elements, each its number, that take a while; counts loads.
struct Slow {
    loads: AtomicUsize,
    sleep: Duration,
    /// A block whose load panics once.
    panics: Mutex<Option<usize>>,
}

impl Slow {
    fn new(milliseconds: u64) -> Self {
        let sleep = Duration::from_millis(milliseconds);
        Self { loads: AtomicUsize::new(0), sleep, panics: Mutex::new(None) }
    }
}

impl Blocks for Slow {
    type Elem = u32;

    fn extents(&self) -> &[usize] {
        &[256, 256]
    }

    fn block(&self) -> &[usize] {
        &[64, 64]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.sleep);
        let number = 4 * index[0] + index[1];
        let panics = self.panics.lock().unwrap().take_if(|bad| *bad == number).is_some();
        assert!(!panics, "a panic the test asked for");
        Ok(Block::from(vec![number as u32; 64 * 64]))
    }
}

const SUM: u32 = 64 * 64 * 120;

/// Threads that ask for one block at once have it loaded once.
#[test]
fn a_block_is_loaded_once_however_many_ask() {
    let chunked = Chunked::new(Slow::new(30)).unwrap();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(chunked.try_read(70).unwrap(), 1);
            });
        }
    });
    assert_eq!(chunked.storage().loads.load(Ordering::Relaxed), 1);
    assert_eq!((chunked.stats().loads, chunked.stats().waits), (1, 3));
}

/// Four threads evaluate over one cache.
#[test]
fn four_threads_share_a_cache() {
    let data: Vec<f64> = (0..300 * 400).map(|k| (k % 977) as f64 / 3.0).collect();
    let memory = Tensor::from_vec([300, 400], data).unwrap();
    let chunked = tensor(
        Chunked::new(blocks_of(&[300, 400], &[64, 64], memory.storage())).unwrap().with_blocks(3),
    );
    let expected = memory.view().transpose([1, 0]).unwrap().sum(0).to_vec().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let turned = chunked.view().transpose([1, 0]).unwrap();
                    assert_eq!(turned.sum(0).to_vec().unwrap(), expected);
                }
            });
        }
    });
}

/// Loads that share work among threads, which read other blocks of the same storage, do not wait for one another in
/// a circle.
#[test]
fn loads_that_join_do_not_deadlock() {
    static WHOLE: OnceLock<Chunked<Joining>> = OnceLock::new();
    struct Joining;
    impl Blocks for Joining {
        type Elem = u64;
        fn extents(&self) -> &[usize] {
            &[64 * 512]
        }
        fn block(&self) -> &[usize] {
            &[512]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, u64>, StorageError> {
            let value = match (WHOLE.get(), index[0]) {
                (Some(whole), number @ 2..) => {
                    let read = |block: usize| whole.try_read(block * 512 + 7);
                    let (a, b) = rayon::join(|| read(number / 2), || read(number / 3));
                    a?.max(b?) + 1
                }
                _ => 1,
            };
            Ok(Block::from(vec![value; 512]))
        }
    }
    watched(|| {
        let chunked = WHOLE.get_or_init(|| Chunked::new(Joining).unwrap().with_blocks(1));
        let depth = |block: usize| (block.max(1)).ilog2() as u64 + 1;
        pool(8).install(|| {
            for _ in 0..20 {
                use rayon::prelude::*;
                (0..64_usize).into_par_iter().for_each(|block| {
                    assert_eq!(chunked.try_read(block * 512).unwrap(), depth(block));
                });
            }
        });
    });
}

/// A panic in a load reaches who asked, and leaves the cache as it was.
#[test]
fn a_panic_leaves_the_cache_usable() {
    let t = tensor(Chunked::new(Slow::new(0)).unwrap());
    *t.storage().storage().panics.lock().unwrap() = Some(9);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| t.sum(..).item()));
    assert!(result.is_err());
    let copy = t.clone();
    watched(move || assert_eq!(copy.sum(..).item().unwrap(), u64::from(SUM)));
    assert_eq!(t.storage().stats().loads, 17);
}

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
        let half = Chunked::new(Slow::new(5)).unwrap().with_blocks(4).with_ahead(8).unwrap();
        let next: Vec<_> = (0..8).map(|k| [k / 4, k % 4].into_iter().collect()).collect();
        half.expect(&next);
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(half.stats().loads, 2);
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

/// What a thread told of before a load of its own failed is not loaded once it tells of other blocks.
#[test]
fn failed_loads_end_what_was_told_before() {
    /// Remembers which blocks were loaded; one cannot be.
    struct Bad(Mutex<Vec<usize>>);
    impl Blocks for Bad {
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
    watched(|| {
        let chunked = Chunked::new(Arc::new(Bad(Mutex::default()))).unwrap();
        let chunked = chunked.with_blocks(2).with_ahead(1).unwrap();
        let told = |numbers: std::ops::Range<usize>| {
            chunked.expect(&numbers.map(|k| [k].into_iter().collect()).collect::<Vec<_>>());
        };
        told(1..4);
        chunked.load(&[0]).unwrap_err();
        told(5..6);
        // Of no blocks, which changes nothing.
        told(0..0);
        for number in [1, 5, 6] {
            drop(chunked.load(&[number]).unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
        let loaded = chunked.storage().0.lock().unwrap().clone();
        assert!(!loaded.contains(&2) && !loaded.contains(&3), "{loaded:?}");
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

/// No two threads change one block at once, however the boxes that are written lie in it: a loop of the destination may
/// be one of two along an axis of the blocks, as where a source repeats or an axis is split.
#[test]
fn a_block_is_written_by_one_thread() {
    /// Takes a while between a load and the store that follows.
    struct Lingering(BlockMemory<u8>);
    impl Blocks for Lingering {
        type Elem = u8;
        fn extents(&self) -> &[usize] {
            self.0.extents()
        }
        fn block(&self) -> &[usize] {
            self.0.block()
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, u8>, StorageError> {
            let block = self.0.load(index);
            std::thread::sleep(Duration::from_millis(2));
            block
        }
    }
    impl BlocksMut for Lingering {
        fn store(&self, index: &[usize], from: &[u8]) -> Result<(), StorageError> {
            self.0.store(index, from)
        }
    }
    let new = |extents: &[usize], block: &[usize]| {
        let memory = BlockMemory::new(extents, block, 0).unwrap();
        tensor(Chunked::new(Lingering(memory)).unwrap())
    };
    let ones = |shape: &[usize]| Tensor::full(shape, 1_u8).unwrap();
    pool(3).install(|| {
        let mut repeated = new(&[504_000], &[168_000]);
        repeated.assign(&ones(&[252_000]).broadcast([504_000]).unwrap()).unwrap();
        repeated += &ones(&[126_000]).broadcast([504_000]).unwrap();
        assert!(all(repeated.storage()).iter().all(|x| *x == 2));

        let mut split = new(&[308_700], &[102_900]);
        let mut view = split.view_mut().reshape([14, 450, 49]).unwrap();
        view.assign(&ones(&[14, 450, 49])).unwrap();
        let turned = ones(&[49, 450, 14]).transpose([2, 1, 0]).unwrap();
        split.view_mut().reshape([14, 450, 49]).unwrap().try_add_assign(&turned).unwrap();
        assert!(all(split.storage()).iter().all(|x| *x == 2));

        let mut flipped = new(&[150, 100, 28], &[75, 35, 8]);
        let column = ones(&[75, 1, 1]).broadcast([150, 100, 28]).unwrap();
        flipped.view_mut().flip(0).unwrap().assign(&column).unwrap();
        assert!(all(flipped.storage()).iter().all(|x| *x == 1));
    });
}

/// A check that refuses ends an evaluation, and what is loaded ahead.
#[test]
fn work_can_be_cancelled() {
    watched(|| {
        let left = Arc::new(AtomicUsize::new(5));
        let asked = left.clone();
        let check = move || match asked.load(Ordering::Relaxed) {
            0 => Err(StorageError::new(0, "cancelled")),
            left => {
                asked.store(left - 1, Ordering::Relaxed);
                Ok(())
            }
        };
        // A check stays with other caches of the storage.
        let chunked = Chunked::new(Slow::new(0)).unwrap().with_check(check).with_blocks(20);
        let t = tensor(chunked.clone());
        let error = pool(1).install(|| t.to_vec()).unwrap_err().to_string();
        assert!(error.contains("cancelled"), "{error}");
        assert_eq!(chunked.storage().loads.load(Ordering::Relaxed), 5);
        left.store(100, Ordering::Relaxed);
        assert_eq!(t.sum(..).item().unwrap(), u64::from(SUM));
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
