//! Laws of sparse storage: entries ascend, agree with `try_read`, and all else is the fill.

use super::reader::truth;
use super::sample::{self, Random, TRIED};
use super::{Report, Violation};
use crate::storage::{Reader, Stored};

type Entry<T> = (usize, T);

/// `None` where something panics.
pub(super) fn check<R: Reader + ?Sized>(
    storage: &R,
    same: &dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &mut Report,
) -> Option<()> {
    let stored = report.guard("stored", 0, || storage.stored())??;
    let facts = report.guard("fill", 0, || (stored.fill(), stored.count(), storage.len()));
    let (fill, count, len) = facts?;
    let mut laws = Laws { storage, stored, fill, count, len, same, report };

    // From the start: all entries of few, the first ones of many. They are compared whole.
    let head = laws.entries(0, count.min(TRIED))?;
    laws.ordered(0, &head);
    laws.values(0, &head);
    laws.between(&head);
    laws.chunks(&head);
    laws.slices(&head);
    if count > TRIED {
        laws.far_entries()?;
        laws.far_between(&head)?;
    }
    Some(())
}

struct Laws<'a, R: Reader + ?Sized> {
    storage: &'a R,
    stored: &'a dyn Stored<Elem = R::Elem>,
    fill: R::Elem,
    count: usize,
    len: usize,
    same: &'a dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &'a mut Report,
}

/// Every law returns `None` where something panics.
impl<R: Reader + ?Sized> Laws<'_, R> {
    /// Up to `room` entries from ordinal `from` on.
    fn entries(&mut self, from: usize, room: usize) -> Option<Vec<Entry<R::Elem>>> {
        self.entries_to(from, [room; 2])
    }

    /// The same to slices of these lengths, of which the shorter one says how much is wanted.
    fn entries_to(&mut self, from: usize, rooms: [usize; 2]) -> Option<Vec<Entry<R::Elem>>> {
        let (mut addresses, mut values) = (vec![usize::MAX; rooms[0]], vec![self.fill; rooms[1]]);
        let found = self
            .report
            .guard("entries", from, || self.stored.entries(from, &mut addresses, &mut values))?;
        let expected = rooms[0].min(rooms[1]).min(self.count.saturating_sub(from));
        if found != expected {
            self.report.add(Violation::EntryCount { from, expected, found });
        }
        Some(addresses.into_iter().zip(values).take(found).collect())
    }

    fn truth(&mut self, address: usize) -> Option<Option<R::Elem>> {
        truth(self.storage, address, self.report)
    }

    fn ordered(&mut self, from: usize, entries: &[Entry<R::Elem>]) {
        let len = self.len;
        for (k, &(address, _)) in entries.iter().enumerate() {
            let ordinal = from + k;
            if address >= len {
                self.report.add(Violation::EntryRange { ordinal, address, len });
            }
            let previous = k.checked_sub(1).map(|before| entries[before].0);
            if let Some(previous) = previous.filter(|&previous| previous >= address) {
                self.report.add(Violation::EntryOrder { ordinal, previous, address });
            }
        }
    }

    fn values(&mut self, from: usize, entries: &[Entry<R::Elem>]) -> Option<()> {
        let len = self.len;
        let inside = entries.iter().enumerate().filter(|(_, entry)| entry.0 < len);
        for (k, &(address, value)) in inside {
            let element = self.truth(address)?;
            if element.is_some_and(|element| !(self.same)(&element, &value)) {
                self.report.add(Violation::EntryValue { ordinal: from + k, address });
            }
        }
        Some(())
    }

    /// Addresses without an entry, and ranks, as far as the known entries decide them.
    fn between(&mut self, head: &[Entry<R::Elem>]) -> Option<()> {
        let known_below = if head.len() == self.count {
            self.len
        } else {
            head.last().map_or(0, |&(address, _)| address.min(self.len))
        };
        for address in sample::addresses(known_below) {
            let expected = head.partition_point(|&(entry, _)| entry < address);
            self.rank(address, expected)?;
            let stored = head.get(expected).is_some_and(|&(entry, _)| entry == address);
            let element = self.truth(address)?;
            if !stored && element.is_some_and(|element| !(self.same)(&element, &self.fill)) {
                self.report.add(Violation::Fill { address });
            }
        }
        self.rank(0, 0)?;
        self.rank(self.len, self.count)
    }

    fn rank(&mut self, address: usize, expected: usize) -> Option<()> {
        let found = self.report.guard("rank", address, || self.stored.rank(address))?;
        if found != expected {
            self.report.add(Violation::Rank { address, expected, found });
        }
        Some(())
    }

    /// Entries asked for in other portions are the same ones.
    fn chunks(&mut self, head: &[Entry<R::Elem>]) -> Option<()> {
        for room in [1, 2, 3, 64, 257] {
            let starts = (0..head.len()).step_by(room);
            for from in starts.chain([head.len().saturating_sub(1)]).take(TRIED / 4) {
                let part = self.entries(from, room)?;
                let wrong = head[from.min(head.len())..]
                    .iter()
                    .zip(&part)
                    .position(|(a, b)| a.0 != b.0 || !(self.same)(&a.1, &b.1));
                if let Some(k) = wrong {
                    self.report.add(Violation::EntryChunk { ordinal: from + k, from, room });
                }
            }
        }
        self.entries(0, 0)?;
        self.entries(self.count, 3)?;
        self.entries_to(0, [5, 2])?;
        self.entries_to(0, [2, 5]).map(drop)
    }

    /// Entries that lie in memory are the same ones.
    fn slices(&mut self, head: &[Entry<R::Elem>]) -> Option<()> {
        let stored = self.stored;
        let (addresses, values) = self.report.guard("as_slices", 0, || stored.as_slices())??;
        let (expected, found) = (self.count, addresses.len().min(values.len()));
        if found != expected || addresses.len() != values.len() {
            self.report.add(Violation::EntryCount { from: 0, expected, found });
        }
        let pairs = addresses.iter().zip(values).zip(head);
        for (k, ((&address, value), entry)) in pairs.enumerate() {
            if address != entry.0 || !(self.same)(value, &entry.1) {
                self.report.add(Violation::EntryChunk { ordinal: k, from: 0, room: expected });
            }
        }
        Some(())
    }

    /// Of many entries, some further on: they agree with `try_read` and with their ranks.
    fn far_entries(&mut self) -> Option<()> {
        let mut random = Random::new(self.count);
        let last = self.count - 8;
        let starts = (0..64).map(|k| if k == 0 { last } else { random.below(last) });
        for from in starts.collect::<Vec<_>>() {
            let entries = self.entries(from, 8)?;
            self.ordered(from, &entries);
            self.values(from, &entries)?;
            for (k, &(address, _)) in entries.iter().enumerate() {
                self.rank(address, from + k)?;
            }
        }
        Some(())
    }

    /// Of many entries, addresses beyond the first ones: a rank stands between two entries, and what is no entry is the
    /// fill.
    fn far_between(&mut self, head: &[Entry<R::Elem>]) -> Option<()> {
        let known = head.last()?.0;
        for address in sample::addresses(self.len).into_iter().filter(|&address| address > known) {
            let rank = self.report.guard("rank", address, || self.stored.rank(address))?;
            let before = rank.clamp(1, self.count) - 1;
            let around = self.entries(before, 2)?;
            let next = around.get(1).map(|entry| entry.0);
            if rank != before + 1
                || around.first().is_none_or(|entry| entry.0 >= address)
                || next.is_some_and(|next| next < address)
            {
                let expected = self.below(address)?;
                return self.rank(address, expected);
            }
            let element = self.truth(address)?;
            let is_fill = element.is_none_or(|element| (self.same)(&element, &self.fill));
            if next != Some(address) && !is_fill {
                self.report.add(Violation::Fill { address });
            }
        }
        Some(())
    }

    /// Entries below an address, counted without ranks.
    fn below(&mut self, address: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.entries(middle, 1)?.first() {
                Some(entry) if entry.0 < address => low = middle + 1,
                _ => high = middle,
            }
        }
        Some(low)
    }
}
