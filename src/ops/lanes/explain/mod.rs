//! How the operations on lanes would be done, in words.

mod picks;
mod sorts;

use super::driver::{Old, explain_lanes, nothing};
use crate::error::{Error, Result};
use crate::expr::{Explanation, Expr, Lazy, bytes_read};
use crate::map::AddressMap;
use crate::ops::explain::{Explained, report};
use crate::shape::Shape;
use std::any::type_name;

impl<E: Expr> Explained<E> {
    /// The extent of an axis.
    fn extent(&self, axis: usize) -> Result<usize> {
        let shape = self.0.shape()?;
        shape.get(axis).copied().ok_or(Error::Axis { axis, rank: shape.rank() })
    }

    /// What becomes of every lane: one of `U` in a tensor of shape `out`, as `each` says.
    fn lanes<U>(&self, what: &str, axis: usize, out: &Shape, each: &str) -> Result<Explanation> {
        let shape = self.0.shape()?;
        let what = format!("{what} of {} {shape:?} along axis {axis}", type_name::<E::Elem>());
        pairs::<_, _, U>(what, (&self.0, &nothing(out, axis)?), axis, out, each)
    }
}

/// What becomes of pairs of lanes, one of `U` each.
fn pairs<A: Expr, B: Expr, U>(
    what: String,
    (a, b): (&Lazy<A>, &Lazy<B>),
    axis: usize,
    out: &Shape,
    each: &str,
) -> Result<Explanation> {
    let map = AddressMap::row_major(out)?;
    let (how, threads) = explain_lanes((a, b), axis, (&map, true), Old::Lost, each)?;
    let written = map.count().saturating_mul(size_of::<U>());
    let what = format!("{what} to {} {out:?}", type_name::<U>());
    let read = bytes_read(&a.0).saturating_add(bytes_read(&b.0));
    Ok(report(what, how, threads, [read, written]))
}
