//! Storage in blocks: what is read and written through them is what memory has.

mod ahead;
mod cache;
mod clones;
mod failures;
mod joined;
mod laws;
mod results;
mod sides;
mod threads;
mod turned;
mod volumes;
mod writes;

use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Starts};
use lensor::{Reader, StorageError, Tensor};

/// Blocks that hold `data` in row-major order of `extents`.
pub(crate) fn blocks_of<T>(extents: &[usize], block: &[usize], data: &[T]) -> BlockMemory<T>
where
    T: Copy + Send + Sync + 'static,
{
    let starts = |(n, b): (&usize, &usize)| (0..*n).step_by(*b).collect();
    let starts: Vec<Vec<usize>> = extents.iter().zip(block).map(starts).collect();
    fill(extents, block, &starts, extents, data)
}

/// Blocks in memory of extents `all`, which hold `data` in row-major order of `extents` from their starts on.
fn fill<T>(
    all: &[usize],
    block: &[usize],
    starts: &[Vec<usize>],
    extents: &[usize],
    data: &[T],
) -> BlockMemory<T>
where
    T: Copy + Send + Sync + 'static,
{
    let Some(&first) = data.first() else {
        panic!("there is no element to fill blocks with");
    };
    let blocks = BlockMemory::new(all, block, first).unwrap();
    let counts: Vec<usize> = starts.iter().map(Vec::len).collect();
    for number in 0..counts.iter().product() {
        let index = unravel(number, &counts);
        let mut elements = vec![first; block.iter().product()];
        for (k, element) in elements.iter_mut().enumerate() {
            let inside = unravel(k, block);
            let at = |axis: usize| {
                let end = starts[axis].get(index[axis] + 1).copied().unwrap_or(extents[axis]);
                Some(starts[axis][index[axis]] + inside[axis]).filter(|&at| at < end)
            };
            if let Some(at) = (0..extents.len()).map(at).collect::<Option<Vec<_>>>() {
                let address =
                    at.iter().zip(extents).fold(0, |a, (digit, extent)| a * extent + digit);
                *element = data[address];
            }
        }
        blocks.store(&index, &elements).unwrap();
    }
    blocks
}

/// Blocks that begin where `starts` says, if at all.
#[derive(Debug)]
pub(crate) struct Uneven<T> {
    blocks: BlockMemory<T>,
    extents: Vec<usize>,
    starts: Vec<Option<Starts>>,
}

impl<T: Copy + Send + Sync + 'static> Uneven<T> {
    pub(crate) fn new(
        extents: &[usize],
        block: &[usize],
        starts: Vec<Option<Starts>>,
        data: &[T],
    ) -> Self {
        let of_axis = |axis: usize| match &starts[axis] {
            Some(starts) => starts.as_slice().to_vec(),
            None => (0..extents[axis]).step_by(block[axis]).collect::<Vec<_>>(),
        };
        let all: Vec<Vec<usize>> = (0..extents.len()).map(of_axis).collect();
        let whole: Vec<usize> = all.iter().zip(block).map(|(own, side)| own.len() * side).collect();
        let blocks = fill(&whole, block, &all, extents, data);
        Self { blocks, extents: extents.to_vec(), starts }
    }
}

impl<T: Copy + Send + Sync + 'static> Blocks for Uneven<T> {
    type Elem = T;

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn block(&self) -> &[usize] {
        self.blocks.block()
    }

    fn starts(&self, axis: usize) -> Option<Starts> {
        self.starts.get(axis)?.clone()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        self.blocks.load(index)
    }
}

impl<T: Copy + Send + Sync + 'static> BlocksMut for Uneven<T> {
    fn store(&self, index: &[usize], from: &[T]) -> Result<(), StorageError> {
        self.blocks.store(index, from)
    }
}

pub(crate) fn unravel(mut number: usize, sides: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; sides.len()];
    for (digit, side) in digits.iter_mut().zip(sides).rev() {
        (*digit, number) = (number % side, number / side);
    }
    digits
}

/// A tensor of all that blocks hold.
fn tensor<S: Blocks>(storage: Chunked<S>) -> Tensor<Chunked<S>>
where
    S::Elem: 'static,
{
    Tensor::new(storage.extents().to_vec(), storage).unwrap()
}

/// What the storage has at every address, behind any cache.
fn all<S: Blocks>(storage: &Chunked<S>) -> Vec<S::Elem>
where
    S::Elem: 'static,
{
    (0..storage.len()).map(|address| storage.read(address)).collect()
}
