//! Boxes of storage that is not memory, brought to memory: bound to a block where they lie in one, copied in order of
//! storage otherwise.

use super::blocks::{copy_area, load, place};
use super::{LeafCursor, Memory};
use crate::error::{Error, Result, StorageError};
use crate::kernel::{Area, Footprint, Grid, Local, Run, Stop, Supply};
use crate::memory::{list, refill, resize};
use crate::storage::{Block, BlockIndex, Blocks, Reader};
use smallvec::SmallVec;
use std::borrow::{Borrow, Cow};
use std::sync::Arc;

impl<'a, T: Copy + Send + Sync> LeafCursor<'a, T> {
    /// Brings what operand `k` has in a box to memory.
    #[inline(never)]
    pub(in crate::expr) fn load_box(
        &mut self,
        local: &mut Local<'_>,
        k: usize,
    ) -> Result<(), Stop> {
        let grid = match local.supplies[k] {
            Supply::Memory => return Ok(()),
            Supply::Runs => None,
            Supply::Blocks(grid) => Some(grid),
        };
        let failed = |source| Stop::Storage { leaf: k, source };
        if let Some((grid, blocks)) = grid.zip(self.storage.blocks())
            && local.relocates[k].is_none()
            && let Some(area) = Area::to_copy(grid, &local.nest, k, &local.tables)
        {
            return self.load_area(blocks, grid, &area, local, k);
        }
        if self.load_cover(local, k)? {
            return Ok(());
        }
        let mut copy = self.take_copy();
        let found = copied(&*self.storage, local, (k, grid.is_none()), &mut copy)?;
        self.memory = Memory::Copied(Arc::new(copy));
        found.map_err(failed)
    }

    /// Memory of an earlier copy, which is not needed any more.
    fn take_copy(&mut self) -> Vec<T> {
        match std::mem::replace(&mut self.memory, Memory::None) {
            Memory::Copied(copy) => Arc::try_unwrap(copy).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    #[inline(never)]
    fn load_area(
        &mut self,
        blocks: &'a dyn Blocks<Elem = T>,
        grid: &Grid,
        area: &Area,
        local: &mut Local<'_>,
        k: usize,
    ) -> Result<(), Stop> {
        let failed = |source| Stop::Storage { leaf: k, source };
        let Some(index) = area.only_block(grid) else {
            let mut copy = self.take_copy();
            copy_area(blocks, grid, area, &mut copy).map_err(|error| error.stop(k))?;
            self.memory = Memory::Copied(Arc::new(copy));
            place(local, k, area.within(&area.low, &area.sides()));
            return Ok(());
        };
        let block = load(blocks, grid, &index).map_err(failed)?;
        let mut within = area.within(&grid.sides.origin(&index), &grid.sides.block);
        self.memory = match block {
            Block::Borrowed(elements) => Memory::Borrowed(elements),
            Block::Shared(elements) => Memory::Block(elements, grid.sides.block_len),
            Block::Fill(value) => {
                within.0 = 0;
                within.1.fill(0);
                let mut copy = self.take_copy();
                refill(&mut copy, std::iter::once(value))?;
                Memory::Copied(Arc::new(copy))
            }
        };
        place(local, k, within);
        Ok(())
    }

    /// What storage reports for the first element of operand `k` in a box that it fails at, and the address of that
    /// element in operand 0. Storage is asked once for each address or block, in ascending order.
    #[inline(never)]
    pub(in crate::expr) fn first_failure(
        &self,
        local: &Local<'_>,
        k: usize,
    ) -> Result<Option<(usize, StorageError)>> {
        let read = |address| self.storage.try_read(address).map(drop);
        let blocks = self.storage.blocks();
        let load = blocks
            .map(|blocks| move |grid: &Grid, index: &[usize]| load(blocks, grid, index).map(drop));
        first_failure(local, k, &read, load.as_ref().map(|load| load as Load<'_>))
    }

    /// Tells storage in blocks of the boxes to come.
    pub(in crate::expr) fn expect_boxes(&mut self, boxes: &[Local<'_>], k: usize) {
        if let Some(blocks) = self.storage.blocks()
            && let Some(next) = blocks_of(boxes.iter(), k)
        {
            blocks.expect(&next);
        }
    }
}

/// Loads a block of storage.
type Load<'a> = &'a dyn Fn(&Grid, &[usize]) -> Result<(), StorageError>;

/// [`LeafCursor::first_failure`] of storage that is read so, or loaded if it comes in blocks.
fn first_failure(
    local: &Local<'_>,
    k: usize,
    read: &dyn Fn(usize) -> Result<(), StorageError>,
    load: Option<Load<'_>>,
) -> Result<Option<(usize, StorageError)>> {
    if local.supplies[k] == Supply::Memory {
        return Ok(None);
    }
    // Where it stays, its first element is that of the lowest position.
    let loops = 0..local.nest.loops.len();
    let (moving, still): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) =
        loops.partition(|&l| local.nest.loops[l].steps[k].stride != 0);
    let before = local.lowest_along(0, &still);
    let mut first: Option<(usize, StorageError)> = None;
    let mut note = |position: usize, error: &StorageError| {
        if first.as_ref().is_none_or(|(known, _)| position < *known) {
            first = Some((position, error.clone()));
        }
    };
    let positions = || -> Result<Vec<usize>> {
        let mut positions = local.addresses(0, &moving)?;
        positions.iter_mut().for_each(|p| *p = p.wrapping_add_signed(before));
        Ok(positions)
    };
    let blocks = match local.supplies[k] {
        Supply::Blocks(grid) => load.map(|load| (grid, load)),
        _ => None,
    };
    if let (Some((grid, load)), None) = (blocks, local.relocates[k])
        && let Some(area) = Area::to_copy(grid, &local.nest, k, &local.tables)
    {
        let mut failed: Vec<(BlockIndex, StorageError)> = Vec::new();
        area.for_each_block(grid, &mut |index| {
            if let Err(error) = load(grid, index) {
                failed.push((index.into(), error));
            }
            Ok::<(), Error>(())
        })?;
        if let ([(_, error)], Some(_)) = (&failed[..], area.only_block(grid)) {
            note(local.lowest(0), error);
        } else if !failed.is_empty() {
            for (position, address) in positions()?.into_iter().zip(local.addresses(k, &moving)?) {
                let index = grid.sides.find(address).0;
                // Blocks were loaded in order.
                if let Ok(at) = failed.binary_search_by(|(own, _)| own[..].cmp(&index[..])) {
                    note(position, &failed[at].1);
                }
            }
        }
        return Ok(first);
    }
    let positions = positions()?;
    // What is asked for once: an address, or the number of a block.
    let mut asked = local.addresses(k, &moving)?;
    if let Some(relocate) = local.relocates[k] {
        relocate.relocate(&mut asked);
    }
    if let Some((grid, _)) = blocks {
        let number = |address| grid.sides.number(&grid.sides.find(address).0).unwrap_or(0);
        asked.iter_mut().for_each(|asked| *asked = number(*asked));
    }
    let mut order = list(0..asked.len())?;
    order.sort_unstable_by_key(|&element| (asked[element], positions[element]));
    let mut last = None;
    for element in order {
        // Elements of one block or address follow one another, the first of them first.
        let own = asked[element];
        if last == Some(own) {
            continue;
        }
        let found = match blocks {
            Some((grid, load)) => load(grid, &grid.sides.index(own)),
            None => read(own),
        };
        if let Err(error) = found {
            note(positions[element], &error);
        }
        last = Some(own);
    }
    Ok(first)
}

/// Blocks that storage is told of at once.
const TOLD: usize = 1 << 12;

/// The first blocks of operand `k` in some boxes, as they are needed; `None` if a box is not read in blocks.
pub(in crate::expr) fn blocks_of<'l>(
    boxes: impl Iterator<Item: Borrow<Local<'l>>>,
    k: usize,
) -> Option<Vec<BlockIndex>> {
    let mut next: Vec<BlockIndex> = Vec::new();
    for local in boxes {
        let local = local.borrow();
        let (Supply::Blocks(grid), None) = (local.supplies[k], local.relocates[k]) else {
            return None;
        };
        let Some(area) = Area::to_copy(grid, &local.nest, k, &local.tables) else { continue };
        let told = area.for_each_block(grid, &mut |index| {
            if next.last().is_none_or(|last| last[..] != *index) {
                next.push(index.into());
            }
            if next.len() < TOLD { Ok(()) } else { Err(()) }
        });
        if told.is_err() {
            break;
        }
    }
    Some(next)
}

/// The order in which addresses ascend, and the addresses in that order.
pub(in crate::expr) fn ascending(addresses: &[usize]) -> Result<(Vec<usize>, Vec<usize>)> {
    let mut order = list(0..addresses.len())?;
    if !addresses.is_sorted() {
        order.sort_unstable_by_key(|&element| addresses[element]);
    }
    let sorted = list(order.iter().map(|&element| addresses[element]))?;
    Ok((order, sorted))
}

/// Copies the elements of operand `k` in a box in ascending order of address, and puts it where the copy is. Runs may
/// have elements that the box does not, if there may be `gaps`.
#[inline(never)]
fn copied<T: Copy + Send + Sync>(
    storage: &dyn Reader<Elem = T>,
    local: &mut Local<'_>,
    (k, gaps): (usize, bool),
    copy: &mut Vec<T>,
) -> Result<Result<(), StorageError>> {
    if local.relocates[k].is_some() {
        let (order, ascending) = ascending(&relocated(local, k)?)?;
        return read_listed(storage, &ascending, &order, copy);
    }
    let before = local.nest.clone();
    let footprint = Footprint::new(&mut local.nest, k, &mut local.tables, gaps)?;
    local.supplies[k] = Supply::Memory;
    match read_footprint(storage, &footprint, copy)? {
        // What lies between the elements may fail without harm.
        Err(_) if gaps => {
            local.nest = before;
            let exact = Footprint::new(&mut local.nest, k, &mut local.tables, false)?;
            read_footprint(storage, &exact, copy)
        }
        done => Ok(done),
    }
}

/// The addresses of all elements of operand `k`, in the order of the loops in which it moves; it is put where they are
/// copied in this order.
pub(in crate::expr) fn relocated(local: &mut Local<'_>, k: usize) -> Result<Vec<usize>> {
    let nest = &local.nest;
    let moving = (0..nest.loops.len()).filter(|&l| nest.loops[l].steps[k].stride != 0);
    let moving: SmallVec<[usize; 4]> = moving.collect();
    let mut addresses = local.addresses(k, &moving)?;
    if let Some(relocate) = local.relocates[k].take() {
        relocate.relocate(&mut addresses);
    }
    let (mut stride, nest) = (1, &mut local.nest);
    for &l in moving.iter().rev() {
        nest.loops[l].steps[k].table = None;
        nest.loops[l].steps[k].stride = stride;
        stride *= nest.loops[l].extent as isize;
    }
    nest.bases[k] = 0;
    local.supplies[k] = Supply::Memory;
    Ok(addresses)
}

/// Copies the elements at ascending addresses, each to its place in `order`: one that is there several times is read once.
#[inline(never)]
pub(in crate::expr) fn read_listed<T: Copy + Send + Sync>(
    storage: &dyn Reader<Elem = T>,
    ascending: &[usize],
    order: &[usize],
    copy: &mut Vec<T>,
) -> Result<Result<(), StorageError>> {
    let Some(&first) = ascending.first() else { return Ok(Ok(())) };
    let seed = match storage.try_read(first) {
        Ok(seed) => seed,
        Err(error) => return Ok(Err(error)),
    };
    let mut once = Cow::Borrowed(ascending);
    if ascending.windows(2).any(|pair| pair[0] == pair[1]) {
        let mut distinct = list(ascending.iter().copied())?;
        distinct.dedup();
        once = Cow::Owned(distinct);
    }
    let mut found = Vec::new();
    resize(&mut found, once.len(), seed)?;
    if let Err(error) = storage.read_at(&once, &mut found) {
        return Ok(Err(error));
    }
    resize(copy, ascending.len().max(copy.len()), seed)?;
    let mut at = 0;
    for (&element, &address) in order.iter().zip(ascending) {
        at += usize::from(once[at] != address);
        copy[element] = found[at];
    }
    Ok(Ok(()))
}

/// Copies the runs of a footprint.
#[inline(never)]
pub(in crate::expr) fn read_footprint<T: Copy + Send + Sync>(
    storage: &dyn Reader<Elem = T>,
    footprint: &Footprint,
    copy: &mut Vec<T>,
) -> Result<Result<(), StorageError>> {
    // Memory has to hold elements before it is lent: those of the first one, which is not read again then.
    let mut known = 0;
    if copy.len() < footprint.len {
        match storage.try_read(footprint.first()) {
            Ok(seed) => resize(copy, footprint.len, seed)?,
            Err(error) => return Ok(Err(error)),
        }
        copy[0] = copy[footprint.len - 1];
        known = 1;
    }
    let mut failed = Ok(());
    let done = footprint.for_each_run(&mut |run| {
        let skip = std::mem::take(&mut known);
        let done = match run {
            Run::Strided { start, step, to } => {
                let start = start.wrapping_add(skip * step);
                match &mut copy[to.start + skip..to.end] {
                    [] => Ok(()),
                    [element] => storage.try_read(start).map(|read| *element = read),
                    run => storage.read_run(start, step as isize, run),
                }
            }
            Run::Listed { addresses, to } => {
                storage.read_at(&addresses[skip..], &mut copy[to.start + skip..to.end])
            }
        };
        done.map_err(|error| {
            failed = Err(error);
            Stop::Done
        })
    });
    match done {
        Err(Stop::Error(error)) => Err(*error),
        _ => Ok(failed),
    }
}
