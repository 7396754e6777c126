//! Elements that are computed when they are read.

use super::{Reader, Stored, TOGETHER};
use crate::dtype::Arithmetic;
use crate::error::{Error, StorageError};
use crate::memory::room;
use std::fmt;

/// The same element at every address.
///
/// Sparse with no entries: its value is the fill.
///
/// ```
/// use lensor::Tensor;
/// use lensor::storage::Constant;
/// let t = Tensor::new([1 << 20, 1 << 20], Constant::new(7, 1 << 40))?;
/// assert_eq!(t.get(&[12345, 67890])?, 7);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant<T> {
    value: T,
    len: usize,
}

impl<T> Constant<T> {
    /// `value`, `len` times.
    pub const fn new(value: T, len: usize) -> Self {
        Self { value, len }
    }
}

impl<T: Copy + Send + Sync> Reader for Constant<T> {
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn read(&self, _address: usize) -> T {
        self.value
    }

    fn read_run(&self, _start: usize, _step: isize, out: &mut [T]) -> Result<(), StorageError> {
        out.fill(self.value);
        Ok(())
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = T>> {
        Some(self)
    }
}

impl<T: Copy + Send + Sync> Stored for Constant<T> {
    type Elem = T;

    fn fill(&self) -> T {
        self.value
    }

    fn count(&self) -> usize {
        0
    }

    fn rank(&self, _address: usize) -> usize {
        0
    }

    fn entries(&self, _from: usize, _addresses: &mut [usize], _values: &mut [T]) -> usize {
        0
    }
}

/// `start + step * address`, in the arithmetic of the elements: integers wrap.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Progression;
/// assert_eq!(Progression::new(1.0, 0.5, 10).read(3), 2.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progression<T> {
    start: T,
    step: T,
    len: usize,
}

impl<T> Progression<T> {
    /// `len` elements from `start` on, `step` apart.
    pub const fn new(start: T, step: T, len: usize) -> Self {
        Self { start, step, len }
    }
}

impl<T: Arithmetic> Reader for Progression<T>
where
    usize: crate::dtype::Cast<T>,
{
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn read(&self, address: usize) -> T {
        let count: T = crate::dtype::Cast::cast_unchecked(address);
        self.start.plus(self.step.times(count))
    }
}

/// A function of the address.
///
/// ```
/// use lensor::{Tensor, storage::FromFn};
/// let t = Tensor::new([2, 2], FromFn::new(4, |address| address % 3))?;
/// assert_eq!(t.to_vec()?, [0, 1, 2, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct FromFn<F> {
    function: F,
    len: usize,
}

impl<F> FromFn<F> {
    /// `function` of every address below `len`. It must give the same value for the same address.
    pub const fn new(len: usize, function: F) -> Self {
        Self { function, len }
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Copy + Send + Sync, F: Fn(usize) -> T + Send + Sync> Reader for FromFn<F> {
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn read(&self, address: usize) -> T {
        (self.function)(address)
    }
}

/// One element at one address, another at all others.
///
/// Sparse, with at most one entry. Views make more of it: an identity matrix is a view of 1 among zeros
/// whose rows go back by one address.
///
/// ```
/// use lensor::{Tensor, storage::Impulse};
/// let t = Tensor::new([4], Impulse::new(4, 2, 1.0, 0.0))?;
/// assert_eq!(t.to_vec()?, [0.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impulse<T> {
    len: usize,
    at: usize,
    value: T,
    fill: T,
}

impl<T> Impulse<T> {
    /// `value` at address `at`, which may lie beyond the end, and `fill` at every other one below `len`.
    pub const fn new(len: usize, at: usize, value: T, fill: T) -> Self {
        Self { len, at, value, fill }
    }
}

impl<T: Copy + Send + Sync> Reader for Impulse<T> {
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn read(&self, address: usize) -> T {
        if address == self.at { self.value } else { self.fill }
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = T>> {
        Some(self)
    }
}

impl<T: Copy + Send + Sync> Stored for Impulse<T> {
    type Elem = T;

    fn fill(&self) -> T {
        self.fill
    }

    fn count(&self) -> usize {
        usize::from(self.at < self.len)
    }

    fn rank(&self, address: usize) -> usize {
        usize::from(self.at < address.min(self.len))
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [T]) -> usize {
        match (addresses, values) {
            ([address, ..], [value, ..]) if from < self.count() => {
                (*address, *value) = (self.at, self.value);
                1
            }
            _ => 0,
        }
    }
}

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
        let mut ends = room(parts.len())?;
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

    /// The part that holds `address`, and where it starts.
    fn part(&self, address: usize) -> Option<(&R, usize)> {
        let which = self.ends.partition_point(|&end| end <= address);
        let start = if which == 0 { 0 } else { self.ends[which - 1] };
        Some((self.parts.get(which)?, start))
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
            Some((part, start)) => part.read(address - start),
            None => panic!("address {address} is beyond the {} elements", self.len()),
        }
    }

    fn try_read(&self, address: usize) -> Result<R::Elem, StorageError> {
        let (part, start) =
            self.part(address).ok_or_else(|| StorageError::beyond(address, self.len()))?;
        part.try_read(address - start).map_err(|e| Self::shifted(e, start))
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
            let (part, first) =
                self.part(address).ok_or_else(|| StorageError::beyond(address, self.len()))?;
            let within = address - first;
            let steps_left = match step {
                0 => usize::MAX,
                1.. => (part.len().saturating_sub(within + 1)) / step as usize,
                _ => within / step.unsigned_abs(),
            };
            let count = rest.len().min(steps_left.saturating_add(1));
            let (now, later) = rest.split_at_mut(count);
            part.read_run(within, step, now).map_err(|e| Self::shifted(e, first))?;
            address = address.wrapping_add_signed(step.wrapping_mul(count as isize));
            rest = later;
        }
        Ok(())
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
        let mut addresses = [0; TOGETHER];
        for (first, out) in (0..).step_by(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            let addresses = &mut addresses[..out.len()];
            let at = |k: usize| start.wrapping_add_signed(step.wrapping_mul((first + k) as isize));
            self.addresses.read_run(at(0), step, addresses)?;
            self.storage.read_at(addresses, out).map_err(|e| {
                let k = addresses.iter().position(|&address| address == e.address).unwrap_or(0);
                StorageError { address: at(k), ..e }
            })?;
        }
        Ok(())
    }
}
