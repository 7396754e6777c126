//! Functions of stored entries alone.

use super::tasks::{self, Where};
use super::{Evaluation, locate};
use crate::error::{Error, Result};
use crate::expr::node::{Node, Tree};
use crate::expr::{Access, Apply, IntoOperands, Operands, operands::Function, prepare};
use crate::kernel::Stop;
use crate::map::AddressMap;
use crate::storage::Sparse;
use crate::tensor::Tensor;

/// A function of one to six operands where every sparse one of them stores an entry, and `fill` everywhere
/// else.
///
/// This is for operators with an annihilator: where an element of one operand decides the result, the
/// others need not be looked at. A product of zeros in particular, if the others are finite: 0 times NaN
/// is NaN, which [`Lazy::eval_sparse`](super::Lazy::eval_sparse) knows and this function does not. The
/// closure takes one tuple, as that of [`zip_with`](crate::zip_with).
///
/// An operand counts as sparse if all its leaves are; an expression stores an entry where some leaf does.
/// Other operands, such as a dense row, are read at the entries of the sparse ones only. The entries of the
/// result are those that are computed, whatever their values.
///
/// # Errors
///
/// [`Error::WouldDensify`] if no operand is sparse; [`Error::Operands`] if the shapes do not align;
/// [`Error::Cast`] and [`Error::Arithmetic`] with the first failing index; [`Error::Storage`] if a storage
/// fails; [`Error::OutOfMemory`] if the result cannot be kept.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::expr::zip_stored;
/// use lensor::storage::Duplicates;
/// let indexes = [[0, 0], [0, 2], [1, 1]];
/// let a = Tensor::from_coordinates([2, 3], 0, &indexes, vec![1, 2, 3], Duplicates::Refuse)?;
/// let b = a.view().flip(1)?;
/// let product = zip_stored((&a, b), 0, |(a, b)| a * b)?;
/// assert_eq!(product.to_vec()?, [2, 0, 2, 0, 9, 0]);
///
/// let row = Tensor::from_vec([3], vec![10, 20, 30])?; // dense
/// let scaled = zip_stored((&a, &row), 0, |(a, row)| a * row)?;
/// assert_eq!(scaled.to_vec()?, [10, 0, 60, 0, 60, 0]);
/// # Ok::<(), Error>(())
/// ```
pub fn zip_stored<A, U, F>(operands: A, fill: U, f: F) -> Result<Tensor<Sparse<U>>>
where
    A: IntoOperands,
    U: Copy + Send + Sync,
    F: Fn(A::Elems) -> U + Send + Sync,
{
    let e = Apply::new(Function::new(f), operands.into_operands());
    let counts = e.operands().leaf_counts();
    evaluate(&e, &counts, fill)
}

/// [`zip_stored`] of an expression, whose operands have `counts` leaves.
fn evaluate<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    counts: &[usize],
    fill: T,
) -> Result<Tensor<Sparse<T>>> {
    let shape = e.shape()?;
    let map = AddressMap::row_major(&shape)?;
    let _results = prepare(e)?;
    let Some(operands) = sparse_operands(e, counts) else {
        return Err(Error::WouldDensify { stored: 0, dense: map.count() });
    };
    let evaluated = Evaluation::open(e, &shape)
        .and_then(|mut open| tasks::entries(&mut open.worker, &open.lists, Where::All(&operands)));
    match evaluated {
        Ok((positions, values)) => {
            let storage = Sparse::of_sorted(map.count(), fill, positions, values);
            Ok(Tensor::from_parts(map, storage))
        }
        Err(stop) => {
            let mut positions = Vec::new();
            if let (Stop::Fault, Ok(evaluation)) = (&stop, Evaluation::open(e, &shape)) {
                positions = evaluation.positions(Where::All(&operands))?;
            }
            let mut indexes = positions.iter().map(|&position| shape.unravel(position));
            Err(locate::explain_at(e, &mut indexes, &map, stop, &|_| None))
        }
    }
}

/// For every leaf the number of its operand, if that is sparse; `None` if no operand is.
fn sparse_operands(e: &dyn Tree, counts: &[usize]) -> Option<Vec<Option<usize>>> {
    let mut stored = Vec::new();
    e.leaves(&mut |leaf| stored.push(matches!(leaf.access, Access::Stored { .. })));
    let (mut operands, mut sparse, mut leaves) = (Vec::new(), 0, &stored[..]);
    for &count in counts {
        let (own, rest) = leaves.split_at(count.min(leaves.len()));
        let all = !own.is_empty() && own.iter().all(|&stored| stored);
        operands.extend(own.iter().map(|_| all.then_some(sparse)));
        sparse += usize::from(all);
        leaves = rest;
    }
    (sparse > 0).then_some(operands)
}
