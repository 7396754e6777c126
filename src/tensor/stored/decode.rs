//! From addresses to row-major positions, a block of neighbours at a time.

use crate::map::{Digits, Level, Nested};
use std::ops::Range;

/// Blocks that are tried one after another before digits are divided anew.
const NEAR: usize = 4;

/// Walks ascending addresses block by block: a block shares its position on all axes but the one of the
/// smallest stride.
pub(super) struct Decoder<'n> {
    nested: &'n Nested,
    outer: &'n [Level],
    inner: Level,
    /// Addresses of the current block, and its position on the last outer axis.
    block: Range<usize>,
    position: usize,
    /// Where the position on another outer axis changes.
    end: usize,
    /// What the outer axes contribute to the row-major position: nothing if they do not visit the block,
    /// several sums if some of them list positions repeatedly.
    bases: Vec<usize>,
}

impl<'n> Decoder<'n> {
    pub(super) fn new(nested: &'n Nested) -> Self {
        let point = Level { axis: 0, stride: 1, last: 0, weight: 0, digits: Digits::Same };
        let (inner, outer) = match nested.levels.split_last() {
            Some((inner, outer)) => (inner.clone(), outer),
            None => (point, &[][..]),
        };
        Self { nested, outer, inner, block: 0..0, position: 0, end: 0, bases: Vec::new() }
    }

    /// The axis of the smallest stride.
    pub(super) fn inner(&self) -> &Level {
        &self.inner
    }

    /// Calls `visit` with the entries of every block that is reached: their ordinals, the address of the
    /// block, and the row-major positions of its first element.
    pub(super) fn for_each_block(
        &mut self,
        addresses: &[usize],
        mut visit: impl FnMut(Range<usize>, usize, &[usize]),
    ) {
        let mut ordinal = addresses.partition_point(|&address| address < self.nested.lowest);
        self.block = 0..0;
        while let Some(&address) = addresses.get(ordinal) {
            if !self.advance(address) {
                self.locate(address);
            }
            let first = ordinal;
            // The address itself is inside, but for storage whose addresses do not ascend.
            ordinal += 1;
            while addresses.get(ordinal).is_some_and(|address| self.block.contains(address)) {
                ordinal += 1;
            }
            if !self.bases.is_empty() {
                visit(first..ordinal, self.block.start, &self.bases);
            }
        }
    }

    /// Goes on to one of the next blocks, if it is near and differs by its digit on one axis only.
    fn advance(&mut self, address: usize) -> bool {
        let Some(level) = self.outer.last().filter(|level| matches!(level.digits, Digits::Same))
        else {
            return false;
        };
        let near = address.wrapping_sub(self.block.start) / level.stride <= NEAR;
        if self.block.is_empty() || self.bases.is_empty() || !near {
            return false;
        }
        while address >= self.block.end {
            if self.position == level.last {
                return false;
            }
            self.position += 1;
            let start = self.block.start + level.stride;
            self.block = start..self.end.min(start + level.stride);
            self.bases.iter_mut().for_each(|base| *base += level.weight);
        }
        true
    }

    /// Finds the block of any address that is not too low. Where no index leads to it, the block is what
    /// can be skipped.
    fn locate(&mut self, address: usize) {
        let mut rest = address.saturating_sub(self.nested.lowest);
        let mut end = usize::MAX;
        self.bases.clear();
        self.bases.push(0);
        for level in self.outer {
            self.end = end;
            self.position = rest / level.stride;
            if self.position > level.last {
                self.bases.clear();
                self.block = address..end;
                return;
            }
            rest %= level.stride;
            // Strides are at most the largest address.
            end = end.min(address.saturating_add(level.stride - rest));
            if let Digits::Same = level.digits {
                let term = self.position * level.weight;
                self.bases.iter_mut().for_each(|base| *base += term);
                continue;
            }
            let mut sums = Vec::new();
            level.for_each_digit(self.position, |digit| {
                sums.extend(self.bases.iter().map(|base| base + digit * level.weight));
            });
            self.bases = sums;
        }
        self.block = address - rest.min(address)..end;
    }
}

/// Calls `visit` with the ordinal of every entry of a block and each of its digits on the inner axis.
#[inline]
pub(super) fn for_each_digit(
    inner: &Level,
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
