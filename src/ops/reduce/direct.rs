//! Folds of elements in memory for one thread: folded where they lie, without a plan.

use super::Reducer;
use super::across::{LEAF, TOGETHER};
use super::axes::Axes;
use super::fold::is_across;
use super::folding::{Columns, Folding, FoldingRows, Groups, Needs, Runs, append_results};
use super::leaves::{self, Leaves};
use super::loops::{COLUMNS, append_folds};
use super::tasks::{Failure, finish};
use crate::error::Result;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// Most runs that are handed over at once.
const MANY: usize = 256;

/// Most elements that are folded without finding out which registers there are, which takes longer.
const UNDISPATCHED: usize = 64;

/// Most elements whose columns are copied.
const COPIED: usize = 4096;

/// The state of a few elements.
#[inline(never)]
fn fold_few<T: Copy, R: Reducer<T>>(reducer: &R, elements: &[T]) -> R::State {
    reducer.fold(elements, 0)
}

/// Blocks of so many rows and columns, with the elements of each column one after another.
fn columns_first<T: Copy>(elements: &[T], [height, width]: [usize; 2]) -> Result<Vec<T>> {
    let mut columns = try_with_capacity(elements.len())?;
    for block in elements.chunks_exact(height * width) {
        (0..width).for_each(|column| columns.extend(block[column..].iter().step_by(width)));
    }
    Ok(columns)
}

/// How elements in row-major order are folded.
pub(super) struct Direct {
    pub(super) shape: Shape,
    /// The reduced axes.
    gone: Range<usize>,
    /// How the results of the axes after them are made.
    columns: Columnwise,
}

/// Columns of elements in row-major order.
#[derive(Clone, Copy, PartialEq)]
enum Columnwise {
    /// There is one.
    One,
    /// They are few, and copied to be runs.
    Copied,
    /// They are folded side by side.
    Beside,
}

impl Direct {
    /// For elements of this shape, if there are any and the reduced axes are neighbours and the last ones, or those after
    /// them have few elements, or all. Leaves are those of every other fold.
    pub(super) fn new(shape: Shape, axes: &Axes, needs: Needs) -> Result<Option<Self>> {
        if !needs.associative {
            return Ok(None);
        }
        let reduced = axes.mask(shape.rank())?;
        let Some(first) = reduced.iter().position(|reduced| *reduced) else { return Ok(None) };
        let end = first + reduced[first..].iter().take_while(|reduced| **reduced).count();
        let in_order = needs.commutative || end == first + 1;
        if shape.contains(&0) || !in_order || reduced[end..].contains(&true) {
            return Ok(None);
        }
        let width: usize = shape[end..].iter().product();
        let columns = match is_across(&shape, &reduced) {
            _ if width == 1 => Columnwise::One,
            true if width <= COLUMNS => Columnwise::Beside,
            false if shape.iter().product::<usize>() <= COPIED => Columnwise::Copied,
            _ => return Ok(None),
        };
        Ok(Some(Self { gone: first..end, columns, shape }))
    }

    /// The only result; `None` unless all axes are reduced.
    pub(super) fn only<T: Copy, R: Reducer<T>>(
        &self,
        elements: &[T],
        reducer: &R,
    ) -> Result<Option<R::Out>, Failure> {
        if self.gone != (0..self.shape.rank()) {
            return Ok(None);
        }
        if elements.len() <= UNDISPATCHED {
            return finish(reducer, fold_few(reducer, elements), 0).map(Some);
        }
        self.only_of_many(elements, reducer)
    }

    /// The same, of more elements: apart, as small operands gain by it.
    #[inline(never)]
    fn only_of_many<T: Copy, R: Reducer<T>>(
        &self,
        elements: &[T],
        reducer: &R,
    ) -> Result<Option<R::Out>, Failure> {
        Ok(self.fold(elements, reducer)?.pop())
    }

    /// All results.
    #[inline(never)]
    pub(super) fn fold<T: Copy, R: Reducer<T>>(
        &self,
        elements: &[T],
        reducer: &R,
    ) -> Result<Vec<R::Out>, Failure> {
        let Self { shape, gone, columns } = self;
        let (height, width) =
            (shape[gone.clone()].iter().product(), shape[gone.end..].iter().product());
        let copied;
        let elements = match columns {
            Columnwise::Copied => {
                copied = columns_first(elements, [height, width])?;
                &copied
            }
            _ => elements,
        };
        let leaf = if *columns == Columnwise::Beside { LEAF } else { leaves::LEAF };
        if height > leaf {
            self.several_leaves(elements, [height, width], reducer)
        } else {
            self.one_leaf(elements, [height, width], reducer)
        }
    }

    /// Results of one leaf each.
    #[inline(always)]
    fn one_leaf<T: Copy, R: Reducer<T>>(
        &self,
        elements: &[T],
        [height, width]: [usize; 2],
        reducer: &R,
    ) -> Result<Vec<R::Out>, Failure> {
        if self.columns == Columnwise::Beside {
            let mut groups = Groups::new(reducer, height, 0);
            let together = (TOGETHER / height).max(1) * height;
            for elements in elements.chunks(together * width) {
                let rows: SmallVec<[&[T]; LEAF]> = elements.chunks_exact(width).collect();
                groups.take(&rows, 0)?;
            }
            return Ok(groups.results);
        }
        let mut results = try_with_capacity(elements.len() / height.max(1))?;
        if elements.len() <= UNDISPATCHED {
            for (number, run) in elements.chunks_exact(height).enumerate() {
                results.push(finish(reducer, fold_few(reducer, run), number)?);
            }
            return Ok(results);
        }
        match append_folds(reducer, elements, height, &mut results)? {
            Some((number, why)) => Err(Failure::Undefined(why, number)),
            None => Ok(results),
        }
    }

    /// Results of more than one leaf each, whose states are joined.
    #[inline(never)]
    fn several_leaves<T: Copy, R: Reducer<T>>(
        &self,
        elements: &[T],
        [height, width]: [usize; 2],
        reducer: &R,
    ) -> Result<Vec<R::Out>, Failure> {
        let count = elements.len() / height;
        if self.columns == Columnwise::Beside {
            let mut results = try_with_capacity(count)?;
            for (group, elements) in elements.chunks_exact(height * width).enumerate() {
                let mut columns = Columns::new(reducer);
                for (leaf, elements) in elements.chunks(LEAF * width).enumerate() {
                    let rows: SmallVec<[&[T]; LEAF]> = elements.chunks_exact(width).collect();
                    columns.take(&rows, leaf * LEAF)?;
                }
                let mut states = columns.into_states();
                append_results(reducer, &mut states, group * width, &mut results)?;
            }
            return Ok(results);
        }
        let leaves = Leaves::new(&self.shape[self.gone.clone()]);
        let mut folded = Runs::new(reducer, leaves.count(), 0..count)?;
        for elements in elements.chunks_exact(height) {
            let lines = elements.chunks_exact(leaves.line);
            let mut position = 0;
            for elements in lines.flat_map(|line| line.chunks(leaves.leaf * MANY)) {
                let runs: SmallVec<[&[T]; 8]> = elements.chunks(leaves.leaf).collect();
                let positions = (position..).step_by(leaves.leaf).take(runs.len());
                let positions: SmallVec<[usize; 8]> = positions.filter(|_| R::POSITIONS).collect();
                folded.take(&runs, &positions)?;
                position += elements.len();
            }
        }
        folded.into_results()
    }
}
