//! Elements that are computed when they are read.

use super::{Reader, Stored};
use crate::dtype::Arithmetic;
use crate::error::StorageError;
use crate::memory::debug_of_fields;

/// The same element at every address.
///
/// Sparse with no entries: its value is the fill.
///
/// ```
/// use lensor::Tensor;
/// use lensor::storage::Constant;
/// let t = Tensor::new([1 << 20, 1 << 20], Constant::new(1 << 40, 7))?;
/// assert_eq!(t.get([12345, 67890])?, 7);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant<T> {
    len: usize,
    value: T,
}

impl<T> Constant<T> {
    /// `value`, `len` times.
    pub const fn new(len: usize, value: T) -> Self {
        Self { len, value }
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

/// `start + step * address`: integers wrap, real floats are computed in `f64` and rounded once.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Progression;
/// assert_eq!(Progression::new(10, 1.0, 0.5).read(3), 2.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Progression<T> {
    len: usize,
    start: T,
    step: T,
}

impl<T> Progression<T> {
    /// `len` elements from `start` on, `step` apart.
    pub const fn new(len: usize, start: T, step: T) -> Self {
        Self { len, start, step }
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
        self.start.after(self.step, address)
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

debug_of_fields!([F] FromFn<F> |own| len: own.len);

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
/// let t = Tensor::new([4], Impulse::new(4, 0.0, 2, 1.0))?;
/// assert_eq!(t.to_vec()?, [0.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Impulse<T> {
    len: usize,
    fill: T,
    at: usize,
    value: T,
}

impl<T> Impulse<T> {
    /// `len` elements `fill`, but for `value` at address `at`, which may lie beyond the end.
    pub const fn new(len: usize, fill: T, at: usize, value: T) -> Self {
        Self { len, fill, at, value }
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
