//! Storage as the destination of an evaluation: boxes of results, written in order of storage.

use super::leaf::{
    ascending, blocks_of, copy_area, for_each_line, place, read_footprint, read_listed, relocated,
};
use super::node::Tree;
use super::prepared::Prepared;
use super::{Access, first_in_block};
use crate::error::{Error, Result, StorageError};
use crate::kernel::{
    Area, Footprint, Grid, Local, Operand, Run, Sink, Sinks, Source, Stop, Supply, evaluate_to,
};
use crate::map::AddressMap;
use crate::memory::{list, resize};
use crate::shape::Shape;
use crate::storage::{BlocksMut, Writer};
use std::sync::Arc;

fn failed(source: StorageError) -> Stop {
    Stop::Storage { leaf: 0, source }
}

/// Evaluates `source`, which reads the leaves of `e`, box by box to storage that is not memory; with `old`, on top
/// of the elements it has. [`finish`] ends the writing.
#[inline(never)]
pub(super) fn store<T: Copy + Send + Sync>(
    source: &dyn Source<T>,
    e: &dyn Tree,
    shape: &Shape,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
    old: bool,
) -> Result<(), Stop> {
    let output = Access::grid(&*storage).filter(|_| storage.blocks_mut().is_some());
    if let Some(grid) = output {
        let prepared = Prepared::with_output(e, shape, map, Access::Blocks(Arc::new(grid.clone())));
        let stages = prepared.stages();
        let operands = prepared.operands(&stages);
        if let Some(done) =
            BlockSink::store(source, &prepared.shape, &operands, old, &grid, storage)
        {
            return done.map_err(|stop| located(stop, &grid, map));
        }
    }
    let prepared = Prepared::with_output(e, shape, map, Access::Read { below: None });
    let stages = prepared.stages();
    let operands = prepared.operands(&stages);
    RunSink::store(source, &prepared.shape, &operands, old, storage)
}

/// A failure of a block of the destination as one of the first element that lies in it.
#[cold]
fn located(stop: Stop, grid: &Grid, map: &AddressMap) -> Stop {
    let Stop::Storage { leaf: 0, source } = stop else { return stop };
    match first_in_block(grid, map, source.address) {
        Some(index) => Error::Storage { index: Some(index.to_vec()), source }.into(),
        None => Stop::Storage { leaf: 0, source },
    }
}

/// Ends the writing of one assignment to a view of storage.
pub(crate) fn finish<T: Copy + Send + Sync>(
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Result<()> {
    let finished = storage.blocks_mut().map_or(Ok(()), |blocks| blocks.finish());
    finished.map_err(|source| {
        let grid = Access::grid(&*storage);
        match grid.and_then(|grid| first_in_block(&grid, map, source.address)) {
            Some(index) => Error::Storage { index: Some(index.to_vec()), source },
            None => failed_at(map, source),
        }
    })
}

/// An error of storage, with the first index that `map` shows it at.
pub(crate) fn failed_at(map: &AddressMap, source: StorageError) -> Error {
    let index = map.to_global(source.address).next().map(|index| index.to_vec());
    Error::Storage { index, source }
}

/// Storage that is written in runs.
struct RunSink<'s, T> {
    storage: &'s mut dyn Writer<Elem = T>,
    /// Where the elements of the open box belong.
    open: Where,
}

enum Where {
    Runs(Footprint),
    /// Addresses of the elements one by one, and their order.
    Listed {
        addresses: Vec<usize>,
        order: Vec<usize>,
    },
}

impl<'s, T: Copy + Send + Sync> RunSink<'s, T> {
    fn store(
        source: &dyn Source<T>,
        extents: &[usize],
        operands: &[Operand<'_>],
        old: bool,
        storage: &'s mut dyn Writer<Elem = T>,
    ) -> Result<(), Stop> {
        let open = Where::Listed { addresses: Vec::new(), order: Vec::new() };
        let mut sink = RunSink { storage, open };
        evaluate_to(source, extents, operands, old, &mut Sinks::One(&mut sink))
    }
}

impl<T: Copy + Send + Sync> Sink<T> for RunSink<'_, T> {
    #[inline(never)]
    fn open(
        &mut self,
        local: &mut Local<'_>,
        old: bool,
        memory: &mut Vec<T>,
    ) -> Result<usize, Stop> {
        if local.relocates[0].is_some() {
            let (order, addresses) = ascending(&relocated(local, 0)?)?;
            if old {
                read_listed(&*self.storage, &addresses, &order, memory)?.map_err(failed)?;
            }
            let held = addresses.len();
            self.open = Where::Listed { addresses, order };
            return Ok(held);
        }
        let footprint = Footprint::new(&mut local.nest, 0, &mut local.tables, false)?;
        local.supplies[0] = Supply::Memory;
        let held = footprint.len;
        if old {
            read_footprint(&*self.storage, &footprint, memory)?.map_err(failed)?;
        }
        self.open = Where::Runs(footprint);
        Ok(held)
    }

    fn expect(&mut self, _next: &mut dyn Iterator<Item = Local<'_>>) {}

    fn close(&mut self, elements: &[T]) -> Result<(), Stop> {
        let storage = &mut *self.storage;
        match &self.open {
            Where::Runs(footprint) => footprint.for_each_run(&mut |run| {
                let done = match run {
                    Run::Strided { start, step, to } => {
                        storage.write_run(start, step as isize, &elements[to])
                    }
                    Run::Listed { addresses, to } => storage.write_at(addresses, &elements[to]),
                };
                done.map_err(failed)
            }),
            Where::Listed { addresses, order } => {
                let ascending = list(order.iter().map(|&element| elements[element]))?;
                storage.write_at(addresses, &ascending).map_err(failed)
            }
        }
    }
}

/// Storage that is written in blocks, each of them once.
struct BlockSink<'s, T> {
    blocks: &'s dyn BlocksMut<Elem = T>,
    grid: &'s Grid,
    open: Option<Open>,
    block: Vec<T>,
}

/// A box that is evaluated, and which of its elements are written, if not all are.
struct Open {
    area: Area,
    own_places: Option<Vec<bool>>,
}

impl<'s, T: Copy + Send + Sync> BlockSink<'s, T> {
    /// `None`, with nothing written, if the destination does not follow the axes of the blocks.
    fn store(
        source: &dyn Source<T>,
        extents: &[usize],
        operands: &[Operand<'_>],
        old: bool,
        grid: &'s Grid,
        storage: &'s mut dyn Writer<Elem = T>,
    ) -> Option<Result<(), Stop>> {
        let blocks = storage.blocks_mut()?;
        let sink = || Self { blocks, grid, open: None, block: Vec::new() };
        let several = || Box::new(sink()) as Box<dyn Sink<T> + 's>;
        let done = evaluate_to(source, extents, operands, old, &mut Sinks::Many(&several));
        match done {
            Err(Stop::Done) => None,
            done => Some(done),
        }
    }

    /// Replaces a block by what the open box has of it.
    #[inline(never)]
    fn replace(
        &mut self,
        Open { area, own_places }: &Open,
        index: &[usize],
        elements: &[T],
    ) -> Result<(), Stop> {
        let (grid, sides) = (self.grid, area.sides());
        let own_places = own_places.as_deref();
        let (mut covered, mut exact) = (own_places.is_none(), true);
        for (axis, &digit) in index.iter().enumerate() {
            let block = grid.sides.range(axis, digit);
            covered &= area.low[axis] <= block.start && block.end <= area.high[axis] + 1;
            exact &= area.low[axis] == block.start
                && sides[axis] == grid.sides.block[axis]
                && grid.sides.skipped(axis, digit) == 0;
        }
        let failed =
            |error| failed(StorageError { address: grid.sides.first_address(index), ..error });
        if exact && covered {
            return self.blocks.store(index, elements).map_err(failed);
        }
        let Some(&seed) = elements.first() else { return Ok(()) };
        let mut overlay = |block: &mut [T]| {
            for_each_line(area, grid, index, &mut |from, start| {
                let to = block.get_mut(start..start + from.len()).unwrap_or_default();
                let own = &elements[from.clone()];
                match own_places {
                    None => to.iter_mut().zip(own).for_each(|(to, own)| *to = *own),
                    Some(places) => to
                        .iter_mut()
                        .zip(own)
                        .zip(&places[from])
                        .filter(|(_, is_own)| **is_own)
                        .for_each(|((to, own), _)| *to = *own),
                }
            });
        };
        if !covered {
            return self.blocks.change(index, &mut overlay).map_err(failed);
        }
        self.block.clear();
        resize(&mut self.block, grid.sides.block_len, seed)?;
        overlay(&mut self.block);
        self.blocks.store(index, &self.block).map_err(failed)
    }
}

impl<T: Copy + Send + Sync> Sink<T> for BlockSink<'_, T> {
    #[inline(never)]
    fn open(
        &mut self,
        local: &mut Local<'_>,
        old: bool,
        memory: &mut Vec<T>,
    ) -> Result<usize, Stop> {
        let area = Area::new(self.grid, &local.nest, 0, &local.tables).ok_or(Stop::Done)?;
        let sides = area.sides();
        let held: usize = sides.iter().product();
        let whole = local.nest.count() == held;
        if old || !whole {
            copy_area(self.blocks, self.grid, &area, memory).map_err(|e| e.stop(0))?;
        }
        place(local, 0, area.within(&area.low, &sides));
        let own_places = if whole { None } else { Some(local.places(0, held)?) };
        self.open = Some(Open { area, own_places });
        Ok(held)
    }

    fn expect(&mut self, next: &mut dyn Iterator<Item = Local<'_>>) {
        if self.blocks.ahead() > 0
            && let Some(next) = blocks_of(next, 0)
        {
            self.blocks.expect(&next);
        }
    }

    fn close(&mut self, elements: &[T]) -> Result<(), Stop> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let grid = self.grid;
        open.area.for_each_block(grid, &mut |index| self.replace(&open, index, elements))
    }
}
