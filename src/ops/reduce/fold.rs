//! The engine: from an expression and axes to leaves of a fixed size, and from their states to results.
//!
//! How elements are grouped depends on shapes and axes only, so results have the same bits for every
//! thread count and for every view that has the same elements in the same order.
//!
//! Axes are put in one of two orders. If the last axis is kept, and wide enough, results are made side
//! by side: a leaf is a group of rows, folded across. Otherwise reduced axes come last: a leaf is a run
//! of each row, folded along. States of leaves are joined in pairs.

use super::Reducer;
use super::across::Across;
use super::along::Along;
use super::folding::Needs;
use super::tasks::{Failure, undefined};
use crate::error::{Error, Result};
use crate::expr::{Boxed, Expr, Lazy, any_fault, erased, explain_rows, goes_by_entries};
use crate::memory::{list, try_reserve_exact};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Fewest neighbouring results that are made side by side.
pub(super) const SIDE_BY_SIDE: usize = 8;
/// Results that take more than a task has room for.
const MANY: usize = 4096;
/// Rows below this length are folded side by side where there are many.
const SHORT: usize = 16;

/// Results in row-major order of the kept axes of `e`; `reduced` tells which axes are not kept, `keepdims` whether they
/// stay in the indexes of errors.
#[inline(never)]
pub(super) fn fold<T: Copy + Send + Sync, R: Reducer<T>>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    reduced: &[bool],
    keepdims: bool,
    reducer: &R,
) -> Result<Vec<R::Out>> {
    let kept = kept(shape, reduced, keepdims);
    let results = kept.count()?;
    if let Some(axis) = empty_axis(shape, reduced) {
        let Some(state) = reducer.empty() else {
            return Err(Error::EmptyReduction { axis, shape: shape.to_vec() });
        };
        return match reducer.undefined(&state).filter(|_| results > 0) {
            Some(why) => Err(undefined::<R::Out>(why, vec![0; kept.rank()])),
            None => copies(reducer.finish(state), results),
        };
    }
    if results == 0 {
        return Ok(Vec::new());
    }
    // Many are asked for once, as tasks fill vectors of their own.
    if results > MANY {
        try_reserve_exact(&mut Vec::<R::Out>::new(), results)?;
    }
    let needs = Needs::of::<T, R>();
    let folded = if is_across(shape, reduced) {
        let across = Across::new(e, shape, reduced, needs)?;
        match copy_if(across.is_torn(), e)? {
            Some(copy) => Across::new(&erased(&copy), shape, reduced, needs)?.results(reducer),
            None => across.results(reducer),
        }
    } else {
        let along = Along::new(e, shape, reduced, needs)?;
        match copy_if(along.rows.are_mixed(), e)? {
            Some(copy) => Along::new(&erased(&copy), shape, reduced, needs)?.results(reducer),
            None => along.results(reducer),
        }
    };
    folded.map_err(|stop| match stop {
        Failure::Stop(stop) => explain_rows(e, shape, stop),
        Failure::Undefined(why, number) => {
            let index = kept.unravel(number).to_vec();
            // An error of the operand comes first, wherever it is.
            any_fault(&Lazy(e.by_ref())).unwrap_or_else(|| undefined::<R::Out>(why, index))
        }
    })
}

/// A copy of operands that are better copied first, if there is memory for it.
fn copy_if<T: Copy + Send + Sync>(
    better: bool,
    e: &Boxed<'_, T>,
) -> Result<Option<Tensor<Vec<T>>>> {
    match better.then(|| Lazy(e.by_ref()).eval()).transpose() {
        Err(Error::OutOfMemory { .. }) => Ok(None),
        copy => copy,
    }
}

/// The shape of the results: without the reduced axes, or with extent 1 there.
pub(super) fn kept(shape: &[usize], reduced: &[bool], keepdims: bool) -> Shape {
    let axes = shape.iter().zip(reduced).filter(|(_, reduced)| keepdims || !**reduced);
    axes.map(|(&extent, &reduced)| if reduced { 1 } else { extent }).collect()
}

/// The first reduced axis without elements.
pub(super) fn empty_axis(shape: &Shape, reduced: &[bool]) -> Option<usize> {
    (0..shape.rank()).find(|&axis| reduced[axis] && shape[axis] == 0)
}

/// Refuses several axes of a reducer that depends on the order of the elements.
pub(super) fn check_order(shape: &Shape, reduced: &[bool], needs: Needs) -> Result<()> {
    let long = (0..shape.rank()).filter(|&axis| reduced[axis] && shape[axis] > 1);
    let axes: Vec<usize> = long.collect();
    if needs.commutative || axes.len() < 2 { Ok(()) } else { Err(Error::Order { axes }) }
}

/// Whether there are operands, all are sparse, and their entries are read sooner than their elements.
#[inline(never)]
pub(super) fn is_sparse<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> bool {
    let mut operands = 0;
    e.leaves(&mut |_| operands += 1);
    operands > 0 && e.shape().is_ok_and(|shape| goes_by_entries(e, &shape))
}

/// How [`fold`] would go about it, in words.
#[inline(never)]
pub(super) fn explain<T: Copy + Send + Sync, R: Reducer<T>>(
    e: &Boxed<'_, T>,
    shape: &Shape,
    reduced: &[bool],
) -> Result<Vec<String>> {
    if shape.contains(&0) {
        return Ok(vec!["there are no elements".into()]);
    }
    let needs = Needs::of::<T, R>();
    if is_across(shape, reduced) {
        Across::new(e, shape, reduced, needs)?.explain(e)
    } else {
        Along::new(e, shape, reduced, needs)?.explain(e)
    }
}

/// Whether results are made side by side.
pub(super) fn is_across(shape: &[usize], reduced: &[bool]) -> bool {
    let (Some(&last), Some(false)) = (shape.last(), reduced.last()) else {
        return false;
    };
    let gone: usize =
        shape.iter().zip(reduced).filter(|(_, gone)| **gone).map(|(n, _)| n).product();
    last >= SIDE_BY_SIDE || (gone < SHORT && last >= 2)
}

fn copies<T: Copy>(value: T, count: usize) -> Result<Vec<T>> {
    list(std::iter::repeat_n(value, count))
}
