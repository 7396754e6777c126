//! Scalars: operands of any shape that take no memory.

use super::sparse::cursor::{StoredCursor, StoredLeaf};
use super::{Expr, IntoExpr, Leaf, Pairs, for_numbers, scalar_operands, sealed::Sealed};
use crate::error::Result;
use crate::kernel::{Cursor, Fault, Row, Stop, Tile};
use crate::map::AddressMap;
use crate::shape::Shape;

/// One value, as an operand of any shape.
#[derive(Debug, Clone, Copy)]
pub struct Scalar<T>(pub T);

impl<T> Sealed for Scalar<T> {}

impl<T: Copy + Send + Sync> Expr for Scalar<T> {
    type Elem = T;
    type Cursor<'a>
        = Scalar<T>
    where
        T: 'a;
    type Ref<'a>
        = Scalar<T>
    where
        T: 'a;

    fn by_ref(&self) -> Self {
        *self
    }

    #[inline]
    fn shape(&self) -> Result<Shape> {
        Ok(Shape::default())
    }

    #[inline]
    fn fits(&self, _shape: &Shape) -> bool {
        true
    }

    #[inline]
    fn leaves<'a>(&'a self, _visit: &mut dyn FnMut(Leaf<'a>)) {}

    fn rewrite(&mut self, _change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn cursor(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn row_in_order(&self, _count: usize) -> Option<Self> {
        Some(*self)
    }

    #[inline]
    fn leaf_count(&self) -> usize {
        0
    }
}

impl<T: Copy> Cursor for Scalar<T> {
    type Elem = T;
    type Row<'r>
        = Scalar<T>
    where
        Self: 'r;

    #[inline(always)]
    fn bind(&mut self, _tile: &Tile<'_>, _next: &mut usize) -> Result<(), Stop> {
        Ok(())
    }

    #[inline(always)]
    fn row(&self, _row: usize, _columns: usize) -> Self {
        *self
    }

    fn fault(&mut self, _tile: &Tile<'_>, _next: &mut usize) -> Result<Option<Fault>, Stop> {
        Ok(None)
    }
}

impl<T: Copy> Row for Scalar<T> {
    type Elem = T;
    const FAULTS: bool = false;

    #[inline(always)]
    fn part(&self, _start: usize, _columns: usize) -> Self {
        *self
    }

    #[inline(always)]
    fn get(&self, _column: usize) -> T {
        self.0
    }

    #[inline(always)]
    fn checked(&self, _column: usize) -> (T, bool) {
        (self.0, false)
    }
}

for_numbers!(scalar_operands [Pairs IntoExpr into_expr] numbers);
scalar_operands!([Pairs IntoExpr into_expr] others bool char);

/// No leaf of a sparse evaluation.
impl<'a, T: Copy + Send> StoredCursor<'a> for Scalar<T> {
    fn leaves(&mut self, _visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {}

    fn fork(&self) -> Self {
        *self
    }
}
