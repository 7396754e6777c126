//! Sparse storage from entries in any order.

use super::sort::sorted_entries;
use super::{Sparse, check_counts, check_inside, is_ascending};
use crate::dtype::Arithmetic;
use crate::error::{Error, Result, SparseFlaw};
use crate::memory::list;
use std::fmt;

/// What to do with entries of one address.
#[derive(Clone, Copy)]
pub enum Duplicates<T> {
    /// They are an error.
    Refuse,
    /// The first one stays.
    First,
    /// The last one stays.
    Last,
    /// They are combined, from the first to the last; see [`Self::sum`].
    Combine(fn(T, T) -> T),
}

impl<T: Arithmetic> Duplicates<T> {
    /// They are added, from the first to the last. Integers wrap.
    pub fn sum() -> Self {
        Self::Combine(T::plus)
    }
}

impl<T> fmt::Debug for Duplicates<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refuse => "Refuse",
            Self::First => "First",
            Self::Last => "Last",
            Self::Combine(_) => "Combine",
        })
    }
}

impl<T: Copy> Sparse<T> {
    /// Storage of entries in any order.
    ///
    /// Entries in order are taken as they are; others are sorted, in time proportional to their number.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSparse`] for an address beyond `len`, for another number of values than addresses
    /// and, if duplicates are refused, for the second entry of an address; [`Error::OutOfMemory`] if the
    /// entries cannot be sorted.
    ///
    /// ```
    /// use lensor::storage::{Duplicates, Sparse};
    /// let entries = || (vec![7, 2, 7], vec![1, 10, 100]);
    /// let (addresses, values) = entries();
    /// let summed = Sparse::from_coordinates(9, 0, addresses, values, Duplicates::sum())?;
    /// assert!(summed.iter().eq([(2, 10), (7, 101)]));
    ///
    /// let (addresses, values) = entries();
    /// let error = Sparse::from_coordinates(9, 0, addresses, values, Duplicates::Refuse).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid sparse structure at entry 2: address 7 was given before");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_coordinates(
        len: usize,
        fill: T,
        mut addresses: Vec<usize>,
        mut values: Vec<T>,
        duplicates: Duplicates<T>,
    ) -> Result<Self> {
        check_counts(&addresses, &values)?;
        check_inside(&addresses, len)?;
        if !is_ascending(&addresses) {
            let entries = sorted_entries(&addresses, &values)?;
            let twice = entries.windows(2).any(|pair| pair[0].0 == pair[1].0);
            if matches!(duplicates, Duplicates::Refuse) && twice {
                return Err(first_duplicate(&addresses));
            }
            let kept = combine(&entries, &mut addresses, &mut values, duplicates);
            addresses.truncate(kept);
            values.truncate(kept);
        }
        Ok(Self { len, fill, addresses, values })
    }
}

/// The first entry whose address an earlier one has.
fn first_duplicate(addresses: &[usize]) -> Error {
    let ordinals = list(0..addresses.len());
    let entries = match ordinals.and_then(|ordinals| sorted_entries(addresses, &ordinals)) {
        Ok(entries) => entries,
        Err(error) => return error,
    };
    let again = entries.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1]);
    let (address, at) = again.min_by_key(|entry| entry.1).unwrap_or_default();
    Error::InvalidSparse { at, what: SparseFlaw::Duplicate { address } }
}

/// Writes one entry for each run of sorted entries of one address; returns how many.
fn combine<T: Copy>(
    entries: &[(usize, T)],
    addresses: &mut [usize],
    values: &mut [T],
    duplicates: Duplicates<T>,
) -> usize {
    let mut kept = 0;
    let mut previous = None;
    for &(address, value) in entries {
        if previous != Some(address) {
            (addresses[kept], values[kept]) = (address, value);
            kept += 1;
            previous = Some(address);
            continue;
        }
        let last = &mut values[kept - 1];
        match duplicates {
            Duplicates::Refuse | Duplicates::First => {}
            Duplicates::Last => *last = value,
            Duplicates::Combine(f) => *last = f(*last, value),
        }
    }
    kept
}
