//! Pointers to storage as storage.

use super::{Blocks, BlocksMut, BoxReader, Reader, Stored, StoredMut, Writer};
use crate::error::StorageError;
use std::ops::Deref;
use std::sync::Arc;

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
            fn blocks(&self) -> Option<&dyn Blocks<Elem = Self::Elem>> {
                (**self).blocks()
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
            fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = Self::Elem>> {
                (**self).blocks_mut()
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
