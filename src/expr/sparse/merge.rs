//! The union of ascending lists, block by block.

use super::cursor::{BLOCK, Block, Positions, Share};
use crate::kernel::runs::{KEYS, RUNS, Run, Runs, room};
use std::ops::Range;

/// Stands for the end of a list: no element has this position.
const END: usize = usize::MAX;

/// Merges lists of positions: each block is the next part of their union, and for every list the places
/// of its own positions in it.
pub(crate) struct Union<'l> {
    /// The lists that are not empty.
    lists: Vec<List<'l>>,
    shares: Vec<Share>,
    runs: Box<Runs>,
    /// Positions and slots of a block that is merged position by position; none before there is one.
    positions: Vec<usize>,
    slots: Vec<u16>,
}

struct List<'l> {
    positions: &'l [usize],
    /// How far it was taken.
    taken: usize,
    /// Number of the leaf, and the ordinal of the first position.
    leaf: usize,
    first: usize,
}

impl<'l> List<'l> {
    fn rest(&self) -> &'l [usize] {
        &self.positions[self.taken..]
    }

    /// Takes positions; returns their ordinals.
    fn take(&mut self, count: usize) -> Range<usize> {
        let start = self.first + self.taken;
        self.taken += count;
        start..start + count
    }
}

impl<'l> Union<'l> {
    /// The union of parts of `lists`: of list `k` the ordinals `parts[k]`.
    pub(crate) fn new(lists: &'l [Positions<'_>], parts: &[Range<usize>]) -> Self {
        let shares = vec![Share::default(); lists.len()];
        let lists = lists.iter().zip(parts).enumerate().map(|(leaf, (list, part))| {
            let positions = &list[part.clone()];
            List { positions, taken: 0, leaf, first: part.start }
        });
        let lists = lists.filter(|list| !list.positions.is_empty()).collect();
        Self {
            lists,
            shares,
            runs: Box::new(Runs::new()),
            positions: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// The next block, if there is one.
    pub(crate) fn next_block(&mut self) -> Option<Block<'_>> {
        if let [list] = &mut self.lists[..] {
            let rest = list.rest();
            let positions = &rest[..rest.len().min(BLOCK)];
            self.shares[list.leaf] = Share::Whole(list.take(positions.len()));
            let block = Block { positions, shares: &self.shares, slots: &[], picked: &[] };
            return (!positions.is_empty()).then_some(block);
        }
        let (positions, slots) = match self.merge() {
            Some(count) => (&self.runs.numbers[..count], &self.runs.places[..]),
            None => {
                self.merge_slowly();
                (&self.positions[..], &self.slots[..])
            }
        };
        let block = Block { positions, shares: &self.shares, slots, picked: &[] };
        (!positions.is_empty()).then_some(block)
    }

    /// Merges a block at once; `None` if there are too many lists, or their positions lie too far apart.
    ///
    /// The next part of every list is such that the block has no more positions than it may: up to the
    /// first position before which some list has its share of them.
    fn merge(&mut self) -> Option<usize> {
        let mut runs = [Run::default(); RUNS];
        let runs = runs.get_mut(..self.lists.len())?;
        let room = room(runs.len());
        let pivot = self.lists.iter().filter_map(|list| list.rest().get(room)).min().copied();
        for (run, list) in runs.iter_mut().zip(&self.lists) {
            let rest = list.rest();
            let most = &rest[..rest.len().min(room)];
            let count = pivot.map_or(most.len(), |pivot| below(most, pivot));
            *run = Run { rest, count };
        }
        let count = self.runs.merge(runs)?;
        for (k, (run, list)) in runs.iter().zip(&mut self.lists).enumerate() {
            let ordinals = list.take(run.count);
            self.shares[list.leaf] = if run.count == count {
                Share::Whole(ordinals)
            } else {
                Share::Placed { ordinals, slot: k * room }
            };
        }
        Some(count)
    }

    /// Merges a block of any lists, one position after another.
    fn merge_slowly(&mut self) {
        self.positions.clear();
        self.slots.resize(self.lists.len() * BLOCK, 0);
        let mut counts = vec![0; self.lists.len()];
        while self.positions.len() < BLOCK {
            let heads = self.lists.iter().map(|list| list.rest().first().copied().unwrap_or(END));
            let lowest = heads.fold(END, usize::min);
            if lowest == END {
                break;
            }
            let lists = self.lists.iter_mut().zip(self.slots.chunks_exact_mut(BLOCK));
            for ((list, slots), count) in lists.zip(&mut counts) {
                if list.rest().first() == Some(&lowest) {
                    slots[*count] = self.positions.len() as u16;
                    *count += 1;
                    list.taken += 1;
                }
            }
            self.positions.push(lowest);
        }
        for (k, (list, &count)) in self.lists.iter().zip(&counts).enumerate() {
            let end = list.first + list.taken;
            self.shares[list.leaf] = Share::Placed { ordinals: end - count..end, slot: k * BLOCK };
        }
    }
}

/// How many of ascending positions lie below `pivot`; quick if they are nearly all.
fn below(positions: &[usize], pivot: usize) -> usize {
    let (mut end, mut step) = (positions.len(), 1);
    while end > 0 && positions[end.saturating_sub(step)] >= pivot {
        end = end.saturating_sub(step);
        step *= 2;
    }
    let start = end.saturating_sub(step);
    start + positions[start..end].partition_point(|&position| position < pivot)
}

const _: () = assert!(KEYS == BLOCK, "a block is merged at once");
