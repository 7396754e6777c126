//! Reading through the cache.

use super::{Ahead, Chunked, Inner};
use crate::error::StorageError;
use crate::grid::sides_tell;
use crate::memory::try_with_capacity;
use crate::storage::{Block, BlockIndex, Blocks, Reader, check_address, stepped};
use std::ops::Range;

/// Elements of a block from one place on.
pub(super) fn part<'b, T>(block: &'b Block<'_, T>, places: Range<usize>) -> &'b [T] {
    block.as_slice().and_then(|elements| elements.get(places)).unwrap_or_default()
}

/// The elements of a run that lie in one line of a block, from a place in that on.
pub(super) struct Part {
    pub(super) address: usize,
    pub(super) index: BlockIndex,
    pub(super) inside: usize,
    pub(super) count: usize,
}

/// Where one of several addresses lies.
pub(super) struct Listed {
    pub(super) block: usize,
    pub(super) number: usize,
    pub(super) inside: usize,
}

impl<S: Blocks> Inner<S>
where
    S::Elem: 'static,
{
    /// The first part of these elements of a run.
    pub(super) fn part(
        &self,
        start: usize,
        step: isize,
        left: Range<usize>,
    ) -> Result<Part, StorageError> {
        let address = stepped(start, step, left.start);
        check_address(address, self.sides.len)?;
        let (index, inside, before_end) = self.sides.find(address);
        let line = self.sides.block.last().copied().unwrap_or(1);
        let skipped =
            index.len().checked_sub(1).map_or(0, |axis| self.sides.skipped(axis, index[axis]));
        let count = match step {
            0 => usize::MAX,
            1.. => before_end.div_ceil(step.unsigned_abs()),
            _ => (inside % line - skipped) / step.unsigned_abs() + 1,
        };
        Ok(Part { address, index, inside, count: count.min(left.len()) })
    }

    /// Addresses block by block, those of a block in their order.
    pub(super) fn by_block(&self, addresses: &[usize]) -> Result<Vec<Listed>, StorageError> {
        let failed = |address: usize| move |error| StorageError::new(address, error);
        let first = addresses.first().copied().unwrap_or(0);
        let mut places = try_with_capacity(addresses.len()).map_err(failed(first))?;
        let (mut line, mut block, mut place) = (0..0, 0, 0);
        for (number, &address) in addresses.iter().enumerate() {
            check_address(address, self.sides.len)?;
            if !line.contains(&address) {
                let (index, inside, left) = self.sides.find(address);
                block = self.sides.number(&index).unwrap_or(usize::MAX);
                (line, place) = (address..address + left, inside);
            }
            places.push(Listed { block, number, inside: place + (address - line.start) });
        }
        if !places.is_sorted_by_key(|listed| listed.block) {
            places.sort_unstable_by_key(|listed| (listed.block, listed.number));
        }
        Ok(places)
    }
}

/// An element of a block.
fn element<T: Copy>(
    block: &Block<'_, T>,
    inside: usize,
    address: usize,
) -> Result<T, StorageError> {
    match (block, part(block, inside..inside + 1)) {
        (Block::Fill(value), _) | (_, [value]) => Ok(*value),
        _ => Err(StorageError::new(address, "a block became shorter")),
    }
}

impl<S: Blocks> Reader for Chunked<S>
where
    S::Elem: 'static,
{
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.inner.sides.len
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`, and if the block cannot be loaded.
    fn read(&self, address: usize) -> S::Elem {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check_address(address, self.inner.sides.len)?;
        let (index, inside, _) = self.inner.sides.find(address);
        let block = self.inner.load(&index, false).map_err(|e| e.at(address))?;
        element(&block, inside, address)
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let places = self.inner.by_block(&addresses[..addresses.len().min(out.len())])?;
        for places in places.chunk_by(|a, b| a.block == b.block) {
            let Some(first) = places.first() else { continue };
            let block = self.inner.load(&self.inner.sides.index(first.block), false);
            let address = addresses[first.number];
            let block = block.map_err(|e| e.at(address))?;
            for place in places {
                if let Some(slot) = out.get_mut(place.number) {
                    *slot = element(&block, place.inside, addresses[place.number])?;
                }
            }
        }
        Ok(())
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut done = 0;
        while done < out.len() {
            let Part { address, index, inside, count } =
                self.inner.part(start, step, done..out.len())?;
            let block = self.inner.load(&index, false).map_err(|e| e.at(address))?;
            let to = &mut out[done..done + count];
            match &block {
                Block::Fill(value) => to.fill(*value),
                _ if step == 1 => {
                    let from = part(&block, inside..inside + count);
                    if from.len() < count {
                        return Err(StorageError::new(address, "a block became shorter"));
                    }
                    to.copy_from_slice(from);
                }
                _ => {
                    for (k, slot) in to.iter_mut().enumerate() {
                        *slot = element(&block, stepped(inside, step, k), address)?;
                    }
                }
            }
            done += count;
        }
        Ok(())
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = S::Elem>> {
        Some(self)
    }
}

/// Through the cache.
impl<S: Blocks> Blocks for Chunked<S>
where
    S::Elem: 'static,
{
    type Elem = S::Elem;

    sides_tell!(self => Some(&self.inner.sides));

    fn load(&self, index: &[usize]) -> Result<Block<'_, S::Elem>, StorageError> {
        self.inner.load(index, false)
    }

    fn budget(&self) -> usize {
        self.inner.cache.capacity()
    }

    fn ahead(&self) -> usize {
        self.inner.ahead.as_ref().map_or(0, Ahead::threads)
    }

    fn expect(&self, next: &[BlockIndex]) {
        if let Some(ahead) = &self.inner.ahead
            && let Ok(mut numbers) = try_with_capacity(next.len())
        {
            numbers.extend(next.iter().filter_map(|index| self.inner.sides.number(index)));
            ahead.expect(numbers);
        }
    }

    fn share(&self, elements: Vec<S::Elem>) -> Option<Block<'_, S::Elem>> {
        Some(elements.into())
    }
}
