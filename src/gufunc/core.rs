//! Cores: what an elementary function sees of its arguments.

use std::ops::{Deref, DerefMut};

/// A core of an input: its elements in row-major order.
///
/// It is a slice with a shape: one extent for each axis that the signature names, 1 for an optional one that the
/// operand lacks.
#[derive(Debug, Clone, Copy)]
pub struct Core<'c, T> {
    shape: &'c [usize],
    elements: &'c [T],
}

/// A core of an output: its elements in row-major order, all of them `T::default()` before each call.
#[derive(Debug)]
pub struct CoreMut<'c, T> {
    shape: &'c [usize],
    elements: &'c mut [T],
}

impl<'c, T> Core<'c, T> {
    #[inline]
    pub(super) const fn new(elements: &'c [T], shape: &'c [usize]) -> Self {
        Self { elements, shape }
    }

    /// One extent for each core axis.
    #[inline]
    pub fn shape(&self) -> &'c [usize] {
        self.shape
    }

    /// The element at an index.
    ///
    /// # Panics
    ///
    /// Panics if the index does not have one number per core axis, or one lies outside.
    ///
    /// ```
    /// use lensor::gufunc::Gufunc;
    /// use lensor::prelude::*;
    /// let turned = Gufunc::<[i64; 1], [i64; 1], _>::each("(m,n)->(n,m)", |[a], [mut out]| {
    ///     let [rows, columns] = [a.shape()[0], a.shape()[1]];
    ///     for k in 0..rows {
    ///         for j in 0..columns {
    ///             *out.at([j, k]) = a.at([k, j]);
    ///         }
    ///     }
    /// })?;
    /// let t = Tensor::from_nested([[1_i64, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(turned.call([&t]).to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn at<const N: usize>(&self, index: [usize; N]) -> T
    where
        T: Copy,
    {
        self.elements[position(index, self.shape)]
    }
}

impl<'c, T> CoreMut<'c, T> {
    #[inline]
    pub(super) const fn new(elements: &'c mut [T], shape: &'c [usize]) -> Self {
        Self { elements, shape }
    }

    /// One extent for each core axis.
    #[inline]
    pub fn shape(&self) -> &'c [usize] {
        self.shape
    }

    /// The element at an index, to be read or written; [`Core::at`] has an example.
    ///
    /// # Panics
    ///
    /// Panics if the index does not have one number per core axis, or one lies outside.
    #[inline]
    pub fn at<const N: usize>(&mut self, index: [usize; N]) -> &mut T {
        &mut self.elements[position(index, self.shape)]
    }
}

/// Row-major position of an index of a core.
#[inline]
#[track_caller]
fn position<const N: usize>(index: [usize; N], shape: &[usize]) -> usize {
    let inside = N == shape.len() && index.iter().zip(shape).all(|(digit, extent)| digit < extent);
    assert!(inside, "index {index:?} of a core of shape {shape:?}");
    index.iter().zip(shape).fold(0, |position, (digit, extent)| position * extent + digit)
}

impl<T> Deref for Core<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.elements
    }
}

impl<T> Deref for CoreMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.elements
    }
}

impl<T> DerefMut for CoreMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.elements
    }
}
