//! Storage in blocks, as numbers.

use crate::error::{Error, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// One number per axis.
pub(crate) type PerAxis = SmallVec<[usize; 4]>;

/// Goes on to the next digits in row-major order, each `below` a number of its axis: returns which grew, those
/// after it are 0 again. `None` after the last.
pub(crate) fn advance(digits: &mut [usize], below: impl Fn(usize) -> usize) -> Option<usize> {
    let axis = (0..digits.len()).rev().find(|&axis| digits[axis] + 1 < below(axis))?;
    digits[axis] += 1;
    digits[axis + 1..].fill(0);
    Some(axis)
}

/// Row-major strides.
pub(crate) fn weights(sides: &[usize]) -> PerAxis {
    let mut weights = PerAxis::from_elem(1, sides.len());
    for axis in (1..sides.len()).rev() {
        weights[axis - 1] = weights[axis].saturating_mul(sides[axis]);
    }
    weights
}

/// Where blocks begin along an axis, if not at multiples of their extent: parts whose last blocks are short and follow
/// one another, a border around blocks, or a part of storage that begins within a block. Clones share the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starts {
    list: Arc<Vec<usize>>,
    /// Elements of each block in front of where it begins.
    skipped: Option<Arc<Vec<usize>>>,
    extent: usize,
    longest: usize,
    /// The most that a block has, with what is in front of where it begins.
    reach: usize,
}

impl Starts {
    /// Blocks of an axis of this extent that begin at `list`: at 0, each before the next, the last before the end.
    ///
    /// # Errors
    ///
    /// [`Error::BlockStart`] with the first that cannot begin where it does; without any, the first would have to begin
    /// before the end.
    ///
    /// ```
    /// use lensor::storage::Starts;
    /// let starts = Starts::new(vec![0, 4, 6], 10)?;
    /// assert_eq!((starts.as_slice(), starts.extent()), (&[0, 4, 6][..], 10));
    /// assert_eq!(
    ///     Starts::new(vec![0, 4, 12], 10).unwrap_err().to_string(),
    ///     "block 2 of an axis of 10 cannot begin at 12"
    /// );
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(list: Vec<usize>, extent: usize) -> Result<Self> {
        let refused = |number: usize, start: usize| Error::BlockStart { number, start, extent };
        for (number, &start) in list.iter().enumerate() {
            let follows = number.checked_sub(1).map_or(start == 0, |before| start > list[before]);
            if !follows || start >= extent {
                return Err(refused(number, start));
            }
        }
        if list.is_empty() && extent > 0 {
            return Err(refused(0, extent));
        }
        let starts = Self { list: Arc::new(list), skipped: None, extent, longest: 0, reach: 0 };
        let longest = starts.lengths().max().unwrap_or(0);
        Ok(Self { longest, reach: longest, ..starts })
    }

    /// The same with so many elements of each block in front of where it begins.
    pub(crate) fn with_skipped(self, skipped: Vec<usize>) -> Self {
        let reaches = self.lengths().zip(&skipped).map(|(length, skipped)| length + skipped);
        let reach = reaches.max().unwrap_or(0);
        let skipped = skipped.iter().any(|skipped| *skipped > 0).then(|| Arc::new(skipped));
        Self { skipped, reach, ..self }
    }

    /// Where blocks begin, ascending.
    pub fn as_slice(&self) -> &[usize] {
        &self.list
    }

    /// How many elements of a block come in front of where it begins, and are never looked at: not 0 where a part of
    /// storage begins within a block.
    pub fn skipped(&self, block: usize) -> usize {
        self.skipped.as_ref().and_then(|all| all.get(block)).copied().unwrap_or(0)
    }

    /// The extent of the axis.
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// The extent of the longest block.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether they are of an axis of this extent and no block is longer than `block`.
    fn fit(&self, extent: usize, block: usize) -> bool {
        self.extent == extent && self.reach <= block
    }

    /// The extent of each block.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let ends = self.list.iter().skip(1).chain([&self.extent]);
        self.list.iter().zip(ends).map(|(start, end)| end - start)
    }
}

/// Extents whose row-major positions are addresses, and the extents of the blocks that storage comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) extents: PerAxis,
    pub(crate) block: PerAxis,
    /// Where blocks begin along axes where that is not at multiples of their extent.
    pub(crate) starts: SmallVec<[Option<Starts>; 4]>,
    /// Blocks along each axis.
    pub(crate) counts: PerAxis,
    pub(crate) len: usize,
    /// Elements of a block, those beyond its end included.
    pub(crate) block_len: usize,
}

impl Sides {
    /// # Errors
    ///
    /// [`Error::Blocks`] if the numbers describe no blocks.
    pub(crate) fn new(
        extents: &[usize],
        block: &[usize],
        starts: SmallVec<[Option<Starts>; 4]>,
    ) -> Result<Self> {
        let product = |sides: &[usize]| {
            let all = sides.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
            all.filter(|&all| all <= isize::MAX as usize)
        };
        let known = extents.len() == block.len() && !block.contains(&0);
        let axes = || starts.iter().zip(extents).zip(block);
        let fit = axes().all(|((starts, &extent), &block)| {
            starts.as_ref().is_none_or(|starts| starts.fit(extent, block))
        });
        let (Some(len), Some(block_len), true) = (product(extents), product(block), known && fit)
        else {
            return Err(Error::Blocks { extents: extents.to_vec(), block: block.to_vec() });
        };
        let counts = axes().map(|((starts, extent), block)| match starts {
            Some(starts) => starts.as_slice().len(),
            None => extent.div_ceil(*block),
        });
        let (extents, block, counts) = (extents.into(), block.into(), counts.collect());
        Ok(Self { extents, block, starts, counts, len, block_len })
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

    pub(crate) fn index(&self, mut number: usize) -> PerAxis {
        let mut index = PerAxis::from_elem(0, self.counts.len());
        for (digit, &count) in index.iter_mut().zip(&self.counts).rev() {
            (*digit, number) = (number % count, number / count);
        }
        index
    }

    /// The number of the block along an axis that holds a digit of it.
    pub(crate) fn block_at(&self, axis: usize, digit: usize) -> usize {
        match &self.starts[axis] {
            Some(starts) => starts.as_slice().partition_point(|&start| start <= digit) - 1,
            None => digit / self.block[axis],
        }
    }

    /// Whether blocks begin at multiples of their extent along an axis.
    pub(crate) fn is_regular(&self, axis: usize) -> bool {
        self.starts[axis].is_none()
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

    /// How many elements of a block along an axis come in front of what it has.
    pub(crate) fn skipped(&self, axis: usize, digit: usize) -> usize {
        self.starts[axis].as_ref().map_or(0, |starts| starts.skipped(digit))
    }

    /// What the block that holds a digit of an axis has of it.
    pub(crate) fn range_of(&self, axis: usize, digit: usize) -> Range<usize> {
        self.range(axis, self.block_at(axis, digit))
    }

    /// Address of the first element of a block.
    pub(crate) fn first_address(&self, index: &[usize]) -> usize {
        let axes = index.iter().take(self.extents.len()).enumerate();
        axes.fold(0, |address, (axis, &digit)| {
            address * self.extents[axis] + self.range(axis, digit).start
        })
    }

    /// Where the elements of the block of an index begin; below 0, it wraps.
    pub(crate) fn origin(&self, index: &[usize]) -> PerAxis {
        let axes = index.iter().enumerate();
        let origin = |(axis, &number): (usize, &usize)| {
            self.range(axis, number).start.wrapping_sub(self.skipped(axis, number))
        };
        axes.map(origin).collect()
    }

    /// The axis of which `far` steps of this stride are no more than its extent; `weights` are those of the extents.
    pub(crate) fn axis_of(&self, weights: &[usize], stride: usize, far: usize) -> Option<usize> {
        (0..weights.len()).find(|&axis| {
            stride.is_multiple_of(weights[axis])
                && (stride / weights[axis]).saturating_mul(far) < self.extents[axis]
        })
    }

    /// The index of an address, if it is not beyond the last; `weights` are those of the extents.
    pub(crate) fn digits(&self, weights: &[usize], address: usize) -> Option<PerAxis> {
        let (mut rest, mut digits) = (address, PerAxis::new());
        for (&weight, &extent) in weights.iter().zip(&self.extents) {
            digits.push(rest.checked_div(weight).filter(|digit| *digit < extent)?);
            rest %= weight;
        }
        Some(digits)
    }

    /// Block and place in it of an address, and how many addresses follow in the same line of the block.
    pub(crate) fn find(&self, address: usize) -> (PerAxis, usize, usize) {
        let mut index = PerAxis::from_elem(0, self.block.len());
        let (mut rest, mut inside, mut weight, mut left) = (address, 0, 1, 1);
        for axis in (0..self.block.len()).rev() {
            let digit = rest % self.extents[axis];
            rest /= self.extents[axis];
            index[axis] = self.block_at(axis, digit);
            let own = self.range(axis, index[axis]);
            if axis + 1 == self.block.len() {
                left = own.end - digit;
            }
            inside += (digit - own.start + self.skipped(axis, index[axis])) * weight;
            weight *= self.block[axis];
        }
        (index, inside, left)
    }
}

/// What blocks tell of their sides; of none there are no elements.
macro_rules! sides_tell {
    ($me:ident => $sides:expr) => {
        fn extents(&$me) -> &[usize] {
            $sides.map_or(&[0], |sides| &sides.extents)
        }

        fn block(&$me) -> &[usize] {
            $sides.map_or(&[0], |sides| &sides.block)
        }

        fn starts(&$me, axis: usize) -> Option<$crate::grid::Starts> {
            $sides?.starts.get(axis)?.clone()
        }
    };
}
pub(crate) use sides_tell;
