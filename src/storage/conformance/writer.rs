//! Laws of a writer: what is written is read, by whichever method, and nothing else changes.

use super::blocks::{count, elements};
use super::reader::{agree, truth};
use super::sample;
use super::{Report, Violation};
use crate::error::StorageError;
use crate::grid::{PerAxis, Sides};
use crate::storage::Writer;
use std::collections::{HashMap, HashSet};

/// Blocks that are stored as wholes, and that are changed.
const STORED: usize = 8;
/// Elements that are compared after the writes of one law, as all are after each write.
const COMPARED: usize = 1 << 16;

pub(super) fn check<W: Writer + ?Sized>(
    storage: &mut W,
    values: &[W::Elem],
    same: &dyn Fn(&W::Elem, &W::Elem) -> bool,
    report: &mut Report,
) {
    let Some(before) = report.guard("len", 0, || storage.len()) else {
        return;
    };
    if before == 0 || values.is_empty() {
        return;
    }
    let watched = sample::addresses(before);
    let model = watched.iter().map(|&address| truth(&*storage, address, report)).collect();
    let Some(model) = model else {
        return;
    };
    let writes = (COMPARED / watched.len()).min(64);
    let mut laws =
        Laws { storage, same, report, len: before, writes, watched, model, values, turn: 0 };
    laws.single();
    laws.runs();
    laws.scatters();
    laws.slice();
    laws.stores();
    laws.changes();
    laws.splices();
    laws.fills();
    if let Some(after) = report.guard("len", 0, || storage.len()).filter(|&after| after != before) {
        report.add(Violation::Len { before, after });
    }
}

struct Laws<'a, W: Writer + ?Sized> {
    storage: &'a mut W,
    same: &'a dyn Fn(&W::Elem, &W::Elem) -> bool,
    report: &'a mut Report,
    len: usize,
    /// Writes of one law.
    writes: usize,
    /// Addresses that are compared after every write, ascending.
    watched: Vec<usize>,
    /// What they should hold; `None` where reading fails.
    model: Vec<Option<W::Elem>>,
    values: &'a [W::Elem],
    /// Which value comes first. It changes with every write, so that none repeats the one before.
    turn: usize,
}

/// Every law returns `None` where something panics.
impl<W: Writer + ?Sized> Laws<'_, W> {
    /// Some addresses one by one, to see what else changes; then all of them.
    fn single(&mut self) -> Option<()> {
        let all = self.watched.clone();
        let some = self.some_watched();
        for addresses in some.chunks(1).chain([&all[..]]) {
            let possible = self.write("try_write", addresses, |storage, values| {
                let mut writes = addresses.iter().zip(values);
                writes.try_for_each(|(&address, &value)| storage.try_write(address, value))
            })?;
            if possible {
                self.write("write", addresses, |storage, values| {
                    let writes = addresses.iter().zip(values);
                    writes.for_each(|(&address, &value)| storage.write(address, value));
                    Ok(())
                })?;
            }
        }
        Some(())
    }

    fn some_watched(&self) -> Vec<usize> {
        let spacing = self.watched.len().div_ceil(self.writes);
        self.watched.iter().copied().step_by(spacing).collect()
    }

    fn runs(&mut self) -> Option<()> {
        for run in sample::runs(self.len).into_iter().take(self.writes) {
            let addresses: Vec<usize> = run.addresses().collect();
            self.write("write_run", &addresses, |storage, values| {
                storage.write_run(run.start, run.step, values)
            })?;
        }
        Some(())
    }

    fn scatters(&mut self) -> Option<()> {
        for mut addresses in sample::lists(self.len) {
            let mut seen = HashSet::new();
            addresses.retain(|&address| seen.insert(address));
            self.write("write_at", &addresses, |storage, values| {
                storage.write_at(&addresses, values)
            })?;
        }
        Some(())
    }

    fn slice(&mut self) -> Option<()> {
        let (method, len) = ("as_mut_slice", self.len);
        let slice = self.report.guard(method, 0, || self.storage.as_mut_slice())??;
        if slice.len() != len {
            self.report.add(Violation::SliceLen { method, len, found: slice.len() });
            return Some(());
        }
        for (&address, expected) in self.watched.iter().zip(&self.model) {
            if expected.is_some_and(|expected| !(self.same)(&slice[address], &expected)) {
                self.report.add(Violation::Slice { method, address });
            }
        }
        let addresses = self.some_watched();
        self.write(method, &addresses, |storage, values| {
            let slots = storage.as_mut_slice().into_iter().flatten().enumerate();
            let slots = slots.filter(|(address, _)| addresses.binary_search(address).is_ok());
            slots.zip(values).for_each(|((_, slot), &value)| *slot = value);
            Ok(())
        })?;
        Some(())
    }

    /// Some blocks, the last one among them: their indexes, and the address at each of their places that has one.
    fn some_blocks(&mut self) -> Option<Vec<(PerAxis, Vec<Option<usize>>)>> {
        let len = self.len;
        let sides = || self.storage.blocks_mut().and_then(|blocks| Sides::of_len(blocks, len));
        let sides = self.report.guard("blocks_mut", 0, sides)??;
        let spacing = count(&sides).div_ceil(self.writes.min(STORED)).max(1);
        let numbers = (0..count(&sides)).rev().step_by(spacing);
        let places = |index: &PerAxis| {
            let mut places = vec![None; sides.block_len];
            elements(&sides, index).for_each(|(place, address)| places[place] = Some(address));
            places
        };
        let indexes = numbers.filter(|_| sides.block_len <= COMPARED).map(|k| sides.index(k));
        Some(indexes.map(|index| (index.clone(), places(&index))).collect())
    }

    /// Some blocks as wholes.
    fn stores(&mut self) -> Option<()> {
        let filler = *self.values.first()?;
        for (index, places) in self.some_blocks()? {
            let addresses: Vec<usize> = places.iter().flatten().copied().collect();
            self.write("store", &addresses, |storage, values| {
                let mut values = values.iter().copied();
                let mut value = |place: &Option<usize>| place.and_then(|_| values.next());
                let from: Vec<_> =
                    places.iter().map(|place| value(place).unwrap_or(filler)).collect();
                let Some(blocks) = storage.blocks_mut() else { return Ok(()) };
                let stored = blocks.store(&index, &from).and_then(|()| blocks.finish());
                stored.map_err(|error| StorageError::new(addresses[0], error))
            })?;
        }
        Some(())
    }

    /// Every other element of some blocks: as if the block was loaded, changed and stored.
    fn changes(&mut self) -> Option<()> {
        for (index, places) in self.some_blocks()? {
            let mut expected = Vec::new();
            for place in &places {
                let address = place.map(|address| truth(&*self.storage, address, self.report));
                expected.push(address.map_or(Some(None), |element| element)?);
            }
            let same = self.same;
            // The length of what is to be changed, and the first of its places that has another element.
            let (mut found, mut differs) = (None, None);
            let addresses: Vec<usize> = places.iter().step_by(2).flatten().copied().collect();
            self.write("change", &addresses, |storage, values| {
                let Some(blocks) = storage.blocks_mut() else { return Ok(()) };
                let mut change = |block: &mut [W::Elem]| {
                    found = Some(block.len());
                    let mut given = block.iter().zip(&expected);
                    let other = |(given, expected): (&W::Elem, &Option<W::Elem>)| {
                        expected.is_some_and(|expected| !same(given, &expected))
                    };
                    differs = given.position(other);
                    let slots = block.iter_mut().zip(&places).step_by(2);
                    let own = slots.filter(|(_, place)| place.is_some());
                    own.zip(values).for_each(|((slot, _), &value)| *slot = value);
                };
                let changed = blocks.change(&index, &mut change).and_then(|()| blocks.finish());
                changed.map_err(|error| StorageError::new(addresses[0], error))
            })?;
            let (index, len) = (index.to_vec(), places.len());
            if let Some(found) = found.filter(|&found| found != len) {
                self.report.add(Violation::BlockLen { index, found, len });
            } else if let Some(address) = differs.and_then(|place| places[place]) {
                self.report.add(Violation::Block { index, address });
            }
        }
        Some(())
    }

    /// Some entries, each in the place of what is stored at its address; then all of a stretch at once, and every other
    /// one in the place of all.
    fn splices(&mut self) -> Option<()> {
        let fill = self.report.guard("is_fill", 0, || {
            let stored = self.storage.stored_mut()?;
            let fill = stored.fill();
            Some((fill, stored.is_fill(fill)))
        });
        let (fill, known) = fill??;
        if !known {
            self.report.add(Violation::IsFill);
        }
        for address in self.some_watched() {
            let values = self.next_values(1);
            self.splice(&[address], values)?;
        }
        let watched = self.watched.clone();
        for stretch in watched.chunks(watched.len().div_ceil(4)) {
            // Between these are no others, whose entries it would have to keep.
            if stretch[stretch.len() - 1] - stretch[0] < stretch.len() {
                let mut values = self.next_values(stretch.len());
                self.splice(stretch, values.clone())?;
                values.iter_mut().skip(1).step_by(2).for_each(|value| *value = fill);
                self.splice(stretch, values)?;
            }
        }
        Some(())
    }

    fn splice(&mut self, addresses: &[usize], values: Vec<W::Elem>) -> Option<bool> {
        let (first, last) = (*addresses.first()?, *addresses.last()?);
        self.put("splice", addresses, values, |storage, values| {
            let Some(stored) = storage.stored_mut() else { return Ok(()) };
            let old = stored.rank(first)..stored.rank(last + 1);
            let new = addresses.iter().copied().zip(values.iter().copied());
            let (at, new) = new.filter(|(_, value)| !stored.is_fill(*value)).unzip();
            stored.splice(old, at, new).map_err(|error| StorageError::new(first, error))
        })
    }

    /// Another fill value, then the old one: addresses without an entry have it, unless it is refused or that of others.
    fn fills(&mut self) -> Option<()> {
        let known = self.report.guard("owns_fill", 0, || {
            let stored = self.storage.stored_mut()?;
            let (fill, owns) = (stored.fill(), stored.owns_fill());
            let other = self.values.iter().copied().find(|value| !stored.is_fill(*value))?;
            let is_empty = |address: usize| stored.rank(address) == stored.rank(address + 1);
            let watched = self.watched.iter().copied().filter(|_| owns);
            Some((fill, other, watched.filter(|&address| is_empty(address)).collect::<Vec<_>>()))
        });
        let (fill, other, empty) = known??;
        for value in [other, fill] {
            let taken = self.report.guard("set_fill", 0, || {
                self.storage.stored_mut().is_some_and(|stored| stored.set_fill(value).is_ok())
            })?;
            let addresses = if taken { &empty[..] } else { &[] };
            self.put("set_fill", addresses, vec![value; addresses.len()], |_, _| Ok(()))?;
        }
        Some(())
    }

    fn next_values(&mut self, count: usize) -> Vec<W::Elem> {
        self.turn += 1;
        let values = self.values.iter().copied().cycle().skip(self.turn % self.values.len());
        values.take(count).collect()
    }

    /// Writes the next values, see [`Self::put`].
    fn write(
        &mut self,
        method: &'static str,
        addresses: &[usize],
        write: impl FnOnce(&mut W, &[W::Elem]) -> Result<(), StorageError>,
    ) -> Option<bool> {
        let values = self.next_values(addresses.len());
        self.put(method, addresses, values, write)
    }

    /// Writes values to different `addresses`, then compares all watched ones. Returns whether the
    /// writer reports success.
    fn put(
        &mut self,
        method: &'static str,
        addresses: &[usize],
        values: Vec<W::Elem>,
        write: impl FnOnce(&mut W, &[W::Elem]) -> Result<(), StorageError>,
    ) -> Option<bool> {
        let written: HashMap<usize, W::Elem> =
            addresses.iter().copied().zip(values.clone()).collect();
        let first = addresses.first().copied().unwrap_or(0);
        let outcome = self.report.guard(method, first, || write(self.storage, &values));
        if let Some(Err(error)) = &outcome {
            self.failed(method, first, error.address, &written);
        }
        let complete = matches!(outcome, Some(Ok(())));
        for (k, &address) in self.watched.iter().enumerate() {
            let found = truth(&*self.storage, address, self.report)?;
            match written.get(&address) {
                Some(&value) if complete && !agree(self.same, found, Some(value)) => {
                    self.report.add(Violation::Written { method, address });
                }
                None if !agree(self.same, found, self.model[k]) => {
                    self.report.add(Violation::Elsewhere { method, written: first, address });
                }
                _ => {}
            }
            self.model[k] = found;
        }
        outcome.map(|_| complete)
    }

    /// A failure names one of the addresses, and not every element of it can be written alone.
    fn failed(
        &mut self,
        method: &'static str,
        first: usize,
        named: usize,
        written: &HashMap<usize, W::Elem>,
    ) {
        if !written.contains_key(&named) {
            self.report.add(Violation::ErrorAddress { method, address: first, named });
        }
        let mut alone = written.iter().map(|(&address, &value)| {
            self.report.guard("try_write", address, || self.storage.try_write(address, value))
        });
        if method != "try_write" && alone.all(|outcome| matches!(outcome, Some(Ok(())))) {
            self.report.add(Violation::Fails { method, address: first });
        }
    }
}
