//! Random views, read, computed with, folded, scanned, sorted and assigned: the bits are those of memory.

use super::{Uneven, all, tensor};
use lensor::StorageError;
use lensor::prelude::*;
use lensor::reduce::NaiveSum;
use lensor::storage::{Block, BlockMemory, Blocks, Chunked, Starts};
use quickcheck::{Arbitrary, Gen, quickcheck};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Storage in blocks, and a few views that are taken of it.
#[derive(Clone)]
struct Case {
    extents: Vec<usize>,
    block: Vec<usize>,
    /// Where blocks begin, if they are not all as long.
    starts: Vec<Option<Starts>>,
    cached: usize,
    data: Vec<f64>,
    ops: Vec<Op>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { extents, block, starts, cached, ops, .. } = self;
        write!(
            f,
            "{extents:?} in blocks of {block:?} from {starts:?}, {cached} of which are held: {ops:?}"
        )
    }
}

/// A view of any tensor; numbers are taken modulo what fits.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Transpose(usize),
    Flip(usize),
    Rotate(usize, isize),
    Slice(usize, usize, usize),
    List(usize, Vec<usize>),
    Split(usize),
    Flat,
    Repeat(usize),
    Diagonal,
}

impl Op {
    pub(super) fn apply<S: Reader>(&self, t: Tensor<S>) -> Result<Tensor<S>, Error> {
        let (rank, shape) = (t.rank(), t.shape());
        if rank == 0 {
            return Ok(t);
        }
        match self {
            Self::Transpose(by) => {
                let order: Vec<usize> = (0..rank).map(|axis| (axis + by) % rank).collect();
                t.transpose(&order)
            }
            Self::Flip(axis) => t.flip(axis % rank),
            Self::Rotate(axis, by) => {
                let mut shifts = vec![0; rank];
                shifts[axis % rank] = *by;
                t.rotate(&shifts)
            }
            Self::Slice(axis, start, step) => {
                let axis = axis % rank;
                let start = start % (shape[axis] + 1);
                let mut selectors = vec![Select::All; rank];
                let list: Vec<usize> = (start..shape[axis]).step_by(1 + step % 3).collect();
                selectors[axis] = match list[..] {
                    [] => Select::range(0..0),
                    _ => Select::from(&list[..]),
                };
                t.select(selectors)
            }
            Self::List(axis, list) => {
                let axis = axis % rank;
                let mut selectors = vec![Select::All; rank];
                let list: Vec<usize> =
                    list.iter().filter(|_| shape[axis] > 0).map(|k| k % shape[axis]).collect();
                selectors[axis] = Select::from(&list[..]);
                t.select(selectors)
            }
            Self::Split(axis) => {
                let axis = axis % rank;
                let part = [7, 5, 3, 2].into_iter().find(|part| shape[axis] % part == 0);
                let Some(part) = part.filter(|_| rank < 5 && shape[axis] > 0) else { return Ok(t) };
                let mut extents = shape.to_vec();
                extents.splice(axis..=axis, [shape[axis] / part, part]);
                t.reshape(extents)
            }
            Self::Flat => {
                let count = t.len();
                t.reshape([count])
            }
            Self::Repeat(times) => {
                let mut wanted = vec![1 + times % 3];
                wanted.extend(shape.iter());
                if rank < 5 { t.broadcast(wanted) } else { Ok(t) }
            }
            Self::Diagonal if rank >= 2 => t.diagonal(0, 1),
            Self::Diagonal => Ok(t),
        }
    }

    fn is_injective(&self) -> bool {
        !matches!(self, Self::Repeat(_) | Self::List(..))
    }
}

impl Arbitrary for Op {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = usize::arbitrary;
        match n(g) % 9 {
            0 => Self::Transpose(n(g) % 3 + 1),
            1 => Self::Flip(n(g) % 8),
            2 => Self::Rotate(n(g) % 8, isize::arbitrary(g) % 50),
            3 => Self::Slice(n(g) % 8, n(g) % 20, n(g) % 8),
            4 => {
                let count = n(g) % 40;
                Self::List(n(g) % 8, (0..count).map(|_| n(g) % 1000).collect())
            }
            5 => Self::Split(n(g) % 8),
            6 => Self::Flat,
            7 => Self::Repeat(n(g) % 8),
            _ => Self::Diagonal,
        }
    }
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = usize::arbitrary;
        let rank = n(g) % 3 + 1;
        // Blocks of a few elements are read together, those of thousands one by one: both come up.
        let (side, large) = (&[1, 2, 5, 12, 60, 130][..], n(g).is_multiple_of(5));
        let most = if rank == 3 { 4 } else { 6 };
        let mut extents: Vec<usize> = (0..rank).map(|_| side[n(g) % most] + n(g) % 4).collect();
        let mut block: Vec<usize> = (0..rank).map(|_| [1, 2, 3, 8, 40][n(g) % 5]).collect();
        if large {
            block = [&[5000][..], &[64, 70], &[16, 17, 18]][rank - 1].to_vec();
            extents = [&[20_000][..], &[150, 210], &[40, 35, 20]][rank - 1].to_vec();
            extents[0] += n(g) % 5;
        }
        let data = (0..extents.iter().product()).map(|k| (k * 7919 % 1000) as f64 / 7.0 - 50.0);
        Self {
            data: data.collect(),
            starts: extents.iter().zip(&block).map(|(n, b)| starts(g, *n, *b)).collect(),
            extents,
            block,
            cached: n(g) % 9,
            ops: (0..n(g) % 4).map(|_| Op::arbitrary(g)).collect(),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let case = self.clone();
        Box::new(self.ops.shrink().map(move |ops| Self { ops, ..case.clone() }))
    }
}

/// Where blocks begin along an axis: half of the time where they may.
fn starts(g: &mut Gen, extent: usize, block: usize) -> Option<Starts> {
    let mut starts = vec![0];
    while starts[starts.len() - 1] + block < extent {
        let far = if bool::arbitrary(g) { block } else { 1 + usize::arbitrary(g) % block };
        starts.push(starts[starts.len() - 1] + far);
    }
    let uneven = bool::arbitrary(g) && extent > 0;
    uneven.then(|| Starts::new(starts, extent).unwrap())
}

impl Case {
    fn memory(&self) -> Tensor<Vec<f64>> {
        Tensor::from_vec(self.extents.clone(), self.data.clone()).unwrap()
    }

    fn chunked(&self) -> Tensor<Chunked<Uneven<f64>>> {
        let blocks = Uneven::new(&self.extents, &self.block, self.starts.clone(), &self.data);
        tensor(Chunked::new(blocks).unwrap().with_blocks(self.cached))
    }

    fn view<S: Reader>(&self, t: Tensor<S>) -> Tensor<S> {
        self.ops.iter().try_fold(t, |t, op| op.apply(t)).unwrap()
    }
}

fn bits(elements: Result<Vec<f64>, Error>) -> Result<Vec<u64>, Error> {
    Ok(elements?.into_iter().map(f64::to_bits).collect())
}

quickcheck! {
    /// A view reads as that of memory, alone and with other operands.
    fn views_read_as_those_of_memory(case: Case) -> bool {
        let (memory, chunked) = (case.memory(), case.chunked());
        let (a, b) = (case.view(memory.clone()), case.view(chunked.clone()));
        let reversed: Vec<usize> = (0..a.rank()).rev().collect();
        let shape = a.shape();
        let square = shape.iter().all(|extent| *extent == shape[0]);
        a.to_vec() == b.to_vec()
            && bits((&a * 2.0 + &a).to_vec()) == bits((&b * 2.0 + &a).to_vec())
            && bits((&a - &b).to_vec()) == bits((&b - &a).to_vec())
            && (!square || {
                let turned = b.clone().transpose(&reversed).unwrap();
                let expected = a.clone().transpose(&reversed).unwrap();
                (&a + expected).to_vec() == (&b + turned).to_vec()
            })
    }

    /// The blocks of a view are those of its addresses, and all that reading it loads.
    fn blocks_of_views_are_those_of_their_addresses(case: Case) -> bool {
        let case = Case { cached: 1 << 20, ..case };
        let (chunked, extents) = (case.chunked(), case.extents.clone());
        let t = case.view(chunked);
        let addresses = Tensor::from_vec(&extents[..], (0..case.data.len()).collect()).unwrap();
        let shown = Tensor::with_map(t.address_map().clone(), addresses.into_storage());
        let mut blocks: Vec<Vec<usize>> = shown.unwrap().to_vec().unwrap().into_iter().map(|address| {
            let index = super::unravel(address, &extents);
            let number = |(axis, digit): (usize, &usize)| match &case.starts[axis] {
                Some(starts) => starts.as_slice().iter().filter(|start| *start <= digit).count() - 1,
                None => digit / case.block[axis],
            };
            index.iter().enumerate().map(number).collect()
        }).collect();
        blocks.sort();
        blocks.dedup();
        let touched = t.touched_blocks().unwrap().unwrap();
        assert_eq!(touched.iter().map(|block| block.to_vec()).collect::<Vec<_>>(), blocks);
        t.to_vec().unwrap();
        // Two axes along one of the storage may enclose blocks of which they have nothing.
        let own_axes = |op: &Op| !matches!(op, Op::Split(_) | Op::Flat | Op::Diagonal);
        let loads = t.storage().stats().loads;
        assert!(loads == blocks.len() || !case.ops.iter().all(own_axes));
        case.view(case.memory()).touched_blocks().unwrap().is_none()
    }

    /// Folds, scans, windows and sorts have the bits of memory.
    fn operations_have_the_bits_of_memory(case: Case) -> bool {
        let (memory, chunked) = (case.memory(), case.chunked());
        let (a, b) = (case.view(memory.clone()), case.view(chunked.clone()));
        let whole = a.is_empty() || bits(a.sum(..).to_vec()) == bits(b.sum(..).to_vec());
        whole && (0..a.rank()).filter(|_| !a.is_empty()).all(|axis| {
            let extent = a.shape()[axis];
            bits(a.sum(axis).to_vec()) == bits(b.sum(axis).to_vec())
                && bits(a.var(axis).to_vec()) == bits(b.var(axis).to_vec())
                && a.argmin(axis).to_vec() == b.argmin(axis).to_vec()
                && bits(a.cumsum(axis).to_vec()) == bits(b.cumsum(axis).to_vec())
                && bits(a.rolling(axis, 3.min(extent)).sum().to_vec())
                    == bits(b.rolling(axis, 3.min(extent)).sum().to_vec())
                && bits(a.sort(axis, SortOrder::Ascending).to_vec())
                    == bits(b.sort(axis, SortOrder::Ascending).to_vec())
        })
    }

    /// Assignments and updates of views leave what memory has, in the storage below as well.
    fn assignments_write_what_memory_has(case: Case) -> bool {
        let case = Case { ops: case.ops.into_iter().filter(Op::is_injective).collect(), ..case };
        let (mut memory, mut chunked) = (case.memory(), case.chunked());
        let count = case.view(memory.view()).len();
        let shape = case.view(memory.view()).shape();
        let new = Tensor::from_vec(shape, (0..count).map(|k| k as f64).collect()).unwrap();
        let mut done = true;
        for round in 0..3 {
            let (mut a, mut b) = (case.view(memory.view_mut()), case.view(chunked.view_mut()));
            let results = match round {
                0 => (a.assign(&new), b.assign(&new)),
                1 => (a.zip_in_place(&new, |a, b| a + b), b.zip_in_place(&new, |a, b| a + b)),
                _ => (a.fill(-1.5), b.fill(-1.5)),
            };
            done &= results.0 == results.1;
            done &= chunked.storage().unsaved().is_empty();
            done &= all(chunked.storage()) == *memory.storage();
        }
        let below = chunked.into_storage().into_inner().unwrap();
        done && all(&Chunked::new(below).unwrap()) == *memory.storage()
    }
}

/// Rows of more blocks than a little stack has space for calls, read in order in windows of several.
#[cfg(feature = "rayon")]
#[test]
fn rows_lie_in_any_number_of_blocks() {
    let shape = [64, 1 << 17];
    let below = BlockMemory::new(shape, [64, 32], 1.0).unwrap();
    let chunked = Chunked::new(below).unwrap().with_blocks(4);
    let t = Tensor::new(shape, &chunked).unwrap();
    let little = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(1 << 18).build();
    let sums = little.unwrap().install(|| t.fold(1, NaiveSum).to_vec()).unwrap();
    assert_eq!(sums, [131_072.0; 64]);
}

/// Blocks of one value, blocks that are lent, and shared ones, side by side.
struct Mixed {
    blocks: Vec<Vec<i64>>,
    loads: Vec<AtomicUsize>,
}

const SIDES: [usize; 2] = [150, 130];

impl Mixed {
    fn new() -> Self {
        let element = |number: usize, k: usize| match Self::kind(number) {
            0 => number as i64 + 1,
            _ => (number * 4096 + k) as i64,
        };
        let block = |number| (0..4096).map(|k| element(number, k)).collect();
        let loads = (0..9).map(|_| AtomicUsize::new(0)).collect();
        Self { blocks: (0..9).map(block).collect(), loads }
    }

    fn kind(number: usize) -> usize {
        (number / 3 + number % 3) % 3
    }
}

impl Blocks for Mixed {
    type Elem = i64;
    fn extents(&self) -> &[usize] {
        &SIDES
    }
    fn block(&self) -> &[usize] {
        &[64, 64]
    }
    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        let number = 3 * index[0] + index[1];
        self.loads[number].fetch_add(1, Ordering::Relaxed);
        Ok(match Self::kind(number) {
            0 => Block::Fill(self.blocks[number][0]),
            1 => Block::Borrowed(&self.blocks[number]),
            _ => Block::from(self.blocks[number].clone()),
        })
    }
}

/// Blocks of all kinds read alike; what is lent is asked for again, all else is held.
#[test]
fn blocks_of_all_kinds_read_alike() {
    let mixed = Mixed::new();
    let element = |i: &[usize]| mixed.blocks[i[0] / 64 * 3 + i[1] / 64][i[0] % 64 * 64 + i[1] % 64];
    let memory = Tensor::from_index(SIDES, element).unwrap();
    for held in [1, 9] {
        let t = tensor(Chunked::new(&mixed).unwrap().with_blocks(held));
        let turned =
            (t.view().transpose([1, 0]).unwrap(), memory.view().transpose([1, 0]).unwrap());
        let (a, b) = (&turned.0, &turned.1);
        assert_eq!(t.to_vec(), memory.to_vec());
        assert_eq!((a * 2 + 1).to_vec(), (b * 2 + 1).to_vec());
        for axis in 0..2 {
            assert_eq!(a.sum(axis).to_vec(), b.sum(axis).to_vec());
            assert_eq!(a.cumsum(axis).to_vec(), b.cumsum(axis).to_vec());
        }
        let rows = ([149, 0, 64, 63, 64],);
        assert_eq!(
            t.view().select(rows).unwrap().to_vec(),
            memory.view().select(rows).unwrap().to_vec()
        );
        assert_eq!(
            t.view().merge_axes(0..2).unwrap().flip(0).unwrap().to_vec(),
            memory.view().merge_axes(0..2).unwrap().flip(0).unwrap().to_vec()
        );
        for index in [[10, 70], [0, 0], [149, 129], [10, 129]] {
            assert_eq!(t.get(index), memory.get(index));
        }
    }
    let chunked = Chunked::new(&mixed).unwrap().with_blocks(9);
    mixed.loads.iter().for_each(|loads| loads.store(0, Ordering::Relaxed));
    for number in (0..9).cycle().take(27) {
        drop(chunked.load(&[number / 3, number % 3]).unwrap());
    }
    for (number, loads) in mixed.loads.iter().enumerate() {
        let expected = if Mixed::kind(number) == 1 { 3 } else { 1 };
        assert_eq!(loads.load(Ordering::Relaxed), expected, "{number}");
    }
}
