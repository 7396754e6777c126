//! Blocks of storages one after another.

use super::Concat;
use crate::error::StorageError;
use crate::memory::try_with_capacity;
use crate::storage::{Block, BlockIndex, Blocks, Reader, Reshaped, joined_starts};
use std::sync::Arc;

/// How the blocks of all parts are blocks of the whole.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    extents: Vec<usize>,
    block: Vec<usize>,
    starts: Vec<Option<Arc<[usize]>>>,
    /// The axis along which parts follow one another.
    axis: usize,
    parts: Vec<Reshaped>,
    /// The first block of each part along that axis.
    firsts: Vec<usize>,
}

impl Joint {
    /// `None` if not all parts have blocks of one extent that meet where parts do.
    pub(super) fn new<R: Reader>(parts: &[R], extents: &[usize], axis: usize) -> Option<Self> {
        let others = extents.iter().enumerate().filter(|(k, _)| *k != axis);
        let each = others.map(|(_, &extent)| extent).product::<usize>();
        let (mut shape, mut first) = (extents.to_vec(), 0);
        let mut shown: Vec<Reshaped> = try_with_capacity(parts.len()).ok()?;
        let mut firsts = try_with_capacity(parts.len()).ok()?;
        for part in parts {
            shape[axis] = part.len().checked_div(each)?;
            let own = Reshaped::new(part.blocks()?, &shape)?;
            let meets = |other: &Reshaped| {
                let starts = own.sides.starts.iter().zip(&other.sides.starts).enumerate();
                own.sides.block == other.sides.block
                    && starts.filter(|(k, _)| *k != axis).all(|(_, (a, b))| a == b)
            };
            if !shown.first().is_none_or(meets) {
                return None;
            }
            firsts.push(first);
            first += own.sides.counts[axis];
            shown.push(own);
        }
        let sides = &shown.first()?.sides;
        let (block, mut starts) = (sides.block.clone(), sides.starts.clone());
        let mut along = try_with_capacity(parts.len()).ok()?;
        along.extend(
            shown
                .iter()
                .map(|Reshaped { sides, .. }| (sides.extents[axis], sides.starts[axis].as_deref())),
        );
        starts[axis] = joined_starts(&along, block[axis])?;
        Some(Self { extents: extents.to_vec(), block, starts, axis, parts: shown, firsts })
    }

    /// The part that a block belongs to, and its index there.
    fn find(&self, index: &[usize]) -> Option<(usize, BlockIndex)> {
        let digit = *index.get(self.axis)?;
        let part = self.firsts.partition_point(|&first| first <= digit).checked_sub(1)?;
        let mut own = BlockIndex::from(index);
        own[self.axis] = digit - self.firsts[part];
        Some((part, self.parts[part].own(&own)))
    }
}

/// Of blocks of all parts that meet where parts do, as [`Reader::blocks`] tells.
impl<R: Reader> Blocks for Concat<R> {
    type Elem = R::Elem;

    fn extents(&self) -> &[usize] {
        self.joint.as_ref().map_or(&[], |joint| &joint.extents)
    }

    fn block(&self) -> &[usize] {
        self.joint.as_ref().map_or(&[], |joint| &joint.block)
    }

    fn starts(&self, axis: usize) -> Option<Arc<[usize]>> {
        self.joint.as_ref()?.starts.get(axis)?.clone()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, R::Elem>, StorageError> {
        let found = self.joint.as_ref().and_then(|joint| joint.find(index));
        let part = found.as_ref().and_then(|(part, _)| self.parts.get(*part)?.blocks());
        let (Some((part, own)), Some(blocks)) = (found, part) else {
            return Err(StorageError::new(0, format!("there is no block {index:?}")));
        };
        blocks.load(&own).map_err(|error| self.address_of(part, error))
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
        found.extend(next.iter().filter_map(|index| joint.find(index)));
        for found in found.chunk_by(|(part, _), (next, _)| part == next) {
            let Some((part, _)) = found.first() else { continue };
            let Some(blocks) = self.parts.get(*part).and_then(Reader::blocks) else { continue };
            let Ok(mut own) = try_with_capacity(found.len()) else { continue };
            own.extend(found.iter().map(|(_, index)| index.clone()));
            blocks.expect(&own);
        }
    }
}
