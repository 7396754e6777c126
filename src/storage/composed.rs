//! Storage made of other storages: one after another, or at listed addresses.

use super::{Reader, translate};
use crate::error::{Error, StorageError};
use crate::memory::try_with_capacity;
use std::ops::Range;

/// Several storages one after another.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Concat;
/// let all = Concat::new(vec![vec![1, 2], vec![], vec![3]])?;
/// assert_eq!((all.len(), all.read(2)), (3, 3));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Concat<R> {
    parts: Vec<R>,
    /// One past the last address of every part, as measured when this was made.
    ends: Vec<usize>,
}

impl<R: Reader> Concat<R> {
    /// The parts in this order. Parts of different types are boxed as [`BoxReader`](super::BoxReader).
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if the lengths sum to more than `isize::MAX`, [`Error::OutOfMemory`].
    pub fn new(parts: Vec<R>) -> Result<Self, Error> {
        let mut ends = try_with_capacity(parts.len())?;
        let mut end = 0_usize;
        for part in &parts {
            end =
                end.checked_add(part.len()).filter(|&end| end <= isize::MAX as usize).ok_or_else(
                    || Error::ShapeOverflow { shape: parts.iter().map(Reader::len).collect() },
                )?;
            ends.push(end);
        }
        Ok(Self { parts, ends })
    }

    /// The parts.
    pub fn into_parts(self) -> Vec<R> {
        self.parts
    }

    /// The part that holds `address`, and the addresses of its elements.
    fn part(&self, address: usize) -> Result<(&R, Range<usize>), StorageError> {
        let which = self.ends.partition_point(|&end| end <= address);
        let start = if which == 0 { 0 } else { self.ends[which - 1] };
        match (self.parts.get(which), self.ends.get(which)) {
            (Some(part), Some(&end)) => Ok((part, start..end)),
            _ => Err(StorageError::beyond(address, self.len())),
        }
    }

    fn shifted(mut error: StorageError, start: usize) -> StorageError {
        error.address = error.address.wrapping_add(start);
        error
    }
}

impl<R: Reader> Reader for Concat<R> {
    type Elem = R::Elem;

    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> R::Elem {
        match self.part(address) {
            Ok((part, own)) => part.read(address - own.start),
            Err(_) => panic!("address {address} is beyond the {} elements", self.len()),
        }
    }

    fn try_read(&self, address: usize) -> Result<R::Elem, StorageError> {
        let (part, own) = self.part(address)?;
        part.try_read(address - own.start).map_err(|e| Self::shifted(e, own.start))
    }

    fn as_slice(&self) -> Option<&[R::Elem]> {
        match &self.parts[..] {
            [only] => only.as_slice(),
            _ => None,
        }
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [R::Elem]) -> Result<(), StorageError> {
        let mut rest = out;
        let mut address = start;
        while !rest.is_empty() {
            let (part, own) = self.part(address)?;
            let within = address - own.start;
            let steps_left = match step {
                0 => usize::MAX,
                1.. => (own.end - 1 - address) / step as usize,
                _ => within / step.unsigned_abs(),
            };
            let count = rest.len().min(steps_left.saturating_add(1));
            let (now, later) = rest.split_at_mut(count);
            part.read_run(within, step, now).map_err(|e| Self::shifted(e, own.start))?;
            address = address.wrapping_add_signed(step.wrapping_mul(count as isize));
            rest = later;
        }
        Ok(())
    }

    /// Neighbours in the list that lie in one part are one list there.
    fn read_at(&self, addresses: &[usize], out: &mut [R::Elem]) -> Result<(), StorageError> {
        let mut within = translate(addresses.len().min(out.len()), |k| Ok(addresses[k]))?;
        let (mut addresses, mut rest) = (&mut within[..], out);
        while let Some(&mut first) = addresses.first_mut() {
            let (part, own) = self.part(first)?;
            let count = addresses.iter().take_while(|address| own.contains(address)).count();
            let ((these, others), (now, later)) =
                (addresses.split_at_mut(count), rest.split_at_mut(count));
            these.iter_mut().for_each(|address| *address -= own.start);
            part.read_at(these, now).map_err(|e| Self::shifted(e, own.start))?;
            (addresses, rest) = (others, later);
        }
        Ok(())
    }

    fn box_depth(&self) -> usize {
        self.parts.iter().map(Reader::box_depth).max().unwrap_or(0)
    }
}

/// The elements of another storage at listed addresses.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Indexed;
/// let picked = Indexed::new(vec!['a', 'b', 'c'], vec![2_usize, 0])?;
/// assert_eq!(picked.read(0), 'c');
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Indexed<S, I> {
    storage: S,
    addresses: I,
}

impl<S: Reader, I: Reader<Elem = usize>> Indexed<S, I> {
    /// `storage` at every address that `addresses` holds.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if one lies outside, [`Error::Storage`] if one cannot be read.
    pub fn new(storage: S, addresses: I) -> Result<Self, Error> {
        let len = storage.len();
        for k in 0..addresses.len() {
            let address = addresses.try_read(k)?;
            if address >= len {
                return Err(Error::OutOfSpan { span: address..address.saturating_add(1), len });
            }
        }
        Ok(Self { storage, addresses })
    }
}

impl<S: Reader, I: Reader<Elem = usize>> Reader for Indexed<S, I> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.addresses.len()
    }

    fn read(&self, address: usize) -> S::Elem {
        self.storage.read(self.addresses.read(address))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        let inner = self.addresses.try_read(address)?;
        self.storage.try_read(inner).map_err(|e| StorageError { address, ..e })
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut inner = translate(out.len(), |_| Ok(0))?;
        self.addresses.read_run(start, step, &mut inner)?;
        self.storage.read_at(&inner, out).map_err(|e| {
            let at = inner.iter().position(|&address| address == e.address).unwrap_or(0);
            StorageError { address: start.wrapping_add_signed(step.wrapping_mul(at as isize)), ..e }
        })
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut inner = translate(addresses.len(), |_| Ok(0))?;
        self.addresses.read_at(addresses, &mut inner)?;
        self.storage.read_at(&inner, out).map_err(|e| {
            let at = inner.iter().position(|&address| address == e.address).unwrap_or(0);
            StorageError { address: addresses.get(at).copied().unwrap_or(0), ..e }
        })
    }

    fn box_depth(&self) -> usize {
        self.storage.box_depth().max(self.addresses.box_depth())
    }
}
