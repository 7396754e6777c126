//! How the elements of leaves are obtained.

mod touched;

pub(crate) use touched::{block_starts, first_in_block, starts_of_operand};

use super::{Expr, Leaf};
use crate::error::StorageError;
use crate::grid::{PerAxis, Sides};
use crate::kernel::{Grid, Supply};
use crate::storage::Reader;
use std::sync::Arc;

/// How the elements of a leaf are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// They lie in memory.
    Slice,
    /// They are copied from storage in runs.
    Read {
        /// How many elements of sparse storage below differ from a fill value, if there is no other storage below.
        below: Option<usize>,
    },
    /// As [`Self::Read`], and storage comes in blocks.
    Blocks(Arc<Grid>),
    /// As [`Self::Read`], and all but some of them equal a fill value.
    Stored {
        /// How many do not.
        count: usize,
    },
}

/// Bytes that are held at most so that blocks are loaded and stored once.
pub(crate) const MOST_BYTES: usize = 1 << 27;

/// Elements that a thread copies at once of an expression of storage in blocks: `least`, or as many as the blocks that it
/// holds for a thread have, up to 128 MiB of them. `None` of other expressions.
pub(crate) fn room<E: Expr>(e: &E, least: usize) -> Option<usize> {
    room_in(e, least, &Grid::held_by_each)
}

/// The same of parts that all threads evaluate together, one part after another: as many elements as all blocks that are
/// held have, whatever the number of threads, as these parts can be seen.
pub(crate) fn room_of_all<E: Expr>(e: &E, least: usize) -> Option<usize> {
    room_in(e, least, &|grid| grid.held)
}

fn room_in<E: Expr>(e: &E, least: usize, held: &dyn Fn(&Grid) -> usize) -> Option<usize> {
    let most = |leaf: &Leaf<'_>| MOST_BYTES / leaf.elem_bytes.max(size_of::<E::Elem>()).max(1);
    let mut room: Option<usize> = None;
    e.leaves(&mut |leaf| {
        if let Access::Blocks(grid) = &leaf.access {
            let held = held(grid).saturating_mul(grid.sides.block_len);
            let own = held.max(least).min(most(&leaf));
            room = Some(room.map_or(own, |room| room.max(own)));
        }
    });
    room
}

/// A block that could not be loaded, so that it is not tried again for each of its elements.
#[derive(Debug)]
pub(crate) struct BadBlock {
    sides: Sides,
    index: PerAxis,
    pub(crate) error: StorageError,
}

impl BadBlock {
    /// The block of an address of storage that comes in blocks.
    pub(crate) fn of<R: Reader>(storage: &R, address: usize, error: &StorageError) -> Option<Self> {
        let sides = Access::grid(storage)?.sides;
        let index = (address < sides.len).then(|| sides.find(address).0)?;
        Some(Self { sides, index, error: error.clone() })
    }

    /// Whether the element of an address lies in it.
    pub(crate) fn has(&self, address: usize) -> bool {
        address < self.sides.len && self.sides.find(address).0 == self.index
    }
}

impl Access {
    /// How the elements of a storage are obtained.
    pub(super) fn of<R: Reader + ?Sized>(storage: &R) -> Self {
        match (storage.as_slice(), storage.stored()) {
            (Some(_), _) => Self::Slice,
            (None, None) => match Self::grid(storage) {
                Some(grid) => Self::Blocks(Arc::new(grid)),
                None => Self::Read { below: storage.entries_below() },
            },
            (None, Some(stored)) => Self::Stored { count: stored.count() },
        }
    }

    /// The blocks of a storage as numbers, if it has any elements and blocks that fit its length.
    pub(super) fn grid<R: Reader + ?Sized>(storage: &R) -> Option<Grid> {
        let blocks = storage.blocks()?;
        let sides = Sides::of_len(blocks, storage.len()).filter(|sides| sides.len > 0)?;
        Some(Grid { sides, held: blocks.budget() })
    }

    /// The same, as planners see it.
    pub(super) fn supply(&self) -> Supply<'_> {
        match self {
            Self::Slice => Supply::Memory,
            Self::Read { .. } | Self::Stored { .. } => Supply::Runs,
            Self::Blocks(grid) => Supply::Blocks(grid),
        }
    }
}
