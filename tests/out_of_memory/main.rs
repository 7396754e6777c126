//! Memory that runs out at any allocation of the size of the input (failure mode 8): an error, never
//! an abort, and everything can still be used.
//!
//! An abort is one of the whole test; with `-- --nocapture` its last line says which case it was.
#![allow(unsafe_code, reason = "an allocator that fails")]

mod folds;
mod indexing;
mod lanes;
mod ragged;
mod sparse;
mod storage;
mod text;

use lensor::interop::npy;
use lensor::prelude::*;
use lensor::tensor::{concat, pad, stack};
use lensor::{AddressMap, Reader, Result, StorageError, Writer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// Allocations from this size on may fail, in bytes. Scratch memory of a tile is smaller.
const LARGE: usize = 1 << 16;
/// Elements of an input: enough for threads, and none of its parts is small.
const COUNT: usize = SIDE * SIDE;
const SIDE: usize = 300;
/// Elements of an input that is worked on by one thread.
const FEW: usize = FEW_SIDE * FEW_SIDE;
const FEW_SIDE: usize = 120;

struct Failing;

/// Large allocations before the one that fails; below 0 after it.
static LEFT: AtomicIsize = AtomicIsize::new(isize::MAX);
/// Whether only that one fails.
static ONCE: AtomicBool = AtomicBool::new(true);

// SAFETY: every call is handed on to the system's allocator as it is, or refused with null.
// Reallocation is the provided one, in terms of these.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE {
            let left = LEFT.fetch_sub(1, Relaxed);
            if left == 0 || (left < 0 && !ONCE.load(Relaxed)) {
                return std::ptr::null_mut();
            }
        }
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `f` while the large allocation after `allowed` others fails.
fn short_of_memory<T>(allowed: isize, once: bool, f: impl FnOnce() -> T) -> T {
    ONCE.store(once, Relaxed);
    LEFT.store(allowed, Relaxed);
    let result = f();
    LEFT.store(isize::MAX, Relaxed);
    result
}

/// Runs `f` with memory that ends at every large allocation in turn, until it succeeds. The result is
/// then, after as many failures, what it always is, and before that the error; there are at least `expected` of them.
fn every_shortage<T: PartialEq>(what: &str, expected: isize, f: impl Fn() -> Result<T>) {
    println!("{what}");
    let right = match f() {
        Ok(right) => right,
        Err(error) => panic!("{what} fails with plenty of memory: {error}"),
    };
    for once in [true, false] {
        let mut allowed = 0;
        loop {
            match short_of_memory(allowed, once, &f) {
                Ok(found) => break assert!(found == right, "{what} after {allowed} allocations"),
                // What grows asks for twice of what it needs.
                Err(Error::OutOfMemory { bytes }) => assert!(2 * bytes >= LARGE, "{what}: {bytes}"),
                Err(Error::Storage { source, .. }) if is_shortage(&source) => {}
                Err(error) => panic!("{what} after {allowed} allocations: {error}"),
            }
            allowed += 1;
        }
        assert!(allowed >= expected, "{what} took {allowed} large allocations");
    }
}

/// Whether a storage had no memory.
fn is_shortage(error: &StorageError) -> bool {
    matches!(error.source.downcast_ref(), Some(Error::OutOfMemory { .. }))
}

/// Storage without memory to show.
struct Slots(Vec<u64>);

impl Reader for Slots {
    type Elem = u64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> u64 {
        self.0[address]
    }
}

impl Writer for Slots {
    fn write(&mut self, address: usize, value: u64) {
        self.0[address] = value;
    }
}

fn elements() -> Vec<u64> {
    (0..COUNT as u64).map(|k| k * k + 1).collect()
}

fn square() -> Tensor<Vec<u64>> {
    square_of(SIDE)
}

fn square_of(side: usize) -> Tensor<Vec<u64>> {
    Tensor::from_index([side, side], |i| ((i[0] * side + i[1]) as u64).pow(2) + 1).unwrap()
}

/// One test, as the allocator is one. Another process, with an allocator of its own, runs half of the cases.
#[test]
fn memory_may_end_anywhere() {
    const OTHER: &str = "OTHER_HALF";
    let own: [fn(); 12] = [
        building,
        copying,
        computing,
        writing,
        views,
        files,
        indexing::lists,
        lanes::sorting,
        lanes::picking,
        ragged::tables,
        ragged::computing,
        in_threads,
    ];
    let others: [fn(); 10] = [
        folds::reducing,
        folds::scanning,
        folds::stencils,
        sparse::entries,
        sparse::computing,
        sparse::writing,
        sparse::products,
        storage::reading,
        storage::writing,
        text::files,
    ];
    if std::env::var_os(OTHER).is_some() {
        return others.iter().for_each(|cases| cases());
    }
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["--exact", "memory_may_end_anywhere", "--nocapture"]).env(OTHER, "1");
    let mut other = other.spawn().unwrap();
    own.iter().for_each(|cases| cases());
    assert!(other.wait().unwrap().success(), "the other half of the cases");
}

fn building() {
    every_shortage("full", 1, || Tensor::full([SIDE, SIDE], 1_u8));
    every_shortage("from_index", 1, || Tensor::from_index([SIDE, SIDE], |i| i[0] ^ i[1]));
    let rows = vec![vec![1_u64; SIDE]; SIDE];
    let refused = short_of_memory(0, false, || Tensor::from_nested(rows));
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "from_nested");
    every_shortage("iota", 1, || {
        Tensor::<lensor::storage::Progression<u64>>::iota([COUNT])?.to_vec()
    });
}

fn copying() {
    let t = square();
    every_shortage("to_vec", 1, || t.to_vec());
    every_shortage("copy", 1, || t.view().transpose([1, 0])?.eval());
    every_shortage("rotated", 1, || t.view().rotate([7, 9])?.to_vec());
    every_shortage("tiled", 1, || t.view().broadcast([2, SIDE, 2 * SIDE])?.to_vec());
    let linked = || t.view().transpose([1, 0])?.reshape([COUNT])?.rotate([5]);
    every_shortage("linked", 1, || linked()?.to_vec());
    every_shortage("into_contiguous", 2, || t.eval()?.flip(0)?.into_contiguous());
    every_shortage("iterated", 0, || t.try_iter().try_fold(0, |sum, x| Ok(sum ^ x?)));
    every_shortage("erased", 1, || t.view().erase().to_vec());
    let slots = Tensor::new([SIDE, SIDE], Slots(elements())).unwrap();
    every_shortage("slots", 1, || slots.view().transpose([1, 0])?.to_vec());
    every_shortage("concat", 1, || concat(1, [t.view(), t.view().flip(0)?])?.to_vec());
    every_shortage("stack", 1, || stack(2, [t.view(), t.view().flip(0)?])?.to_vec());
    every_shortage("pad", 1, || pad(t.view(), [(1, 2), (3, 4)], 0)?.to_vec());
    every_shortage("flat", 1, || Tensor::new([COUNT], linked()?.flat())?.to_vec());
}

fn computing() {
    let t = square();
    every_shortage("eval", 1, || (&t * 3 + &t).eval());
    every_shortage("crossed", 1, || (&t + t.view().transpose([1, 0])?).eval());
    every_shortage("boxed", 1, || ((&t + 1).boxed() * &t).boxed().eval());
    every_shortage("map", 1, || t.map(|x| x as f32).eval());
    every_shortage("cast", 1, || t.cast::<i128>().eval());
    every_shortage("equal", 0, || t.try_equal(&t));
    every_shortage("divided", 1, || (&t / 3).eval());
    // A fault is found again, to name it, and this takes no memory either.
    let zero = Tensor::full([SIDE, SIDE], 0_u64).unwrap();
    every_shortage("fault", 1, || match (&t / &zero).eval() {
        Err(Error::OutOfMemory { bytes }) => Err(Error::OutOfMemory { bytes }),
        other => Ok(other.map(drop)),
    });
}

fn writing() {
    let t = square();
    let fresh = || Tensor::full([SIDE, SIDE], 0_u64);
    every_shortage("assign", 1, || {
        let mut out = fresh()?;
        out.view_mut().transpose([1, 0])?.assign(&t)?;
        Ok(out)
    });
    every_shortage("add_assign", 1, || {
        let mut out = fresh()?;
        out.try_add_assign(t.view().flip(0)?)?;
        Ok(out)
    });
    every_shortage("update", 2, || {
        let mut out = fresh()?;
        out.update(|old| Ok((old + 1).boxed()))?;
        Ok(out)
    });
    every_shortage("copy_within", 2, || {
        let mut out = fresh()?;
        let map = out.address_map().clone();
        out.copy_within(&map.clone().flip(0)?, &map)?;
        Ok(out)
    });
    // What failed to be computed is not written.
    let mut out = square();
    let refused = short_of_memory(0, true, || out.update(|old| Ok((old * 3).boxed())));
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
    assert!(out == t);
    let slots = Slots(elements());
    let mut out = Tensor::new([SIDE, SIDE], slots).unwrap();
    // Storage is written from scratch memory, without which nothing is.
    let refused = short_of_memory(0, false, || out.fill(4));
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
    assert_eq!(out.storage().0, elements());
    out.fill(4).unwrap();
    assert!(out.storage().0.iter().all(|&x| x == 4));
}

/// What is shared among threads takes memory for each of its tasks.
fn in_threads() {
    use lensor::lanes::{Lanes, SortOrder::Ascending};
    use lensor::product::PlusTimes;
    use lensor::reduce::{Max, WrappingSum};
    use lensor::{rolling::Rolling, scan::Scan, segments::Segments};
    let t = square();
    let flat = t.view().reshape([COUNT]).unwrap();
    every_shortage("sort of many", 1, || (&t % 77).sort_by(0, |a, b| b.cmp(a)).eval());
    every_shortage("argsort of many", 1, || t.argsort(1, Ascending).eval());
    for axis in [0, 1] {
        every_shortage("fold of many", 0, || t.fold(axis, WrappingSum).eval());
        every_shortage("scan of many", 1, || t.scan(axis, WrappingSum).eval());
        every_shortage("windows of many", 1, || t.rolling(axis, 30).fold(Max).eval());
    }
    every_shortage("long scan of many", 1, || flat.view().scan(0, WrappingSum).eval());
    every_shortage("long scan of an expression", 1, || (&flat + 1).scan(0, WrappingSum).eval());
    every_shortage("long windows of many", 1, || flat.view().rolling(0, 1000).fold(Max).eval());
    let offsets: Vec<usize> = (0..=COUNT / 2).map(|k| 2 * k).collect();
    every_shortage("segments of many", 2, || {
        flat.view().segments(0, &offsets).fold(WrappingSum).eval()
    });
    let (a, b) = (sparse::every(COUNT, 3), sparse::every(COUNT, 2));
    every_shortage("sparse sum of many", 2, || (&a + &b).eval_sparse().map(sparse::parts));
    let (a, b) = (sparse::banded(COUNT / 4, 1), sparse::banded(COUNT / 4, 7));
    every_shortage("products of many", 2, || a.times_sparse(&b, PlusTimes).map(sparse::parts));
    let table = Tensor::full([COUNT / 4, 3], 2_u64).unwrap();
    every_shortage("dense product of many", 1, || a.times_dense(&table, PlusTimes).eval());
}

/// Views take memory for lists only.
fn views() {
    let t = square();
    let list: Vec<usize> = (0..COUNT).map(|k| k * 7919 % COUNT).collect();
    let flat = || t.view().reshape([COUNT]);
    let selectors = [Select::List(list.clone())];
    every_shortage("list", 1, || Ok(flat()?.select(&selectors)?.address_map().clone()));
    every_shortage("list of a list", 2, || {
        flat()?.select(&selectors)?.select(&selectors)?.flip(0)?.rotate([3])?.get([COUNT / 2])
    });
    every_shortage("listed", 2, || flat()?.select(&selectors)?.to_vec());
    every_shortage("explained list", 1, || {
        Ok((flat()?.select(&selectors)? + 1).explain()?.lines().len())
    });
    every_shortage("fused list", 2, || (flat()?.select(&selectors)? + 1).eval());
    let listed = || flat()?.select(&selectors);
    every_shortage("list and link", 2, || {
        listed()?.reshape([SIDE, SIDE])?.transpose([1, 0])?.to_vec()
    });
    every_shortage("list and window", 2, || listed()?.windows(0, 2)?.to_vec());
    every_shortage("list and tile", 2, || listed()?.broadcast([2, COUNT])?.to_vec());
    every_shortage("list and slice", 1, || {
        listed()?.broadcast([2 * COUNT])?.slice(0, 0..COUNT)?.get([5])
    });
    every_shortage("list and inverse", 1, || {
        Ok(listed()?.address_map().to_global(5).map(|index| index[0]).collect::<Vec<_>>())
    });
    every_shortage("is_injective", 1, || Ok(listed()?.address_map().is_injective()));
    every_shortage("assign through a list", 2, || {
        let mut out = Tensor::full([COUNT], 0_u64)?;
        out.view_mut().select(&selectors)?.assign(flat()?)?;
        Ok(out)
    });
    every_shortage("indexed", 1, || {
        Tensor::new([COUNT], lensor::storage::Indexed::new(&t.storage()[..], &list[..])?)?.to_vec()
    });
    #[cfg(feature = "roaring")]
    {
        let set: roaring::RoaringTreemap = (0..COUNT as u64).filter(|k| k % 3 != 1).collect();
        let set = [Select::Set(set)];
        every_shortage("set", 1, || flat()?.select(&set)?.to_vec());
    }
    // A list that ascends is its own inverse.
    let mask: Vec<bool> = (0..COUNT).map(|k| k % 3 != 1 && k % 7 != 2).collect();
    let rising = flat().unwrap().compress(0, &mask).unwrap();
    short_of_memory(0, false, || rising.address_map().check_injective()).unwrap();
    // Positions that are no cycle take a table, and to look digits up its inverse.
    let table: Vec<usize> = (0..COUNT).map(|k| (k * 7919 % COUNT) ^ (k & 1)).collect();
    let squares: Vec<usize> = (0..COUNT).map(|k| k * k % COUNT).collect();
    for list in [table, squares] {
        let selectors = [Select::List(list)];
        let listed = || flat()?.select(&selectors);
        every_shortage("table", 1, || listed()?.to_vec());
        every_shortage("flipped table", 2, || listed()?.flip(0)?.to_vec());
        every_shortage("part of a table", 2, || listed()?.slice(0, 5..COUNT - 1)?.to_vec());
        every_shortage("table of a table", 2, || listed()?.select(&selectors)?.to_vec());
        every_shortage("table and link", 1, || {
            listed()?.reshape([SIDE, SIDE])?.transpose([1, 0])?.to_vec()
        });
        every_shortage("digits of a table", 1, || {
            let map = listed()?.address_map().clone();
            Ok((0..20).map(|k| map.to_global(k * k).collect::<Vec<_>>()).collect::<Vec<_>>())
        });
        every_shortage("check_injective", 2, || match listed()?.address_map().check_injective() {
            Err(Error::NotInjective { axis }) => Ok(Some(axis)),
            other => other.map(|()| None),
        });
    }
    every_shortage("is_injective of a table", 1, || {
        // Without memory it is not known to be.
        Ok(listed()?.address_map().is_injective() || LEFT.load(Relaxed) < 0)
    });
    let linked = |map: AddressMap| map.transpose([1, 0])?.reshape([COUNT / 8, 8])?.rotate([3, 1]);
    let map = linked(t.address_map().clone()).unwrap();
    every_shortage("links", 0, || {
        let found = map.to_global(1234).map(|index| index.to_vec()).collect::<Vec<_>>();
        Ok((map.is_injective(), map.clone().select((Select::every(-2), [1, 0]))?, found))
    });
}

fn files() {
    let t = square();
    let mut file = Vec::new();
    npy::write(&mut file, &t).unwrap();
    every_shortage("npy write", 0, || npy::write(std::io::sink(), &t.view().transpose([1, 0])?));
    every_shortage("npy read", 2, || npy::read::<u64>(&file[..]));
    every_shortage("npy from_bytes", 1, || npy::from_bytes::<u64, _>(&file[..])?.to_vec());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("square.npy");
    npy::save(&path, &t).unwrap();
    every_shortage("npy save", 0, || npy::save(&path, &t));
    every_shortage("npy open", 1, || npy::open::<u64>(&path));
}
