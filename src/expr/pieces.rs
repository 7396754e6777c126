//! Evaluation in row-major pieces, for results that are not to be kept whole.

use super::{
    Boxes, Expr, IntoExpr, Lazy, MOST_BYTES, box_shape, check_operand, defers, erased, lies_across,
    prepare, room, room_of_all, selectors, starts_of_operand,
};
use crate::error::{Error, Result};
use crate::map::{AddressMap, IntoMask, IntoNumbers, Mask};
use crate::shape::Shape;
use std::borrow::Cow;
use std::ops::Range;

/// Elements that are evaluated at once of storage in blocks, if the blocks that it holds have fewer.
pub(crate) const FAR: usize = 1 << 20;

/// All elements, if they lie in memory in row-major order.
#[inline]
pub(crate) fn row_major<E: Expr>(e: &E) -> Option<&[E::Elem]> {
    let (slice, map) = e.in_memory()?;
    slice.get(map.consecutive()?)
}

/// All elements in row-major order: where they lie if they lie so, computed otherwise, but for very many of a sparse
/// operand.
pub(crate) fn elements<E: Expr>(e: &Lazy<E>) -> Result<Cow<'_, [E::Elem]>> {
    match row_major(e) {
        Some(elements) => Ok(Cow::Borrowed(elements)),
        None => {
            check_operand(e)?;
            Ok(Cow::Owned(e.to_vec()?))
        }
    }
}

/// Evaluation in parts, for results that are not to be kept whole.
///
/// Parts come one after another in row-major order, each computed by as many threads as pay off; memory is taken for
/// one of them, of operands in blocks, or not in memory and transposed, for 2^20 elements or as many as blocks hold, up to
/// 128 MiB, and for the whole results of deferred operations among the operands. What lies in memory in row-major order is
/// not copied.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be evaluated in parts",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these can"
)]
pub trait Pieces: IntoExpr + Sized {
    /// Calls `visit` with boxes of at most `most` elements, and of at least one: a range for each axis, and the
    /// elements in row-major order. Box after box they are all elements in row-major order.
    ///
    /// A box is a range of one axis, whole along the axes after it, at one index of those before it.
    ///
    /// # Errors
    ///
    /// What evaluating reports, with indexes of the whole, [`Error::WouldDensify`] for more than 2^33 elements of
    /// a sparse operand, see [`Lazy::densely`], and what `visit` returns, which ends it.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6], [7, 8, 9]])?;
    /// let mut sums = Vec::new();
    /// (&t * 10).for_each_box(6, |ranges, elements| {
    ///     sums.push((ranges[0].clone(), elements.iter().sum()));
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(sums, [(0..2, 210), (2..3, 240)]);
    /// # Ok::<(), Error>(())
    /// ```
    fn for_each_box<X, F>(self, most: usize, mut visit: F) -> Result<(), X>
    where
        X: From<Error>,
        F: FnMut(&[Range<usize>], &[Self::Elem]) -> Result<(), X>,
    {
        for_each_box(&Lazy(self.into_expr()), most, &mut visit)
    }

    /// Calls `visit` with the elements in row-major order, at most `most` at once, and at least one.
    ///
    /// # Errors
    ///
    /// As [`Self::for_each_box`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use std::io::Write;
    ///
    /// fn write(t: &Tensor<Vec<u8>>, out: &mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    ///     (t + 1).for_each_piece(1 << 16, |bytes| Ok(out.write_all(bytes)?))
    /// }
    /// let mut out = Vec::new();
    /// write(&Tensor::from_nested([[1_u8, 2], [3, 4]])?, &mut out)?;
    /// assert_eq!(out, [2, 3, 4, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn for_each_piece<X, F>(self, most: usize, mut visit: F) -> Result<(), X>
    where
        X: From<Error>,
        F: FnMut(&[Self::Elem]) -> Result<(), X>,
    {
        self.for_each_box(most, |_, elements| visit(elements))
    }
}

/// [`Pieces::for_each_piece`] of what is borrowed.
pub(crate) fn for_each_piece<E: Expr>(
    e: &Lazy<E>,
    most: usize,
    mut visit: impl FnMut(&[E::Elem]) -> Result<()>,
) -> Result<()> {
    for_each_box(e, most, &mut |_, elements| visit(elements))
}

/// What boxes and their elements are given to.
type Visit<'v, T, X> = &'v mut dyn FnMut(&[Range<usize>], &[T]) -> Result<(), X>;

/// [`Pieces::for_each_box`] of what is borrowed.
#[inline(never)]
pub(crate) fn for_each_box<E: Expr, X: From<Error>>(
    e: &Lazy<E>,
    most: usize,
    visit: Visit<'_, E::Elem, X>,
) -> Result<(), X> {
    let shape = e.shape()?;
    check_operand(e)?;
    let _results = prepare(e)?;
    if let Some(elements) = row_major(e) {
        return for_each_part(&[], &shape, elements, most, visit);
    }
    // Views of what was computed, as those of a function of stored entries are not.
    let computed = defers(e).then(|| Lazy(erased(&e.0)));
    for ranges in boxes_of(&e.0, &shape, most)? {
        let piece = match (ranges.len(), &computed) {
            (0, _) => e.eval(),
            (_, Some(computed)) => computed.clone().select(selectors(&ranges))?.eval(),
            (_, None) => Lazy(e.0.by_ref()).select(selectors(&ranges))?.eval(),
        };
        let piece = piece.map_err(|error| moved(error, &ranges))?;
        for_each_part(&ranges, &box_shape(&shape, &ranges), piece.storage(), most, visit)?;
    }
    Ok(())
}

/// Boxes of an expression that is stretched to a shape: of `most` elements, of more where storage that is not memory lies
/// across them, or as many as the blocks have that are held of its storage, and ending where these do, as a block is loaded
/// for each box that needs it.
pub(crate) fn boxes_of<E: Expr>(e: &E, shape: &Shape, most: usize) -> Result<Boxes> {
    let far = FAR.min(MOST_BYTES / size_of::<E::Elem>().max(1));
    let near = if lies_across(e) { most.max(far) } else { most };
    let at_once = room_of_all(e, most.max(FAR)).unwrap_or(near);
    let boxes = Boxes::new(shape.clone(), at_once);
    ending_in_blocks(e, shape, boxes)
}

/// Boxes of results of type `T` that each need the whole of an axis of an operand, as [`boxes_of`], with `least` of them side
/// by side; the other axes are those of the operand.
pub(crate) fn boxes_along<T, E: Expr>(
    e: &E,
    results: &Shape,
    axis: usize,
    limit: usize,
    least: usize,
) -> Result<Boxes> {
    let most = MOST_BYTES / size_of::<T>().max(1);
    let limit = room(e, limit).map_or(limit, |room| room.min(most).max(limit));
    let boxes = Boxes::around(results, limit, |other| other == axis).at_least(least);
    ending_in_blocks(e, results, boxes)
}

fn ending_in_blocks<E: Expr>(e: &E, shape: &Shape, boxes: Boxes) -> Result<Boxes> {
    let starts = if e.shape()?.rank() == shape.rank() { starts_of_operand(e)? } else { None };
    Ok(match starts {
        Some(starts) => boxes.ending_in(&starts),
        None => boxes,
    })
}

/// Calls `visit` with boxes of at most `most` elements of a box, whose first axes begin where `outer` does.
#[inline(never)]
fn for_each_part<T, X>(
    outer: &[Range<usize>],
    shape: &Shape,
    mut elements: &[T],
    most: usize,
    visit: Visit<'_, T, X>,
) -> Result<(), X> {
    for mut ranges in Boxes::new(shape.clone(), most) {
        let cut = ranges.len();
        ranges.extend(shape[cut..].iter().map(|&extent| 0..extent));
        let count = ranges.iter().map(Range::len).product();
        let Some((piece, rest)) = elements.split_at_checked(count) else { break };
        elements = rest;
        for (range, outer) in ranges.iter_mut().zip(outer) {
            *range = range.start + outer.start..range.end + outer.start;
        }
        visit(&ranges, piece)?;
    }
    Ok(())
}

/// What a view makes of the map of an operand.
pub(crate) type Way<'v> = &'v dyn Fn(AddressMap) -> Result<AddressMap>;

/// The first error of an operand in row-major order, for one that a view of it reported: which is the first does
/// not depend on the order in which views are read. If no element fails again, that error, at its index of the operand.
#[cold]
pub(crate) fn first_error<E: Expr>(whole: &Lazy<E>, error: Error, view: Way<'_>) -> Error {
    first_fault(whole, &error).unwrap_or_else(|| of_view(whole, error, view))
}

/// An error of an element of a view of an operand as that of the operand: at the index that the view brings there, or at
/// none where that is not known.
#[cold]
pub(crate) fn of_view<E: Expr>(whole: &Lazy<E>, mut error: Error, view: Way<'_>) -> Error {
    let Some(index) = error.element_index() else { return error };
    let origin = whole.shape().and_then(|shape| {
        let position = view(AddressMap::of_shape(&shape)?)?.to_local(&*index)?;
        Ok(shape.unravel(position))
    });
    match origin {
        Ok(origin) => *index = origin.to_vec(),
        Err(_) => return error.without_index(),
    }
    error
}

/// The first error of an operand in row-major order, if there is one and that one is of an element.
#[cold]
pub(crate) fn first_fault<E: Expr>(whole: &Lazy<E>, error: &Error) -> Option<Error> {
    error.is_of_element().then(|| any_fault(whole)).flatten()
}

/// The first error of an element of an operand in row-major order, if there is one.
#[cold]
pub(crate) fn any_fault<E: Expr>(whole: &Lazy<E>) -> Option<Error> {
    /// Elements that are evaluated at once.
    const PIECE: usize = 1 << 15;
    for_each_piece(whole, PIECE, |_| Ok(())).err().filter(Error::is_of_element)
}

/// An error of a piece as one of the whole.
pub(crate) fn moved(mut error: Error, ranges: &[Range<usize>]) -> Error {
    let index = match &mut error {
        Error::IndexAt { at, .. } => Some(at),
        error => error.element_index(),
    };
    if let Some(index) = index {
        index.iter_mut().zip(ranges).for_each(|(digit, range)| *digit += range.start);
    }
    error
}

/// A list, unless it has another rank than 1.
fn of_list<E: Expr>(e: E) -> Result<Lazy<E>> {
    let shape = e.shape()?;
    match shape.rank() {
        1 => Ok(Lazy(e)),
        _ => Err(Error::ExpectedRank { expected: 1, shape: shape.to_vec() }),
    }
}

#[diagnostic::do_not_recommend]
impl<X: IntoExpr<Elem = usize>> IntoNumbers for X {
    fn into_numbers(self) -> Result<Vec<usize>> {
        let numbers = of_list(self.into_expr())?.to_vec()?;
        Ok(numbers)
    }
}

/// Most elements of a mask that are evaluated at once.
const MASK_PIECE: usize = 1 << 16;

#[diagnostic::do_not_recommend]
impl<X: IntoExpr<Elem = bool>> IntoMask for X {
    fn into_mask(self) -> Result<Mask> {
        let (e, mut mask) = (of_list(self.into_expr())?, Mask::empty());
        for_each_piece(&e, MASK_PIECE, |piece| mask.append(piece))?;
        Ok(mask)
    }
}
