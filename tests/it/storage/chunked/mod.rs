//! Storage in blocks: what is read and written through them is what memory has.

mod cache;
mod failures;
mod laws;
mod threads;
mod volumes;
mod writes;

use lensor::storage::{BlockMemory, Blocks, BlocksMut, Chunked};
use lensor::{Reader, Tensor};

/// Blocks that hold `data` in row-major order of `extents`.
pub(crate) fn blocks_of<T>(extents: &[usize], block: &[usize], data: &[T]) -> BlockMemory<T>
where
    T: Copy + Send + Sync + 'static,
{
    let Some(&first) = data.first() else {
        panic!("there is no element to fill blocks with");
    };
    let blocks = BlockMemory::new(extents, block, first).unwrap();
    let counts: Vec<usize> = extents.iter().zip(block).map(|(n, b)| n.div_ceil(*b)).collect();
    for number in 0..counts.iter().product() {
        let index = unravel(number, &counts);
        let mut elements = vec![first; block.iter().product()];
        for (k, element) in elements.iter_mut().enumerate() {
            let inside = unravel(k, block);
            let at: Vec<usize> =
                (0..extents.len()).map(|axis| index[axis] * block[axis] + inside[axis]).collect();
            if at.iter().zip(extents).all(|(digit, extent)| digit < extent) {
                let address =
                    at.iter().zip(extents).fold(0, |a, (digit, extent)| a * extent + digit);
                *element = data[address];
            }
        }
        blocks.store(&index, &elements).unwrap();
    }
    blocks
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
