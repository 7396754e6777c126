//! Tensors from data, functions and ranges.

use super::Tensor;
use crate::dtype::{Arithmetic, Cast};
use crate::error::{Error, Result};
use crate::memory::{try_reserve, try_with_capacity};
use crate::shape::Shape;
use crate::storage::{Constant, FromFn, Progression};

impl<T: Copy + Send + Sync> Tensor<Vec<T>> {
    /// A tensor that owns `data`, in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless `data` has just as many elements as `shape`, [`Error::ShapeOverflow`], and
    /// [`Error::RankLimit`] for more than 64 axes.
    ///
    /// ```
    /// use lensor::Tensor;
    /// assert!(Tensor::from_vec([2, 2], vec![1, 2, 3, 4]).is_ok());
    /// let error = Tensor::from_vec([2, 2], vec![1, 2, 3]).unwrap_err();
    /// assert_eq!(error.to_string(), "shape [2, 2] needs 4 elements, found 3");
    /// ```
    #[doc(alias = "from_shape_vec")]
    #[inline]
    pub fn from_vec(shape: impl Into<Shape>, data: Vec<T>) -> Result<Self> {
        let shape = shape.into();
        let (expected, found) = (shape.count()?, data.len());
        if expected < found {
            return Err(Error::Length { shape: shape.to_vec(), expected, found });
        }
        Self::new(shape, data)
    }

    /// A tensor that owns copies of `value`.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`], [`Error::RankLimit`], and [`Error::OutOfMemory`] if the elements cannot be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// assert_eq!(Tensor::full([2], 1.5)?.to_vec()?, [1.5, 1.5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "zeros")]
    #[doc(alias = "ones")]
    pub fn full(shape: impl Into<Shape>, value: T) -> Result<Self> {
        let shape = shape.into();
        let count = shape.count()?;
        let mut data = try_with_capacity(count)?;
        data.resize(count, value);
        Self::new(shape, data)
    }

    /// A tensor of `f` of every index, called in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`], [`Error::RankLimit`], and [`Error::OutOfMemory`] if the elements cannot be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_index([2, 2], |index| index[0] * 10 + index[1])?;
    /// assert_eq!(t.to_vec()?, [0, 1, 10, 11]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "from_shape_fn")]
    #[doc(alias = "fromfunction")]
    pub fn from_index(shape: impl Into<Shape>, mut f: impl FnMut(&[usize]) -> T) -> Result<Self> {
        let shape = shape.into();
        let mut data = try_with_capacity(shape.count()?)?;
        shape.indexes()?.visit(|index| data.push(f(index)));
        Self::new(shape, data)
    }

    /// A tensor from nested arrays or `Vec`s of numbers, `bool` or `char`, of any rank.
    ///
    /// # Errors
    ///
    /// [`Error::Ragged`] if rows differ in length, [`Error::RankLimit`] for lists nested too deeply,
    /// [`Error::ShapeOverflow`] for too many without elements, and [`Error::OutOfMemory`] if the elements cannot
    /// be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(t.shape(), [2, 3]);
    /// let error = Tensor::from_nested(vec![vec![1], vec![2, 3]]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "row 1 of a nested list has 2 elements, the first has 1: `Ragged::from_nested` takes such rows"
    /// );
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "array")]
    pub fn from_nested<N: Nested<Elem = T>>(nested: N) -> Result<Self> {
        Shape::check_rank(N::RANK)?;
        let mut data = Vec::new();
        let shape = nested.flatten(&mut data)?;
        Self::new(shape, data)
    }
}

impl<T: Copy + Send + Sync> Tensor<Constant<T>> {
    /// The same value at every index; takes no memory.
    ///
    /// Sparse without entries: expressions of sparse tensors stay sparse with it, but a function of stored entries has none
    /// where it is an operand, see [`zip_stored`](crate::expr::zip_stored).
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] and [`Error::RankLimit`] for a shape of too many elements or axes.
    ///
    /// ```
    /// use lensor::Tensor;
    /// assert_eq!(Tensor::constant([1 << 20, 1 << 20], 7)?.get([5, 9])?, 7);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn constant(shape: impl Into<Shape>, value: T) -> Result<Self> {
        let shape = shape.into();
        let count = shape.count()?;
        Self::new(shape, Constant::new(count, value))
    }
}

impl<T: Arithmetic> Tensor<Progression<T>>
where
    usize: Cast<T>,
{
    /// `0, 1, 2, ..` in row-major order; takes no memory.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] and [`Error::RankLimit`] for a shape of too many elements or axes.
    ///
    /// ```
    /// use lensor::{Tensor, storage::Progression};
    /// let t = Tensor::<Progression<i64>>::iota([2, 3])?;
    /// assert_eq!(t.flip(1)?.to_vec()?, [2, 1, 0, 5, 4, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn iota(shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        let count = shape.count()?;
        Self::new(shape, Progression::new(count, 0.cast_unchecked(), T::one()))
    }
}

impl<T: Copy + Send + Sync, F: Fn(usize) -> T + Send + Sync> Tensor<FromFn<F>> {
    /// A function of the row-major position, computed whenever it is read; takes no memory. One of the index is
    /// [`Tensor::from_index`].
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] and [`Error::RankLimit`] for a shape of too many elements or axes.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_fn([2, 3], |k| k * k)?;
    /// assert_eq!(t.select((1,))?.to_vec()?, [9, 16, 25]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_fn(shape: impl Into<Shape>, f: F) -> Result<Self> {
        let shape = shape.into();
        let count = shape.count()?;
        Self::new(shape, FromFn::new(count, f))
    }
}

impl<T: Copy + Send + Sync> From<Vec<T>> for Tensor<Vec<T>> {
    /// A tensor of rank 1.
    fn from(data: Vec<T>) -> Self {
        let map = crate::map::AddressMap::of_length(data.len());
        Self { map, storage: data }
    }
}

impl<'a, T: Copy + Send + Sync> From<&'a [T]> for Tensor<&'a [T]> {
    /// A view of rank 1.
    fn from(data: &'a [T]) -> Self {
        Self { map: crate::map::AddressMap::of_length(data.len()), storage: data }
    }
}

/// Nested arrays or `Vec`s of elements.
pub trait Nested {
    /// Type of the elements.
    type Elem;

    /// Number of axes, also of what has no elements.
    const RANK: usize;

    /// Appends all elements; returns the shape.
    ///
    /// # Errors
    ///
    /// [`Error::Ragged`] if rows differ in length, [`Error::OutOfMemory`] if the elements cannot be kept.
    fn flatten(self, data: &mut Vec<Self::Elem>) -> Result<Shape>;
}

macro_rules! nested {
    ($($(#[$cfg:meta])? $type:ty),*) => { $(
        nested!(@ $(#[$cfg])? [const N: usize] [$type; N], $type);
        nested!(@ $(#[$cfg])? [] Vec<$type>, $type);
    )* };
    (@ $(#[$cfg:meta])? [$($generics:tt)*] $list:ty, $type:ty) => {
        $(#[$cfg])?
        impl<$($generics)*> Nested for $list {
            type Elem = $type;
            const RANK: usize = 1;

            fn flatten(self, data: &mut Vec<$type>) -> Result<Shape> {
                let extent = self.len();
                try_reserve(data, extent)?;
                data.extend(self);
                Ok(Shape::from([extent]))
            }
        }
    };
}
nested! {
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, bool, char,
    #[cfg(feature = "half")] half::f16,
    #[cfg(feature = "half")] half::bf16,
    #[cfg(feature = "complex")] num_complex::Complex32,
    #[cfg(feature = "complex")] num_complex::Complex64
}

impl<R: Nested, const N: usize> Nested for [R; N] {
    type Elem = R::Elem;
    const RANK: usize = R::RANK + 1;

    fn flatten(self, data: &mut Vec<R::Elem>) -> Result<Shape> {
        rows(self, data)
    }
}

impl<R: Nested> Nested for Vec<R> {
    type Elem = R::Elem;
    const RANK: usize = R::RANK + 1;

    fn flatten(self, data: &mut Vec<R::Elem>) -> Result<Shape> {
        rows(self, data)
    }
}

fn rows<R: Nested>(
    rows: impl IntoIterator<Item = R, IntoIter: ExactSizeIterator>,
    data: &mut Vec<R::Elem>,
) -> Result<Shape> {
    let mut inner: Option<Shape> = None;
    let (mut count, mut rows) = (0, rows.into_iter());
    while let Some(row) = rows.next() {
        let shape = row.flatten(data)?;
        // Rows that take no memory are all alike: without elements, as those of arrays of none are, they are only counted.
        if size_of::<R>() == 0 && shape.contains(&0) {
            return Ok(std::iter::once(1 + rows.len()).chain(shape.iter().copied()).collect());
        }
        let first = inner.get_or_insert_with(|| shape.clone());
        // Rows of an equal number of rows may differ deeper down.
        let lengths = first.iter().zip(shape.iter()).find(|(a, b)| a != b);
        if let Some((&expected, &found)) = lengths {
            return Err(Error::Ragged { row: count, expected, found });
        }
        count += 1;
    }
    let inner = inner.unwrap_or_else(|| std::iter::repeat_n(0, R::RANK).collect());
    Ok(std::iter::once(count).chain(inner.iter().copied()).collect())
}
