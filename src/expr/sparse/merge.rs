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
        let count = self.positions.len();
        for share in &mut self.shares {
            share.whole = share.ordinals.len() == count;
        }
        (count > 0).then_some((&self.positions, &self.shares))
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

/// The positions that all sparse operands share: those of an operand are the union of the positions of its
/// leaves.
pub(crate) struct Shared<'l> {
    union: Union<'l>,
    /// Operand of every leaf, if it is sparse.
    operands: &'l [Option<usize>],
    /// A bit for every sparse operand.
    all: u8,
    /// Whether the union of all lists is what is asked for.
    only: bool,
    positions: Vec<usize>,
    shares: Vec<Share>,
}

impl<'l> Shared<'l> {
    pub(crate) fn new(lists: &'l [Positions<'_>], operands: &'l [Option<usize>]) -> Self {
        let parts: Vec<_> = lists.iter().map(|list| 0..list.len()).collect();
        let union = Union::new(lists, &parts);
        let all = operands.iter().flatten().fold(0, |all, operand| all | 1 << operand);
        // Sparse leaves beside dense ones in one operand do not decide where to evaluate.
        let decide = |(list, operand): (&Positions<'_>, &Option<usize>)| {
            operand.is_some() || list.is_empty()
        };
        let only = all == 1 && lists.iter().zip(operands).all(decide);
        let shares = union.shares.clone();
        Self { union, operands, all, only, positions: Vec::new(), shares }
    }

    /// The next block that is not empty, if there is one.
    pub(crate) fn next_block(&mut self) -> Option<(&[usize], &[Share])> {
        if self.only {
            return self.union.next_block();
        }
        loop {
            let (positions, shares) = self.union.next_block()?;
            // Which operands have an entry at each position.
            let mut found = [0_u8; BLOCK];
            for (share, operand) in shares.iter().zip(self.operands) {
                let Some(operand) = operand else { continue };
                for k in 0..share.ordinals.len() {
                    found[usize::from(share.slots[k]) % BLOCK] |= 1 << operand;
                }
            }
            let mut places = [u16::MAX; BLOCK];
            self.positions.clear();
            for (k, &position) in
                positions.iter().enumerate().filter(|(k, _)| found[*k] == self.all)
            {
                places[k] = self.positions.len() as u16;
                self.positions.push(position);
            }
            for (own, share) in self.shares.iter_mut().zip(shares) {
                own.ordinals = share.ordinals.clone();
                own.whole = share.whole && self.positions.len() == positions.len();
                for k in 0..share.ordinals.len() {
                    own.slots[k] = places[usize::from(share.slots[k]) % BLOCK];
                }
            }
            if !self.positions.is_empty() {
                return Some((&self.positions, &self.shares));
            }
        }
    }
}
