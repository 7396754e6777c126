//! Expressions whose type is erased: cut points that are evaluated block by block.

use super::apply::{LEAF_LIMIT, too_many_leaves};
use super::leaf::LeafRow;
use super::node::{Node, StoredOnly, Worker};
use super::sparse::cursor::{Block, Maps, Positions, StoredCursor, StoredLeaf};
use super::{Access, Expr, Lazy, Leaf, Prepare, sealed::Sealed};
use crate::error::{Error, Result, StorageError};
use crate::kernel::{Cursor, Fault, Local, Row, Stop, Tile};
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::Arc;

/// An expression of elements `T` whatever its operators. Clones share the tree. It nests up to 100 boxes
/// deep, see [`Lazy::boxed`].
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::from_vec([2], vec![1.0, 2.0])?;
/// let several: Vec<BoxExpr<f64>> = vec![(&t + 1.0).boxed(), (&t * 10.0).boxed()];
/// let sum = several.into_iter().reduce(|a, b| (a + b).boxed()).unwrap();
/// assert_eq!(sum.eval()?.to_vec()?, [12.0, 23.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub type BoxExpr<'a, T> = Lazy<Boxed<'a, T>>;

/// Most boxes within boxes. Each level needs stack to evaluate.
const DEPTH_LIMIT: usize = 100;

/// The inside of a [`BoxExpr`].
pub struct Boxed<'a, T> {
    /// The tree, or why there is none.
    node: Result<NodeRef<'a, T>>,
    /// Maps of the leaves, outside the tree: so views of clones differ.
    leaves: SmallVec<[BoxedLeaf; 1]>,
    shape: Result<Shape>,
    depth: usize,
    /// [`Expr::leaf_count`]; at least 1, as a box of scalars alone takes time as well.
    leaf_count: usize,
}

/// A tree of any type, shared by clones or borrowed.
enum NodeRef<'a, T> {
    Shared(Arc<dyn Node<T> + 'a>),
    Borrowed(&'a dyn Node<T>),
}

impl<T> Clone for NodeRef<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Shared(node) => Self::Shared(node.clone()),
            Self::Borrowed(node) => Self::Borrowed(*node),
        }
    }
}

impl<'a, T> Deref for NodeRef<'a, T> {
    type Target = dyn Node<T> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Shared(node) => &**node,
            Self::Borrowed(node) => *node,
        }
    }
}

#[derive(Debug, Clone)]
struct BoxedLeaf {
    map: AddressMap,
    elem_bytes: usize,
    access: Access,
}

impl<T> Clone for Boxed<'_, T> {
    fn clone(&self) -> Self {
        Self {
            node: self.node.clone(),
            leaves: self.leaves.clone(),
            shape: self.shape.clone(),
            depth: self.depth,
            leaf_count: self.leaf_count,
        }
    }
}

debug_of_fields!([T] Boxed<'_, T> |own| shape: own.shape, leaves: own.leaves.iter().map(|leaf| &leaf.map).collect::<Vec<_>>());

pub(super) fn boxed<'a, E: Expr + 'a>(e: E) -> BoxExpr<'a, E::Elem> {
    let (depth, leaves) = (e.depth() + 1, e.leaf_count());
    Lazy(Boxed::new(NodeRef::Shared(Arc::new(e)), depth, leaves))
}

/// An expression with its type erased, borrowed: for whoever would be compiled again for every type of it.
pub(crate) fn erased<E: Expr>(e: &E) -> Boxed<'_, E::Elem> {
    Boxed::new(NodeRef::Borrowed(e), e.depth(), e.leaf_count())
}

/// One whose type was erased before.
pub(super) fn borrowed<T>(e: &dyn Node<T>) -> Boxed<'_, T> {
    let mut leaves = 0;
    e.leaves(&mut |_| leaves += 1);
    Boxed::new(NodeRef::Borrowed(e), e.depth(), leaves)
}

impl<'a, T> Boxed<'a, T> {
    #[inline(never)]
    fn new(node: NodeRef<'a, T>, depth: usize, leaf_count: usize) -> Self {
        match Self::copied_leaves(&*node, depth, leaf_count) {
            Ok(leaves) => {
                let leaf_count = leaf_count.max(1);
                Self { shape: node.shape(), node: Ok(node), leaves, depth, leaf_count }
            }
            Err(error) => Self::refused(error),
        }
    }

    /// One that cannot be made.
    pub(crate) fn refused(error: Error) -> Self {
        Self {
            node: Err(error.copy()),
            leaves: SmallVec::new(),
            shape: Err(error),
            depth: 0,
            leaf_count: 1,
        }
    }

    fn copied_leaves(
        node: &dyn Node<T>,
        depth: usize,
        leaf_count: usize,
    ) -> Result<SmallVec<[BoxedLeaf; 1]>> {
        if depth > DEPTH_LIMIT {
            return Err(Error::TooDeep { depth, limit: DEPTH_LIMIT });
        }
        if leaf_count > LEAF_LIMIT {
            return Err(too_many_leaves(leaf_count));
        }
        // There is room for all, so no push allocates.
        let mut leaves = SmallVec::new();
        leaves
            .try_reserve_exact(leaf_count)
            .map_err(|_| Error::OutOfMemory { bytes: leaf_count * size_of::<BoxedLeaf>() })?;
        node.leaves(&mut |leaf| {
            leaves.push(BoxedLeaf {
                map: leaf.map.clone(),
                elem_bytes: leaf.elem_bytes,
                access: leaf.access,
            });
        });
        Ok(leaves)
    }
}

impl<T> Sealed for Boxed<'_, T> {}

impl<'x, T: Copy + Send + Sync + 'x> Expr for Boxed<'x, T> {
    type Elem = T;
    type Cursor<'a>
        = BoxedCursor<'a, T>
    where
        Self: 'a;
    type Ref<'a>
        = Boxed<'x, T>
    where
        Self: 'a;

    fn stored_only(&self) -> Option<StoredOnly<'_, T>> {
        // Of a view of the box, what is in it tells nothing.
        let (node, [leaf]) = (self.node.as_ref().ok()?, &self.leaves[..]) else { return None };
        let map = &leaf.map;
        let same = node.shape().is_ok_and(|shape| shape == map.shape());
        let whole = same && map.consecutive().is_some_and(|run| run.start == 0);
        node.stored_only().filter(|_| whole)
    }

    fn is_leaf(&self) -> bool {
        self.node.as_ref().is_ok_and(|node| node.is_leaf())
    }

    fn by_ref(&self) -> Boxed<'x, T> {
        self.clone()
    }

    fn shape(&self) -> Result<Shape> {
        self.shape.clone()
    }

    fn fits(&self, shape: &Shape) -> bool {
        self.shape.as_ref().is_ok_and(|own| own == shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        for leaf in &self.leaves {
            let access = leaf.access.clone();
            visit(Leaf { map: &leaf.map, elem_bytes: leaf.elem_bytes, access });
        }
    }

    fn in_memory(&self) -> Option<(&[T], &AddressMap)> {
        let [leaf] = &self.leaves[..] else { return None };
        Some((self.node.as_ref().ok()?.in_memory()?, &leaf.map))
    }

    #[inline(never)]
    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        // The shape follows a map of its own, as there may be no leaf of the full shape.
        let joint = self.shape.clone()?;
        self.shape = Ok(change(AddressMap::row_major(&joint)?)?.shape());
        for leaf in &mut self.leaves {
            leaf.map = change(std::mem::take(&mut leaf.map))?;
        }
        Ok(())
    }

    fn cursor(&self) -> BoxedCursor<'_, T> {
        let worker = self.node.as_ref().map(|node| node.open()).map_err(Error::copy);
        BoxedCursor { worker, columns: 0, fiber: 1, fault: false }
    }

    /// What is in the box, without a detour through memory.
    fn worker(&self) -> Worker<'_, T> {
        match &self.node {
            Ok(node) => node.open(),
            Err(_) => Worker::new(self.cursor()),
        }
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        if let Ok(node) = &self.node {
            node.deferred(visit);
        }
    }

    fn leaf_count(&self) -> usize {
        self.leaf_count
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

/// A boxed expression at work: it evaluates whole tiles.
pub struct BoxedCursor<'a, T> {
    worker: Result<Worker<'a, T>>,
    /// Columns of the tile.
    columns: usize,
    /// Columns for each position of stored entries.
    fiber: usize,
    /// Whether an element of the tile has a fault.
    fault: bool,
}

debug_of_fields!([T] BoxedCursor<'_, T>);

impl<'a, T: Copy> BoxedCursor<'a, T> {
    fn worker(&mut self) -> Result<&mut Worker<'a, T>, Stop> {
        self.worker.as_mut().map_err(|error| error.copy().into())
    }

    /// Evaluates the tile that the worker is bound to.
    fn evaluate(&mut self, sides: [usize; 2]) -> Result<(), Stop> {
        self.columns = sides[1];
        self.fault = self.worker()?.rows(0, sides)?.1;
        Ok(())
    }
}

impl<T: Copy> Cursor for BoxedCursor<'_, T> {
    type Elem = T;
    type Row<'r>
        = BoxedRow<'r, T>
    where
        Self: 'r;

    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.worker()?.bind(tile, next)?;
        self.evaluate(tile.sides())
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> BoxedRow<'_, T> {
        let filled = self.worker.as_ref().map_or(&[][..], Worker::filled);
        let elements = &filled[row * self.columns..][..columns];
        BoxedRow { elements: LeafRow::new(elements), fault: self.fault }
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        self.worker()?.fault(tile, next)
    }
}

impl<'a, T: Copy + Send + 'a> StoredLeaf<'a> for BoxedCursor<'a, T> {
    fn open(&mut self, maps: &Maps, lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        self.fiber = maps.fiber;
        self.worker()?.take_up(maps, lists)
    }

    fn look_up(
        &mut self,
        maps: &Maps,
        at: &[usize],
        lists: &mut [Positions<'a>],
        next: &mut usize,
    ) -> Result<(), Stop> {
        self.worker()?.look_up(maps, at, lists, next)
    }

    fn load(&mut self, local: &mut Local<'_>, next: &mut usize) -> Result<(), Stop> {
        self.worker()?.load_leaves(local, next)
    }

    fn first_failure(
        &mut self,
        local: &Local<'_>,
        next: &mut usize,
    ) -> Result<Option<(usize, StorageError)>> {
        match &mut self.worker {
            Ok(worker) => worker.first_failure_from(local, next),
            Err(error) => Err(error.copy()),
        }
    }

    fn expect(&mut self, boxes: &[Local<'_>], next: &mut usize) {
        if let Ok(worker) = &mut self.worker {
            worker.expect_leaves(boxes, next);
        }
    }

    fn ahead(&mut self) -> usize {
        self.worker.as_mut().map_or(0, Worker::ahead)
    }

    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        self.worker()?.bind_stored(block, next)?;
        self.evaluate([1, block.positions.len() * self.fiber])
    }
}

impl<'a, T: Copy + Send + 'a> StoredCursor<'a> for BoxedCursor<'a, T> {
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        visit(self);
    }

    fn fork(&self) -> Self {
        let worker = self.worker.as_ref().map(Worker::fork).map_err(Error::copy);
        Self { worker, columns: 0, fiber: self.fiber, fault: false }
    }
}

/// A row of a block; knows whether some element of the block had a fault.
#[derive(Debug)]
pub struct BoxedRow<'r, T> {
    elements: LeafRow<'r, T>,
    fault: bool,
}

impl<T: Copy> Row for BoxedRow<'_, T> {
    type Elem = T;
    const FAULTS: bool = true;

    #[inline(always)]
    fn part(&self, start: usize, columns: usize) -> Self {
        Self { elements: self.elements.part(start, columns), fault: self.fault }
    }

    #[inline(always)]
    fn get(&self, column: usize) -> T {
        self.elements.get(column)
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (T, bool) {
        (self.elements.get(column), self.fault)
    }
}
