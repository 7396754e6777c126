//! What tests of many modules share. The model of views is `model`, readings that are compared with it `views`.

use lensor::storage::{BoxReader, FromFn};
use lensor::{Error, Expr, Lazy, Reader, Result, StorageError, Tensor};
use std::fmt::Debug;
use std::ops::Range;

/// Asserts that `result` is `error` and that it reads `text`.
#[track_caller]
pub(crate) fn fails<T>(result: Result<T>, error: Error, text: &str) {
    let found = result.err().unwrap();
    assert_eq!(found, error);
    assert_eq!(found.to_string(), text);
}

/// A million; a tenth of it without optimisation, which is as much beyond any stack.
pub(crate) const MILLION: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

/// A pool of so many threads, whatever the machine has.
pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Runs `f` in pools of 1, 2, 3 and 16 threads; all results are the same.
#[track_caller]
pub(crate) fn in_pools<T: Send + PartialEq + Debug>(f: impl Fn() -> Result<T> + Sync) -> T {
    let first = pool(1).install(&f).unwrap();
    for threads in [2, 3, 16] {
        assert!(pool(threads).install(&f).unwrap() == first, "{threads} threads differ");
    }
    first
}

/// The elements of an expression, by a plan, however few there are: zeros that are not memory are added.
pub(crate) fn planned<E: Expr<Elem = i64>>(e: &Lazy<E>) -> Vec<i64> {
    let shape = e.shape().unwrap();
    let zeros = FromFn::new(shape.count().unwrap(), |_| 0_i64);
    (e + Tensor::new(shape, zeros).unwrap()).to_vec().unwrap()
}

/// The elements of an expression that goes to each second column of memory.
pub(crate) fn spread<E: Expr<Elem = i64>>(e: &Lazy<E>) -> Vec<i64> {
    let shape = e.shape().unwrap();
    let mut room = vec![0; 2 * shape.count().unwrap()];
    let all = Tensor::new([shape.count().unwrap(), 2], &mut room[..]).unwrap();
    e.assign_to(&mut all.select((.., 1)).unwrap().reshape(shape).unwrap()).unwrap();
    room.into_iter().skip(1).step_by(2).collect()
}

/// The name by which this binary runs a test of a module alone: `test_name(module_path!(), "test")`.
pub(crate) fn test_name(module: &str, test: &str) -> String {
    let (_crate, module) = module.split_once("::").unwrap();
    format!("{module}::{test}")
}

/// So many addresses as elements, those at `bad` of which cannot be read. Boxed: what is done to such storage in many
/// tests is compiled for any boxed storage once.
pub(crate) fn offline(len: usize, bad: Range<usize>) -> BoxReader<'static, i32> {
    BoxReader::new(Broken { len, bad })
}

#[derive(Debug, Clone)]
struct Broken {
    len: usize,
    bad: Range<usize>,
}

impl Reader for Broken {
    type Elem = i32;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> i32 {
        self.try_read(address).unwrap()
    }

    fn try_read(&self, address: usize) -> Result<i32, StorageError> {
        if self.bad.contains(&address) {
            Err(StorageError::new(address, "offline"))
        } else {
            Ok(address as i32)
        }
    }
}

/// Numbers that follow from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for k in (1..list.len()).rev() {
            list.swap(k, self.below(k + 1));
        }
    }
}
