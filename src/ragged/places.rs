//! Which items of an operand stand for those of a result.

use super::form::{Axis, Form};
use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::memory::try_with_capacity;
use std::ops::Range;

/// Which items of an operand stand for the items of a result, counted in row-major order.
pub(super) enum Places {
    /// Each for itself.
    Same,
    /// The first for all.
    First,
    /// Each for so many neighbours.
    Each(usize),
    List(Vec<usize>),
}

impl Places {
    pub(super) fn at(&self, item: usize) -> usize {
        match self {
            Self::Same => item,
            Self::First => 0,
            Self::Each(count) => item / count,
            Self::List(places) => places[item],
        }
    }

    /// How many neighbours of `items` are known to have one place; at least 1.
    pub(super) fn neighbours(&self, items: usize) -> usize {
        match self {
            Self::First => items.max(1),
            Self::Each(count) => *count,
            Self::Same | Self::List(_) => 1,
        }
    }
}

/// Lengths of rows of a result.
#[derive(Debug, Clone)]
pub(super) enum Lengths {
    Var(Offsets),
    /// So many rows of so many items.
    Fixed(usize, usize),
}

impl Lengths {
    /// Of an axis after `items` items.
    pub(super) fn of(axis: &Axis, items: usize) -> Self {
        match axis {
            Axis::Fixed(extent) => Self::Fixed(items, *extent),
            Axis::Var(rows) => Self::Var(rows.clone()),
        }
    }

    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Var(offsets) => offsets.rows(),
            Self::Fixed(rows, _) => *rows,
        }
    }

    pub(super) fn row(&self, row: usize) -> Range<usize> {
        match self {
            Self::Var(offsets) => offsets.number(row)..offsets.number(row + 1),
            Self::Fixed(_, length) => row * length..(row + 1) * length,
        }
    }

    pub(super) fn row_of(&self, item: usize) -> usize {
        match self {
            Self::Var(offsets) => offsets.row_of(item),
            Self::Fixed(_, length) => item / (*length).max(1),
        }
    }

    /// Items of all rows, unless they are too many.
    pub(super) fn total(&self) -> Result<usize> {
        match self {
            Self::Var(offsets) => Ok(offsets.last()),
            Self::Fixed(rows, length) => total(*rows, *length),
        }
    }

    /// Items of all rows of a result that exists.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Var(offsets) => offsets.last(),
            Self::Fixed(rows, length) => rows.saturating_mul(*length),
        }
    }

    /// Items of a row on average, rounded up.
    pub(super) fn mean(&self) -> usize {
        self.len().div_ceil(self.rows().max(1))
    }

    /// Items in front of a row, where all rows are repeated.
    pub(super) fn before(&self, row: usize) -> usize {
        match self {
            Self::Var(offsets) => {
                let rows = offsets.rows().max(1);
                row / rows * offsets.last() + offsets.number(row % rows)
            }
            Self::Fixed(_, length) => row.saturating_mul(*length),
        }
    }

    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        match self {
            Self::Var(offsets) => offsets.for_each(0..offsets.rows(), visit),
            Self::Fixed(rows, length) => (0..*rows).for_each(|row| visit(row, *length)),
        }
    }
}

pub(super) fn total(items: usize, extent: usize) -> Result<usize> {
    items
        .checked_mul(extent)
        .filter(|&count| isize::try_from(count).is_ok())
        .ok_or_else(|| Error::ShapeOverflow { shape: vec![items, extent] })
}

/// The places of an operand with axes `own` at the items of the first `axes` of a form that it stretches to, and the
/// number of these items.
pub(super) fn places_at(own: &Form, to: &Form, axes: usize) -> Result<(Places, usize)> {
    let rank = to.rank();
    let mut places = if own.rank() < rank { Places::First } else { Places::Same };
    let mut items = 1;
    for (axis, kind) in to.axes[..axes].iter().enumerate() {
        let lengths = Lengths::of(kind, items);
        places = follow(places, own.axis_at(axis, rank), &lengths)?;
        items = lengths.total()?;
    }
    Ok((places, items))
}

/// The places of an operand one axis further.
pub(super) fn follow(places: Places, own: Option<&Axis>, to: &Lengths) -> Result<Places> {
    let count = to.total()?;
    match (own, to, &places) {
        (None | Some(Axis::Fixed(1)), _, Places::First) => return Ok(places),
        (Some(Axis::Var(own)), Lengths::Var(rows), Places::Same) if rows.has_lengths_of(own) => {
            return Ok(places);
        }
        (None | Some(Axis::Fixed(_)), Lengths::Fixed(_, 1), Places::Same | Places::Each(_)) => {
            return Ok(places);
        }
        // An item that is left may be one of several, and another than the first.
        (Some(Axis::Fixed(own)), Lengths::Fixed(items, extent), _)
            if own == extent
                && (matches!(places, Places::Same)
                    || *items == 1 && matches!(places, Places::First)) =>
        {
            return Ok(Places::Same);
        }
        (Some(Axis::Fixed(1)), _, Places::Same) if to.rows() == 1 => return Ok(Places::First),
        // However many rows there are.
        _ if count == 0 => return Ok(Places::List(Vec::new())),
        (Some(Axis::Fixed(1)), Lengths::Fixed(_, extent), Places::Same) => {
            return Ok(Places::Each(*extent));
        }
        (Some(Axis::Fixed(1)), Lengths::Fixed(_, extent), Places::Each(count)) => {
            return Ok(Places::Each(count * extent));
        }
        _ => {}
    }
    let mut all = try_with_capacity(count)?;
    to.for_each(|row, length| {
        let place = places.at(row);
        let (start, runs) = match own {
            Some(Axis::Var(own)) => (own.number(place), own.length(place) == length),
            // Items of rows that were held against the extent.
            Some(&Axis::Fixed(own)) if own != 1 => (place * own, true),
            _ => (place, false),
        };
        match runs {
            true => all.extend(start..start + length),
            false => all.extend(std::iter::repeat_n(start, length)),
        }
    });
    Ok(Places::List(all))
}
