//! Expressions whose type is erased, as evaluations see them: so that of an expression only its loops are
//! compiled, and everything around them once an element type, or once.

use super::sparse::cursor::{Block, Maps, Positions, StoredCursor, StoredLeaf};
use super::{Expr, Leaf, Prepare};
use crate::error::{Result, StorageError};
use crate::kernel::inner::{RowsMut, Scratch};
use crate::kernel::{self, Dest, Fault, Fill, FillRow, Filled, Local, Stop, Tile, TileSource};
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use std::mem::MaybeUninit;

/// What is known of an expression without its elements.
pub(crate) trait Tree: Send + Sync {
    /// [`Expr::shape`].
    fn shape(&self) -> Result<Shape>;

    /// [`Expr::fits`].
    fn fits(&self, shape: &Shape) -> bool;

    /// [`Expr::leaves`].
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>));

    /// [`Expr::is_leaf`].
    fn is_leaf(&self) -> bool;

    /// [`Expr::deferred`].
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    /// [`Expr::depth`].
    fn depth(&self) -> usize;
}

/// An expression of elements `T`.
pub(crate) trait Node<T>: Tree {
    /// A worker that evaluates it.
    fn open(&self) -> Worker<'_, T>;

    /// The elements of [`Expr::in_memory`], to which the map of the only leaf belongs.
    fn in_memory(&self) -> Option<&[T]>;

    /// [`Expr::stored_only`].
    fn stored_only(&self) -> Option<StoredOnly<'_, T>>;

    /// Calls `work` with [`Expr::row_in_order`], if there is one; returns whether.
    fn in_order(&self, count: usize, work: &mut dyn FnMut(&dyn FillRow<T>)) -> bool;

    /// Evaluates one tile whose rows follow one another in `out` and fill it.
    fn fill_tile(&self, tile: &Tile<'_>, out: &mut [MaybeUninit<T>]) -> Result<Filled, Stop>;
}

impl<E: Expr> Tree for E {
    fn shape(&self) -> Result<Shape> {
        Expr::shape(self)
    }

    fn fits(&self, shape: &Shape) -> bool {
        Expr::fits(self, shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        Expr::leaves(self, visit);
    }

    fn is_leaf(&self) -> bool {
        Expr::is_leaf(self)
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        Expr::deferred(self, visit);
    }

    fn depth(&self) -> usize {
        Expr::depth(self)
    }
}

impl<E: Expr> Node<E::Elem> for E {
    #[inline(never)]
    fn open(&self) -> Worker<'_, E::Elem> {
        self.worker()
    }

    #[inline(never)]
    fn in_memory(&self) -> Option<&[E::Elem]> {
        Expr::in_memory(self).map(|(elements, _)| elements)
    }

    #[inline(never)]
    fn stored_only(&self) -> Option<StoredOnly<'_, E::Elem>> {
        Expr::stored_only(self)
    }

    #[inline(never)]
    fn in_order(&self, count: usize, work: &mut dyn FnMut(&dyn FillRow<E::Elem>)) -> bool {
        self.row_in_order(count).inspect(|row| work(row)).is_some()
    }

    #[inline(never)]
    fn fill_tile(&self, tile: &Tile<'_>, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled, Stop> {
        fill_whole(&mut self.cursor(), E::IS_LEAF, tile, out)
    }
}

/// A function of stored entries alone, with its type erased.
pub struct StoredOnly<'e, T> {
    pub(super) e: &'e dyn Node<T>,
    /// Leaves of each operand.
    pub(super) counts: &'e [usize],
    pub(super) fill: T,
}

debug_of_fields!([T] StoredOnly<'_, T> |own| counts: own.counts);

/// A cursor of any type.
trait Work<'a, T>: Fill<T> {
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop>;
    fn copy(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, T>) -> Option<Result<(), Stop>>;
    fn slice(&self) -> Option<&[T]>;
    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop>;
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>));
    fn take_values(&mut self) -> Result<Vec<T>, Stop>;
    fn fork(&self) -> BoxedWork<'a, T>;
}

type BoxedWork<'a, T> = Box<dyn Work<'a, T> + Send + 'a>;

impl<'a, C: StoredCursor<'a> + 'a> Work<'a, C::Elem> for C {
    #[inline(never)]
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        kernel::Cursor::bind(self, tile, next)
    }

    #[inline(never)]
    fn copy(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, C::Elem>) -> Option<Result<(), Stop>> {
        kernel::Cursor::copy(self, tile, dest)
    }

    #[inline(never)]
    fn slice(&self) -> Option<&[C::Elem]> {
        kernel::Cursor::slice(self)
    }

    #[inline(never)]
    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        kernel::Cursor::fault(self, tile, next)
    }

    #[inline(never)]
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        StoredCursor::leaves(self, visit);
    }

    #[inline(never)]
    fn take_values(&mut self) -> Result<Vec<C::Elem>, Stop> {
        StoredCursor::take_values(self)
    }

    #[inline(never)]
    fn fork(&self) -> BoxedWork<'a, C::Elem> {
        Box::new(StoredCursor::fork(self))
    }
}

/// An expression at work, with memory for a tile.
pub struct Worker<'a, T> {
    work: BoxedWork<'a, T>,
    scratch: Scratch<T>,
}

debug_of_fields!([T] Worker<'_, T>);

impl<'a, T: Copy> Worker<'a, T> {
    pub(super) fn new<C: StoredCursor<'a, Elem = T> + 'a>(cursor: C) -> Self {
        Self { work: Box::new(cursor), scratch: Scratch::default() }
    }

    /// Asks for memory that is read later, as tiles are read whose rows follow one another.
    pub(super) fn prefetch_row(&mut self) {
        self.scratch = Scratch::new(true);
    }

    /// Resolves the leaves for a tile; `next` is the first of them.
    pub(super) fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.work.bind(tile, next)
    }

    /// Resolves the leaves for a block of stored entries.
    pub(super) fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        self.each_leaf(&mut |leaf| leaf.bind_stored(block, next))
    }

    /// The elements of some rows of what it is bound to, from `first` on, and whether one has a fault.
    pub(super) fn rows(&mut self, first: usize, sides: [usize; 2]) -> Result<(&[T], bool)> {
        self.scratch.fill(&*self.work, first, sides)
    }

    /// What [`Self::rows`] gave last.
    #[inline]
    pub(super) fn filled(&self) -> &[T] {
        self.scratch.filled()
    }

    /// [`StoredLeaf::load`] of all leaves; `next` is the first of them.
    pub(super) fn load_leaves(
        &mut self,
        local: &mut Local<'_>,
        next: &mut usize,
    ) -> Result<(), Stop> {
        self.each_leaf(&mut |leaf| leaf.load(local, next))
    }

    /// The first [`StoredLeaf::first_failure`] of all leaves, of the leftmost where several are as early.
    pub(super) fn first_failure(
        &mut self,
        local: &Local<'_>,
    ) -> Result<Option<(usize, StorageError)>> {
        self.first_failure_from(local, &mut 1)
    }

    /// The same, of leaves from number `next` on.
    pub(super) fn first_failure_from(
        &mut self,
        local: &Local<'_>,
        next: &mut usize,
    ) -> Result<Option<(usize, StorageError)>> {
        let (mut first, mut done): (Option<(usize, StorageError)>, _) = (None, Ok(()));
        self.work.leaves(&mut |leaf| match leaf.first_failure(local, next) {
            Ok(Some((position, error))) => {
                if first.as_ref().is_none_or(|(known, _)| position < *known) {
                    first = Some((position, error));
                }
            }
            Ok(None) => {}
            Err(error) => done = Err(error),
        });
        done.map(|()| first)
    }

    /// [`StoredLeaf::expect`] of all leaves.
    pub(super) fn expect_leaves(&mut self, boxes: &[Local<'_>], next: &mut usize) {
        self.work.leaves(&mut |leaf| leaf.expect(boxes, next));
    }

    /// Of how many blocks some leaf wants to be told.
    pub(super) fn ahead(&mut self) -> usize {
        let mut most = 0;
        self.work.leaves(&mut |leaf| most = most.max(leaf.ahead()));
        most
    }

    /// What gives rows of the tile that are in memory already.
    pub(super) fn bound(&self) -> &dyn Fill<T> {
        &*self.work
    }

    /// The memory that the elements lie in, if this is a leaf in memory and nothing else.
    pub(super) fn slice(&self) -> Option<&[T]> {
        self.work.slice()
    }

    /// The fault of the only element of `tile`, if it has one.
    pub(super) fn fault(
        &mut self,
        tile: &Tile<'_>,
        next: &mut usize,
    ) -> Result<Option<Fault>, Stop> {
        self.work.fault(tile, next)
    }

    /// Calls `visit` with leaves until it reports an error.
    fn each_leaf(
        &mut self,
        visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut done = Ok(());
        self.work.leaves(&mut |leaf| {
            if done.is_ok() {
                done = visit(leaf);
            }
        });
        done
    }

    /// [`StoredLeaf::open`] of all leaves.
    pub(super) fn take_up(
        &mut self,
        maps: &Maps,
        lists: &mut Vec<Positions<'a>>,
    ) -> Result<(), Stop> {
        self.each_leaf(&mut |leaf| leaf.open(maps, lists))
    }

    /// [`StoredLeaf::look_up`] of all leaves; `next` is the first of them.
    pub(super) fn look_up(
        &mut self,
        maps: &Maps,
        at: &[usize],
        lists: &mut [Positions<'a>],
        next: &mut usize,
    ) -> Result<(), Stop> {
        self.each_leaf(&mut |leaf| leaf.look_up(maps, at, lists, next))
    }

    /// [`StoredCursor::take_values`].
    pub(super) fn take_values(&mut self) -> Result<Vec<T>, Stop> {
        self.work.take_values()
    }

    /// The same, with the same entries taken up, for another thread.
    pub(super) fn fork(&self) -> Self {
        Self { work: self.work.fork(), scratch: Scratch::default() }
    }
}

impl<T: Copy> TileSource<T> for Worker<'_, T> {
    fn load(&mut self, local: &mut Local<'_>) -> Result<(), Stop> {
        self.load_leaves(local, &mut 1)
    }

    fn expect(&mut self, next: &mut dyn Iterator<Item = Local<'_>>) {
        if self.ahead() > 0 {
            let boxes: Vec<_> = next.collect();
            self.expect_leaves(&boxes, &mut 1);
        }
    }

    fn fill(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, T>) -> Result<(), Stop> {
        if let Some(done) = self.work.copy(tile, dest) {
            return done;
        }
        self.work.bind(tile, &mut 1)?;
        fill_bound(&*self.work, &mut self.scratch, tile, dest)
    }
}

/// Evaluates a tile whose rows follow one another in `out` and fill it.
fn fill_whole<T: Copy>(
    work: &mut dyn Work<'_, T>,
    is_leaf: bool,
    tile: &Tile<'_>,
    out: &mut [MaybeUninit<T>],
) -> Result<Filled, Stop> {
    // A tensor goes from memory to memory, not through scratch memory.
    if is_leaf
        && let Some(filled) = kernel::copy_tile(tile, out, &mut |dest| work.copy(tile, dest))?
    {
        return Ok(filled);
    }
    work.bind(tile, &mut 1)?;
    kernel::fill_tile(&*work, 0, tile.sides(), out)
}

/// Evaluates a bound tile, directly to its destination if that is a block of plain rows.
#[inline(never)]
pub(super) fn fill_bound<T: Copy>(
    cursor: &dyn Fill<T>,
    scratch: &mut Scratch<T>,
    tile: &Tile<'_>,
    dest: &mut Dest<'_, T>,
) -> Result<(), Stop> {
    let stream = dest.streams();
    let direct = if tile.dense { dest.rows().and_then(RowsMut::flat) } else { dest.rows() };
    let fault = match direct {
        Some(mut rows) if stream => cursor.fill_streaming(&mut rows).has_fault(),
        Some(mut rows) => cursor.fill(0, false, &mut rows).has_fault(),
        None => {
            let (block, fault) = scratch.fill(cursor, 0, tile.sides())?;
            dest.put(block, tile.columns);
            fault
        }
    };
    if fault { Err(Stop::Fault) } else { Ok(()) }
}
