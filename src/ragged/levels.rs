//! Levels: fixed axes, and the rows of the var axis after them.

use super::form::{Axis, Form};
use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::map::Select;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::iter::once;
use std::mem::take;
use std::sync::Arc;

/// Fixed axes, and the rows of the var axis after them.
#[derive(Clone)]
pub(super) struct Level {
    /// Items of the level above; 1 for the first.
    pub(super) above: usize,
    pub(super) extents: SmallVec<[usize; 2]>,
    /// Row `item * product of extents + position` for each item of the level above.
    pub(super) bounds: Bounds,
}

/// Which items rows have.
#[derive(Clone)]
pub(super) enum Bounds {
    Offsets(Offsets),
    Views(Arc<Views>),
}

/// Rows anywhere.
pub(super) struct Views {
    pub(super) starts: Arc<Vec<usize>>,
    pub(super) lens: Vec<usize>,
    /// From one item of a row to the next.
    pub(super) step: isize,
}

/// Items of a row: the first, how many, and the distance of neighbours.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) step: isize,
}

impl Run {
    pub(super) fn item(self, k: usize) -> usize {
        self.start.wrapping_add_signed(self.step.wrapping_mul(k as isize))
    }

    pub(super) fn items(self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.len).map(move |k| self.item(k))
    }
}

impl Bounds {
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Offsets(offsets) => offsets.rows(),
            Self::Views(views) => views.starts.len(),
        }
    }

    pub(super) fn row(&self, row: usize) -> Run {
        match self {
            Self::Offsets(offsets) => {
                Run { start: offsets.number(row), len: offsets.length(row), step: 1 }
            }
            Self::Views(views) => {
                Run { start: views.starts[row], len: views.lens[row], step: views.step }
            }
        }
    }

    pub(super) fn runs(&self) -> impl ExactSizeIterator<Item = Run> {
        (0..self.rows()).map(|row| self.row(row))
    }

    /// Rows of the same lengths one after another, and the items that they have.
    pub(super) fn gathered(&self) -> Result<(Offsets, Vec<usize>)> {
        let rows = Offsets::from_lengths(self.runs().map(|run| run.len))?;
        let items = items_of(self.runs(), rows.last())?;
        Ok((rows, items))
    }

    pub(super) fn step(&self) -> isize {
        match self {
            Self::Offsets(_) => 1,
            Self::Views(views) => views.step,
        }
    }

    /// Items of all rows.
    pub(super) fn items(&self) -> usize {
        match self {
            Self::Offsets(offsets) => offsets.last().saturating_sub(offsets.first()),
            Self::Views(views) => views.lens.iter().copied().fold(0, usize::saturating_add),
        }
    }

    pub(super) fn views(starts: Vec<usize>, lens: Vec<usize>, step: isize) -> Self {
        Self::Views(Arc::new(Views { starts: Arc::new(starts), lens, step }))
    }

    /// Rows with these numbers.
    pub(super) fn picked(&self, rows: impl ExactSizeIterator<Item = usize>) -> Result<Self> {
        let (mut starts, mut lens) =
            (try_with_capacity(rows.len())?, try_with_capacity(rows.len())?);
        for row in rows {
            let run = self.row(row);
            starts.push(run.start);
            lens.push(run.len);
        }
        Ok(Self::views(starts, lens, self.step()))
    }
}

impl Level {
    /// The first of all, with rows at each index of these axes.
    pub(super) fn first(lead: &Shape, bounds: Bounds) -> Self {
        Self { above: 1, extents: lead.iter().copied().collect(), bounds }
    }

    /// Rows of each item of the level above.
    pub(super) fn width(&self) -> usize {
        self.extents.iter().product()
    }

    /// The rows of so many items of the level above.
    pub(super) fn rows_of(&self, items: &Items, count: usize) -> Result<Bounds> {
        let width = self.width();
        let (rows, each) = (count * width, width.max(1));
        match (&self.bounds, items) {
            (Bounds::Offsets(offsets), Items::From(first)) => {
                let first = first * width;
                Ok(Bounds::Offsets(offsets.part(first..first + rows)))
            }
            (bounds, Items::From(0)) if bounds.rows() == rows => Ok(bounds.clone()),
            (bounds, items) => {
                bounds.picked((0..rows).map(|row| items.at(row / each) * width + row % each))
            }
        }
    }
}

/// Where items of a level lie that are counted in row-major order.
pub(super) enum Items {
    /// One after another from this one on.
    From(usize),
    List(Vec<usize>),
}

impl Items {
    pub(super) fn at(&self, item: usize) -> usize {
        match self {
            Self::From(first) => first + item,
            Self::List(items) => items[item],
        }
    }
}

/// The items of rows, one row after another.
pub(super) fn items_of(runs: impl Iterator<Item = Run>, count: usize) -> Result<Vec<usize>> {
    let mut items = try_with_capacity(count)?;
    runs.for_each(|run| items.extend(run.items()));
    Ok(items)
}

/// Brings the rows of a level to row-major order of all axes in front, without gaps; levels above it show all that they
/// have, from item 0 on.
pub(super) fn settle(levels: &mut [Level], number: usize) -> Result<()> {
    let (mut items, mut count) = (Items::From(0), 1);
    for (k, level) in levels.iter_mut().enumerate().take(number + 1) {
        let shape: Shape = once(count).chain(level.extents.iter().copied()).collect();
        shape.count()?;
        let bounds = level.rows_of(&items, count)?;
        level.above = count;
        if k == number {
            level.bounds = bounds;
            break;
        }
        (items, level.bounds) = match bounds {
            Bounds::Offsets(offsets) => {
                (Items::From(offsets.first()), Bounds::Offsets(offsets.rebased()))
            }
            bounds => {
                let (offsets, items) = bounds.gathered()?;
                (Items::List(items), Bounds::Offsets(offsets))
            }
        };
        count = level.bounds.items();
    }
    Ok(())
}

/// Where the items of the rows of the last level lie.
#[derive(Clone)]
pub(super) enum RowItems {
    /// One row after another, from this item on.
    From(usize),
    /// The first of each row, and the distance of neighbours.
    Starts { starts: Arc<Vec<usize>>, step: isize },
}

/// The form, and where rows lie.
#[derive(Clone)]
pub(super) struct Resolved {
    pub(super) form: Form,
    pub(super) rows: RowItems,
}

impl Resolved {
    /// A row of the last var axis, which has the lengths `own`.
    pub(super) fn row(&self, own: &Offsets, row: usize) -> Run {
        let (start, step) = match &self.rows {
            RowItems::From(first) => (first + own.number(row), 1),
            RowItems::Starts { starts, step } => (starts.get(row).copied().unwrap_or(0), *step),
        };
        Run { start, len: own.length(row), step }
    }

    /// The items of the content in row-major order: the first, if they lie one after another, or all of them.
    pub(super) fn items(&self) -> Result<Items> {
        match (&self.rows, self.form.rows()) {
            (RowItems::From(first), _) => Ok(Items::From(*first)),
            (RowItems::Starts { .. }, None) => Ok(Items::From(0)),
            (RowItems::Starts { .. }, Some(own)) => {
                let runs = (0..own.rows()).map(|row| self.row(own, row));
                Ok(Items::List(items_of(runs, own.last())?))
            }
        }
    }

    /// The item of the content that stands at a number in row-major order.
    pub(super) fn item(&self, number: usize) -> usize {
        match (&self.rows, self.form.rows()) {
            (RowItems::From(first), _) => first + number,
            (RowItems::Starts { .. }, None) => number,
            (RowItems::Starts { .. }, Some(own)) => {
                let row = own.row_of(number);
                self.row(own, row).item(number - own.number(row))
            }
        }
    }
}

/// The first of `count` items of axis 0, and those that follow, or the listed ones.
pub(super) fn pick<S>(content: Tensor<S>, items: Items, count: usize) -> Result<Tensor<S>> {
    let extent = content.shape().first().copied().unwrap_or(1);
    match items {
        Items::From(0) if extent == count => Ok(content),
        Items::From(first) => {
            // Of a table that changed.
            let end = first.saturating_add(count);
            if end > extent {
                return Err(Error::OutOfSpan { span: first..end, len: extent });
            }
            content.rewrite(&mut |map| map.slice(0, first..end))
        }
        Items::List(mut list) => {
            if let Some(&item) = list.iter().find(|&&item| item >= extent) {
                return Err(Error::OutOfSpan { span: item..item.saturating_add(1), len: extent });
            }
            content.rewrite(&mut |map| map.select([Select::List(take(&mut list))]))
        }
    }
}

/// The levels of packed content.
pub(super) fn levels_of(form: &Form) -> SmallVec<[Level; 1]> {
    let (mut levels, mut above, mut extents) = (SmallVec::new(), 1, SmallVec::new());
    for axis in &form.axes {
        match axis {
            Axis::Fixed(extent) => extents.push(*extent),
            Axis::Var(rows) => {
                let (extents, bounds) = (take(&mut extents), Bounds::Offsets(rows.clone()));
                levels.push(Level { above, extents, bounds });
                above = rows.last();
            }
        }
    }
    levels
}
