//! Expressions at work on stored entries: a leaf is a row of packed values instead of a tile.

use crate::error::{Result, StorageError};
use crate::expr::apply::ApplyCursor;
use crate::expr::{Op, Stop};
use crate::kernel::{Cursor, Local};
use crate::map::AddressMap;
use crate::memory::{debug_of_fields, for_tuples};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Ascending row-major positions of the stored entries of one leaf.
pub(crate) type Positions<'a> = Cow<'a, [usize]>;

/// Most positions of a block.
pub(crate) const BLOCK: usize = 512;

/// A cursor that can be bound to stored entries as well as to tiles.
pub trait StoredCursor<'a>: Cursor + Send + Sized {
    /// Calls `visit` with every leaf, in the order of binding.
    #[doc(hidden)]
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>));

    /// The values of the entries taken up, if this is a leaf and nothing else. They cannot be bound then.
    #[doc(hidden)]
    fn take_values(&mut self) -> Result<Vec<Self::Elem>, Stop> {
        Ok(Vec::new())
    }

    /// The same leaves with the same entries, for another thread.
    #[doc(hidden)]
    fn fork(&self) -> Self;
}

/// Where all leaves of a sparse evaluation find their elements.
pub struct Maps {
    /// Of positions, for each leaf.
    pub(super) maps: Vec<AddressMap>,
    /// Elements of the fiber that stands at each position: one, unless fibers along the last axis are evaluated together.
    pub(in crate::expr) fiber: usize,
    /// For each leaf the distance of neighbours in a fiber.
    pub(super) steps: Vec<isize>,
    /// For each leaf whether the positions to evaluate are among its entries.
    pub(super) decides: Vec<bool>,
    /// For each leaf whether its entries are looked up at those of another one, not listed as often as they repeat.
    pub(super) looked_up: Vec<bool>,
}

debug_of_fields!([] Maps |own| fiber: own.fiber);

/// A leaf of a sparse evaluation, or several in a box.
pub trait StoredLeaf<'a> {
    /// Takes up the stored entries and adds their positions to `lists`: leaf `lists.len()` is the next one,
    /// and has the map of that number. A leaf that is not sparse has no entries and is read where others
    /// have them.
    #[doc(hidden)]
    fn open(&mut self, maps: &Maps, lists: &mut Vec<Cow<'a, [usize]>>) -> Result<(), Stop>;

    /// Takes up the stored entries at ascending positions, if those of this leaf are looked up; `next` is its number.
    #[doc(hidden)]
    fn look_up(
        &mut self,
        maps: &Maps,
        at: &[usize],
        lists: &mut [Cow<'a, [usize]>],
        next: &mut usize,
    ) -> Result<(), Stop>;

    /// Brings the elements of a box to memory, where they are not, for the tiles that are bound next.
    #[doc(hidden)]
    fn load(&mut self, local: &mut Local<'_>, next: &mut usize) -> Result<(), Stop>;

    /// Where storage fails first in a box, by addresses in operand 0, and what it reports.
    #[doc(hidden)]
    fn first_failure(
        &mut self,
        local: &Local<'_>,
        next: &mut usize,
    ) -> Result<Option<(usize, StorageError)>>;

    /// Tells storage in blocks of the boxes to come.
    #[doc(hidden)]
    fn expect(&mut self, boxes: &[Local<'_>], next: &mut usize);

    /// Of how many blocks it wants to be told.
    #[doc(hidden)]
    fn ahead(&mut self) -> usize;

    /// Resolves the leaf for a block of positions, which becomes one row; `next` is its number.
    #[doc(hidden)]
    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop>;
}

/// Positions to evaluate, and what each leaf has of them.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    pub(crate) positions: &'b [usize],
    pub(crate) shares: &'b [Share],
    /// Places among the positions, see [`Share::Placed`]; beyond them of entries that have none.
    pub(crate) slots: &'b [u16],
    /// Ordinals of entries, see [`Share::Picked`].
    pub(crate) picked: &'b [Vec<usize>],
    /// Those whose addresses are found with the first block of them, and where among them this one begins.
    pub(crate) group: Option<(&'b [usize], usize)>,
}

/// The entries of one leaf in a block.
#[derive(Debug, Clone)]
pub enum Share {
    /// Entries of these ordinals are the positions of the block, one for one.
    Whole(Range<usize>),
    /// Entries of these ordinals have the places that the block lists from `slot` on.
    Placed {
        #[doc(hidden)]
        ordinals: Range<usize>,
        #[doc(hidden)]
        slot: usize,
    },
    /// Every position has an entry: those of list `list` of the block.
    Picked {
        #[doc(hidden)]
        list: usize,
    },
}

/// No entries.
impl Default for Share {
    fn default() -> Self {
        Self::Placed { ordinals: 0..0, slot: 0 }
    }
}

impl<'b> Block<'b> {
    /// Positions whose entries are told by the shares alone.
    pub(crate) fn new(positions: &'b [usize], shares: &'b [Share]) -> Self {
        Self { positions, shares, slots: &[], picked: &[], group: None }
    }

    /// The places of the entries that [`Share::Placed`] tells of.
    pub(crate) fn placed(&self, slot: usize, count: usize) -> &[u16] {
        self.slots.get(slot..).and_then(|slots| slots.get(..count)).unwrap_or_default()
    }
}

/// What a leaf is in a sparse evaluation.
#[derive(Clone)]
pub(in crate::expr) enum Opened<'a, T: Copy> {
    /// Stored values, each the same all along its fiber, and one value for everything else.
    Stored { values: Arc<Cow<'a, [T]>>, fill: T, fiber: usize },
    /// Elements of any other storage, by the map that finds the first one of a fiber; elements of a fiber, and how far
    /// they are apart.
    Dense { map: Arc<AddressMap>, fiber: usize, step: isize },
}

impl<'a, F: Op<C::Elem>, C: StoredCursor<'a>> StoredCursor<'a> for ApplyCursor<'_, F, C> {
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        self.operands.leaves(visit);
    }

    fn fork(&self) -> Self {
        Self { function: self.function, operands: self.operands.fork() }
    }
}

macro_rules! operand_tuples {
    ($count:literal: $($name:ident $part:ident $k:tt),*) => {
        impl<'a, $($name: StoredCursor<'a>),*> StoredCursor<'a> for ($($name,)*) {
            fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
                $(self.$k.leaves(visit);)*
            }

            fn fork(&self) -> Self {
                ($(self.$k.fork(),)*)
            }
        }
    };
}
for_tuples!(operand_tuples 6);
