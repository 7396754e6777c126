//! Entries of an expression, in several tasks if there are many.

use super::cursor::{Block, Positions, Share};
use super::merge::Union;
use super::shared::{Pair, Shared};
use crate::error::Result;
use crate::expr::node::Worker;
use crate::kernel::inner::collect;
use crate::kernel::{
    self, Filled, GRAIN, PARALLEL, Room, Rooms, Slots, Stop, fill_halves, fill_slots,
};
use crate::memory::{append, list, owned, try_with_capacity};
use itertools::Itertools;
use std::borrow::Cow;
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
    fn most(self, lists: &[Positions<'_>], parts: &[Range<usize>]) -> usize {
        let Self::All(operands) = self else {
            // What an expression names twice are the same entries.
            let memory =
                |(list, part): (&Positions<'_>, &Range<usize>)| list[part.clone()].as_ptr_range();
            let own = lists.iter().zip(parts).filter(|(_, part)| !part.is_empty());
            if own.map(memory).all_equal() {
                return parts.iter().map(Range::len).max().unwrap_or(0);
            }
            return entries_of(parts.iter().map(Range::len));
        };
        let sparse = parts.iter().zip(operands).filter(|(_, operand)| operand.is_some());
        let own = sparse.chunk_by(|(_, operand)| *operand);
        let entries =
            own.into_iter().map(|(_, leaves)| entries_of(leaves.map(|(part, _)| part.len())));
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
    wanted: Where<'_>,
) -> Result<Entries<T>, Stop> {
    let total = entries_of(lists.iter().map(|list| list.len()));
    let size = kernel::task_size(total, PARALLEL, GRAIN);
    if wanted.most(lists, &whole(lists)) == 0 {
        return Ok(Default::default());
    }
    let mut full = lists.iter().filter(|list| !list.is_empty());
    if let (Some(only), None) = (full.next(), full.next()) {
        return alone(worker, lists, only, (size, wanted));
    }
    let parts = match total <= size {
        true => vec![whole(lists)],
        // One a thread: whatever comes after the first gap is moved, so the more, the fewer entries stay in place.
        false => cuts(lists, kernel::threads().min(total / GRAIN))?,
    };
    let rooms = list(parts.iter().map(|parts| wanted.most(lists, parts)))?;
    let (mut positions, mut values) = (Rooms::new(&rooms)?, Rooms::new(&rooms)?);
    let rooms = positions.each().zip(values.each());
    if total <= size {
        for (parts, (mut positions, mut values)) in parts.iter().zip(rooms) {
            merge(worker, lists, (parts, wanted), &mut positions, &mut values)?;
        }
        return Ok((positions.close(), values.close()));
    }
    let mut tasks = try_with_capacity(parts.len())?;
    tasks.extend(parts.iter().zip(rooms).map(|task| (worker.fork(), task)));
    kernel::in_halves(&mut tasks, 0, true, &|_, (worker, (parts, (positions, values)))| {
        merge(worker, lists, (parts, wanted), positions, values)
    })?;
    drop(tasks);
    Ok(kernel::join(|| positions.close(), || values.close()))
}

/// As [`entries`], of the only list that there is, whose positions are copied only if they are borrowed.
#[inline(never)]
pub(super) fn entries_of_one<T: Copy + Send + Sync>(
    worker: &mut Worker<'_, T>,
    mut lists: Vec<Positions<'_>>,
) -> Result<Entries<T>, Stop> {
    let count = lists.first().map_or(0, |list| list.len());
    let size = kernel::task_size(count, PARALLEL, GRAIN);
    if count > size
        && let [only @ Cow::Borrowed(_)] = &lists[..]
    {
        return alone(worker, &lists, only, (size, Where::Some));
    }
    let values = collect(count, |out| filled(worker, &lists, 0..count, (size, Where::Some), out))?;
    Ok((owned(lists.swap_remove(0))?, values))
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
        return fill_slots(out, |slots| {
            if let [only] = lists {
                // As one block.
                let shares = [Share::Whole(part.clone())];
                worker.bind_stored(&Block::new(&only[part.clone()], &shares), &mut 0)?;
                return slots.extend_from(worker.bound(), part.len());
            }
            let of = |list: &Positions<'_>| if list.is_empty() { 0..0 } else { part.clone() };
            let parts = list(lists.iter().map(of))?;
            fill(worker, lists, (&parts, wanted), slots, |_| Ok(()))
        });
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

/// Parts of all lists that are merged apart, of about as many entries each.
fn cuts(lists: &[Positions<'_>], count: usize) -> Result<Vec<Vec<Range<usize>>>> {
    let last = lists.iter().filter_map(|list| list.last()).max();
    let end = last.map_or(0, |last| last.saturating_add(1));
    let total = entries_of(lists.iter().map(|list| list.len()));
    let below = |list: &[usize], pivot: usize| list.partition_point(|&position| position < pivot);
    let mut starts = vec![0; lists.len()];
    let mut parts = try_with_capacity(count)?;
    for k in 1..=count {
        // The first position below which there are as many entries of all.
        let wanted = total / count * k;
        let (mut pivot, mut high) = (0, end);
        while pivot < high {
            let middle = pivot.midpoint(high);
            let is_below = entries_of(lists.iter().map(|list| below(list, middle))) < wanted;
            if is_below { pivot = middle + 1 } else { high = middle }
        }
        let ends = lists.iter().zip(&starts).map(|(list, &start)| match k < count {
            true => start + below(&list[start..], pivot),
            false => list.len(),
        });
        let ends: Vec<usize> = ends.collect();
        parts.push(starts.iter().zip(&ends).map(|(&start, &end)| start..end).collect());
        starts = ends;
    }
    Ok(parts)
}

/// The sum of numbers of entries.
fn entries_of(counts: impl Iterator<Item = usize>) -> usize {
    counts.fold(0, usize::saturating_add)
}

/// One task: writes the entries of parts of lists.
fn merge<T: Copy>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    (parts, wanted): (&[Range<usize>], Where<'_>),
    positions: &mut Room<'_, usize>,
    values: &mut Room<'_, T>,
) -> Result<(), Stop> {
    let mut blocks = EntryBlocks::new(lists, parts, wanted);
    while let Some(block) = blocks.next_block() {
        worker.bind_stored(&block, &mut 0)?;
        values.extend_from(worker.bound(), block.positions.len())?;
        positions.put(block.positions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Positions, cuts, entries_of};
    use std::borrow::Cow;
    use std::ops::Range;

    /// Parts of about as many entries each, wherever lists have theirs: all positions of one part before those of the next.
    #[test]
    fn parts_have_about_as_many_entries() {
        let evens = || (0..3000).step_by(2);
        let apart = [(0..1001).collect(), (2000..3000).collect(), (9000..9900).collect()];
        let mixed: [Vec<usize>; 3] =
            [evens().collect(), evens().collect(), (usize::MAX - 9..usize::MAX).collect()];
        for lists in [apart, mixed, [vec![], vec![5; 1], vec![]]] {
            let lists: [Positions<'_>; 3] = lists.map(Cow::Owned);
            let total = lists.iter().map(|list| list.len()).sum::<usize>();
            for count in 1..9 {
                let parts = cuts(&lists, count).unwrap();
                assert_eq!(parts.len(), count);
                let mut starts = [0; 3];
                for part in &parts {
                    let own = entries_of(part.iter().map(Range::len));
                    assert!(own <= total / count + 2 * count + lists.len(), "{count} {part:?}");
                    assert_eq!([part[0].start, part[1].start, part[2].start], starts);
                    starts = [part[0].end, part[1].end, part[2].end];
                    let least = (0..3).filter_map(|k| lists[k].get(starts[k])).min();
                    let most = (0..3).filter_map(|k| lists[k][..starts[k]].last()).max();
                    assert!(least.zip(most).is_none_or(|(least, most)| least > most));
                }
                assert_eq!(starts, [lists[0].len(), lists[1].len(), lists[2].len()]);
            }
        }
    }
}
