//! A view of storage in blocks: those of its blocks that it has elements of, where they lie or arranged as the view is.

use super::Flat;
use super::lanes::{Cuts, Lanes, longest, sides_of};
use crate::error::{Result, StorageError};
use crate::grid::{PerAxis, Sides, Starts, advance, sides_tell, weights};
use crate::map::AddressMap;
use crate::memory::{append, list, resize, try_with_capacity};
use crate::storage::{Block, BlockIndex, Blocks, MOST_STARTS, Reader};
use smallvec::SmallVec;

/// Where the blocks of a view lie among those of the whole.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Along the axes of the whole, or of the view if blocks are arranged.
    sides: Sides,
    whole: Sides,
    lanes: Lanes,
    /// Whether blocks are copied, their elements in the order of the view.
    arranged: bool,
}

impl Part {
    /// Of a map whose axes each step along one of a storage; `None` of any other one, of storage without blocks, and where
    /// the view comes back to blocks often.
    pub(super) fn new<S: Reader>(map: &AddressMap, storage: &S) -> Option<Self> {
        let blocks = storage.blocks()?;
        let whole = Sides::of_len(blocks, storage.len())?;
        let lanes = Lanes::new(map, &whole)?;
        if let Some(counts) = lanes.neighbours() {
            let mut starts = SmallVec::<[Option<Starts>; 4]>::new();
            for (axis, &count) in counts.iter().enumerate() {
                starts.push(starts_of(&whole, axis, lanes.base[axis], count)?);
            }
            let sides = Sides::new(&counts, &whole.block, starts).ok()?;
            return Some(Self { sides, whole, lanes, arranged: false });
        }
        blocks.share(Vec::new())?;
        let cuts = lanes.cuts(&whole)?;
        let axes = cuts.iter().zip(&lanes.extents);
        let block: PerAxis = axes.map(|(cuts, &extent)| longest(cuts, extent)).collect();
        let sides = sides_of(cuts, &lanes.extents, &block)?;
        let part = Self { sides, whole, lanes, arranged: true };
        (part.is_worthwhile() && !part.holds_lines(blocks.budget())).then_some(part)
    }

    /// Whether blocks are not so small, or so empty, that to copy each takes longer than to read lines.
    fn is_worthwhile(&self) -> bool {
        let Sides { counts, block_len, len, .. } = &self.sides;
        let copied = self.whole.block_len.max(*block_len);
        copied.saturating_mul(product(counts)) / MOST_COPIED <= *len
    }

    /// Whether so many blocks are those of a whole index of the first axis: lines of the view are then read where they lie
    /// in the blocks that are held, none of which is loaded again for the next line.
    fn holds_lines(&self, budget: usize) -> bool {
        product(self.sides.counts.get(1..).unwrap_or_default()) <= budget
    }

    /// The same with blocks that begin where they do along axes of the view, or more often.
    fn cut(&self, cuts: Cuts, block: &[usize]) -> Option<Self> {
        let sides = sides_of(cuts, &self.lanes.extents, block)?;
        let arranged = self.arranged || sides != self.sides;
        Some(Self { sides, arranged, ..self.clone() })
    }

    /// The index of a block among those of the whole.
    fn of_whole(&self, index: &[usize]) -> Option<BlockIndex> {
        self.sides.number(index)?;
        let first = match self.arranged {
            true => self.lanes.index(|axis| self.sides.range(axis, index[axis]).start),
            false => self.lanes.base.clone(),
        };
        let digits = first.iter().enumerate();
        let mut own: BlockIndex =
            digits.map(|(axis, &digit)| self.whole.block_at(axis, digit)).collect();
        if !self.arranged {
            own.iter_mut().zip(index).for_each(|(own, digit)| *own += digit);
        }
        Some(own)
    }

    /// The elements of a block in the order of the view, from those of the block of the whole that has them.
    fn arrange<T: Copy>(&self, index: &[usize], own: &[usize], from: &[T]) -> Result<Vec<T>> {
        let (whole, sides) = (&self.whole, &self.sides);
        let weights = weights(&whole.block);
        let away = self.lanes.base.iter().zip(whole.origin(own)).zip(&weights);
        let origin = away.fold(0_usize, |sum, ((digit, origin), &weight)| {
            sum.wrapping_add(digit.wrapping_sub(origin).wrapping_mul(weight))
        });
        let Some(last) = index.len().checked_sub(1) else {
            return list(from.iter().copied().skip(origin).take(1));
        };
        let (mut outer, columns) = (Cuts::new(), sides.range(last, index[last]));
        for (axis, &digit) in index[..last].iter().enumerate() {
            outer.push(self.lanes.offsets(axis, sides.range(axis, digit), &weights)?);
        }
        let line = self.lanes.line(last, &columns, &weights);
        let columns = match line {
            Some(_) => Vec::new(),
            None => self.lanes.offsets(last, columns, &weights)?,
        };
        let (mut to, mut digits) =
            (try_with_capacity(sides.block_len)?, PerAxis::from_elem(0, last));
        loop {
            let (mut start, mut place) = (origin, 0);
            for (axis, &digit) in digits.iter().enumerate() {
                start = start.wrapping_add(outer[axis][digit]);
                place = place * sides.block[axis] + digit;
            }
            resize(&mut to, place * sides.block[last], from[0])?;
            match &line {
                Some(line) => {
                    let first = start.wrapping_add(line.start);
                    append(&mut to, &from[first..first + line.len()])?;
                }
                None => to.extend(columns.iter().map(|offset| from[start.wrapping_add(*offset)])),
            }
            if advance(&mut digits, |axis| outer[axis].len()).is_none() {
                resize(&mut to, sides.block_len, from[0])?;
                return Ok(to);
            }
        }
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

/// Blocks of all parts begin along an axis at most so many times as often as those of the part with the most.
const MOST_CUT: usize = 4;

/// Blocks of a view, and those of storage that they are copied from, have at most so many times its elements.
const MOST_COPIED: usize = 32;

/// Blocks of all parts up to which it pays to find where they begin.
const MOST_CUTS: usize = 1 << 18;

fn product(counts: &[usize]) -> usize {
    counts.iter().fold(1, |all, &count| all.saturating_mul(count))
}

/// Gives parts that follow one another along an axis blocks that meet: those of each end where those of another do.
/// Changes nothing, and says so, if a part has no blocks, or if that would be many more, or mostly empty.
pub(in crate::tensor) fn align<S: Reader>(flats: &mut [Flat<S>], axis: usize) -> bool {
    let Some(parts) = aligned(flats, axis) else { return false };
    flats.iter_mut().zip(parts).for_each(|(flat, part)| flat.part = Some(Box::new(part)));
    true
}

fn aligned<S: Reader>(flats: &[Flat<S>], axis: usize) -> Option<Vec<Part>> {
    let mut all: Vec<Cuts> = try_with_capacity(flats.len()).ok()?;
    let (mut blocks, mut held) = (0_usize, true);
    for flat in flats {
        let part = flat.part.as_deref()?;
        let below = flat.storage.blocks()?;
        below.share(Vec::new())?;
        held = held && part.holds_lines(below.budget());
        blocks = blocks.saturating_add(product(&part.sides.counts));
    }
    if held || blocks > MOST_CUTS {
        return None;
    }
    for flat in flats {
        let part = flat.part.as_deref()?;
        all.push(part.lanes.cuts(&part.whole)?);
    }
    let mut block = PerAxis::new();
    for k in 0..all.first()?.len() {
        if k != axis {
            let mut union = Vec::new();
            for cuts in &all {
                append(&mut union, &cuts[k]).ok()?;
            }
            union.sort_unstable();
            union.dedup();
            let most = all.iter().map(|cuts| cuts[k].len()).max()?.saturating_mul(MOST_CUT);
            if union.len() > most || union.len().saturating_mul(all.len()) > MOST_STARTS {
                return None;
            }
            for cuts in &mut all {
                cuts[k] = list(union.iter().copied()).ok()?;
            }
        }
        let own = flats.iter().zip(&all).filter_map(|(flat, cuts)| {
            Some(longest(&cuts[k], flat.part.as_ref()?.lanes.extents[k]))
        });
        block.push(own.max()?);
    }
    let mut parts = try_with_capacity(flats.len()).ok()?;
    for (flat, cuts) in flats.iter().zip(all) {
        let part = flat.part.as_ref()?.cut(cuts, &block)?;
        if part.arranged && !part.is_worthwhile() {
            return None;
        }
        parts.push(part);
    }
    Some(parts)
}

/// Of a view of storage in blocks whose axes each step along one of them; of any other one none of 0 elements, though
/// [`Reader::blocks`] may tell of those of the whole storage.
impl<S: Reader> Blocks for Flat<S> {
    type Elem = S::Elem;

    sides_tell!(self => self.part.as_ref().map(|part| &part.sides));

    fn load(&self, index: &[usize]) -> Result<Block<'_, S::Elem>, StorageError> {
        let none = || StorageError::new(0, format!("there is no block {index:?}"));
        let own = self.part.as_ref().and_then(|part| Some((part, part.of_whole(index)?)));
        let (Some((part, own)), Some(blocks)) = (own, self.storage.blocks()) else {
            return Err(none());
        };
        let first = part.sides.first_address(index);
        let block = blocks.load(&own).map_err(|e| e.at(first))?;
        let Some(from) = block.as_slice().filter(|_| part.arranged) else { return Ok(block) };
        block.check(part.whole.block_len, first)?;
        let elements = part.arrange(index, &own, from).map_err(|e| StorageError::new(first, e))?;
        let shared = blocks.share(elements);
        shared.ok_or_else(|| StorageError::new(first, "the storage shares no block".to_string()))
    }

    /// None of blocks that are copied each time.
    fn budget(&self) -> usize {
        let copied = self.part.as_ref().is_some_and(|part| part.arranged);
        self.storage.blocks().filter(|_| !copied).map_or(0, Blocks::budget)
    }

    fn ahead(&self) -> usize {
        self.storage.blocks().map_or(0, Blocks::ahead)
    }

    fn expect(&self, next: &[BlockIndex]) {
        let (Some(part), Some(blocks)) = (&self.part, self.storage.blocks()) else { return };
        let Ok(mut own) = try_with_capacity(next.len()) else { return };
        own.extend(next.iter().filter_map(|index| part.of_whole(index)));
        // Neighbours may be cut from one.
        own.dedup();
        blocks.expect(&own);
    }

    fn share(&self, elements: Vec<S::Elem>) -> Option<Block<'_, S::Elem>> {
        self.storage.blocks()?.share(elements)
    }
}
