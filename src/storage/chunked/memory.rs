//! Blocks in memory.

use super::cache::lock;
use crate::error::{Error, Result, StorageError};
use crate::memory::list;
use crate::storage::{Block, Blocks, BlocksMut};
use std::sync::{Arc, Mutex};

/// Blocks that lie in memory, each in a vector of its own: for tests, and for arrays that are cheaper to keep in
/// pieces.
///
/// ```
/// use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut};
/// let blocks = BlockMemory::new([3, 5], [2, 2], 0)?;
/// blocks.store(&[1, 2], &[7; 4])?;
/// assert!(matches!(blocks.load(&[1, 2])?, Block::Shared(e) if (*e).as_ref() == [7; 4]));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockMemory<T> {
    extents: Vec<usize>,
    block: Vec<usize>,
    blocks: Vec<Mutex<Arc<Vec<T>>>>,
}

impl<T: Copy> BlockMemory<T> {
    /// Blocks of these extents, with `value` everywhere.
    ///
    /// # Errors
    ///
    /// [`Error::Blocks`] if the numbers of axes differ or a block has no elements, [`Error::OutOfMemory`].
    pub fn new(
        extents: impl Into<Vec<usize>>,
        block: impl Into<Vec<usize>>,
        value: T,
    ) -> Result<Self> {
        let (extents, block): (Vec<usize>, Vec<usize>) = (extents.into(), block.into());
        let known = extents.len() == block.len() && !block.contains(&0);
        let sides =
            extents.iter().zip(&block).map(|(extent, block)| extent.div_ceil((*block).max(1)));
        let mut sides = sides;
        let count = sides.try_fold(1_usize, |all, side| all.checked_mul(side));
        let each = block.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
        let (Some(count), Some(each), true) = (count, each, known) else {
            return Err(Error::Blocks { extents, block });
        };
        let first = Arc::new(list(std::iter::repeat_n(value, each))?);
        let blocks = list((0..count).map(|_| Mutex::new(first.clone())))?;
        Ok(Self { extents, block, blocks })
    }

    fn at(&self, index: &[usize]) -> Result<&Mutex<Arc<Vec<T>>>, StorageError> {
        let sides = index.iter().zip(self.extents.iter().zip(&self.block));
        let number = sides
            .fold(0, |number, (digit, (extent, block))| number * extent.div_ceil(*block) + digit);
        self.blocks
            .get(number)
            .ok_or_else(|| StorageError::new(0, format!("there is no block {index:?}")))
    }
}

impl<T: Copy + Send + Sync + 'static> Blocks for BlockMemory<T> {
    type Elem = T;

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn block(&self) -> &[usize] {
        &self.block
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        Ok(Block::Shared(lock(self.at(index)?).clone()))
    }
}

impl<T: Copy + Send + Sync + 'static> BlocksMut for BlockMemory<T> {
    fn store(&self, index: &[usize], from: &[T]) -> Result<(), StorageError> {
        let failed = |error: Error| StorageError::new(0, error);
        let elements = list(from.iter().copied()).map_err(failed)?;
        *lock(self.at(index)?) = Arc::new(elements);
        Ok(())
    }
}
