//! Which elements are reduced to one result.

use super::super::reducer::Reducer;
use super::super::tasks::undefined;
use crate::error::{Error, Result};
use crate::kernel::prefetch_span;
use crate::map::{AddressMap, Divider, Multiplier};
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;
use std::ops::Range;

/// Cells an entry up to which every cell has a state from the start, if cells are not rows.
const CELLS_PER_ENTRY: usize = 4;
/// Cells that are always few enough for that.
const FEW_CELLS: usize = 1 << 16;
/// Entries of a run that are passed over at once.
const STRIDE: usize = 16;
/// Entries between those and the ones whose memory is asked for.
const AHEAD: usize = 256;
/// Entries whose cells are found between two requests for memory.
const REQUEST: usize = 8;
/// Entries a run, on average, below which runs are short.
const SHORT: usize = 8;
/// Entries whose cells are found before they are taken.
pub(super) const PART: usize = 128;

/// How entries come to cells.
pub(super) enum EntryOrder {
    /// In order, if they are to be or cells are many: sorted by cell unless cells are rows.
    InOrder,
    /// As they come, to the last cell or the next one, as cells are rows.
    Rows,
    /// As they come, to cells all of which have a state.
    Table,
}

/// A shape cut into cells, one a result, with all axes of the same fate that are neighbours merged.
pub(super) struct Cells {
    /// Shape of the result.
    shape: Shape,
    /// Extents, and whether the axis is reduced; outermost first.
    groups: Vec<(usize, bool)>,
    /// How positions are divided by these extents.
    dividers: Vec<Divider>,
    /// Number of cells.
    pub(super) count: usize,
    /// Elements of a cell.
    pub(super) size: usize,
}

impl Cells {
    pub(super) fn new(shape: &Shape, mask: &[bool], keepdims: bool) -> Result<Self> {
        let axes = shape.iter().copied().zip(mask.iter().copied());
        let mut groups: Vec<(usize, bool)> = Vec::new();
        for (extent, reduced) in axes.clone().filter(|(extent, _)| *extent != 1) {
            match groups.last_mut() {
                Some(last) if last.1 == reduced => last.0 *= extent,
                _ => groups.push((extent, reduced)),
            }
        }
        let kept = axes.clone().filter(|(_, reduced)| !reduced || keepdims);
        let own: Shape = kept.map(|(extent, reduced)| if reduced { 1 } else { extent }).collect();
        let size = axes.filter(|(_, reduced)| *reduced).map(|(extent, _)| extent).product();
        let elements = shape.count()?;
        let dividers = groups.iter().map(|group| Divider::new(group.0, elements)).collect();
        Ok(Self { count: own.count()?, shape: own, groups, dividers, size })
    }

    /// The cells of fibers along the last axis, if they are kept in the result and have `len` elements: the fibers of a
    /// cell are reduced element by element.
    pub(super) fn fibers(&self, len: usize) -> Option<Self> {
        let ([.., (last, false)], Some(&extent)) = (&self.groups[..], self.shape.last()) else {
            return None;
        };
        if extent != len || len < 2 || last % len != 0 {
            return None;
        }
        let shape: Shape = self.shape[..self.shape.rank() - 1].iter().copied().collect();
        let mut groups = self.groups.clone();
        if let Some(last) = groups.last_mut() {
            last.0 /= len;
        }
        groups.retain(|group| group.0 != 1);
        let (count, size) = (self.count / len, self.size);
        let dividers = groups.iter().map(|group| Divider::new(group.0, count * size)).collect();
        Some(Self { shape, groups, dividers, count, size })
    }

    /// How so many entries come to cells, which are `ordered` if the order of elements matters.
    pub(super) fn method(&self, entries: usize, ordered: bool) -> EntryOrder {
        let few = entries.saturating_mul(CELLS_PER_ENTRY).saturating_add(FEW_CELLS);
        if ordered {
            EntryOrder::InOrder
        } else if self.are_rows() && self.count > entries {
            EntryOrder::Rows
        } else if self.count <= few {
            EntryOrder::Table
        } else {
            EntryOrder::InOrder
        }
    }

    /// Calls `visit` with every run of ascending positions that differ in the last group only: the range of
    /// the run, the position of its block, and the cell and the place in it where the block starts.
    #[inline]
    pub(super) fn for_each_run(
        &self,
        positions: &[usize],
        mut visit: impl FnMut(Range<usize>, usize, usize, usize),
    ) {
        let block = self.block();
        let mut start = 0;
        while let Some(&position) = positions.get(start) {
            let Some(first) = self.block_of(position) else {
                start += 1;
                continue;
            };
            let inside = |position: &usize| position.wrapping_sub(first) < block;
            let mut end = start + 1;
            while positions.get(end + STRIDE).is_some_and(inside) {
                prefetch_span(positions, end + AHEAD, STRIDE);
                end += STRIDE;
            }
            // Counted, as a branch on where a run ends is unpredictable.
            let more = &positions[end..positions.len().min(end + STRIDE)];
            end += more.iter().map(|position| usize::from(inside(position))).sum::<usize>();
            let (cell, place) = match (&self.groups[..], &self.dividers[..]) {
                ([(_, false), (_, true)], [_, divider]) => (divider.divide(position).0, 0),
                _ => self.locate(first),
            };
            visit(start..end, first, cell, place);
            start = end;
        }
    }

    /// Where the block of a position starts; `None` for one that storage makes up.
    #[inline(always)]
    pub(super) fn block_of(&self, position: usize) -> Option<usize> {
        let inside = || self.dividers.last().map_or(0, |divider| divider.divide(position).1);
        (position < self.elements()).then(|| position - inside())
    }

    /// Elements of all cells.
    pub(super) fn elements(&self) -> usize {
        self.count * self.size
    }

    /// Elements that differ in the last group only.
    pub(super) fn block(&self) -> usize {
        self.groups.last().map_or(1, |group| group.0.max(1))
    }

    /// Whether cells are runs of positions, one after another.
    pub(super) fn are_rows(&self) -> bool {
        self.runs_along() && self.groups.is_sorted_by_key(|group| group.1)
    }

    /// The cell of a position, and its place in the cell.
    #[inline(always)]
    pub(super) fn locate(&self, mut position: usize) -> (usize, usize) {
        let (mut at, mut weight) = ([0, 0], [1, 1]);
        for (&(extent, reduced), divider) in self.groups.iter().zip(&self.dividers).rev() {
            let which = usize::from(reduced);
            let (rest, digit) = divider.divide(position);
            at[which] += digit * weight[which];
            weight[which] *= extent;
            position = rest;
        }
        (at[0], at[1])
    }

    /// The cells of at most [`PART`] ascending positions, `count` for those that storage makes up.
    pub(super) fn find(&self, positions: &[usize], found: &mut [usize; PART]) {
        // Mostly there are rows and columns.
        if let Some((divider, along)) = self.matrix() {
            let cell = |position| {
                let (row, column) = divider.divide(position);
                if along { row } else { column }
            };
            let elements = self.elements();
            for (found, positions) in found.chunks_mut(REQUEST).zip(positions.chunks(REQUEST)) {
                prefetch_span(positions, AHEAD, REQUEST);
                for (own, &position) in found.iter_mut().zip(positions) {
                    *own = if position < elements { cell(position) } else { self.count };
                }
            }
        } else if self.is_short(positions) {
            self.find_each(positions, found);
        } else {
            found.fill(self.count);
            self.for_each_run(positions, |run, start, cell, _| {
                for (own, position) in found[run.clone()].iter_mut().zip(&positions[run]) {
                    *own = cell + if self.runs_along() { 0 } else { position.wrapping_sub(start) };
                }
            });
        }
    }

    /// As [`Self::find`], a division for each and no unpredictable branch.
    pub(super) fn find_each(&self, positions: &[usize], found: &mut [usize; PART]) {
        let elements = self.elements();
        for (own, &position) in found.iter_mut().zip(positions) {
            *own = if position < elements { self.locate(position).0 } else { self.count };
        }
    }

    /// Whether the runs of ascending positions are short.
    pub(super) fn is_short(&self, positions: &[usize]) -> bool {
        let (Some(first), Some(last)) = (positions.first(), positions.last()) else { return false };
        positions.len() / SHORT <= last.saturating_sub(*first) / self.block()
    }

    /// If there are rows and columns, of which either is reduced: how positions are divided, and whether a row
    /// is a cell.
    pub(super) fn matrix(&self) -> Option<(Multiplier, bool)> {
        match (&self.groups[..], &self.dividers[..]) {
            ([_, (_, along)], [_, divider]) => Some((divider.multiplier()?, *along)),
            _ => None,
        }
    }

    /// Of rows and columns, either of which are cells, whether each cell surely has an element that is not stored,
    /// as far as the `first` positions of stored ones tell. Of rows longer than two such blocks they tell nothing, so it
    /// is for others to see.
    pub(super) fn each_lacks(&self, first: &[usize]) -> bool {
        let (Some((_, along)), Some(last)) = (self.matrix(), first.last()) else { return false };
        if along {
            return self.size >= 2 * first.len();
        }
        let columns = self.block();
        // Rows that end before the last position.
        let rows = last / columns;
        let mut top = first.iter().take_while(|position| **position < columns);
        top.all(|column| {
            (1..rows).any(|row| first.binary_search(&(row * columns + column)).is_err())
        })
    }

    /// Whether the last group is reduced, so that a run lies in one cell.
    pub(super) fn runs_along(&self) -> bool {
        self.groups.last().is_some_and(|group| group.1)
    }

    pub(super) fn tensor<T: Copy + Send + Sync>(
        &self,
        fill: T,
        cells: Vec<usize>,
        values: Vec<T>,
    ) -> Result<Tensor<Sparse<T>>> {
        let map = AddressMap::row_major(&self.shape)?;
        Ok(Tensor::from_parts(map, Sparse::of_sorted(self.count, fill, cells, values)))
    }

    /// The result of one cell, if it fits.
    pub(super) fn finish<T: Copy, R: Reducer<T>>(
        &self,
        reducer: &R,
        cell: usize,
        state: R::State,
    ) -> Result<R::Out> {
        match reducer.undefined(&state) {
            Some(why) => Err(undefined::<R::Out>(why, self.shape.unravel(cell).to_vec())),
            None => Ok(reducer.finish(state)),
        }
    }

    /// The result of cells of which no element is stored. That there is none is an error if there is such a
    /// cell; the first one is the first that is missing from `cells`, which have the results `values`.
    pub(super) fn fill<T: Copy, R: Reducer<T>>(
        &self,
        reducer: &R,
        fill: T,
        cells: &[usize],
        values: &[R::Out],
    ) -> Result<R::Out> {
        let state = reducer.repeat(fill, 0, self.size);
        let missing = first_missing(cells).unwrap_or(cells.len());
        if missing < self.count {
            return self.finish(reducer, missing, state);
        }
        // No cell shows it, so any result will do.
        match values.first().filter(|_| reducer.undefined(&state).is_some()) {
            Some(&value) => Ok(value),
            None => Ok(reducer.finish(state)),
        }
    }

    /// The error of the first cell that has no result: of the last one of `cells`, unless one of which no
    /// element is stored comes before.
    #[cold]
    pub(super) fn first_error<T: Copy, R: Reducer<T>>(
        &self,
        reducer: &R,
        fill: T,
        cells: &[usize],
        last: Error,
    ) -> Error {
        let missing = first_missing(cells).and_then(|missing| {
            self.finish(reducer, missing, reducer.repeat(fill, 0, self.size)).err()
        });
        missing.unwrap_or(last)
    }
}

/// The first cell that is missing before the last of these, which ascend.
fn first_missing(cells: &[usize]) -> Option<usize> {
    cells.iter().enumerate().position(|(k, &cell)| k != cell)
}
