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
    List(Vec<usize>),
}

impl Places {
    pub(super) fn at(&self, item: usize) -> usize {
        match self {
            Self::Same => item,
            Self::First => 0,
            Self::List(places) => places[item],
        }
    }

    /// Along an axis of `extent` items, where the operand has `own`, or none of that axis.
    pub(super) fn fixed(self, items: usize, extent: usize, own: Option<usize>) -> Result<Self> {
        let count = total(items, extent)?;
        Ok(match (self, own) {
            (Self::First, None | Some(1)) => Self::First,
            (Self::Same, Some(own)) if own == extent => Self::Same,
            // An item that is left may be another than the first.
            (places, Some(own)) if own == extent && items == 1 && places.at(0) == 0 => Self::Same,
            (Self::Same, _) if extent == 1 => Self::Same,
            (places, own) => {
                let mut all = try_with_capacity(count)?;
                for item in 0..items {
                    let place = places.at(item);
                    match own {
                        Some(own) if own == extent => all.extend(place * own..(place + 1) * own),
                        _ => all.extend(std::iter::repeat_n(place, extent)),
                    }
                }
                Self::List(all)
            }
        })
    }

    /// Along rows, of which `own` has others or none.
    pub(super) fn rows(self, rows: &Lengths, own: Option<&Offsets>) -> Result<Self> {
        let same = |own: &Offsets| match rows {
            Lengths::Var(rows) => rows.has_lengths_of(own),
            Lengths::Fixed(..) => false,
        };
        match (&self, own) {
            (Self::First, None) => return Ok(Self::First),
            (Self::Same, Some(own)) if same(own) => return Ok(Self::Same),
            _ => {}
        }
        let mut all = try_with_capacity(rows.total()?)?;
        rows.for_each(|row, length| {
            let place = self.at(row);
            match own {
                None => all.extend(std::iter::repeat_n(place, length)),
                Some(own) if own.length(place) == length => {
                    let start = own.number(place);
                    all.extend(start..start + length);
                }
                Some(own) => all.extend(std::iter::repeat_n(own.number(place), length)),
            }
        });
        Ok(Self::List(all))
    }
}

/// Lengths of rows of a result.
#[derive(Clone)]
pub(super) enum Lengths {
    Var(Offsets),
    /// So many rows of so many items.
    Fixed(usize, usize),
}

impl Lengths {
    /// Of an axis behind `items` items.
    pub(super) fn of(axis: Axis<'_>, items: usize) -> Self {
        match axis {
            Axis::Fixed(extent) => Self::Fixed(items, extent),
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
    let (own, target) = (own.axes(), to.axes());
    let missing = target.len() - own.len();
    let mut places = if missing > 0 { Places::First } else { Places::Same };
    let mut items = 1;
    for (axis, &kind) in target[..axes].iter().enumerate() {
        let lengths = Lengths::of(kind, items);
        places = follow(places, axis.checked_sub(missing).map(|k| own[k]), &lengths)?;
        items = lengths.total()?;
    }
    Ok((places, items))
}

/// The places of an operand one axis further.
pub(super) fn follow(places: Places, own: Option<Axis<'_>>, to: &Lengths) -> Result<Places> {
    match (own, to) {
        (Some(Axis::Var(own)), _) => places.rows(to, Some(own)),
        // Items of rows that were held against the extent.
        (Some(Axis::Fixed(own)), Lengths::Var(_)) if own != 1 => {
            let mut all = try_with_capacity(to.total()?)?;
            to.for_each(|row, length| {
                let first = places.at(row) * own;
                all.extend(first..first + length);
            });
            Ok(Places::List(all))
        }
        (_, Lengths::Var(_)) => places.rows(to, None),
        (Some(Axis::Fixed(own)), Lengths::Fixed(items, extent)) => {
            places.fixed(*items, *extent, Some(own))
        }
        (None, Lengths::Fixed(items, extent)) => places.fixed(*items, *extent, None),
    }
}
