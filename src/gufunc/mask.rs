//! What tells which calls of a gufunc are made.

use crate::error::Result;
use crate::expr::{Expr, Prepare};
use crate::ops::cores::{Arrangement, Operand};
use crate::shape::Shape;

/// What tells which calls of a gufunc are made. Sealed.
pub trait MaskOperand: Send + Sync {
    #[doc(hidden)]
    fn shape(&self) -> Result<Option<Shape>>;

    #[doc(hidden)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    #[doc(hidden)]
    fn depth(&self) -> usize;

    #[doc(hidden)]
    fn operand<'e>(&'e self, loops: &Shape) -> Result<Option<Box<Operand<'e, bool>>>>;
}

/// All calls are made.
#[derive(Debug, Clone, Copy)]
pub struct Unmasked;

impl MaskOperand for Unmasked {
    fn shape(&self) -> Result<Option<Shape>> {
        Ok(None)
    }

    fn deferred<'a>(&'a self, _visit: &mut dyn FnMut(&'a dyn Prepare)) {}

    fn depth(&self) -> usize {
        0
    }

    fn operand<'e>(&'e self, _loops: &Shape) -> Result<Option<Box<Operand<'e, bool>>>> {
        Ok(None)
    }
}

/// Those calls are made where this is true.
#[derive(Debug, Clone)]
pub struct Filter<E>(pub(crate) E);

impl<E: Expr<Elem = bool>> MaskOperand for Filter<E> {
    fn shape(&self) -> Result<Option<Shape>> {
        self.0.shape().map(Some)
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.0.deferred(visit);
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }

    fn operand<'e>(&'e self, loops: &Shape) -> Result<Option<Box<Operand<'e, bool>>>> {
        let rank = self.0.shape()?.rank();
        let arranged =
            Arrangement { order: (0..rank).collect(), loops: rank, ..Default::default() };
        let operand = Operand::new(&self.0, &arranged, loops, |_, _, _| true)?;
        Ok(Some(Box::new(operand)))
    }
}
