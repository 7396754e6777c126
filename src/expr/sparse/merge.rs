//! The union of ascending lists, block by block.

use super::cursor::{BLOCK, Positions, Share};
use crate::kernel::prefetch;
use std::ops::Range;

/// Blocks that are merged at once. Each step of a merge waits for the comparison before it; several
/// merges, step by step in turn, fill the time.
const LANES: usize = 2;
/// Steps between two looks at whether all lanes are done.
const STRIDE: usize = 8;
/// Positions in a line of cache.
const LINE: usize = 8;
/// Stands for the end of a list: no element has this position.
const END: usize = usize::MAX;

/// Merges lists of positions: each block is the next part of their union, and for every list the places
/// of its own positions in it.
pub(crate) struct Union<'l> {
    /// The lists that are not empty.
    lists: Vec<List<'l>>,
    lanes: [Lane; LANES],
    /// The lane to hand out next, and the number of those that are ready.
    next: usize,
    ready: usize,
}

struct List<'l> {
    positions: &'l [usize],
    /// How far it was taken.
    taken: usize,
    /// Number of the leaf, and the ordinal of the first position.
    leaf: usize,
    first: usize,
}

/// One block.
#[derive(Clone)]
struct Lane {
    positions: Box<[usize; BLOCK]>,
    count: usize,
    shares: Vec<Share>,
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
        let lane = Lane { positions: Box::new([0; BLOCK]), count: 0, shares };
        let lanes = std::array::from_fn(|_| lane.clone());
        Self { lists, lanes, next: 0, ready: 0 }
    }

    /// The share of every leaf in no block at all.
    pub(crate) fn no_shares(&self) -> Vec<Share> {
        vec![Share::default(); self.lanes[0].shares.len()]
    }

    /// The next block, if there is one.
    pub(crate) fn next_block(&mut self) -> Option<(&[usize], &[Share])> {
        if let [list] = &mut self.lists[..] {
            let part = list.taken..list.positions.len().min(list.taken + BLOCK);
            list.taken = part.end;
            let share = &mut self.lanes[0].shares[list.leaf];
            share.ordinals = list.first + part.start..list.first + part.end;
            share.whole = true;
            return (!part.is_empty()).then_some((&list.positions[part], &self.lanes[0].shares));
        }
        if self.next == self.ready {
            (self.next, self.ready) = (0, 0);
            match self.lists.len() {
                0 => {}
                2 => self.merge::<2>(),
                3 => self.merge::<3>(),
                4 => self.merge::<4>(),
                _ => self.merge_many(),
            }
        }
        let lane = self.lanes[..self.ready].get(self.next)?;
        self.next += 1;
        Some((&lane.positions[..lane.count], &lane.shares))
    }

    /// Merges as many blocks as there are lanes: in each lane it takes the smallest head of all lists,
    /// again and again, without a branch on which one it is.
    fn merge<const K: usize>(&mut self) {
        let mut parts = [[&[][..]; K]; LANES];
        let mut steps = 0;
        while self.ready < LANES {
            let Some(cut) = self.cut::<K>() else { break };
            parts[self.ready] = cut;
            steps = steps.max(cut.iter().map(|part| part.len()).sum());
            self.ready += 1;
        }
        for list in &self.lists {
            // What the next cut will look at.
            let ahead = list.taken..list.positions.len().min(list.taken + LANES * BLOCK / K);
            ahead.step_by(LINE).for_each(|at| prefetch(list.positions, at, LINE));
        }
        let mut slots = [[[0_u16; BLOCK]; K]; LANES];
        let mut at = [[0_usize; K]; LANES];
        let mut heads = parts.map(|parts| parts.map(|part| head(part, 0)));
        for step in 0..steps.min(BLOCK) {
            for lane in 0..LANES {
                let lowest = heads[lane].into_iter().fold(END, usize::min);
                self.lanes[lane].positions[step] = lowest;
                for k in 0..K {
                    let at = &mut at[lane][k];
                    slots[lane][k][*at % BLOCK] = step as u16;
                    *at += usize::from(heads[lane][k] == lowest);
                    heads[lane][k] = head(parts[lane][k], *at);
                }
            }
            if step % STRIDE == STRIDE - 1 && heads.iter().flatten().all(|&head| head == END) {
                steps = step + 1;
                break;
            }
        }
        for (lane, slots) in self.lanes[..self.ready].iter_mut().zip(&slots) {
            lane.count = lane.positions[..steps.min(BLOCK)].partition_point(|&p| p != END);
            for (list, slots) in self.lists.iter().zip(slots) {
                let share = &mut lane.shares[list.leaf];
                share.whole = share.ordinals.len() == lane.count;
                share.slots = *slots;
            }
        }
    }

    /// The next part of every list for a lane, such that the block has no more positions than it may: up to
    /// the first position before which some list has its share of them.
    fn cut<const K: usize>(&mut self) -> Option<[&'l [usize]; K]> {
        let room = BLOCK / K;
        let rest = |list: &List<'l>| &list.positions[list.taken..];
        let pivot = self.lists.iter().filter_map(|list| rest(list).get(room)).min().copied();
        let mut parts = [&[][..]; K];
        for (part, list) in parts.iter_mut().zip(&mut self.lists) {
            let rest = rest(list);
            let rest = &rest[..rest.len().min(room)];
            let count = pivot.map_or(rest.len(), |pivot| below(rest, pivot));
            *part = &rest[..count];
            let start = list.first + list.taken;
            self.lanes[self.ready].shares[list.leaf].ordinals = start..start + count;
            list.taken += count;
        }
        parts.iter().any(|part| !part.is_empty()).then_some(parts)
    }

    /// One block of any number of lists.
    fn merge_many(&mut self) {
        let lane = &mut self.lanes[0];
        for list in &self.lists {
            let start = list.first + list.taken;
            lane.shares[list.leaf].ordinals = start..start;
        }
        lane.count = 0;
        while lane.count < BLOCK {
            let heads = self.lists.iter().map(|list| head(list.positions, list.taken));
            let lowest = heads.fold(END, usize::min);
            if lowest == END {
                break;
            }
            for list in &mut self.lists {
                if head(list.positions, list.taken) == lowest {
                    let share = &mut lane.shares[list.leaf];
                    share.slots[share.ordinals.len()] = lane.count as u16;
                    share.ordinals.end += 1;
                    list.taken += 1;
                }
            }
            lane.positions[lane.count] = lowest;
            lane.count += 1;
        }
        for list in &self.lists {
            let share = &mut lane.shares[list.leaf];
            share.whole = share.ordinals.len() == lane.count;
        }
        self.ready = usize::from(lane.count > 0);
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

#[inline(always)]
fn head(list: &[usize], at: usize) -> usize {
    list.get(at).copied().unwrap_or(END)
}
