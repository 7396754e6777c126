//! The entries of sparse storages one after another.

use super::Concat;
use crate::dtype::same_element;
use crate::error::Result;
use crate::memory::{resize, try_with_capacity};
use crate::storage::{Reader, Stored};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Entries of the parts before each, and of all, if all parts are sparse with one fill value.
pub(super) fn entries_before<R: Reader>(parts: &[R]) -> Result<Option<Vec<usize>>> {
    let Some(fill) = parts.first().and_then(Reader::stored).map(Stored::fill) else {
        return Ok(None);
    };
    let (mut before, mut all) = (try_with_capacity(parts.len() + 1)?, 0_usize);
    before.push(all);
    for part in parts {
        match part.stored().filter(|own| same_element(own.fill(), fill)) {
            Some(own) => all = all.saturating_add(own.count()),
            None => return Ok(None),
        }
        before.push(all);
    }
    Ok(Some(before))
}

impl<R: Reader> Concat<R> {
    /// The entries of a part; those of sparse storage alone are asked for.
    fn entries_of(&self, which: usize) -> Option<&dyn Stored<Elem = R::Elem>> {
        self.parts.get(which)?.stored()
    }

    /// Where the elements of a part are in a row.
    fn columns(&self, which: usize) -> Range<usize> {
        which.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[which]
    }

    /// The entries of a single row, from `from` on: those of one part, then those of the next.
    fn one_by_one(
        &self,
        before: &[usize],
        from: usize,
        addresses: &mut [usize],
        values: &mut [R::Elem],
    ) -> usize {
        let first = before.partition_point(|&count| count <= from).saturating_sub(1);
        let (mut passed, mut copied) = (from - before[first], 0);
        for which in first..self.parts.len() {
            let Some(own) = self.entries_of(which).filter(|_| copied < values.len()) else { break };
            let these = (before[which + 1] - before[which]).saturating_sub(passed);
            let these = copied..copied.saturating_add(these).min(values.len());
            let to = &mut addresses[these.clone()];
            let found = own.entries(passed, to, &mut values[these.clone()]).min(to.len());
            let start = self.columns(which).start;
            to[..found].iter_mut().for_each(|address| *address = address.wrapping_add(start));
            copied += found;
            if found < these.len() {
                break;
            }
            passed = 0;
        }
        copied
    }

    /// The entries of rows of all parts, from `from` on.
    fn merged(
        &self,
        from: usize,
        addresses: &mut [usize],
        values: &mut [R::Elem],
    ) -> Result<usize> {
        let (room, width) = (values.len(), self.width());
        // The last row that begins with entry `from` or one before it.
        let (mut row, mut end) = (0, if from == 0 { 1 } else { self.rows });
        while end - row > 1 {
            let middle = row.midpoint(end);
            if self.rank(middle * width) <= from { row = middle } else { end = middle }
        }
        let mut passed = if row == 0 { from } else { from - self.rank(row * width).min(from) };
        let most = room.checked_div(self.parts.len()).unwrap_or(0).clamp(LEAST, MOST);
        let (mut parts, mut waiting) =
            (try_with_capacity(self.parts.len())?, try_with_capacity(self.parts.len())?);
        for which in 0..self.parts.len() {
            let Some(own) = self.entries_of(which) else { continue };
            let columns = self.columns(which);
            let first = if row == 0 { 0 } else { own.rank(row * columns.len()) };
            let mut part = Ahead::new(own, columns, first, most)?;
            if let Some(row) = part.row().filter(|&row| row < self.rows) {
                waiting.push(Reverse((row, parts.len())));
                parts.push(part);
            }
        }
        let (mut waiting, mut copied) = (BinaryHeap::from(waiting), 0);
        while let Some(Reverse((row, which))) = waiting.pop().filter(|_| copied < room) {
            let part: &mut Ahead<'_, R::Elem> = &mut parts[which];
            let next = loop {
                let found = part.of_row(row);
                let before = passed.min(found.len());
                passed -= before;
                let count = (found.len() - before).min(room - copied);
                let found = found.start + before..found.start + before + count;
                let slots = addresses[copied..].iter_mut().zip(&mut values[copied..]);
                let entries = part.addresses[found.clone()].iter().zip(&part.values[found]);
                let (first, own) = (row * width + part.columns.start, row * part.columns.len());
                for ((address, value), (at, entry)) in slots.zip(entries) {
                    (*address, *value) = (first + (at - own), *entry);
                }
                copied += count;
                match part.row().filter(|&next| next < self.rows) {
                    // What was read ahead ended within the row.
                    Some(next) if next == row && copied < room => {}
                    next => break next,
                }
            };
            waiting.extend(next.map(|next| Reverse((next, which))));
        }
        Ok(copied)
    }
}

/// Entries of a part that are read ahead.
const LEAST: usize = 16;
const MOST: usize = 1 << 12;

/// The entries of a part, read ahead unless they are in memory.
struct Ahead<'a, T: Copy> {
    own: &'a dyn Stored<Elem = T>,
    columns: Range<usize>,
    addresses: Cow<'a, [usize]>,
    values: Cow<'a, [T]>,
    /// Which of those that are read ahead comes next, and how many there are.
    at: usize,
    len: usize,
    /// Ordinal of the first that was not read, if one may be left.
    rest: Option<usize>,
}

impl<'a, T: Copy> Ahead<'a, T> {
    /// The entries from ordinal `first` on, of which up to `most` are read at once.
    fn new(
        own: &'a dyn Stored<Elem = T>,
        columns: Range<usize>,
        first: usize,
        most: usize,
    ) -> Result<Self> {
        if let Some((addresses, values)) = own.as_slices() {
            let len = addresses.len().min(values.len());
            let (addresses, values) = (Cow::Borrowed(addresses), Cow::Borrowed(values));
            return Ok(Self {
                own,
                columns,
                addresses,
                values,
                at: first.min(len),
                len,
                rest: None,
            });
        }
        let count = own.count();
        let most = most.min(count.saturating_sub(first));
        let (mut addresses, mut values) = (Vec::new(), Vec::new());
        resize(&mut addresses, most, 0)?;
        resize(&mut values, most, own.fill())?;
        let (addresses, values) = (Cow::Owned(addresses), Cow::Owned(values));
        Ok(Self { own, columns, addresses, values, at: 0, len: 0, rest: Some(first) })
    }

    /// The row of the next entry.
    fn row(&mut self) -> Option<usize> {
        if self.at == self.len {
            let rest = self.rest?;
            let (addresses, values) = (self.addresses.to_mut(), self.values.to_mut());
            let room = addresses.len().min(self.own.count().saturating_sub(rest));
            let found = self.own.entries(rest, &mut addresses[..room], &mut values[..room]);
            (self.at, self.len) = (0, found.min(room));
            let rest = rest.saturating_add(self.len);
            self.rest = (self.len > 0 && rest < self.own.count()).then_some(rest);
        }
        let next = self.addresses[..self.len].get(self.at)?;
        next.checked_div(self.columns.len())
    }

    /// Those of `row` that were read, from the next entry on.
    fn of_row(&mut self, row: usize) -> Range<usize> {
        let width = self.columns.len();
        let left = &self.addresses[self.at..self.len];
        let count = left.iter().take_while(|at| at.wrapping_sub(row * width) < width).count();
        self.at += count;
        self.at - count..self.at
    }
}

/// Of storages that are not all sparse there are none to ask for.
impl<R: Reader> Stored for Concat<R> {
    type Elem = R::Elem;

    fn fill(&self) -> R::Elem {
        self.entries_of(0).map_or_else(|| self.read(0), Stored::fill)
    }

    fn count(&self) -> usize {
        self.before.as_ref().and_then(|before| before.last().copied()).unwrap_or(0)
    }

    fn rank(&self, address: usize) -> usize {
        let width = self.width();
        let (row, along) = match address.checked_div(width) {
            Some(row) if row < self.rows => (row, address % width),
            Some(_) => return self.count(),
            None => return 0,
        };
        let below = |which: usize| {
            let columns = self.columns(which);
            let within = along.saturating_sub(columns.start).min(columns.len());
            self.entries_of(which).map_or(0, |own| own.rank(row * columns.len() + within))
        };
        match &self.before {
            // Parts before the one that holds the address are counted already.
            Some(before) if self.rows == 1 => {
                let which = self.ends.partition_point(|&end| end <= along);
                before[which].saturating_add(below(which))
            }
            _ => (0..self.parts.len()).map(below).fold(0, usize::saturating_add),
        }
    }

    /// From part to part, in the order of the rows in which they have entries.
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [R::Elem]) -> usize {
        let room = addresses.len().min(values.len()).min(self.count().saturating_sub(from));
        let (addresses, values) = (&mut addresses[..room], &mut values[..room]);
        match &self.before {
            Some(before) if self.rows == 1 => self.one_by_one(before, from, addresses, values),
            // What has no memory is missing.
            _ => self.merged(from, addresses, values).unwrap_or(0),
        }
    }

    fn as_slices(&self) -> Option<(&[usize], &[R::Elem])> {
        match &self.parts[..] {
            [only] => only.stored()?.as_slices(),
            _ => None,
        }
    }
}
