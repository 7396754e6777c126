//! From addresses to row-major positions, and from those to keys to sort by.

use crate::error::Result;
use crate::map::{Digits, Divider, Multiplier, Nested, NestedAxis};
use crate::memory::try_reserve_exact;
use smallvec::SmallVec;
use std::ops::Range;

/// Entries a block from which on it pays to look for blocks.
const DENSE: usize = 3;

/// Calls `visit` with the ordinal, the row-major position and the key of every entry that is reached; of
/// repeated axes the first digits. The key is the position divided by `key`, the weight of some axis or 1.
///
/// Addresses should ascend; it takes longer if they do not. An error if axes list positions so often that
/// their sums cannot be kept.
#[inline(always)]
pub(super) fn for_each_entry(
    nested: &Nested,
    key: usize,
    addresses: &[usize],
    mut visit: impl FnMut(usize, usize, usize),
) -> Result<()> {
    let Some(columns) = Columns::of(nested, key, addresses) else {
        return for_each_in_any(nested, key, addresses, visit);
    };
    for (ordinal, &address) in addresses.iter().enumerate() {
        if let Some((position, key)) = columns.locate(address) {
            visit(ordinal, position, key);
        }
    }
    Ok(())
}

/// [`for_each_entry`] of any layout.
#[inline(never)]
fn for_each_in_any(
    nested: &Nested,
    key: usize,
    addresses: &[usize],
    mut visit: impl FnMut(usize, usize, usize),
) -> Result<()> {
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else {
        return Ok(());
    };
    let outer = nested.levels.len().checked_sub(2).map(|k| nested.levels[k].stride);
    let blocks = outer.map_or(0, |stride| last.saturating_sub(*first) / stride);
    let few = addresses.len() < blocks.saturating_mul(DENSE);
    if let Some(terms) = few.then(|| Term::of(nested, key)).flatten() {
        for_each_alone(&terms, nested.lowest, addresses, visit);
        return Ok(());
    }
    let mut blocks = BlockDigits::new(nested, key);
    let inner = blocks.inner.clone();
    let step = inner.weight / key;
    blocks.for_each(addresses, |ordinals, start, bases| {
        for base in bases {
            for_each_digit(&inner, addresses, ordinals.clone(), start, |ordinal, digit| {
                visit(ordinal, base.position + digit * inner.weight, base.key + digit * step);
            });
        }
    });
    blocks.result
}

/// A row-major position and its key.
#[derive(Debug, Clone, Copy, Default)]
struct Base {
    position: usize,
    key: usize,
}

/// A linear axis: what one step along it adds, or takes away by wrapping around.
#[derive(Debug, Clone, Copy)]
struct Term {
    stride: usize,
    last: usize,
    zero: Base,
    step: Base,
}

impl Term {
    /// All axes of a layout, if they are linear.
    fn of(nested: &Nested, key: usize) -> Option<SmallVec<[Self; 4]>> {
        let term = |level: &NestedAxis| {
            let step = Base { position: level.weight, key: level.weight / key };
            let (stride, last) = (level.stride, level.last);
            let at_last = Base { position: step.position * last, key: step.key * last };
            let back =
                Base { position: step.position.wrapping_neg(), key: step.key.wrapping_neg() };
            match level.digits {
                Digits::Same => Some(Self { stride, last, zero: Base::default(), step }),
                Digits::Mirrored => Some(Self { stride, last, zero: at_last, step: back }),
                _ => None,
            }
        };
        nested.levels.iter().map(term).collect()
    }

    /// Adds what a position on this axis contributes.
    #[inline(always)]
    fn add(&self, to: &mut Base, position: usize) {
        to.position = to.position.wrapping_add(position.wrapping_mul(self.step.position));
        to.key = to.key.wrapping_add(position.wrapping_mul(self.step.key));
    }
}

/// A matrix of which a column is a key: one that is transposed. A multiplication tells rows and columns apart,
/// and no branch depends on where rows end.
#[derive(Clone, Copy)]
struct Columns {
    lowest: usize,
    rows: Multiplier,
    last_row: usize,
    last_column: usize,
    /// Weights of rows and columns.
    weights: [usize; 2],
}

impl Columns {
    fn of(nested: &Nested, key: usize, addresses: &[usize]) -> Option<Self> {
        let [outer, inner] = &nested.levels[..] else { return None };
        let same = [outer, inner].iter().all(|level| matches!(level.digits, Digits::Same));
        if !same || inner.stride != 1 || inner.weight != key || outer.weight >= key {
            return None;
        }
        let (lowest, last) = (nested.lowest, addresses.last()?);
        let limit = last.wrapping_sub(lowest).saturating_add(1);
        Some(Self {
            lowest,
            rows: Divider::new(outer.stride, limit).multiplier()?,
            last_row: outer.last,
            last_column: inner.last,
            weights: [outer.weight, inner.weight],
        })
    }

    /// Position and key.
    #[inline(always)]
    fn locate(self, address: usize) -> Option<(usize, usize)> {
        let (row, column) = self.rows.divide(address.wrapping_sub(self.lowest));
        let position = row.wrapping_mul(self.weights[0]);
        let position = position.wrapping_add(column.wrapping_mul(self.weights[1]));
        (row <= self.last_row && column <= self.last_column).then_some((position, column))
    }
}

/// Every entry by itself: a division an axis and no branch that is hard to foresee.
fn for_each_alone(
    terms: &[Term],
    lowest: usize,
    addresses: &[usize],
    mut visit: impl FnMut(usize, usize, usize),
) {
    let mut zero = Base::default();
    for term in terms {
        zero.position += term.zero.position;
        zero.key += term.zero.key;
    }
    if let [outer, inner @ Term { stride: 1, .. }] = terms {
        let highest = addresses.last().map_or(0, |last| last.wrapping_sub(lowest));
        let divider = Divider::new(outer.stride, highest.saturating_add(1));
        for (ordinal, address) in addresses.iter().enumerate() {
            let (row, column) = divider.divide(address.wrapping_sub(lowest));
            let mut sum = zero;
            outer.add(&mut sum, row);
            inner.add(&mut sum, column);
            if (row <= outer.last) & (column <= inner.last) {
                visit(ordinal, sum.position, sum.key);
            }
        }
        return;
    }
    for (ordinal, address) in addresses.iter().enumerate() {
        let (mut rest, mut inside, mut sum) = (address.wrapping_sub(lowest), true, zero);
        for term in terms {
            let position = rest / term.stride;
            rest %= term.stride;
            inside &= position <= term.last;
            term.add(&mut sum, position);
        }
        if inside && rest == 0 {
            visit(ordinal, sum.position, sum.key);
        }
    }
}

/// Walks ascending addresses block by block: a block shares its position on all axes but the one of the
/// smallest stride.
struct BlockDigits<'n> {
    nested: &'n Nested,
    key: usize,
    outer: &'n [NestedAxis],
    inner: NestedAxis,
    /// Addresses of the current block, and its position on the last outer axis.
    block: Range<usize>,
    position: usize,
    /// Where the position on another outer axis changes.
    end: usize,
    /// What the outer axes contribute: nothing if they do not visit the block, several sums if some of
    /// them list positions repeatedly.
    bases: Vec<Base>,
    /// Memory for those with one axis more.
    sums: Vec<Base>,
    /// Whether there was memory for them.
    result: Result<()>,
}

impl<'n> BlockDigits<'n> {
    fn new(nested: &'n Nested, key: usize) -> Self {
        let point = NestedAxis { axis: 0, stride: 1, last: 0, weight: 0, digits: Digits::Same };
        let (inner, outer) = match nested.levels.split_last() {
            Some((inner, outer)) => (inner.clone(), outer),
            None => (point, &[][..]),
        };
        let (bases, sums, result) = (Vec::new(), Vec::new(), Ok(()));
        Self { nested, key, outer, inner, block: 0..0, position: 0, end: 0, bases, sums, result }
    }

    /// Calls `visit` with the entries of every block that is reached: their ordinals, the address of the
    /// block, and the positions of its first element.
    fn for_each(
        &mut self,
        addresses: &[usize],
        mut visit: impl FnMut(Range<usize>, usize, &[Base]),
    ) {
        let mut ordinal = addresses.partition_point(|&address| address < self.nested.lowest);
        while let Some(&address) = addresses.get(ordinal) {
            if !self.advance(address) {
                self.locate(address);
                if self.result.is_err() {
                    return;
                }
            }
            let first = ordinal;
            // The address itself is inside, but for storage whose addresses do not ascend.
            ordinal += 1;
            let (start, end) = (self.block.start, self.block.end);
            while addresses.get(ordinal).is_some_and(|address| (start..end).contains(address)) {
                ordinal += 1;
            }
            if !self.bases.is_empty() {
                visit(first..ordinal, start, &self.bases);
            }
        }
    }

    /// Goes on to a block that differs by its digit on one axis only.
    fn advance(&mut self, address: usize) -> bool {
        let Some(level) = self.outer.last().filter(|level| matches!(level.digits, Digits::Same))
        else {
            return false;
        };
        if self.bases.is_empty() || address < self.block.start || address >= self.end {
            return false;
        }
        let blocks = (address - self.block.start) / level.stride;
        if blocks > level.last - self.position {
            return false;
        }
        self.position += blocks;
        let start = self.block.start + blocks * level.stride;
        self.block = start..self.end.min(start.saturating_add(level.stride));
        for base in &mut self.bases {
            base.position += blocks * level.weight;
            base.key += blocks * (level.weight / self.key);
        }
        true
    }

    /// Finds the block of any address that is not too low. Where no index leads to it, the block is what
    /// can be skipped.
    fn locate(&mut self, address: usize) {
        let mut rest = address.saturating_sub(self.nested.lowest);
        let mut end = usize::MAX;
        self.bases.clear();
        self.bases.push(Base::default());
        for level in self.outer {
            self.end = end;
            self.position = rest / level.stride;
            if self.position > level.last {
                self.bases.clear();
                self.block = address..end;
                return;
            }
            rest %= level.stride;
            end = end.min(address.saturating_add(level.stride - rest));
            let ways = level.most_digits(self.position).saturating_mul(self.bases.len());
            self.sums.clear();
            self.result = try_reserve_exact(&mut self.sums, ways);
            if self.result.is_err() {
                return;
            }
            level.for_each_digit(self.position, |digit| {
                self.sums.extend(self.bases.iter().map(|base| Base {
                    position: base.position + digit * level.weight,
                    key: base.key + digit * (level.weight / self.key),
                }));
            });
            std::mem::swap(&mut self.bases, &mut self.sums);
        }
        self.block = address - rest.min(address)..end;
    }
}

/// Calls `visit` with the ordinal of every entry of a block and each of its digits on the inner axis.
#[inline(always)]
fn for_each_digit(
    inner: &NestedAxis,
    addresses: &[usize],
    ordinals: Range<usize>,
    start: usize,
    mut visit: impl FnMut(usize, usize),
) {
    let away = ordinals.clone().zip(&addresses[ordinals]);
    let away = away.map(|(ordinal, address)| (ordinal, address.wrapping_sub(start)));
    match (&inner.digits, inner.stride) {
        (Digits::Same, 1) => {
            for (ordinal, position) in away.filter(|(_, position)| *position <= inner.last) {
                visit(ordinal, position);
            }
        }
        (Digits::Mirrored, 1) => {
            for (ordinal, position) in away.filter(|(_, position)| *position <= inner.last) {
                visit(ordinal, inner.last - position);
            }
        }
        (_, stride) => {
            for (ordinal, away) in away {
                let position = away / stride;
                if position <= inner.last && position * stride == away {
                    inner.for_each_digit(position, |digit| visit(ordinal, digit));
                }
            }
        }
    }
}
