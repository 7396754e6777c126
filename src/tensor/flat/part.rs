//! A part of storage in blocks: those of its blocks that it has elements of.

use super::Flat;
use crate::error::{Result, StorageError};
use crate::grid::{PerAxis, Sides, Starts, sides_tell};
use crate::map::AddressMap;
use crate::memory::try_with_capacity;
use crate::storage::{Block, BlockIndex, Blocks, MOST_STARTS, Reader};
use smallvec::SmallVec;

/// Where the blocks of a part lie among those of the whole.
#[derive(Debug, Clone)]
pub(super) struct Part {
    sides: Sides,
    /// The first block along each axis.
    first: PerAxis,
}

impl Part {
    /// Of a map that takes neighbours along some axes of a storage and one index of the others; `None` of any other one,
    /// and of storage without blocks.
    pub(super) fn new<S: Reader>(map: &AddressMap, storage: &S) -> Option<Self> {
        let whole = Sides::of_len(storage.blocks()?, storage.len())?;
        let axes = map.linear_axes()?.iter().filter(|own| own.extent != 1);
        let (mut axes, mut rest, mut weight) = (axes.peekable(), map.top().offset(), whole.len);
        let (mut extents, mut first, mut starts) =
            (PerAxis::new(), PerAxis::new(), SmallVec::<[Option<Starts>; 4]>::new());
        for (axis, &extent) in whole.extents.iter().enumerate() {
            weight = weight.checked_div(extent)?;
            let low = rest.checked_div(weight)?;
            rest %= weight;
            let own = axes.next_if(|own| {
                own.stride == weight as isize
                    && (1..=extent.saturating_sub(low)).contains(&own.extent)
            });
            extents.push(own.map_or(1, |own| own.extent));
            first.push(whole.block_at(axis, low));
            starts.push(starts_of(&whole, axis, low, extents[axis])?);
        }
        let sides = Sides::new(&extents, &whole.block, starts).ok()?;
        axes.next().is_none().then_some(Self { sides, first })
    }

    /// The index of a block among those of the whole.
    fn of_whole(&self, index: &[usize]) -> Option<BlockIndex> {
        self.sides.number(index)?;
        Some(index.iter().zip(&self.first).map(|(digit, first)| digit + first).collect())
    }
}

/// Where blocks begin in so many neighbours along an axis of the whole, `None` within if at multiples of their extent.
fn starts_of(whole: &Sides, axis: usize, low: usize, count: usize) -> Option<Option<Starts>> {
    let [first, last] = [low, low + count - 1].map(|digit| whole.block_at(axis, digit));
    let start = |number| whole.range(axis, number).start;
    if start(first) == low && whole.is_regular(axis) {
        return Some(None);
    }
    let blocks = last - first + 1;
    if blocks > MOST_STARTS {
        return None;
    }
    let (mut list, mut skipped) =
        (try_with_capacity(blocks).ok()?, try_with_capacity(blocks).ok()?);
    for number in first..=last {
        list.push(start(number).saturating_sub(low));
        skipped.push(whole.skipped(axis, number) + low.saturating_sub(start(number)));
    }
    Some(Some(Starts::new(list, count).ok()?.with_skipped(skipped)))
}

/// Of a part of storage in blocks along its axes; of any other view none of 0 elements, though [`Reader::blocks`] may tell
/// of those of the whole storage.
impl<S: Reader> Blocks for Flat<S> {
    type Elem = S::Elem;

    sides_tell!(self => self.part.as_ref().map(|part| &part.sides));

    fn load(&self, index: &[usize]) -> Result<Block<'_, S::Elem>, StorageError> {
        let own = self.part.as_ref().and_then(|part| Some((part, part.of_whole(index)?)));
        let (Some((part, own)), Some(blocks)) = (own, self.storage.blocks()) else {
            return Err(StorageError::new(0, format!("there is no block {index:?}")));
        };
        blocks.load(&own).map_err(|e| e.at(part.sides.first_address(index)))
    }

    fn budget(&self) -> usize {
        self.storage.blocks().map_or(0, Blocks::budget)
    }

    fn ahead(&self) -> usize {
        self.storage.blocks().map_or(0, Blocks::ahead)
    }

    fn expect(&self, next: &[BlockIndex]) {
        let (Some(part), Some(blocks)) = (&self.part, self.storage.blocks()) else { return };
        let Ok(mut own) = try_with_capacity(next.len()) else { return };
        own.extend(next.iter().filter_map(|index| part.of_whole(index)));
        blocks.expect(&own);
    }
}
