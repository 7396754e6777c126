//! Results that are computed into storage in blocks: each block is stored once, and loaded if it is partly written.

use super::Uneven;
use crate::support::pool;
use lensor::gufunc::{Gufunc, inner1d, minmax};
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Starts};
use lensor::{Compute, Deferred, StorageError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SHAPE: [usize; 2] = [600, 512];

fn source() -> Tensor<Vec<f64>> {
    Tensor::from_index(SHAPE, |i| ((i[0] * 512 + i[1]) * 7919 % 1009) as f64 / 8.0).unwrap()
}

fn blocks(shape: [usize; 2], block: [usize; 2]) -> Tensor<Chunked<BlockMemory<f64>>> {
    let memory = BlockMemory::new(shape, block, -1.0).unwrap();
    Tensor::new(shape, Chunked::new(memory).unwrap().with_blocks(2)).unwrap()
}

/// Checks a result that covers all blocks, at one thread and at three.
fn check<C: Compute<Elem = f64>>(what: &str, operation: &Deferred<C>) {
    let expected = operation.to_vec().unwrap();
    let shape = operation.shape().unwrap();
    let shape = [shape[0], shape[1]];
    for (threads, block) in [(1, [64, 128]), (3, [64, 128]), (1, [7, 512]), (1, [600, 5])] {
        let mut out = blocks(shape, block);
        pool(threads).install(|| operation.assign_to(&mut out)).unwrap();
        let stats = out.storage().stats();
        let each = shape[0].div_ceil(block[0]) * shape[1].div_ceil(block[1]);
        assert_eq!((stats.loads, stats.stores), (0, each), "{what} {block:?} {threads}");
        assert_eq!(out.to_vec().unwrap(), expected, "{what} {block:?} {threads}");
    }
}

#[test]
fn blocks_of_deferred_results_are_stored_once() {
    let t = source();
    check("scan along rows", &t.cumsum(1));
    check("scan along columns", &t.cumsum(0));
    check("sort", &t.sort(0, SortOrder::Ascending));
    check("windows", &t.rolling(0, 5).sum());
    check("windows across", &t.rolling(1, 5).sum());
    let cube = t.view().reshape([600, 8, 64]).unwrap();
    check("fold", &(&cube + 0.0).max(1));
    check("matmul", &t.matmul(t.view().slice(0, 0..512).unwrap()));
}

/// Of views that cover parts of blocks, those at the ends are loaded and stored once.
#[test]
fn blocks_at_the_ends_are_changed_once() {
    let t = source();
    for threads in [1, 3] {
        let mut out = blocks([700, 600], [64, 128]);
        let mut part = out.view_mut().slice(0, 50..650).unwrap().slice(1, 30..542).unwrap();
        pool(threads).install(|| t.cumsum(1).assign_to(&mut part)).unwrap();
        // Rows of blocks 0 to 10, columns 0 to 4, of which 9 by 3 are covered.
        let stats = out.storage().stats();
        assert_eq!((stats.loads, stats.stores), (55 - 27, 55));
        let mut model = Tensor::full([700, 600], -1.0).unwrap();
        let mut part = model.view_mut().slice(0, 50..650).unwrap().slice(1, 30..542).unwrap();
        part.assign(t.cumsum(1)).unwrap();
        assert!(out.try_equal(&model).unwrap());
        let mut turned = out.view_mut().slice(0, 64..576).unwrap().slice(1, 0..600).unwrap();
        turned = turned.flip(1).unwrap().transpose([1, 0]).unwrap();
        let before = turned.storage().stats();
        pool(threads).install(|| t.cumsum(0).assign_to(&mut turned)).unwrap();
        let after = turned.storage().stats();
        assert_eq!((after.loads - before.loads, after.stores - before.stores), (0, 40));
        assert_eq!(turned.to_vec().unwrap(), t.cumsum(0).to_vec().unwrap());
    }
}

/// Blocks of uneven extents, and axes of a view that share one of storage or cross several.
#[test]
fn uneven_blocks_and_axes_that_share_one_are_stored_once() {
    let t = source();
    let starts = |list: &[usize], extent| Some(Starts::new(list.to_vec(), extent).unwrap());
    let uneven = Uneven::new(
        &SHAPE,
        &[300, 400],
        vec![starts(&[0, 1, 300, 310], 600), starts(&[0, 100, 101, 500], 512)],
        &vec![0.0; 600 * 512],
    );
    let mut out = Tensor::new(SHAPE, Chunked::new(uneven).unwrap().with_blocks(2)).unwrap();
    t.cumsum(1).assign_to(&mut out).unwrap();
    let stats = out.storage().stats();
    assert_eq!((stats.loads, stats.stores), (0, 16));
    assert!(out.try_equal(t.cumsum(1)).unwrap());

    let cube = t.view().reshape([100, 6, 512]).unwrap();
    let mut out = blocks(SHAPE, [60, 64]);
    let mut split = out.view_mut().reshape([100, 6, 512]).unwrap();
    cube.cumsum(2).assign_to(&mut split).unwrap();
    let stats = out.storage().stats();
    assert_eq!((stats.loads, stats.stores), (0, 80));
    assert!(out.try_equal(t.cumsum(1)).unwrap());

    // Two axes over one of storage are one where all operands step through them so.
    let dense = t.to_vec().unwrap();
    for (axes, turned) in [([10, 60, 512], false), ([100, 6, 512], true)] {
        let part = Tensor::from_vec(axes, dense.clone()).unwrap();
        let mut out = blocks(SHAPE, [64, 512]);
        let mut split = out.view_mut().reshape(axes).unwrap();
        match turned {
            true => split.assign(part.view().flip(0).unwrap().flip(1).unwrap()).unwrap(),
            false => split.assign(&part).unwrap(),
        }
        let stats = out.storage().stats();
        assert_eq!((stats.loads, stats.stores), (0, 10));
        let flipped = if turned { t.view().flip(0).unwrap() } else { t.view() };
        assert!(out.try_equal(&flipped).unwrap());
        // The same view is read a block at a time, too.
        let out = Tensor::new(SHAPE, out.into_storage().with_blocks(1)).unwrap();
        let loads = out.storage().stats().loads;
        let read = out.view().reshape(axes).unwrap();
        assert!(read.try_equal(flipped.reshape(axes).unwrap()).unwrap());
        assert_eq!(out.storage().stats().loads - loads, 10);
    }

    // One axis over both of storage: no boxes of blocks, but the same elements.
    let mut out = blocks(SHAPE, [60, 64]);
    let sums = t.view().reshape([600 * 512]).unwrap().cumsum(0);
    sums.assign_to(&mut out.view_mut().reshape([600 * 512]).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), sums.to_vec().unwrap());
}

/// Boxes of results end where blocks of the operand do, whatever they are assigned to.
#[test]
fn blocks_of_operands_are_loaded_once() {
    let t = Tensor::from_index([512, 4096], |i| ((i[0] * 31 + i[1] * 7) % 101) as f64).unwrap();
    let memory = BlockMemory::new([512, 4096], [256, 256], 0.0).unwrap();
    let mut held = Tensor::new([512, 4096], Chunked::new(memory).unwrap().with_blocks(16)).unwrap();
    held.assign(&t).unwrap();
    let loads = |run: &mut dyn FnMut()| {
        let before = held.storage().stats().loads;
        run();
        held.storage().stats().loads - before
    };
    let mut turned = Tensor::full([4096, 512], 0.0).unwrap();
    let one = pool(1);
    let found = loads(&mut || {
        let mut out = turned.view_mut().transpose([1, 0]).unwrap();
        one.install(|| held.view().cumsum(1).assign_to(&mut out)).unwrap();
    });
    assert_eq!(found, 32);
    assert!(turned.view().transpose([1, 0]).unwrap().try_equal(t.view().cumsum(1)).unwrap());
    let mut sparse = Tensor::sparse([512, 4096], 0.0).unwrap();
    let found = loads(&mut || one.install(|| sparse.assign(&held)).unwrap());
    assert_eq!(found, 32);
    assert!(sparse.try_equal(&t).unwrap());
}

/// Gufuncs, and what is sorted in place.
#[test]
fn blocks_of_calls_are_stored_once() {
    let rows = source().reshape([600, 512, 1]).unwrap();
    let wide = rows.view().broadcast([600, 512, 8]).unwrap();
    for threads in [1, 3] {
        let mut out = blocks(SHAPE, [64, 128]);
        let call = inner1d().call([&wide, &wide]);
        pool(threads).install(|| call.assign_to(&mut out)).unwrap();
        let stats = out.storage().stats();
        assert_eq!((stats.loads, stats.stores), (0, 40));
        assert_eq!(out.to_vec().unwrap(), call.to_vec().unwrap());

        let mut both = Tensor::new(
            [600, 512, 2],
            Chunked::new(BlockMemory::new([600, 512, 2], [64, 128, 2], 0.0).unwrap()).unwrap(),
        )
        .unwrap();
        let mut out = blocks(SHAPE, [64, 128]);
        let mut ends = both.view_mut().select((.., .., 1)).unwrap();
        pool(threads).install(|| minmax().call([&wide]).assign_to((&mut out, &mut ends))).unwrap();
        assert_eq!(out.storage().stats().stores, 40);
        assert_eq!(both.storage().stats().stores, 40);

        let mut sorted = blocks(SHAPE, [64, 128]);
        sorted.assign(source()).unwrap();
        let before = sorted.storage().stats();
        pool(threads).install(|| sorted.sort_in_place(1, SortOrder::Descending)).unwrap();
        let after = sorted.storage().stats();
        assert!(after.stores - before.stores <= 40 && after.loads - before.loads <= 80);
        assert!(sorted.try_equal(source().sort(1, SortOrder::Descending)).unwrap());
    }
}

/// Also where those of one layer are more than are kept in memory at once.
#[test]
fn blocks_of_large_cores_are_stored_once() {
    let row = Tensor::from_index([60_000], |i| (i[0] % 251) as u8).unwrap();
    let wide = row.view().broadcast([32, 32, 60_000]).unwrap();
    let last = Gufunc::<[u8; 1], [f64; 1], _>::each("(n)->()", |[x], [mut out]| {
        out[0] = f64::from(x[59_999]);
    });
    let mut out = blocks([32, 32], [16, 16]);
    last.unwrap().call([&wide]).assign_to(&mut out).unwrap();
    let stats = out.storage().stats();
    assert!(stats.loads <= 2 && stats.stores == 4, "{stats:?}");
    assert!(out.try_equal(Tensor::full([32, 32], 10.0).unwrap()).unwrap());
}

/// The first index at which a function fails is that of calls without blocks.
#[test]
fn the_first_failing_call_is_found() {
    let rows = source().reshape([600, 512, 1]).unwrap();
    let wide = rows.broadcast([600, 512, 8]).unwrap();
    let picky = Gufunc::<[f64; 1], [f64; 1], _>::each("(n)->()", |[x], [mut out]| {
        out[0] = x[0];
        if x[0] == 5.0 { Err("five") } else { Ok(()) }
    })
    .unwrap();
    let call = picky.call([&wide]);
    let expected = call.eval().unwrap_err();
    assert!(matches!(expected, Error::Elementary { .. }));
    for block in [[64, 128], [600, 5], [7, 512]] {
        assert_eq!(call.assign_to(&mut blocks(SHAPE, block)).unwrap_err(), expected);
    }
}

/// Blocks whose memory is gone when it is looked at again give wrong numbers or an error, never a panic.
#[test]
fn blocks_that_shrink_do_no_harm() {
    struct Shrinking(Vec<i64>, AtomicUsize);
    impl AsRef<[i64]> for Shrinking {
        fn as_ref(&self) -> &[i64] {
            let left = self.1.fetch_sub(1, Ordering::Relaxed);
            if left > 0 && left < usize::MAX / 2 { &self.0 } else { &[] }
        }
    }
    /// Blocks that can be looked at so often.
    struct Lying(usize);
    impl Blocks for Lying {
        type Elem = i64;
        fn extents(&self) -> &[usize] {
            &[64, 128]
        }
        fn block(&self) -> &[usize] {
            &[64, 64]
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, i64>, StorageError> {
            let looks = AtomicUsize::new(self.0);
            Ok(Block::Shared(Arc::new(Shrinking(vec![1; 64 * 64], looks))))
        }
    }
    for looks in (0..40).chain([64, 70, 100, 130, 200]) {
        let t = Tensor::new([64, 128], Chunked::new(Lying(looks)).unwrap()).unwrap();
        let fresh = || t.view();
        let _ = (fresh() + 1).eval();
        let _ = fresh().to_vec();
        let _ = fresh().transpose([1, 0]).unwrap().to_vec();
        let _ = (fresh().sum(0).eval(), fresh().sum(1).eval(), fresh().cumsum(0).eval());
        let _ = (fresh() * 2).transpose([1, 0]).unwrap().sum(0).eval();
        let _ = fresh().rolling(0, 3).sum().eval();
        let _ = fresh().sort(0, SortOrder::Ascending).eval();
    }
}

/// Counts its loads; block 1 cannot be loaded, nothing is kept, and endless blocks cannot be stored.
struct Gaps(usize, AtomicUsize);

impl Blocks for Gaps {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        std::slice::from_ref(&self.0)
    }

    fn block(&self) -> &[usize] {
        if self.0 == 4096 { &[64] } else { std::slice::from_ref(&self.0) }
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        if index[0] == 1 { Err(StorageError::new(0, "bad")) } else { Ok(Block::Fill(3)) }
    }
}

impl BlocksMut for Gaps {
    fn store(&self, _: &[usize], _: &[i64]) -> Result<(), StorageError> {
        if self.0 == 4096 { Ok(()) } else { Err(StorageError::new(0, "full")) }
    }
}

/// Blocks between those of two operands with steps are not loaded.
#[test]
fn blocks_between_steps_are_not_loaded() {
    let t = || Tensor::new([4096], Chunked::new(Gaps(4096, AtomicUsize::new(0))).unwrap()).unwrap();
    let (a, b) = (t(), t());
    let part =
        |t: &Tensor<Chunked<Gaps>>| t.view().select((Select::every(128),)).unwrap().eval().unwrap();
    let expected = (part(&a) + part(&b)).eval().unwrap();
    let (a, b) = (t(), t());
    let steps = (Select::every(128),);
    let sum = a.view().select(steps.clone()).unwrap() + b.view().select(steps).unwrap();
    assert!(sum.eval().unwrap().try_equal(&expected).unwrap());
    assert_eq!([a, b].map(|t| t.storage().stats().loads), [32, 32]);
}

/// An error of a block has its first index in the view, also where several axes run along one of storage.
#[test]
fn errors_of_blocks_of_rows_have_an_index() {
    let rows = || {
        let gaps = Chunked::new(Gaps(4096, AtomicUsize::new(0))).unwrap();
        Tensor::new([64, 64], gaps).unwrap().slice(0, 1..).unwrap().slice(1, 1..60).unwrap()
    };
    let index = |mut t: Tensor<Chunked<Gaps>>| match pool(1).install(|| t.try_add_assign(1)) {
        Err(Error::Storage { index, .. }) => index.map(|index| index.to_vec()),
        other => panic!("{other:?}"),
    };
    assert_eq!(index(rows()), Some(vec![0, 0]));
    assert_eq!(index(rows().flip(0).unwrap().flip(1).unwrap()), Some(vec![62, 0]));
    let turned = rows().flip(0).unwrap().transpose([1, 0]).unwrap();
    assert_eq!(index(turned), Some(vec![0, 62]));
    assert_eq!(index(rows().select(([5, 0, 9], ..)).unwrap()), Some(vec![1, 0]));
    assert_eq!(index(rows().rotate([1, 0]).unwrap()), Some(vec![1, 0]));
}

/// An error of a block that is much longer than memory is told at once.
#[test]
fn errors_of_endless_blocks_are_told_at_once() {
    let endless = Chunked::new(Gaps(1 << 40, AtomicUsize::new(0))).unwrap();
    let mut t = Tensor::new([1 << 40], endless).unwrap();
    let found = t.view_mut().slice(0, 5..10).unwrap().fill(1);
    assert!(matches!(found, Err(Error::Storage { .. } | Error::OutOfMemory { .. })), "{found:?}");
    let found = t.view_mut().flip(0).unwrap().slice(0, 5..10).unwrap().try_add_assign(1);
    assert!(matches!(found, Err(Error::Storage { .. } | Error::OutOfMemory { .. })), "{found:?}");
}

/// Sources whose blocks lie across those of the destination: several of its blocks are computed at a time, so that those of
/// the sources are loaded once for all of them, not once for each.
#[test]
fn blocks_are_changed_to_others_with_few_loads() {
    const SIDE: usize = 1024;
    let memory = |block: [usize; 2]| {
        let memory = BlockMemory::new([SIDE, SIDE], block, 0.0).unwrap();
        Tensor::new([SIDE, SIDE], Chunked::new(memory).unwrap().with_blocks(16)).unwrap()
    };
    let model = Tensor::from_index([SIDE, SIDE], |i| (i[0] * SIDE + i[1]) as f64).unwrap();
    let check = |from: [usize; 2], to: [usize; 2], turned: bool| {
        let mut source = memory(from);
        source.assign(&model).unwrap();
        let loads = || source.storage().stats().loads;
        let before = loads();
        let mut out = memory(to);
        let axes = if turned { [1, 0] } else { [0, 1] };
        let view = || source.view().transpose(axes).unwrap();
        pool(1).install(|| out.assign(view())).unwrap();
        let loads = loads() - before;
        let stats = out.storage().stats();
        let blocks = SIDE * SIDE / (to[0] * to[1]);
        assert_eq!((stats.loads, stats.stores), (0, blocks));
        assert!(out.try_equal(model.view().transpose(axes).unwrap()).unwrap(), "{from:?} {to:?}");
        let mut update = memory(to);
        pool(2).install(|| update.try_add_assign(view())).unwrap();
        let stats = update.storage().stats();
        assert_eq!((stats.loads, stats.stores), (blocks, blocks), "{from:?} {to:?}");
        assert!(update.try_equal(&out).unwrap(), "{from:?} {to:?}");
        loads
    };
    // 64 slabs, of each of which every slab of the destination has a part: 16 of these are computed at a time.
    assert_eq!(check([16, SIDE], [16, SIDE], true), 64 * 4);
    assert_eq!(check([16, SIDE], [SIDE, 16], false), 64 * 4);
    // Blocks that are parts of one of the source, or have several, and such that lie as those do.
    assert_eq!(check([256, 128], [16, SIDE], false), 32);
    assert_eq!(check([32, 64], [SIDE, 32], false), 32 * 16);
    assert_eq!(check([64, 64], [64, 64], false), 256);
    assert_eq!(check([64, 128], [128, 64], true), 128);
}
