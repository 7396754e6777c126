//! Folds of a small tensor in memory, one leaf a result: folded where it lies, without a plan.

use super::across::LEAF;
use super::along::is_one_leaf;
use super::axes::Axes;
use super::fold::is_across;
use super::folding::append_results;
use super::loops::{fold_columns, fold_runs};
use super::tasks::Failure;
use super::{Reducer, tasks::undefined};
use crate::error::Result;
use crate::map::AddressMap;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use smallvec::SmallVec;

/// Elements of a small tensor.
const MOST: usize = 4096;

/// All results of a tensor that is small and in row-major order, if the reduced axes are neighbours and the last ones,
/// or all but the last, and each result has one leaf. Leaves are those of every other fold.
pub(super) fn direct<T: Copy, R: Reducer<T>>(
    elements: &[T],
    map: &AddressMap,
    axes: &Axes,
    reducer: &R,
) -> Result<Option<Vec<R::Out>>> {
    if !R::ASSOCIATIVE || !map.is_contiguous() {
        return Ok(None);
    }
    let extents: SmallVec<[usize; 4]> =
        map.top().plain_axes().iter().map(|axis| axis.extent).collect();
    let count: usize = extents.iter().product();
    let offset = map.top().offset();
    let reduced = axes.mask(extents.len())?;
    let Some(first) = reduced.iter().position(|reduced| *reduced) else { return Ok(None) };
    let end = first + reduced[first..].iter().take_while(|reduced| **reduced).count();
    let (gone, below) = (&extents[first..end], &extents[end..]);
    let in_order = R::COMMUTATIVE || gone.len() == 1;
    let small = (1..=MOST).contains(&count) && in_order && !reduced[end..].contains(&true);
    let Some(elements) = elements.get(offset..offset + count).filter(|_| small) else {
        return Ok(None);
    };
    let height: usize = gone.iter().product();
    let (mut results, mut states) = (try_with_capacity(count / height)?, Vec::new());
    let done = match *below {
        [] if is_one_leaf(gone) => {
            let runs: SmallVec<[&[T]; 8]> = elements.chunks_exact(height).collect();
            fold_runs(reducer, &runs, &[], &mut states)?;
            append_results(reducer, &mut states, 0, &mut results)
        }
        [width] if height <= LEAF && is_across(&extents, &reduced) => {
            let mut groups = elements.chunks_exact(height * width).enumerate();
            groups.try_for_each(|(group, elements)| {
                let rows: SmallVec<[&[T]; LEAF]> = elements.chunks_exact(width).collect();
                fold_columns(reducer, &rows, 0, &mut states)?;
                append_results(reducer, &mut states, group * width, &mut results)
            })
        }
        _ => return Ok(None),
    };
    match done {
        Ok(()) => Ok(Some(results)),
        Err(Failure::Undefined(why, number)) => {
            let kept: Shape = extents[..first].iter().chain(below).copied().collect();
            let index = kept.unravel(number).to_vec();
            Err(undefined::<R::Out>(why, index))
        }
        // There was no memory, which a fold by a plan reports if it has none either.
        Err(Failure::Stop(_)) => Ok(None),
    }
}
