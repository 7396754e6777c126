//! Reading at a list of indexes.

use super::{Indexes, PIECE};
use crate::compute::Compute;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{Explanation, Expr, Lazy, Prepare, bytes_read, row_major};
use crate::kernel::{self, Filled};
use crate::memory::refill;
use crate::shape::Shape;
use std::mem::MaybeUninit;

/// Elements that are gathered before they are written.
const SOME: usize = 512;

/// The elements of an operand at a list of indexes, see [`Indexing::take_at`](super::Indexing::take_at).
#[derive(Debug, Clone)]
pub struct TakeAt<'a, E> {
    pub(super) operand: Lazy<E>,
    pub(super) indexes: Indexes<'a>,
}

impl<E> Sealed for TakeAt<'_, E> {}

impl<E: Expr> Compute for TakeAt<'_, E> {
    type Elem = E::Elem;

    fn shape(&self) -> Result<Shape> {
        self.indexes.shape(self.operand.shape()?.rank())
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.operand.deferred(visit);
        self.indexes.deferred(visit);
    }

    fn depth(&self) -> usize {
        self.operand.depth().max(self.indexes.depth())
    }

    /// A part of the list after another: where the elements lie, or as a view of the operand, in which it is a list along
    /// one axis.
    fn fill(&self, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled> {
        let (of, shape) = (self.operand.shape()?, self.shape()?);
        if let Some(elements) = row_major(&self.operand) {
            return kernel::fill_slots(out, |slots| {
                let mut some = Vec::new();
                self.indexes.for_each_part(&of, |positions| {
                    positions.chunks(SOME).try_for_each(|positions| {
                        refill(&mut some, positions.iter().map(|&position| elements[position]))?;
                        slots.put(&some);
                        Ok(())
                    })
                })
            });
        }
        let flat = Lazy(self.operand.0.by_ref()).reshape([of.count()?])?;
        kernel::fill_slots(out, |slots| {
            let mut start = 0;
            self.indexes.for_each_part(&of, |positions| {
                let count = positions.len();
                let part = Lazy(flat.0.by_ref()).select((positions,))?.eval();
                let part = part.map_err(|error| of_result(error, &shape, start))?;
                slots.put(part.storage());
                start += count;
                Ok(())
            })
        })
    }

    fn explain(&self) -> Result<Explanation> {
        let (of, shape) = (self.operand.shape()?, self.shape()?);
        let element = std::any::type_name::<E::Elem>();
        let (count, part) = (shape.count()?, shape.count()?.min(PIECE));
        let written = count.saturating_mul(size_of::<E::Elem>());
        let indexes = count.saturating_mul(of.rank()).saturating_mul(size_of::<usize>());
        let read = written.min(bytes_read(&self.operand.0)).saturating_add(indexes);
        let direct = row_major(&self.operand).is_some();
        let threads = if direct || part < kernel::PARALLEL { 1 } else { kernel::threads() };
        let how = if direct { "read where it lies" } else { "evaluated at each part of the list" };
        let lines = [
            format!("list: {count} indexes, at most {PIECE} of them at once"),
            format!("operand: {how}"),
        ];
        let what = format!("elements of {element} {of:?} at a list of indexes, to {shape:?}");
        Ok(Explanation::report(what, lines, threads, [read, written]))
    }
}

/// An error of a part that begins at `start` as one of the whole result.
fn of_result(mut error: Error, shape: &Shape, start: usize) -> Error {
    if let Some(index) = error.element_index()
        && let Some(place) = index.first()
    {
        *index = shape.unravel(start + place).to_vec();
    }
    error
}
