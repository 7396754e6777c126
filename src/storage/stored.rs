//! Sparse storage, as a capability.

#[cfg(doc)]
use super::Reader;
use std::ops::Range;

/// The entries of sparse storage, in ascending order of address.
///
/// Whoever returns this from [`Reader::stored`] has expressions, reductions and products of its views computed
/// from entries alone. [`Self::count`] and [`Self::fill`] are asked often and should cost nothing; [`Self::rank`] is
/// asked for both ends of a view, 0 and the length included, and may search; [`Self::entries`] is asked for long
/// stretches, each from the entry after the last one. `from` may be [`Self::count`] and the slices empty.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::Stored;
///
/// /// Ones at some addresses, zeros elsewhere.
/// struct Marks { len: usize, at: Vec<usize> }
///
/// impl Reader for Marks {
///     type Elem = i32;
///     fn len(&self) -> usize {
///         self.len
///     }
///     fn read(&self, address: usize) -> i32 {
///         self.at.binary_search(&address).is_ok().into()
///     }
///     fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
///         Some(self)
///     }
/// }
/// impl Stored for Marks {
///     type Elem = i32;
///     fn fill(&self) -> i32 {
///         0
///     }
///     fn count(&self) -> usize {
///         self.at.len()
///     }
///     fn rank(&self, address: usize) -> usize {
///         self.at.partition_point(|&at| at < address)
///     }
///     fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
///         let left = &self.at[from..];
///         let count = left.len().min(addresses.len()).min(values.len());
///         addresses[..count].copy_from_slice(&left[..count]);
///         values[..count].fill(1);
///         count
///     }
/// }
/// let t = Tensor::new([1 << 20, 1 << 20], Marks { len: 1 << 40, at: vec![5, 1 << 30] })?;
/// assert_eq!(t.view().transpose([1, 0])?.sum(..).item()?, 2);
/// # Ok::<(), Error>(())
/// ```
pub trait Stored: Send + Sync {
    /// Type of the elements.
    type Elem: Copy;

    /// Value of every address without an entry.
    fn fill(&self) -> Self::Elem;

    /// Number of entries.
    fn count(&self) -> usize;

    /// Number of entries below `address`.
    fn rank(&self, address: usize) -> usize;

    /// Copies entries from ordinal `from` on until a slice is full; returns how many.
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [Self::Elem]) -> usize;

    /// Addresses and values of all entries, if they lie in memory so. Override it if they do.
    fn as_slices(&self) -> Option<(&[usize], &[Self::Elem])> {
        None
    }
}

/// Sparse storage whose entries can be replaced. An assignment to sparse storage goes through it, so that
/// elements equal to the fill value take no entry.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::{Result, Stored, StoredMut};
/// use std::collections::BTreeMap;
/// use std::ops::Range;
///
/// /// Counts of what was seen; 0 takes no memory.
/// struct Counts { len: usize, seen: BTreeMap<usize, u32> }
///
/// impl Reader for Counts {
///     type Elem = u32;
///     fn len(&self) -> usize {
///         self.len
///     }
///     fn read(&self, address: usize) -> u32 {
///         self.seen.get(&address).copied().unwrap_or(0)
///     }
///     fn stored(&self) -> Option<&dyn Stored<Elem = u32>> {
///         Some(self)
///     }
/// }
/// impl Writer for Counts {
///     fn write(&mut self, address: usize, value: u32) {
///         match value {
///             0 => self.seen.remove(&address),
///             _ => self.seen.insert(address, value),
///         };
///     }
///     fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = u32>> {
///         Some(self)
///     }
/// }
/// impl Stored for Counts {
///     type Elem = u32;
///     fn fill(&self) -> u32 {
///         0
///     }
///     fn count(&self) -> usize {
///         self.seen.len()
///     }
///     fn rank(&self, address: usize) -> usize {
///         self.seen.range(..address).count()
///     }
///     fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [u32]) -> usize {
///         let slots = addresses.iter_mut().zip(values);
///         let copied = self.seen.iter().skip(from).zip(slots);
///         copied.map(|((&at, &count), (address, value))| (*address, *value) = (at, count)).count()
///     }
/// }
/// impl StoredMut for Counts {
///     fn is_fill(&mut self, value: u32) -> bool {
///         value == 0
///     }
///     fn set_fill(&mut self, fill: u32) -> Result<()> {
///         match fill {
///             0 => Ok(()),
///             _ => Err(std::io::Error::other("what was not seen is 0").into()),
///         }
///     }
///     fn splice(
///         &mut self,
///         ordinals: Range<usize>,
///         addresses: Vec<usize>,
///         values: Vec<u32>,
///     ) -> Result<()> {
///         let old: Vec<usize> = self.seen.keys().copied().skip(ordinals.start).take(ordinals.len()).collect();
///         old.iter().for_each(|address| _ = self.seen.remove(address));
///         self.seen.extend(addresses.into_iter().zip(values));
///         Ok(())
///     }
/// }
/// let mut t = Tensor::new([1 << 20, 1 << 20], Counts { len: 1 << 40, seen: BTreeMap::new() })?;
/// let mut seen = Tensor::sparse([1 << 20, 1 << 20], 0_u32)?;
/// seen.set([3, 4], 2)?;
/// t.assign(&seen)?;
/// assert_eq!((t.storage().seen.len(), t.sum(..).item()?), (1, 2));
/// # Ok::<(), Error>(())
/// ```
pub trait StoredMut: Stored {
    /// Whether an element is the fill value, so that it needs no entry. Wrappers ask what they wrap, which takes
    /// a mutable borrow.
    fn is_fill(&mut self, value: Self::Elem) -> bool;

    /// Whether the fill value is that of these addresses alone. That of a part of other storage is not:
    /// there [`Self::set_fill`] changes nothing.
    fn owns_fill(&mut self) -> bool {
        true
    }

    /// Changes the value of every address without an entry.
    ///
    /// # Errors
    ///
    /// What the storage cannot do, [`Error::OutOfMemory`](crate::Error::OutOfMemory) for example; nothing
    /// is changed then.
    fn set_fill(&mut self, fill: Self::Elem) -> crate::Result<()>;

    /// Puts other entries in the place of those with the given ordinals. Their addresses ascend, and lie
    /// between those of the entries before and after.
    ///
    /// # Errors
    ///
    /// As [`Self::set_fill`].
    fn splice(
        &mut self,
        ordinals: Range<usize>,
        addresses: Vec<usize>,
        values: Vec<Self::Elem>,
    ) -> crate::Result<()>;
}

/// The entries of a range of addresses, each by its distance from the start of the range.
pub(crate) struct Section<'a, T> {
    pub(crate) stored: &'a dyn Stored<Elem = T>,
    pub(crate) range: Range<usize>,
}

impl<'a, T: Copy> Section<'a, T> {
    /// [`Stored::rank`].
    pub(crate) fn rank(&self, address: usize) -> usize {
        let end = self.range.start + address.min(self.range.len());
        self.stored.rank(end).saturating_sub(self.stored.rank(self.range.start))
    }

    /// [`Stored::entries`].
    pub(crate) fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [T]) -> usize {
        let left = self.rank(self.range.len()).saturating_sub(from);
        let room = addresses.len().min(values.len()).min(left);
        let first = self.stored.rank(self.range.start).saturating_add(from);
        let (addresses, values) = (&mut addresses[..room], &mut values[..room]);
        let copied = self.stored.entries(first, addresses, values).min(room);
        for address in &mut addresses[..copied] {
            *address = address.wrapping_sub(self.range.start);
        }
        copied
    }

    /// [`Stored::as_slices`], where addresses are the same as in the whole storage.
    pub(crate) fn as_slices(&self) -> Option<(&'a [usize], &'a [T])> {
        let (addresses, values) = self.stored.as_slices().filter(|_| self.range.start == 0)?;
        let count = self.rank(self.range.len());
        Some((addresses.get(..count)?, values.get(..count)?))
    }
}
