//! Searching sorted lanes, and what follows from elements that are equal.

use super::driver::with_extent;
use super::operand::Lanes;
use super::sort::{Keys, argsort_lanes, keys_together, sort_lanes};
use super::{SortOrder, zeroed};
use crate::dtype::Sortable;
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::memory::{resize, room};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::borrow::Cow;
use std::ops::Range;

/// On which side of equal elements a position lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before the first of them.
    Left,
    /// After the last of them.
    Right,
}

/// How many elements of a sorted lane come before `x`.
pub(super) fn position<T: Sortable>(sorted: &[T], x: T, side: Side) -> usize {
    let key = x.key(false);
    match side {
        Side::Left => sorted.partition_point(|y| y.key(false) < key),
        Side::Right => sorted.partition_point(|y| y.key(false) <= key),
    }
}

/// All elements, if they lie in memory in row-major order.
pub(super) fn in_memory<E: Expr>(e: &Lazy<E>) -> Option<&[E::Elem]> {
    let (slice, map) = e.in_memory().filter(|(_, map)| map.is_contiguous())?;
    let start = map.top().offset();
    slice.get(start..start + map.count())
}

/// All elements in row-major order: where they lie if they lie so, computed otherwise.
pub(super) fn elements<E: Expr>(e: &Lazy<E>) -> Result<Cow<'_, [E::Elem]>> {
    match in_memory(e) {
        Some(elements) => Ok(Cow::Borrowed(elements)),
        None => Ok(Cow::Owned(e.to_vec()?)),
    }
}

/// The different elements of an operand, see [`Lanes::unique`](super::Lanes::unique).
#[derive(Debug, Clone)]
pub struct Unique<T: Copy + Send + Sync> {
    /// One element of each kind, ascending: the one that comes first in row-major order.
    pub values: Tensor<Vec<T>>,
    /// Row-major position of the first element of each kind.
    pub first: Tensor<Vec<usize>>,
    /// Number of elements of each kind.
    pub counts: Tensor<Vec<usize>>,
    /// For every element the position of its kind in `values`; of the shape of the operand.
    pub inverse: Tensor<Vec<usize>>,
}

pub(super) fn unique<E: Expr>(e: &Lazy<E>) -> Result<Unique<E::Elem>>
where
    E::Elem: Sortable,
{
    let elements = elements(e)?;
    let mut inverse = zeroed(e.shape()?)?;
    let mut order = zeroed([elements.len()].into())?;
    let (_, order) = order.parts_mut();
    let lane = Lanes::new(&elements, elements.len());
    argsort_lanes(&mut Default::default(), &lane, 0..1, order, SortOrder::Ascending.keys())?;
    let starts_kind =
        |k: usize| k == 0 || elements[order[k - 1]].key(false) != elements[order[k]].key(false);
    let kinds: usize = (0..order.len()).filter(|&k| starts_kind(k)).count();
    let mut counts = Tensor::<Vec<usize>>::into_storage(zeroed([kinds].into())?);
    let (mut values, mut first) = (room(kinds)?, room(kinds)?);
    let (_, kinds) = inverse.parts_mut();
    for (k, &position) in order.iter().enumerate() {
        if starts_kind(k) {
            values.push(elements[position]);
            first.push(position);
        }
        counts[values.len() - 1] += 1;
        kinds[position] = values.len() - 1;
    }
    Ok(Unique { values: values.into(), first: first.into(), counts: counts.into(), inverse })
}

/// The shape of the modes of lanes along `axis`, along the same axis.
///
/// # Errors
///
/// [`Error::Axis`] and [`Error::EmptyReduction`].
pub(super) fn modes(shape: &Shape, axis: usize) -> Result<Shape> {
    let modes = with_extent(shape, axis, 1)?;
    match shape[axis] {
        0 => Err(Error::EmptyReduction { axis, shape: shape.to_vec() }),
        _ => Ok(modes),
    }
}

/// The element of each lane that comes most often, of several the smallest.
pub(super) fn modes_of_lanes<T: Sortable>(
    (keys, sorted): &mut (Keys<T::Key>, Vec<T>),
    lanes: &Lanes<'_, T>,
    numbers: Range<usize>,
    out: &mut [T],
) -> Result<()> {
    let together = keys_together::<T>(lanes.length);
    let firsts = numbers.step_by(together);
    for (first, out) in firsts.zip(out.chunks_mut(together)) {
        let count = out.len() * lanes.length;
        resize(sorted, count, T::zeroed())?;
        sort_lanes(keys, lanes, first..first + out.len(), sorted, SortOrder::Ascending)?;
        for (slot, lane) in out.iter_mut().zip(sorted.chunks_exact(lanes.length)) {
            let mut most: &[T] = &[];
            for kind in lane.chunk_by(|a, b| a.key(false) == b.key(false)) {
                if kind.len() > most.len() {
                    most = kind;
                }
            }
            // Equal elements keep their order, so this is the first to come.
            most.iter().take(1).for_each(|&mode| *slot = mode);
        }
    }
    Ok(())
}
