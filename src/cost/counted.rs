//! Storage that counts.

use super::{Cost, Model};
use crate::error::StorageError;
use crate::grid::{Sides, Starts};
use crate::storage::{Block, BlockIndex, Blocks, Reader, Stored, Writer};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Storage that counts what it is asked.
pub(super) struct Counted<R> {
    below: R,
    /// Of blocks, if there are any.
    sides: Option<Sides>,
    model: Model,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) cost: Cost,
    /// Blocks that are kept, those used last in front.
    kept: VecDeque<usize>,
    /// An address that cannot be read.
    pub(super) fails: Option<usize>,
}

impl<R: Reader> Counted<R> {
    pub(super) fn new(below: R, model: Model) -> Self {
        let model = Model { block: model.block.max(1), ..model };
        let sides = below.blocks().and_then(|blocks| Sides::of(blocks).ok());
        Self { below, sides, model, state: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn reset(&self) {
        let fails = self.state().fails;
        *self.state() = State { fails, ..State::default() };
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        match &self.sides {
            Some(sides) => sides.counts.iter().product(),
            None => self.below.len().div_ceil(self.model.block),
        }
    }

    /// Notes a call for elements at these addresses.
    fn note(&self, addresses: impl ExactSizeIterator<Item = usize>) -> Result<(), StorageError> {
        let mut state = self.state();
        let count = addresses.len();
        state.cost.calls += 1;
        state.cost.elements += count;
        state.cost.longest = state.cost.longest.max(count);
        for address in addresses {
            let block = address / self.model.block;
            if state.kept.front() != Some(&block) {
                state.visit(block, self.model.cached);
            }
            if state.fails == Some(address) {
                return Err(StorageError::new(address, "it was asked to fail"));
            }
        }
        Ok(())
    }

    fn note_run(&self, start: usize, step: isize, count: usize) -> Result<(), StorageError> {
        let at = |k: usize| start.wrapping_add_signed(step.wrapping_mul(k as isize));
        self.note((0..count).map(at))
    }
}

impl State {
    /// A block is used.
    fn visit(&mut self, block: usize, cached: usize) {
        match self.kept.iter().position(|&kept| kept == block) {
            Some(place) => {
                self.kept.remove(place);
            }
            None => self.cost.loads += 1,
        }
        self.kept.push_front(block);
        self.kept.truncate(cached.max(1));
    }
}

impl<R: Reader> Reader for Counted<R> {
    type Elem = R::Elem;

    fn len(&self) -> usize {
        self.below.len()
    }

    /// # Panics
    ///
    /// As the storage does.
    fn read(&self, address: usize) -> R::Elem {
        self.below.read(address)
    }

    fn try_read(&self, address: usize) -> Result<R::Elem, StorageError> {
        self.note_run(address, 1, 1)?;
        self.below.try_read(address)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [R::Elem]) -> Result<(), StorageError> {
        self.note_run(start, step, out.len())?;
        self.below.read_run(start, step, out)
    }

    fn read_at(&self, addresses: &[usize], out: &mut [R::Elem]) -> Result<(), StorageError> {
        self.note(addresses.iter().copied())?;
        self.below.read_at(addresses, out)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = R::Elem>> {
        self.below.stored()
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = R::Elem>> {
        self.sides.as_ref().map(|_| self as &dyn Blocks<Elem = R::Elem>)
    }
}

impl<W: Writer> Writer for Counted<W> {
    fn write(&mut self, address: usize, value: W::Elem) {
        self.below.write(address, value);
    }

    fn try_write(&mut self, address: usize, value: W::Elem) -> Result<(), StorageError> {
        self.note_run(address, 1, 1)?;
        self.below.try_write(address, value)
    }

    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[W::Elem],
    ) -> Result<(), StorageError> {
        self.note_run(start, step, from.len())?;
        self.below.write_run(start, step, from)
    }

    fn write_at(&mut self, addresses: &[usize], from: &[W::Elem]) -> Result<(), StorageError> {
        self.note(addresses.iter().copied())?;
        self.below.write_at(addresses, from)
    }
}

/// Only there where the storage below has blocks.
impl<R: Reader> Blocks for Counted<R> {
    type Elem = R::Elem;

    fn extents(&self) -> &[usize] {
        self.sides.as_ref().map_or(&[], |sides| &sides.extents)
    }

    fn block(&self) -> &[usize] {
        self.sides.as_ref().map_or(&[], |sides| &sides.block)
    }

    fn starts(&self, axis: usize) -> Option<Starts> {
        self.sides.as_ref()?.starts.get(axis)?.clone()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, R::Elem>, StorageError> {
        let (Some(blocks), Some(sides)) = (self.below.blocks(), &self.sides) else {
            return Err(StorageError::new(0, "there are no blocks any more"));
        };
        let number = sides.number(index).unwrap_or(usize::MAX);
        {
            let mut state = self.state();
            let elements = sides.block_len;
            state.cost.calls += 1;
            state.cost.elements += elements;
            state.cost.longest = state.cost.longest.max(elements);
            state.visit(number, self.model.cached);
            if number.wrapping_add(1) == self.count() && state.fails.is_some() {
                return Err(StorageError::new(0, "it was asked to fail"));
            }
        }
        blocks.load(index)
    }

    fn budget(&self) -> usize {
        self.model.cached
    }

    fn expect(&self, next: &[BlockIndex]) {
        if let Some(blocks) = self.below.blocks() {
            blocks.expect(next);
        }
    }
}
