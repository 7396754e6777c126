//! Pairs of operands whose lanes go together.

use super::before::{Before, First, first};
use super::extents::with_extent;
use super::operand::{Both, for_each_lane};
use super::operation::LaneOperation;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{Expr, Lazy, Pairs, zip_with};
use crate::shape::{Align, Shape};
use crate::tensor::Tensor;
use std::ops::Range;

/// Shape of the indices of elements of lanes, where their other axes stretch to those of the lanes.
pub(super) fn places(lanes: &Shape, indices: &Shape, axis: usize) -> Result<Shape> {
    let extent = indices.get(axis).copied().unwrap_or(1);
    let places = with_extent(lanes, axis, extent)?;
    if indices.rank() == lanes.rank()
        && places.join(indices, Align::Right, 2).as_ref() == Ok(&places)
    {
        return Ok(places);
    }
    Err(Error::Lanes { axis, shape: lanes.to_vec(), other: indices.to_vec() })
}

/// Values for indices of lanes, at the shape that both are stretched to.
pub(super) fn values<T: Pairs<R>, R>(
    lanes: &Shape,
    indices: &Shape,
    values: R,
    axis: usize,
) -> Result<Lazy<impl Expr<Elem = T> + use<T, R>>> {
    let values = Lazy(T::pair(values));
    let shape = places(lanes, indices, axis)?;
    let own = values.shape()?;
    if shape.join(&own, Align::Right, 2).as_ref() != Ok(&shape) {
        return Err(Error::Destination { expected: shape.to_vec(), found: own.to_vec() });
    }
    // A scalar has no axes of its own, but beside an operand that has them it is one of that shape.
    Ok(zip_with((Tensor::constant(shape, ())?, values), |((), value)| value))
}

/// The elements of every lane at indexes, see [`Lanes::take_along`](super::Lanes::take_along).
#[derive(Debug, Clone, Copy)]
pub struct TakeAlong {
    pub(super) axis: usize,
}

impl Sealed for TakeAlong {}

impl<T: Copy + Send + Sync> LaneOperation<T, usize> for TakeAlong {
    type Elem = T;
    type Before = FirstTaken;

    const BESIDE: &'static str = "at";

    fn compute(
        &self,
        lanes: Both<'_, '_, T, usize>,
        numbers: Range<usize>,
        out: &mut [T],
    ) -> Result<()> {
        for_each_lane(lanes, numbers, out, |lane, indices, out| take(lane, indices, out, self.axis))
    }

    fn words(&self, _extent: usize) -> Result<[String; 2]> {
        Ok(["taking".into(), "copied from, index by index".into()])
    }
}

/// The first element of the lanes, which must have some.
#[derive(Debug, Clone, Copy)]
pub struct FirstTaken;

impl<T: Copy> Before<T, usize, T> for FirstTaken {
    fn one<A: Expr<Elem = T>, B: Expr<Elem = usize>>(
        a: &Lazy<A>,
        b: &Lazy<B>,
        axis: usize,
    ) -> Result<T> {
        check_inside(a.shape()?[axis], b, axis)?;
        first(a)
    }

    fn many(one: T, count: usize) -> Result<Vec<T>> {
        <First as Before<T, usize, T>>::many(one, count)
    }
}

/// Refuses `indices`, of which there are some, if lanes have no elements.
pub(super) fn check_inside(
    extent: usize,
    indices: &Lazy<impl Expr<Elem = usize>>,
    axis: usize,
) -> Result<()> {
    if extent == 0 { Err(outside(axis, first(indices)?, 0)) } else { Ok(()) }
}

/// Writes the elements of `lane` at `indices`.
fn take<T: Copy>(lane: &[T], indices: &[usize], out: &mut [T], axis: usize) -> Result<()> {
    for (slot, &index) in out.iter_mut().zip(indices) {
        *slot = *lane.get(index).ok_or_else(|| outside(axis, index, lane.len()))?;
    }
    Ok(())
}

/// Writes `values` to the elements of `lane` at `indices`, one after another.
pub(super) fn put<T: Copy>(
    indices: &[usize],
    values: &[T],
    lane: &mut [T],
    axis: usize,
) -> Result<()> {
    let extent = lane.len();
    for (&index, &value) in indices.iter().zip(values) {
        *lane.get_mut(index).ok_or_else(|| outside(axis, index, extent))? = value;
    }
    Ok(())
}

fn outside(axis: usize, index: usize, extent: usize) -> Error {
    Error::Index { axis, index: index as i128, extent }
}
