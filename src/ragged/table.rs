//! Numbers behind offsets, of one of two widths.

use crate::kernel::spans::Number;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Numbers of one of two widths, shared by all who hold them; those of which one is negative are never read.
#[derive(Clone)]
pub(super) enum Table {
    U32(Numbers<u32>),
    U64(Numbers<u64>),
    Negative(Numbers<i64>),
}

/// Numbers of our own, or of an owner besides.
#[derive(Clone)]
pub(super) enum Numbers<T> {
    Own(Arc<Vec<T>>),
    Lent(Arc<dyn Lends<T>>),
}

/// An owner that lends the same numbers whenever it is asked.
pub(super) trait Lends<T>: Send + Sync {
    fn numbers(&self) -> &[T];
}

/// An owner of integers `T`, none of which is negative.
pub(super) struct Owner<T, O>(O, PhantomData<fn() -> T>);

impl<T, O> Owner<T, O> {
    pub(super) fn new(owner: O) -> Self {
        Self(owner, PhantomData)
    }
}

macro_rules! lends {
    ($($type:ty: $word:ty;)*) => { $(
        impl<O: AsRef<[$type]> + Send + Sync> Lends<$word> for Owner<$type, O> {
            fn numbers(&self) -> &[$word] {
                bytemuck::cast_slice(self.0.as_ref())
            }
        }
    )* };
}
lends! {
    u32: u32;
    i32: u32;
    u64: u64;
    i64: u64;
}

impl<T> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(numbers) => numbers,
            Self::Lent(owner) => owner.numbers(),
        }
    }
}

impl<T> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Own(Arc::new(numbers))
    }
}

/// Calls `$run` with the slice behind a table.
macro_rules! with_slice {
    ($table:expr, $slice:ident => $run:expr) => {
        match $table {
            $crate::ragged::table::Table::U32(all) => {
                let $slice = &all[..];
                $run
            }
            $crate::ragged::table::Table::U64(all) => {
                let $slice = &all[..];
                $run
            }
            $crate::ragged::table::Table::Negative(all) => {
                let $slice = &all[..];
                $run
            }
        }
    };
}
pub(super) use with_slice;

/// A number of a table. One that is no address is the largest, which lies outside of everything.
pub(super) trait Exact: Number {
    fn exact(self) -> i128;
}

macro_rules! numbers {
    ($($type:ty)*) => { $(
        impl Number for $type {
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "of all four types")]
            fn address(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }

        impl Exact for $type {
            fn exact(self) -> i128 {
                self as i128
            }
        }
    )* };
}
numbers!(u32 u64 i64);

impl Debug for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with_slice!(self, all => all.fmt(f))
    }
}

impl Table {
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::U32(a), Self::U32(b)) => std::ptr::eq(&**a, &**b),
            (Self::U64(a), Self::U64(b)) => std::ptr::eq(&**a, &**b),
            _ => false,
        }
    }
}
