//! The first elements of a lane, and what comes before and after one rank, without sorting the rest.

use super::SortOrder;
use super::before::Zeros;
use super::operand::Batch;
use super::operation::LaneOperation;
use crate::dtype::{Radix, Sortable};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::memory::{refill, try_reserve_exact};
use crate::shape::Shape;
use bytemuck::Zeroable;

/// Keys of a lane with their positions. No two are equal.
pub(super) type Ranked<K> = Vec<(K, usize)>;

/// Elements that are passed over at once where none of them is among the first.
const GROUP: usize = 32;
/// Keys with positions that there is room for before those that are not among the first are left out, and of how many elements
/// one at most is wanted for that.
const ROOM: usize = 1024;
const FEW: usize = 64;

/// Arranges a lane around the element of rank `k`: the smaller ones before it and the larger ones after it,
/// both in the order in which they came. `value` gives what to write for a position. A lane without such an element, as
/// rows may be, stays as it is.
pub(super) fn partition_lane<T: Copy, K: Ord + Copy, U>(
    keys: &mut Vec<K>,
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
    refill(keys, lane.iter().map(|&x| key(x)))?;
    let (lower, &mut pivot, _) = keys.select_nth_unstable(k);
    // Of several equal elements of this rank it is that which so many others come before.
    let mut others = lower.iter().filter(|key| **key == pivot).count() as isize;
    let (mut before, mut after) = (0, k + 1);
    for (position, &x) in lane.iter().enumerate() {
        // On which side elements come would be an unpredictable branch.
        let own = key(x);
        let is_equal = own == pivot;
        let is_pivot = is_equal & (others == 0);
        let is_before = (own < pivot) | (is_equal & (others > 0));
        let side = if is_before { before } else { after };
        out[if is_pivot { k } else { side }] = value(position);
        others -= isize::from(is_equal);
        before += usize::from(is_before);
        after += usize::from(!is_before & !is_pivot);
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
    if lane.len() < 4 * ROOM || lane.len() / FEW < out.len() {
        refill(ranked, lane.iter().enumerate().map(|(position, &x)| (key(x), position)))?;
    } else {
        rank_few(ranked, lane, out.len(), key)?;
    }
    keep_first(ranked, out.len());
    ranked.sort_unstable();
    for (slot, &(_, position)) in out.iter_mut().zip(ranked.iter()) {
        *slot = value(position);
    }
    Ok(())
}

/// Finds some elements of a long lane among which are the first `count`.
fn rank_few<T: Copy, K: Ord + Copy>(
    ranked: &mut Ranked<K>,
    lane: &[T],
    count: usize,
    key: impl Fn(T) -> K,
) -> Result<()> {
    ranked.clear();
    try_reserve_exact(ranked, ROOM.max(2 * count))?;
    // The key of the last of the first ones so far: what equals it and comes later is none of them.
    let mut bound = None;
    for (group, elements) in lane.chunks(GROUP).enumerate() {
        let has_first = |bound| elements.iter().fold(false, |any, &x| any | (key(x) < bound));
        if bound.is_some_and(|bound| !has_first(bound)) {
            continue;
        }
        for (position, &x) in (group * GROUP..).zip(elements) {
            let own = key(x);
            if bound.is_some_and(|bound| own >= bound) {
                continue;
            }
            ranked.push((own, position));
            if ranked.len() == ranked.capacity() {
                keep_first(ranked, count);
                bound = ranked.last().map(|last| last.0);
            }
        }
    }
    Ok(())
}

/// Leaves out all but the first `count`, the last of which comes last.
fn keep_first<K: Ord>(ranked: &mut Ranked<K>, count: usize) {
    if let Some(last) = count.checked_sub(1).filter(|_| count < ranked.len()) {
        ranked.select_nth_unstable(last);
    }
    ranked.truncate(count);
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
    type Memory = Vec<T::Key>;

    fn check(&self, shape: &Shape, axis: usize) -> Result<()> {
        check_rank(axis, self.k, shape)
    }

    fn compute(
        &self,
        keys: &mut Self::Memory,
        lanes: Batch<'_, T>,
        out: &mut [P::Elem],
    ) -> Result<()> {
        let key = self.order.keys();
        lanes.for_each(out, |lane, _, out| {
            partition_lane(keys, lane, out, self.k, &key, |at| self.picked.pick(lane, at))
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        let (k, bytes) = (self.k, T::Key::BYTES);
        Ok([
            self.order.of(&self.picked.word("partition")),
            format!("rank {k} of {bytes}-byte keys selected, the others as they come on its sides"),
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
        let (k, bytes) = (self.k, T::Key::BYTES);
        let each = format!("{k} of {bytes}-byte keys with positions selected, then sorted");
        Ok([self.order.of(&self.picked.word("top elements")), each])
    }
}

/// Checks that lanes along `axis` have an element of rank `k`.
pub(super) fn check_rank(axis: usize, k: usize, shape: &Shape) -> Result<()> {
    let extent = shape.extent(axis)?;
    if k < extent { Ok(()) } else { Err(Error::Index { axis, index: k as i128, extent }) }
}
