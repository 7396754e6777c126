//! The positions that all sparse operands have, block by block.

use super::cursor::{BLOCK, Block, Positions, Share};
use super::merge::Union;
use crate::kernel::Intersection;
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
    slots: Vec<u16>,
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
        let (positions, shares, slots) = (Vec::new(), Vec::new(), Vec::new());
        Self { union, operands, all, only, positions, shares, slots }
    }

    /// The next block that is not empty, if there is one.
    pub(super) fn next_block(&mut self) -> Option<Block<'_>> {
        if self.only {
            return self.union.next_block();
        }
        let Self { union, operands, all, positions, shares, slots, .. } = self;
        loop {
            let block = union.next_block()?;
            // How many operands have an entry at each position, up to the first that has none. The leaves
            // of an operand follow one another.
            let mut found = [0; BLOCK];
            let (mut operand, mut before) = (None, 0);
            for (share, own) in block.shares.iter().zip(*operands).filter(|(_, own)| own.is_some())
            {
                if operand.is_some_and(|operand| operand != own) {
                    before += 1;
                }
                operand = Some(own);
                for_each_place(&block, share, |place| {
                    let found = &mut found[place % BLOCK];
                    *found += usize::from(*found == before);
                });
            }
            let mut places = [u16::MAX; BLOCK];
            positions.clear();
            for (k, &position) in
                block.positions.iter().enumerate().filter(|(k, _)| found[*k] == *all)
            {
                places[k] = positions.len() as u16;
                positions.push(position);
            }
            if positions.is_empty() {
                continue;
            }
            shares.clear();
            slots.clear();
            for share in block.shares {
                shares.push(match share {
                    Share::Whole(_) if positions.len() == block.positions.len() => share.clone(),
                    Share::Whole(ordinals) | Share::Placed { ordinals, .. } => {
                        Share::Placed { ordinals: ordinals.clone(), slot: slots.len() }
                    }
                    Share::Picked { .. } => Share::default(),
                });
                for_each_place(&block, share, |place| slots.push(places[place % BLOCK]));
            }
            return Some(Block { slots, ..Block::new(positions, shares) });
        }
    }
}

/// Calls `visit` with the place of every entry of a share.
fn for_each_place(block: &Block<'_>, share: &Share, mut visit: impl FnMut(usize)) {
    match share {
        Share::Whole(ordinals) => (0..ordinals.len()).for_each(visit),
        Share::Placed { ordinals, slot } => {
            block.placed(*slot, ordinals.len()).iter().for_each(|&place| visit(place.into()));
        }
        // Blocks of a union pick no entries.
        Share::Picked { .. } => {}
    }
}

/// The positions that two operands share, each of which is one sparse leaf; other leaves store nothing.
pub(super) struct Pair<'l> {
    lists: Intersection<'l>,
    /// Ordinals of the first positions of both leaves.
    first: [usize; 2],
    positions: Vec<usize>,
    /// Ordinals of the entries of both leaves.
    picked: [Vec<usize>; 2],
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
        let mut shares = vec![Share::default(); lists.len()];
        leaves.iter().enumerate().for_each(|(list, &leaf)| shares[leaf] = Share::Picked { list });
        (apart && storing.eq(leaves)).then(|| Self {
            lists: Intersection::new(leaves.map(|leaf| &lists[leaf][parts[leaf].clone()])),
            first: leaves.map(|leaf| parts[leaf].start),
            positions: Vec::with_capacity(BLOCK),
            picked: Default::default(),
            shares,
        })
    }

    /// The next block that is not empty, if there is one.
    pub(super) fn next_block(&mut self) -> Option<Block<'_>> {
        let Self { lists, first, positions, picked, shares } = self;
        positions.clear();
        picked.iter_mut().for_each(Vec::clear);
        let list = lists.lists[0];
        lists.take(BLOCK, |pair| {
            positions.push(list[pair[0]]);
            for k in 0..2 {
                picked[k].push(first[k] + pair[k]);
            }
        });
        let block = Block { picked, ..Block::new(positions, shares) };
        (!positions.is_empty()).then_some(block)
    }
}
