//! Whole lanes: sorting, searching, picking and ranking of the elements along one axis.
//!
//! A *lane* is what lies along one axis at one index of all others: the rows of a matrix are its lanes along
//! axis 1, the columns those along axis 0. The methods of [`Lanes`] work on each lane by itself, of
//! anything that can stand as an operand, and give a new tensor; those of [`Tensor`] that end in
//! `in_place` change the lanes of a view.
//!
//! Everything that depends on an order follows that of [`Sortable`]: numbers ascend, `-0.0` equals `0.0`,
//! NaN comes last, in descending order too. Equal elements keep the order in which they came.
//!
//! ```
//! use lensor::lanes::{Lanes, SortOrder::{Ascending, Descending}};
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[3, 1, 2], [6, 4, 5]])?;
//!
//! assert_eq!((&t).sort(1, Ascending)?.to_vec()?, [1, 2, 3, 4, 5, 6]);
//! assert_eq!((&t).sort(0, Descending)?.to_vec()?, [6, 4, 5, 3, 1, 2]);
//! assert_eq!((&t % 4).argsort(1, Ascending)?.to_vec()?, [1, 2, 0, 1, 2, 0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Lanes are shared among threads. A lane must fit in memory; the tensor need not lie there.

pub(crate) mod driver;
mod in_place;
mod radix;
mod sort;

use crate::dtype::Sortable;
use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, Lazy};
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;
use bytemuck::Zeroable;
use driver::map_lanes;
use std::cmp::Ordering;

/// Which elements come first. NaN comes last either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SortOrder {
    /// Small ones.
    #[default]
    Ascending,
    /// Large ones; equal elements keep their order.
    Descending,
}

impl SortOrder {
    fn is_descending(self) -> bool {
        self == Self::Descending
    }

    /// The keys that sort elements in this order.
    fn keys<T: Sortable>(self) -> impl Fn(T) -> T::Key {
        let descending = self.is_descending();
        move |x| x.key(descending)
    }
}

/// Operations on whole lanes, see the [module](self). Each computes at once and gives a new tensor.
///
/// Called on a tensor by value they take it; call them on `&tensor` or [`Tensor::view`] to keep it.
///
/// All of them report [`Error::Axis`] if the axis does not exist, [`Error::OutOfMemory`] if results or one
/// lane cannot be kept, and what the evaluation of the operand reports, see [`Lazy::eval`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no lanes",
    note = "tensors, `&Tensor`, `Lazy` expressions and `&Lazy` have them"
)]
pub trait Lanes: IntoExpr + Sized {
    /// The elements of every lane in order. Follows NumPy's `sort` with `kind="stable"`.
    ///
    /// # Errors
    ///
    /// As for all of [`Lanes`].
    ///
    /// ```
    /// use lensor::lanes::{Lanes, SortOrder::Descending};
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([4], vec![1.5, f64::NAN, 3.0, -2.0])?;
    /// assert_eq!((&t).sort(0, Descending)?.to_vec()?[..3], [3.0, 1.5, -2.0]); // and NaN
    /// # Ok::<(), Error>(())
    /// ```
    fn sort(self, axis: usize, order: SortOrder) -> Result<Tensor<Vec<Self::Elem>>>
    where
        Self::Elem: Sortable,
    {
        let source = Lazy(self.into_expr());
        let mut out = zeroed(source.shape()?)?;
        map_lanes(&source, axis, &mut out, |scratch, lane, out| {
            sort::sort_lane(scratch, lane, out, order)
        })?;
        Ok(out)
    }

    /// The positions along `axis` that would sort every lane. Follows NumPy's `argsort` with
    /// `kind="stable"`.
    ///
    /// By a key that elements do not have of themselves: `t.map(key).argsort(axis, order)`.
    ///
    /// # Errors
    ///
    /// As for all of [`Lanes`].
    ///
    /// ```
    /// use lensor::lanes::{Lanes, SortOrder::Ascending};
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[7, 2], [5, 9]])?;
    /// assert_eq!((&t).argsort(0, Ascending)?.to_vec()?, [1, 0, 0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argsort(self, axis: usize, order: SortOrder) -> Result<Tensor<Vec<usize>>>
    where
        Self::Elem: Sortable,
    {
        let source = Lazy(self.into_expr());
        let mut out = zeroed(source.shape()?)?;
        map_lanes(&source, axis, &mut out, |scratch, lane, out| {
            sort::argsort_lane(scratch, lane, out, order.keys())
        })?;
        Ok(out)
    }

    /// The elements of every lane in order of their keys. Elements with equal keys keep their order.
    ///
    /// # Errors
    ///
    /// As for all of [`Lanes`].
    ///
    /// ```
    /// use lensor::lanes::{Lanes, SortOrder::Ascending};
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([4], vec![-3, 2, -2, 1])?;
    /// assert_eq!((&t).sort_by_key(0, Ascending, |x| x * x)?.to_vec()?, [1, 2, -2, -3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sort_by_key<K, F>(self, axis: usize, order: SortOrder, key: F) -> Result<Tensor<Vec<Self::Elem>>>
    where
        K: Sortable,
        F: Fn(Self::Elem) -> K + Sync,
    {
        let mut out = Lazy(self.into_expr()).eval()?;
        out.sort_in_place_by_key(axis, order, key)?;
        Ok(out)
    }

    /// The elements of every lane in the order of a comparison. Equal elements keep their order.
    ///
    /// # Errors
    ///
    /// As for all of [`Lanes`].
    ///
    /// # Panics
    ///
    /// May panic if `compare` is not an order of all elements, as [`slice::sort_by`] may.
    ///
    /// ```
    /// use lensor::lanes::Lanes;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([3], vec![("b", 1), ("a", 2), ("a", 1)])?;
    /// assert_eq!((&t).sort_by(0, |a, b| a.cmp(b))?.to_vec()?, [("a", 1), ("a", 2), ("b", 1)]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sort_by<F>(self, axis: usize, compare: F) -> Result<Tensor<Vec<Self::Elem>>>
    where
        F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Sync,
    {
        let mut out = Lazy(self.into_expr()).eval()?;
        out.sort_in_place_by(axis, compare)?;
        Ok(out)
    }

    /// The positions along `axis` that would sort every lane in the order of a comparison.
    ///
    /// # Errors
    ///
    /// As for all of [`Lanes`].
    ///
    /// # Panics
    ///
    /// As [`Self::sort_by`].
    ///
    /// ```
    /// use lensor::lanes::Lanes;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([3], vec![(1, 2), (0, 9), (1, 1)])?;
    /// assert_eq!((&t).argsort_by(0, |a, b| a.0.cmp(&b.0))?.to_vec()?, [1, 0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argsort_by<F>(self, axis: usize, compare: F) -> Result<Tensor<Vec<usize>>>
    where
        F: Fn(&Self::Elem, &Self::Elem) -> Ordering + Sync,
    {
        let source = Lazy(self.into_expr());
        let mut out = zeroed(source.shape()?)?;
        map_lanes(&source, axis, &mut out, |(), lane, out| {
            sort::argsort_lane_by(lane, out, &compare);
            Ok(())
        })?;
        Ok(out)
    }
}

impl<S: Reader> Lanes for Tensor<S> {}
impl<S: Reader> Lanes for &Tensor<S> {}
impl<E: Expr> Lanes for Lazy<E> {}
impl<E: Expr> Lanes for &Lazy<E> {}

/// A new tensor of zeros, in memory that is touched when it is written.
fn zeroed<T: Zeroable + Copy + Send + Sync>(shape: Shape) -> Result<Tensor<Vec<T>>> {
    let count = shape.count()?;
    let bytes = count.saturating_mul(size_of::<T>());
    let data = bytemuck::allocation::try_zeroed_vec(count);
    Tensor::new(shape, data.map_err(|()| Error::OutOfMemory { bytes })?)
}
