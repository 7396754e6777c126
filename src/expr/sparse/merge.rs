//! The union of ascending lists, block by block.

use super::cursor::{BLOCK, Block, Positions, Share};
use crate::kernel::runs::{KEYS, MergeNetwork, RUNS, Run, longest_run};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

/// Merges lists of positions: each block is the next part of their union, and for every list the places
/// of its own positions in it.
pub(crate) struct Union<'l> {
    /// The lists that are not empty.
    lists: Vec<List<'l>>,
    shares: Vec<Share>,
    /// Where blocks are merged, if there is more than one list.
    runs: Option<Box<MergeNetwork>>,
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
        let lists: Vec<_> = lists.filter(|list| !list.positions.is_empty()).collect();
        let runs = (lists.len() > 1).then(|| Box::new(MergeNetwork::new()));
        Self { lists, shares, runs, positions: Vec::new(), slots: Vec::new() }
    }

    /// The next block, if there is one.
    pub(crate) fn next_block(&mut self) -> Option<Block<'_>> {
        if let [list] = &mut self.lists[..] {
            let rest = list.rest();
            let positions = &rest[..rest.len().min(BLOCK)];
            self.shares[list.leaf] = Share::Whole(list.take(positions.len()));
            let block = Block::new(positions, &self.shares);
            return (!positions.is_empty()).then_some(block);
        }
        if let Some(positions) = self.same() {
            for list in &mut self.lists {
                self.shares[list.leaf] = Share::Whole(list.take(positions.len()));
            }
            return Some(Block::new(positions, &self.shares));
        }
        let count = self.merge();
        if count.is_none() {
            self.merge_slowly();
        }
        let (positions, slots) = match count.zip(self.runs.as_ref()) {
            Some((count, runs)) => (&runs.numbers[..count], &runs.places[..]),
            None => (&self.positions[..], &self.slots[..]),
        };
        let block = Block { slots, ..Block::new(positions, &self.shares) };
        (!positions.is_empty()).then_some(block)
    }

    /// The next positions, if they are the same in all lists.
    fn same(&self) -> Option<&'l [usize]> {
        let mut parts =
            self.lists.iter().map(|list| list.rest()).map(|rest| &rest[..rest.len().min(BLOCK)]);
        let first = parts.next().filter(|first| !first.is_empty())?;
        parts.all(|part| part == first).then_some(first)
    }

    /// Merges a block at once; `None` if there are too many lists, or their positions lie too far apart.
    ///
    /// The next part of every list is such that the block has no more positions than it may: up to the
    /// first position before which some list has its share of them.
    fn merge(&mut self) -> Option<usize> {
        let mut runs = [Run::default(); RUNS];
        let runs = runs.get_mut(..self.lists.len())?;
        let room = longest_run(runs.len());
        let pivot = self.lists.iter().filter_map(|list| list.rest().get(room)).min().copied();
        for (run, list) in runs.iter_mut().zip(&self.lists) {
            let rest = list.rest();
            let most = &rest[..rest.len().min(room)];
            let count = pivot.map_or(most.len(), |pivot| below(most, pivot));
            *run = Run { rest, count };
        }
        let count = self.runs.as_mut()?.merge(runs)?;
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
        let head = |(k, list): (usize, &List<'_>)| Some(Reverse((*list.rest().first()?, k)));
        let mut heads: BinaryHeap<_> = self.lists.iter().enumerate().filter_map(head).collect();
        // Lists that have the position which is taken, once each.
        let mut taken: Vec<usize> = Vec::new();
        while self.positions.len() < BLOCK
            && let Some(&Reverse((lowest, _))) = heads.peek()
        {
            taken.clear();
            while let Some(top) = heads.peek_mut().filter(|top| top.0.0 == lowest) {
                let Reverse((_, k)) = PeekMut::pop(top);
                self.slots[k * BLOCK + counts[k]] = self.positions.len() as u16;
                counts[k] += 1;
                self.lists[k].taken += 1;
                taken.push(k);
            }
            heads.extend(taken.iter().filter_map(|&k| head((k, &self.lists[k]))));
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

#[cfg(test)]
mod tests {
    use super::{BLOCK, Positions, Share, Union};
    use quickcheck::{Arbitrary, Gen, QuickCheck};
    use std::borrow::Cow;
    use std::collections::BTreeSet;

    /// Lists of one to 20 leaves: empty ones, equal ones, disjoint ones, and ones that share much.
    #[derive(Debug, Clone)]
    struct Lists(Vec<Vec<usize>>);

    impl Arbitrary for Lists {
        fn arbitrary(g: &mut Gen) -> Self {
            let count = *g.choose(&[1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 17, 20]).unwrap();
            // About the spans from which on keys of 32 and of 64 bits are too short, too.
            let [short, long] = [(1 << 23) / 2199, (usize::MAX / 2199) >> 9];
            let steps = [
                1,
                3,
                100,
                short,
                short + 1,
                50_000,
                usize::MAX >> 28,
                long,
                long + 1,
                usize::MAX >> 14,
            ];
            let step = *g.choose(&steps).unwrap();
            let top = *g.choose(&[false, false, true]).unwrap();
            let mut lists: Vec<Vec<usize>> = Vec::new();
            for k in 0..count {
                let len = *g.choose(&[0, 1, 5, 300, 512, 513, 1100]).unwrap();
                let copied = lists.last().filter(|_| *g.choose(&[false, true, false]).unwrap());
                if let Some(last) = copied {
                    lists.push(last.clone());
                    continue;
                }
                let first = *g.choose(&[0, 0, 0, 1200 * k]).unwrap();
                let mut state = u64::arbitrary(g) | 1;
                let numbers = (0..len).map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(99991);
                    let number = (first + (state >> 33) as usize % 2200).saturating_mul(step);
                    if top { (usize::MAX - 1) - number.min(usize::MAX - 1) } else { number }
                });
                let numbers: BTreeSet<usize> = numbers.filter(|n| *n != usize::MAX).collect();
                lists.push(numbers.into_iter().collect());
            }
            Self(lists)
        }
    }

    /// The union, and what every list has in it, block by block.
    fn merged(lists: &[Vec<usize>]) -> (Vec<usize>, Vec<Vec<usize>>) {
        let positions: Vec<Positions<'_>> = lists.iter().map(|l| Cow::Borrowed(&l[..])).collect();
        let parts: Vec<_> = lists.iter().map(|list| 0..list.len()).collect();
        let mut union = Union::new(&positions, &parts);
        let (mut all, mut own) = (Vec::new(), vec![Vec::new(); lists.len()]);
        while let Some(block) = union.next_block() {
            assert!((1..=BLOCK).contains(&block.positions.len()));
            for ((share, own), list) in block.shares.iter().zip(&mut own).zip(lists) {
                let (ordinals, at) = match share {
                    Share::Whole(ordinals) => (ordinals.clone(), block.positions.to_vec()),
                    Share::Placed { ordinals, slot } => {
                        let slots = block.placed(*slot, ordinals.len()).iter();
                        let at = slots.map(|&slot| block.positions[usize::from(slot)]);
                        (ordinals.clone(), at.collect())
                    }
                    Share::Picked { .. } => panic!("a union picks nothing"),
                };
                // Shares of storage that lies are only to be harmless.
                if list.is_sorted() {
                    assert_eq!((ordinals.start, ordinals.len()), (own.len(), at.len()));
                }
                own.extend(at);
            }
            all.extend(block.positions);
        }
        (all, own)
    }

    fn is_union(Lists(lists): Lists) -> bool {
        let expected: BTreeSet<usize> = lists.iter().flatten().copied().collect();
        let (all, own) = merged(&lists);
        all.into_iter().eq(expected) && own == lists
    }

    #[test]
    fn blocks_are_the_union_of_all_lists() {
        QuickCheck::new().tests(1000).quickcheck(is_union as fn(Lists) -> bool);
    }

    /// It ends, at the latest when all lists were taken.
    #[test]
    fn lists_that_do_not_ascend_come_to_an_end() {
        let falling: Vec<usize> = (0..2000).rev().collect();
        let wild: Vec<usize> =
            (0..2000).map(|k: usize| k.wrapping_mul(usize::MAX / 13 * 8)).collect();
        let ends = vec![usize::MAX; 700];
        let good: Vec<usize> = (0..3000).map(|k| k * 5).collect();
        let lists = [falling, wild, ends, good];
        for first in &lists {
            for second in &lists {
                merged(&[first.clone(), second.clone()]);
                merged(&[first.clone(), second.clone(), lists[3].clone()]);
                let many = [first, second].into_iter().cycle().take(18).cloned();
                merged(&many.collect::<Vec<_>>());
            }
        }
    }
}
