//! Storage that counts what it is asked to write.

use super::Model;
use super::counted::Counts;
use crate::error::StorageError;
use crate::grid::Starts;
use crate::storage::{Block, BlockIndex, Blocks, BlocksMut, Reader, Stored, Writer};
use std::sync::atomic::{AtomicBool, Ordering};

/// Storage that counts what it is asked to write, by its blocks or by addresses as the operation likes.
///
/// Blocks that can be written take a storage for themselves as long as they live. So it has nothing else any more once
/// they were asked for: where an operation then asks for addresses all the same, that is an error, with nothing written, and
/// [`Self::by_addresses`] is what to ask instead.
pub(super) struct Writing<'w, W: Writer> {
    below: Below<'w, W>,
    pub(super) counts: Counts,
    has_blocks: bool,
    /// Whether addresses were asked for when there were blocks alone.
    astray: AtomicBool,
}

enum Below<'w, W: Writer> {
    Whole(&'w mut W),
    Blocks(&'w dyn BlocksMut<Elem = W::Elem>),
    /// Between the two.
    Gone,
}

impl<'w, W: Writer> Writing<'w, W> {
    pub(super) fn new(below: &'w mut W, model: Model) -> Self {
        let (counts, has_blocks) = (Counts::new(below, model), below.blocks_mut().is_some());
        let has_blocks = has_blocks && counts.sides.is_some();
        Self { below: Below::Whole(below), counts, has_blocks, astray: AtomicBool::new(false) }
    }

    /// A storage that is written by addresses, whatever blocks it has.
    pub(super) fn by_addresses(below: &'w mut W, model: Model) -> Self {
        Self { has_blocks: false, ..Self::new(below, model) }
    }

    pub(super) fn is_astray(&self) -> bool {
        self.astray.load(Ordering::Relaxed)
    }

    fn stray(&self, address: usize) -> StorageError {
        self.astray.store(true, Ordering::Relaxed);
        StorageError::new(address, "it is written in blocks")
    }

    fn whole(&self, address: usize) -> Result<&W, StorageError> {
        match self.below {
            Below::Whole(ref below) => Ok(below),
            _ => Err(self.stray(address)),
        }
    }

    fn whole_mut(&mut self, address: usize) -> Result<&mut W, StorageError> {
        match self.below {
            Below::Whole(ref mut below) => Ok(below),
            _ => Err(self.stray(address)),
        }
    }

    fn in_blocks(&self) -> Result<&'w dyn BlocksMut<Elem = W::Elem>, StorageError> {
        match self.below {
            Below::Blocks(blocks) => Ok(blocks),
            _ => Err(StorageError::new(0, "its blocks were not asked for")),
        }
    }

    /// An element of a storage in blocks, of which nothing is counted.
    fn of_block(&self, address: usize) -> Option<W::Elem> {
        let (sides, blocks) = (self.counts.sides.as_ref()?, self.in_blocks().ok()?);
        let (index, place, _) = sides.find(address);
        match blocks.load(&index).ok()? {
            Block::Fill(value) => Some(value),
            block => block.as_slice()?.get(place).copied(),
        }
    }
}

impl<W: Writer> Reader for Writing<'_, W> {
    type Elem = W::Elem;

    fn len(&self) -> usize {
        self.counts.len
    }

    /// # Panics
    ///
    /// As the storage does, and where its blocks cannot be loaded.
    fn read(&self, address: usize) -> W::Elem {
        match self.below {
            Below::Whole(ref below) => below.read(address),
            _ => match self.of_block(address) {
                Some(element) => element,
                None => panic!("the block of address {address} cannot be loaded"),
            },
        }
    }

    fn try_read(&self, address: usize) -> Result<W::Elem, StorageError> {
        let below = self.whole(address)?;
        self.counts.note_run(address, 1, 1)?;
        below.try_read(address)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [W::Elem]) -> Result<(), StorageError> {
        let below = self.whole(start)?;
        self.counts.note_run(start, step, out.len())?;
        below.read_run(start, step, out)
    }

    fn read_at(&self, addresses: &[usize], out: &mut [W::Elem]) -> Result<(), StorageError> {
        let below = self.whole(addresses.first().copied().unwrap_or(0))?;
        self.counts.note(addresses.iter().copied())?;
        below.read_at(addresses, out)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = W::Elem>> {
        match self.below {
            Below::Whole(ref below) => below.stored(),
            _ => None,
        }
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = W::Elem>> {
        self.has_blocks.then_some(self as &dyn Blocks<Elem = W::Elem>)
    }
}

impl<W: Writer> Writer for Writing<'_, W> {
    fn write(&mut self, address: usize, value: W::Elem) {
        if let Ok(below) = self.whole_mut(address) {
            below.write(address, value);
        }
    }

    fn try_write(&mut self, address: usize, value: W::Elem) -> Result<(), StorageError> {
        self.counts.note_run(address, 1, 1)?;
        self.whole_mut(address)?.try_write(address, value)
    }

    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[W::Elem],
    ) -> Result<(), StorageError> {
        self.counts.note_run(start, step, from.len())?;
        self.whole_mut(start)?.write_run(start, step, from)
    }

    fn write_at(&mut self, addresses: &[usize], from: &[W::Elem]) -> Result<(), StorageError> {
        self.counts.note(addresses.iter().copied())?;
        let below = self.whole_mut(addresses.first().copied().unwrap_or(0))?;
        below.write_at(addresses, from)
    }

    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = W::Elem>> {
        if !self.has_blocks {
            return None;
        }
        self.below = match std::mem::replace(&mut self.below, Below::Gone) {
            Below::Whole(below) => below.blocks_mut().map_or(Below::Gone, Below::Blocks),
            blocks => blocks,
        };
        Some(self)
    }
}

/// Only there where the storage below has blocks that can be written.
impl<W: Writer> Blocks for Writing<'_, W> {
    type Elem = W::Elem;

    fn extents(&self) -> &[usize] {
        self.counts.sides.as_ref().map_or(&[], |sides| &sides.extents)
    }

    fn block(&self) -> &[usize] {
        self.counts.sides.as_ref().map_or(&[], |sides| &sides.block)
    }

    fn starts(&self, axis: usize) -> Option<Starts> {
        self.counts.sides.as_ref()?.starts.get(axis)?.clone()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, W::Elem>, StorageError> {
        let blocks = self.in_blocks()?;
        self.counts.note_block(index)?;
        blocks.load(index)
    }

    fn budget(&self) -> usize {
        self.counts.model.cached
    }

    fn expect(&self, next: &[BlockIndex]) {
        if let Ok(blocks) = self.in_blocks() {
            blocks.expect(next);
        }
    }
}

impl<W: Writer> BlocksMut for Writing<'_, W> {
    fn store(&self, index: &[usize], from: &[W::Elem]) -> Result<(), StorageError> {
        let blocks = self.in_blocks()?;
        self.counts.note_block(index)?;
        blocks.store(index, from)
    }

    fn change(
        &self,
        index: &[usize],
        change: &mut dyn FnMut(&mut [W::Elem]),
    ) -> Result<(), StorageError> {
        let blocks = self.in_blocks()?;
        self.counts.note_block(index)?;
        blocks.change(index, change)
    }

    fn finish(&self) -> Result<(), StorageError> {
        self.in_blocks()?.finish()
    }
}
