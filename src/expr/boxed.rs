//! Expressions whose type is erased: cut points that are evaluated block by block.

use super::leaf::LeafRow;
use super::sparse::{Block, Positions, StoredCursor};
use super::{Access, Expr, Lazy, Leaf, sealed::Sealed};
use crate::error::{Error, Result};
use crate::kernel::inner::Scratch;
use crate::kernel::{Cursor, Fault, Row, Stop, Tile};
use crate::map::AddressMap;
use crate::shape::Shape;
use std::fmt;
use std::sync::Arc;

/// An expression of elements `T` whatever its operators. Clones share the tree.
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
    /// The shared tree; absent if it was too deep.
    node: Option<Arc<dyn Node<T> + 'a>>,
    /// Maps of the leaves, outside the tree: so views of clones differ.
    leaves: Vec<BoxedLeaf>,
    shape: Result<Shape>,
    depth: usize,
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
        }
    }
}

impl<T> fmt::Debug for Boxed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let maps: Vec<_> = self.leaves.iter().map(|leaf| &leaf.map).collect();
        f.debug_struct("Boxed")
            .field("shape", &self.shape)
            .field("leaves", &maps)
            .finish_non_exhaustive()
    }
}

pub(super) fn boxed<'a, E: Expr + 'a>(e: E) -> BoxExpr<'a, E::Elem> {
    let depth = e.depth() + 1;
    if depth > DEPTH_LIMIT {
        let shape = Err(Error::TooDeep { depth, limit: DEPTH_LIMIT });
        return Lazy(Boxed { node: None, leaves: Vec::new(), shape, depth: 0 });
    }
    let shape = e.shape();
    let mut leaves = Vec::new();
    e.leaves(&mut |leaf| {
        leaves.push(BoxedLeaf {
            map: leaf.map.clone(),
            elem_bytes: leaf.elem_bytes,
            access: leaf.access,
        });
    });
    Lazy(Boxed { node: Some(Arc::new(e)), leaves, shape, depth })
}

/// The type-erased side of an expression.
trait Node<T>: Send + Sync {
    fn open<'a>(&'a self) -> Box<dyn BlockCursor<'a, T> + Send + 'a>;
}

impl<E: Expr> Node<E::Elem> for E {
    fn open<'a>(&'a self) -> Box<dyn BlockCursor<'a, E::Elem> + Send + 'a> {
        Box::new(Worker::new(self.cursor()))
    }
}

/// An expression at work that evaluates whole tiles.
trait BlockCursor<'a, T> {
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop>;
    fn row(&self, row: usize, columns: usize) -> (&[T], bool);
    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop>;
    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Positions<'a>>) -> Result<(), Stop>;
    fn fork(&self) -> Box<dyn BlockCursor<'a, T> + Send + 'a>;
    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop>;
}

struct Worker<C: Cursor> {
    cursor: C,
    scratch: Scratch<C::Elem>,
    sides: [usize; 2],
    fault: bool,
}

impl<C: Cursor> Worker<C> {
    fn new(cursor: C) -> Self {
        Self { cursor, scratch: Scratch::default(), sides: [0, 0], fault: false }
    }
}

impl<'a, C> BlockCursor<'a, C::Elem> for Worker<C>
where
    C: StoredCursor<'a> + 'a,
    C::Elem: Send,
{
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.cursor.bind(tile, next)?;
        self.sides = tile.sides();
        self.fault = self.scratch.fill(&self.cursor, self.sides).1;
        Ok(())
    }

    fn row(&self, row: usize, columns: usize) -> (&[C::Elem], bool) {
        (&self.scratch.filled()[row * self.sides[1]..][..columns], self.fault)
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        self.cursor.fault(tile, next)
    }

    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        self.cursor.open(maps, lists)
    }

    fn fork(&self) -> Box<dyn BlockCursor<'a, C::Elem> + Send + 'a> {
        Box::new(Self::new(self.cursor.fork()))
    }

    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        self.cursor.bind_stored(block, next)?;
        self.sides = [1, block.positions.len()];
        self.fault = self.scratch.fill(&self.cursor, self.sides).1;
        Ok(())
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

    fn by_ref(&self) -> Boxed<'x, T> {
        self.clone()
    }

    fn shape(&self) -> Result<Shape> {
        self.shape.clone()
    }

    fn is_shaped(&self, shape: &Shape) -> bool {
        self.shape.as_ref().is_ok_and(|own| own == shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        for leaf in &self.leaves {
            visit(Leaf { map: &leaf.map, elem_bytes: leaf.elem_bytes, access: leaf.access });
        }
    }

    fn rewrite(mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<Self> {
        // The shape follows a map of its own, as there may be no leaf of the full shape.
        let joint = self.shape?;
        self.shape = Ok(change(AddressMap::row_major(&joint)?)?.shape());
        for leaf in &mut self.leaves {
            leaf.map = change(leaf.map.clone())?;
        }
        Ok(self)
    }

    fn cursor(&self) -> BoxedCursor<'_, T> {
        BoxedCursor(self.node.as_ref().map(|node| node.open()))
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

/// A boxed expression at work.
pub struct BoxedCursor<'a, T>(Option<Box<dyn BlockCursor<'a, T> + Send + 'a>>);

impl<T> fmt::Debug for BoxedCursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxedCursor")
    }
}

fn too_deep() -> Stop {
    Stop::Error(Error::TooDeep { depth: DEPTH_LIMIT + 1, limit: DEPTH_LIMIT })
}

impl<T: Copy> Cursor for BoxedCursor<'_, T> {
    type Elem = T;
    type Row<'r>
        = BoxedRow<'r, T>
    where
        Self: 'r;

    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.0.as_mut().ok_or_else(too_deep)?.bind(tile, next)
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> BoxedRow<'_, T> {
        let (elements, fault) =
            self.0.as_ref().map_or((&[][..], true), |worker| worker.row(row, columns));
        BoxedRow { elements: LeafRow::new(&elements[..columns]), fault }
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        self.0.as_mut().ok_or_else(too_deep)?.fault(tile, next)
    }
}

impl<'a, T: Copy> StoredCursor<'a> for BoxedCursor<'a, T> {
    fn open(&mut self, maps: &[AddressMap], lists: &mut Vec<Positions<'a>>) -> Result<(), Stop> {
        self.0.as_mut().ok_or_else(too_deep)?.open(maps, lists)
    }

    fn fork(&self) -> Self {
        Self(self.0.as_ref().map(|worker| worker.fork()))
    }

    fn bind_stored(&mut self, block: &Block<'_>, next: &mut usize) -> Result<(), Stop> {
        self.0.as_mut().ok_or_else(too_deep)?.bind_stored(block, next)
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
    fn prefetch(&self, _column: usize) {}

    #[inline(always)]
    fn get(&self, column: usize) -> T {
        self.elements.get(column)
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (T, bool) {
        (self.elements.get(column), self.fault)
    }
}
