//! What is loaded and stored, counted.

use super::{blocks_of, tensor};
use crate::support::pool;
use lensor::StorageError;
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Indexed};
use std::sync::atomic::{AtomicUsize, Ordering};

const N: usize = 512;

fn chunked(blocks: usize) -> Tensor<Chunked<BlockMemory<f64>>> {
    let data: Vec<f64> = (0..N * N).map(|k| k as f64).collect();
    tensor(Chunked::new(blocks_of(&[N, N], &[64, 64], &data)).unwrap().with_blocks(blocks))
}

/// Loads of an operation on one thread, over 64 blocks.
fn loads<X>(t: &Tensor<Chunked<BlockMemory<f64>>>, run: impl Fn() -> X + Sync + Send) -> usize
where
    X: Send,
{
    let before = t.storage().stats().loads;
    pool(1).install(&run);
    t.storage().stats().loads - before
}

/// Each block is loaded once for a copy, a transposed copy and sums over either axis, with one block held.
#[test]
fn one_block_is_enough_for_most() {
    let t = chunked(1);
    let turned = || t.view().transpose([1, 0]).unwrap();
    assert_eq!(loads(&t, || t.to_vec().unwrap()), 64);
    assert_eq!(loads(&t, || turned().to_vec().unwrap()), 64);
    assert_eq!(loads(&t, || (turned() * 2.0 + 1.0).eval().unwrap()), 64);
    assert_eq!(loads(&t, || t.sum(0).eval().unwrap()), 64);
    assert_eq!(loads(&t, || t.sum(1).eval().unwrap()), 64);
    assert_eq!(loads(&t, || turned().sum(..).eval().unwrap()), 64);
    assert_eq!(loads(&t, || t.cumsum(0).eval().unwrap()), 64);
    assert_eq!(loads(&t, || t.sort(0, SortOrder::Ascending).eval().unwrap()), 64);
}

/// Threads share work where blocks end, so that none loads what another one has loaded. A thread that is kept from
/// running may lose a block that it held.
#[test]
fn threads_do_not_load_the_same_blocks() {
    const SIDE: usize = 1024;
    type Run<'a> = &'a (dyn Fn(&Tensor<Chunked<Made>>) -> Tensor<Vec<f64>> + Sync);
    struct Made;
    impl Blocks for Made {
        type Elem = f64;
        fn extents(&self) -> &[usize] {
            &[SIDE, SIDE]
        }
        fn block(&self) -> &[usize] {
            &[128, 96]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
            let first = index[0] * 7 + index[1];
            Ok(Block::from((0..128 * 96).map(|k| (k % 1009 + first) as f64).collect::<Vec<_>>()))
        }
    }
    let blocks = 8 * 11;
    let runs: [(&str, Run<'_>); 13] = [
        ("sum", &|t| t.sum(..).eval().unwrap()),
        ("sum over rows", &|t| t.sum(0).eval().unwrap()),
        ("sum along rows", &|t| t.sum(1).eval().unwrap()),
        ("transposed sum", &|t| t.view().transpose([1, 0]).unwrap().sum(..).eval().unwrap()),
        ("expression", &|t| (t * 2.0 + 1.0).eval().unwrap()),
        ("its sum", &|t| (t * 2.0 + 1.0).sum(..).eval().unwrap()),
        ("its sum over rows", &|t| (t * 2.0 + 1.0).sum(0).eval().unwrap()),
        ("its sum along rows", &|t| (t * 2.0 + 1.0).sum(1).eval().unwrap()),
        ("transposed copy", &|t| t.view().transpose([1, 0]).unwrap().eval().unwrap()),
        ("running sum over rows", &|t| t.cumsum(0).eval().unwrap()),
        ("running sum along rows", &|t| t.cumsum(1).eval().unwrap()),
        ("columns sorted", &|t| t.sort(0, SortOrder::Ascending).eval().unwrap()),
        ("rows sorted", &|t| t.sort(1, SortOrder::Ascending).eval().unwrap()),
    ];
    for (name, run) in runs {
        let mut results = Vec::new();
        for (threads, held, most) in [(1, 1, 0), (1, 12, 0), (2, 12, 32), (4, 12, 32)] {
            let chunked = Chunked::new(Made).unwrap().with_blocks(held);
            let t = Tensor::new([SIDE, SIDE], chunked).unwrap();
            results.push(pool(threads).install(|| run(&t)));
            let loads = t.storage().stats().loads;
            assert!(
                (blocks..=blocks + most).contains(&loads),
                "{name}, {threads} threads: {loads}"
            );
        }
        assert!(results.iter().all(|result| *result == results[0]), "{name}");
    }
}

/// Comparing reads blocks as everything does.
#[test]
fn a_comparison_loads_each_block_once() {
    let t = chunked(1);
    let turned = || t.view().transpose([1, 0]).unwrap();
    let other = turned().eval().unwrap();
    assert_eq!(loads(&t, || assert!(turned().try_equal(&other).unwrap())), 64);
}

/// Two operands over the same blocks share those that are held.
#[test]
fn operands_share_what_is_held() {
    let sum = |t: &Tensor<Chunked<BlockMemory<f64>>>| {
        let turned = t.view().transpose([1, 0]).unwrap();
        (t + turned).eval().unwrap()
    };
    let (few, all) = (chunked(2), chunked(64));
    assert_eq!(loads(&few, || sum(&few)), 2 * 64 - 8);
    assert_eq!(loads(&all, || sum(&all)), 64);
}

/// A mask, a list or a box touches the blocks that it has elements of.
#[test]
fn parts_load_their_blocks_alone() {
    let t = chunked(4);
    let part = t.view().slice(0, 70..120).unwrap().slice(1, 10..130).unwrap();
    assert_eq!(loads(&t, || part.to_vec().unwrap()), 3);
    let rows = t.view().select((Select::from(&[3, 500, 5, 130][..]),)).unwrap();
    assert_eq!(loads(&t, || rows.to_vec().unwrap()), 3 * 8);
    let mask: Vec<bool> = (0..N).map(|k| k % 128 == 1).collect();
    let masked = t.view().select((.., Select::mask(Tensor::from(mask)))).unwrap();
    assert_eq!(loads(&t, || masked.to_vec().unwrap()), 4 * 8);
    assert_eq!(loads(&t, || masked.clone().sum(0).eval().unwrap()), 4 * 8);
    assert_eq!(loads(&t, || t.view().diagonal(0, 1).unwrap().to_vec().unwrap()), 8);
}

/// The same of blocks that are so small that they are read together: what lies between them is neither loaded nor
/// copied, nor stored.
#[test]
fn small_blocks_between_are_not_loaded() {
    const LEN: usize = 1 << 22;
    /// Blocks of 64, made when they are asked for.
    struct Numbers(AtomicUsize);
    impl Blocks for Numbers {
        type Elem = u32;
        fn extents(&self) -> &[usize] {
            &[LEN]
        }
        fn block(&self) -> &[usize] {
            &[64]
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, u32>, StorageError> {
            Ok(Block::from((0..64).map(|k| (64 * index[0] + k) as u32).collect::<Vec<_>>()))
        }
    }
    impl BlocksMut for Numbers {
        fn store(&self, _index: &[usize], from: &[u32]) -> Result<(), StorageError> {
            assert!(from.contains(&7));
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    let new = || {
        let chunked = Chunked::new(Numbers(AtomicUsize::new(0))).unwrap().with_blocks(1 << 14);
        Tensor::new([LEN], chunked).unwrap()
    };
    let far: Vec<usize> = (0..1000).map(|k| k * 4100 + k % 3).collect();
    let near: Vec<usize> = (0..1000).flat_map(|k| [k * 128 + 5, k * 128 + 60]).collect();
    let mixed: Vec<usize> = (0..1000).map(|k| k * 777 % 1000 * 4100).collect();
    for list in [far, near, mixed] {
        let mut t = new();
        let part = t.view().select((&list[..],)).unwrap();
        assert!(part.to_vec().unwrap().iter().zip(&list).all(|(&x, &k)| x as usize == k));
        // Beside another operand, whose list is in another order.
        let reversed = t.view().flip(0).unwrap().select((&list[..],)).unwrap();
        let sum = (&part + &reversed.flip(0).unwrap()).eval().unwrap();
        let expected =
            list.iter().zip(list.iter().rev()).map(|(k, other)| (k + LEN - 1 - other) as u32);
        assert!(sum.storage().iter().copied().eq(expected));
        let loads = t.storage().stats().loads;
        assert!((1000..=2000).contains(&loads), "{loads}");
        t.view_mut().select((&list[..],)).unwrap().fill(7).unwrap();
        assert_eq!(t.storage().storage().0.load(Ordering::Relaxed), 1000);
        assert_eq!(t.storage().stats().loads - loads, 0);
    }
    let t = new();
    let steps = t.view().select((Select::between(None, None, 4000),)).unwrap();
    assert_eq!(steps.sum(..).item().unwrap(), (0..1049).map(|k| k * 4000).sum::<u64>());
    assert_eq!(t.storage().stats().loads, 1049);
}

/// So does what goes over the lines of blocks, in any order of addresses.
#[test]
fn merged_axes_go_by_blocks() {
    let mut t = chunked(2);
    let of = |t: &Tensor<Chunked<BlockMemory<f64>>>| {
        let stats = t.storage().stats();
        [stats.loads, stats.stores]
    };
    let expected = t.to_vec().unwrap();
    let before = of(&t);
    assert_eq!(pool(1).install(|| t.view().merge_axes(0..2).unwrap().to_vec()).unwrap(), expected);
    // A block that is still held is not loaded again.
    let loads = |most: usize| (most - 2..=most).map(|loads| before[0] + loads).collect::<Vec<_>>();
    assert!(loads(64).contains(&of(&t)[0]), "{:?}", of(&t));
    let mut merged = t.view_mut().merge_axes(0..2).unwrap();
    pool(1).install(|| merged.map_in_place(|x| x + 1.0)).unwrap();
    assert!(loads(128).contains(&of(&t)[0]) && of(&t)[1] == 64, "{:?}", of(&t));
    let rows = Tensor::from((0..10_000).map(|k| k * 7919 % N).collect::<Vec<_>>());
    let columns = Tensor::from((0..10_000).map(|k| k * 31 % N).collect::<Vec<_>>());
    let found = t.take_at((&rows, &columns)).to_vec().unwrap();
    assert!(loads(192).contains(&of(&t)[0]), "{:?}", of(&t));
    t.fold_at((&rows, &columns), 1.0, lensor::reduce::Sum).unwrap();
    let again = t.take_at((&rows, &columns)).to_vec().unwrap();
    assert!(found.iter().zip(&again).all(|(before, after)| after > before));
    assert!(of(&t)[0] <= before[0] + 7 * 64 && of(&t)[1] <= 3 * 64, "{:?}", of(&t));
}

/// Assignments store each block once, and load those that they cover in part alone.
#[test]
fn blocks_are_stored_once() {
    let mut t = chunked(4);
    let new = Tensor::full([N, N], 1.5).unwrap();
    let of = |t: &Tensor<Chunked<BlockMemory<f64>>>| {
        let stats = t.storage().stats();
        [stats.loads, stats.stores]
    };
    t.view_mut().transpose([1, 0]).unwrap().assign(&new).unwrap();
    assert_eq!(of(&t), [0, 64]);
    t.view_mut().slice(0, 10..128).unwrap().assign(&new.view().slice(0, 10..128).unwrap()).unwrap();
    assert_eq!(of(&t), [8, 64 + 16]);
    t += 1.0;
    assert_eq!(of(&t), [8 + 64, 64 + 16 + 64]);
    t.view_mut().select((3, 3)).unwrap().fill(9.0).unwrap();
    assert_eq!(of(&t), [8 + 64 + 1, 64 + 16 + 64 + 1]);
}

/// A list of addresses is checked in runs.
#[test]
fn addresses_in_blocks_are_read_together() {
    let addresses = Chunked::new(BlockMemory::new([50_000], [1000], 0_usize).unwrap()).unwrap();
    Indexed::new(vec![7], addresses.clone()).unwrap();
    let stats = addresses.stats();
    assert!(stats.loads == 50 && stats.hits < 10, "{stats:?}");
}

/// Bytes, or blocks, and never none.
#[test]
fn a_cache_has_the_size_that_is_asked_for() {
    let new = || Chunked::new(BlockMemory::new([64, 64], [8, 8], 0_u64).unwrap()).unwrap();
    assert_eq!(new().budget(), (64 << 20) / 512);
    assert_eq!(new().with_budget(1 << 20).budget(), 2048);
    let processors = std::thread::available_parallelism().unwrap().get();
    assert_eq!(new().with_budget(0).budget(), processors);
    assert_eq!(new().with_blocks(0).budget(), 1);
}

/// A cache holds as many blocks as it says, wherever they lie.
#[test]
fn caches_hold_as_many_blocks_as_they_say() {
    let blocks = std::sync::Arc::new(BlockMemory::new([256, 256], [2, 2], 0_u8).unwrap());
    for held in [1, 63, 64, 128, 1000] {
        for step in [1, 16, 128, 2048] {
            let chunked = Chunked::new(blocks.clone()).unwrap().with_blocks(held);
            for k in (0..held).chain(0..held) {
                let number = (k * step) % (128 * 128) + k * step / (128 * 128);
                chunked.load(&[number / 128, number % 128]).unwrap();
            }
            assert_eq!(chunked.stats().loads, held, "every {step} of {held}");
        }
    }
    // Those that were not used for longest make room, whichever blocks were there first.
    for held in [64, 128, 1000] {
        let chunked = Chunked::new(blocks.clone()).unwrap().with_blocks(held);
        let load = |all: std::ops::Range<usize>, step: usize| {
            let before = chunked.stats().loads;
            all.for_each(|k| {
                drop(chunked.load(&[(k * step) / 128 % 128, k * step % 128]).unwrap())
            });
            chunked.stats().loads - before
        };
        assert_eq!(load(0..4000, 1), 4000);
        assert_eq!((load(5000..5000 + held, 1), load(5000..5000 + held, 1)), (held, 0));
        let few = 60..60 + held / 16;
        assert_eq!((load(few.clone(), 122), load(few, 122)), (held / 16, 0));
    }
}

/// Blocks are loaded about as often as `explain` says, and once where as many are held as it asks for.
#[test]
fn blocks_are_loaded_as_often_as_is_said() {
    let run = |held: [usize; 2]| {
        let of = |block: [usize; 2], held: usize| {
            let memory = BlockMemory::new([N, N], block, 1.0).unwrap();
            tensor(Chunked::new(memory).unwrap().with_blocks(held))
        };
        let (a, b) = (of([8, N], held[0]), of([N, 8], held[1]));
        let text = pool(1).install(|| (&a + &b).explain()).unwrap();
        pool(1).install(|| drop((&a + &b).eval().unwrap()));
        let said = [1, 2].map(|number| {
            let start = format!("operand {number}: ");
            text.lines().iter().find(|line| line.starts_with(&start)).unwrap().clone()
        });
        (said, [a, b].map(|t| t.storage().stats().loads))
    };
    let (said, loads) = run([1, 1]);
    let mut again = 0;
    for (k, line) in said.iter().enumerate() {
        assert!(line.contains(["64 blocks of 8 x 512, ", "64 blocks of 512 x 8, "][k]), "{line}");
        if line.contains("each loaded once") {
            assert_eq!(loads[k], 64, "{line}");
            continue;
        }
        again += 1;
        let rest = line.split_once(", loaded ").unwrap().1;
        let (times, rest) = rest.split_once(" times each; once if ").unwrap();
        let (times, found) = (times.parse::<f64>().unwrap(), loads[k] as f64 / 64.0);
        assert!(found > 1.0 && (found - times).abs() <= times / 10.0, "{line}: {loads:?}");
        let mut held = [1, 1];
        held[k] = rest.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(run(held).1[k], 64, "{line}");
    }
    // Slabs that cross: not all of both with one held.
    assert!(again > 0);
}
