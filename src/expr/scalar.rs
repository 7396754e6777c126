//! Scalars: operands of any shape that take no memory.

use super::sparse::cursor::{StoredCursor, StoredLeaf};
use super::{Expr, IntoExpr, Leaf, Pairs, sealed::Sealed};
use crate::dtype::Divisor;
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
    fn is_shaped(&self, shape: &Shape) -> bool {
        shape.rank() == 0
    }

    #[inline]
    fn leaves<'a>(&'a self, _visit: &mut dyn FnMut(Leaf<'a>)) {}

    fn rewrite(self, _change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<Self> {
        Ok(self)
    }

    #[inline(always)]
    fn cursor(&self) -> Self {
        *self
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
    fn prefetch(&self, _column: usize) {}

    #[inline(always)]
    fn get(&self, _column: usize) -> T {
        self.0
    }

    #[inline(always)]
    fn checked(&self, _column: usize) -> (T, bool) {
        (self.0, false)
    }
}

macro_rules! scalars {
    ($divisor:ident $($(#[$cfg:meta])? $type:ty)*) => { $(
        $(#[$cfg])?
        #[diagnostic::do_not_recommend]
        impl Pairs<$type> for $type {
            type Expr = Scalar<$type>;
            type Divisor = scalars!(@$divisor $type);

            fn pair(right: $type) -> Scalar<$type> {
                Scalar(right)
            }

            fn divisor(right: $type) -> Self::Divisor {
                Scalar(right.into())
            }
        }

        $(#[$cfg])?
        impl IntoExpr for $type {
            type Elem = $type;
            type Expr = Scalar<$type>;

            fn into_expr(self) -> Scalar<$type> {
                Scalar(self)
            }
        }
    )* };
    (@numbers $type:ty) => { Scalar<Divisor<$type>> };
    (@others $type:ty) => { Scalar<$type> };
}
super::operators::for_numbers!(scalars numbers);
scalars!(others bool char);

/// No leaf of a sparse evaluation.
impl<'a, T: Copy + Send> StoredCursor<'a> for Scalar<T> {
    fn leaves(&mut self, _visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {}

    fn fork(&self) -> Self {
        *self
    }
}
