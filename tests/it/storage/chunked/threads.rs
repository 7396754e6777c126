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
pub(super) fn watched<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(f()));
    receive.recv_timeout(Duration::from_secs(60)).expect("it hangs, or it panicked")
}

/// Blocks of 64 x 64 elements, each its number, that take a while; counts loads.
pub(super) struct Slow {
    loads: AtomicUsize,
    sleep: Duration,
    /// A block whose load panics once.
    panics: Mutex<Option<usize>>,
}

impl Slow {
    pub(super) fn new(milliseconds: u64) -> Self {
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

pub(super) const SUM: u32 = 64 * 64 * 120;

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

/// An error is told to all who wait for the block, and is not kept.
#[test]
fn an_error_is_told_to_all_who_wait() {
    struct LostOnce(AtomicUsize);
    impl Blocks for LostOnce {
        type Elem = u8;
        fn extents(&self) -> &[usize] {
            &[4]
        }
        fn block(&self) -> &[usize] {
            &[4]
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, u8>, StorageError> {
            std::thread::sleep(Duration::from_millis(300));
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Err(StorageError::new(0, "lost")),
                _ => Ok(Block::Fill(7)),
            }
        }
    }
    let chunked = Chunked::new(LostOnce(AtomicUsize::new(0))).unwrap();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                let error = chunked.try_read(3).unwrap_err().to_string();
                assert_eq!(error, "storage failed at address 3: lost");
            });
        }
    });
    assert_eq!((chunked.stats().loads, chunked.stats().waits), (1, 3));
    assert_eq!(chunked.try_read(3).unwrap(), 7);
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

/// Loads that share work among threads have none to wait for, as those of other pools may wait for them.
#[cfg(feature = "rayon")]
#[test]
fn loads_ahead_keep_to_their_threads() {
    type Place = (usize, Option<usize>);
    struct Counting(Arc<Mutex<Vec<Place>>>);
    impl Blocks for Counting {
        type Elem = u8;
        fn extents(&self) -> &[usize] {
            &[64, 64]
        }
        fn block(&self) -> &[usize] {
            &[16, 16]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, u8>, StorageError> {
            if std::thread::current().name() == Some("lensor-ahead") {
                let threads = rayon::join(rayon::current_num_threads, rayon::current_thread_index);
                self.0.lock().unwrap().push(threads);
            }
            assert_ne!(index, [3, 3], "no such block");
            Ok(Block::Fill(1))
        }
    }
    let found = Arc::new(Mutex::new(Vec::new()));
    let chunked = Chunked::new(Counting(found.clone())).unwrap().with_ahead(2).unwrap();
    let next = [[3, 3], [0, 1], [2, 2]];
    watched(move || {
        chunked.expect(&next.map(|index| index.into_iter().collect()));
        while found.lock().unwrap().len() < 3 {
            std::thread::yield_now();
        }
        // A panic ends the thread that met it alone.
        assert_eq!(*found.lock().unwrap(), [(1, Some(0)); 3]);
        drop(chunked);
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

/// Parts that are seen, by their lengths or by which of two errors comes first, are those of any number of threads.
#[test]
fn parts_do_not_depend_on_threads() {
    /// Sixteen blocks of zeros, one of which may fail.
    struct Zeros(Option<usize>);

    impl Blocks for Zeros {
        type Elem = u8;

        fn extents(&self) -> &[usize] {
            &[1 << 22]
        }

        fn block(&self) -> &[usize] {
            &[1 << 17]
        }

        fn load(&self, index: &[usize]) -> Result<Block<'_, u8>, StorageError> {
            match self.0 {
                Some(fails) if index == [fails] => Err(StorageError::new(0, "offline")),
                _ => Ok(Block::from(vec![0; 1 << 17])),
            }
        }
    }

    let new = |fails| {
        let chunked = Chunked::new(Zeros(fails)).unwrap().with_blocks(16);
        Tensor::new([1 << 22], chunked).unwrap()
    };
    let seen = |threads: usize| {
        pool(threads).install(|| {
            let mut lengths = Vec::new();
            new(None).for_each_piece(3_000_000, |piece| {
                lengths.push(piece.len());
                Ok::<(), Error>(())
            })?;
            let ones = Tensor::full([1 << 22], 1_u8)?;
            let differs = !new(Some(20)).try_equal(&ones)?;
            let at = Tensor::from(vec![0_usize]);
            let list = new(None).take_at((&at,)).explain()?.lines()[1].clone();
            Ok::<_, Error>((lengths, differs, list))
        })
    };
    let (lengths, differs, list) = seen(1).unwrap();
    assert!(differs && lengths.iter().sum::<usize>() == 1 << 22, "{lengths:?}");
    for threads in 2..=3 {
        assert_eq!(seen(threads).unwrap(), (lengths.clone(), differs, list.clone()), "{threads}");
    }
}
