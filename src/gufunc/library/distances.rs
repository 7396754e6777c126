//! Distances of points.

use super::{Called, named};
use crate::dtype::Real;
use crate::error::Result;
use crate::gufunc::{Core, CoreMut, Elementary, Gufunc};
use crate::memory::try_reserve_short;
use smallvec::SmallVec;
use std::array::from_fn;

/// Points whose distances are computed side by side.
const TOGETHER: usize = 16;

ready! {
    /// Euclidean distances of all points of one list to all of another, `(m,d),(n,d)->(m,n)`.
    ///
    /// Squares of `f32` and `f64` are of their type: distances beyond the root of its largest number are infinite,
    /// and those below the root of its smallest number are 0. [`norm`](super::norm) of differences has no such bounds.
    ///
    /// ```
    /// use lensor::gufunc::cdist;
    /// use lensor::Tensor;
    /// let a = Tensor::from_nested([[0.0, 0.0], [3.0, 4.0]])?;
    /// let b = Tensor::from_nested([[3.0, 0.0]])?;
    /// assert_eq!(cdist().call([&a, &b]).eval()?[0].to_vec()?, [3.0, 4.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    cdist CDist[T: Real + Default + 'static] [T; 2] => [T; 1];

    /// Euclidean distances of all pairs of points, `(n,d)->(n*(n-1)/2)`: of the first to all that follow, then of the
    /// second to all that follow it, and so on. See [`cdist`].
    ///
    /// ```
    /// use lensor::gufunc::pdist;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])?;
    /// assert_eq!(pdist().call([&t]).eval()?[0].to_vec()?, [5.0, 10.0, 5.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pdist PDist[T: Real + Default + 'static] [T; 1] => [T; 1];
}

impl<T: Real + Default + 'static> Elementary<[T; 2], [T; 1]> for CDist {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let (&[m, d], &[n, _]) = (a.shape(), b.shape()) else {
            return Err("cores of points".into());
        };
        let mut columns = Columns::new();
        put(&b, n, d, &mut columns)?;
        for (k, row) in out.chunks_exact_mut(n.max(1)).take(m).enumerate() {
            distances(&a[k * d..(k + 1) * d], &columns, n, 0, row);
        }
        Ok(())
    }
}

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for PDist {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let &[n, d] = a.shape() else { return Err("cores of points".into()) };
        let mut columns = Columns::new();
        put(&a, n, d, &mut columns)?;
        let mut rest = &mut *out;
        for k in 0..n.saturating_sub(1) {
            let (row, later) = rest.split_at_mut(n - 1 - k);
            distances(&a[k * d..(k + 1) * d], &columns, n, k + 1, row);
            rest = later;
        }
        Ok(())
    }
}

/// The coordinates of points one after another: few of them on the stack.
type Columns<T> = SmallVec<[T; 64]>;

/// Puts points into columns.
#[inline(always)]
fn put<T: Real>(points: &[T], n: usize, d: usize, columns: &mut Columns<T>) -> Result<()> {
    try_reserve_short(columns, n * d)?;
    columns.extend((0..n * d).map(|k| points[k % n * d + k / n]));
    Ok(())
}

/// Distances of a point to those from number `first` on.
#[inline(always)]
fn distances<T: Real>(point: &[T], columns: &[T], n: usize, first: usize, out: &mut [T]) {
    let squared = |sum: T, x: T, y: T| {
        let difference = x.minus(y);
        sum.plus(difference.times(difference))
    };
    if size_of::<T>() == 2 {
        // Squares would soon be infinite.
        for (k, slot) in out.iter_mut().enumerate() {
            let axes = point.iter().enumerate();
            let apart =
                |(axis, x): (usize, &T)| x.to_f64() - columns[axis * n + first + k].to_f64();
            *slot = T::of_f64(axes.map(apart).fold(0.0, |sum, x| sum + x * x).sqrt());
        }
        return;
    }
    let zero = T::of_f64(0.0);
    let (chunks, tail) = out.as_chunks_mut::<TOGETHER>();
    let mut at = first;
    for chunk in chunks {
        let mut sums = [zero; TOGETHER];
        for (axis, &x) in point.iter().enumerate() {
            let column = &columns[axis * n + at..][..TOGETHER];
            sums = from_fn(|k| squared(sums[k], x, column[k]));
        }
        *chunk = sums.map(T::sqrt);
        at += TOGETHER;
    }
    for (k, slot) in tail.iter_mut().enumerate() {
        let axes = point.iter().enumerate();
        let sum = axes.fold(zero, |sum, (axis, &x)| squared(sum, x, columns[axis * n + at + k]));
        *slot = sum.sqrt();
    }
}
