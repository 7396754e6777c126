//! Joined and padded tensors of storage in blocks: they keep the blocks, and have what memory has.

use super::laws::Op;
use super::{blocks_of, tensor};
use crate::support::pool;
use lensor::prelude::*;
use lensor::storage::{Block, BlockIndex, BlockMemory, Blocks, Chunked, Concat};
use lensor::tensor::{concat, pad, stack};
use lensor::{Error, StorageError};
use quickcheck::{Arbitrary, Gen, quickcheck};
use std::sync::Mutex;

pub(super) type InBlocks = Tensor<Chunked<BlockMemory<i64>>>;

/// A tensor in blocks, `held` of which are, and the same in memory.
pub(super) fn both(
    extents: &[usize],
    block: &[usize],
    held: usize,
    first: i64,
) -> (InBlocks, Tensor<Vec<i64>>) {
    let data: Vec<i64> = (first..).take(extents.iter().product()).collect();
    let blocks = Chunked::new(blocks_of(extents, block, &data)).unwrap().with_blocks(held);
    (tensor(blocks), Tensor::from_vec(extents, data).unwrap())
}

/// Parts to be joined or padded, and what is done to them before and after.
#[derive(Debug, Clone)]
struct Case {
    extents: Vec<usize>,
    block: Vec<usize>,
    held: usize,
    axis: usize,
    along: Vec<usize>,
    widths: Vec<(usize, usize)>,
    /// What parts are cut from has so many more.
    margins: Vec<(usize, usize)>,
    turned: bool,
    ops: Vec<Op>,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = usize::arbitrary;
        let rank = n(g) % 3 + 1;
        let mut widths =
            || (0..rank).map(|_| (n(g) % 3 * (n(g) % 7), n(g) % 3 * (n(g) % 7))).collect();
        let (widths, margins) = (widths(), widths());
        Self {
            extents: (0..rank).map(|_| 1 + n(g) % [40, 20, 9][rank - 1]).collect(),
            block: (0..rank).map(|_| 1 + n(g) % 12).collect(),
            held: n(g) % 5,
            axis: n(g) % rank,
            along: (0..1 + n(g) % 3).map(|_| n(g) % 25).collect(),
            widths,
            margins,
            turned: bool::arbitrary(g),
            ops: (0..n(g) % 4).map(|_| Op::arbitrary(g)).collect(),
        }
    }
}

impl Case {
    /// A part of a tensor in blocks, and the same in memory.
    fn part(&self, extents: &[usize], first: i64) -> (InBlocks, Tensor<Vec<i64>>) {
        let sides = || extents.iter().zip(&self.margins);
        let all: Vec<usize> =
            sides().map(|(extent, (front, back))| extent + front + back).collect();
        let own: Vec<_> =
            sides().map(|(extent, (front, _))| Select::from(*front..front + extent)).collect();
        let (chunked, memory) = both(&all, &self.block, self.held, first);
        (chunked.select(own.clone()).unwrap(), memory.select(own).unwrap())
    }

    /// Whether an axis of one index may stand elsewhere than in storage.
    fn is_thin(&self) -> bool {
        self.extents.iter().chain(&self.along).any(|extent| *extent < 2)
    }
}

/// Whether two tensors have the same elements after some views, in any of several ways to have them.
pub(super) fn agree<A, B>(ops: &[Op], a: Tensor<A>, b: Tensor<B>) -> bool
where
    A: Reader<Elem = i64>,
    B: Reader<Elem = i64>,
{
    let (a, b) = (view(ops, a), view(ops, b));
    let same = a.to_vec() == b.to_vec()
        && (&a * 2 + &a).to_vec() == (&b * 2 + &a).to_vec()
        && a.try_iter().eq(b.try_iter());
    same && (0..a.rank()).all(|axis| {
        a.sum(axis).to_vec() == b.sum(axis).to_vec()
            && a.cumsum(axis).to_vec() == b.cumsum(axis).to_vec()
            && a.sort(axis, SortOrder::Ascending).to_vec()
                == b.sort(axis, SortOrder::Ascending).to_vec()
    })
}

fn view<S: Reader>(ops: &[Op], t: Tensor<S>) -> Tensor<S> {
    ops.iter().try_fold(t, |t, op| op.apply(t)).unwrap()
}

fn turn<S: Reader>(case: &Case, t: Tensor<S>) -> Tensor<S> {
    let order: Vec<usize> = (0..t.rank()).rev().collect();
    if case.turned { t.transpose(&order).unwrap() } else { t }
}

quickcheck! {
    /// Joined tensors in blocks are those in memory.
    fn joined_blocks_are_those_of_memory(case: Case) -> bool {
        let axis = if case.turned { case.extents.len() - 1 - case.axis } else { case.axis };
        let (mut chunked, mut memory) = (Vec::new(), Vec::new());
        for (part, &extent) in case.along.iter().enumerate() {
            let mut extents = case.extents.clone();
            // Parts without elements cannot be filled.
            extents[case.axis] = extent.max(1);
            let (own, same) = case.part(&extents, part as i64 * 1000);
            chunked.push(turn(&case, own));
            memory.push(turn(&case, same));
        }
        let (a, b) = (concat(axis, &chunked).unwrap(), concat(axis, &memory).unwrap());
        assert!(a.storage().blocks().is_some() || case.is_thin());
        agree(&case.ops, b, a)
    }

    /// Stacked tensors in blocks are those in memory.
    fn stacked_blocks_are_those_of_memory(case: Case) -> bool {
        let parts = 0..case.along.len();
        let parts = parts.map(|k| case.part(&case.extents, k as i64 * 1000));
        let (chunked, memory): (Vec<_>, Vec<_>) = parts.unzip();
        let axis = case.axis + usize::from(case.turned);
        let (a, b) = (stack(axis, &chunked).unwrap(), stack(axis, &memory).unwrap());
        assert!(a.storage().blocks().is_some() || case.is_thin());
        agree(&case.ops, b, a)
    }

    /// Padded tensors in blocks are those in memory.
    fn padded_blocks_are_those_of_memory(case: Case) -> bool {
        let (chunked, memory) = case.part(&case.extents, 0);
        let (a, b) = (turn(&case, chunked), turn(&case, memory));
        let (a, b) = (pad(a, &case.widths, -7).unwrap(), pad(b, &case.widths, -7).unwrap());
        assert!(a.storage().blocks().is_some() || case.is_thin());
        agree(&case.ops, b, a)
    }
}

/// Loads a block of several ways to read `t`, of as many blocks.
fn loads<S: Reader<Elem = i64>>(
    t: &Tensor<S>,
    loaded: &(dyn Fn() -> usize + Sync),
) -> Vec<(usize, f64)> {
    let mut before = loaded();
    let mut each = |which, blocks: usize, done: bool| {
        let now = loaded();
        let loads = (now - std::mem::replace(&mut before, now)) as f64 / blocks as f64;
        assert!(done);
        (which, loads)
    };
    let blocks = t.touched_blocks().unwrap().unwrap().len();
    pool(1).install(|| {
        vec![
            each(0, blocks, t.eval().is_ok()),
            each(1, blocks, t.view().transpose([1, 0]).unwrap().eval().is_ok()),
            each(2, blocks, t.sum(0).eval().is_ok()),
            each(3, blocks, t.sum(1).eval().is_ok()),
            each(4, blocks, t.sum(..).eval().is_ok()),
            each(5, blocks, (t * 2 + 1).eval().is_ok()),
            each(6, blocks, t.cumsum(0).eval().is_ok()),
            each(7, blocks, t.cumsum(1).eval().is_ok()),
            each(8, blocks, t.view().transpose([1, 0]).unwrap().sum(0).eval().is_ok()),
        ]
    })
}

/// Parts whose last blocks are short, and a border of a few elements: each block is loaded about once.
#[test]
fn joined_and_padded_blocks_are_loaded_about_once() {
    for axis in [0, 1] {
        let (a, _) = both(&[500, 300], &[64, 64], 2, 0);
        let mut second = [500, 300];
        second[axis] = 430;
        let (b, _) = both(&second, &[64, 64], 2, 0);
        let all = concat(axis, [&a, &b]).unwrap();
        let loaded = || a.storage().stats().loads + b.storage().stats().loads;
        for (which, loads) in loads(&all, &loaded) {
            assert!(loads <= 1.3, "axis {axis}, way {which}: {loads} loads a block");
        }
    }
    let (a, _) = both(&[500, 300], &[64, 64], 2, 0);
    let bordered = pad(a.view(), [(3, 5), (1, 70)], 0).unwrap();
    let all = bordered.touched_blocks().unwrap().unwrap().len() as f64;
    let own = a.touched_blocks().unwrap().unwrap().len() as f64;
    for (which, loads) in loads(&bordered, &|| a.storage().stats().loads) {
        let loads = loads * all / own;
        assert!(loads <= 1.5, "way {which}: {loads} loads a block");
    }
}

/// Parts that begin and end within blocks, which other parts come to again, and parts that do not.
#[test]
fn parts_of_one_storage_are_loaded_about_once() {
    let (a, same) = both(&[512, 512], &[64, 64], 2, 0);
    let loaded = || a.storage().stats().loads;
    let cut = |axis: usize, range: std::ops::Range<usize>| a.view().slice(axis, range).unwrap();
    for axis in [0, 1] {
        for (cuts, most) in [([0, 128, 256, 512], 1.0), ([0, 100, 300, 512], 2.0)] {
            let parts = cuts.windows(2).rev().map(|ends| cut(axis, ends[0]..ends[1]));
            for (which, loads) in loads(&concat(axis, parts).unwrap(), &loaded) {
                assert!(
                    loads <= most,
                    "axis {axis} at {cuts:?}, way {which}: {loads} loads a block"
                );
            }
        }
        for new in 0..3 {
            let parts = (0..4).map(|k| cut(axis, 128 * k..128 * (k + 1)));
            let all = stack(new, parts).unwrap();
            let before = loaded();
            pool(1).install(|| drop((all.eval().unwrap(), all.sum(axis).eval().unwrap())));
            assert!(loaded() - before <= 2 * 64, "axis {axis} stacked along {new}");
        }
    }
    // An index of other axes, and neighbours of neighbours.
    let t = a.view().slice(0, 70..71).unwrap().slice(1, 3..500).unwrap().slice(1, 10..400).unwrap();
    let row = t.remove_axis(0).unwrap();
    let own = same.view().slice(0, 70..71).unwrap().slice(1, 13..403).unwrap();
    let twice = stack(0, [&row, &row]).unwrap();
    assert_eq!(twice.storage().blocks().unwrap().starts(1).unwrap().skipped(0), 13);
    assert_eq!(twice.view().slice(0, 1..2).unwrap().to_vec(), own.to_vec());
}

/// Blocks of ones, of which one fails, and which note what they are told.
pub(super) struct Probe {
    blocks: BlockMemory<i64>,
    fails: Option<[usize; 2]>,
    pub(super) told: Mutex<Vec<Vec<BlockIndex>>>,
}

impl Probe {
    pub(super) fn new(extents: [usize; 2], block: [usize; 2], fails: Option<[usize; 2]>) -> Self {
        let blocks = BlockMemory::new(extents, block, 1).unwrap();
        Self { blocks, fails, told: Mutex::default() }
    }
}

impl Blocks for Probe {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        self.blocks.extents()
    }

    fn block(&self) -> &[usize] {
        self.blocks.block()
    }

    /// Fails at its first address, for the first column of blocks.
    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        if self.fails.is_some_and(|fails| fails == *index) {
            let address = index[0] * self.block()[0] * self.extents()[1];
            return Err(StorageError::new(address, "broken"));
        }
        self.blocks.load(index)
    }

    fn ahead(&self) -> usize {
        4
    }

    fn expect(&self, next: &[BlockIndex]) {
        self.told.lock().unwrap().push(next.to_vec());
    }

    fn share(&self, elements: Vec<i64>) -> Option<Block<'_, i64>> {
        Some(elements.into())
    }
}

impl Reader for Probe {
    type Elem = i64;

    fn len(&self) -> usize {
        self.extents().iter().product()
    }

    fn read(&self, _: usize) -> i64 {
        1
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
        Some(self)
    }
}

/// Storage one block of which fails.
pub(super) fn failing() -> Tensor<Chunked<Probe>> {
    let blocks = Probe::new([20, 30], [8, 16], Some([1, 0]));
    tensor(Chunked::new(blocks).unwrap().with_blocks(1))
}

/// Index and address of an error of storage.
pub(super) fn index(error: Error) -> (Vec<usize>, usize) {
    match error {
        Error::Storage { index, source } => (index.unwrap_or_default(), source.address),
        other => panic!("{other}"),
    }
}

/// Blocks that fail: the first index in row-major order, and the address in what was joined or padded.
#[test]
fn failing_blocks_are_named_in_the_whole() {
    let (a, b) = (failing(), failing());
    let joined = concat(1, [&a, &b]).unwrap();
    assert_eq!(index(joined.eval().unwrap_err()), (vec![8, 0], 8 * 60));
    let later = joined.view().slice(1, 30..60).unwrap();
    assert_eq!(index(later.sum(1).eval().unwrap_err()), (vec![8, 0], 8 * 60 + 30));
    let padded = pad(a.view(), [(2, 0), (3, 1)], 0).unwrap();
    assert_eq!(index(padded.eval().unwrap_err()), (vec![10, 3], 10 * 34 + 3));
    assert_eq!(index((&padded * 2).sum(0).eval().unwrap_err()), (vec![10, 3], 10 * 34 + 3));
    let part =
        |t: &Tensor<Chunked<Probe>>| t.clone().slice(0, 11..20).unwrap().slice(1, 2..30).unwrap();
    let parts = concat(1, [part(&a), part(&b)]).unwrap();
    assert_eq!(index(parts.view().flip(0).unwrap().eval().unwrap_err()), (vec![4, 0], 0));
    assert_eq!(index(parts.sum(0).eval().unwrap_err()), (vec![0, 0], 0));
}

/// Blocks that do not exist, and parts without elements.
#[test]
fn blocks_are_those_that_exist() {
    let (a, _) = both(&[20, 30], &[8, 16], 1, 0);
    let none = tensor(Chunked::new(BlockMemory::new([0, 30], [8, 16], 0_i64).unwrap()).unwrap());
    let joined = concat(0, [&none, &a, &none]).unwrap();
    let blocks = joined.storage().blocks().unwrap();
    assert!((0..2).all(|axis| blocks.starts(axis).is_none()));
    assert_eq!(joined.to_vec(), a.to_vec());
    let padded = pad(a.view(), [(2, 0), (0, 0)], 0).unwrap();
    let border = padded.storage().blocks().unwrap();
    assert_eq!(border.starts(0).unwrap().as_slice(), [0, 2, 10, 18]);
    assert_eq!(border.starts(1), None);
    for index in [&[3, 2][..], &[4, 0], &[0], &[0, 0, 0], &[99, 99]] {
        let text = format!("there is no block {index:?}");
        assert!(border.load(index).unwrap_err().to_string().contains(&text));
        // The parts have three rows of blocks, the padded one four.
        if index != [3, 2] {
            assert!(blocks.load(index).unwrap_err().to_string().contains(&text));
        }
    }
}

/// What is told of blocks to come reaches each part once.
#[test]
fn parts_are_told_of_blocks_ahead() {
    let part = || Tensor::new([10, 10], Probe::new([10, 10], [5, 5], None)).unwrap();
    let (a, b) = (part(), part());
    let joined = concat(1, [&a, &b]).unwrap();
    let blocks = joined.storage().blocks().unwrap();
    assert_eq!(blocks.ahead(), 4);
    let next: Vec<BlockIndex> = [[0, 1], [0, 2], [1, 0], [1, 3]]
        .iter()
        .map(|index| BlockIndex::from_slice(index))
        .collect();
    blocks.expect(&next);
    let told = |t: &Tensor<Probe>| t.storage().told.lock().unwrap().clone();
    let index = |digits: [usize; 2]| BlockIndex::from_slice(&digits);
    assert_eq!(told(&a), [vec![index([0, 1]), index([1, 0])]]);
    assert_eq!(told(&b), [vec![index([0, 0]), index([1, 1])]]);
    let padded = pad(a.view(), [(1, 0), (0, 0)], 0).unwrap();
    padded.storage().blocks().unwrap().expect(&next);
    assert_eq!(told(&a)[1], [index([0, 0])]);
}

/// Borders do not make blocks small, of which those that are would be read together.
#[test]
fn bordered_planes_are_loaded_about_once() {
    let (a, _) = both(&[40, 80, 90], &[1, 80, 90], 2, 0);
    let t = pad(a.view(), [(3, 5), (3, 5), (3, 5)], 0).unwrap();
    pool(1).install(|| drop(t.eval().unwrap()));
    assert_eq!(a.storage().stats().loads, 40);
    pool(1).install(|| drop(t.cumsum(0).eval().unwrap()));
    assert!(a.storage().stats().loads <= 3 * 40);
}

/// What has no blocks, or too many, is read as it was.
#[test]
fn blocks_are_none_where_that_is_best() {
    let (a, _) = both(&[20, 30], &[8, 8], 2, 0);
    let part = pad(a.view().slice(0, 1..20).unwrap(), [(1, 0), (0, 0)], 0).unwrap();
    assert_eq!(part.storage().blocks().unwrap().starts(0).unwrap().as_slice(), [0, 1, 8, 16]);
    assert_eq!(part.get([1, 2]).unwrap(), 32);
    assert!(Concat::new(vec![a.storage()]).unwrap().blocks().is_none());
    assert!(Chunked::new(Concat::new(vec![vec![1, 2]]).unwrap()).is_err());
    // More blocks than are told one by one, unless they are all as long.
    let (fine, _) = both(&[40], &[2], 2, 0);
    for (width, told) in [(1 << 40, true), ((1 << 40) + 1, false)] {
        let far = pad(fine.view(), [(width, 0)], 0).unwrap();
        assert_eq!(far.storage().blocks().is_some(), told);
        assert_eq!(far.get([width + 3]).unwrap(), 3);
    }
}
