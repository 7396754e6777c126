//! Where the elements of a leaf lie.

use crate::error::Result;
use crate::map::AddressMap;
use crate::memory::owned;
use crate::storage::{Blocks, Reader, Sparse, Stored};
use crate::tensor::stored::{Entries, entries_at, entries_of};
use std::ops::Deref;
use std::sync::Arc;

/// The memory that elements of a leaf lie in, if they do.
#[derive(Clone)]
pub(in crate::expr) enum Memory<'a, T> {
    None,
    Borrowed(&'a [T]),
    /// The result of a deferred operation.
    Shared(Arc<Vec<T>>),
    /// A copy of the elements of a box.
    Copied(Arc<Vec<T>>),
    /// A block of as many elements.
    Block(Arc<dyn AsRef<[T]> + Send + Sync>, usize),
}

impl<'a, T> Memory<'a, T> {
    #[inline(always)]
    pub(in crate::expr) fn of(slice: Option<&'a [T]>) -> Self {
        slice.map_or(Self::None, Self::Borrowed)
    }

    #[inline(always)]
    pub(in crate::expr) fn slice(&self) -> Option<&[T]> {
        match self {
            Self::None => None,
            Self::Borrowed(slice) => Some(slice),
            Self::Shared(elements) | Self::Copied(elements) => Some(elements),
            Self::Block(block, len) => (**block).as_ref().get(..*len),
        }
    }
}

/// Where a leaf reads the elements that it has no memory of.
#[derive(Clone)]
pub(in crate::expr) enum Origin<'a, T> {
    Borrowed(&'a dyn Reader<Elem = T>),
    /// The result of a function of stored entries.
    Shared(Arc<Sparse<T>>),
}

impl<'a, T: Copy + Send + Sync> Origin<'a, T> {
    pub(in crate::expr) fn blocks(&self) -> Option<&'a dyn Blocks<Elem = T>> {
        match self {
            Self::Borrowed(storage) => Reader::blocks(&**storage),
            Self::Shared(_) => None,
        }
    }

    /// Entries in the order of a map, all or those at ascending positions, if the storage has any.
    pub(in crate::expr) fn entries(
        &self,
        map: &AddressMap,
        at: Option<&[usize]>,
    ) -> Result<Option<(Entries<'a, T>, T)>> {
        match self {
            Self::Borrowed(storage) => {
                let stored = Reader::stored(&**storage);
                stored.map(|stored| Ok((found(map, stored, at)?, stored.fill()))).transpose()
            }
            Self::Shared(storage) => {
                let Entries { positions, values } = found(map, &**storage, at)?;
                let (positions, values) = (owned(positions)?.into(), owned(values)?.into());
                Ok(Some((Entries { positions, values }, storage.fill())))
            }
        }
    }
}

impl<'a, T: Copy + Send + Sync + 'a> Deref for Origin<'a, T> {
    type Target = dyn Reader<Elem = T> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Borrowed(storage) => *storage,
            Self::Shared(storage) => &**storage,
        }
    }
}

/// The stored entries that a map shows: all, or those at ascending positions.
fn found<'s, T: Copy>(
    map: &AddressMap,
    stored: &'s dyn Stored<Elem = T>,
    at: Option<&[usize]>,
) -> Result<Entries<'s, T>> {
    match at {
        None => entries_of(map, stored),
        Some(at) => entries_at(map, stored, at),
    }
}
