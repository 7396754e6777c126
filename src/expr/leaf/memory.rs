//! Where the elements of a leaf lie.

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
