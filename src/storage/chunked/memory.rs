//! Blocks in memory.

use super::cache::lock;
use crate::error::{Error, Result, StorageError};
use crate::grid::Sides;
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
    sides: Sides,
    blocks: Vec<Mutex<Arc<Vec<T>>>>,
}

impl<T: Copy> BlockMemory<T> {
    /// Blocks of these extents, with `value` everywhere.
    ///
    /// # Errors
    ///
    /// [`Error::Blocks`] if the numbers of axes differ or a block has no elements, [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::Error;
    /// use lensor::storage::{BlockMemory, Blocks};
    /// let blocks = BlockMemory::new([3, 5], [2, 2], 0.5)?; // 2 x 3 blocks, some of which reach beyond the end
    /// assert_eq!((blocks.extents(), blocks.block()), (&[3, 5][..], &[2, 2][..]));
    /// assert!(matches!(BlockMemory::new([3, 5], [2], 0.5), Err(Error::Blocks { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(
        extents: impl Into<Vec<usize>>,
        block: impl Into<Vec<usize>>,
        value: T,
    ) -> Result<Self> {
        let extents = extents.into();
        let regular = extents.iter().map(|_| None).collect();
        let sides = Sides::new(&extents, &block.into(), regular)?;
        let first = Arc::new(list(std::iter::repeat_n(value, sides.block_len))?);
        let blocks = list((0..sides.counts.iter().product()).map(|_| Mutex::new(first.clone())))?;
        Ok(Self { sides, blocks })
    }

    fn at(&self, index: &[usize]) -> Result<&Mutex<Arc<Vec<T>>>, StorageError> {
        let block = self.sides.number(index).and_then(|number| self.blocks.get(number));
        block.ok_or_else(|| StorageError::new(0, format!("there is no block {index:?}")))
    }
}

impl<T: Copy + Send + Sync + 'static> Blocks for BlockMemory<T> {
    type Elem = T;

    fn extents(&self) -> &[usize] {
        &self.sides.extents
    }

    fn block(&self) -> &[usize] {
        &self.sides.block
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        Ok(Block::Shared(lock(self.at(index)?).clone()))
    }
}

impl<T: Copy + Send + Sync + 'static> BlocksMut for BlockMemory<T> {
    fn store(&self, index: &[usize], from: &[T]) -> Result<(), StorageError> {
        let failed = |error: Error| StorageError::new(0, error);
        let block = self.at(index)?;
        if from.len() != self.sides.block_len {
            let text = format!("{} elements for a block of {}", from.len(), self.sides.block_len);
            return Err(StorageError::new(self.sides.first_address(index), text));
        }
        let elements = list(from.iter().copied()).map_err(failed)?;
        *lock(block) = Arc::new(elements);
        Ok(())
    }
}
