//! Tuples of operands, and closures over them.

use super::sparse::cursor::StoredCursor;
use super::{Apply, Expr, IntoExpr, Lazy, Leaf, Op, Prepare, sealed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::{Cursor, Fault, Row, RowOf, Stop, Tile};
use crate::map::AddressMap;
use crate::memory::{debug_of_fields, for_tuples};
use crate::shape::{Align, Shape};

impl<E: Expr> Lazy<E> {
    /// Stretched to a shape.
    pub(crate) fn stretched(mut self, shape: &Shape) -> Result<Self> {
        self.0.rewrite(&mut |map| map.stretched(shape, Align::Right))?;
        Ok(self)
    }
}

/// A tuple of one to six expressions, or an array of expressions of one type. Sealed.
pub trait Operands: Send + Sync + sealed::Sealed {
    /// Tuple of the element types.
    type Elems: Copy;
    /// The operands at work.
    type Cursors<'a>: StoredCursor<'a, Elem = Self::Elems>
    where
        Self: 'a;
    /// The same operands, borrowed.
    type Ref<'a>: Operands<Elems = Self::Elems>
    where
        Self: 'a;

    /// Borrows every operand.
    fn by_ref(&self) -> Self::Ref<'_>;

    /// Joint shape. Were it called `shape`, the compiler would offer this trait to who asks an array of tensors for one.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`](crate::Error::Operands), with the position of the first that does not align.
    fn joint_shape(&self) -> Result<Shape>;

    /// Calls `visit` with every leaf of every operand.
    #[doc(hidden)]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>));

    /// Number of leaves of every operand.
    #[doc(hidden)]
    fn leaf_counts(&self) -> Vec<usize>;

    /// Changes the map of every leaf of every operand.
    #[doc(hidden)]
    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()>;

    /// Cursors of all operands.
    #[doc(hidden)]
    fn cursors(&self) -> Self::Cursors<'_>;

    /// [`Expr::row_in_order`] of every operand.
    #[doc(hidden)]
    fn rows_in_order(&self, count: usize) -> Option<RowOf<'_, Self::Cursors<'_>>>;

    /// [`Expr::deferred`] of every operand.
    #[doc(hidden)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    /// Number of leaves of all operands, counted with repeats, or `usize::MAX`.
    #[doc(hidden)]
    fn leaf_count(&self) -> usize;

    /// Boxes within boxes, at the deepest.
    #[doc(hidden)]
    fn depth(&self) -> usize;
}

/// A tuple or an array of what can stand as operands.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple or array of operands",
    note = "give one tuple of one to six, `zip_with((&a, &b), |(a, b)| ..)`, or an array if they are of one type, `[&a]` of one alone"
)]
pub trait IntoOperands {
    /// Tuple of the element types.
    type Elems: Copy;
    /// Tuple of expressions.
    type Operands: Operands<Elems = Self::Elems>;

    /// The tuple as expressions.
    fn into_operands(self) -> Self::Operands;
}

/// Joins the shape of the operands so far with that of the next one, the first of which has number 1.
#[inline(always)]
pub(super) fn join<E: Expr>(so_far: &mut Shape, next: &E, argument: usize) -> Result<()> {
    if !next.fits(so_far) {
        *so_far = joined(so_far, next.shape(), argument)?;
    }
    Ok(())
}

/// The same of operands that differ, compiled once.
fn joined(so_far: &Shape, next: Result<Shape>, argument: usize) -> Result<Shape> {
    so_far.join(&next?, Align::Right, argument)
}

macro_rules! operand_tuples {
    ($count:literal: $($name:ident $part:ident $k:tt),*) => {
        impl<$($name: Expr),*> sealed::Sealed for ($($name,)*) {}

        impl<$($name: Expr),*> Operands for ($($name,)*) {
            type Elems = ($($name::Elem,)*);
            type Cursors<'a> = ($($name::Cursor<'a>,)*) where $($name: 'a),*;
            type Ref<'a> = ($($name::Ref<'a>,)*) where $($name: 'a),*;

            fn by_ref(&self) -> Self::Ref<'_> {
                ($(self.$k.by_ref(),)*)
            }

            #[inline]
            fn joint_shape(&self) -> Result<Shape> {
                let mut shape = self.0.shape()?;
                $(if $k > 0 {
                    join(&mut shape, &self.$k, $k + 1)?;
                })*
                Ok(shape)
            }

            #[inline]
            fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
                $(self.$k.leaves(visit);)*
            }

            fn leaf_counts(&self) -> Vec<usize> {
                let count = |leaves: &dyn Fn(&mut dyn FnMut(Leaf<'_>))| {
                    let mut count = 0;
                    leaves(&mut |_| count += 1);
                    count
                };
                vec![$(count(&|visit| self.$k.leaves(visit))),*]
            }

            fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
                $(self.$k.rewrite(change)?;)*
                Ok(())
            }

            #[inline(always)]
            fn cursors(&self) -> Self::Cursors<'_> {
                ($(self.$k.cursor(),)*)
            }

            #[inline(always)]
            fn rows_in_order(&self, count: usize) -> Option<RowOf<'_, Self::Cursors<'_>>> {
                Some(($(self.$k.row_in_order(count)?,)*))
            }

            fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
                $(self.$k.deferred(visit);)*
            }

            #[inline]
            fn leaf_count(&self) -> usize {
                0_usize $(.saturating_add(self.$k.leaf_count()))*
            }

            fn depth(&self) -> usize {
                0 $(.max(self.$k.depth()))*
            }
        }

        impl<$($name: IntoExpr),*> IntoOperands for ($($name,)*) {
            type Elems = ($($name::Elem,)*);
            type Operands = ($($name::Expr,)*);

            fn into_operands(self) -> Self::Operands {
                ($(self.$k.into_expr(),)*)
            }
        }

        impl<$($name: Cursor),*> Cursor for ($($name,)*) {
            type Elem = ($($name::Elem,)*);
            type Row<'r> = ($($name::Row<'r>,)*) where Self: 'r;

            #[inline(always)]
            fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
                $(self.$k.bind(tile, next)?;)*
                Ok(())
            }

            #[inline(always)]
            fn row(&self, row: usize, columns: usize) -> Self::Row<'_> {
                ($(self.$k.row(row, columns),)*)
            }

            fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
                $(if let Some(fault) = self.$k.fault(tile, next)? {
                    return Ok(Some(fault));
                })*
                Ok(None)
            }
        }

        impl<$($name: Row),*> Row for ($($name,)*) {
            type Elem = ($($name::Elem,)*);
            const FAULTS: bool = $($name::FAULTS)||*;

            #[inline(always)]
            fn part(&self, start: usize, columns: usize) -> Self {
                ($(self.$k.part(start, columns),)*)
            }

            #[inline(always)]
            fn prefetch(&self, column: Option<usize>) {
                $(self.$k.prefetch(column);)*
            }

            #[inline(always)]
            fn get(&self, column: usize) -> Self::Elem {
                ($(self.$k.get(column),)*)
            }

            #[inline(always)]
            #[allow(non_snake_case, reason = "type names stand for values")]
            fn checked(&self, column: usize) -> (Self::Elem, bool) {
                $(let $name = self.$k.checked(column);)*
                (($($name.0,)*), $($name.1)|*)
            }
        }
    };
}
for_tuples!(operand_tuples 6);

/// A closure over the tuple of operands.
pub struct Function<F>(F);

debug_of_fields!([F] Function<F>);

impl<F: Clone> Clone for Function<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F> Function<F> {
    pub(crate) fn new(f: F) -> Self {
        Self(f)
    }
}

impl<X, U: Copy + Send + Sync, F: Fn(X) -> U + Send + Sync> Op<X> for Function<F> {
    type Out = U;

    #[inline(always)]
    fn call(&self, x: X) -> U {
        (self.0)(x)
    }
}

/// Any function of one to six operands, elementwise; the closure takes one tuple. Operands of one type may
/// be any number: an array of them, of which the closure takes one array.
///
/// A panic in the closure reaches the caller of the evaluation. Of sparse operands it may be called with the fill values,
/// even if no elements have them.
///
/// ```
/// use lensor::prelude::*;
/// let a = Tensor::from_vec([3], vec![1, 2, 3])?;
/// let b = Tensor::from_vec([3], vec![3.0, 2.0, 1.0])?;
/// let e = zip_with((&a, &b, 10.0), |(a, b, c)| if a > 1 { b } else { c });
/// assert_eq!(e.eval()?.to_vec()?, [10.0, 2.0, 1.0]);
///
/// let sums = zip_with([&a, &a, &a], |[x, y, z]| x + y + z);
/// assert_eq!(sums.eval()?.to_vec()?, [3, 6, 9]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn zip_with<A, U, F>(operands: A, f: F) -> Lazy<Apply<Function<F>, A::Operands>>
where
    A: IntoOperands,
    U: Copy + Send + Sync,
    F: Fn(A::Elems) -> U + Send + Sync,
{
    zip_made(Ok(()), operands, f)
}

/// The same, or an expression with the error that its operands could not be made with.
pub(crate) fn zip_made<A, U, F>(
    made: Result<()>,
    operands: A,
    f: F,
) -> Lazy<Apply<Function<F>, A::Operands>>
where
    A: IntoOperands,
    U: Copy + Send + Sync,
    F: Fn(A::Elems) -> U + Send + Sync,
{
    Lazy(Apply::made(made, Function(f), operands.into_operands()))
}

type Aligned<A, B> = (Lazy<<A as IntoExpr>::Expr>, Lazy<<B as IntoExpr>::Expr>);

/// Views of two operands at their joint shape, with `align` saying which ends meet.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::expr::align;
/// let a = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// let b = Tensor::from_vec([2], vec![10, 20])?;
/// let (a, b) = align(Align::Left, &a, &b)?;
/// assert_eq!((a + b).eval()?.to_vec()?, [11, 12, 13, 24, 25, 26]);
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`](crate::Error::Operands) if the shapes do not align.
pub fn align<A: IntoExpr, B: IntoExpr>(align: Align, a: A, b: B) -> Result<Aligned<A, B>> {
    let (mut a, mut b) = (a.into_expr(), b.into_expr());
    let (shape_a, shape_b) = (a.shape()?, b.shape()?);
    let joint = shape_a.join(&shape_b, align, 2)?;
    // Within an operand the leaves are right-aligned; across operands `align` decides.
    a.rewrite(&mut |map| map.stretched(&shape_a, Align::Right)?.stretched(&joint, align))?;
    b.rewrite(&mut |map| map.stretched(&shape_b, Align::Right)?.stretched(&joint, align))?;
    Ok((Lazy(a), Lazy(b)))
}
