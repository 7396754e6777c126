//! Lists of indexes, held against a shape.

use super::PIECE;
use crate::error::{Error, Result};
use crate::expr::{
    BoxExpr, Boxes, Expr, IntoExpr, Lazy, Pairs, Prepare, box_shape, deferred_of, elements,
    first_error, moved, prepared, selectors,
};
use crate::map::{AddressMap, Select};
use crate::memory::{for_tuples, resize, try_reserve_exact, try_with_capacity};
use crate::shape::{Align, Shape};
use std::ops::Range;

/// A list of indexes, one for each element that is read or written.
#[derive(Debug, Clone)]
pub struct Indexes<'a> {
    /// One an axis, or one alone with the numbers for all axes along its last.
    operands: Vec<BoxExpr<'a, usize>>,
    is_together: bool,
}

/// What is a list of indexes: an operand of `usize` and shape `(.., rank)`, or, for up to six axes, a tuple of one
/// operand per axis.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of indexes",
    note = "give an operand of `usize` and shape `(.., rank)`, or a tuple of one operand of `usize` per axis",
    note = "signed numbers are cast, `at.cast::<usize>()`: negative ones do not wrap, the last index is `extent - 1`"
)]
pub trait IntoIndexes<'a> {
    /// The list.
    fn into_indexes(self) -> Indexes<'a>;
}

#[diagnostic::do_not_recommend]
impl<'a, X: IntoExpr<Elem = usize, Expr: 'a>> IntoIndexes<'a> for X {
    fn into_indexes(self) -> Indexes<'a> {
        let operands = vec![Lazy(self.into_expr()).boxed()];
        Indexes { operands, is_together: true }
    }
}

macro_rules! tuples {
    ($count:literal: $($Each:ident $each:ident $k:tt),*) => {
        impl<'a, $($Each),*> IntoIndexes<'a> for ($($Each,)*)
        where
            $(usize: Pairs<$Each, Expr: 'a>),*
        {
            fn into_indexes(self) -> Indexes<'a> {
                let operands = vec![$(Lazy(usize::pair(self.$k)).boxed()),*];
                Indexes { operands, is_together: false }
            }
        }
    };
}
for_tuples!(tuples 6);

impl Indexes<'_> {
    pub(super) fn deferred<'s>(&'s self, visit: &mut dyn FnMut(&'s dyn Prepare)) {
        self.operands.iter().for_each(|operand| deferred_of(operand, visit));
    }

    pub(super) fn depth(&self) -> usize {
        self.operands.iter().map(Expr::depth).max().unwrap_or(0)
    }

    /// The shape of what is read at them.
    pub(super) fn shape(&self, rank: usize) -> Result<Shape> {
        let mut shape = Shape::default();
        for (k, operand) in self.operands.iter().enumerate() {
            shape = shape.join(&operand.shape()?, Align::Right, k + 1)?;
        }
        let mut found = self.operands.len();
        if self.is_together {
            let (&last, front) = shape
                .split_last()
                .ok_or_else(|| Error::ExpectedRank { expected: 1, shape: Vec::new() })?;
            (shape, found) = (Shape::from(front), last);
        }
        if found != rank {
            return Err(Error::Rank { what: "numbers in each index", expected: rank, found });
        }
        Ok(shape)
    }

    /// One operand for each axis, at the shape of the list.
    fn axes(&self, rank: usize, shape: &Shape) -> Result<Vec<BoxExpr<'_, usize>>> {
        let mut axes = try_with_capacity(rank)?;
        for axis in 0..rank {
            if !self.is_together {
                axes.push(self.operands[axis].clone().stretched(shape)?);
                continue;
            }
            axes.push(self.operands[0].clone().select(digits_of(shape.rank(), axis)?)?);
        }
        Ok(axes)
    }

    /// Calls `visit` with row-major positions in `of`, a part of at most `most` indexes of the list after another.
    pub(super) fn for_each_part(
        &self,
        of: &Shape,
        most: usize,
        visit: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        let boxes = Boxes::new(self.shape(of.rank())?, most);
        self.for_each_box(boxes, of, visit)
    }

    /// The same of these boxes of the list.
    pub(super) fn for_each_box(
        &self,
        boxes: impl Iterator<Item = Vec<Range<usize>>>,
        of: &Shape,
        mut visit: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        let shape = self.shape(of.rank())?;
        let axes = self.axes(of.rank(), &shape)?;
        let mut positions: Vec<usize> = Vec::new();
        for ranges in boxes {
            let part = box_shape(&shape, &ranges);
            let count: usize = part.iter().product();
            let (mut parts, mut digits) =
                (try_with_capacity(of.rank())?, try_with_capacity(of.rank())?);
            for operand in &axes {
                parts.push(operand.clone().select(selectors(&ranges))?);
            }
            for (axis, part) in parts.iter().enumerate() {
                let own = elements(part);
                digits.push(own.map_err(|error| match self.is_together {
                    // The numbers for other axes may come first.
                    true => first_error(&self.operands[0], error, &|map| {
                        map.select(digits_of(shape.rank(), axis)?)?.select(selectors(&ranges))
                    }),
                    false => moved(error, &ranges),
                })?);
            }
            positions.clear();
            resize(&mut positions, count, 0)?;
            // The extent of a first index out of bounds, and its place.
            let mut wrong: Option<(usize, usize)> = None;
            for (axis, (digits, &extent)) in digits.iter().zip(of.iter()).enumerate() {
                let mut outside = false;
                for (position, &digit) in positions.iter_mut().zip(&**digits) {
                    outside |= digit >= extent;
                    *position = position.wrapping_mul(extent).wrapping_add(digit);
                }
                let limit = if outside { wrong.map_or(count, |(place, _)| place) } else { 0 };
                if let Some(place) = digits[..limit].iter().position(|&digit| digit >= extent) {
                    wrong = Some((place, axis));
                }
            }
            if let Some((place, axis)) = wrong {
                let mut at = part.unravel(place);
                at.iter_mut().zip(&ranges).for_each(|(digit, range)| *digit += range.start);
                let index = digits[axis][place];
                return Err(Error::IndexAt { at: at.to_vec(), axis, index, extent: of[axis] });
            }
            visit(&positions)?;
        }
        Ok(())
    }

    /// The addresses that a map sends all of them to.
    pub(super) fn addresses(&self, map: &AddressMap) -> Result<Vec<usize>> {
        let (of, mut all) = (map.shape(), Vec::new());
        try_reserve_exact(&mut all, self.shape(of.rank())?.count()?)?;
        let _results_of_leaves = prepared(true, &mut |visit| self.deferred(visit))?;
        self.for_each_part(&of, PIECE, |positions| {
            map.addresses_at(positions, &mut all);
            Ok(())
        })?;
        Ok(all)
    }
}

/// The numbers for one axis in a list of this rank that has those for all along its last axis.
fn digits_of(rank: usize, axis: usize) -> Result<Vec<Select>> {
    let mut selectors = try_with_capacity(rank + 1)?;
    selectors.extend(std::iter::repeat_n(Select::All, rank));
    selectors.push(Select::Index(axis as isize));
    Ok(selectors)
}
