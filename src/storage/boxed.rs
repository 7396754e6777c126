//! Readers whose type is erased.

use super::Reader;
use crate::error::{Error, StorageError};
use crate::memory::debug_of_fields;
use dyn_clone::DynClone;
use std::ops::Deref;

/// Most boxes within boxes. Each level needs stack to read and to drop.
const DEPTH_LIMIT: usize = 256;

/// A reader that can be cloned behind `dyn`. Every `Reader + Clone` is one.
pub trait DynReader: Reader + DynClone {}

impl<R: Reader + Clone> DynReader for R {}

/// Any reader of elements `T`, boxed; clones.
///
/// ```
/// use lensor::storage::{BoxReader, Concat, Constant};
/// use lensor::Reader;
/// let parts = vec![BoxReader::new(vec![1, 2]), BoxReader::new(Constant::new(3, 7))];
/// assert_eq!(Concat::new(parts)?.read(4), 7);
/// # Ok::<(), lensor::Error>(())
/// ```
pub struct BoxReader<'a, T>(Box<dyn DynReader<Elem = T> + 'a>);

impl<'a, T: Copy + Send + Sync + 'a> BoxReader<'a, T> {
    /// Boxes a reader. A box of a box is one box.
    ///
    /// Storage of boxes of storage of boxes, as repeated [`Concat`](super::Concat)enation makes it, nests up to
    /// 256 deep. A deeper box, and so each around it, fails with [`Error::Storage`] at every element, whose source is
    /// [`Error::TooDeep`], and reads nothing: copy what is in it and go on from there.
    pub fn new(reader: impl Reader<Elem = T> + Clone + 'a) -> Self {
        reader.boxed()
    }

    /// What [`Self::new`] does for all readers but boxes.
    pub(super) fn around(reader: impl Reader<Elem = T> + Clone + 'a) -> Self {
        if reader.box_depth() < DEPTH_LIMIT {
            return Self(Box::new(reader));
        }
        Self(Box::new(TooDeep { len: reader.len(), elem: std::marker::PhantomData }))
    }
}

impl<T> Clone for BoxReader<'_, T> {
    fn clone(&self) -> Self {
        Self(dyn_clone::clone_box(&*self.0))
    }
}

debug_of_fields!([T] BoxReader<'_, T>);

impl<'a, T> Deref for BoxReader<'a, T> {
    type Target = dyn DynReader<Elem = T> + 'a;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// In the place of a box that was too deep, and of all boxes around it: every element fails.
#[derive(Clone)]
struct TooDeep<T> {
    len: usize,
    elem: std::marker::PhantomData<T>,
}

impl<T> TooDeep<T> {
    const ERROR: Error = Error::TooDeep { depth: DEPTH_LIMIT + 1, limit: DEPTH_LIMIT };
}

impl<T: Copy + Send + Sync> Reader for TooDeep<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    ///
    /// Panics: every element fails.
    fn read(&self, address: usize) -> T {
        panic!("cannot read address {address}: {}", Self::ERROR)
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        Err(StorageError::new(address, Self::ERROR))
    }

    /// Boxes around it are too deep as well, so that none of what else is in them is read.
    fn box_depth(&self) -> usize {
        DEPTH_LIMIT
    }
}
