//! Storage: anything that can read an element at an address.
//!
//! [`Reader`] has two required methods, [`Writer`] one more. The provided ones describe the same
//! elements, faster or fallibly. The library itself calls the block methods and the `try_` methods
//! only.

mod boxed;
mod composed;
mod computed;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dense;
mod encoded;
#[cfg(feature = "mmap")]
mod mapped;
mod sparse;
mod stream;

pub use boxed::{BoxReader, DynReader};
pub use composed::{Concat, Indexed};
pub use computed::{Constant, FromFn, Impulse, Progression};
pub use dense::SubBuffer;
pub use encoded::Encoded;
#[cfg(feature = "mmap")]
pub use mapped::{Mapped, MappedMut};
pub use sparse::{Duplicates, Sparse};
pub(crate) use sparse::{sort_entries, sort_pairs};
pub(crate) use stream::{Checked, fill};
pub use stream::{read_elements, read_elements_at};

use crate::error::StorageError;
use crate::memory::try_with_capacity;
use std::ops::Deref;
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

    /// Boxes within boxes below this storage, at the deepest.
    #[doc(hidden)]
    fn box_depth(&self) -> usize {
        0
    }

    /// See [`BoxReader::new`].
    #[doc(hidden)]
    fn boxed<'a>(self) -> BoxReader<'a, Self::Elem>
    where
        Self: Sized + Clone + 'a,
    {
        BoxReader::around(self)
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
        ordinals: std::ops::Range<usize>,
        addresses: Vec<usize>,
        values: Vec<Self::Elem>,
    ) -> crate::Result<()>;
}

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

/// Addresses in a storage below: of each of `count` positions of a block.
pub(crate) fn translate(
    count: usize,
    address: impl Fn(usize) -> Result<usize, StorageError>,
) -> Result<Vec<usize>, StorageError> {
    let mut all = try_with_capacity(count).map_err(|error| StorageError::new(0, error))?;
    for k in 0..count {
        all.push(address(k)?);
    }
    Ok(all)
}

/// Forwards every method, provided ones included: a forgotten `stored` would densify silently, a
/// forgotten `as_slice` would be slow.
macro_rules! forward_reader {
    ($([$($generics:tt)*] $pointer:ty, $levels:literal { $($own:tt)* })*) => { $(
        impl<$($generics)*> Reader for $pointer {
            type Elem = <<Self as Deref>::Target as Reader>::Elem;

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

            #[inline]
            fn box_depth(&self) -> usize {
                (**self).box_depth() + $levels
            }

            $($own)*
        }
    )* };
}
forward_reader! {
    [R: Reader + ?Sized] &R, 0 {}
    [R: Reader + ?Sized] &mut R, 0 {}
    [R: Reader + ?Sized] Box<R>, 0 {}
    [R: Reader + ?Sized] Arc<R>, 0 {}
    ['x, T: Copy + Send + Sync] BoxReader<'x, T>, 1 {
        /// A box of a box is one box.
        fn boxed<'a>(self) -> BoxReader<'a, T>
        where
            'x: 'a,
        {
            self
        }
    }
}

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
