//! Joined and padded views of storage in blocks that turn, exchange, rotate or list its axes: they have blocks of their
//! own, cut from those of the storage.

use super::joined::{InBlocks, Probe, agree, both, failing, index};
use super::laws::Op;
use crate::support::pool;
use lensor::prelude::*;
use lensor::storage::{Block, BlockIndex, BlockMemory, Blocks, Chunked};
use lensor::tensor::{concat, pad, stack};
use lensor::{Result, StorageError};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// A view of storage in blocks, and storage in other blocks that has its shape.
#[derive(Debug, Clone)]
struct Case {
    extents: Vec<usize>,
    blocks: [Vec<usize>; 2],
    held: usize,
    ops: Vec<Op>,
    axis: usize,
    way: usize,
    widths: Vec<(usize, usize)>,
    after: Vec<Op>,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = usize::arbitrary;
        let rank = n(g) % 3 + 1;
        let mut block = || (0..8).map(|_| 1 + n(g) % 9).collect();
        Self {
            blocks: [block(), block()],
            extents: (0..rank).map(|_| 1 + n(g) % [40, 20, 9][rank - 1]).collect(),
            held: n(g) % 5,
            ops: (0..n(g) % 5).map(|_| Op::arbitrary(g)).collect(),
            axis: n(g),
            way: n(g),
            widths: (0..8).map(|_| (n(g) % 3, n(g) % 3)).collect(),
            after: (0..n(g) % 3).map(|_| Op::arbitrary(g)).collect(),
        }
    }
}

impl Case {
    fn view<S: Reader + Clone>(&self, t: Tensor<S>) -> Tensor<S> {
        // Parts without elements cannot be filled.
        self.ops.iter().fold(t, |t, op| {
            let next = op.apply(t.clone()).unwrap();
            if next.is_empty() || next.len() > 1000 { t } else { next }
        })
    }
}

quickcheck! {
    /// What is joined and padded of any view is what memory has.
    fn views_of_blocks_are_those_of_memory(case: Case) -> bool {
        let (a, same) = both(&case.extents, &case.blocks[0][..case.extents.len()], case.held, 0);
        let (a, same) = (case.view(a), case.view(same));
        let (shape, rank) = (a.shape().to_vec(), a.rank());
        let (b, other) = both(&shape, &case.blocks[1][..rank], case.held, 10_000);
        let axis = case.axis % rank.max(1);
        match case.way % 3 {
            0 if rank > 0 => agree(
                &case.after,
                concat(axis, [&other, &same, &same]).unwrap(),
                concat(axis, [&b, &a, &a]).unwrap(),
            ),
            1 => agree(
                &case.after,
                stack(axis, [&same, &other]).unwrap(),
                stack(axis, [&a, &b]).unwrap(),
            ),
            _ => agree(
                &case.after,
                pad(&same, &case.widths[..rank], -7).unwrap(),
                pad(&a, &case.widths[..rank], -7).unwrap(),
            ),
        }
    }
}

type View<'a> = Tensor<&'a Chunked<BlockMemory<i64>>>;

/// Views by name, each of which comes to every block about once, in some order.
fn views(t: &InBlocks) -> Vec<(&'static str, View<'_>)> {
    let rows = t.shape()[0];
    let kept: Vec<usize> = (0..rows).filter(|row| row % 5 != 2).collect();
    let picked = |rows: Select| t.view().select([rows, Select::All]).unwrap();
    vec![
        ("flipped rows", t.view().flip(0).unwrap()),
        ("flipped columns", t.view().flip(1).unwrap()),
        ("transposed", t.view().transpose([1, 0]).unwrap()),
        ("flipped and transposed", t.view().flip(0).unwrap().transpose([1, 0]).unwrap()),
        ("rotated rows", t.view().rotate([100, 0]).unwrap()),
        ("rotated columns", t.view().rotate([0, 100]).unwrap()),
        ("listed rows", picked(Select::from(&kept[..]))),
        ("every other row", picked(Select::every(2))),
    ]
}

/// Loads for each block of several ways to read `t`.
fn loads<S: Reader<Elem = i64>>(
    t: &Tensor<S>,
    blocks: usize,
    loaded: &(dyn Fn() -> usize + Sync),
) -> Vec<f64> {
    let mut before = loaded();
    let mut each = |done: bool| {
        assert!(done);
        let now = loaded();
        (now - std::mem::replace(&mut before, now)) as f64 / blocks as f64
    };
    pool(1).install(|| {
        vec![
            each(t.eval().is_ok()),
            each(t.view().transpose([1, 0]).unwrap().eval().is_ok()),
            each(t.sum(0).eval().is_ok()),
            each(t.cumsum(1).eval().is_ok()),
        ]
    })
}

/// With a cache of two of 30 blocks, where reading line by line loads each 30 to 60 times.
#[test]
fn padded_views_are_loaded_about_once() {
    let (a, _) = both(&[370, 380], &[64, 80], 2, 0);
    for (name, view) in views(&a) {
        let t = pad(&view, [(3, 1), (0, 5)], 0).unwrap();
        for (which, loads) in
            loads(&t, 6 * 5, &|| a.storage().stats().loads).into_iter().enumerate()
        {
            assert!(loads <= 1.5, "{name}, way {which}: {loads} loads a block");
        }
    }
}

/// Blocks of parts that do not begin alike are cut in two.
#[test]
fn joined_views_are_loaded_about_twice() {
    let (a, _) = both(&[200, 360], &[64, 80], 2, 0);
    for (name, view) in views(&a) {
        let (b, _) = both(&view.shape(), &[64, 80], 2, 0);
        let b = b.view();
        let loaded = || a.storage().stats().loads + b.storage().stats().loads;
        let t = concat(1, [&view, &b]).unwrap();
        let blocks = |t: Option<Vec<BlockIndex>>| t.map_or(0, |blocks| blocks.len());
        let all = blocks(a.touched_blocks().unwrap()) + blocks(b.touched_blocks().unwrap());
        for (which, loads) in loads(&t, all, &loaded).into_iter().enumerate() {
            assert!(loads <= 3.0, "{name}, way {which}: {loads} loads a block");
        }
    }
}

/// Blocks of a view begin where it comes to others of the storage, and end where those of other parts do.
#[test]
fn blocks_follow_the_view() {
    let (a, _) = both(&[20, 30], &[8, 16], 1, 0);
    let starts = |t: &View<'_>, axis: usize| -> Option<Vec<usize>> {
        let all = pad(t, [(0, 0), (0, 0)], 0).unwrap();
        let blocks = all.storage().blocks().unwrap();
        blocks.starts(axis).map(|starts| starts.as_slice().to_vec())
    };
    let flipped = a.view().flip(0).unwrap();
    assert_eq!(starts(&flipped, 0), Some(vec![0, 4, 12]));
    assert_eq!(starts(&flipped, 1), None);
    assert_eq!(starts(&a.view().rotate([3, 0]).unwrap(), 0), Some(vec![0, 3, 11, 19]));
    assert_eq!(starts(&a.view().select([Select::every(2), Select::All]).unwrap(), 0), None);
    let list = |rows: &[usize]| a.view().select([Select::from(rows), Select::All]).unwrap();
    assert_eq!(starts(&list(&[1, 2, 7, 6, 9, 8, 19]), 0), Some(vec![0, 4, 6]));
    // Whose rows come to other blocks each time are read as they were.
    let mixed: Vec<usize> = (0..20).map(|row| row * 9 % 20).collect();
    assert!(pad(list(&mixed), [(0, 1), (0, 0)], 0).unwrap().storage().blocks().is_none());
    let joined = concat(1, [flipped.clone(), a.view()]).unwrap();
    let blocks = joined.storage().blocks().unwrap();
    assert_eq!(blocks.block(), [4, 16]);
    assert_eq!(blocks.starts(0), None);
    assert_eq!(blocks.starts(1).unwrap().as_slice(), [0, 16, 30, 46]);
    // Blocks of other extents, but not such that elements are few in them.
    let (b, _) = both(&[20, 30], &[8, 6], 1, 0);
    let joined = concat(0, [&a, &b]).unwrap();
    assert_eq!(joined.storage().blocks().unwrap().block(), [8, 6]);
    let (high, _) = both(&[200, 200], &[200, 1], 1, 0);
    let (wide, _) = both(&[200, 200], &[1, 200], 1, 0);
    assert!(concat(0, [&high, &wide]).unwrap().storage().blocks().is_none());
    // Nor of steps that take one element of each, nor where all blocks of a line are held.
    let far = a.view().select([Select::every(8), Select::every(16)]).unwrap();
    assert!(pad(far, [(0, 1), (0, 0)], 0).unwrap().storage().blocks().is_none());
    let (held, _) = both(&[20, 30], &[8, 16], 2, 0);
    assert!(
        pad(held.view().flip(0).unwrap(), [(0, 1), (0, 0)], 0)
            .unwrap()
            .storage()
            .blocks()
            .is_none()
    );
}

/// Errors name elements of the view, and blocks to come are told as those of the storage.
#[test]
fn errors_and_blocks_ahead_are_those_of_the_view() {
    let (a, b) = (failing(), failing());
    let view = |t: &Tensor<Chunked<Probe>>| t.clone().flip(0).unwrap();
    let joined = concat(0, [view(&a), view(&b)]).unwrap();
    assert_eq!(index(joined.eval().unwrap_err()), (vec![4, 0], 4 * 30));
    let padded = pad(a.view().transpose([1, 0]).unwrap().flip(1).unwrap(), [(1, 0), (2, 0)], 0);
    assert_eq!(index(padded.unwrap().sum(..).eval().unwrap_err()).0, [1, 6]);

    let part = || Tensor::new([10, 10], Probe::new([10, 10], [5, 5], None)).unwrap();
    let (a, b) = (part(), part());
    let joined = concat(1, [a.view().flip(0).unwrap(), b.view()]).unwrap();
    let next = [[0, 0], [0, 1], [1, 1], [1, 2]];
    let next: Vec<BlockIndex> = next.iter().map(|index| BlockIndex::from_slice(index)).collect();
    joined.storage().blocks().unwrap().expect(&next);
    let told = |t: &Tensor<Probe>| t.storage().told.lock().unwrap().concat();
    assert_eq!(told(&a), [[1, 0], [1, 1], [0, 1]].map(|index| BlockIndex::from_slice(&index)));
    assert_eq!(told(&b), [BlockIndex::from_slice(&[1, 0])]);
}

/// Extents of blocks that are less than when the tensor was made.
struct Shrunk(Chunked<BlockMemory<i64>>);

impl Reader for Shrunk {
    type Elem = i64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.0.read(address)
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
        Some(self)
    }
}

impl Blocks for Shrunk {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        &[20, 30]
    }

    fn block(&self) -> &[usize] {
        &[8, 16]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        self.0.blocks().unwrap().load(index)
    }

    fn share(&self, elements: Vec<i64>) -> Option<Block<'_, i64>> {
        Some(elements.into())
    }
}

/// Storage that lies gives wrong numbers or an error.
#[test]
fn extents_that_are_not_those_of_the_map_are_no_panic() {
    let memory = BlockMemory::new([40, 30], [8, 16], 7).unwrap();
    let t = Tensor::new([40, 30], Shrunk(Chunked::new(memory).unwrap())).unwrap();
    for row in [3, 19, 30, 39] {
        let turned = t.view().select([Select::Index(row), Select::All]).unwrap().flip(0).unwrap();
        let _ = concat(0, [turned.clone(), turned]).unwrap().eval();
    }
    let _ = concat(0, [t.view().flip(0).unwrap(), t.view()]).unwrap().eval();
}
