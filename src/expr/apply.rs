//! The only inner node of expressions: a function of up to six operands, or of an array of them.

use super::{Expr, Leaf, Operands, Prepare, sealed::Sealed};
use crate::error::{Error, Result};
use crate::kernel::{Cursor, Fault, Row, RowOf, Stop, Tile};
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

/// Most leaves of an expression, counted with repeats. Boxes let them double with every operator.
pub(super) const LEAF_LIMIT: usize = 1 << 16;

#[cold]
pub(super) fn too_many_leaves(leaves: usize) -> Error {
    Error::TooManyLeaves { leaves, limit: LEAF_LIMIT }
}

/// An elementwise function of a tuple of operands.
pub trait Op<X>: Send + Sync {
    /// Type of the results.
    type Out: Copy + Send + Sync;
    /// Whether some operands have no result.
    const FAULTS: bool = false;

    /// The result; any value where there is none.
    fn call(&self, x: X) -> Self::Out;

    /// Whether there is no result.
    #[inline(always)]
    fn is_fault(&self, _x: &X) -> bool {
        false
    }

    /// Why there is no result.
    fn fault(&self, _x: X) -> Option<Fault> {
        None
    }
}

/// A function applied to operands, not yet computed. It has the function, or a reference to it: kernels are compiled for
/// the function.
pub struct Apply<F, A, H = F> {
    function: H,
    operands: A,
    /// The joint shape of the operands. Operators cannot return why there is none: `shape` and `eval` find it again, if
    /// it is not the error that the operands could not be made with.
    shape: Result<Shape, Option<Box<Error>>>,
    own: PhantomData<fn() -> F>,
}

impl<F, A: Operands> Apply<F, A> {
    #[inline(always)]
    pub(crate) fn new(function: F, operands: A) -> Self {
        Self::held(function, operands)
    }

    /// The same of operands that were made, or an expression with the error.
    pub(crate) fn made(made: Result<()>, function: F, operands: A) -> Self {
        match made {
            Ok(()) => Self::new(function, operands),
            Err(error) => {
                let shape = Err(Some(Box::new(error)));
                Self { function, operands, shape, own: PhantomData }
            }
        }
    }
}

impl<'f, F, A: Operands> Apply<F, A, &'f F> {
    pub(crate) fn borrowing(function: &'f F, operands: A) -> Self {
        Self::held(function, operands)
    }
}

impl<F, A: Operands, H> Apply<F, A, H> {
    #[inline(always)]
    fn held(function: H, operands: A) -> Self {
        let shape = joint(&operands).map_err(|_| None);
        Self { function, operands, shape, own: PhantomData }
    }

    pub(super) fn operands(&self) -> &A {
        &self.operands
    }
}

/// The shape of an expression of these operands.
#[inline]
fn joint(operands: &impl Operands) -> Result<Shape> {
    let leaves = operands.leaf_count();
    if leaves <= LEAF_LIMIT { operands.joint_shape() } else { Err(too_many_leaves(leaves)) }
}

impl<F, A: Clone, H: Clone> Clone for Apply<F, A, H> {
    fn clone(&self) -> Self {
        let (function, operands) = (self.function.clone(), self.operands.clone());
        Self { function, operands, shape: self.shape.clone(), own: PhantomData }
    }
}

impl<F, A: fmt::Debug, H> fmt::Debug for Apply<F, A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<F>().rsplit("::").next().unwrap_or_default();
        f.debug_struct("Apply")
            .field("function", &name)
            .field("operands", &self.operands)
            .field("shape", &self.shape)
            .finish()
    }
}

impl<F, A, H> Sealed for Apply<F, A, H> {}

impl<A, F, H> Expr for Apply<F, A, H>
where
    A: Operands,
    F: Op<A::Elems>,
    H: Borrow<F> + Send + Sync,
{
    type Elem = F::Out;
    type Cursor<'a>
        = ApplyCursor<'a, F, A::Cursors<'a>>
    where
        Self: 'a;
    type Ref<'a>
        = Apply<F, A::Ref<'a>, &'a F>
    where
        Self: 'a;

    fn by_ref(&self) -> Self::Ref<'_> {
        Apply {
            function: self.function.borrow(),
            operands: self.operands.by_ref(),
            shape: self.shape.clone(),
            own: PhantomData,
        }
    }

    #[inline]
    fn shape(&self) -> Result<Shape> {
        match &self.shape {
            Ok(shape) => Ok(shape.clone()),
            Err(None) => joint(&self.operands),
            Err(Some(error)) => Err((**error).clone()),
        }
    }

    #[inline]
    fn fits(&self, shape: &Shape) -> bool {
        self.shape.as_ref().is_ok_and(|own| own == shape)
    }

    #[inline]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.operands.leaves(visit);
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        self.shape()?;
        self.operands.rewrite(change)?;
        self.shape = joint(&self.operands).map_err(|_| None);
        Ok(())
    }

    #[inline(always)]
    fn cursor(&self) -> Self::Cursor<'_> {
        ApplyCursor { function: self.function.borrow(), operands: self.operands.cursors() }
    }

    #[inline(always)]
    fn row_in_order(&self, count: usize) -> Option<RowOf<'_, Self::Cursor<'_>>> {
        let operands = self.operands.rows_in_order(count)?;
        Some(ApplyRow { function: self.function.borrow(), operands })
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.operands.deferred(visit);
    }

    #[inline]
    fn leaf_count(&self) -> usize {
        self.operands.leaf_count()
    }

    fn depth(&self) -> usize {
        self.operands.depth()
    }
}

/// A function and its operands at work.
pub struct ApplyCursor<'a, F, C> {
    pub(super) function: &'a F,
    pub(super) operands: C,
}

debug_of_fields!([F, C] ApplyCursor<'_, F, C>);

impl<F: Op<C::Elem>, C: Cursor> Cursor for ApplyCursor<'_, F, C> {
    type Elem = F::Out;
    type Row<'r>
        = ApplyRow<'r, F, C::Row<'r>>
    where
        Self: 'r;

    #[inline(always)]
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.operands.bind(tile, next)
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> Self::Row<'_> {
        ApplyRow { function: self.function, operands: self.operands.row(row, columns) }
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        if !<Self::Row<'_> as Row>::FAULTS {
            self.bind(tile, next)?;
            return Ok(None);
        }
        let first = *next;
        if let Some(fault) = self.operands.fault(tile, next)? {
            return Ok(Some(fault));
        }
        *next = first;
        self.operands.bind(tile, next)?;
        Ok(self.function.fault(self.operands.row(0, 1).get(0)))
    }
}

/// A row of results.
pub struct ApplyRow<'r, F, R> {
    function: &'r F,
    operands: R,
}

impl<'r, F, R> ApplyRow<'r, F, R> {
    #[inline(always)]
    pub(super) fn new(function: &'r F, operands: R) -> Self {
        Self { function, operands }
    }
}

debug_of_fields!([F, R] ApplyRow<'_, F, R>);

impl<F: Op<R::Elem>, R: Row> Row for ApplyRow<'_, F, R> {
    type Elem = F::Out;
    const FAULTS: bool = F::FAULTS || R::FAULTS;

    #[inline(always)]
    fn part(&self, start: usize, columns: usize) -> Self {
        Self { function: self.function, operands: self.operands.part(start, columns) }
    }

    #[inline(always)]
    fn prefetch(&self, column: Option<usize>) {
        self.operands.prefetch(column);
    }

    #[inline(always)]
    fn get(&self, column: usize) -> F::Out {
        self.function.call(self.operands.get(column))
    }

    #[inline(always)]
    fn checked(&self, column: usize) -> (F::Out, bool) {
        let (operands, fault) = self.operands.checked(column);
        let fault = fault | self.function.is_fault(&operands);
        (self.function.call(operands), fault)
    }
}
