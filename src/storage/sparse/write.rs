//! Writing sparse storage: values equal to the fill erase, blocks are merged in one sweep.

use super::sort::sorted_entries;
use super::{Sparse, check_counts};
use crate::dtype::SameBits;
use crate::error::{Result, StorageError};
use crate::memory::{list, try_reserve, try_with_capacity};
use crate::storage::{StoredMut, Writer, check_address, stepped};
use std::ops::Range;

impl<T: SameBits + Send + Sync> Sparse<T> {
    /// Writes `value` to a range of addresses: the fill value erases all entries there, any other takes
    /// an entry for every address.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`](crate::Error::OutOfSpan) if the range does not lie inside,
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the entries cannot be kept.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let mut s = Sparse::from_sorted(1 << 40, 0, vec![2, 5, 8], vec![1, 2, 3])?;
    /// s.set_constant(0..6, 0)?;
    /// s.set_constant(9..11, 4)?;
    /// assert!(s.iter().eq([(8, 3), (9, 4), (10, 4)]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn set_constant(&mut self, range: Range<usize>, value: T) -> Result<()> {
        self.check_range(&range)?;
        let ordinals = self.ordinals(range.clone());
        let count = if value.same_bits(self.fill) { 0 } else { range.len() };
        self.replace(ordinals, range.take(count), std::iter::repeat_n(value, count))
    }

    /// Puts other entries in the place of those with the given ordinals.
    fn replace(
        &mut self,
        ordinals: Range<usize>,
        addresses: impl ExactSizeIterator<Item = usize>,
        values: impl ExactSizeIterator<Item = T>,
    ) -> Result<()> {
        let more = addresses.len().saturating_sub(ordinals.len());
        try_reserve(&mut self.addresses, more)?;
        try_reserve(&mut self.values, more)?;
        self.addresses.splice(ordinals.clone(), addresses);
        self.values.splice(ordinals, values);
        Ok(())
    }

    /// Merges writes in ascending order of address, none of them twice; later ones win over entries.
    fn merge(&mut self, writes: &[(usize, T)]) -> Result<()> {
        let [(first, _), .., (last, _)] = writes else {
            return match writes {
                [(address, value)] => self.set(*address, *value),
                _ => Ok(()),
            };
        };
        let ordinals = self.ordinals(*first..*last + 1);
        let mut old = ordinals.clone();
        let most = writes.len() + old.len();
        let (mut addresses, mut values) = (try_with_capacity(most)?, try_with_capacity(most)?);
        for &(address, value) in writes {
            while old.start < old.end && self.addresses[old.start] < address {
                addresses.push(self.addresses[old.start]);
                values.push(self.values[old.start]);
                old.start += 1;
            }
            if old.start < old.end && self.addresses[old.start] == address {
                old.start += 1;
            }
            if !value.same_bits(self.fill) {
                addresses.push(address);
                values.push(value);
            }
        }
        self.splice(ordinals, addresses, values)
    }

    fn set(&mut self, address: usize, value: T) -> Result<()> {
        let erases = value.same_bits(self.fill);
        match self.addresses.binary_search(&address) {
            Ok(ordinal) if erases => {
                self.addresses.remove(ordinal);
                self.values.remove(ordinal);
            }
            Ok(ordinal) => self.values[ordinal] = value,
            Err(_) if erases => {}
            Err(ordinal) => {
                try_reserve(&mut self.addresses, 1)?;
                try_reserve(&mut self.values, 1)?;
                self.addresses.insert(ordinal, address);
                self.values.insert(ordinal, value);
            }
        }
        Ok(())
    }
}

impl<T: SameBits + Send + Sync> StoredMut for Sparse<T> {
    fn is_fill(&mut self, value: T) -> bool {
        value.same_bits(self.fill)
    }

    fn set_fill(&mut self, fill: T) -> Result<()> {
        self.fill = fill;
        Ok(())
    }

    fn splice(
        &mut self,
        ordinals: Range<usize>,
        addresses: Vec<usize>,
        values: Vec<T>,
    ) -> Result<()> {
        check_counts(&addresses, &values)?;
        let end = ordinals.end.min(self.addresses.len());
        let ordinals = ordinals.start.min(end)..end;
        if ordinals == (0..self.addresses.len()) {
            (self.addresses, self.values) = (addresses, values);
            return Ok(());
        }
        self.replace(ordinals, addresses.into_iter(), values.into_iter())
    }
}

impl<T: SameBits + Send + Sync> Writer for Sparse<T> {
    /// # Panics
    ///
    /// Panics if `address >= self.len()`, or if there is no memory for another entry.
    fn write(&mut self, address: usize, value: T) {
        self.try_write(address, value).unwrap_or_else(|error| panic!("{error}"));
    }

    fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
        check_address(address, self.len)?;
        self.set(address, value).map_err(|error| StorageError::new(address, error))
    }

    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = T>> {
        Some(self)
    }

    fn write_run(&mut self, start: usize, step: isize, from: &[T]) -> Result<(), StorageError> {
        let addresses = list((0..from.len()).map(|k| stepped(start, step, k)));
        self.write_at(&addresses.map_err(|error| StorageError::new(start, error))?, from)
    }

    /// Of several values for one address the last one stays.
    fn write_at(&mut self, addresses: &[usize], from: &[T]) -> Result<(), StorageError> {
        if let Some(&address) = addresses.iter().find(|address| **address >= self.len) {
            return Err(StorageError::beyond(address, self.len));
        }
        let mut merged = || {
            let mut writes = sorted_entries(addresses, from)?;
            // Of those for one address the last one, which comes first from the end.
            writes.reverse();
            writes.dedup_by_key(|write| write.0);
            writes.reverse();
            self.merge(&writes)
        };
        let first = addresses.first().copied().unwrap_or(0);
        merged().map_err(|error| StorageError::new(first, error))
    }
}
