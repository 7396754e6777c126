//! Writing sparse storage: values equal to the fill erase, blocks are merged in one sweep.

use super::{Sparse, is_ascending, sort_entries};
use crate::dtype::SameBits;
use crate::error::{Result, StorageError};
use crate::memory::reserve;
use crate::storage::{StoredMut, Writer};
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
        reserve(&mut self.addresses, count)?;
        reserve(&mut self.values, count)?;
        self.addresses.splice(ordinals.clone(), range.take(count));
        self.values.splice(ordinals, std::iter::repeat_n(value, count));
        Ok(())
    }

    /// Merges writes in ascending order of address, none of them twice; later ones win over entries.
    fn merge(&mut self, writes: &[(usize, T)]) {
        let [(first, _), .., (last, _)] = writes else {
            if let [(address, value)] = writes {
                self.set(*address, *value);
            }
            return;
        };
        let ordinals = self.ordinals(*first..*last + 1);
        let mut old = ordinals.clone();
        let room = writes.len() + old.len();
        let (mut addresses, mut values) = (Vec::with_capacity(room), Vec::with_capacity(room));
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
        self.splice(ordinals, addresses, values);
    }

    fn set(&mut self, address: usize, value: T) {
        let erases = value.same_bits(self.fill);
        match self.addresses.binary_search(&address) {
            Ok(ordinal) if erases => {
                self.addresses.remove(ordinal);
                self.values.remove(ordinal);
            }
            Ok(ordinal) => self.values[ordinal] = value,
            Err(_) if erases => {}
            Err(ordinal) => {
                self.addresses.insert(ordinal, address);
                self.values.insert(ordinal, value);
            }
        }
    }
}

impl<T: SameBits + Send + Sync> StoredMut for Sparse<T> {
    fn is_fill(&mut self, value: T) -> bool {
        value.same_bits(self.fill)
    }

    fn set_fill(&mut self, fill: T) {
        self.fill = fill;
    }

    fn splice(&mut self, ordinals: Range<usize>, addresses: Vec<usize>, values: Vec<T>) {
        let end = ordinals.end.min(self.addresses.len());
        let ordinals = ordinals.start.min(end)..end;
        if ordinals == (0..self.addresses.len()) {
            (self.addresses, self.values) = (addresses, values);
            return;
        }
        self.addresses.splice(ordinals.clone(), addresses);
        self.values.splice(ordinals, values);
    }
}

impl<T: SameBits + Send + Sync> Writer for Sparse<T> {
    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn write(&mut self, address: usize, value: T) {
        if address >= self.len {
            panic!("address {address} is beyond the {} elements", self.len);
        }
        self.set(address, value);
    }

    fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
        if address >= self.len {
            return Err(StorageError::beyond(address, self.len));
        }
        self.set(address, value);
        Ok(())
    }

    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = T>> {
        Some(self)
    }

    fn write_run(&mut self, start: usize, step: isize, from: &[T]) -> Result<(), StorageError> {
        let addresses: Vec<usize> = (0..from.len())
            .map(|k| start.wrapping_add_signed(step.wrapping_mul(k as isize)))
            .collect();
        self.write_at(&addresses, from)
    }

    /// Of several values for one address the last one stays.
    fn write_at(&mut self, addresses: &[usize], from: &[T]) -> Result<(), StorageError> {
        if let Some(&address) = addresses.iter().find(|address| **address >= self.len) {
            return Err(StorageError::beyond(address, self.len));
        }
        let count = addresses.len().min(from.len());
        let (mut addresses, mut values) = (addresses[..count].to_vec(), from[..count].to_vec());
        if !is_ascending(&addresses) {
            sort_entries(&mut addresses, &mut values)
                .map_err(|error| StorageError::new(0, error))?;
        }
        let mut writes: Vec<(usize, T)> = Vec::with_capacity(count);
        for write in addresses.into_iter().zip(values) {
            match writes.last_mut() {
                Some(last) if last.0 == write.0 => *last = write,
                _ => writes.push(write),
            }
        }
        self.merge(&writes);
        Ok(())
    }
}
