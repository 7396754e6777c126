//! Sparse storage: a fill value and the entries that differ from it.

mod coordinates;
mod read;
mod sort;
mod write;

pub use coordinates::Duplicates;
pub(crate) use sort::{is_ascending, sort_entries, sort_pairs};

use crate::dtype::SameBits;
use crate::error::{Error, Result, SparseFlaw};
use crate::memory::{list, shrink, try_with_capacity};
use std::ops::Range;

/// Storage of which most elements equal one fill value.
///
/// Keeps the addresses of all other elements, ascending, and their values: for `f64` 16 bytes an entry.
/// The length is a number and takes no memory, so it may be as large as an address. Entries may hold
/// the fill value too; [`Self::prune`] drops those.
///
/// As a [`Reader`](super::Reader) and [`Writer`](super::Writer) it stands wherever other storage does.
/// A [`Tensor`](crate::Tensor) over it stays sparse under every view.
///
/// Equality of a value with the fill is that of [`SameBits`]: `-0.0` is not `0.0`, and NaN is NaN. The
/// derived `==` compares structure: length, fill value and entries.
///
/// ```
/// use lensor::{Reader, storage::Sparse};
/// let s = Sparse::from_sorted(1 << 40, 0.0, vec![3, 1 << 39], vec![1.5, 2.5])?;
/// assert_eq!((s.len(), s.stored_len()), (1 << 40, 2));
/// assert_eq!((s.read(3), s.read(4)), (1.5, 0.0));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse<T> {
    len: usize,
    fill: T,
    /// Ascending and below `len`, one for each of `values`.
    addresses: Vec<usize>,
    values: Vec<T>,
}

impl<T> Sparse<T> {
    /// `len` elements, all of them `fill`.
    ///
    /// ```
    /// use lensor::{Reader, storage::Sparse};
    /// let s = Sparse::new(5, 1);
    /// assert_eq!((s.read(4), s.stored_len()), (1, 0));
    /// ```
    pub const fn new(len: usize, fill: T) -> Self {
        Self { len, fill, addresses: Vec::new(), values: Vec::new() }
    }

    /// Storage of entries that are in order: addresses ascend, none comes twice, all are below `len`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSparse`] with the first entry for which that is not so, or if there are not as
    /// many values as addresses.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let error = Sparse::from_sorted(9, 0, vec![2, 5, 5], vec![1, 2, 3]).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid sparse structure at entry 2: address 5 follows 5");
    /// ```
    pub fn from_sorted(len: usize, fill: T, addresses: Vec<usize>, values: Vec<T>) -> Result<Self> {
        check_counts(&addresses, &values)?;
        if let Some(before) = addresses.windows(2).position(|pair| pair[0] >= pair[1]) {
            let (previous, address) = (addresses[before], addresses[before + 1]);
            check_inside(&addresses[..before + 1], len)?;
            let (at, what) = (before + 1, SparseFlaw::Order { previous, address });
            return Err(Error::InvalidSparse { at, what });
        }
        check_inside(&addresses, len)?;
        Ok(Self { len, fill, addresses, values })
    }

    /// [`Self::from_sorted`] of entries whose order is not looked at, in constant time.
    ///
    /// If addresses do not ascend strictly, results that depend on them are wrong or errors, and nothing worse.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSparse`] if the last address, which should be the highest, does not lie below `len`, or
    /// if there are not as many values as addresses.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let s = Sparse::from_sorted_trusted(9, 0, vec![2, 5], vec![7, 8])?;
    /// assert_eq!(s.get(5), Some(8));
    /// let error = Sparse::from_sorted_trusted(9, 0, vec![2, 9], vec![7, 8]).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid sparse structure at entry 1: address 9 is beyond the length 9");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_sorted_trusted(
        len: usize,
        fill: T,
        addresses: Vec<usize>,
        values: Vec<T>,
    ) -> Result<Self> {
        check_counts(&addresses, &values)?;
        if let Some(&address) = addresses.last().filter(|address| **address >= len) {
            let (at, what) = (addresses.len() - 1, SparseFlaw::Beyond { address, len });
            return Err(Error::InvalidSparse { at, what });
        }
        Ok(Self { len, fill, addresses, values })
    }

    /// Number of entries.
    #[doc(alias = "nnz")]
    pub fn stored_len(&self) -> usize {
        self.addresses.len()
    }

    /// Addresses of the entries, ascending.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses
    }

    /// Values of the entries, in order of address.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Values of the entries, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Length, fill value, addresses and values.
    pub fn into_parts(self) -> (usize, T, Vec<usize>, Vec<T>) {
        (self.len, self.fill, self.addresses, self.values)
    }

    /// Ordinals of the entries in a range of addresses.
    fn ordinals(&self, range: Range<usize>) -> Range<usize> {
        let start = self.addresses.partition_point(|&address| address < range.start);
        let count = self.addresses[start..].partition_point(|&address| address < range.end);
        start..start + count
    }

    /// Refuses a range that does not lie inside.
    fn check_range(&self, range: &Range<usize>) -> Result<()> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::OutOfSpan { span: range.clone(), len: self.len });
        }
        Ok(())
    }
}

impl<T: Copy> Sparse<T> {
    /// Storage of entries that the library has put in order, with room for twice as many at the most. Entries of storage
    /// that breaks its promises may not be in order; then reads find wrong values, and nothing worse.
    pub(crate) fn of_sorted(
        len: usize,
        fill: T,
        mut addresses: Vec<usize>,
        mut values: Vec<T>,
    ) -> Self {
        shrink(&mut addresses);
        shrink(&mut values);
        Self { len, fill, addresses, values }
    }

    /// Value of every address without an entry.
    pub fn fill(&self) -> T {
        self.fill
    }

    /// The element at `address`, `None` beyond the end. Takes a binary search.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let s = Sparse::from_sorted(4, 0, vec![2], vec![7])?;
    /// assert_eq!((s.get(1), s.get(2), s.get(4)), (Some(0), Some(7), None));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn get(&self, address: usize) -> Option<T> {
        match self.addresses.binary_search(&address) {
            Ok(ordinal) => self.values.get(ordinal).copied(),
            Err(_) => (address < self.len).then_some(self.fill),
        }
    }

    /// The entries, in order of address.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let s = Sparse::from_sorted(9, 0, vec![2, 5], vec![7, 8])?;
    /// assert!(s.iter().eq([(2, 7), (5, 8)]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, T)> + '_ {
        self.addresses.iter().copied().zip(self.values.iter().copied())
    }

    /// A copy of a range of addresses, which become `0..range.len()`.
    /// [`SubBuffer`](super::SubBuffer) is the same without copying.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if the range does not lie inside, [`Error::OutOfMemory`] if the entries cannot be
    /// kept.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let s = Sparse::from_sorted(9, 0, vec![2, 5, 8], vec![1, 2, 3])?;
    /// assert!(s.sub_buffer(4..9)?.iter().eq([(1, 2), (4, 3)]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sub_buffer(&self, range: Range<usize>) -> Result<Self> {
        self.check_range(&range)?;
        let ordinals = self.ordinals(range.clone());
        let inside = self.addresses[ordinals.clone()].iter();
        let addresses = list(inside.map(|address| address.wrapping_sub(range.start)))?;
        let values = list(self.values[ordinals].iter().copied())?;
        Ok(Self::of_sorted(range.len(), self.fill, addresses, values))
    }
}

impl<T: SameBits> Sparse<T> {
    /// The elements of a slice that differ from `fill`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the entries cannot be kept.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let s = Sparse::from_dense(&[0.0, 2.0, -0.0, 0.0], 0.0)?;
    /// assert_eq!(s.addresses(), [1, 2]); // -0.0 is not 0.0
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_dense(elements: &[T], fill: T) -> Result<Self> {
        let count = elements.iter().filter(|x| !x.same_bits(fill)).count();
        let (mut addresses, mut values) = (try_with_capacity(count)?, try_with_capacity(count)?);
        for (address, &x) in elements.iter().enumerate().filter(|(_, x)| !x.same_bits(fill)) {
            addresses.push(address);
            values.push(x);
        }
        Ok(Self::of_sorted(elements.len(), fill, addresses, values))
    }

    /// Drops the entries that hold the fill value. No element changes.
    ///
    /// ```
    /// use lensor::storage::Sparse;
    /// let mut s = Sparse::from_sorted(9, 0, vec![2, 5], vec![0, 8])?;
    /// s.prune();
    /// assert!(s.iter().eq([(5, 8)]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn prune(&mut self) {
        let fill = self.fill;
        prune(&mut self.addresses, &mut self.values, fill);
    }
}

/// Drops the entries that hold `fill`.
pub(crate) fn prune<T: SameBits>(addresses: &mut Vec<usize>, values: &mut Vec<T>, fill: T) {
    let Some(first) = values.iter().position(|x| x.same_bits(fill)) else {
        return;
    };
    let mut kept = first;
    for k in first..values.len() {
        (addresses[kept], values[kept]) = (addresses[k], values[k]);
        kept += usize::from(!values[k].same_bits(fill));
    }
    addresses.truncate(kept);
    values.truncate(kept);
}

fn check_counts<T>(addresses: &[usize], values: &[T]) -> Result<()> {
    let (addresses, values) = (addresses.len(), values.len());
    if addresses == values {
        return Ok(());
    }
    let what = SparseFlaw::Counts { addresses, values };
    Err(Error::InvalidSparse { at: addresses.min(values), what })
}

/// Refuses the first address that does not lie below `len`.
fn check_inside(addresses: &[usize], len: usize) -> Result<()> {
    if addresses.iter().fold(0, |highest, &address| highest.max(address)) < len {
        return Ok(());
    }
    match addresses.iter().position(|&address| address >= len) {
        Some(at) => {
            let what = SparseFlaw::Beyond { address: addresses[at], len };
            Err(Error::InvalidSparse { at, what })
        }
        None => Ok(()),
    }
}
