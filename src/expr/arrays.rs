//! Arrays of operands: expressions of one type, views of one operand for example.

use super::operands::join;
use super::sparse::{StoredCursor, StoredLeaf};
use super::{Expr, IntoExpr, IntoOperands, Leaf, Operands, Prepare};
use crate::error::Result;
use crate::kernel::{Cursor, Fault, Row, RowOf, Stop, Tile};
use crate::map::AddressMap;
use crate::shape::Shape;
use smallvec::SmallVec;

impl<E: Expr, const N: usize> super::sealed::Sealed for [E; N] {}

impl<E: Expr, const N: usize> Operands for [E; N] {
    type Elems = [E::Elem; N];
    type Cursors<'a>
        = [E::Cursor<'a>; N]
    where
        E: 'a;
    type Ref<'a>
        = [E::Ref<'a>; N]
    where
        E: 'a;

    fn by_ref(&self) -> Self::Ref<'_> {
        self.each_ref().map(|e| e.by_ref())
    }

    fn joint_shape(&self) -> Result<Shape> {
        let Some((first, others)) = self.split_first() else { return Ok(Shape::default()) };
        let (mut shape, mut operands) = (first.shape()?, others.iter().zip(2..));
        operands.try_for_each(|(operand, argument)| join(&mut shape, operand, argument))?;
        Ok(shape)
    }

    #[inline]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.iter().for_each(|operand| operand.leaves(visit));
    }

    fn leaf_counts(&self) -> Vec<usize> {
        let count = |operand: &E| {
            let mut count = 0;
            operand.leaves(&mut |_| count += 1);
            count
        };
        self.iter().map(count).collect()
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        self.iter_mut().try_for_each(|operand| operand.rewrite(change))
    }

    #[inline(always)]
    fn cursors(&self) -> Self::Cursors<'_> {
        self.each_ref().map(|e| e.cursor())
    }

    fn rows_in_order(&self, count: usize) -> Option<RowOf<'_, Self::Cursors<'_>>> {
        let rows = self.iter().map(|e| e.row_in_order(count));
        rows.collect::<Option<SmallVec<[_; N]>>>()?.into_inner().ok()
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.iter().for_each(|operand| operand.deferred(visit));
    }

    fn leaf_count(&self) -> usize {
        self.iter().map(E::leaf_count).fold(0, usize::saturating_add)
    }

    fn depth(&self) -> usize {
        self.iter().map(E::depth).max().unwrap_or(0)
    }
}

impl<X: IntoExpr, const N: usize> IntoOperands for [X; N] {
    type Elems = [X::Elem; N];
    type Operands = [X::Expr; N];

    fn into_operands(self) -> Self::Operands {
        self.map(X::into_expr)
    }
}

impl<C: Cursor, const N: usize> Cursor for [C; N] {
    type Elem = [C::Elem; N];
    type Row<'r>
        = [C::Row<'r>; N]
    where
        Self: 'r;

    #[inline(always)]
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.iter_mut().try_for_each(|cursor| cursor.bind(tile, next))
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> Self::Row<'_> {
        self.each_ref().map(|cursor| cursor.row(row, columns))
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        for cursor in self {
            if let Some(fault) = cursor.fault(tile, next)? {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }
}

impl<R: Row, const N: usize> Row for [R; N] {
    type Elem = [R::Elem; N];
    const FAULTS: bool = R::FAULTS;

    #[inline(always)]
    fn part(&self, start: usize, columns: usize) -> Self {
        self.each_ref().map(|row| row.part(start, columns))
    }

    #[inline(always)]
    fn prefetch(&self, column: Option<usize>) {
        self.iter().for_each(|row| row.prefetch(column));
    }

    #[inline(always)]
    fn get(&self, column: usize) -> Self::Elem {
        self.each_ref().map(|row| row.get(column))
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (Self::Elem, bool) {
        let checked = self.each_ref().map(|row| row.checked(column));
        (checked.map(|(element, _)| element), checked.iter().any(|(_, fault)| *fault))
    }
}

impl<'a, C: StoredCursor<'a>, const N: usize> StoredCursor<'a> for [C; N] {
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut dyn StoredLeaf<'a>)) {
        self.iter_mut().for_each(|cursor| cursor.leaves(visit));
    }

    fn fork(&self) -> Self {
        self.each_ref().map(C::fork)
    }
}
