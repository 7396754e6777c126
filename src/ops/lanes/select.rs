//! The first elements of a lane, and what comes before and after one rank, without sorting the rest.

use super::SortOrder;
use super::before::Zeros;
use super::operand::Batch;
use super::operation::LaneOperation;
use crate::dtype::{Radix, Sortable};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::memory::refill;
use crate::shape::Shape;
use bytemuck::Zeroable;

/// Keys of a lane with their positions. No two are equal.
pub(super) type Ranked<K> = Vec<(K, usize)>;

/// Arranges a lane around the element of rank `k`: the smaller ones before it and the larger ones after it,
/// both in the order in which they came. `value` gives what to write for a position. A lane without such an element, as
/// rows may be, stays as it is.
pub(super) fn partition_lane<T: Copy, K: Ord + Copy, U>(
    ranked: &mut Ranked<K>,
    lane: &[T],
    out: &mut [U],
    k: usize,
    key: impl Fn(T) -> K,
    value: impl Fn(usize) -> U,
) -> Result<()> {
    if k >= lane.len() {
        out.iter_mut().enumerate().for_each(|(position, slot)| *slot = value(position));
        return Ok(());
    }
    refill(ranked, lane.iter().enumerate().map(|(position, &x)| (key(x), position)))?;
    let pivot = *ranked.select_nth_unstable(k).1;
    let (mut before, mut after) = (0, k + 1);
    for (position, &x) in lane.iter().enumerate() {
        let pair = (key(x), position);
        let slot = if pair < pivot {
            before += 1;
            before - 1
        } else if pair > pivot {
            after += 1;
            after - 1
        } else {
            k
        };
        out[slot] = value(position);
    }
    Ok(())
}

/// The first elements of a lane in order of their keys, as many as `out` takes.
pub(super) fn first_of_lane<T: Copy, K: Ord + Copy, U>(
    ranked: &mut Ranked<K>,
    lane: &[T],
    out: &mut [U],
    key: impl Fn(T) -> K,
    value: impl Fn(usize) -> U,
) -> Result<()> {
    refill(ranked, lane.iter().enumerate().map(|(position, &x)| (key(x), position)))?;
    if out.len() < ranked.len() {
        ranked.select_nth_unstable(out.len());
        ranked.truncate(out.len());
    }
    ranked.sort_unstable();
    for (slot, &(_, position)) in out.iter_mut().zip(ranked.iter()) {
        *slot = value(position);
    }
    Ok(())
}

/// What is written for a position of a lane. Sealed.
pub trait Picked<T>: Send + Sync + Sealed {
    /// The type of it.
    type Elem: Copy + Send + Sync + Zeroable;

    #[doc(hidden)]
    fn pick(&self, lane: &[T], position: usize) -> Self::Elem;

    /// `what` of these, in words.
    #[doc(hidden)]
    fn word(&self, what: &str) -> String;
}

/// The element.
#[derive(Debug, Clone, Copy)]
pub struct Elements;

/// The position.
#[derive(Debug, Clone, Copy)]
pub struct Positions;

impl Sealed for Elements {}
impl Sealed for Positions {}

impl<T: Copy + Send + Sync + Zeroable> Picked<T> for Elements {
    type Elem = T;

    fn pick(&self, lane: &[T], position: usize) -> T {
        lane[position]
    }

    fn word(&self, what: &str) -> String {
        what.to_string()
    }
}

impl<T> Picked<T> for Positions {
    type Elem = usize;

    fn pick(&self, _: &[T], position: usize) -> usize {
        position
    }

    fn word(&self, what: &str) -> String {
        format!("positions of {what}")
    }
}

/// Every lane around its element of a rank, see [`Lanes::partition`](super::Lanes::partition).
#[derive(Debug, Clone, Copy)]
pub struct Partition<P> {
    pub(crate) k: usize,
    pub(crate) order: SortOrder,
    pub(crate) picked: P,
}

impl<P> Sealed for Partition<P> {}

impl<T: Sortable, P: Picked<T>> LaneOperation<T> for Partition<P> {
    type Elem = P::Elem;
    type Before = Zeros;
    type Memory = Ranked<T::Key>;

    fn check(&self, shape: &Shape, axis: usize) -> Result<()> {
        check_rank(axis, self.k, shape)
    }

    fn compute(
        &self,
        ranked: &mut Self::Memory,
        lanes: Batch<'_, T>,
        out: &mut [P::Elem],
    ) -> Result<()> {
        let key = self.order.keys();
        lanes.for_each(out, |lane, _, out| {
            partition_lane(ranked, lane, out, self.k, &key, |at| self.picked.pick(lane, at))
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        let (k, ranked) = (self.k, ranked::<T>());
        Ok([
            self.order.of(&self.picked.word("partition")),
            format!("rank {k} of {ranked} selected, the others as they come on its sides"),
        ])
    }
}

/// The first elements of every lane in order, see [`Lanes::top_k`](super::Lanes::top_k).
#[derive(Debug, Clone, Copy)]
pub struct Top<P> {
    pub(super) k: usize,
    pub(super) order: SortOrder,
    pub(super) picked: P,
}

impl<P> Sealed for Top<P> {}

impl<T: Sortable, P: Picked<T>> LaneOperation<T> for Top<P> {
    type Elem = P::Elem;
    type Before = Zeros;
    type Memory = Ranked<T::Key>;

    fn results(&self) -> Result<Option<usize>> {
        Ok(Some(self.k))
    }

    fn check(&self, shape: &Shape, axis: usize) -> Result<()> {
        match shape[axis] {
            extent if self.k > extent => Err(Error::LaneTooShort { axis, count: self.k, extent }),
            _ => Ok(()),
        }
    }

    fn compute(
        &self,
        ranked: &mut Self::Memory,
        lanes: Batch<'_, T>,
        out: &mut [P::Elem],
    ) -> Result<()> {
        let key = self.order.keys();
        lanes.for_each(out, |lane, _, out| {
            first_of_lane(ranked, lane, out, &key, |at| self.picked.pick(lane, at))
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        let each = format!("{} of {} selected, then sorted", self.k, ranked::<T>());
        Ok([self.order.of(&self.picked.word("top elements")), each])
    }
}

/// What ranks are selected among.
fn ranked<T: Sortable>() -> String {
    format!("{}-byte keys with positions", T::Key::BYTES)
}

/// Checks that lanes along `axis` have an element of rank `k`.
pub(super) fn check_rank(axis: usize, k: usize, shape: &Shape) -> Result<()> {
    let extent = shape.extent(axis)?;
    if k < extent { Ok(()) } else { Err(Error::Index { axis, index: k as i128, extent }) }
}
