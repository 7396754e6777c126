//! Storage that counts what it is asked to write.

use super::counted::{Counted, Counts};
use crate::error::StorageError;
use crate::grid::sides_tell;
use crate::storage::{Block, BlockIndex, Blocks, BlocksMut, Reader, Writer};
use std::sync::atomic::{AtomicBool, Ordering};

/// By addresses: blocks of the storage are not told of.
impl<W: Writer> Writer for Counted<W> {
    fn write(&mut self, address: usize, value: W::Elem) {
        self.below.write(address, value);
    }

    fn try_write(&mut self, address: usize, value: W::Elem) -> Result<(), StorageError> {
        self.counts.note_run(address, 1, 1)?;
        self.below.try_write(address, value)
    }

    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[W::Elem],
    ) -> Result<(), StorageError> {
        self.counts.note_run(start, step, from.len())?;
        self.below.write_run(start, step, from)
    }

    fn write_at(&mut self, addresses: &[usize], from: &[W::Elem]) -> Result<(), StorageError> {
        self.counts.note(addresses.iter().copied())?;
        self.below.write_at(addresses, from)
    }
}

/// Blocks that can be written, which count what they are asked.
///
/// They take a storage for themselves as long as they live. Where an operation asks for addresses all the same, that is an
/// error, with nothing written, and the storage itself is what to ask instead.
pub(super) struct InBlocks<'w, T> {
    pub(super) counts: Counts,
    blocks: &'w dyn BlocksMut<Elem = T>,
    /// Whether addresses were asked for.
    astray: AtomicBool,
}

impl<'w, T> InBlocks<'w, T> {
    pub(super) fn new(blocks: &'w dyn BlocksMut<Elem = T>, counts: Counts) -> Self {
        Self { counts, blocks, astray: AtomicBool::new(false) }
    }

    pub(super) fn is_astray(&self) -> bool {
        self.astray.load(Ordering::Relaxed)
    }

    fn stray<X>(&self, address: usize) -> Result<X, StorageError> {
        self.astray.store(true, Ordering::Relaxed);
        Err(StorageError::new(address, "it is written in blocks"))
    }
}

impl<T: Copy + Send + Sync> Reader for InBlocks<'_, T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.counts.len
    }

    /// # Panics
    ///
    /// Panics always: it is read in blocks.
    fn read(&self, address: usize) -> T {
        panic!("address {address} is read in blocks")
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        self.stray(address)
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = T>> {
        Some(self)
    }
}

impl<T: Copy + Send + Sync> Writer for InBlocks<'_, T> {
    fn write(&mut self, address: usize, _: T) {
        let _counted_apart = self.stray::<()>(address);
    }

    fn try_write(&mut self, address: usize, _: T) -> Result<(), StorageError> {
        self.stray(address)
    }

    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = T>> {
        Some(self)
    }
}

impl<T: Copy + Send + Sync> Blocks for InBlocks<'_, T> {
    type Elem = T;

    sides_tell!(self => self.counts.sides.as_ref());

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        self.counts.note_block(index)?;
        self.blocks.load(index)
    }

    fn budget(&self) -> usize {
        self.counts.model.cached
    }

    fn expect(&self, next: &[BlockIndex]) {
        self.blocks.expect(next);
    }
}

impl<T: Copy + Send + Sync> BlocksMut for InBlocks<'_, T> {
    fn store(&self, index: &[usize], from: &[T]) -> Result<(), StorageError> {
        self.counts.note_block(index)?;
        self.blocks.store(index, from)
    }

    fn change(
        &self,
        index: &[usize],
        change: &mut dyn FnMut(&mut [T]),
    ) -> Result<(), StorageError> {
        self.counts.note_block(index)?;
        self.blocks.change(index, change)
    }

    fn finish(&self) -> Result<(), StorageError> {
        self.blocks.finish()
    }
}
