//! Work on lanes: the elements along one axis, one lane for every index of the other axes.
//!
//! Lanes that lie in a slice are handed out where they are. Others are evaluated to scratch memory first, a
//! group of neighbouring lanes at a time, and results that do not belong one after another in memory are
//! assigned from scratch memory to their places. Both are evaluations like any other, which cross from one
//! order of memory to another tile by tile: lanes along the first axis cost little more than lanes along
//! the last. The lanes of a group are shared among threads.

use crate::error::{Error, Result};
use crate::expr::{Boxes, Expr, Lazy, for_each_piece, moved, selectors};
use crate::kernel::join;
use crate::map::{AddressMap, Walk};
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::ops::Range;

/// Elements of a group, if they go through scratch memory and one lane has not more.
const GROUP: usize = 1 << 20;
/// Elements of a group for which more than one thread is worth its start.
const PARALLEL: usize = 1 << 15;
/// Fewest elements of a parallel task.
const GRAIN: usize = 1 << 14;

/// Whether the lanes of an output hold its old elements when they are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// They do.
    Kept,
    /// They hold whatever.
    Lost,
}

/// Computes every lane of `out` along `axis` by `f` from the lane of `source` at the same index of the other
/// axes. Along `axis` the extents of the two may differ.
///
/// A task has an `S` of its own to keep memory in from lane to lane.
///
/// # Errors
///
/// [`Error::Axis`], [`Error::Destination`] if the other axes differ, [`Error::NotInjective`], what the
/// evaluation of `source` reports, the first error of `f` in order of the lanes, and [`Error::Storage`]
/// if a lane cannot be written.
pub(crate) fn map_lanes<E, W, S, F>(
    source: &Lazy<E>,
    axis: usize,
    out: &mut Tensor<W>,
    f: F,
) -> Result<()>
where
    E: Expr,
    W: Writer,
    S: Default,
    F: Fn(&mut S, &[E::Elem], &mut [W::Elem]) -> Result<()> + Sync,
{
    let none = nothing(&out.shape(), axis)?;
    zip_lanes((source, &none), axis, out, Old::Lost, |scratch, lane, _, out| f(scratch, lane, out))
}

/// Changes every lane of `out` along `axis` by `f`.
///
/// # Errors
///
/// As [`map_lanes`].
pub(crate) fn update_lanes<W, S, F>(axis: usize, out: &mut Tensor<W>, f: F) -> Result<()>
where
    W: Writer,
    S: Default,
    F: Fn(&mut S, &mut [W::Elem]) -> Result<()> + Sync,
{
    let none = nothing(&out.shape(), axis)?;
    zip_lanes((&none, &none), axis, out, Old::Kept, |scratch, _, _, out| f(scratch, out))
}

/// As [`map_lanes`], from the lanes of two operands, to lanes that may hold their old elements.
///
/// # Errors
///
/// As [`map_lanes`].
pub(crate) fn zip_lanes<A, B, W, S, F>(
    (a, b): (&Lazy<A>, &Lazy<B>),
    axis: usize,
    out: &mut Tensor<W>,
    old: Old,
    f: F,
) -> Result<()>
where
    A: Expr,
    B: Expr,
    W: Writer,
    S: Default,
    F: Fn(&mut S, &[A::Elem], &[B::Elem], &mut [W::Elem]) -> Result<()> + Sync,
{
    let shape = out.shape();
    let kept = without(&shape, axis)?;
    let (mut a, mut b) = (Input::new(a, axis, &kept)?, Input::new(b, axis, &kept)?);
    out.address_map().check_injective()?;
    let length = shape[axis];
    if out.is_empty() {
        return Ok(());
    }
    let mut out = out.view_mut().move_axis(axis, shape.rank() - 1)?;
    let mut buffer = Vec::new();
    let direct = out.address_map().is_contiguous() && out.parts_mut().1.as_mut_slice().is_some();
    let longest = length.max(a.length).max(b.length);
    let whole = direct && a.is_direct() && b.is_direct();
    let mut first = 0;
    for ranges in Boxes::new(kept.clone(), if whole { usize::MAX } else { GROUP / longest }) {
        let rest: usize = kept[ranges.len()..].iter().product();
        let lanes = ranges.iter().map(Range::len).product::<usize>() * rest;
        let group = Group {
            a: a.read(first, &ranges)?,
            b: b.read(first, &ranges)?,
            length,
            task: task_lanes(lanes, longest),
            f: &f,
        };
        let start = out.address_map().top().offset() + first * length;
        first += lanes;
        let memory = match out.parts_mut().1.as_mut_slice() {
            Some(slice) if direct => slice.get_mut(start..start + lanes * length),
            _ => None,
        };
        if let Some(memory) = memory {
            group.run::<_, S>(0..lanes, memory)?;
            continue;
        }
        if old == Old::Kept || buffer.len() < lanes * length {
            let before = out.view().select(selectors(&ranges))?.lazy();
            refill(&mut buffer, &before).map_err(|error| restored(error, &ranges, axis))?;
        }
        let results = &mut buffer[..lanes * length];
        group.run::<_, S>(0..lanes, results)?;
        let mut part = out.view_mut().select(selectors(&ranges))?;
        let results = Tensor::new(part.shape(), &*results)?;
        part.assign(results).map_err(|error| restored(error, &ranges, axis))?;
    }
    Ok(())
}

/// Most lanes that one task should do of a group.
fn task_lanes(lanes: usize, longest: usize) -> usize {
    if lanes.saturating_mul(longest) < PARALLEL { usize::MAX } else { GRAIN.div_ceil(longest) }
}

/// The extents of all axes but one.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis.
pub(crate) fn without(shape: &Shape, axis: usize) -> Result<Shape> {
    if axis >= shape.rank() {
        return Err(Error::Axis { axis, rank: shape.rank() });
    }
    Ok(shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, &extent)| extent).collect())
}

/// `shape` with another extent of one axis.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis.
pub(crate) fn with_extent(shape: &Shape, axis: usize, extent: usize) -> Result<Shape> {
    if axis >= shape.rank() {
        return Err(Error::Axis { axis, rank: shape.rank() });
    }
    Ok(shape.iter().enumerate().map(|(k, &own)| if k == axis { extent } else { own }).collect())
}

/// An operand whose lanes are empty.
fn nothing(shape: &Shape, axis: usize) -> Result<Lazy<Tensor<Vec<()>>>> {
    Ok(Tensor::new(with_extent(shape, axis, 0)?, Vec::new())?.lazy())
}

/// An operand that is read lane by lane.
struct Input<'e, E: Expr + 'e> {
    whole: &'e Lazy<E>,
    /// The same with the axis of the lanes last.
    moved: Lazy<E::Ref<'e>>,
    length: usize,
    buffer: Vec<E::Elem>,
}

impl<'e, E: Expr> Input<'e, E> {
    fn new(whole: &'e Lazy<E>, axis: usize, kept: &Shape) -> Result<Self> {
        let shape = whole.shape()?;
        let own = without(&shape, axis)?;
        if own != *kept {
            return Err(Error::Destination { expected: kept.to_vec(), found: own.to_vec() });
        }
        let moved = Lazy(whole.0.by_ref()).move_axis(axis, shape.rank() - 1)?;
        Ok(Self { whole, moved, length: shape[axis], buffer: Vec::new() })
    }

    /// Map and memory, if each lane lies there from its first element to its last.
    fn in_memory(&self) -> Option<(&AddressMap, &[E::Elem])> {
        self.moved.memory().filter(|(map, _)| {
            let (top, last) = (map.top(), map.rank().saturating_sub(1));
            let stride = top.plain_axes().last().map(|axis| axis.stride);
            let follows = stride == Some(1) && matches!(top.walk(last), Walk::Linear);
            map.rest().is_empty() && (follows || self.length == 1)
        })
    }

    /// Whether lanes are handed out where they are.
    fn is_direct(&self) -> bool {
        self.length == 0 || self.in_memory().is_some()
    }

    /// The lanes from number `first` on, which are those of a box of the other axes.
    fn read(&mut self, first: usize, ranges: &[Range<usize>]) -> Result<Lanes<'_, E::Elem>> {
        let length = self.length;
        if !self.is_direct() {
            let part = Lazy(self.moved.0.by_ref()).select(selectors(ranges))?;
            refill(&mut self.buffer, &part).map_err(|error| first_error(self.whole, error))?;
        }
        let (elements, starts) = match self.in_memory() {
            Some((map, elements)) if map.is_contiguous() => {
                (elements, Starts::Regular(map.top().offset() + first * length))
            }
            Some((map, elements)) => (elements, Starts::Mapped { map, first }),
            None => (self.buffer.as_slice(), Starts::Regular(0)),
        };
        Ok(Lanes { elements, length, starts })
    }
}

/// Neighbouring lanes of one operand in memory.
#[derive(Clone, Copy)]
struct Lanes<'g, T> {
    elements: &'g [T],
    length: usize,
    starts: Starts<'g>,
}

#[derive(Clone, Copy)]
enum Starts<'g> {
    /// One lane follows another, from this address on.
    Regular(usize),
    /// The lanes start where a map says, from the lane of this number on.
    Mapped { map: &'g AddressMap, first: usize },
}

impl<'g, T> Lanes<'g, T> {
    #[inline]
    fn lane(&self, k: usize) -> Result<&'g [T]> {
        if self.length == 0 {
            return Ok(&[]);
        }
        let start = match self.starts {
            Starts::Regular(start) => start + k * self.length,
            Starts::Mapped { map, first } => map.address_at((first + k) * self.length),
        };
        let span = start..start + self.length;
        let lane = self.elements.get(span.clone());
        lane.ok_or_else(|| Error::OutOfSpan { span, len: self.elements.len() })
    }
}

/// Lanes that are worked on at once.
struct Group<'g, A, B, F> {
    a: Lanes<'g, A>,
    b: Lanes<'g, B>,
    /// Of an output lane.
    length: usize,
    /// Most lanes of one task.
    task: usize,
    f: &'g F,
}

impl<A: Sync, B: Sync, F: Sync> Group<'_, A, B, F> {
    /// Computes some of the lanes, in halves as long as they are more than one task should do.
    fn run<U, S>(&self, lanes: Range<usize>, out: &mut [U]) -> Result<()>
    where
        U: Send,
        S: Default,
        F: Fn(&mut S, &[A], &[B], &mut [U]) -> Result<()>,
    {
        if lanes.len() > self.task {
            let middle = lanes.start + lanes.len() / 2;
            let (low, high) = out.split_at_mut((middle - lanes.start) * self.length);
            let (low, high) = join(
                || self.run::<U, S>(lanes.start..middle, low),
                || self.run::<U, S>(middle..lanes.end, high),
            );
            return low.and(high);
        }
        let mut scratch = S::default();
        lanes
            .zip(out.chunks_exact_mut(self.length))
            .try_for_each(|(k, out)| (self.f)(&mut scratch, self.a.lane(k)?, self.b.lane(k)?, out))
    }
}

/// Evaluates `e` to the start of a buffer, which grows if it must.
fn refill<E: Expr>(buffer: &mut Vec<E::Elem>, e: &Lazy<E>) -> Result<()> {
    let shape = e.shape()?;
    if buffer.len() < shape.count()? {
        *buffer = e.to_vec()?;
        return Ok(());
    }
    e.assign_to(&mut Tensor::new(shape, buffer)?)
}

/// What evaluating all of an operand reports, if a part of it failed: which error is the first does not
/// depend on the order of the lanes.
fn first_error<E: Expr>(whole: &Lazy<E>, error: Error) -> Error {
    match error {
        Error::Cast { .. } | Error::Arithmetic { .. } | Error::Storage { .. } => {
            for_each_piece(whole, GROUP, |_| Ok(())).err().unwrap_or(error)
        }
        other => other,
    }
}

/// An error of a part of the output with its axis moved last, as one of the whole.
fn restored(error: Error, ranges: &[Range<usize>], axis: usize) -> Error {
    let mut error = moved(error, ranges);
    if let Error::Storage { index: Some(index), .. } = &mut error
        && axis < index.len()
    {
        index[axis..].rotate_right(1);
    }
    error
}
