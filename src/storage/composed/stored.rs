//! The entries of sparse storages one after another.

use super::Concat;
use crate::dtype::same_element;
use crate::error::Result;
use crate::memory::try_with_capacity;
use crate::storage::{Reader, Stored};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

    /// Entries of a part in the rows before `row`.
    fn rank_in(&self, which: usize, row: usize) -> usize {
        let entries = self.entries_of(which);
        entries.map_or(0, |own| own.rank(row * self.columns(which).len()))
    }

    /// Where the elements of a part are in a row.
    fn columns(&self, which: usize) -> std::ops::Range<usize> {
        which.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[which]
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
        let width = self.width();
        // The last row that begins with entry `from` or one before it.
        let (mut row, mut end) = (0, self.rows);
        while end - row > 1 {
            let middle = row.midpoint(end);
            if self.rank(middle * width) <= from { row = middle } else { end = middle }
        }
        let mut passed = from.saturating_sub(self.rank(row * width));
        let row_of = |which: usize, ordinal: usize| {
            let own = self.entries_of(which).filter(|own| ordinal < own.count())?;
            let mut address = [0];
            let found = own.entries(ordinal, &mut address, &mut [own.fill()]);
            let row = address[0] / self.columns(which).len().max(1);
            // What lies is left out.
            (found > 0 && row < self.rows).then_some(row)
        };
        let next = |which: usize, ordinal| Some(Reverse((row_of(which, ordinal)?, which, ordinal)));
        let firsts =
            (0..self.parts.len()).filter_map(|which| next(which, self.rank_in(which, row)));
        let (mut waiting, mut copied) = (BinaryHeap::from_iter(firsts), 0);
        while let Some(Reverse((row, which, first))) = waiting.pop().filter(|_| copied < room) {
            let (Some(own), columns) = (self.entries_of(which), self.columns(which)) else { break };
            let in_row = self.rank_in(which, row.saturating_add(1)).saturating_sub(first);
            let before = passed.min(in_row);
            passed -= before;
            let these = copied..copied + (in_row - before).min(room - copied);
            let (to, values) = (&mut addresses[these.clone()], &mut values[these.clone()]);
            let found = own.entries(first + before, to, values).min(these.len());
            for address in &mut to[..found] {
                let within = address.wrapping_sub(row * columns.len());
                *address = (row * width + columns.start).wrapping_add(within);
            }
            copied += found;
            if in_row == 0 || found < these.len() {
                break;
            }
            waiting.extend(next(which, first + in_row));
        }
        copied
    }

    fn as_slices(&self) -> Option<(&[usize], &[R::Elem])> {
        match &self.parts[..] {
            [only] => only.stored()?.as_slices(),
            _ => None,
        }
    }
}
