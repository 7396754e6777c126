//! Where elements are true: their indexes, and the elements there of another operand.

use super::PIECE;
use crate::dtype::Truth;
use crate::error::Result;
use crate::expr::{Expr, Lazy, for_each_piece, for_each_stored, goes_by_entries};
use crate::memory::{append, resize, try_reserve};
use crate::shape::{Index, Shape};

/// Elements of a mask that are passed over at once where none of them is true.
const GROUP: usize = 32;

/// Calls `visit` with the row-major positions of all elements that are neither `false` nor 0, ascending, part after
/// part.
pub(super) fn for_each_true<E: Expr<Elem: Truth>>(
    e: &Lazy<E>,
    shape: &Shape,
    mut visit: impl FnMut(&[usize]) -> Result<()>,
) -> Result<()> {
    let mut places = Vec::new();
    if goes_by_entries(&e.0, shape) {
        let fill = for_each_stored(&e.0, shape, &mut |fill, positions, values| {
            if fill.is_nonzero() {
                return Ok(());
            }
            let count = true_ones(values, 0, &mut places)?;
            places[..count].iter_mut().for_each(|place| *place = positions[*place]);
            Ok(visit(&places[..count])?)
        })?;
        if !fill.is_nonzero() {
            return Ok(());
        }
    }
    let mut start = 0;
    for_each_piece(e, PIECE, |piece| {
        let count = true_ones(piece, start, &mut places)?;
        start += piece.len();
        visit(&places[..count])
    })
}

/// Writes the places of elements that are true, the first of which is at `start`, and returns how many they are.
fn true_ones<T: Truth>(elements: &[T], start: usize, places: &mut Vec<usize>) -> Result<usize> {
    if places.len() < elements.len() {
        resize(places, elements.len(), 0)?;
    }
    let mut count = 0;
    for (group, elements) in elements.chunks(GROUP).enumerate() {
        if !elements.iter().fold(false, |any, element| any | element.is_nonzero()) {
            continue;
        }
        // Whether a single one is true would be an unpredictable branch.
        for (k, element) in elements.iter().enumerate() {
            places[count] = start + group * GROUP + k;
            count += usize::from(element.is_nonzero());
        }
    }
    Ok(count)
}

/// Indexes that were found.
pub(super) struct Found<'a> {
    shape: &'a Shape,
    pub(super) count: usize,
    pub(super) digits: Vec<usize>,
    /// The index that was found last, and the position at which its row along the last axis begins.
    index: Index,
    row: usize,
}

impl<'a> Found<'a> {
    pub(super) fn new(shape: &'a Shape) -> Self {
        let index = Index::from_elem(0, shape.rank());
        Self { shape, count: 0, digits: Vec::new(), index, row: 0 }
    }

    /// Adds the indexes of row-major positions.
    pub(super) fn add(&mut self, positions: &[usize]) -> Result<()> {
        let Self { shape, digits, index, .. } = self;
        self.count += positions.len();
        let (rank, start) = (shape.rank(), digits.len());
        let Some(&width) = shape.last() else { return Ok(()) };
        if rank == 1 {
            return append(digits, positions);
        }
        let more = positions.len().saturating_mul(rank);
        try_reserve(digits, more)?;
        digits.resize(start + more, 0);
        for (digits, &position) in digits[start..].chunks_exact_mut(rank).zip(positions) {
            if position.wrapping_sub(self.row) >= width {
                *index = shape.unravel(position);
                self.row = position - index[rank - 1];
            }
            index[rank - 1] = position - self.row;
            digits.iter_mut().zip(index.iter()).for_each(|(slot, &digit)| *slot = digit);
        }
        Ok(())
    }
}
