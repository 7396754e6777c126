//! Pairs of operands whose lanes go together.

use super::before::{Before, First, first};
use super::operand::Batch;
use super::operation::LaneOperation;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{Expr, Lazy, for_each_piece, moved, room, selectors};
use crate::memory::try_with_capacity;
use crate::ops::indexing::{Source, of_part};
use crate::shape::{Align, Index, Shape};
use smallvec::SmallVec;
use std::ops::Range;

/// Indexes that are evaluated at once, to find one.
const PIECE: usize = 1 << 15;

/// Shape of the indexes of elements of lanes, where their other axes stretch to those of the lanes.
pub(super) fn places(lanes: &Shape, indexes: &Shape, axis: usize) -> Result<Shape> {
    let extent = indexes.get(axis).copied().unwrap_or(1);
    let places = lanes.with_extent(axis, extent)?;
    if indexes.rank() == lanes.rank()
        && places.join(indexes, Align::Right, 2).as_ref() == Ok(&places)
    {
        return Ok(places);
    }
    Err(Error::Lanes { axis, shape: lanes.to_vec(), other: indexes.to_vec() })
}

/// The shape that indexes of lanes and values for them are stretched to.
pub(super) fn shared(lanes: &Shape, indexes: &Shape, values: &Shape, axis: usize) -> Result<Shape> {
    let shape = places(lanes, indexes, axis)?;
    if shape.join(values, Align::Right, 2).as_ref() != Ok(&shape) {
        return Err(Error::Destination { expected: shape.to_vec(), found: values.to_vec() });
    }
    Ok(shape)
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
    type Memory = ();

    const BESIDE: &'static str = "at";

    fn compute(&self, (): &mut (), lanes: Batch<'_, T, usize>, out: &mut [T]) -> Result<()> {
        lanes.for_each(out, |lane, indexes, out| take(lane, indexes, out, self.axis))
    }

    fn is_apart<A: Expr<Elem = T>, B: Expr<Elem = usize>>(
        &self,
        a: &Lazy<A>,
        indexes: &Lazy<B>,
    ) -> Result<bool> {
        let shape = indexes.shape()?;
        if !is_few(&a.shape()?, &shape, self.axis) || lies_along(a, self.axis) {
            return Ok(false);
        }
        // Several parts of a list would load blocks of storage several times.
        Ok(room(a, 0).is_none() || shape.count()? <= Source::new(a)?.at_once())
    }

    fn apart<A: Expr<Elem = T>, B: Expr<Elem = usize>>(
        &self,
        a: &Lazy<A>,
        indexes: &Lazy<B>,
        out: &mut [T],
    ) -> Result<()> {
        let (lanes, shape) = (a.shape()?, indexes.shape()?);
        let (source, mut start) = (Source::new(a)?, 0);
        for_each_piece(indexes, PIECE.max(source.at_once()), |piece| {
            let positions = positions((&lanes, &shape), self.axis, (start, piece))?;
            let mut rest = &mut out[start..];
            let read = source.read(&positions, |elements| {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(elements.len());
                now.copy_from_slice(elements);
                rest = later;
                Ok(())
            });
            read.map_err(|error| of_part(error, |place| lanes.unravel(positions[place])))?;
            start += piece.len();
            Ok(())
        })
    }

    fn located<B: Expr<Elem = usize>>(&self, error: Error, indexes: &Lazy<B>) -> Error {
        match error {
            // Lanes do not know where their indexes stand.
            Error::IndexAt { ref at, axis, extent, .. } if at.is_empty() => {
                check_inside(indexes, axis, extent).err().unwrap_or(error)
            }
            _ => error,
        }
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        Ok(["taking".into(), "copied from, index by index".into()])
    }
}

/// The first element of the lanes, which must have some; the first that is taken where others are not computed.
#[derive(Debug, Clone, Copy)]
pub struct FirstTaken;

impl<T: Copy + Send + Sync> Before<T, usize, T> for FirstTaken {
    fn one<A: Expr<Elem = T>, B: Expr<Elem = usize>>(
        a: &Lazy<A>,
        b: &Lazy<B>,
        axis: usize,
    ) -> Result<T> {
        let extent = a.shape()?[axis];
        if extent == 0 {
            check_inside(b, axis, extent)?;
        }
        if !(TakeAlong { axis }).is_apart(a, b)? {
            return first(a);
        }
        let index = first(b)?;
        if index >= extent {
            check_inside(b, axis, extent)?;
        }
        let rank = a.shape()?.rank();
        let ranges = (0..rank).map(|k| if k == axis { index..index + 1 } else { 0..1 });
        let ranges: SmallVec<[Range<usize>; 4]> = ranges.collect();
        let element = Lazy(a.0.by_ref()).select(selectors(&ranges))?.eval();
        element.map_err(|error| moved(error, &ranges))?.item()
    }

    fn many(one: T, count: usize) -> Result<Vec<T>> {
        <First as Before<T, usize, T>>::many(one, count)
    }
}

/// Whether so few elements of lanes are meant that whole lanes are not worth while.
pub(super) fn is_few(lanes: &Shape, indexes: &Shape, axis: usize) -> bool {
    indexes[axis].saturating_mul(8) <= lanes[axis]
}

/// Whether lanes lie in memory, element by element.
fn lies_along<E: Expr>(a: &Lazy<E>, axis: usize) -> bool {
    let axes = a.in_memory().and_then(|(_, map)| map.linear_axes());
    axes.is_some_and(|axes| axes[axis].stride == 1)
}

/// Row-major positions in `lanes` that some indexes along `axis` mean, the first of which has a number in their shape.
pub(super) fn positions(
    (lanes, shape): (&Shape, &Shape),
    axis: usize,
    (start, indexes): (usize, &[usize]),
) -> Result<Vec<usize>> {
    let mut strides = Index::from_elem(1, lanes.rank());
    for k in (1..lanes.rank()).rev() {
        strides[k - 1] = strides[k] * lanes[k];
    }
    // The index along `axis` is that of the list.
    strides.insert(axis, 0);
    let stride = strides.remove(axis + 1);
    let mut at = shape.unravel(start);
    let mut base = at.iter().zip(&strides).map(|(digit, stride)| digit * stride).sum::<usize>();
    let mut positions = try_with_capacity(indexes.len())?;
    for &index in indexes {
        if index >= lanes[axis] {
            return Err(Error::IndexAt { at: at.to_vec(), axis, index, extent: lanes[axis] });
        }
        positions.push(base + index * stride);
        for k in (0..shape.rank()).rev() {
            at[k] += 1;
            base += strides[k];
            if at[k] < shape[k] {
                break;
            }
            at[k] = 0;
            base -= shape[k] * strides[k];
        }
    }
    Ok(positions)
}

/// Writes the elements of `lane` at `indexes`.
fn take<T: Copy>(lane: &[T], indexes: &[usize], out: &mut [T], axis: usize) -> Result<()> {
    let extent = lane.len();
    for (slot, &index) in out.iter_mut().zip(indexes) {
        let outside = || Error::IndexAt { at: Vec::new(), axis, index, extent };
        *slot = *lane.get(index).ok_or_else(outside)?;
    }
    Ok(())
}

/// Writes `values` to the elements of `lane` at `indexes`, which lie inside.
pub(super) fn put<T: Copy>(indexes: &[usize], values: &[T], lane: &mut [T]) {
    for (&index, &value) in indexes.iter().zip(values) {
        if let Some(slot) = lane.get_mut(index) {
            *slot = value;
        }
    }
}

/// Refuses the first index that is not less than `extent`.
pub(super) fn check_inside(
    indexes: &Lazy<impl Expr<Elem = usize>>,
    axis: usize,
    extent: usize,
) -> Result<()> {
    let (shape, mut before) = (indexes.shape()?, 0);
    for_each_piece(indexes, PIECE, |piece| {
        let Some(place) = piece.iter().position(|&index| index >= extent) else {
            before += piece.len();
            return Ok(());
        };
        let at = shape.unravel(before + place).to_vec();
        Err(Error::IndexAt { at, axis, index: piece[place], extent })
    })
}
