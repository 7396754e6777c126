//! Scans: what a fold gives after each element along an axis.

mod running;

use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, Lazy};
use crate::ops::along::Along;
use crate::ops::reduce::Reducer;
use crate::shape::Shape;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;
use running::{Running, Totals};
use std::sync::{Mutex, PoisonError};

/// Scans as methods of tensors and expressions.
pub trait Scan: IntoExpr + Sized {
    /// Folds along `axis` and keeps what the fold gives after each element.
    ///
    /// The result has the shape of the operand. [`LazyScan`] says how it is computed.
    fn scan<R: Reducer<Self::Elem>>(self, axis: usize, reducer: R) -> LazyScan<Self::Expr, R> {
        LazyScan { e: self.into_expr(), axis, reducer, exclusive: false, reverse: false }
    }
}

impl<S: Reader> Scan for Tensor<S> {}
impl<S: Reader> Scan for &Tensor<S> {}
impl<E: Expr> Scan for Lazy<E> {}
impl<E: Expr> Scan for &Lazy<E> {}

/// A scan, not yet computed.
///
/// It is no expression itself: its result is a new tensor, to which views and operators apply. The operand
/// is computed block by block, so the scan of an expression needs no memory for it.
///
/// Each lane is folded in blocks of 128 elements; what came before a block is joined to every state in it
/// by [`Reducer::combine`]. The result has the same bits for any number of threads and any view.
#[derive(Debug, Clone)]
pub struct LazyScan<E, R> {
    e: E,
    axis: usize,
    reducer: R,
    exclusive: bool,
    reverse: bool,
}

impl<E: Expr, R: Reducer<E::Elem>> LazyScan<E, R> {
    /// Leaves each element out of its own result, which is that of the elements before it.
    #[must_use]
    pub fn exclusive(self) -> Self {
        Self { exclusive: true, ..self }
    }

    /// Goes from the last element to the first.
    #[must_use]
    pub fn reverse(self) -> Self {
        Self { reverse: true, ..self }
    }

    /// Shape of the result: that of the operand.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if there is no such axis, and the error that the operand carries.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Along::new(&self.e, self.axis)?.shape().clone())
    }

    /// Computes the results, in row-major order, into a new tensor.
    pub fn eval(&self) -> Result<Tensor<Vec<R::Out>>> {
        let along = Along::new(&self.e, self.axis)?;
        along.eval(&self.running(&along)?)
    }

    /// Computes the results into an existing tensor or view of any storage with a writer.
    pub fn assign_to<W: Writer<Elem = R::Out>>(&self, out: &mut Tensor<W>) -> Result<()> {
        let along = Along::new(&self.e, self.axis)?;
        along.assign(&self.running(&along)?, out)
    }

    fn running(&self, along: &Along<'_, E>) -> Result<Running<'_, R, R::State>> {
        if self.exclusive && self.reducer.empty().is_none() {
            return Err(Error::NoIdentity { axis: self.axis });
        }
        let mut scan = Running {
            reducer: &self.reducer,
            extent: along.extent(),
            exclusive: self.exclusive,
            reverse: self.reverse,
            carries: Vec::new(),
        };
        scan.carries = self.carries(along, &scan)?;
        Ok(scan)
    }

    /// The states before each job, if lanes are cut into several.
    fn carries(&self, along: &Along<'_, E>, scan: &Running<'_, R, R::State>) -> Result<Vec<Vec<R::State>>> {
        let tasks = along.tasks(scan);
        let [items, lengths, columns] = tasks.cuts();
        if lengths < 2 {
            return Ok(Vec::new());
        }
        let totals = Totals { scan, found: Mutex::new(Vec::new()) };
        along.visit(&totals)?;
        let found = totals.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut carries = vec![Vec::new(); found.len()];
        for first in (0..items).flat_map(|item| (0..columns).map(move |column| item * lengths * columns + column)) {
            let mut carry: Vec<R::State> = Vec::new();
            for number in (0..lengths).map(|k| first + k * columns) {
                carries[number].clone_from(&carry);
                let width = tasks.task(number).columns.len();
                for block in found[number].chunks(width) {
                    if carry.is_empty() {
                        carry.extend_from_slice(block);
                        continue;
                    }
                    for (carry, state) in carry.iter_mut().zip(block) {
                        self.reducer.combine(carry, state.clone());
                    }
                }
            }
        }
        Ok(carries)
    }
}
