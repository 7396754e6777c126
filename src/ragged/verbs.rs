//! The views as methods, once for tensors, expressions and operations.

use super::eval::evaluate;
use super::expr::{IntoRagged, LazyRagged, RaggedExpr};
use super::viewed::Viewed;
use super::{DeferredRagged, PendingRagged, Ragged, RaggedCall, RaggedCompute, Stretch};
use crate::gufunc::Outputs;

/// The views of one type.
macro_rules! ragged_views {
    ($View:ty, $kind:ident) => {
        ragged_views! { @methods $View, $kind;
            /// Takes a part of every axis, one selector per axis, from the first axis on; missing trailing ones take all.
            ///
            /// On a var axis an integer is taken from each row, which must have it; ranges are taken row by row, with
            /// open ends at the ends of the row; a list is one for all rows, and the axis is fixed then.
            ///
            /// # Errors
            ///
            /// Those of [`Tensor::select`](crate::Tensor::select), and [`Error::RowIndex`](crate::Error::RowIndex) with
            /// the first row that lacks a visited index.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7], vec![4, 5]])?;
            /// assert_eq!(r.view().select((.., 1..))?.to_string(), "[[2, 3], [], [5]]");
            /// assert_eq!(r.select((.., 0))?.to_string(), "[1, 7, 4]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            select(selectors: impl $crate::map::IntoSelectors) => |shown| selectors.with(|selectors| shown.selected(selectors));
            /// Selects of one axis, as [`Self::select`] does.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), and as for [`Self::select`].
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7], vec![4, 5]])?;
            /// assert_eq!(r.view().slice(1, 1..)?.to_string(), "[[2, 3], [], [5]]");
            /// assert!(r.slice(1, ..2).is_err()); // not all rows have two: `clip` takes up to two
            /// # Ok::<(), lensor::Error>(())
            /// ```
            slice(axis: usize, range: impl Into<$crate::Select>) => |shown| shown.selected_of(axis, axis, &range.into());
            /// Of the indexes that a range visits, those that each row has; an integer, a list or a mask is taken as by
            /// [`Self::select`]. (Elements are kept within bounds by `clamp`.)
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::ZeroStep`](crate::Error::ZeroStep); on a fixed axis as
            /// [`Self::select`].
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7], vec![4, 5]])?;
            /// assert_eq!(r.clip(1, ..2)?.to_string(), "[[1, 2], [7], [4, 5]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            clip(axis: usize, range: impl Into<$crate::Select>) => |shown| shown.clipped(axis, &range.into());
            /// Takes from each row of a var axis: a ragged tensor of positions, with the axes up to this one.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::FixedAxis`](crate::Error::FixedAxis),
            /// [`Error::RowIndex`](crate::Error::RowIndex) for a position that a row lacks,
            /// [`Error::Operands`](crate::Error::Operands) and [`Error::RowLength`](crate::Error::RowLength) for
            /// positions of other rows, and what computing them reports.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7]])?;
            /// let indexes = Ragged::from_nested(vec![vec![2_usize, 0], vec![0, 0, 0]])?;
            /// assert_eq!(r.take(1, &indexes)?.to_string(), "[[3, 1], [7, 7, 7]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "take_along")]
            take(axis: usize, indexes: impl $crate::ragged::IntoRagged<Elem = usize>) => |shown| {
                shown.taken(axis, &evaluate(&indexes.into_ragged_expr(), Stretch::Rows)?)
            };
            /// The items of each row of a var axis where a mask is true: ragged, with the axes up to this one.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::FixedAxis`](crate::Error::FixedAxis),
            /// [`Error::RowLength`](crate::Error::RowLength) for a mask of other lengths,
            /// [`Error::Operands`](crate::Error::Operands) for one of other rows, and what computing it reports.
            ///
            /// ```
            /// use lensor::ragged::{ElementwiseRagged, Ragged};
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7]])?;
            /// assert_eq!(r.view().keep(1, r.greater(1))?.to_string(), "[[2, 3], [7]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "compress")]
            keep(axis: usize, mask: impl $crate::ragged::IntoRagged<Elem = bool>) => |shown| {
                shown.kept(axis, &evaluate(&mask.into_ragged_expr(), Stretch::Rows)?)
            };
            /// Reverses an axis; of a var axis each row.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis).
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7]])?;
            /// assert_eq!(r.flip(1)?.to_string(), "[[3, 2, 1], [7]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            flip(axis: usize) => |shown| shown.flipped(axis);
            /// Rotates each axis by a shift, of a var axis modulo the length of each row: item `i` comes from `i - shift`.
            ///
            /// # Errors
            ///
            /// [`Error::Rank`](crate::Error::Rank) unless there is one shift per axis.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![7]])?;
            /// assert_eq!(r.rotate([0, 1])?.to_string(), "[[3, 1, 2], [7]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            rotate(shifts: impl AsRef<[isize]>) => |shown| shown.rotated(shifts.as_ref());
            /// Reorders axes: axis `k` of the result is axis `order[k]`. Nothing crosses a var axis.
            ///
            /// # Errors
            ///
            /// [`Error::Permutation`](crate::Error::Permutation), [`Error::RaggedAxes`](crate::Error::RaggedAxes).
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// use lensor::Tensor;
            /// let points = Tensor::from_nested([[1, 2], [3, 4], [5, 6]])?;
            /// let r = Ragged::from_views([2], vec![0, 1], vec![1, 2], 1, points)?;
            /// assert_eq!(r.view().transpose([0, 1, 2])?.to_string(), "[[[1, 2]], [[3, 4], [5, 6]]]");
            /// assert!(r.transpose([1, 0, 2]).is_err()); // Items would leave their rows.
            /// # Ok::<(), lensor::Error>(())
            /// ```
            transpose(order: impl AsRef<[usize]>) => |shown| shown.transposed(order.as_ref());
            /// Moves axis `from` so that it becomes axis `to`.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::RaggedAxes`](crate::Error::RaggedAxes).
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// use lensor::Tensor;
            /// let points = Tensor::from_vec([2, 2, 3], (0..12).collect())?;
            /// let r = Ragged::from_views([1], vec![0], vec![2], 1, points)?;
            /// assert_eq!(r.move_axis(3, 2)?.form()?.to_string(), "1 * var * 3 * 2");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            move_axis(from: usize, to: usize) => |shown| shown.reordered([from, to], |order| {
                let axis = order.remove(from);
                order.insert(to, axis);
            });
            /// Exchanges two axes.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::RaggedAxes`](crate::Error::RaggedAxes).
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// use lensor::Tensor;
            /// let points = Tensor::from_vec([2, 2, 3], (0..12).collect())?;
            /// let r = Ragged::from_views([1], vec![0], vec![2], 1, points)?;
            /// assert_eq!(r.swap_axes(2, 3)?.form()?.to_string(), "1 * var * 3 * 2");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            swap_axes(a: usize, b: usize) => |shown| shown.reordered([a, b], |order| order.swap(a, b));
            /// Adds an axis of extent 1 before axis `axis`.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis) if `axis` exceeds the rank, [`Error::RankLimit`](crate::Error::RankLimit).
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
            /// assert_eq!(r.view().insert_axis(1)?.form()?.to_string(), "2 * 1 * var");
            /// assert_eq!(r.insert_axis(2)?.to_string(), "[[[1], [2]], [[3]]]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "expand_dims")]
            #[doc(alias = "newaxis")]
            insert_axis(axis: usize) => |shown| shown.inserted(axis);
            /// Removes an axis of extent 1, or a var axis whose rows all have one item.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::Removed`](crate::Error::Removed) for another extent,
            /// [`Error::RowLength`](crate::Error::RowLength) with the first row that has not one item.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1], vec![2]])?;
            /// assert_eq!(r.view().insert_axis(0)?.remove_axis(0)?, r);
            /// assert_eq!(r.remove_axis(1)?.to_string(), "[1, 2]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            #[doc(alias = "squeeze")]
            remove_axis(axis: usize) => |shown| shown.removed(axis);
            /// Merges an axis with the one in front. The result is var if one of them is, but fixed where it is axis 0.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::FirstAxis`](crate::Error::FirstAxis) for axis 0.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?;
            /// assert_eq!(r.flatten(1)?.to_string(), "[1, 2, 3]");
            /// # Ok::<(), lensor::Error>(())
            /// ```
            flatten(axis: usize) => |shown| shown.flattened(axis);
            /// A var axis as a fixed one, if all rows are equally long; without rows its extent is 0.
            ///
            /// # Errors
            ///
            /// [`Error::Axis`](crate::Error::Axis), [`Error::RowLength`](crate::Error::RowLength) with the first row that
            /// is not as long as the first: [`Ragged::padded`](crate::ragged::Ragged::padded) makes rows equally long.
            ///
            /// ```
            /// use lensor::ragged::Ragged;
            /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3, 4]])?;
            /// assert_eq!(r.as_fixed(1)?.into_tensor()?.shape(), [2, 2]);
            /// # Ok::<(), lensor::Error>(())
            /// ```
            as_fixed(axis: usize) => |shown| shown.long_as_fixed(axis);
        }
    };
    (@methods $View:ty, $kind:ident; $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) => |$shown:ident| $body:expr;
    )*) => { $(
        $(#[$doc])*
        pub fn $name(self, $($argument: $type),*) -> $crate::Result<$View> {
            ragged_views!(@$kind self, |$shown| $body)
        }
    )* };
    (@tensor $self:ident, |$shown:ident| $body:expr) => {{
        let $shown = $self;
        $body
    }};
    (@expression $self:ident, |$shown:ident| $body:expr) => {
        Ok(LazyRagged(Viewed::new($self.into_ragged_expr(), |$shown| $body)?))
    };
}

impl<S> Ragged<S> {
    ragged_views!(Self, tensor);
}

impl<E: RaggedExpr> LazyRagged<E> {
    ragged_views!(LazyRagged<Viewed<E>>, expression);
}

impl<C: RaggedCompute> DeferredRagged<C> {
    ragged_views!(LazyRagged<Viewed<PendingRagged<C>>>, expression);
}

impl<I, O: Outputs, F, X, M> RaggedCall<I, O, F, X, M>
where
    Self: RaggedCompute,
{
    ragged_views!(LazyRagged<Viewed<PendingRagged<Self>>>, expression);
}
