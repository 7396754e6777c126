//! The union of ascending lists, block by block.

use super::cursor::{BLOCK, Positions, Share};
use std::ops::Range;

/// Merges lists of positions: each block is the next part of their union, and for every list the places
/// of its own positions in it.
pub(crate) struct Union<'l> {
    /// The lists that are not empty, and which ones they are.
    lists: Vec<(usize, &'l [usize])>,
    /// How far each of them was taken.
    taken: Vec<usize>,
    positions: Vec<usize>,
    shares: Vec<Share>,
}

/// Stands for the end of a list: no element has this position.
const END: usize = usize::MAX;

impl<'l> Union<'l> {
    /// The union of parts of `lists`: of list `k` the ordinals `parts[k]`.
    pub(crate) fn new(lists: &'l [Positions<'_>], parts: &[Range<usize>]) -> Self {
        let mut shares = vec![Share::default(); lists.len()];
        for (share, part) in shares.iter_mut().zip(parts) {
            share.ordinals = part.start..part.start;
        }
        let cut = lists.iter().zip(parts).map(|(list, part)| &list[part.clone()]);
        let lists = cut.enumerate().filter(|(_, list)| !list.is_empty()).collect::<Vec<_>>();
        Self { taken: vec![0; lists.len()], lists, positions: Vec::new(), shares }
    }

    /// The next block, if there is one.
    pub(crate) fn next_block(&mut self) -> Option<(&[usize], &[Share])> {
        for share in &mut self.shares {
            share.ordinals.start = share.ordinals.end;
        }
        match self.lists.len() {
            0 => return None,
            1 => self.take_part(),
            2 => self.merge::<2>(),
            3 => self.merge::<3>(),
            4 => self.merge::<4>(),
            _ => self.merge_many(),
        }
        (!self.positions.is_empty()).then_some((&self.positions, &self.shares))
    }

    /// Of a single list just the next part.
    fn take_part(&mut self) {
        let (which, list) = self.lists[0];
        let end = list.len().min(self.taken[0] + BLOCK);
        self.positions.clear();
        self.positions.extend_from_slice(&list[self.taken[0]..end]);
        self.shares[which].ordinals.end += end - self.taken[0];
        self.taken[0] = end;
    }

    /// Takes the smallest head of all lists, again and again, without a branch on which one it is.
    fn merge<const K: usize>(&mut self) {
        self.positions.resize(BLOCK, 0);
        let lists: [&[usize]; K] = std::array::from_fn(|k| {
            self.lists.get(k).map_or(&[][..], |(_, list)| &list[self.taken[k]..])
        });
        let mut slots = [[0_u16; BLOCK]; K];
        let mut at = [0_usize; K];
        let mut heads: [usize; K] = std::array::from_fn(|k| head(lists[k], 0));
        let mut count = 0;
        while count < BLOCK {
            let lowest = heads.iter().fold(END, |lowest, &head| lowest.min(head));
            if lowest == END {
                break;
            }
            self.positions[count] = lowest;
            for k in 0..K {
                slots[k][at[k]] = count as u16;
                at[k] += usize::from(heads[k] == lowest);
                heads[k] = head(lists[k], at[k]);
            }
            count += 1;
        }
        self.positions.truncate(count);
        for k in 0..K {
            let share = &mut self.shares[self.lists[k].0];
            share.ordinals.end += at[k];
            share.slots = slots[k];
            self.taken[k] += at[k];
        }
    }

    /// As [`Self::merge`] for any number of lists.
    fn merge_many(&mut self) {
        self.positions.clear();
        let mut heads: Vec<usize> =
            self.lists.iter().zip(&self.taken).map(|((_, list), at)| head(list, *at)).collect();
        while self.positions.len() < BLOCK {
            let lowest = heads.iter().fold(END, |lowest, &head| lowest.min(head));
            if lowest == END {
                break;
            }
            for (k, (which, list)) in self.lists.iter().enumerate() {
                if heads[k] == lowest {
                    let share = &mut self.shares[*which];
                    share.slots[share.ordinals.len()] = self.positions.len() as u16;
                    share.ordinals.end += 1;
                    self.taken[k] += 1;
                    heads[k] = head(list, self.taken[k]);
                }
            }
            self.positions.push(lowest);
        }
    }
}

#[inline(always)]
fn head(list: &[usize], at: usize) -> usize {
    list.get(at).copied().unwrap_or(END)
}
