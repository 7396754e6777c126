//! Elements that lie in memory, and parts of other storage.

use super::{
    Blocks, BlocksMut, Reader, Section, Stored, StoredMut, Writer, check_address, translate,
};
use crate::error::{Error, StorageError};
use std::ops::Range;

/// Storage whose elements are one slice: its bounds, further ones for writing, and how it lends the slice.
macro_rules! slices {
    ($([$($of:tt)*] [$($writes:tt)*] $type:ty, $own:ident => $slice:expr, $slice_mut:expr;)*) => { $(
        impl<$($of)*> Reader for $type {
            type Elem = T;

            #[inline]
            fn len(&$own) -> usize {
                let slice: &[T] = $slice;
                slice.len()
            }

            #[inline]
            fn read(&$own, address: usize) -> T {
                let slice: &[T] = $slice;
                slice[address]
            }

            #[inline]
            fn try_read(&$own, address: usize) -> Result<T, StorageError> {
                let slice: &[T] = $slice;
                slice.get(address).copied().ok_or_else(|| StorageError::beyond(address, slice.len()))
            }

            #[inline]
            fn as_slice(&$own) -> Option<&[T]> {
                Some($slice)
            }
        }

        impl<$($of)*> Writer for $type where $($writes)* {
            #[inline]
            fn write(&mut $own, address: usize, value: T) {
                let slice: &mut [T] = $slice_mut;
                slice[address] = value;
            }

            #[inline]
            fn try_write(&mut $own, address: usize, value: T) -> Result<(), StorageError> {
                let slice: &mut [T] = $slice_mut;
                let len = slice.len();
                *slice.get_mut(address).ok_or_else(|| StorageError::beyond(address, len))? = value;
                Ok(())
            }

            #[inline]
            fn as_mut_slice(&mut $own) -> Option<&mut [T]> {
                Some($slice_mut)
            }
        }
    )* };
}
pub(super) use slices;

slices! {
    [T: Copy + Send + Sync] [] [T], self => self, self;
    [T: Copy + Send + Sync] [] Vec<T>, self => self, self;
    [T: Copy + Send + Sync, const N: usize] [] [T; N], self => self, self;
}

/// A range of addresses of another storage, which become `0..len()`. A part of sparse storage is sparse,
/// and one that is all of a storage in blocks has them.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::SubBuffer;
/// let part = SubBuffer::new(vec![10, 11, 12, 13], 1..3)?;
/// assert_eq!((part.len(), part.read(0)), (2, 11));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubBuffer<S> {
    storage: S,
    range: Range<usize>,
}

impl<S: Reader> SubBuffer<S> {
    /// The addresses in `range`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if the range does not lie inside the storage.
    ///
    /// ```
    /// use lensor::{Error, Tensor, storage::SubBuffer};
    /// let log = vec![1, 2, 3, 4, 5, 6, 7];
    /// let second = Tensor::new([3], SubBuffer::new(&log, 3..6)?)?;
    /// assert_eq!(second.flip(0)?.to_vec()?, [6, 5, 4]);
    /// let error = SubBuffer::new(&log, 6..9).unwrap_err();
    /// assert_eq!(error, Error::OutOfSpan { span: 6..9, len: 7 });
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(storage: S, range: Range<usize>) -> Result<Self, Error> {
        let len = storage.len();
        if range.start > range.end || range.end > len {
            return Err(Error::OutOfSpan { span: range, len });
        }
        Ok(Self { storage, range })
    }

    /// The storage this is a part of.
    pub fn into_storage(self) -> S {
        self.storage
    }

    /// Whether all addresses of the storage are those of this part.
    fn is_whole(&self) -> bool {
        self.range == (0..self.storage.len())
    }

    /// Address in the whole storage; beyond its end if `address` is not one of this part.
    fn whole(&self, address: usize) -> usize {
        if address < self.range.len() { self.range.start + address } else { usize::MAX }
    }

    /// Address in the whole storage, which goes on beyond this part.
    fn check(&self, address: usize) -> Result<usize, StorageError> {
        Ok(self.range.start + check_address(address, self.range.len())?)
    }

    /// [`Self::check`] of a list.
    fn check_all(&self, addresses: &[usize]) -> Result<Vec<usize>, StorageError> {
        translate(addresses.len(), |k| self.check(addresses[k]))
    }

    /// Refuses a run that leaves this part: the whole storage goes on beyond it.
    fn check_run(&self, start: usize, step: isize, count: usize) -> Result<(), StorageError> {
        let last = start as i128 + step as i128 * (count as i128 - 1);
        let outside = |address: i128| !(0..self.range.len() as i128).contains(&address);
        if count > 0 && (outside(start as i128) || outside(last)) {
            return Err(StorageError::beyond(start, self.range.len()));
        }
        Ok(())
    }

    /// An error of the whole storage in the addresses of this part.
    fn localise(&self, mut error: StorageError) -> StorageError {
        error.address = error.address.wrapping_sub(self.range.start);
        error
    }

    fn section(&self) -> Option<Section<'_, S::Elem>> {
        Some(Section { stored: self.storage.stored()?, range: self.range.clone() })
    }
}

impl<S: Reader> Reader for SubBuffer<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.range.len()
    }

    fn read(&self, address: usize) -> S::Elem {
        self.storage.read(self.whole(address))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        self.storage.try_read(self.check(address)?).map_err(|e| self.localise(e))
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        self.storage.as_slice()?.get(self.range.clone())
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        self.check_run(start, step, out.len())?;
        self.storage.read_run(self.whole(start), step, out).map_err(|e| self.localise(e))
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let whole = self.check_all(addresses)?;
        self.storage.read_at(&whole, out).map_err(|e| self.localise(e))
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = S::Elem>> {
        self.storage.stored().map(|_| self as &dyn Stored<Elem = S::Elem>)
    }

    /// A part that is the whole has the blocks of the whole.
    fn blocks(&self) -> Option<&dyn Blocks<Elem = S::Elem>> {
        self.storage.blocks().filter(|_| self.is_whole())
    }

    fn entries_below(&self) -> Option<usize> {
        self.storage.entries_below()
    }

    fn box_depth(&self) -> usize {
        self.storage.box_depth()
    }
}

/// Entries of a part of sparse storage. Of storage that is not sparse there are none to ask for.
impl<S: Reader> Stored for SubBuffer<S> {
    type Elem = S::Elem;

    fn fill(&self) -> S::Elem {
        match self.storage.stored() {
            Some(stored) => stored.fill(),
            None => self.storage.read(self.range.start),
        }
    }

    fn count(&self) -> usize {
        self.rank(self.range.len())
    }

    fn rank(&self, address: usize) -> usize {
        self.section().map_or(0, |section| section.rank(address))
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [S::Elem]) -> usize {
        self.section().map_or(0, |section| section.entries(from, addresses, values))
    }

    fn as_slices(&self) -> Option<(&[usize], &[S::Elem])> {
        self.section()?.as_slices()
    }
}

/// Of storage that is not sparse there are no entries to replace.
impl<S: Writer> StoredMut for SubBuffer<S> {
    fn is_fill(&mut self, value: S::Elem) -> bool {
        self.storage.stored_mut().is_some_and(|stored| stored.is_fill(value))
    }

    fn owns_fill(&mut self) -> bool {
        self.is_whole() && self.storage.stored_mut().is_some_and(|stored| stored.owns_fill())
    }

    fn set_fill(&mut self, fill: S::Elem) -> crate::Result<()> {
        let owns_fill = self.owns_fill();
        match self.storage.stored_mut().filter(|_| owns_fill) {
            Some(stored) => stored.set_fill(fill),
            None => Ok(()),
        }
    }

    fn splice(
        &mut self,
        ordinals: Range<usize>,
        mut addresses: Vec<usize>,
        mut values: Vec<S::Elem>,
    ) -> crate::Result<()> {
        let (first, count) =
            (self.storage.stored().map_or(0, |stored| stored.rank(self.range.start)), self.count());
        // What lies beyond belongs to others.
        let inside = addresses.partition_point(|&address| address < self.range.len());
        addresses.truncate(inside);
        values.truncate(inside);
        let start = self.range.start;
        addresses.iter_mut().for_each(|address| *address = address.wrapping_add(start));
        let end = ordinals.end.min(count);
        let [from, to] =
            [ordinals.start.min(end), end].map(|ordinal| first.saturating_add(ordinal));
        match self.storage.stored_mut() {
            Some(stored) => stored.splice(from..to, addresses, values),
            None => Ok(()),
        }
    }
}

impl<S: Writer> Writer for SubBuffer<S> {
    fn write(&mut self, address: usize, value: S::Elem) {
        self.storage.write(self.whole(address), value);
    }

    fn try_write(&mut self, address: usize, value: S::Elem) -> Result<(), StorageError> {
        let whole = self.check(address)?;
        self.storage.try_write(whole, value).map_err(|e| self.localise(e))
    }

    fn as_mut_slice(&mut self) -> Option<&mut [S::Elem]> {
        self.storage.as_mut_slice()?.get_mut(self.range.clone())
    }

    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = S::Elem>> {
        let sparse = self.storage.stored_mut().is_some();
        sparse.then_some(self as &mut dyn StoredMut<Elem = S::Elem>)
    }

    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = S::Elem>> {
        if self.is_whole() { self.storage.blocks_mut() } else { None }
    }

    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[S::Elem],
    ) -> Result<(), StorageError> {
        self.check_run(start, step, from.len())?;
        self.storage.write_run(self.whole(start), step, from).map_err(|e| self.localise(e))
    }

    fn write_at(&mut self, addresses: &[usize], from: &[S::Elem]) -> Result<(), StorageError> {
        let whole = self.check_all(addresses)?;
        self.storage.write_at(&whole, from).map_err(|e| self.localise(e))
    }
}
