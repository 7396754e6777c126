//! Large unions as several tasks.

use super::cursor::{Block, Positions};
use super::merge::Union;
use crate::error::Result;
use crate::expr::node::Worker;
use crate::kernel::{self, GRAIN, PARALLEL, Stop};
use crate::storage::reserve;
use std::ops::Range;

/// Positions and elements of an expression where its leaves store entries. Each is a function of its own
/// operands, so it does not matter how the work is cut.
pub(super) fn union<T: Copy + Send>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
) -> Result<(Vec<usize>, Vec<T>), Stop> {
    let total = lists.iter().map(|list| list.len()).fold(0, usize::saturating_add);
    let size = kernel::task_size(total, PARALLEL, GRAIN);
    let all: Vec<_> = lists.iter().map(|list| 0..list.len()).collect();
    if total <= size {
        return merged(worker, lists, &all);
    }
    let mut tasks: Vec<_> = cuts(lists, total.div_ceil(size))
        .into_iter()
        .map(|parts| Task { worker: worker.fork(), parts, result: Ok(Default::default()) })
        .collect();
    run(lists, &mut tasks);
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.result?);
    }
    let count = results.iter().map(|(positions, _)| positions.len()).sum();
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    reserve(&mut positions, count)?;
    reserve(&mut values, count)?;
    for (part, elements) in &results {
        positions.extend_from_slice(part);
        values.extend_from_slice(elements);
    }
    Ok((positions, values))
}

struct Task<'a, T> {
    worker: Worker<'a, T>,
    /// Ordinals of every list.
    parts: Vec<Range<usize>>,
    result: Result<(Vec<usize>, Vec<T>), Stop>,
}

fn run<T: Copy + Send>(lists: &[Positions<'_>], tasks: &mut [Task<'_, T>]) {
    match tasks {
        [] => {}
        [task] => task.result = merged(&mut task.worker, lists, &task.parts),
        _ => {
            let (low, high) = tasks.split_at_mut(tasks.len() / 2);
            kernel::join(|| run(lists, low), || run(lists, high));
        }
    }
}

/// Parts of all lists that are merged apart: cut at positions that are spread evenly over the longest one.
fn cuts(lists: &[Positions<'_>], count: usize) -> Vec<Vec<Range<usize>>> {
    let longest: &[usize] =
        lists.iter().max_by_key(|list| list.len()).map_or(&[], |list| list.as_ref());
    let mut starts = vec![0; lists.len()];
    let mut parts = Vec::with_capacity(count);
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
    parts
}

/// One task.
fn merged<T: Copy>(
    worker: &mut Worker<'_, T>,
    lists: &[Positions<'_>],
    parts: &[Range<usize>],
) -> Result<(Vec<usize>, Vec<T>), Stop> {
    let most = parts.iter().map(Range::len).fold(0, usize::saturating_add);
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    reserve(&mut positions, most)?;
    reserve(&mut values, most)?;
    let mut union = Union::new(lists, parts);
    while let Some((block, shares)) = union.next_block() {
        worker.bind_stored(&Block { positions: block, shares }, &mut 0)?;
        let (results, fault) = worker.rows(0, [1, block.len()]);
        if fault {
            return Err(Stop::Fault);
        }
        positions.extend_from_slice(block);
        values.extend_from_slice(results);
    }
    Ok((positions, values))
}
