//! Items that are picked from each row.

use super::Ragged;
use super::form::{Form, shape_of};
use super::levels::{Bounds, Items, Run};
use super::offsets::Offsets;
use super::select::RowRange;
use super::views::{Place, renamed};
use crate::error::{Error, Result};
use crate::map::Select;
use crate::memory::{try_reserve, try_with_capacity};
use smallvec::SmallVec;

impl<S> Ragged<S> {
    pub(super) fn selected(self, selectors: &[Select]) -> Result<Self> {
        let rank = self.rank();
        if selectors.len() > rank {
            return Err(Error::Rank { what: "selectors", expected: rank, found: selectors.len() });
        }
        let (mut shown, mut dropped) = (self, 0);
        for (axis, selector) in selectors.iter().enumerate() {
            let before = shown.rank();
            shown = shown.selected_of(axis - dropped, axis, selector)?;
            dropped += before - shown.rank();
        }
        Ok(shown)
    }

    /// Selects of one axis, which has another number in errors.
    pub(super) fn selected_of(self, axis: usize, named: usize, selector: &Select) -> Result<Self> {
        let number = match self.place(axis)? {
            Place::Fixed(..) if matches!(selector, Select::All) => return Ok(self),
            Place::Fixed(number, position) => {
                let named = |error| renamed(error, named);
                return self.change(number, &mut |map, first| {
                    let mut all: SmallVec<[Select; 4]> =
                        SmallVec::from_elem(Select::All, position + first);
                    all.push(selector.clone());
                    map.select(&all[..]).map_err(named)
                });
            }
            Place::Var(number) => number,
        };
        if matches!(selector, Select::All) {
            return Ok(self);
        }
        let shown = self.settled(number)?;
        match RowRange::of(selector, named)? {
            None => shown.listed(number, named, selector),
            Some(range) => shown.ranged(number, |row, shown, run| {
                range.held(run).map_err(|index| shown.lacks(number, named, row, index))
            }),
        }
    }

    /// The items of each row of a settled level that a selector lists.
    fn listed(self, number: usize, axis: usize, selector: &Select) -> Result<Self> {
        let one;
        let from_last = matches!(selector, Select::IndexFromLast(_));
        let (indexes, is_list): (&[usize], bool) = match selector {
            Select::Index(index) => {
                one = [usize::try_from(*index).unwrap_or(usize::MAX)];
                if *index < 0 && self.runs(number).len() > 0 {
                    return Err(self.lacks(number, axis, 0, *index as i128));
                }
                (&one, false)
            }
            Select::IndexFromLast(back) => {
                one = [*back];
                (&one, false)
            }
            Select::List(list) => (list, true),
            Select::Mask(mask) => {
                let mask = mask.as_ref().map_err(Error::copy)?;
                self.check_lengths(number, axis, mask.len())?;
                (mask.indexes(), true)
            }
            set => return self.listed(number, axis, &Select::List(set.listed()?)),
        };
        let mut items = try_with_capacity(self.runs(number).len().saturating_mul(indexes.len()))?;
        for (row, run) in self.runs(number).enumerate() {
            for &index in indexes {
                let last = run.len as i128 - 1;
                let at = if from_last { last - index as i128 } else { index as i128 };
                if index >= run.len {
                    return Err(self.lacks(number, axis, row, at));
                }
                items.push(run.item(at as usize));
            }
        }
        let extents = [indexes.len()];
        // The rows after one item are a part of their table, however many there are.
        let items = if let [item] = items[..] { Items::From(item) } else { Items::List(items) };
        self.fixed(number, if is_list { &extents } else { &[] }, items)
    }

    /// The error of a row of a settled level that lacks an index.
    fn lacks(&self, number: usize, axis: usize, row: usize, index: i128) -> Error {
        let items = self.levels[number].bounds.row(row).len;
        Error::RowIndex { index, row: self.row_path(number, row), axis, items }
    }

    /// Other rows of a settled level, each of items of the old one.
    pub(super) fn ranged(
        mut self,
        number: usize,
        of: impl Fn(usize, &Self, Run) -> Result<(usize, isize, usize)>,
    ) -> Result<Self> {
        let rows = self.levels[number].bounds.rows();
        let (mut starts, mut lens) = (try_with_capacity(rows)?, try_with_capacity(rows)?);
        let mut by = 1;
        for (row, run) in self.runs(number).enumerate() {
            let (first, step, count) = of(row, &self, run)?;
            starts.push(if count == 0 { 0 } else { run.item(first) });
            lens.push(count);
            by = step;
        }
        let step = self.levels[number].bounds.step().saturating_mul(by);
        self.levels[number].bounds = Bounds::views(starts, lens, step);
        Ok(Self::of(self.levels, self.content))
    }

    pub(super) fn clipped(self, axis: usize, selector: &Select) -> Result<Self> {
        let number = match self.place(axis)? {
            Place::Fixed(..) => return self.selected_of(axis, axis, selector),
            Place::Var(number) => number,
        };
        let Some(range) = RowRange::of(selector, axis)? else {
            return self.selected_of(axis, axis, selector);
        };
        self.settled(number)?.ranged(number, |_, _, run| Ok(range.cut(run)))
    }

    /// The level of a var axis, settled.
    pub(super) fn own_rows(self, axis: usize) -> Result<(Self, usize)> {
        match self.place(axis)? {
            Place::Fixed(..) => Err(Error::FixedAxis { axis }),
            Place::Var(number) => Ok((self.settled(number)?, number)),
        }
    }

    /// Holds the rows of what goes with a settled level against those in front of it.
    fn check_front(&self, number: usize, axis: usize, other: &Form) -> Result<()> {
        let (own, theirs) = (self.kinds(), other.kinds());
        let front = theirs.get(..axis).unwrap_or(&theirs);
        if own[..axis] != *front || theirs.len() != axis + 1 {
            let (shape, so_far) = (shape_of(&theirs), shape_of(&own[..=axis]));
            let differing = own.iter().zip(front).position(|(a, b)| a != b);
            let axis = differing.unwrap_or(front.len());
            return Err(Error::Operands { argument: 2, shape, so_far, axis, left: true });
        }
        self.check_rows(number, other)
    }

    /// Holds the rows of the first levels against those of a form with the same axes so far.
    pub(super) fn check_rows(&self, number: usize, other: &Form) -> Result<()> {
        let levels = self.levels.iter().zip(other.vars()).take(number);
        for (k, (level, (axis, rows))) in levels.enumerate() {
            let lengths = |row| level.bounds.row(row).len;
            if let Some(row) = (0..rows.rows()).find(|&row| lengths(row) != rows.length(row)) {
                let (items, expected) = (rows.length(row), lengths(row));
                return Err(Error::RowLength { row: self.row_path(k, row), axis, items, expected });
            }
        }
        Ok(())
    }

    /// The rows of what goes with a settled level, and their extent if it is fixed.
    fn rows_beside(
        &self,
        number: usize,
        axis: usize,
        other: &Form,
    ) -> Result<(Offsets, Option<usize>)> {
        self.check_front(number, axis, other)?;
        if let Some((_, rows)) = other.vars().nth(number) {
            return Ok((rows.clone(), None));
        }
        let extent = other.trailing().last().copied().unwrap_or(0);
        Ok((Offsets::every(extent, self.runs(number).len())?, Some(extent)))
    }

    pub(super) fn taken(self, axis: usize, picks: &Ragged<Vec<usize>>) -> Result<Self> {
        let (shown, number) = self.own_rows(axis)?;
        let (rows, extent) = shown.rows_beside(number, axis, &picks.form()?)?;
        let picks = picks.to_vec()?;
        let mut items = try_with_capacity(picks.len())?;
        for (row, run) in shown.runs(number).enumerate() {
            for &index in &picks[rows.row(row)] {
                if index >= run.len {
                    return Err(shown.lacks(number, axis, row, index as i128));
                }
                items.push(run.item(index));
            }
        }
        match extent {
            None => shown.with_rows(number, rows, items),
            Some(extent) => shown.fixed(number, &[extent], Items::List(items)),
        }
    }

    pub(super) fn kept(self, axis: usize, mask: &Ragged<Vec<bool>>) -> Result<Self> {
        let (shown, number) = self.own_rows(axis)?;
        let (rows, _) = shown.rows_beside(number, axis, &mask.form()?)?;
        let mask = mask.to_vec()?;
        let (mut items, mut lens) = (Vec::new(), try_with_capacity(rows.rows())?);
        for (row, run) in shown.runs(number).enumerate() {
            let own = rows.row(row);
            if own.len() != run.len {
                let row = shown.row_path(number, row);
                return Err(Error::RowLength { row, axis, items: own.len(), expected: run.len });
            }
            try_reserve(&mut items, run.len)?;
            let before = items.len();
            items.extend(
                run.items().zip(&mask[own]).filter(|(_, keeps)| **keeps).map(|(item, _)| item),
            );
            lens.push(items.len() - before);
        }
        shown.with_rows(number, Offsets::from_lengths(lens)?, items)
    }
}
