//! Boxes of borrowed expressions.

use crate::error::Result;
use crate::expr::node::{Node, StoredOnly, Tree, Worker};
use crate::expr::{Leaf, Prepare};
use crate::kernel::{Fill, Filled, Stop, Tile};
use crate::shape::Shape;
use std::mem::MaybeUninit;

/// A borrowed expression.
pub(super) struct Borrowed<'a, T>(pub(super) &'a dyn Node<T>);

impl<T> Tree for Borrowed<'_, T> {
    fn shape(&self) -> Result<Shape> {
        self.0.shape()
    }

    fn is_shaped(&self, shape: &Shape) -> bool {
        self.0.is_shaped(shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.0.leaves(visit);
    }

    fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.0.deferred(visit);
    }

    fn defers(&self) -> bool {
        self.0.defers()
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }
}

impl<T> Node<T> for Borrowed<'_, T> {
    fn open(&self) -> Worker<'_, T> {
        self.0.open()
    }

    fn in_memory(&self) -> Option<&[T]> {
        self.0.in_memory()
    }

    fn stored_only(&self) -> Option<StoredOnly<'_, T>> {
        self.0.stored_only()
    }

    fn in_order(&self, count: usize, work: &mut dyn FnMut(&dyn Fill<T>)) -> bool {
        self.0.in_order(count, work)
    }

    fn fill_tile(&self, tile: &Tile<'_>, out: &mut [MaybeUninit<T>]) -> Result<Filled, Stop> {
        self.0.fill_tile(tile, out)
    }
}
