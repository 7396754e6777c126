//! Extents, their product and their indexes.

mod align;
mod indexes;

use crate::error::{Error, Result};
pub use align::Align;
pub(crate) use align::first_difference;
pub use indexes::Indexes;
use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// One number per axis, kept inline up to rank 4.
pub type Index = SmallVec<[usize; 4]>;

/// The extents of a tensor, outermost axis first.
///
/// A `Shape` dereferences to a slice of its extents.
///
/// ```
/// use lensor::Shape;
/// let shape = Shape::from([2, 3]);
/// assert_eq!(shape.rank(), 2);
/// assert_eq!(shape.count()?, 6);
/// assert_eq!(shape[1], 3);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Eq, Default)]
pub struct Shape(Index);

/// Element by element: shapes are too short for a call of `memcmp`.
impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Self {
        Self(copy_inline(&self.0))
    }
}

/// A copy of a short list: where there are few, without a call of `memcpy`.
#[inline(always)]
pub(crate) fn copy_inline<T: Copy + Default, const N: usize>(list: &[T]) -> SmallVec<[T; N]> {
    match list.len() > N {
        true => SmallVec::from_slice(list),
        false => collect_inline(list.len(), T::default(), |k| list[k]),
    }
}

/// `f` of `0..count`, without a check for space at each step where there are few.
#[inline(always)]
pub(crate) fn collect_inline<T: Copy, const N: usize>(
    count: usize,
    zero: T,
    mut f: impl FnMut(usize) -> T,
) -> SmallVec<[T; N]> {
    if count > N {
        return (0..count).map(f).collect();
    }
    let mut buffer = [zero; N];
    for (k, slot) in buffer.iter_mut().enumerate().take(count) {
        *slot = f(k);
    }
    SmallVec::from_buf_and_len(buffer, count)
}

impl Shape {
    /// Most axes of a tensor, a map or a joint shape, as in NumPy. A shape by itself may have more.
    pub const MAX_RANK: usize = 64;

    /// Number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Extents as a slice.
    #[inline]
    pub fn extents(&self) -> &[usize] {
        &self.0
    }

    /// Extent of an axis.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if there is no such axis.
    ///
    /// ```
    /// use lensor::Shape;
    /// let shape = Shape::from([2, 3]);
    /// assert_eq!(shape.extent(1)?, 3);
    /// assert!(shape.extent(2).is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn extent(&self, axis: usize) -> Result<usize> {
        self.get(axis).copied().ok_or(Error::Axis { axis, rank: self.rank() })
    }

    /// This with another extent of one axis.
    pub(crate) fn with_extent(&self, axis: usize, extent: usize) -> Result<Self> {
        self.extent(axis)?;
        let mut shape = self.clone();
        shape.0[axis] = extent;
        Ok(shape)
    }

    /// The extents of all axes but one.
    pub(crate) fn without(&self, axis: usize) -> Result<Self> {
        self.extent(axis)?;
        let mut shape = self.clone();
        shape.0.remove(axis);
        Ok(shape)
    }

    /// Number of elements: the product of the extents, 1 for rank 0.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if the product of the nonzero extents exceeds `isize::MAX`,
    /// also where another extent is 0: strides are products of extents too.
    #[inline]
    pub fn count(&self) -> Result<usize> {
        Self::count_of(self)
    }

    /// [`Self::count`] of these extents.
    #[inline]
    pub(crate) fn count_of(extents: &[usize]) -> Result<usize> {
        let mut nonzero: usize = 1;
        let mut empty = false;
        for &extent in extents {
            empty |= extent == 0;
            nonzero = match nonzero.checked_mul(extent.max(1)) {
                Some(product) if product <= isize::MAX as usize => product,
                _ => return Err(Error::ShapeOverflow { shape: extents.to_vec() }),
            };
        }
        Ok(if empty { 0 } else { nonzero })
    }

    /// Refuses shapes of several elements, and of none.
    pub(crate) fn check_single(&self) -> Result<()> {
        match self.count() {
            Ok(1) => Ok(()),
            _ => Err(Error::NotSingle { shape: self.to_vec() }),
        }
    }

    #[inline]
    pub(crate) fn check_rank(rank: usize) -> Result<()> {
        if rank <= Self::MAX_RANK {
            return Ok(());
        }
        Err(Error::RankLimit { rank, limit: Self::MAX_RANK })
    }

    /// Every index in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if there are more than `isize::MAX`.
    ///
    /// ```
    /// use lensor::Shape;
    /// let indexes: Vec<_> = Shape::from([1, 2]).indexes()?.map(|i| i.to_vec()).collect();
    /// assert_eq!(indexes, [[0, 0], [0, 1]]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "ndindex")]
    #[doc(alias = "ndenumerate")]
    #[doc(alias = "indexed_iter")]
    pub fn indexes(&self) -> Result<Indexes> {
        Indexes::new(self)
    }

    /// The index at a row-major position, such as `argmax(..)` gives; `None` if there is no such position.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3, 1, 4], [1, 5, 9]])?;
    /// let position = t.argmax(..).item()?;
    /// assert_eq!(t.shape().index_at(position).as_deref(), Some(&[1, 2][..]));
    /// assert_eq!(t.shape().index_at(6), None);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "unravel_index")]
    pub fn index_at(&self, position: usize) -> Option<Index> {
        self.count().is_ok_and(|count| position < count).then(|| self.unravel(position))
    }

    /// The row-major position of an index, which [`Self::index_at`] takes back.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless there is one number per axis, [`Error::Index`] for the first that lies outside, and
    /// [`Error::ShapeOverflow`] if positions cannot be counted.
    ///
    /// ```
    /// use lensor::Shape;
    /// let shape = Shape::from([2, 3]);
    /// assert_eq!(shape.position_of([1, 2])?, 5);
    /// assert!(shape.position_of([2, 0]).is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "ravel_multi_index")]
    pub fn position_of(&self, index: impl AsRef<[usize]>) -> Result<usize> {
        let index = index.as_ref();
        if index.len() != self.rank() {
            let (expected, found) = (self.rank(), index.len());
            return Err(Error::Rank { what: "indexes", expected, found });
        }
        for (axis, (&digit, &extent)) in index.iter().zip(&self.0).enumerate() {
            if digit >= extent {
                return Err(Error::Index { axis, index: digit as i128, extent });
            }
        }
        self.count()?;
        Ok(self.ravel(index))
    }

    /// The index at row-major position `position`; the digits of a number in mixed radix.
    pub(crate) fn unravel(&self, mut position: usize) -> Index {
        let mut index: Index = self.0.iter().map(|_| 0).collect();
        for (digit, &extent) in index.iter_mut().zip(&self.0).rev() {
            if extent > 0 {
                *digit = position % extent;
                position /= extent;
            }
        }
        index
    }

    /// Row-major position of an index that lies inside.
    pub(crate) fn ravel(&self, index: &[usize]) -> usize {
        index.iter().zip(&self.0).fold(0, |position, (digit, extent)| position * extent + digit)
    }
}

impl Deref for Shape {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl AsRef<[usize]> for Shape {
    fn as_ref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.extents(), f)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.extents(), f)
    }
}

impl From<Index> for Shape {
    #[inline]
    fn from(extents: Index) -> Self {
        Self(extents)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(extents: I) -> Self {
        Self(extents.into_iter().collect())
    }
}

impl From<Vec<usize>> for Shape {
    fn from(extents: Vec<usize>) -> Self {
        Self(Index::from_vec(extents))
    }
}

macro_rules! from_lists {
    ($([$($generics:tt)*] $List:ty;)*) => { $(
        impl<$($generics)*> From<$List> for Shape {
            #[inline]
            fn from(extents: $List) -> Self {
                Self(Index::from_slice(&extents[..]))
            }
        }
    )* };
}
from_lists! {
    [const N: usize] [usize; N];
    [const N: usize] &[usize; N];
    [] &[usize];
    [] &Vec<usize>;
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

impl From<usize> for Shape {
    fn from(extent: usize) -> Self {
        Self::from([extent])
    }
}

macro_rules! equals_lists {
    ($([$($generics:tt)*] $List:ty;)*) => { $(
        impl<$($generics)*> PartialEq<$List> for Shape {
            fn eq(&self, other: &$List) -> bool {
                self.extents() == &other[..]
            }
        }
    )* };
}
equals_lists! {
    [const N: usize] [usize; N];
    [] [usize];
    [] &[usize];
    [] Vec<usize>;
}

#[cfg(test)]
mod tests;
