//! Work on lanes: the elements along one axis, one lane for every index of the other axes.
//!
//! Lanes that lie in a slice are handed out where they are. Others are evaluated to scratch memory first, a
//! group of neighbouring lanes at a time, and results that do not belong one after another in memory are
//! assigned from scratch memory to their places. Both are evaluations like any other, which cross from one
//! order of memory to another tile by tile: lanes along the first axis cost little more than lanes along
//! the last. The lanes of a group are shared among threads.

use super::extents::{with_extent, without};
use super::operand::{Both, LaneSlices, Operand, refill};
use crate::error::{Error, Result};
use crate::expr::{Boxes, Expr, Lazy, moved, selectors};
use crate::kernel::{self, join};
use crate::map::AddressMap;
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
pub(super) enum Old {
    /// They do.
    Kept,
    /// They hold whatever.
    Lost,
}

/// Changes every lane of `out` along `axis`, several at a time and one after another: `f` is also told their
/// length.
///
/// # Errors
///
/// As [`zip_blocks`].
pub(super) fn update_blocks<W, F>(axis: usize, out: &mut Tensor<W>, f: F) -> Result<()>
where
    W: Writer,
    F: Fn(usize, &mut [W::Elem]) -> Result<()> + Sync,
{
    let none = Tensor::new(with_extent(&out.shape(), axis, 0)?, Vec::<()>::new())?.lazy();
    zip_blocks((&none, &none), axis, out, Old::Kept, |_, lanes, out| {
        f(out.len() / lanes.len(), out)
    })
}

/// Computes every lane of `out` along `axis` from the lanes of two operands at the same index of the other axes.
/// Along `axis` the extents may differ.
///
/// `f` is called with the lanes of the operands, the numbers of some of them, and the lanes of the output that
/// these belong to, one after another.
///
/// # Errors
///
/// [`Error::Axis`], [`Error::Destination`] if the other axes differ, [`Error::NotInjective`], what the
/// evaluation of the operands reports, the first error of `f` in order of the lanes, and [`Error::Storage`]
/// if a lane cannot be written.
pub(super) fn zip_blocks<A, B, W, F>(
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
    F: Fn(Both<'_, '_, A::Elem, B::Elem>, Range<usize>, &mut [W::Elem]) -> Result<()> + Sync,
{
    let shape = out.shape();
    let kept = without(&shape, axis)?;
    let (mut a, mut b) = (Operand::new(a, axis, &kept)?, Operand::new(b, axis, &kept)?);
    out.address_map().check_injective()?;
    let length = shape[axis];
    if out.is_empty() {
        return Ok(());
    }
    let mut out = out.view_mut().move_axis(axis, shape.rank() - 1)?;
    let mut buffer = Vec::new();
    let direct = out.address_map().is_contiguous() && out.parts_mut().1.as_mut_slice().is_some();
    let mut first = 0;
    let groups = Groups::new(&kept, length, &a, &b, direct);
    for ranges in groups.boxes() {
        let lanes = groups.lanes(&ranges);
        let group = Group {
            a: a.read(first, &ranges)?,
            b: b.read(first, &ranges)?,
            length,
            task: groups.task(lanes),
            f: &f,
        };
        let start = out.address_map().top().offset() + first * length;
        first += lanes;
        let memory = match out.parts_mut().1.as_mut_slice() {
            Some(slice) if direct => slice.get_mut(start..start + lanes * length),
            _ => None,
        };
        if let Some(memory) = memory {
            group.run(0..lanes, memory)?;
            continue;
        }
        if old == Old::Kept || buffer.len() < lanes * length {
            let before = out.view().select(selectors(&ranges))?.lazy();
            refill(&mut buffer, &before).map_err(|error| restored(error, &ranges, axis))?;
        }
        let results = &mut buffer[..lanes * length];
        group.run(0..lanes, results)?;
        let mut part = out.view_mut().select(selectors(&ranges))?;
        let results = Tensor::new(part.shape(), &*results)?;
        part.assign(results).map_err(|error| restored(error, &ranges, axis))?;
    }
    Ok(())
}

/// How [`zip_blocks`] would go about it, in words: to new memory of this shape. `each` says what becomes of a lane.
///
/// # Errors
///
/// As [`zip_blocks`] before it reads an element.
pub(super) fn explain_lanes<A: Expr, B: Expr>(
    (a, b): (&Lazy<A>, &Lazy<B>),
    axis: usize,
    out: &Shape,
    each: String,
) -> Result<(Vec<String>, usize)> {
    let kept = without(out, axis)?;
    let (a, b) = (Operand::new(a, axis, &kept)?, Operand::new(b, axis, &kept)?);
    let length = out[axis];
    let direct = AddressMap::row_major(out)?.move_axis(axis, out.rank() - 1)?.is_contiguous();
    let groups = Groups::new(&kept, length, &a, &b, direct);
    let Some(ranges) = groups.boxes().next().filter(|_| length > 0) else {
        return Ok((vec!["there is nothing to compute".into()], 1));
    };
    let (all, together) = (kept.count()?, groups.lanes(&ranges));
    let sharing = if together == all {
        "all at once".to_string()
    } else {
        format!("in groups of {together}, through scratch memory")
    };
    let mut lines = vec![format!("lanes: {all} of {} elements, {sharing}", groups.longest)];
    let operands = [a.explain(), b.explain()];
    let both = operands.iter().all(Option::is_some);
    for (number, how) in (1..).zip(operands).filter_map(|(number, how)| Some((number, how?))) {
        lines.push(if both {
            format!("operand {number}: {how}")
        } else {
            format!("operand: {how}")
        });
    }
    lines.push(if direct {
        "results: written where they belong".into()
    } else {
        "results: assigned from scratch memory to their places".into()
    });
    lines.push(format!("each lane: {each}"));
    let shared = groups.task(together) < together;
    Ok((lines, if shared { kernel::threads() } else { 1 }))
}

/// How many lanes are brought together before they are worked on.
struct Groups<'g> {
    /// All axes but that of the lanes.
    kept: &'g Shape,
    /// Elements of the longest lane that goes with another.
    longest: usize,
    /// Whether nothing goes through scratch memory.
    direct: bool,
}

impl<'g> Groups<'g> {
    fn new<A: Expr, B: Expr>(
        kept: &'g Shape,
        length: usize,
        a: &Operand<'_, A>,
        b: &Operand<'_, B>,
        direct: bool,
    ) -> Self {
        let longest = length.max(a.length).max(b.length);
        Self { kept, longest, direct: direct && a.is_direct() && b.is_direct() }
    }

    /// Groups as boxes of the other axes.
    fn boxes(&self) -> Boxes {
        let limit = if self.direct { usize::MAX } else { GROUP / self.longest.max(1) };
        Boxes::new(self.kept.clone(), limit)
    }

    /// Lanes of a group.
    fn lanes(&self, ranges: &[Range<usize>]) -> usize {
        let rest: usize = self.kept[ranges.len()..].iter().product();
        ranges.iter().map(Range::len).product::<usize>() * rest
    }

    /// Most lanes that one task should do of a group of `lanes`.
    fn task(&self, lanes: usize) -> usize {
        let parallel = lanes.saturating_mul(self.longest) >= PARALLEL;
        if parallel { GRAIN.div_ceil(self.longest) } else { usize::MAX }
    }
}

/// Lanes that are worked on at once.
struct Group<'g, A, B, F> {
    a: LaneSlices<'g, A>,
    b: LaneSlices<'g, B>,
    /// Of an output lane.
    length: usize,
    /// Most lanes of one task.
    task: usize,
    f: &'g F,
}

impl<A: Sync, B: Sync, F: Sync> Group<'_, A, B, F> {
    /// Computes some of the lanes, in halves as long as they are more than one task should do.
    fn run<U>(&self, lanes: Range<usize>, out: &mut [U]) -> Result<()>
    where
        U: Send,
        F: Fn(Both<'_, '_, A, B>, Range<usize>, &mut [U]) -> Result<()>,
    {
        if lanes.len() > self.task {
            let middle = lanes.start + lanes.len() / 2;
            let (low, high) = out.split_at_mut((middle - lanes.start) * self.length);
            let (low, high) =
                join(|| self.run(lanes.start..middle, low), || self.run(middle..lanes.end, high));
            return low.and(high);
        }
        (self.f)((&self.a, &self.b), lanes, out)
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
