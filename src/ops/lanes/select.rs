//! The first elements of a lane, and what comes before and after one rank, without sorting the rest.

use super::driver::with_extent;
use crate::error::{Error, Result};
use crate::memory::refill;
use crate::shape::Shape;

/// Keys of a lane with their positions. No two are equal.
pub(super) type Ranked<K> = Vec<(K, usize)>;

/// Arranges a lane around the element of rank `k`: the smaller ones before it and the larger ones after it,
/// both in the order in which they came. `value` gives what to write for a position.
pub(super) fn partition_lane<T: Copy, K: Ord + Copy, U>(
    ranked: &mut Ranked<K>,
    lane: &[T],
    out: &mut [U],
    k: usize,
    key: impl Fn(T) -> K,
    value: impl Fn(usize) -> U,
) -> Result<()> {
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

/// Checks that lanes along `axis` have an element of rank `k`.
pub(super) fn check_rank(axis: usize, k: usize, shape: &Shape) -> Result<()> {
    let extent = *shape.get(axis).ok_or(Error::Axis { axis, rank: shape.rank() })?;
    if k < extent { Ok(()) } else { Err(Error::Index { axis, index: k as i128, extent }) }
}

/// Shape of the first `k` elements of every lane.
pub(super) fn top(shape: &Shape, axis: usize, k: usize) -> Result<Shape> {
    let extent = *shape.get(axis).ok_or(Error::Axis { axis, rank: shape.rank() })?;
    if k > extent {
        return Err(Error::LaneTooShort { axis, count: k, extent });
    }
    with_extent(shape, axis, k)
}
