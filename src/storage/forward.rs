//! Pointers to storage as storage.

use super::{Block, BlockIndex, Blocks, BlocksMut, BoxReader, Reader, Stored, StoredMut, Writer};
use crate::error::StorageError;
use crate::grid::Starts;
use crate::memory::forward;
use std::ops::Deref;
use std::sync::Arc;

/// All methods are forwarded, provided ones included: a forgotten `stored` would densify silently, a forgotten `as_slice`
/// would be slow.
macro_rules! forward_reader {
    ($([$($generics:tt)*] $pointer:ty, $levels:literal { $($own:tt)* })*) => { $(
        impl<$($generics)*> Reader for $pointer {
            type Elem = <<Self as Deref>::Target as Reader>::Elem;

            forward! { #[inline]
                ref len() -> usize;
                ref read(address: usize) -> Self::Elem;
                ref is_empty() -> bool;
                ref try_read(address: usize) -> Result<Self::Elem, StorageError>;
                ref as_slice() -> Option<&[Self::Elem]>;
                ref read_run(start: usize, step: isize, out: &mut [Self::Elem]) -> Result<(), StorageError>;
                ref read_at(addresses: &[usize], out: &mut [Self::Elem]) -> Result<(), StorageError>;
                ref stored() -> Option<&dyn Stored<Elem = Self::Elem>>;
                ref blocks() -> Option<&dyn Blocks<Elem = Self::Elem>>;
                ref entries_below() -> Option<usize>;
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
            forward! { #[inline]
                mut write(address: usize, value: Self::Elem);
                mut try_write(address: usize, value: Self::Elem) -> Result<(), StorageError>;
                mut as_mut_slice() -> Option<&mut [Self::Elem]>;
                mut stored_mut() -> Option<&mut dyn StoredMut<Elem = Self::Elem>>;
                mut blocks_mut() -> Option<&dyn BlocksMut<Elem = Self::Elem>>;
                mut write_run(start: usize, step: isize, from: &[Self::Elem]) -> Result<(), StorageError>;
                mut write_at(addresses: &[usize], from: &[Self::Elem]) -> Result<(), StorageError>;
            }
        }
    )* };
}
forward_writer!(&mut W, Box<W>);

macro_rules! forward_blocks {
    ($($pointer:ty),*) => { $(
        impl<B: Blocks + ?Sized> Blocks for $pointer {
            type Elem = B::Elem;

            forward! { #[inline]
                ref extents() -> &[usize];
                ref block() -> &[usize];
                ref starts(axis: usize) -> Option<Starts>;
                ref load(index: &[usize]) -> Result<Block<'_, B::Elem>, StorageError>;
                ref budget() -> usize;
                ref ahead() -> usize;
                ref expect(next: &[BlockIndex]);
                ref share(elements: Vec<B::Elem>) -> Option<Block<'_, B::Elem>>;
            }
        }

        impl<B: BlocksMut + ?Sized> BlocksMut for $pointer {
            forward! { #[inline]
                ref store(index: &[usize], from: &[B::Elem]) -> Result<(), StorageError>;
                ref change(index: &[usize], change: &mut dyn FnMut(&mut [B::Elem])) -> Result<(), StorageError>;
                ref finish() -> Result<(), StorageError>;
            }
        }
    )* };
}
forward_blocks!(&B, Box<B>, Arc<B>);
