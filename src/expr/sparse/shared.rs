//! The positions that all sparse operands have, block by block.

use super::cursor::{BLOCK, Positions, Share};
use super::merge::Union;
use crate::kernel::Common;
use itertools::Itertools;
use std::ops::Range;

/// The positions that all sparse operands share: those of an operand are the union of the positions of its
/// leaves.
pub(super) struct Shared<'l> {
    union: Union<'l>,
    /// Operand of every leaf, if it is sparse.
    operands: &'l [Option<usize>],
    /// How many operands are sparse.
    all: usize,
    /// Whether the union of all lists is what is asked for.
    only: bool,
    positions: Vec<usize>,
    shares: Vec<Share>,
}

impl<'l> Shared<'l> {
    /// The shared positions of parts of `lists`, as [`Union::new`].
    pub(super) fn new(
        lists: &'l [Positions<'_>],
        parts: &[Range<usize>],
        operands: &'l [Option<usize>],
    ) -> Self {
        let union = Union::new(lists, parts);
        let all = operands.iter().flatten().dedup().count();
        // Sparse leaves beside dense ones in one operand do not decide where to evaluate.
        let decide = |(list, operand): (&Positions<'_>, &Option<usize>)| {
            operand.is_some() || list.is_empty()
        };
        let only = all == 1 && lists.iter().zip(operands).all(decide);
        let shares = union.no_shares();
        Self { union, operands, all, only, positions: Vec::new(), shares }
    }

    /// The next block that is not empty, if there is one.
    pub(super) fn next_block(&mut self) -> Option<(&[usize], &[Share])> {
        if self.only {
            return self.union.next_block();
        }
        loop {
            let (positions, shares) = self.union.next_block()?;
            // How many operands have an entry at each position, up to the first that has none. The leaves
            // of an operand follow one another.
            let mut found = [0; BLOCK];
            let (mut operand, mut before) = (None, 0);
            for (share, own) in shares.iter().zip(self.operands).filter(|(_, own)| own.is_some()) {
                if operand.is_some_and(|operand| operand != own) {
                    before += 1;
                }
                operand = Some(own);
                for k in 0..share.ordinals.len() {
                    let found = &mut found[share.place(k) % BLOCK];
                    *found += usize::from(*found == before);
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
                    own.slots[k] = places[share.place(k) % BLOCK];
                }
            }
            if !self.positions.is_empty() {
                return Some((&self.positions, &self.shares));
            }
        }
    }
}

/// The positions that two operands share, each of which is one sparse leaf; other leaves store nothing.
pub(super) struct Pair<'l> {
    lists: Common<'l>,
    /// Numbers of the two leaves, and the ordinals of their first positions.
    leaves: [usize; 2],
    first: [usize; 2],
    positions: Vec<usize>,
    shares: Vec<Share>,
}

impl<'l> Pair<'l> {
    /// The shared positions of parts of `lists`, as [`Union::new`]; `None` if there are other operands.
    pub(super) fn new(
        lists: &'l [Positions<'_>],
        parts: &[Range<usize>],
        operands: &[Option<usize>],
    ) -> Option<Self> {
        let storing = (0..lists.len()).filter(|&leaf| !lists[leaf].is_empty());
        let decisive = (0..lists.len()).filter(|&leaf| operands[leaf].is_some());
        let leaves: [usize; 2] = decisive.collect::<Vec<_>>().try_into().ok()?;
        let apart = operands[leaves[0]] != operands[leaves[1]];
        (apart && storing.eq(leaves)).then(|| Self {
            lists: Common::new(leaves.map(|leaf| &lists[leaf][parts[leaf].clone()])),
            leaves,
            first: leaves.map(|leaf| parts[leaf].start),
            positions: Vec::with_capacity(BLOCK),
            shares: vec![Share::default(); lists.len()],
        })
    }

    /// The next block that is not empty, if there is one.
    pub(super) fn next_block(&mut self) -> Option<(&[usize], &[Share])> {
        let Self { lists, leaves, first, positions, shares } = self;
        positions.clear();
        leaves.iter().for_each(|&leaf| shares[leaf].picked.clear());
        let list = lists.lists[0];
        lists.take(BLOCK, |pair| {
            positions.push(list[pair[0]]);
            for k in 0..2 {
                shares[leaves[k]].picked.push(first[k] + pair[k]);
            }
        });
        (!positions.is_empty()).then_some((&positions[..], &shares[..]))
    }
}
