//! One view operation as a value.

use super::{MAX_COUNT, MAX_RANK, below, one_in, pick, volume};
use crate::error::Result;
use crate::map::{AddressMap, Select};
use crate::shape::{Align, Shape};
use quickcheck::{Arbitrary, Gen};
use std::ops::Range;

/// A view operation and its arguments. Every variant is the method of [`AddressMap`] it is named after.
///
/// The enum is exhaustive on purpose: a model that mirrors the operations should not compile while it lacks one.
/// `compress` and `repeat` are left out: they are a `select` by a mask and by a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewOp {
    /// [`AddressMap::transpose`].
    Transpose(Vec<usize>),
    /// [`AddressMap::select`].
    Select(Vec<Select>),
    /// [`AddressMap::slice`].
    Slice(usize, Range<usize>),
    /// [`AddressMap::broadcast`].
    Broadcast(Shape),
    /// [`AddressMap::stretch`].
    Stretch(Shape, Align),
    /// [`AddressMap::rotate`].
    Rotate(Vec<isize>),
    /// [`AddressMap::reshape`].
    Reshape(Shape),
    /// [`AddressMap::split_axis`].
    SplitAxis(usize, Vec<usize>),
    /// [`AddressMap::merge_axes`].
    MergeAxes(Range<usize>),
    /// [`AddressMap::flip`].
    Flip(usize),
    /// [`AddressMap::diagonal`].
    Diagonal(usize, usize),
    /// [`AddressMap::windows`].
    Windows(usize, usize),
    /// [`AddressMap::insert_axis`].
    InsertAxis(usize),
    /// [`AddressMap::remove_axis`].
    RemoveAxis(usize),
}

impl ViewOp {
    /// A random operation that is valid for `shape`, with a result of at most
    /// [`MAX_COUNT`] elements and [`MAX_RANK`] axes if `shape` keeps to that too.
    pub fn arbitrary_for(g: &mut Gen, shape: &Shape) -> Self {
        loop {
            if let Some(operation) = Self::attempt(g, shape) {
                return operation;
            }
        }
    }

    /// Applies the operation.
    ///
    /// # Errors
    ///
    /// Those of the method.
    pub fn apply(&self, map: AddressMap) -> Result<AddressMap> {
        match self {
            Self::Transpose(order) => map.transpose(order),
            Self::Select(selectors) => map.select(selectors),
            Self::Slice(axis, range) => map.slice(*axis, range.clone()),
            Self::Broadcast(to) => map.broadcast(to),
            Self::Stretch(to, align) => map.stretched(to, *align),
            Self::Rotate(shifts) => map.rotate(shifts),
            Self::Reshape(to) => map.reshape(to),
            Self::SplitAxis(axis, extents) => map.split_axis(*axis, extents),
            Self::MergeAxes(axes) => map.merge_axes(axes.clone()),
            Self::Flip(axis) => map.flip(*axis),
            Self::Diagonal(a, b) => map.diagonal(*a, *b),
            Self::Windows(axis, window) => map.windows(*axis, *window),
            Self::InsertAxis(axis) => map.insert_axis(*axis),
            Self::RemoveAxis(axis) => map.remove_axis(*axis),
        }
    }

    /// Operations of the same kind with simpler arguments: fewer shifts, entries and selectors, and an axis that
    /// takes fewer operations before.
    pub(super) fn simpler(&self) -> Vec<Self> {
        match self {
            Self::Flip(axis) => (0..*axis).map(Self::Flip).collect(),
            Self::Rotate(shifts) => {
                let all = |shrunk: &Vec<isize>| shrunk.len() == shifts.len();
                shifts.shrink().filter(all).map(Self::Rotate).collect()
            }
            Self::Select(selectors) => {
                let mut simpler = Vec::new();
                for (k, selector) in selectors.iter().enumerate() {
                    let instead: Vec<Select> = match selector {
                        Select::All => Vec::new(),
                        Select::List(list) => {
                            list.shrink().map(Select::List).chain([Select::All]).collect()
                        }
                        _ => vec![Select::All],
                    };
                    simpler.extend(instead.into_iter().map(|selector| {
                        let mut changed = selectors.clone();
                        changed[k] = selector;
                        Self::Select(changed)
                    }));
                }
                simpler
            }
            _ => Vec::new(),
        }
    }

    /// An operation of a random kind, `None` if that kind does not suit the shape. A rotation always does.
    fn attempt(g: &mut Gen, shape: &Shape) -> Option<Self> {
        let rank = shape.rank();
        let axis = below(g, rank);
        let room = MAX_COUNT / volume(shape).clamp(1, MAX_COUNT);
        match below(g, 20) {
            0 | 1 => Some(Self::Transpose(permutation(g, rank))),
            2..=4 => Some(Self::Select(selectors(g, shape, room))),
            5 => (rank > 0).then(|| Self::Slice(axis, slice(g, shape[axis]))),
            6 | 7 => Some(Self::Broadcast(repeated(g, shape, room))),
            8 => Some(stretched(g, shape, room)),
            9 | 10 => Some(Self::Rotate(shape.iter().map(|&extent| shift(g, extent)).collect())),
            11 | 12 | 17 | 18 => {
                Some(Self::Reshape(Shape::from(factors(g, shape.count().ok()?, MAX_RANK))))
            }
            13 => {
                let parts = (MAX_RANK + 1).checked_sub(rank)?;
                (rank > 0).then(|| Self::SplitAxis(axis, factors(g, shape[axis], parts)))
            }
            14 => {
                let start = below(g, rank + 1);
                let merged = start..start + below(g, rank - start + 1);
                (!merged.is_empty() || rank < MAX_RANK).then_some(Self::MergeAxes(merged))
            }
            15 => (rank > 0).then_some(Self::Flip(axis)),
            16 => match below(g, 3) {
                0 => (rank < MAX_RANK).then(|| Self::InsertAxis(below(g, rank + 1))),
                1 => shape.iter().position(|&extent| extent == 1).map(Self::RemoveAxis),
                _ => {
                    let other = below(g, rank);
                    (axis != other).then_some(Self::Diagonal(axis, other))
                }
            },
            _ => {
                let extent = *shape.get(axis)?;
                let window = 1 + below(g, extent);
                let grown = (extent.checked_sub(window)? + 1).checked_mul(window)?;
                let others = volume(shape) / extent;
                let fits = rank < MAX_RANK && others.checked_mul(grown)? <= MAX_COUNT;
                fits.then_some(Self::Windows(axis, window))
            }
        }
    }
}

pub(super) fn permutation(g: &mut Gen, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    for k in 1..rank {
        order.swap(k, below(g, k + 1));
    }
    order
}

/// A range that visits nothing, or nothing outside.
fn slice(g: &mut Gen, extent: usize) -> Range<usize> {
    let (start, end) = (below(g, extent + 1), below(g, extent + 1));
    if one_in(g, 8) { start + 5..end } else { start.min(end)..start.max(end) }
}

/// Selectors of some leading axes that together take at most `room` times as much as there is.
fn selectors(g: &mut Gen, shape: &Shape, mut room: usize) -> Vec<Select> {
    let count = if one_in(g, 3) { below(g, shape.rank() + 1) } else { shape.rank() };
    let mut selectors = Vec::with_capacity(count);
    for &extent in &shape[..count] {
        let longest = extent.saturating_mul(room);
        let selector = selector(g, extent, longest.min(extent + 3).min(MAX_COUNT));
        if let Select::List(list) = &selector
            && list.len() > extent
        {
            room = room * extent / list.len();
        }
        selectors.push(selector);
    }
    selectors
}

fn selector(g: &mut Gen, extent: usize, longest: usize) -> Select {
    let inside = below(g, extent) as isize;
    let step = pick(g, &[1, 1, 2, 3, -1, -1, -2, -3, isize::MAX, isize::MIN]);
    match below(g, 11) {
        0 if extent > 0 && one_in(g, 3) => Select::from_last(inside as usize),
        0 if extent > 0 => Select::Index(inside),
        1 => Select::Reverse,
        2 => Select::every(if one_in(g, 4) { step } else { pick(g, &[2, -2, 3]) }),
        // Between start and stop all lies inside; the wrong way round there is nothing.
        3 | 4 if extent > 0 => {
            let last = if one_in(g, 4) { None } else { Some(below(g, extent + 2) as isize - 1) };
            Select::Range { start: inside, stop: last.filter(|&stop| step < 0 || stop >= 0), step }
        }
        5 if one_in(g, 3) => {
            let far = pick(g, &[isize::MIN, -7, 0, 9, isize::MAX]);
            Select::stepped(far, far, step)
        }
        6 | 7 => {
            let len = if one_in(g, 8) { 0 } else { below(g, longest + 1) };
            let len = if extent == 0 { 0 } else { len };
            Select::List((0..len).map(|_| below(g, extent)).collect())
        }
        #[cfg(feature = "roaring")]
        8 if extent <= MAX_COUNT => {
            Select::Set((0..extent as u64).filter(|_| bool::arbitrary(g)).collect())
        }
        9 if extent <= MAX_COUNT => {
            Select::mask((0..extent).map(|_| bool::arbitrary(g)).collect::<Vec<_>>())
        }
        10 => Select::between(None, Some(below(g, extent + 2) as isize - 1), -pick(g, &[1, 2, 5])),
        _ => Select::All,
    }
}

/// A shape that `shape` repeats to, at most `room` times as large.
fn repeated(g: &mut Gen, shape: &Shape, mut room: usize) -> Shape {
    let mut times = |g: &mut Gen| {
        let times = pick(g, &[1, 1, 2, 2, 3, 5]).min(room);
        room /= times;
        times
    };
    let new = below(g, 3).min(MAX_RANK.saturating_sub(shape.rank()));
    let mut to: Vec<usize> = (0..new).map(|_| times(g)).collect();
    to.extend(shape.iter().map(|&extent| extent * times(g)));
    Shape::from(to)
}

/// A stretch of missing axes and extents of 1, at most `room` times as large, also to 0.
fn stretched(g: &mut Gen, shape: &Shape, mut room: usize) -> ViewOp {
    let align = pick(g, &[Align::Right, Align::Left]);
    let new = below(g, 3).min(MAX_RANK.saturating_sub(shape.rank()));
    let mut free = |g: &mut Gen| {
        let extent = if one_in(g, 12) { 0 } else { pick(g, &[1, 2, 3, 4]).min(room) };
        room /= extent.max(1);
        extent
    };
    let added: Vec<usize> = (0..new).map(|_| free(g)).collect();
    let kept: Vec<usize> =
        shape.iter().map(|&extent| if extent == 1 { free(g) } else { extent }).collect();
    let to = if align == Align::Right { [added, kept].concat() } else { [kept, added].concat() };
    ViewOp::Stretch(Shape::from(to), align)
}

fn shift(g: &mut Gen, extent: usize) -> isize {
    match below(g, 12) {
        0..=3 => 0,
        4 => pick(g, &[isize::MIN, isize::MAX]),
        _ => {
            let farthest = 2 * extent.min(MAX_COUNT);
            below(g, 2 * farthest + 1) as isize - farthest as isize
        }
    }
}

/// The divisors of `number` that extents of generated views can be.
pub(super) fn divisors(number: usize) -> Vec<usize> {
    (1..=number.min(MAX_COUNT)).filter(|&divisor| number.is_multiple_of(divisor)).collect()
}

/// At most `longest` extents whose product is `count`; none only if that is allowed and `count` is 1.
pub(super) fn factors(g: &mut Gen, count: usize, longest: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut left = count;
    while left > 1 && factors.len() + 1 < longest {
        let divisor = pick(g, &divisors(left));
        factors.push(divisor);
        left /= divisor;
        if one_in(g, 4) {
            break;
        }
    }
    if left != 1 || (factors.len() < longest && one_in(g, 4)) {
        factors.push(left);
    }
    if count == 0 && factors.len() < longest {
        factors.insert(below(g, 2), pick(g, &[0, 1, 3]));
    }
    let turn = below(g, factors.len());
    factors.rotate_left(turn);
    factors
}
