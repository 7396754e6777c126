//! Addresses among blocks.

use super::blocks::{BlockIndex, Blocks};
use crate::error::Result;
use crate::grid::{Sides, Starts};
use crate::memory::try_with_capacity;
use smallvec::SmallVec;

impl Sides {
    /// Of a storage, as it told them once.
    pub(crate) fn of<B: Blocks + ?Sized>(blocks: &B) -> Result<Self> {
        let (extents, block) = (blocks.extents(), blocks.block());
        Self::new(extents, block, (0..extents.len()).map(|axis| blocks.starts(axis)).collect())
    }

    /// The same, if they make storage of so many elements.
    pub(crate) fn of_len<B: Blocks + ?Sized>(blocks: &B, len: usize) -> Option<Self> {
        Self::of(blocks).ok().filter(|sides| sides.len == len)
    }
}

/// Most blocks along an axis that are told one by one.
pub(crate) const MOST_STARTS: usize = 1 << 20;

/// Parts that follow one another along an axis, each an extent and where its blocks begin: where the blocks of all
/// begin, `None` again if at multiples of their extent; `None` if those are more than are told one by one.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn joined_starts(
    parts: &[(usize, Option<&Starts>)],
    block: usize,
) -> Result<Option<Option<Starts>>> {
    let last = parts.iter().rposition(|(extent, _)| *extent > 0).unwrap_or(0);
    let is_regular = |(k, (extent, starts)): (usize, &(usize, Option<&Starts>))| {
        starts.is_none() && (k >= last || extent.is_multiple_of(block))
    };
    if parts.iter().enumerate().all(is_regular) {
        return Ok(Some(None));
    }
    let count = |(extent, starts): &(usize, Option<&Starts>)| {
        starts.map_or(extent.div_ceil(block), |starts| starts.as_slice().len())
    };
    let all = parts.iter().map(count).fold(0, usize::saturating_add);
    if all > MOST_STARTS {
        return Ok(None);
    }
    let (mut joined, mut skipped) = (try_with_capacity(all)?, try_with_capacity(all)?);
    let mut before = 0;
    for part in parts {
        let own = |k: usize| part.1.map_or(k * block, |starts| starts.as_slice()[k]);
        joined.extend((0..count(part)).map(|k| before + own(k)));
        skipped.extend((0..count(part)).map(|k| part.1.map_or(0, |starts| starts.skipped(k))));
        before += part.0;
    }
    Starts::new(joined, before).map(|starts| Some(Some(starts.with_skipped(skipped))))
}

/// Blocks under a shape that differs from their extents in axes of one index.
#[derive(Debug, Clone)]
pub(crate) struct Reshaped {
    /// Along the axes of the shape.
    pub(crate) sides: Sides,
    /// The axis of the shape that each axis of the storage is.
    axes: SmallVec<[Option<usize>; 4]>,
}

impl Reshaped {
    /// `None` if the blocks do not follow the shape.
    pub(crate) fn new<B: Blocks + ?Sized>(blocks: &B, shape: &[usize]) -> Option<Self> {
        let own = Sides::of(blocks).ok()?;
        let mut axes = SmallVec::new();
        let (mut block, mut starts) = (SmallVec::<[usize; 4]>::new(), SmallVec::new());
        for (k, &extent) in own.extents.iter().enumerate() {
            let rest = shape.get(block.len()..)?;
            // Axes of one index that the storage has not are passed.
            let next = match rest.iter().take_while(|&&n| n != extent).all(|&n| n == 1) {
                true => rest.iter().position(|&n| n == extent),
                false => None,
            };
            let Some(next) = next else {
                // One of the storage that the shape has not.
                if (extent, own.block[k]) != (1, 1) {
                    return None;
                }
                axes.push(None);
                continue;
            };
            block.resize(block.len() + next, 1);
            starts.resize(block.len(), None);
            axes.push(Some(block.len()));
            block.push(own.block[k]);
            starts.push(own.starts[k].clone());
        }
        if shape.get(block.len()..)?.iter().any(|&n| n != 1) {
            return None;
        }
        block.resize(shape.len(), 1);
        starts.resize(shape.len(), None);
        let sides = Sides::new(shape, &block, starts).ok()?;
        Some(Self { sides, axes })
    }

    /// Whether the blocks of both have the same extents, and begin alike along all axes but one.
    pub(crate) fn meets(&self, other: &Self, axis: usize) -> bool {
        let mut starts = self.sides.starts.iter().zip(&other.sides.starts).enumerate();
        self.sides.block == other.sides.block && starts.all(|(k, (a, b))| k == axis || a == b)
    }

    /// The index of a block in the storage.
    pub(crate) fn own(&self, index: &[usize]) -> BlockIndex {
        let digit = |axis: &Option<usize>| axis.and_then(|axis| index.get(axis).copied());
        self.axes.iter().map(|axis| digit(axis).unwrap_or(0)).collect()
    }
}
