//! Expressions at work on stored entries: a leaf is a row of packed values instead of a tile.

use crate::expr::apply::ApplyCursor;
use crate::expr::scalar::Scalar;
use crate::expr::{Op, Stop};
use crate::kernel::Cursor;
use crate::map::AddressMap;
use std::borrow::Cow;
use std::ops::Range;

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

/// A leaf of a sparse evaluation, or several in a box.
pub trait StoredLeaf<'a> {
    /// Takes up the stored entries and adds their positions to `lists`: leaf `lists.len()` is the next one,
    /// and has the map of that number. A leaf that is not sparse has no entries and is read where others
    /// have them.
    #[doc(hidden)]
    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Cow<'a, [usize]>>) -> Result<(), Stop>;

    /// Resolves the leaf for a block of positions, which becomes one row; `next` is its number.
    #[doc(hidden)]
    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop>;
}

/// Positions to evaluate, and what each leaf has of them.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    pub(crate) positions: &'b [usize],
    pub(crate) shares: &'b [Share],
}

/// The entries of one leaf in a block.
#[derive(Debug, Clone)]
pub struct Share {
    pub(crate) ordinals: Range<usize>,
    /// Whether these entries are the positions of the block, one for one.
    pub(crate) whole: bool,
    /// Otherwise, if it is not empty, the ordinals of the entries at the positions of the block, one for one.
    pub(crate) picked: Vec<usize>,
    /// Otherwise for each of them its place among the positions, beyond them if it has none.
    pub(crate) slots: [u16; BLOCK],
}

impl Share {
    /// Place of an entry among the positions.
    #[inline(always)]
    pub(crate) fn place(&self, entry: usize) -> usize {
        if self.whole { entry } else { usize::from(self.slots[entry]) }
    }
}

impl Default for Share {
    fn default() -> Self {
        Self { ordinals: 0..0, whole: false, picked: Vec::new(), slots: [0; BLOCK] }
    }
}

impl<'a, T: Copy + Send> StoredCursor<'a> for Scalar<T> {
    fn leaves(&mut self, _visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {}

    fn fork(&self) -> Self {
        *self
    }
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
    ($($name:ident $k:tt),*) => {
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
operand_tuples!(A 0);
operand_tuples!(A 0, B 1);
operand_tuples!(A 0, B 1, C 2);
operand_tuples!(A 0, B 1, C 2, D 3);
operand_tuples!(A 0, B 1, C 2, D 3, E 4);
operand_tuples!(A 0, B 1, C 2, D 3, E 4, G 5);
