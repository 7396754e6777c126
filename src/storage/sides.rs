//! Addresses among blocks.

use super::blocks::{BlockIndex, Blocks, Starts};
use crate::error::{Error, Result};
use crate::memory::try_with_capacity;
use smallvec::SmallVec;
use std::ops::Range;

/// The numbers of a storage in blocks, as it told them once.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) extents: Vec<usize>,
    pub(crate) block: Vec<usize>,
    /// Where blocks begin along axes where that is not at multiples of their extent.
    pub(crate) starts: Vec<Option<Starts>>,
    /// Blocks along each axis.
    pub(crate) counts: Vec<usize>,
    pub(crate) len: usize,
    /// Elements of a block, those beyond its end included.
    pub(crate) block_len: usize,
}

impl Sides {
    pub(crate) fn of<B: Blocks + ?Sized>(blocks: &B) -> Result<Self> {
        let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
        let starts = (0..extents.len()).map(|axis| blocks.starts(axis)).collect();
        Self::new(extents, block, starts)
    }

    pub(crate) fn new(
        extents: Vec<usize>,
        block: Vec<usize>,
        starts: Vec<Option<Starts>>,
    ) -> Result<Self> {
        let product = |sides: &[usize]| {
            let all = sides.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
            all.filter(|&all| all <= isize::MAX as usize)
        };
        let known = extents.len() == block.len() && !block.contains(&0);
        let fit = starts.iter().zip(&extents).zip(&block).all(|((starts, &extent), &block)| {
            starts.as_ref().is_none_or(|starts| starts.of_axis(extent, block).is_some())
        });
        let (Some(len), Some(block_len), true) = (product(&extents), product(&block), known && fit)
        else {
            return Err(Error::Blocks { extents, block });
        };
        let axes = starts.iter().zip(&extents).zip(&block);
        let counts = axes.map(|((starts, extent), block)| match starts {
            Some(starts) => starts.as_slice().len(),
            None => extent.div_ceil(*block),
        });
        Ok(Self { counts: counts.collect(), extents, block, starts, len, block_len })
    }

    /// Row-major number of a block.
    pub(crate) fn number(&self, index: &[usize]) -> Option<usize> {
        let known = index.len() == self.counts.len();
        let mut number = 0;
        for (&digit, &count) in index.iter().zip(&self.counts) {
            if digit >= count {
                return None;
            }
            number = number * count + digit;
        }
        known.then_some(number)
    }

    pub(crate) fn index(&self, mut number: usize) -> BlockIndex {
        let mut index = BlockIndex::from_elem(0, self.counts.len());
        for (digit, &count) in index.iter_mut().zip(&self.counts).rev() {
            (*digit, number) = (number % count, number / count);
        }
        index
    }

    /// What a block has along an axis.
    pub(crate) fn range(&self, axis: usize, digit: usize) -> Range<usize> {
        let (extent, block) = (self.extents[axis], self.block[axis]);
        let start = |digit: usize| match &self.starts[axis] {
            Some(starts) => starts.as_slice().get(digit).copied().unwrap_or(extent),
            None => digit.saturating_mul(block).min(extent),
        };
        start(digit)..start(digit.saturating_add(1))
    }

    /// Address of the first element of a block.
    pub(crate) fn first_address(&self, index: &[usize]) -> usize {
        let axes = index.iter().take(self.extents.len()).enumerate();
        axes.fold(0, |address, (axis, &digit)| {
            address * self.extents[axis] + self.range(axis, digit).start
        })
    }

    /// Block and place in it of an address, and how many addresses follow in the same line of the block.
    pub(crate) fn find(&self, address: usize) -> (BlockIndex, usize, usize) {
        let mut index = BlockIndex::from_elem(0, self.block.len());
        let (mut rest, mut inside, mut weight, mut left) = (address, 0, 1, 1);
        for axis in (0..self.block.len()).rev() {
            let digit = rest % self.extents[axis];
            rest /= self.extents[axis];
            index[axis] = match &self.starts[axis] {
                Some(starts) => starts.as_slice().partition_point(|&start| start <= digit) - 1,
                None => digit / self.block[axis],
            };
            let own = self.range(axis, index[axis]);
            if axis + 1 == self.block.len() {
                left = own.end - digit;
            }
            inside += (digit - own.start) * weight;
            weight *= self.block[axis];
        }
        (index, inside, left)
    }
}

/// Most blocks along an axis that are told one by one.
const MOST_STARTS: usize = 1 << 20;

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
    let mut joined = try_with_capacity(all)?;
    let mut before = 0;
    for part in parts {
        let own = |k: usize| part.1.map_or(k * block, |starts| starts.as_slice()[k]);
        joined.extend((0..count(part)).map(|k| before + own(k)));
        before += part.0;
    }
    Starts::new(joined, before).map(|starts| Some(Some(starts)))
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
        let (mut block, mut starts) = (Vec::new(), Vec::new());
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
        let sides = Sides::new(shape.to_vec(), block, starts).ok()?;
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
