//! Evaluation in row-major pieces, for results that are not to be kept whole.

use super::{Expr, IntoExpr, Lazy, prepare};
use crate::error::{Error, Result};
use crate::map::{IntoMask, Mask, Select};
use crate::shape::{Index, Shape};
use std::ops::Range;

/// Boxes of a shape that follow one another in row-major order and hold at most `limit` elements each, or
/// one: a range an axis, up to the last axis that is not whole.
///
/// A box is a range of the first axis whose single items fit, at one index of the axes before it.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    shape: Shape,
    /// Extent of a box along the axis that is cut.
    length: usize,
    /// Where the next box starts, up to the axis that is cut.
    start: Option<Index>,
}

impl Boxes {
    pub(crate) fn new(shape: Shape, limit: usize) -> Self {
        let limit = limit.max(1);
        // Axes that are not whole, and the elements of one item of the last of them.
        let (mut cut, mut item) = (shape.rank(), 1_usize);
        while cut > 0 && item.saturating_mul(shape[cut - 1]) <= limit {
            cut -= 1;
            item *= shape[cut];
        }
        let start = (!shape.contains(&0)).then(|| Index::from_elem(0, cut));
        Self { length: (limit / item.max(1)).max(1), shape, start }
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.start.take()?;
        let last = start.len().wrapping_sub(1);
        let end = |axis: usize, digit: usize| {
            let length = if axis == last { self.length } else { 1 };
            digit.saturating_add(length).min(self.shape[axis])
        };
        let ranges: Self::Item =
            start.iter().enumerate().map(|(axis, &digit)| digit..end(axis, digit)).collect();
        let mut next = start;
        for axis in (0..next.len()).rev() {
            next[axis] = ranges[axis].end;
            if next[axis] < self.shape[axis] {
                self.start = Some(next);
                break;
            }
            next[axis] = 0;
        }
        Some(ranges)
    }
}

/// The box as selectors of a view.
pub(crate) fn selectors(ranges: &[Range<usize>]) -> Vec<Select> {
    // Extents fit in `isize`.
    ranges.iter().map(|range| Select::range(range.start as isize..range.end as isize)).collect()
}

/// Evaluates `e` piece by piece in row-major order, each of at most `limit` elements, and hands them to
/// `visit`. Errors name indexes of the whole.
///
/// # Errors
///
/// What [`Lazy::eval`] reports, and what `visit` returns.
pub(crate) fn for_each_piece<E: Expr>(
    e: &Lazy<E>,
    limit: usize,
    mut visit: impl FnMut(&[E::Elem]) -> Result<()>,
) -> Result<()> {
    let _results = prepare(e)?;
    for ranges in Boxes::new(e.shape()?, limit) {
        if ranges.is_empty() {
            return visit(e.eval()?.storage());
        }
        let piece = Lazy(e.0.by_ref()).select(selectors(&ranges))?;
        visit(piece.eval().map_err(|error| moved(error, &ranges))?.storage())?;
    }
    Ok(())
}

/// An error of a piece as one of the whole.
pub(crate) fn moved(mut error: Error, ranges: &[Range<usize>]) -> Error {
    if let Error::Cast { index, .. }
    | Error::Arithmetic { index }
    | Error::Storage { index: Some(index), .. } = &mut error
    {
        index.iter_mut().zip(ranges).for_each(|(digit, range)| *digit += range.start);
    }
    error
}

/// Most elements of a mask that are evaluated at once.
const MASK_PIECE: usize = 1 << 16;

#[diagnostic::do_not_recommend]
impl<X: IntoExpr<Elem = bool>> IntoMask for X {
    fn into_mask(self) -> Result<Mask> {
        let (e, mut mask) = (Lazy(self.into_expr()), Mask::empty());
        let shape = e.shape()?;
        if shape.rank() != 1 {
            return Err(Error::ExpectedRank { expected: 1, shape: shape.to_vec() });
        }
        for_each_piece(&e, MASK_PIECE, |piece| mask.append(piece))?;
        Ok(mask)
    }
}
