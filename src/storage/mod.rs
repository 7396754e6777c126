//! Storage: anything that can read an element at an address.
//!
//! [`Reader`] has two required methods, [`Writer`] one more. The provided ones describe the same
//! elements, faster or fallibly. The library itself calls the block methods and the `try_` methods
//! only.

mod computed;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dense;
mod encoded;
#[cfg(feature = "mmap")]
mod mapped;
mod sparse;
mod stream;

pub use computed::{Concat, Constant, FromFn, Impulse, Indexed, Progression};
pub use dense::SubBuffer;
pub use encoded::Encoded;
#[cfg(feature = "mmap")]
pub use mapped::{Mapped, MappedMut};
pub use sparse::{Duplicates, Sparse};
pub(crate) use sparse::{sort_entries, sort_pairs};
pub(crate) use stream::fill;
pub use stream::{read_elements, read_elements_at};

use crate::error::StorageError;
use dyn_clone::DynClone;
use std::sync::Arc;

/// Storage that can be read one element at a time.
///
/// # Required of implementations
///
/// `read(a)` returns the same value for the same `a` while `self` is borrowed, and the provided
/// methods describe the same elements. The `conformance` feature has a kit that tests both. A
/// violation may give wrong numbers, never undefined behaviour.
///
/// ```
/// use lensor::{Reader, Tensor};
///
/// struct Squares(usize);
/// impl Reader for Squares {
///     type Elem = usize;
///     fn len(&self) -> usize {
///         self.0
///     }
///     fn read(&self, address: usize) -> usize {
///         address * address
///     }
/// }
/// let t = Tensor::new([2, 3], Squares(6))?;
/// assert_eq!(t.view().transpose(&[1, 0])?.to_vec()?, [0, 9, 1, 16, 4, 25]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not storage that can be read",
    note = "implement `lensor::Reader` (two methods); it must be `Send + Sync`, so no `Rc` or `Cell` inside"
)]
pub trait Reader: Send + Sync {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;

    /// Number of addresses; valid ones are `0..len()`.
    fn len(&self) -> usize;

    /// Element at `address`.
    ///
    /// # Panics
    ///
    /// May panic if `address >= self.len()`, and where [`Self::try_read`] reports an error.
    fn read(&self, address: usize) -> Self::Elem;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element at `address`, where reading may fail.
    ///
    /// # Errors
    ///
    /// What the storage reports. The default reads and never fails.
    fn try_read(&self, address: usize) -> Result<Self::Elem, StorageError> {
        Ok(self.read(address))
    }

    /// All elements in memory order, if they lie in memory. Override it if they do.
    fn as_slice(&self) -> Option<&[Self::Elem]> {
        None
    }

    /// Reads `start, start + step, ..` into `out`.
    ///
    /// # Errors
    ///
    /// What the storage reports; `out` is then partly written.
    fn read_run(
        &self,
        start: usize,
        step: isize,
        out: &mut [Self::Elem],
    ) -> Result<(), StorageError> {
        if step == 1 {
            // A loop that compilers know to turn into vector instructions.
            for (k, slot) in out.iter_mut().enumerate() {
                *slot = self.try_read(start.wrapping_add(k))?;
            }
            return Ok(());
        }
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = self.try_read(start.wrapping_add_signed(step.wrapping_mul(k as isize)))?;
        }
        Ok(())
    }

    /// Reads `addresses` into `out`, one for one.
    ///
    /// # Errors
    ///
    /// What the storage reports; `out` is then partly written.
    fn read_at(&self, addresses: &[usize], out: &mut [Self::Elem]) -> Result<(), StorageError> {
        for (slot, &address) in out.iter_mut().zip(addresses) {
            *slot = self.try_read(address)?;
        }
        Ok(())
    }

    /// The entries that differ from a fill value, if the storage is sparse.
    fn stored(&self) -> Option<&dyn Stored<Elem = Self::Elem>> {
        None
    }
}

/// The entries of sparse storage, in ascending order of address.
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
pub trait StoredMut: Stored {
    /// Whether an element is the fill value, so that it needs no entry.
    fn is_fill(&self, value: Self::Elem) -> bool;

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
        ordinals: std::ops::Range<usize>,
        addresses: Vec<usize>,
        values: Vec<Self::Elem>,
    ) -> crate::Result<()>;
}

/// Addresses that are read at once by storage that turns them into others of another storage.
pub(crate) const TOGETHER: usize = 256;

/// Storage that can be written one element at a time.
pub trait Writer: Reader {
    /// Writes `value` to `address`.
    ///
    /// # Panics
    ///
    /// May panic if `address >= self.len()`, and where [`Self::try_write`] reports an error.
    fn write(&mut self, address: usize, value: Self::Elem);

    /// Writes `value` to `address`, where writing may fail.
    ///
    /// # Errors
    ///
    /// What the storage reports. The default writes and never fails.
    fn try_write(&mut self, address: usize, value: Self::Elem) -> Result<(), StorageError> {
        self.write(address, value);
        Ok(())
    }

    /// All elements in memory order, if they lie in memory. Override it if they do.
    fn as_mut_slice(&mut self) -> Option<&mut [Self::Elem]> {
        None
    }

    /// The entries that differ from a fill value, to be replaced, if the storage is sparse.
    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = Self::Elem>> {
        None
    }

    /// Writes `from` to `start, start + step, ..`.
    ///
    /// # Errors
    ///
    /// What the storage reports; the run is then partly written.
    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[Self::Elem],
    ) -> Result<(), StorageError> {
        for (k, &value) in from.iter().enumerate() {
            self.try_write(start.wrapping_add_signed(step.wrapping_mul(k as isize)), value)?;
        }
        Ok(())
    }

    /// Writes `from` to `addresses`, one for one.
    ///
    /// # Errors
    ///
    /// What the storage reports; the block is then partly written.
    fn write_at(&mut self, addresses: &[usize], from: &[Self::Elem]) -> Result<(), StorageError> {
        for (&address, &value) in addresses.iter().zip(from) {
            self.try_write(address, value)?;
        }
        Ok(())
    }
}

/// A reader that can be cloned behind `dyn`. Every `Reader + Clone` is one.
pub trait DynReader: Reader + DynClone {}

impl<R: Reader + Clone> DynReader for R {}

dyn_clone::clone_trait_object!(<T> DynReader<Elem = T>);

/// Any reader of elements `T`, boxed; clones.
pub type BoxReader<'a, T> = Box<dyn DynReader<Elem = T> + 'a>;

/// Forwards every method, provided ones included: a forgotten `stored` would densify silently, a
/// forgotten `as_slice` would be slow.
macro_rules! forward_reader {
    ($($pointer:ty),*) => { $(
        impl<R: Reader + ?Sized> Reader for $pointer {
            type Elem = R::Elem;

            #[inline]
            fn len(&self) -> usize {
                (**self).len()
            }

            #[inline]
            fn read(&self, address: usize) -> Self::Elem {
                (**self).read(address)
            }

            #[inline]
            fn is_empty(&self) -> bool {
                (**self).is_empty()
            }

            #[inline]
            fn try_read(&self, address: usize) -> Result<Self::Elem, StorageError> {
                (**self).try_read(address)
            }

            #[inline]
            fn as_slice(&self) -> Option<&[Self::Elem]> {
                (**self).as_slice()
            }

            #[inline]
            fn read_run(&self, start: usize, step: isize, out: &mut [Self::Elem]) -> Result<(), StorageError> {
                (**self).read_run(start, step, out)
            }

            #[inline]
            fn read_at(&self, addresses: &[usize], out: &mut [Self::Elem]) -> Result<(), StorageError> {
                (**self).read_at(addresses, out)
            }

            #[inline]
            fn stored(&self) -> Option<&dyn Stored<Elem = Self::Elem>> {
                (**self).stored()
            }
        }
    )* };
}
forward_reader!(&R, &mut R, Box<R>, Arc<R>);

macro_rules! forward_writer {
    ($($pointer:ty),*) => { $(
        impl<W: Writer + ?Sized> Writer for $pointer {
            #[inline]
            fn write(&mut self, address: usize, value: Self::Elem) {
                (**self).write(address, value);
            }

            #[inline]
            fn try_write(&mut self, address: usize, value: Self::Elem) -> Result<(), StorageError> {
                (**self).try_write(address, value)
            }

            #[inline]
            fn as_mut_slice(&mut self) -> Option<&mut [Self::Elem]> {
                (**self).as_mut_slice()
            }

            #[inline]
            fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = Self::Elem>> {
                (**self).stored_mut()
            }

            #[inline]
            fn write_run(&mut self, start: usize, step: isize, from: &[Self::Elem]) -> Result<(), StorageError> {
                (**self).write_run(start, step, from)
            }

            #[inline]
            fn write_at(&mut self, addresses: &[usize], from: &[Self::Elem]) -> Result<(), StorageError> {
                (**self).write_at(addresses, from)
            }
        }
    )* };
}
forward_writer!(&mut W, Box<W>);
