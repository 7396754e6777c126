//! Entries of one sparse operand that is broadcast along the last axis: each stands for a fiber of elements along it.

use super::cursor::{BLOCK, Block, Maps, Share};
use super::{Evaluation, Visit, stretched};
use crate::error::Result;
use crate::expr::Access;
use crate::expr::node::{Node, Tree};
use crate::kernel::Stop;
use crate::map::{AddressMap, Select};
use crate::shape::Shape;

/// Bytes that are evaluated together: those of all leaves and the results stay in the nearest cache.
const BYTES: usize = 4096;

/// As [`for_each_stored`](super::for_each_stored), if all sparse operands of a function of stored entries are one leaf that is
/// broadcast along the last axis: calls `visit` with the fill value, positions in the shape without that axis, and the
/// elements of the fibers there, one after another. `None` for any other expression.
#[inline(never)]
pub(crate) fn for_each_fiber<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    visit: Visit<'_, T>,
) -> Result<Option<T>> {
    let Some(stored) = e.stored_only() else { return Ok(None) };
    let map = AddressMap::row_major(shape)?;
    let operands = stored.operands(map.count())?;
    let Some((leaf, maps)) = maps(stored.e, shape, &operands)? else { return Ok(None) };
    let visited = Evaluation::open_at(stored.e, &maps)
        .and_then(|mut open| open.visit_fibers(leaf, &maps, stored.fill, visit));
    match visited {
        Ok(visited) => Ok(visited.then_some(stored.fill)),
        Err(stop) => Err(stored.explain(&map, &operands, stop)),
    }
}

/// The only sparse leaf, and where all leaves find the first elements of fibers.
fn maps(e: &dyn Tree, shape: &Shape, operands: &[Option<usize>]) -> Result<Option<(usize, Maps)>> {
    let (mut sparse, mut leaf) = (Vec::new(), 0);
    e.leaves(&mut |own| {
        if matches!(own.access, Access::Stored { .. }) {
            sparse.push(leaf);
        }
        leaf += 1;
    });
    let ([sparse], Some(&fiber @ 2..)) = (&sparse[..], shape.last()) else { return Ok(None) };
    let mut first = vec![Select::All; shape.rank() - 1];
    first.push(Select::Index(0));
    let (mut maps, mut steps) = (Vec::new(), Vec::new());
    for map in stretched(e, shape)? {
        let Some(last) = map.linear_axes().and_then(<[_]>::last) else { return Ok(None) };
        steps.push(last.stride);
        maps.push(map.select(&first[..])?);
    }
    let found =
        operands.get(*sparse).is_some_and(Option::is_some) && steps.get(*sparse) == Some(&0);
    let decides = operands.iter().map(Option::is_some).collect();
    let looked_up = vec![false; maps.len()];
    Ok(found.then_some((*sparse, Maps { maps, fiber, steps, decides, looked_up })))
}

impl<T: Copy + Send + Sync> Evaluation<'_, T> {
    /// Calls `visit` with the fibers at all entries of a leaf; returns whether no other leaf has entries.
    fn visit_fibers(
        &mut self,
        leaf: usize,
        maps: &Maps,
        fill: T,
        visit: Visit<'_, T>,
    ) -> Result<bool, Stop> {
        let Self { worker, lists, .. } = self;
        if lists.iter().enumerate().any(|(own, list)| own != leaf && !list.is_empty()) {
            return Ok(false);
        }
        let mut shares = vec![Share::default(); lists.len()];
        let most = (BYTES / size_of::<T>().max(1) / maps.fiber).max(1);
        let mut next = 0;
        for located in lists[leaf].chunks(BLOCK.next_multiple_of(most)) {
            for (k, positions) in located.chunks(most).enumerate() {
                shares[leaf] = Share::Whole(next..next + positions.len());
                next += positions.len();
                let group = Some((located, k * most));
                let block = Block { group, ..Block::new(positions, &shares) };
                worker.bind_stored(&block, &mut 0)?;
                let (elements, fault) = worker.rows(0, [1, positions.len() * maps.fiber])?;
                if fault {
                    return Err(Stop::Fault);
                }
                visit(fill, positions, elements)?;
            }
        }
        Ok(true)
    }
}
