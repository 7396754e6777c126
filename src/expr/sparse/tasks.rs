//! Entries of an expression, in several tasks if there are many.

use super::cursor::{Block, Positions};
use super::merge::Union;
use super::shared::{Pair, Shared};
use crate::error::Result;
use crate::expr::node::Worker;
use crate::kernel::inner::collect;
use crate::kernel::{self, Filled, GRAIN, PARALLEL, Slots, Stop, fill_halves, fill_slots};
use crate::memory::{append, list, try_with_capacity};
use itertools::Itertools;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Positions that are evaluated.
#[derive(Clone, Copy)]
pub(super) enum Where<'w> {
    /// Those where some leaf stores an entry.
    Some,
    /// Those where all sparse operands store one; for each leaf the number of its operand, if that is
    /// sparse.
    All(&'w [Option<usize>]),
}

impl Where<'_> {
    /// Most positions that there can be in parts of lists.
    fn most(self, parts: &[Range<usize>]) -> usize {
        let Self::All(operands) = self else {
            return parts.iter().map(Range::len).fold(0, usize::saturating_add);
        };
        let sparse = parts.iter().zip(operands).filter(|(_, operand)| operand.is_some());
        let own = sparse.chunk_by(|(_, operand)| *operand);
        let entries = own
            .into_iter()
            .map(|(_, leaves)| leaves.map(|(part, _)| part.len()).fold(0, usize::saturating_add));
        entries.min().unwrap_or(0)
    }
}

/// The positions of parts of lists, block by block.
pub(super) enum EntryBlocks<'l> {
    Union(Union<'l>),
    Shared(Shared<'l>),
    Pair(Pair<'l>),
}

impl<'l> EntryBlocks<'l> {
    pub(super) fn new(
        lists: &'l [Positions<'_>],
        parts: &[Range<usize>],
        positions: Where<'l>,
    ) -> Self {
        match positions {
            Where::Some => Self::Union(Union::new(lists, parts)),
            Where::All(operands) => match Pair::new(lists, parts, operands) {
                Some(pair) => Self::Pair(pair),
                None => Self::Shared(Shared::new(lists, parts, operands)),
            },
        }
    }

    pub(super) fn next_block(&mut self) -> Option<Block<'_>> {
        match self {
            Self::Union(union) => union.next_block(),
            Self::Shared(shared) => shared.next_block(),
            Self::Pair(pair) => pair.next_block(),
        }
    }
}

/// All entries of lists.
pub(super) fn whole(lists: &[Positions<'_>]) -> Vec<Range<usize>> {
    lists.iter().map(|list| 0..list.len()).collect()
}

type Entries<T> = (Vec<usize>, Vec<T>);

/// Positions and elements of an expression. Each is a function of its own operands, so it does not matter
/// how the work is cut.
#[inline(never)]
pub(super) fn entries<T: Copy + Send + Sync>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    positions: Where<'_>,
) -> Result<Entries<T>, Stop> {
    let total = lists.iter().map(|list| list.len()).fold(0, usize::saturating_add);
    let size = kernel::task_size(total, PARALLEL, GRAIN);
    if positions.most(&whole(lists)) == 0 {
        return Ok(Default::default());
    }
    let mut full = lists.iter().filter(|list| !list.is_empty());
    if let (Some(only), None) = (full.next(), full.next()) {
        return alone(worker, lists, only, (size, positions));
    }
    if total <= size {
        return merged(worker, lists, &whole(lists), positions);
    }
    let parts = cuts(lists, total.div_ceil(size))?.into_iter();
    let task = |parts| Task { worker: worker.fork(), parts, entries: Default::default() };
    let mut tasks = list(parts.map(task))?;
    kernel::in_halves(&mut tasks, 0, true, &|_, task: &mut Task<'_, T>| {
        task.entries = merged(&mut task.worker, lists, &task.parts, positions)?;
        Ok::<_, Stop>(())
    })?;
    let results = list(tasks.into_iter().map(|task| task.entries))?;
    let (positions, values) = kernel::join(
        || concatenated(results.iter().map(|(positions, _)| &positions[..])),
        || concatenated(results.iter().map(|(_, values)| &values[..])),
    );
    Ok((positions?, values?))
}

/// All positions of the only list that has any, and the elements there.
fn alone<T: Copy + Send + Sync>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    only: &[usize],
    (size, wanted): (usize, Where<'_>),
) -> Result<Entries<T>, Stop> {
    let count = only.len();
    if count > size {
        let (positions, values) = kernel::join(
            || collect(count, |out| copied(only, out, size)),
            || collect(count, |out| filled(worker, lists, 0..count, (size, wanted), out)),
        );
        return Ok((positions?, values?));
    }
    let mut positions = try_with_capacity(count)?;
    let values = collect::<_, Stop>(count, |out| {
        fill_slots(out, |slots| {
            fill(worker, lists, (&whole(lists), wanted), slots, |block| {
                append(&mut positions, block)
            })
        })
    })?;
    Ok((positions, values))
}

/// Copies positions, in tasks of so many.
fn copied(from: &[usize], out: &mut [MaybeUninit<usize>], size: usize) -> Result<Filled> {
    if from.len() <= size {
        return kernel::copy(from, out);
    }
    let (low, high) = from.split_at(from.len() / 2);
    let at = low.len();
    fill_halves(out, at, |out| copied(low, out, size), |out| copied(high, out, size))
}

/// Computes the elements at some positions of the only list that has any, in tasks of so many.
fn filled<T: Copy + Send + Sync>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    part: Range<usize>,
    (size, wanted): (usize, Where<'_>),
    out: &mut [MaybeUninit<T>],
) -> Result<Filled, Stop> {
    if part.len() <= size {
        let of = |list: &Positions<'_>| if list.is_empty() { 0..0 } else { part.clone() };
        let parts = list(lists.iter().map(of))?;
        return fill_slots(out, |slots| fill(worker, lists, (&parts, wanted), slots, |_| Ok(())));
    }
    let (at, mut other) = (part.len() / 2, worker.fork());
    let (low, high) = (part.start..part.start + at, part.start + at..part.end);
    fill_halves(
        out,
        at,
        |out| filled(worker, lists, low, (size, wanted), out),
        |out| filled(&mut other, lists, high, (size, wanted), out),
    )
}

/// Computes the elements of parts of lists, block by block; `visit` is called with the positions, which were just read.
fn fill<T: Copy>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    (parts, wanted): (&[Range<usize>], Where<'_>),
    slots: &mut Slots<'_, T>,
    mut visit: impl FnMut(&[usize]) -> Result<()>,
) -> Result<(), Stop> {
    let mut blocks = EntryBlocks::new(lists, parts, wanted);
    while let Some(block) = blocks.next_block() {
        worker.bind_stored(&block, &mut 0)?;
        slots.extend_from(worker.bound(), block.positions.len())?;
        visit(block.positions)?;
    }
    Ok(())
}

/// One slice after another.
fn concatenated<'p, T: Copy + 'p>(parts: impl Iterator<Item = &'p [T]> + Clone) -> Result<Vec<T>> {
    let mut all = try_with_capacity(parts.clone().map(<[T]>::len).sum())?;
    parts.for_each(|part| all.extend_from_slice(part));
    Ok(all)
}

struct Task<'a, T> {
    worker: Worker<'a, T>,
    /// Ordinals of every list.
    parts: Vec<Range<usize>>,
    entries: Entries<T>,
}

/// Parts of all lists that are merged apart: cut at positions that are spread evenly over the longest one.
fn cuts(lists: &[Positions<'_>], count: usize) -> Result<Vec<Vec<Range<usize>>>> {
    let longest: &[usize] =
        lists.iter().max_by_key(|list| list.len()).map_or(&[], |list| list.as_ref());
    let mut starts = vec![0; lists.len()];
    let mut parts = try_with_capacity(count)?;
    for k in 1..=count {
        let pivot = longest.get(longest.len() / count * k).filter(|_| k < count);
        let ends = lists.iter().zip(&starts).map(|(list, &start)| match pivot {
            Some(pivot) => start + list[start..].partition_point(|position| position < pivot),
            None => list.len(),
        });
        let ends: Vec<usize> = ends.collect();
        parts.push(starts.iter().zip(&ends).map(|(&start, &end)| start..end).collect());
        starts = ends;
    }
    Ok(parts)
}

/// One task.
fn merged<T: Copy>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    parts: &[Range<usize>],
    wanted: Where<'_>,
) -> Result<Entries<T>, Stop> {
    let most = wanted.most(parts);
    let (mut positions, mut values) = (try_with_capacity(most)?, try_with_capacity(most)?);
    let mut blocks = EntryBlocks::new(lists, parts, wanted);
    while let Some(block) = blocks.next_block() {
        worker.bind_stored(&block, &mut 0)?;
        let (results, fault) = worker.rows(0, [1, block.positions.len()])?;
        if fault {
            return Err(Stop::Fault);
        }
        append(&mut positions, block.positions)?;
        append(&mut values, results)?;
    }
    Ok((positions, values))
}
