//! Storage that comes in blocks: chunks of compressed arrays, tiles of images, pages of files.

#[cfg(doc)]
use super::Reader;
use crate::error::{Error, Result, StorageError};
use crate::grid::{Sides, Starts};
use crate::memory::list;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Number of a block along each axis.
pub type BlockIndex = SmallVec<[usize; 4]>;

/// Storage that comes in blocks, as numbers and elements. Addresses are row-major in [`Self::extents`].
///
/// A storage says that it has blocks by [`Reader::blocks`]. Views of it are then evaluated block by block: an
/// evaluation is cut where blocks end, and loops run over the elements of a block where they lie, with nothing
/// copied in between. Blocks of fewer than 4096 elements are too small for that: what is read at once lies in many of them,
/// and where few are held each may be loaded several times. [`Chunked`](super::Chunked) makes a reader and a writer of
/// blocks alone, and keeps those used last.
///
/// # Required of implementations
///
/// `extents` and `block` stay the same and have as many numbers, the product of `extents` is the number of
/// elements, and no number of `block` is 0; `starts` stay the same, are of these extents, and no farther apart than
/// `block`, with what they skip. Blocks of one index hold the same elements while `self` is borrowed. Blocks are loaded by several threads at
/// once. A violation may give wrong numbers or an error, never undefined behaviour. The `conformance` feature tests this
/// behind a cache of one block: by `check_reader` of a `Chunked` `with_blocks(1)`, or by `check_blocks` of [`BlocksMut`].
///
/// ```
/// use lensor::prelude::*;
/// use lensor::StorageError;
/// use lensor::storage::{Block, Blocks, Chunked};
///
/// /// A table of products, computed 4 x 4 at a time.
/// struct Products;
/// impl Blocks for Products {
///     type Elem = u64;
///     fn extents(&self) -> &[usize] {
///         &[10, 10]
///     }
///     fn block(&self) -> &[usize] {
///         &[4, 4]
///     }
///     fn load(&self, index: &[usize]) -> Result<Block<'_, u64>, StorageError> {
///         let (i, j) = (4 * index[0], 4 * index[1]);
///         let elements: Vec<u64> = (0..16).map(|k| ((i + k / 4) * (j + k % 4)) as u64).collect();
///         Ok(Block::from(elements))
///     }
/// }
/// let t = Tensor::new([10, 10], Chunked::new(Products)?)?;
/// assert_eq!(t.get([7, 9])?, 63);
/// assert_eq!(t.view().transpose([1, 0])?.sum(0).eval()?.to_vec()?[3], 135);
/// # Ok::<(), Error>(())
/// ```
pub trait Blocks: Send + Sync {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;

    /// Extents of the whole.
    fn extents(&self) -> &[usize];

    /// Extents of a block.
    fn block(&self) -> &[usize];

    /// Where blocks begin along an axis, if not at multiples of their extent. Blocks are numbered in this order. Asked
    /// for several times by each evaluation: a clone of what is kept.
    fn starts(&self, axis: usize) -> Option<Starts> {
        let _ = axis;
        None
    }

    /// The elements of the block of this index, one number per axis, in row-major order of [`Self::block`]; what lies
    /// beyond an edge of the whole, where the next block begins, or in front of where this one does
    /// ([`Starts::skipped`]), is there, too, and never looked at.
    ///
    /// # Errors
    ///
    /// What the storage reports, with an address of the block: who asks names its first one.
    fn load(&self, index: &[usize]) -> Result<Block<'_, Self::Elem>, StorageError>;

    /// How many blocks are held at once, so that loading one of them again costs nothing. Evaluations of several
    /// operands visit blocks in groups of as many.
    fn budget(&self) -> usize {
        0
    }

    /// How many blocks ahead [`Self::expect`] is to be told of; 0: of none.
    fn ahead(&self) -> usize {
        0
    }

    /// Tells of blocks that are loaded next, in this order, unless the evaluation ends before. Operands that share a
    /// storage tell of theirs one after the other; once a block is loaded, what its thread tells comes in the place of
    /// all that it told before.
    fn expect(&self, next: &[BlockIndex]) {
        let _ = next;
    }

    /// Elements as a block, however many they are, as `Some(elements.into())` makes of any that are `'static`. Where this is
    /// `None`, as it is asked with none first, views that turn, list or exchange axes have no blocks when they are joined or
    /// padded, nor have parts whose blocks do not meet. [`Chunked`](super::Chunked) has it.
    fn share(&self, elements: Vec<Self::Elem>) -> Option<Block<'_, Self::Elem>> {
        let _ = elements;
        None
    }
}

/// Storage in blocks that can be written a block at a time.
///
/// A `store` that forgets where the last blocks are cut overwrites others, which no reader sees that has those in its
/// cache: `conformance::check_blocks` (feature `conformance`) asks the storage itself.
pub trait BlocksMut: Blocks {
    /// Replaces the elements of a block, which [`Blocks::load`] gives from then on. Different blocks are stored by several
    /// threads at once. A block may be loaded while it is stored, by a thread that waited for a second or more, or within
    /// other loads: it is to be what it was or what it becomes. What is never looked at ([`Blocks::load`]) has any values.
    ///
    /// # Errors
    ///
    /// What the storage reports; the block is then what it was, or not known.
    fn store(&self, index: &[usize], from: &[Self::Elem]) -> Result<(), StorageError>;

    /// Changes some elements of a block, as assignments do that cover a part of it. This loads, changes and stores it;
    /// storage that several handles write to at once, each other elements, lets nobody in between: `change` asks nothing of
    /// the storage itself.
    ///
    /// # Errors
    ///
    /// What the storage reports; the block is then what it was, or not known.
    fn change(
        &self,
        index: &[usize],
        change: &mut dyn FnMut(&mut [Self::Elem]),
    ) -> Result<(), StorageError> {
        let failed = |error: Error| StorageError::new(0, error);
        let len = Sides::of(self).map_err(failed)?.block_len;
        let block = self.load(index)?;
        block.check(len, 0)?;
        let mut elements = block.to_list(len).map_err(failed)?;
        drop(block);
        change(&mut elements);
        self.store(index, &elements)
    }

    /// Ends the writing of one assignment: what is held back, though `load` gives it already, goes where it stays.
    /// [`Chunked`](super::Chunked) asks for that at the end of assignments, flushes and its life.
    ///
    /// # Errors
    ///
    /// What the storage reports.
    fn finish(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// The elements of one block.
#[derive(Clone)]
pub enum Block<'b, T> {
    /// All are equal.
    Fill(T),
    /// They lie in memory already.
    Borrowed(&'b [T]),
    /// They lie in memory that is shared.
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
}

impl<T: fmt::Debug> fmt::Debug for Block<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fill(value) => f.debug_tuple("Fill").field(value).finish(),
            Self::Borrowed(elements) => f.debug_tuple("Borrowed").field(elements).finish(),
            Self::Shared(elements) => {
                f.debug_tuple("Shared").field(&(**elements).as_ref()).finish()
            }
        }
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Block<'_, T> {
    fn from(elements: Vec<T>) -> Self {
        Self::Shared(Arc::new(elements))
    }
}

impl<T> Block<'_, T> {
    /// All elements where they lie. `None` of [`Block::Fill`], whose elements lie nowhere.
    ///
    /// ```
    /// use lensor::storage::Block;
    /// let block: Block<'_, i32> = vec![1, 2].into();
    /// assert_eq!(block.as_slice(), Some(&[1, 2][..]));
    /// assert_eq!(Block::Fill(7).as_slice(), None);
    /// ```
    #[inline]
    pub fn as_slice(&self) -> Option<&[T]> {
        match self {
            Self::Fill(_) => None,
            Self::Borrowed(elements) => Some(elements),
            Self::Shared(elements) => Some((**elements).as_ref()),
        }
    }

    /// A copy of the elements, of which there are to be so many.
    pub(crate) fn to_list(&self, len: usize) -> Result<Vec<T>>
    where
        T: Copy,
    {
        match self {
            Self::Fill(value) => list(std::iter::repeat_n(*value, len)),
            block => list(block.as_slice().unwrap_or_default().iter().copied()),
        }
    }

    /// Holds the number of elements against that of a block.
    pub(crate) fn check(&self, len: usize, address: usize) -> Result<(), StorageError> {
        let found = self.as_slice().map_or(len, <[T]>::len);
        if found == len {
            return Ok(());
        }
        Err(StorageError::new(address, format!("a block has {found} elements instead of {len}")))
    }
}
