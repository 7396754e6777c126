//! Views that merge axes, and rows of one length as a fixed axis.

use super::Ragged;
use super::levels::{Bounds, Items, items_of};
use super::offsets::Offsets;
use super::views::Place;
use crate::error::{Error, Result};
use crate::memory::list;

impl<S> Ragged<S> {
    pub(super) fn flattened(self, axis: usize) -> Result<Self> {
        let place = self.place(axis)?;
        let Some(front) = axis.checked_sub(1) else { return Err(Error::FirstAxis { axis }) };
        match (self.place(front)?, place) {
            (Place::Fixed(number, position), Place::Fixed(..)) => self
                .change(number, &mut |map, first| {
                    map.merge_axes(position + first..position + first + 2)
                }),
            (Place::Fixed(..), Place::Var(number)) => self.rows_merged(number, front == 0),
            (Place::Var(number), Place::Var(_)) => self.levels_merged(number),
            (Place::Var(number), Place::Fixed(..)) => self.items_merged(number),
        }
    }

    /// The last fixed axis in front of a level merged with its rows.
    pub(super) fn rows_merged(self, number: usize, is_first: bool) -> Result<Self> {
        let mut shown = self.settled(number)?;
        let level = &mut shown.levels[number];
        let together = level.extents.pop().unwrap_or(1);
        let rows = level.above * level.width();
        let shown = match &level.bounds {
            Bounds::Offsets(offsets) => {
                let numbers = list((0..rows + 1).map(|row| offsets.number(row * together)))?;
                level.bounds = Bounds::Offsets(Offsets::new(numbers)?);
                Self::of(shown.levels, shown.content)
            }
            bounds => {
                // Rows may overlap, and have more items than there is memory for.
                let lens = (0..rows).map(|row| {
                    let each = row * together..(row + 1) * together;
                    each.map(|row| bounds.row(row).len).fold(0, usize::saturating_add)
                });
                let offsets = Offsets::from_lengths(lens)?;
                let items = items_of(bounds.runs(), offsets.last())?;
                shown.with_rows(number, offsets, items)?
            }
        };
        if is_first { shown.all_as_fixed(0, 0) } else { Ok(shown) }
    }

    /// The rows of a level merged with those of the next.
    pub(super) fn levels_merged(self, number: usize) -> Result<Self> {
        let mut shown = self.settled(number + 1)?;
        let below = shown.levels.remove(number + 1);
        let level = &mut shown.levels[number];
        let Bounds::Offsets(outer) = &level.bounds else { return Ok(shown) };
        let rows = outer.rows();
        match &below.bounds {
            Bounds::Offsets(inner) => {
                let numbers = list((0..rows + 1).map(|row| inner.number(outer.number(row))))?;
                level.bounds = Bounds::Offsets(Offsets::new(numbers)?);
                Ok(Self::of(shown.levels, shown.content))
            }
            bounds => {
                let (inner, items) = bounds.gathered()?;
                let numbers = list((0..rows + 1).map(|row| inner.number(outer.number(row))))?;
                shown.with_rows(number, Offsets::new(numbers)?, items)
            }
        }
    }

    /// The rows of a level merged with the fixed axis after it.
    pub(super) fn items_merged(self, number: usize) -> Result<Self> {
        let mut shown = self.trimmed(number)?;
        if shown.levels[number].bounds.step() != 1 {
            shown = shown.settled(number)?;
            let (rows, items) = shown.levels[number].bounds.gathered()?;
            shown = shown.with_rows(number, rows, items)?;
        }
        let extent = match shown.levels.get_mut(number + 1) {
            Some(below) => {
                let extent = below.extents.remove(0);
                below.above *= extent;
                extent
            }
            None => {
                let shape = shown.content.shape();
                let extent = shape.get(1).copied().unwrap_or(1);
                shown.content = shown.content.rewrite(&mut |map| map.merge_axes(0..2))?;
                extent
            }
        };
        let bounds = &shown.levels[number].bounds;
        let rows = bounds.rows();
        shown.levels[number].bounds = match bounds {
            Bounds::Offsets(offsets) => {
                let numbers = list((0..rows + 1).map(|k| offsets.number(k) * extent))?;
                Bounds::Offsets(Offsets::new(numbers)?)
            }
            Bounds::Views(views) => {
                // Rows without items may start anywhere.
                let scaled = |all: &[usize]| list(all.iter().map(|&k| k.saturating_mul(extent)));
                Bounds::views(scaled(&views.starts)?, scaled(&views.lens)?, 1)
            }
        };
        Ok(Self::of(shown.levels, shown.content))
    }

    pub(super) fn long_as_fixed(self, axis: usize) -> Result<Self> {
        match self.place(axis)? {
            Place::Fixed(..) => Ok(self),
            Place::Var(number) => self.settled(number)?.all_as_fixed(number, axis),
        }
    }

    /// A settled level whose rows have one length as a fixed axis.
    pub(super) fn all_as_fixed(self, number: usize, axis: usize) -> Result<Self> {
        let extent = self.runs(number).next().map_or(0, |run| run.len);
        self.check_lengths(number, axis, extent)?;
        let items = match &self.levels[number].bounds {
            Bounds::Offsets(offsets) => Items::From(offsets.first()),
            bounds => {
                let count = bounds.rows().saturating_mul(extent);
                Items::List(items_of(self.runs(number), count)?)
            }
        };
        self.fixed(number, &[extent], items)
    }
}
