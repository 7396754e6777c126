//! Blocks of storages one after another.

use super::Concat;
use crate::error::{Result, StorageError};
use crate::grid::{Sides, sides_tell};
use crate::memory::try_with_capacity;
use crate::storage::{Block, BlockIndex, Blocks, Reader, Reshaped, joined_starts};

/// How the blocks of all parts are blocks of the whole.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    whole: Sides,
    /// The axis along which parts follow one another.
    axis: usize,
    parts: Vec<Reshaped>,
    /// The first block of each part along that axis.
    firsts: Vec<usize>,
}

impl Joint {
    /// `None` if not all parts have blocks of one extent that meet where parts do.
    pub(super) fn new<R: Reader>(
        parts: &[R],
        extents: &[usize],
        axis: usize,
    ) -> Result<Option<Self>> {
        let others = extents.iter().enumerate().filter(|(k, _)| *k != axis);
        let each = others.map(|(_, &extent)| extent).product::<usize>();
        let mut shape = extents.to_vec();
        let mut shown = try_with_capacity(parts.len())?;
        for part in parts {
            let Some(extent) = part.len().checked_div(each) else { return Ok(None) };
            shape[axis] = extent;
            let own = part.blocks().and_then(|blocks| Reshaped::new(blocks, &shape));
            let Some(own) = own else { return Ok(None) };
            shown.push(own);
        }
        Self::of(shown, extents, axis)
    }

    /// The same of parts of any storage, whose blocks are those of what is shown of them.
    fn of(shown: Vec<Reshaped>, extents: &[usize], axis: usize) -> Result<Option<Self>> {
        let Some(Reshaped { sides, .. }) = shown.first() else { return Ok(None) };
        if !shown.iter().all(|own| own.meets(&shown[0], axis)) {
            return Ok(None);
        }
        let (mut firsts, mut first) = (try_with_capacity(shown.len())?, 0);
        for own in &shown {
            firsts.push(first);
            first += own.sides.counts[axis];
        }
        let (block, mut starts) = (sides.block.clone(), sides.starts.clone());
        let mut along = try_with_capacity(shown.len())?;
        along.extend(
            shown
                .iter()
                .map(|Reshaped { sides, .. }| (sides.extents[axis], sides.starts[axis].as_ref())),
        );
        let Some(joined) = joined_starts(&along, block[axis])? else { return Ok(None) };
        starts[axis] = joined;
        let Ok(whole) = Sides::new(extents, &block, starts) else { return Ok(None) };
        Ok(Some(Self { whole, axis, parts: shown, firsts }))
    }

    /// The part that a block belongs to, and its index there.
    fn find(&self, index: &[usize]) -> Option<(usize, BlockIndex)> {
        self.whole.number(index)?;
        let digit = *index.get(self.axis)?;
        let part = self.firsts.partition_point(|&first| first <= digit).checked_sub(1)?;
        let mut own = BlockIndex::from(index);
        own[self.axis] = digit - self.firsts[part];
        Some((part, self.parts[part].own(&own)))
    }
}

/// Of blocks of all parts that meet where parts do, as [`Reader::blocks`] tells; without them, none of 0 elements.
impl<R: Reader> Blocks for Concat<R> {
    type Elem = R::Elem;

    sides_tell!(self => self.joint.as_ref().map(|joint| &joint.whole));

    fn load(&self, index: &[usize]) -> Result<Block<'_, R::Elem>, StorageError> {
        let found = self.joint.as_ref().and_then(|joint| joint.find(index));
        let part = found.as_ref().and_then(|(part, _)| self.parts.get(*part)?.blocks());
        let (Some((part, own)), Some(blocks)) = (found, part) else {
            return Err(StorageError::new(0, format!("there is no block {index:?}")));
        };
        blocks.load(&own).map_err(|error| self.error_in_whole(part, error))
    }

    fn budget(&self) -> usize {
        let budgets = self.parts.iter().filter_map(Reader::blocks).map(Blocks::budget);
        budgets.min().unwrap_or(0)
    }

    fn ahead(&self) -> usize {
        let aheads = self.parts.iter().filter_map(Reader::blocks).map(Blocks::ahead);
        aheads.max().unwrap_or(0)
    }

    fn expect(&self, next: &[BlockIndex]) {
        let Some(joint) = &self.joint else { return };
        let Ok(mut found) = try_with_capacity(next.len()) else { return };
        found.extend(next.iter().enumerate().filter_map(|(at, index)| {
            let (part, own) = joint.find(index)?;
            Some((part, at, own))
        }));
        // Each part once, as it may forget what it was told before.
        found.sort_unstable_by_key(|(part, at, _)| (*part, *at));
        for found in found.chunk_by(|(part, ..), (next, ..)| part == next) {
            let Some((part, ..)) = found.first() else { continue };
            let Some(blocks) = self.parts.get(*part).and_then(Reader::blocks) else { continue };
            let Ok(mut own) = try_with_capacity(found.len()) else { continue };
            own.extend(found.iter().map(|(.., index)| index.clone()));
            blocks.expect(&own);
        }
    }

    fn share(&self, elements: Vec<R::Elem>) -> Option<Block<'_, R::Elem>> {
        self.parts.first()?.blocks()?.share(elements)
    }
}
