//! Elements that lie in memory, and parts of other storage.

use super::{Reader, Stored, TOGETHER, Writer};
use crate::error::{Error, StorageError};
use std::ops::Range;

macro_rules! slices {
    ($([$($generics:tt)*] $type:ty;)*) => { $(
        impl<$($generics)*> Reader for $type {
            type Elem = T;

            #[inline]
            fn len(&self) -> usize {
                let slice: &[T] = self;
                slice.len()
            }

            #[inline]
            fn read(&self, address: usize) -> T {
                self[address]
            }

            #[inline]
            fn try_read(&self, address: usize) -> Result<T, StorageError> {
                let slice: &[T] = self;
                slice.get(address).copied().ok_or_else(|| StorageError::beyond(address, slice.len()))
            }

            #[inline]
            fn as_slice(&self) -> Option<&[T]> {
                Some(self)
            }
        }

        impl<$($generics)*> Writer for $type {
            #[inline]
            fn write(&mut self, address: usize, value: T) {
                self[address] = value;
            }

            #[inline]
            fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
                let slice: &mut [T] = self;
                let len = slice.len();
                *slice.get_mut(address).ok_or_else(|| StorageError::beyond(address, len))? = value;
                Ok(())
            }

            #[inline]
            fn as_mut_slice(&mut self) -> Option<&mut [T]> {
                Some(self)
            }
        }
    )* };
}
slices! {
    [T: Copy + Send + Sync] [T];
    [T: Copy + Send + Sync] Vec<T>;
    [T: Copy + Send + Sync, const N: usize] [T; N];
}

/// A range of addresses of another storage, which become `0..len()`.
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

    /// Address in the whole storage; beyond its end if `address` is not one of this part.
    fn whole(&self, address: usize) -> usize {
        if address < self.range.len() { self.range.start + address } else { usize::MAX }
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
        self.storage.try_read(self.whole(address)).map_err(|e| self.localise(e))
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        self.storage.as_slice()?.get(self.range.clone())
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        self.check_run(start, step, out.len())?;
        self.storage.read_run(self.whole(start), step, out).map_err(|e| self.localise(e))
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut whole = [0; TOGETHER];
        for (addresses, out) in addresses.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            let whole = &mut whole[..addresses.len()];
            whole
                .iter_mut()
                .zip(addresses)
                .for_each(|(slot, &address)| *slot = self.whole(address));
            self.storage.read_at(whole, out).map_err(|e| self.localise(e))?;
        }
        Ok(())
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = S::Elem>> {
        self.storage.stored().map(|_| self as &dyn Stored<Elem = S::Elem>)
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
        let end = self.range.start + address.min(self.range.len());
        self.storage
            .stored()
            .map_or(0, |stored| stored.rank(end).saturating_sub(stored.rank(self.range.start)))
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [S::Elem]) -> usize {
        let Some(stored) = self.storage.stored() else {
            return 0;
        };
        let room = addresses.len().min(values.len()).min(self.count().saturating_sub(from));
        let first = stored.rank(self.range.start).saturating_add(from);
        let copied = stored.entries(first, &mut addresses[..room], &mut values[..room]).min(room);
        for address in &mut addresses[..copied] {
            *address = address.wrapping_sub(self.range.start);
        }
        copied
    }
}

impl<S: Writer> Writer for SubBuffer<S> {
    fn write(&mut self, address: usize, value: S::Elem) {
        self.storage.write(self.whole(address), value);
    }

    fn try_write(&mut self, address: usize, value: S::Elem) -> Result<(), StorageError> {
        self.storage.try_write(self.whole(address), value).map_err(|e| self.localise(e))
    }

    fn as_mut_slice(&mut self) -> Option<&mut [S::Elem]> {
        self.storage.as_mut_slice()?.get_mut(self.range.clone())
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
}
