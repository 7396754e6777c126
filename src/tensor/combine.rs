//! Several tensors as one: concatenation and stacking, as views over combined storage.

use super::Tensor;
use super::flat::{Flat, align};
use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::memory::{list, try_with_capacity};
use crate::shape::Shape;
use crate::storage::{Concat, Reader};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// What can be joined to others: a tensor, or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor",
    note = "an expression is evaluated first: `e.eval()?`"
)]
pub trait IntoTensor {
    /// Its storage.
    type Storage: Reader;

    /// The tensor, or a view of it.
    fn into_tensor(self) -> Tensor<Self::Storage>;
}

impl<S: Reader> IntoTensor for Tensor<S> {
    type Storage = S;

    fn into_tensor(self) -> Self {
        self
    }
}

impl<'a, S: Reader> IntoTensor for &'a Tensor<S> {
    type Storage = &'a S;

    fn into_tensor(self) -> Tensor<&'a S> {
        self.view()
    }
}

/// Tensors one after another along `axis`, as one view of all their storages. Copies nothing.
///
/// Shapes `(.., a, ..)`, `(.., b, ..)` and so on become `(.., a + b + .., ..)`; the other extents are
/// the same for all. Tensors of different storage are first made of one type, by [`Tensor::erase`].
/// [`Tensor::split`] takes the result apart. Where all are storages in blocks, under views each of whose axes steps along
/// one of the storage that no other does, and none is empty, the result is in blocks: in theirs where those are of one
/// extent and meet, otherwise in copies, made as blocks are loaded, of what the views have of each, cut where blocks of
/// other parts end. Copies are made only where storage does not hold the blocks of a whole index of the first axis, and
/// has [`Blocks::share`](crate::storage::Blocks::share); where they would be small or mostly empty, as of long steps, of
/// lists that come back to blocks often or of blocks of very different extents, or more than 2^16 along an axis, the
/// result has no blocks, and is read line by line.
/// It is sparse if all parts are: tensors in row-major order, whole or rows of such, or all transposed alike, with one
/// fill value, which is a number, `bool` or `char`. A sparse part in another order is first evaluated by
/// [`Lazy::eval_sparse`](crate::Lazy::eval_sparse). Follows NumPy's `concatenate`.
///
/// # Errors
///
/// [`Error::NothingToJoin`] without any tensor, [`Error::Axis`] if there is no such axis, [`Error::Join`] with
/// the first tensor of which another extent differs, [`Error::ShapeOverflow`] if there are too many elements, and
/// [`Error::OutOfMemory`].
///
/// ```
/// use lensor::tensor::concat;
/// use lensor::Tensor;
/// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
/// let b = Tensor::from_nested([[5], [6]])?;
/// assert_eq!(concat(1, [&a, &b])?.to_vec()?, [1, 2, 5, 3, 4, 6]);
/// assert_eq!(
///     concat(0, [a, b]).unwrap_err().to_string(),
///     "cannot concatenate along axis 0: tensor 2 has shape [2, 1], tensor 1 has [2, 2]"
/// );
///
/// let few = Tensor::from_nested([[0, 7], [0, 0]])?.to_sparse(0)?;
/// let side_by_side = concat(1, [&few, &few])?;
/// assert!((&side_by_side * 2).eval_sparse()?.storage().iter().eq([(1, 14), (3, 14)]));
/// # Ok::<(), lensor::Error>(())
/// ```
#[doc(alias = "concatenate")]
#[doc(alias = "cat")]
#[doc(alias = "append")]
#[doc(alias = "hstack")]
#[doc(alias = "vstack")]
pub fn concat<X: IntoTensor>(
    axis: usize,
    tensors: impl IntoIterator<Item = X>,
) -> Result<Tensor<Concat<Flat<X::Storage>>>> {
    let tensors: Vec<_> = tensors.into_iter().map(X::into_tensor).collect();
    check_join(axis, &tensors, false)?;
    join(axis, tensors)
}

/// Tensors of one shape along a new axis `axis`, as one view of all their storages. Copies nothing.
///
/// `n` tensors of shape `(s0, .., sk)` become one of rank one more, with extent `n` at `axis`. Tensors of
/// different storage are first made of one type, by [`Tensor::erase`]. The result may be sparse, or have blocks, see
/// [`concat()`]. Follows NumPy's `stack`.
///
/// # Errors
///
/// [`Error::NothingToJoin`] without any tensor, [`Error::Axis`] if `axis` exceeds the rank, [`Error::Join`] with
/// the first tensor of another shape, [`Error::RankLimit`], [`Error::ShapeOverflow`] if there are too many elements, and
/// [`Error::OutOfMemory`].
///
/// ```
/// use lensor::tensor::stack;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(stack(1, [&t, &t])?.to_vec()?, [1, 1, 2, 2]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn stack<X: IntoTensor>(
    axis: usize,
    tensors: impl IntoIterator<Item = X>,
) -> Result<Tensor<Concat<Flat<X::Storage>>>> {
    let tensors: Vec<_> = tensors.into_iter().map(X::into_tensor).collect();
    check_join(axis, &tensors, true)?;
    let deeper: Result<Vec<_>> =
        tensors.into_iter().map(|tensor| tensor.insert_axis(axis)).collect();
    join(axis, deeper?)
}

/// Compares shapes with the first, but for the axis along which they are joined.
#[inline(never)]
fn check_join<S>(axis: usize, tensors: &[Tensor<S>], stack: bool) -> Result<()> {
    let first = tensors.first().ok_or(Error::NothingToJoin { stack })?.shape();
    if axis >= first.rank() + usize::from(stack) {
        return Err(Error::Axis { axis, rank: first.rank() });
    }
    for (k, tensor) in tensors.iter().enumerate() {
        let shape = tensor.shape();
        let joined = |k: usize| k == axis && !stack;
        let fits = shape.rank() == first.rank()
            && (0..first.rank()).all(|k| joined(k) || shape[k] == first[k]);
        if !fits {
            let (shape, first) = (shape.to_vec(), first.to_vec());
            return Err(Error::Join { tensor: k + 1, shape, first, axis, stack });
        }
    }
    Ok(())
}

/// Elements of a part in a row, below which it is not worth to go from part to part.
const RUN: usize = 16;

/// Tensors whose shapes differ at `axis` alone, one after another.
///
/// What is combined holds a row of each, then the next row of each, in the order in which the largest stores its
/// axes; where rows are short, all of each, with that axis in front.
#[inline(never)]
fn join<S: Reader>(axis: usize, tensors: Vec<Tensor<S>>) -> Result<Tensor<Concat<Flat<S>>>> {
    // An extent beyond all numbers is too many elements as well.
    let total = tensors.iter().fold(0_usize, |sum, t| sum.saturating_add(t.shape()[axis]));
    let largest = tensors.iter().max_by_key(|t| t.shape()[axis]);
    let largest = largest.ok_or(Error::NothingToJoin { stack: false })?;
    let shape = largest.shape().with_extent(axis, total)?;
    shape.count()?;
    let mut order = storage_order(largest.address_map());
    let depth = order.iter().position(|&k| k == axis).unwrap_or(0);
    let row: usize = order[depth..].iter().map(|&k| shape[k]).product();
    if row / tensors.len() < RUN {
        let all = |has: fn(&S) -> bool| tensors.iter().all(|tensor| has(tensor.storage()));
        // Unless blocks of all are blocks of the whole so, or entries are merged, in time of their number.
        let is_kept = (all(|own| own.blocks().is_some()) || all(|own| own.stored().is_some())) && {
            let whole = combined(list(tensors.iter().map(Tensor::view))?, axis, &order, &shape)?;
            whole.blocks().is_some() || whole.stored().is_some()
        };
        if !is_kept {
            order[..=depth].rotate_right(1);
        }
    }
    let stored: Shape = order.iter().map(|&k| shape[k]).collect();
    Tensor::new(stored, combined(tensors, axis, &order, &shape)?)?.transpose(inverse(&order))
}

/// A row of each tensor, then the next row of each, with axes in this order. `shape` is that of the result.
fn combined<S: Reader>(
    tensors: Vec<Tensor<S>>,
    axis: usize,
    order: &[usize],
    shape: &Shape,
) -> Result<Concat<Flat<S>>> {
    let rows = order.iter().take_while(|&&k| k != axis).map(|&k| shape[k]).product();
    let mut parts = try_with_capacity(tensors.len())?;
    let is_in_order = order.is_sorted();
    for tensor in tensors {
        let tensor = if is_in_order { tensor } else { tensor.transpose(order)? };
        parts.push(tensor.flat());
    }
    let stored: Shape = order.iter().map(|&k| shape[k]).collect();
    let along = order.iter().position(|&k| k == axis).unwrap_or(0);
    let mut joint = Concat::of_rows(parts, rows)?;
    joint.join_blocks(&stored, along)?;
    if joint.blocks().is_none() && align(joint.parts_mut(), along) {
        joint.join_blocks(&stored, along)?;
    }
    Ok(joint)
}

/// Axes in the order in which storage has them, the one whose indexes are farthest apart first.
pub(super) fn storage_order(map: &AddressMap) -> SmallVec<[usize; 4]> {
    let mut order: SmallVec<[usize; 4]> = (0..map.rank()).collect();
    if let Some(axes) = map.linear_axes() {
        let mut strides: SmallVec<[usize; 4]> =
            axes.iter().map(|axis| axis.stride.unsigned_abs()).collect();
        // Axes of one index, and repeated ones, have no place in storage: they stay before what follows.
        let mut behind = 1;
        for (stride, axis) in strides.iter_mut().zip(axes).rev() {
            *stride = if *stride == 0 { behind } else { *stride };
            behind = stride.saturating_mul(axis.extent);
        }
        order.sort_unstable_by_key(|&k| (Reverse(strides[k]), k));
    }
    order
}

/// The order that takes axes back from another one.
pub(crate) fn inverse(order: &[usize]) -> SmallVec<[usize; 4]> {
    let mut back = SmallVec::from_elem(0, order.len());
    order.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
    back
}
