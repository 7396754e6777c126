//! Addresses among blocks.

use crate::error::{Error, Result};
use crate::storage::BlockIndex;

/// The numbers of a storage in blocks, as it told them once.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    pub(super) extents: Vec<usize>,
    pub(super) block: Vec<usize>,
    /// Blocks along each axis.
    pub(super) counts: Vec<usize>,
    pub(super) len: usize,
    pub(super) block_len: usize,
}

impl Sides {
    pub(super) fn new(extents: Vec<usize>, block: Vec<usize>) -> Result<Self> {
        let product = |sides: &[usize]| {
            let all = sides.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
            all.filter(|&all| all <= isize::MAX as usize)
        };
        let known = extents.len() == block.len() && !block.contains(&0);
        let (Some(len), Some(block_len), true) = (product(&extents), product(&block), known) else {
            return Err(Error::Blocks { extents, block });
        };
        let counts = extents.iter().zip(&block).map(|(extent, block)| extent.div_ceil(*block));
        Ok(Self { counts: counts.collect(), extents, block, len, block_len })
    }

    /// Row-major number of a block.
    pub(super) fn number(&self, index: &[usize]) -> Option<usize> {
        let known = index.len() == self.counts.len();
        let mut number = 0;
        for (&digit, &count) in index.iter().zip(&self.counts) {
            if digit >= count {
                return None;
            }
            number = number * count + digit;
        }
        known.then_some(number)
    }

    pub(super) fn index(&self, mut number: usize) -> BlockIndex {
        let mut index = BlockIndex::from_elem(0, self.counts.len());
        for (digit, &count) in index.iter_mut().zip(&self.counts).rev() {
            (*digit, number) = (number % count, number / count);
        }
        index
    }

    /// Address of the first element of a block.
    pub(super) fn first_address(&self, index: &[usize]) -> usize {
        let sides = index.iter().zip(&self.block).zip(&self.extents);
        sides.fold(0, |address, ((digit, block), extent)| address * extent + digit * block)
    }

    /// Block and place in it of an address, and how many addresses follow in the same line of the block.
    pub(super) fn find(&self, address: usize) -> (BlockIndex, usize, usize) {
        let mut index = BlockIndex::from_elem(0, self.block.len());
        let (mut rest, mut inside, mut weight, mut left) = (address, 0, 1, 1);
        for axis in (0..self.block.len()).rev() {
            let digit = rest % self.extents[axis];
            rest /= self.extents[axis];
            index[axis] = digit / self.block[axis];
            let within = digit % self.block[axis];
            if axis + 1 == self.block.len() {
                left = (self.block[axis] - within).min(self.extents[axis] - digit);
            }
            inside += within * weight;
            weight *= self.block[axis];
        }
        (index, inside, left)
    }
}
