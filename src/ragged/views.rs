//! Views: rows with other lengths, and items in another order. No element is read.

use super::Ragged;
use super::form::{Axis, Extent, Form, content_shape, path};
use super::levels::{Bounds, Items, Level, Run, levels_of, pick, settle};
use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::map::{AddressMap, Select};
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::tensor::{Tensor, inverse};
use smallvec::SmallVec;

/// Which items of something else are shown: a tensor without storage.
pub(super) type Shown = Ragged<()>;

/// The items of a form, shown as they are.
pub(super) fn numbered(form: &Form) -> Result<Shown> {
    let map = AddressMap::row_major(content_shape(form))?;
    Ok(Ragged::of(levels_of(form), Tensor::from_parts(map, ())))
}

impl Shown {
    /// The same items of a storage that has them in row-major order.
    pub(super) fn over<S>(self, storage: S) -> Ragged<S> {
        self.with_storage(|()| storage)
    }
}

/// What an axis is part of.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Position among the fixed axes in front of the rows of a level; after the last if it is their number.
    Fixed(usize, usize),
    Var(usize),
}

impl<S> Ragged<S> {
    pub(super) fn place(&self, axis: usize) -> Result<Place> {
        let mut first = 0;
        for (number, level) in self.levels.iter().enumerate() {
            let rows = first + level.extents.len();
            if axis < rows {
                return Ok(Place::Fixed(number, axis - first));
            }
            if axis == rows {
                return Ok(Place::Var(number));
            }
            first = rows + 1;
        }
        if axis < self.rank() {
            return Ok(Place::Fixed(self.levels.len(), axis - first));
        }
        Err(Error::Axis { axis, rank: self.rank() })
    }

    /// A level of which upper ones show a part, settled to that.
    pub(super) fn trimmed(mut self, number: usize) -> Result<Self> {
        for k in 1..self.levels.len().min(number + 1) {
            if self.levels[k - 1].bounds.items() < self.levels[k].above {
                self = self.settled(k)?;
            }
        }
        Ok(self)
    }

    /// Changes the fixed axes in front of a level, or after the last. The map has so many axes more, the first: one, or
    /// none where there is no level.
    pub(super) fn change(
        self,
        number: usize,
        change: &mut dyn FnMut(AddressMap, usize) -> Result<AddressMap>,
    ) -> Result<Self> {
        let mut shown = self.trimmed(number)?;
        let Some(level) = shown.levels.get(number) else {
            let first = usize::from(!shown.levels.is_empty());
            let content = shown.content.rewrite(&mut |map| change(map, first))?;
            return Ok(Self::of(shown.levels, content));
        };
        let shape: Shape =
            std::iter::once(level.above).chain(level.extents.iter().copied()).collect();
        let map = change(AddressMap::row_major(&shape)?, 1)?;
        let bounds = match &level.bounds {
            Bounds::Offsets(offsets) if map.is_contiguous() => {
                let first = map.span().start;
                Bounds::Offsets(offsets.part(first..first + map.count()))
            }
            bounds => bounds.picked((0..map.count()).map(|position| map.address_at(position)))?,
        };
        let extents = map.shape().iter().skip(1).copied().collect();
        shown.levels[number] = Level { above: level.above, extents, bounds };
        Ok(Self::of(shown.levels, shown.content))
    }

    /// With a level settled: see [`settle`].
    pub(super) fn settled(mut self, number: usize) -> Result<Self> {
        settle(&mut self.levels, number)?;
        Ok(Self::of(self.levels, self.content))
    }

    /// One index for each axis in front of a row of a level that is settled.
    pub(super) fn row_path(&self, number: usize, row: usize) -> Vec<usize> {
        let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
        for (k, level) in self.levels.iter().enumerate().take(number + 1) {
            axes.extend(level.extents.iter().map(|&extent| Axis::Fixed(extent)));
            if let (true, Bounds::Offsets(offsets)) = (k < number, &level.bounds) {
                axes.push(Axis::Var(offsets.clone()));
            }
        }
        path(&axes, axes.len(), row)
    }

    /// Replaces the items below the rows of a level, numbered as it numbers them, by these.
    pub(super) fn regathered(mut self, number: usize, items: Vec<usize>) -> Result<Self> {
        let count = items.len();
        let Some(below) = self.levels.get_mut(number + 1) else {
            let content = pick(self.content, Items::List(items), count)?;
            return Ok(Self::of(self.levels, content));
        };
        below.bounds = below.rows_of(&Items::List(items), count)?;
        below.above = count;
        Ok(Self::of(self.levels, self.content))
    }

    /// The rows of a settled level with these items, row by row.
    pub(super) fn with_rows(
        mut self,
        number: usize,
        rows: Offsets,
        items: Vec<usize>,
    ) -> Result<Self> {
        self.levels[number].bounds = Bounds::Offsets(rows);
        self.regathered(number, items)
    }

    /// Makes the rows of a settled level fixed axes: those in front of it and `extents`, with these items.
    pub(super) fn fixed(self, number: usize, extents: &[usize], items: Items) -> Result<Self> {
        let Self { mut levels, content, .. } = self;
        let level = levels.remove(number);
        let front: SmallVec<[usize; 4]> = level.extents.iter().chain(extents).copied().collect();
        let tail = content.shape();
        let behind = match levels.get(number) {
            Some(below) => &below.extents[..],
            None => tail.get(1..).unwrap_or_default(),
        };
        // Without items extents may be any, but levels have those of a shape that can be counted.
        let above = (number > 0).then_some(level.above);
        let to: Shape = above.into_iter().chain(front.iter().chain(behind).copied()).collect();
        to.count()?;
        let count = level.above * front.iter().product::<usize>();
        if let Some(below) = levels.get_mut(number) {
            below.bounds = below.rows_of(&items, count)?;
            below.extents = to.iter().skip(usize::from(number > 0)).copied().collect();
            below.above = level.above;
            return Ok(Self::of(levels, content));
        }
        let content = pick(content, items, count)?;
        let content = content.rewrite(&mut |map| map.reshape(to.clone()))?;
        Ok(Self::of(levels, content))
    }

    pub(super) fn runs(&self, number: usize) -> impl ExactSizeIterator<Item = Run> {
        self.levels[number].bounds.runs()
    }

    /// Refuses a settled level that has a row of another length.
    pub(super) fn check_lengths(&self, number: usize, axis: usize, expected: usize) -> Result<()> {
        match self.runs(number).enumerate().find(|(_, run)| run.len != expected) {
            Some((row, Run { len: items, .. })) => {
                let row = self.row_path(number, row);
                Err(Error::RowLength { row, axis, items, expected })
            }
            None => Ok(()),
        }
    }

    pub(super) fn flipped(self, axis: usize) -> Result<Self> {
        self.place(axis)?;
        self.selected_of(axis, axis, &Select::Reverse)
    }

    pub(super) fn rotated(self, shifts: &[isize]) -> Result<Self> {
        let rank = self.rank();
        if shifts.len() != rank {
            return Err(Error::Rank { what: "shifts", expected: rank, found: shifts.len() });
        }
        let mut shown = self;
        for (axis, &shift) in shifts.iter().enumerate().filter(|(_, shift)| **shift != 0) {
            shown = match shown.place(axis)? {
                Place::Fixed(number, position) => shown.change(number, &mut |map, first| {
                    let mut all: SmallVec<[isize; 4]> = SmallVec::from_elem(0, map.rank());
                    all[position + first] = shift;
                    map.rotate(&all)
                })?,
                Place::Var(number) => {
                    let shown = shown.settled(number)?;
                    let rows = Offsets::from_lengths(shown.runs(number).map(|run| run.len))?;
                    let mut items = try_with_capacity(rows.last())?;
                    for run in shown.runs(number).filter(|run| run.len > 0) {
                        let len = run.len as i128;
                        let first = (-(shift as i128)).rem_euclid(len) as usize;
                        items.extend((first..run.len).chain(0..first).map(|k| run.item(k)));
                    }
                    shown.with_rows(number, rows, items)?
                }
            };
        }
        Ok(shown)
    }

    pub(super) fn transposed(self, order: &[usize]) -> Result<Self> {
        let rank = self.rank();
        let mut seen = vec![false; rank];
        let valid = order.len() == rank
            && order.iter().all(|&axis| axis < rank && !std::mem::replace(&mut seen[axis], true));
        if !valid {
            return Err(Error::Permutation { order: order.to_vec(), rank });
        }
        nothing_crosses(&self.kinds(), order)?;
        let (mut shown, mut first) = (self, 0);
        for number in 0..=shown.levels.len() {
            let count = match shown.levels.get(number) {
                Some(level) => level.extents.len(),
                None => rank - first,
            };
            let own = &order[first..first + count];
            if own.iter().enumerate().any(|(k, &axis)| axis != first + k) {
                shown = shown.change(number, &mut |map, before| {
                    let own = own.iter().map(|&axis| axis - first + before);
                    map.transpose((0..before).chain(own).collect::<SmallVec<[usize; 8]>>())
                })?;
            }
            first += count + 1;
        }
        Ok(shown)
    }

    pub(super) fn inserted(self, axis: usize) -> Result<Self> {
        let rank = self.rank();
        let (number, position) = match axis.checked_sub(1) {
            None => (0, 0),
            Some(_) if axis > rank => return Err(Error::Axis { axis, rank }),
            Some(front) => match self.place(front)? {
                Place::Fixed(number, position) => (number, position + 1),
                Place::Var(number) => (number + 1, 0),
            },
        };
        Shape::check_rank(rank + 1)?;
        self.change(number, &mut |map, first| map.insert_axis(position + first))
    }

    pub(super) fn removed(self, axis: usize) -> Result<Self> {
        match self.place(axis)? {
            Place::Fixed(number, position) => self.change(number, &mut |map, first| {
                map.remove_axis(position + first).map_err(|error| renamed(error, axis))
            }),
            Place::Var(number) => {
                let shown = self.settled(number)?;
                shown.check_lengths(number, axis, 1)?;
                shown.selected_of(axis, axis, &Select::Index(0))
            }
        }
    }

    /// The axes in their order, of which two are named, with a change to it.
    pub(super) fn reordered(
        self,
        named: [usize; 2],
        change: impl FnOnce(&mut Vec<usize>),
    ) -> Result<Self> {
        named.into_iter().try_for_each(|axis| self.place(axis).map(drop))?;
        let mut order: Vec<usize> = (0..self.rank()).collect();
        change(&mut order);
        self.transposed(&order)
    }
}

/// Refuses orders in which an axis crosses a var axis.
pub(super) fn nothing_crosses(kinds: &[Extent], order: &[usize]) -> Result<()> {
    let rank = kinds.len();
    let to = inverse(order);
    let vars = || (0..rank).filter(|&axis| kinds[axis] == Extent::Var);
    for fixed_first in [false, true] {
        for axis in (0..rank).filter(|&axis| fixed_first || kinds[axis] != Extent::Var) {
            if let Some(crossed) =
                vars().find(|&var| var != axis && (axis < var) != (to[axis] < to[var]))
            {
                return Err(Error::RaggedAxes { axis, crossed });
            }
        }
    }
    Ok(())
}

/// An error of an axis that has another number in a part.
pub(super) fn renamed(mut error: Error, to: usize) -> Error {
    if let Error::Index { axis, .. }
    | Error::ZeroStep { axis }
    | Error::ListLength { axis, .. }
    | Error::Removed { axis, .. } = &mut error
    {
        *axis = to;
    }
    error
}
