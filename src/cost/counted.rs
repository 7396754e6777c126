//! Storage that counts.

use super::{Cost, Model};
use crate::error::StorageError;
use crate::grid::{Sides, sides_tell};
use crate::storage::{Block, BlockIndex, Blocks, Reader, Stored, stepped};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Storage that counts what it is asked.
pub(super) struct Counted<R> {
    pub(super) below: R,
    pub(super) counts: Counts,
    /// Whether it tells of blocks.
    in_blocks: bool,
}

/// What a storage was asked, and what is known of it.
pub(super) struct Counts {
    /// Of blocks, if there are any.
    pub(super) sides: Option<Sides>,
    pub(super) len: usize,
    pub(super) model: Model,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) cost: Cost,
    /// Blocks that are kept, by when they were used last, and when that was.
    kept: BTreeMap<usize, usize>,
    used: HashMap<usize, usize>,
    uses: usize,
    /// An address that cannot be read.
    pub(super) fails: Option<usize>,
}

impl<R: Reader> Counted<R> {
    pub(super) fn new(below: R, model: Model) -> Self {
        let counts = Counts::new(&below, model);
        Self { in_blocks: counts.sides.is_some(), below, counts }
    }

    /// Storage that is asked for elements alone, whatever blocks it has.
    pub(super) fn by_addresses(below: R, model: Model) -> Self {
        Self { in_blocks: false, ..Self::new(below, model) }
    }
}

impl Counts {
    pub(super) fn new<R: Reader>(of: &R, model: Model) -> Self {
        let model = Model { block: model.block.max(1), ..model };
        let sides = of.blocks().and_then(|blocks| Sides::of_len(blocks, of.len()));
        Self { sides, len: of.len(), model, state: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn cost(&self) -> Cost {
        self.state().cost.clone()
    }

    pub(super) fn reset(&self) {
        let fails = self.state().fails;
        *self.state() = State { fails, ..State::default() };
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        match &self.sides {
            Some(sides) => sides.counts.iter().product(),
            None => self.len.div_ceil(self.model.block),
        }
    }

    /// The number of the block that has an address.
    fn block_of(&self, address: usize) -> usize {
        match &self.sides {
            Some(sides) => sides.number(&sides.find(address).0).unwrap_or(usize::MAX),
            None => address / self.model.block,
        }
    }

    /// Notes a call for elements at these addresses.
    pub(super) fn note(
        &self,
        addresses: impl ExactSizeIterator<Item = usize>,
    ) -> Result<(), StorageError> {
        let mut state = self.state();
        state.call(addresses.len());
        for address in addresses {
            let block = self.block_of(address);
            if state.kept.last_key_value().is_none_or(|(_, last)| *last != block) {
                state.visit(block, self.model.cached);
            }
            if state.fails == Some(address) {
                return Err(StorageError::new(address, "it was asked to fail"));
            }
        }
        Ok(())
    }

    pub(super) fn note_run(
        &self,
        start: usize,
        step: isize,
        count: usize,
    ) -> Result<(), StorageError> {
        self.note((0..count).map(|k| stepped(start, step, k)))
    }

    /// Notes a call for all of a block.
    pub(super) fn note_block(&self, index: &[usize]) -> Result<(), StorageError> {
        let Some(sides) = &self.sides else {
            return Err(StorageError::new(0, "there are no blocks"));
        };
        let number = sides.number(index).unwrap_or(usize::MAX);
        let mut state = self.state();
        state.call(sides.block_len);
        state.visit(number, self.model.cached);
        if state.fails.is_some_and(|address| self.block_of(address) == number) {
            return Err(StorageError::new(0, "it was asked to fail"));
        }
        Ok(())
    }
}

impl State {
    /// A call for so many elements.
    fn call(&mut self, elements: usize) {
        self.cost.calls += 1;
        self.cost.elements += elements;
        self.cost.longest = self.cost.longest.max(elements);
    }

    /// A block is used.
    fn visit(&mut self, block: usize, cached: usize) {
        self.uses += 1;
        match self.used.insert(block, self.uses) {
            Some(before) => drop(self.kept.remove(&before)),
            None => self.cost.loads += 1,
        }
        self.kept.insert(self.uses, block);
        if self.kept.len() > cached.max(1)
            && let Some((_, oldest)) = self.kept.pop_first()
        {
            self.used.remove(&oldest);
        }
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
        self.counts.note_run(address, 1, 1)?;
        self.below.try_read(address)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [R::Elem]) -> Result<(), StorageError> {
        self.counts.note_run(start, step, out.len())?;
        self.below.read_run(start, step, out)
    }

    fn read_at(&self, addresses: &[usize], out: &mut [R::Elem]) -> Result<(), StorageError> {
        self.counts.note(addresses.iter().copied())?;
        self.below.read_at(addresses, out)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = R::Elem>> {
        self.below.stored()
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = R::Elem>> {
        self.in_blocks.then_some(self as &dyn Blocks<Elem = R::Elem>)
    }
}

/// Only there where the storage below has blocks.
impl<R: Reader> Blocks for Counted<R> {
    type Elem = R::Elem;

    sides_tell!(self => self.counts.sides.as_ref());

    fn load(&self, index: &[usize]) -> Result<Block<'_, R::Elem>, StorageError> {
        let Some(blocks) = self.below.blocks() else {
            return Err(StorageError::new(0, "there are no blocks any more"));
        };
        self.counts.note_block(index)?;
        blocks.load(index)
    }

    fn budget(&self) -> usize {
        self.counts.model.cached
    }

    fn expect(&self, next: &[BlockIndex]) {
        if let Some(blocks) = self.below.blocks() {
            blocks.expect(next);
        }
    }

    fn share(&self, elements: Vec<R::Elem>) -> Option<Block<'_, R::Elem>> {
        self.below.blocks()?.share(elements)
    }
}
