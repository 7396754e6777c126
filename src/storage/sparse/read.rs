//! Reading sparse storage: runs and lists of addresses meet the entries in one sweep.

use super::Sparse;
use crate::error::StorageError;
use crate::storage::{Reader, Stored, read_each};

/// Entries in reach of a run for each element of it from which on elements are searched one by one.
const SPARSE_RUN: usize = 16;

impl<T: Copy + Send + Sync> Reader for Sparse<T> {
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> T {
        match self.get(address) {
            Some(element) => element,
            None => panic!("address {address} is beyond the {} elements", self.len),
        }
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        self.get(address).ok_or_else(|| StorageError::beyond(address, self.len))
    }

    #[inline(never)]
    fn read_run(&self, start: usize, step: isize, out: &mut [T]) -> Result<(), StorageError> {
        let Some(steps) = out.len().checked_sub(1) else {
            return Ok(());
        };
        let last = start as i128 + step as i128 * steps as i128;
        let outside = |address: i128| !(0..self.len as i128).contains(&address);
        if step == 0 || outside(start as i128) || outside(last) {
            return read_each(self, start, step, out);
        }
        let (low, high) = (start.min(last as usize), start.max(last as usize));
        let ordinals = self.ordinals(low..high + 1);
        if ordinals.len() / SPARSE_RUN > out.len() {
            return read_each(self, start, step, out);
        }
        out.fill(self.fill);
        let (every, entries) = (step.unsigned_abs(), ordinals.clone());
        for (&address, &value) in self.addresses[entries].iter().zip(&self.values[ordinals]) {
            let away = address.abs_diff(start);
            if every == 1 || away.is_multiple_of(every) {
                // Unsorted entries may lie elsewhere.
                if let Some(slot) = out.get_mut(away / every) {
                    *slot = value;
                }
            }
        }
        Ok(())
    }

    /// Addresses that ascend are met in one sweep; where they fall, the search starts again.
    #[inline(never)]
    fn read_at(&self, addresses: &[usize], out: &mut [T]) -> Result<(), StorageError> {
        let mut ordinal = 0;
        let mut previous = 0;
        for (slot, &address) in out.iter_mut().zip(addresses) {
            if address < previous {
                ordinal = 0;
            }
            previous = address;
            ordinal += gallop(&self.addresses[ordinal..], address);
            *slot = match self.addresses.get(ordinal) {
                Some(&entry) if entry == address => self.values[ordinal],
                _ if address < self.len => self.fill,
                _ => return Err(StorageError::beyond(address, self.len)),
            };
        }
        Ok(())
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = T>> {
        Some(self)
    }
}

impl<T: Copy + Send + Sync> Stored for Sparse<T> {
    type Elem = T;

    fn fill(&self) -> T {
        self.fill
    }

    fn count(&self) -> usize {
        self.addresses.len()
    }

    fn rank(&self, address: usize) -> usize {
        self.addresses.partition_point(|&entry| entry < address)
    }

    #[inline(never)]
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [T]) -> usize {
        let from = from.min(self.addresses.len());
        let count = addresses.len().min(values.len()).min(self.addresses.len() - from);
        addresses[..count].copy_from_slice(&self.addresses[from..][..count]);
        values[..count].copy_from_slice(&self.values[from..][..count]);
        count
    }

    fn as_slices(&self) -> Option<(&[usize], &[T])> {
        Some((&self.addresses, &self.values))
    }
}

/// How many of ascending numbers lie below `limit`; quick if they are few.
fn gallop(numbers: &[usize], limit: usize) -> usize {
    let mut bound = 1;
    while bound < numbers.len() && numbers[bound - 1] < limit {
        bound *= 2;
    }
    let start = bound / 2;
    let end = bound.min(numbers.len());
    start.min(end) + numbers[start.min(end)..end].partition_point(|&number| number < limit)
}
