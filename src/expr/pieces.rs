//! Evaluation in row-major pieces, for results that are not to be kept whole.

use super::{Expr, Lazy};
use crate::error::{Error, Result};
use crate::map::Select;
use crate::shape::Index;

/// Evaluates `e` piece by piece in row-major order, each of at most `limit` elements, and hands them to
/// `visit`. Errors name indexes of the whole.
///
/// A piece is a range of the first axis whose single items fit, at one index of the axes before it.
///
/// # Errors
///
/// What [`Lazy::eval`] reports, and what `visit` returns.
pub(crate) fn for_each_piece<E: Expr>(
    e: &Lazy<E>,
    limit: usize,
    mut visit: impl FnMut(&[E::Elem]) -> Result<()>,
) -> Result<()> {
    let shape = e.shape()?;
    if shape.contains(&0) {
        return Ok(());
    }
    let limit = limit.max(1);
    // Axis along which pieces are cut, and the elements of one of its items.
    let (mut axis, mut item) = (shape.rank(), 1_usize);
    while axis > 0 && item.saturating_mul(shape[axis - 1]) <= limit {
        axis -= 1;
        item *= shape[axis];
    }
    let Some(axis) = axis.checked_sub(1) else {
        return visit(e.eval()?.storage());
    };
    let (length, extent) = ((limit / item).max(1), shape[axis]);
    for outer in crate::shape::Shape::from(&shape[..axis]).indexes()? {
        let mut start: Index = outer.clone();
        start.push(0);
        while start[axis] < extent {
            let end = start[axis].saturating_add(length).min(extent);
            let one = outer.iter().map(|&digit| range(digit, digit + 1));
            let selectors: Vec<Select> = one.chain([range(start[axis], end)]).collect();
            let piece = Lazy(e.0.by_ref()).select(selectors)?;
            visit(piece.eval().map_err(|error| moved(error, &start))?.storage())?;
            start[axis] = end;
        }
    }
    Ok(())
}

fn range(start: usize, end: usize) -> Select {
    // Extents fit in `isize`.
    Select::range(start as isize..end as isize)
}

/// An error of a piece as one of the whole, of which the piece starts at `start`.
fn moved(mut error: Error, start: &[usize]) -> Error {
    if let Error::Cast { index, .. }
    | Error::Arithmetic { index }
    | Error::Storage { index: Some(index), .. } = &mut error
    {
        index.iter_mut().zip(start).for_each(|(digit, first)| *digit += first);
    }
    error
}
