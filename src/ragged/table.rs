//! Numbers behind offsets, of one of two widths.

use crate::kernel::spans::Number;
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::Arc;
use yoke::Yoke;

/// Numbers of one of two widths, shared by all who hold them; those of which one is negative are never read.
#[derive(Clone)]
pub(super) enum OffsetTable {
    U32(Numbers<u32>),
    U64(Numbers<u64>),
    Negative(Numbers<i64>),
}

/// Numbers of our own, or of an owner besides, who is asked when the table is made: it does not change.
#[derive(Clone)]
pub(super) enum Numbers<T: 'static> {
    Own(Arc<Vec<T>>),
    Lent(Yoke<&'static [T], Arc<dyn AsRef<[T]> + Send + Sync>>),
}

/// An owner of signed integers, none of which is negative.
pub(super) struct Unsigned<O>(pub(super) O);

impl<O: AsRef<[i32]>> AsRef<[u32]> for Unsigned<O> {
    fn as_ref(&self) -> &[u32] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}

impl<O: AsRef<[i64]>> AsRef<[u64]> for Unsigned<O> {
    fn as_ref(&self) -> &[u64] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}

impl<T: 'static> Numbers<T> {
    pub(super) fn lent(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        let owner: Arc<dyn AsRef<[T]> + Send + Sync> = Arc::new(owner);
        Self::Lent(Yoke::attach_to_cart(owner, |owner| owner.as_ref()))
    }
}

impl<T: 'static> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(numbers) => numbers,
            Self::Lent(numbers) => numbers.get(),
        }
    }
}

impl<T: 'static> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Own(Arc::new(numbers))
    }
}

/// Calls `$run` with the slice behind a table.
macro_rules! with_slice {
    ($table:expr, $slice:ident => $run:expr) => {
        match $table {
            $crate::ragged::table::OffsetTable::U32(all) => {
                let $slice = &all[..];
                $run
            }
            $crate::ragged::table::OffsetTable::U64(all) => {
                let $slice = &all[..];
                $run
            }
            $crate::ragged::table::OffsetTable::Negative(all) => {
                let $slice = &all[..];
                $run
            }
        }
    };
}
pub(super) use with_slice;

macro_rules! numbers {
    ($($type:ty)*) => { $(
        // One that is no address is the largest, which lies outside of everything.
        impl Number for $type {
            #[inline(always)]
            fn address(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }
    )* };
}
numbers!(u32 u64 i64);

impl Debug for OffsetTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with_slice!(self, all => all.fmt(f))
    }
}

impl OffsetTable {
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::U32(a), Self::U32(b)) => std::ptr::eq(&**a, &**b),
            (Self::U64(a), Self::U64(b)) => std::ptr::eq(&**a, &**b),
            _ => false,
        }
    }
}
