//! Sparse evaluation: only where operands store entries, and once for everything else.

mod assign;
pub(in crate::expr) mod cursor;
mod dense;
mod densely;
mod fibers;
mod leaf;
mod merge;
mod shared;
mod tasks;
mod zip;

pub(super) use assign::{AT_ONCE, assign_entries};
pub(crate) use assign::{Gathered, assign_dense};
pub(crate) use cursor::Positions;
pub use cursor::{Block, Maps, Share, StoredCursor, StoredLeaf};
pub(crate) use dense::goes_by_entries;
pub(super) use dense::{assign_sparsely, eval_sparsely, worthwhile};
pub use densely::Densely;
use densely::entries_below;
pub(crate) use densely::{check_copies, check_operand, check_reads, has_entries};
pub(crate) use fibers::for_each_fiber;
pub use zip::{ZipStored, zip_stored};

use super::node::{Node, Tree, Worker};
use super::{Access, Expr, Lazy, Prepare, deferred_of, locate, prepare};
use crate::error::{Error, Result};
use crate::kernel::Stop;
use crate::map::AddressMap;
use crate::memory::{append, owned, try_reserve};
use crate::shape::{Align, Shape};
use crate::storage::Sparse;
use crate::tensor::Tensor;
use tasks::{EntryBlocks, Where, whole};

impl<E: Expr> Lazy<E> {
    /// Whether all operands are sparse, so that [`Self::eval_sparse`] gives a result.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let (few, dense) = (Tensor::sparse([2, 3], 0)?, Tensor::full([2, 3], 0)?);
    /// assert!((&few * 2 + 1).is_sparse() && !(&few + &dense).is_sparse());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_sparse(&self) -> bool {
        self.0.shape().is_ok() && all_stored(&self.0)
    }

    /// Computes an expression of sparse operands into a new sparse tensor, without visiting an element
    /// that no operand stores.
    ///
    /// Entries stand where some operand has one under its view; the fill value is the expression of the
    /// fill values of the operands. That is exact for every operator, IEEE included: with fills 0 and NaN,
    /// a product has fill NaN. Any number of operands is merged in one pass. Scalars and
    /// [constants](crate::storage::Constant) count as sparse. Entries that happen to equal the new fill
    /// value stay, until [`Sparse::prune`] drops them.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDensify`] if an operand is not sparse, as the result is then dense: ask for that by
    /// [`Self::eval`], or keep to stored entries by [`zip_stored`]. Otherwise as
    /// [`Self::eval`]; a fill value without a result, such as a division by zero, is an error if some
    /// element has it.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Duplicates;
    /// let sparse = |indexes: &[[usize; 2]], values| {
    ///     Tensor::from_coordinates([1 << 20, 1 << 20], 1, indexes, values, Duplicates::Refuse)
    /// };
    /// let a = sparse(&[[0, 5], [7, 0]], vec![10, 20])?;
    /// let b = sparse(&[[5, 0], [9, 9]], vec![3, 4])?;
    /// let sum = (&a + b.transpose([1, 0])? * 2).eval_sparse()?;
    /// assert_eq!(sum.storage().fill(), 3); // 1 + 1 * 2
    /// let row = sum.view().select((0, 4..7))?;
    /// assert_eq!(row.to_vec()?, [3, 16, 3]); // 10 + 3 * 2
    /// assert_eq!(sum.storage().stored_len(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn eval_sparse(&self) -> Result<Tensor<Sparse<E::Elem>>> {
        eval(&self.0)
    }
}

fn eval<T: Copy + Send + Sync>(e: &dyn Node<T>) -> Result<Tensor<Sparse<T>>> {
    if let Some(stored) = e.stored_only() {
        return stored.evaluate();
    }
    let shape = e.shape()?;
    let map = AddressMap::row_major(&shape)?;
    check_stored(e, map.count())?;
    let _results = prepare(e)?;
    let storage = evaluate(e, &shape, map.count())?;
    Ok(Tensor::from_parts(map, storage))
}

/// Whether all leaves are sparse.
pub(super) fn all_stored(e: &dyn Tree) -> bool {
    stored_count(e).1
}

/// Entries that all leaves store, and whether there are no other leaves.
pub(super) fn stored_count(e: &dyn Tree) -> (usize, bool) {
    let (mut stored, mut sparse) = (0_usize, true);
    e.leaves(&mut |leaf| match leaf.access {
        Access::Stored { count } => stored = stored.saturating_add(count),
        _ => sparse = false,
    });
    (stored, sparse)
}

/// Refuses `dense` elements of which some leaf is not sparse.
pub(crate) fn check_stored(e: &dyn Tree, dense: usize) -> Result<()> {
    match stored_count(e) {
        (_, true) => Ok(()),
        (stored, false) => {
            // What is made of sparse storage, as a tensor with a border is, has entries, though it is not sparse.
            let stored = stored.saturating_add(entries_below(e));
            Err(Error::WouldDensify { stored, dense })
        }
    }
}

/// The entries and the fill value of an expression of sparse leaves.
#[inline(never)]
pub(super) fn evaluate<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    len: usize,
) -> Result<Sparse<T>> {
    let evaluated = Evaluation::open(e, shape).and_then(|evaluation| evaluation.run(len));
    evaluated.map_err(|stop| explain(e, shape, len, stop))
}

/// Calls `visit` with the value of all elements that no operand stores, and with row-major positions and elements
/// of an expression where its operands store entries, ascending, block by block; returns that value too.
#[inline(never)]
pub(crate) fn for_each_stored<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    visit: Visit<'_, T>,
) -> Result<T> {
    if let Some(stored) = e.stored_only() {
        return stored.visit(shape, visit);
    }
    let len = shape.count()?;
    check_stored(e, len)?;
    let _results = prepare(e)?;
    let visited = Evaluation::open(e, shape).and_then(|mut open| open.for_each_block(len, visit));
    visited.map_err(|stop| explain(e, shape, len, stop))
}

/// Visits the deferred operations that [`for_each_stored`] needs: a function of stored entries is not computed first, its
/// operands are.
pub(crate) fn deferred_of_stored<'a, E: Expr>(e: &'a E, visit: &mut dyn FnMut(&'a dyn Prepare)) {
    match e.stored_only() {
        Some(stored) => deferred_of(stored.e, visit),
        None => deferred_of(e, visit),
    }
}

/// What is called with the fill value, positions and their elements.
type Visit<'v, T> = &'v mut dyn FnMut(T, &[usize], &[T]) -> Result<(), Stop>;

/// An expression with its entries taken up.
struct Evaluation<'e, T> {
    worker: Worker<'e, T>,
    lists: Vec<Positions<'e>>,
    is_leaf: bool,
}

impl<'e, T: Copy + Send + Sync> Evaluation<'e, T> {
    #[inline(never)]
    fn open(e: &'e dyn Node<T>, shape: &Shape) -> Result<Self, Stop> {
        Self::open_where(e, shape, None)
    }

    /// Where the sparse ones of `operands`, the numbers of which all leaves have, decide.
    #[inline(never)]
    fn open_where(
        e: &'e dyn Node<T>,
        shape: &Shape,
        operands: Option<&[Option<usize>]>,
    ) -> Result<Self, Stop> {
        let maps = stretched(e, shape)?;
        let steps = vec![0; maps.len()];
        let decides = match operands {
            None => vec![true; maps.len()],
            Some(operands) => operands.iter().map(Option::is_some).collect(),
        };
        let (looked_up, fewest) = match operands {
            None => (vec![false; maps.len()], None),
            Some(operands) => zip::looked_up(e, operands, shape.count()?),
        };
        let maps = Maps { maps, fiber: 1, steps, decides, looked_up };
        let mut open = Self::open_at(e, &maps)?;
        if let Some(fewest) = fewest {
            let at = std::mem::take(&mut open.lists[fewest]);
            open.worker.look_up(&maps, &at, &mut open.lists, &mut 0)?;
            open.lists[fewest] = at;
        }
        Ok(open)
    }

    #[inline(never)]
    fn open_at(e: &'e dyn Node<T>, maps: &Maps) -> Result<Self, Stop> {
        let (mut worker, mut lists) = (e.open(), Vec::with_capacity(maps.maps.len()));
        worker.take_up(maps, &mut lists)?;
        Ok(Self { worker, lists, is_leaf: e.is_leaf() })
    }

    /// The value of elements that no leaf stores, and whether it has a fault.
    #[inline(never)]
    fn fill(&mut self) -> Result<(T, bool), Stop> {
        let shares = vec![Share::default(); self.lists.len()];
        let block = Block::new(&[0], &shares);
        self.worker.bind_stored(&block, &mut 0)?;
        let (elements, fault) = self.worker.rows(0, [1, 1])?;
        elements.first().map(|&fill| (fill, fault)).ok_or(Stop::Done)
    }

    /// The positions to evaluate.
    #[inline(never)]
    fn positions(&self, wanted: Where<'_>) -> Result<Vec<usize>> {
        let mut positions = Vec::new();
        let mut blocks = EntryBlocks::new(&self.lists, &whole(&self.lists), wanted);
        while let Some(block) = blocks.next_block() {
            append(&mut positions, block.positions)?;
        }
        Ok(positions)
    }

    fn run(mut self, len: usize) -> Result<Sparse<T>, Stop> {
        if self.lists.len() == 1 {
            return self.run_alone(len);
        }
        let (fill, fault) = self.fill()?;
        let (positions, values) = tasks::entries(&mut self.worker, &self.lists, Where::Some)?;
        if fault && positions.len() < len {
            return Err(Stop::Fault);
        }
        Ok(Sparse::of_sorted(len, fill, positions, values))
    }

    /// Of one operand the positions are those of the result; if it is a leaf, so are the values.
    fn run_alone(mut self, len: usize) -> Result<Sparse<T>, Stop> {
        let (fill, fault) = self.fill()?;
        if self.is_leaf {
            let values = self.worker.take_values()?;
            let positions = owned(self.lists.swap_remove(0))?;
            return Ok(Sparse::of_sorted(len, fill, positions, values));
        }
        if fault && self.lists[0].len() < len {
            return Err(Stop::Fault);
        }
        let (positions, values) = tasks::entries_of_one(&mut self.worker, self.lists)?;
        Ok(Sparse::of_sorted(len, fill, positions, values))
    }

    /// Calls `visit` with positions and elements, block by block; returns the fill value.
    fn for_each_block(&mut self, len: usize, visit: Visit<'_, T>) -> Result<T, Stop> {
        let (fill, fault) = self.fill()?;
        let count = self.visit(Where::Some, fill, visit)?;
        if fault && count < len { Err(Stop::Fault) } else { Ok(fill) }
    }

    /// Calls `visit` with positions and elements, block by block; returns how many there were.
    fn visit(&mut self, wanted: Where<'_>, fill: T, visit: Visit<'_, T>) -> Result<usize, Stop> {
        let mut blocks = EntryBlocks::new(&self.lists, &whole(&self.lists), wanted);
        let mut count = 0;
        while let Some(block) = blocks.next_block() {
            self.worker.bind_stored(&block, &mut 0)?;
            let positions = block.positions;
            count += positions.len();
            if let Some(stored) = self.worker.bound().row_in_memory(0, positions.len()) {
                visit(fill, positions, stored)?;
                continue;
            }
            let (results, fault) = self.worker.rows(0, [1, positions.len()])?;
            if fault {
                return Err(Stop::Fault);
            }
            visit(fill, positions, results)?;
        }
        Ok(count)
    }
}

/// Maps of all leaves at the joint shape.
fn stretched(e: &dyn Tree, shape: &Shape) -> Result<Vec<AddressMap>> {
    let mut maps = Vec::new();
    e.leaves(&mut |leaf| maps.push(leaf.map.clone().stretched(shape, Align::Right)));
    maps.into_iter().collect()
}

/// The error for a stopped evaluation: of a fault the first index that has it, be it an entry or the first
/// element without one.
#[cold]
#[inline(never)]
fn explain<T: Copy + Send + Sync>(e: &dyn Node<T>, shape: &Shape, len: usize, stop: Stop) -> Error {
    let map = match AddressMap::row_major(shape) {
        Ok(map) => map,
        Err(error) => return error,
    };
    let positions = match &stop {
        Stop::Fault => candidates(e, shape, len),
        Stop::Storage { leaf: 1.., .. } => Ok(candidates(e, shape, len).unwrap_or_default()),
        _ => Ok(Vec::new()),
    };
    let positions = match positions {
        Ok(positions) => positions,
        Err(other) => return locate::explain_stop(e, shape, &map, other, None),
    };
    let mut indexes = positions.iter().map(|&position| shape.unravel(position));
    locate::explain_at(e, &mut indexes, &map, stop, None)
}

/// Ascending positions of which one has the first fault: all entries, and the first element without one.
#[inline(never)]
fn candidates<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    len: usize,
) -> Result<Vec<usize>, Stop> {
    let mut positions = Evaluation::open(e, shape)?.positions(Where::Some)?;
    let stored = positions.len();
    let gap = positions.iter().enumerate().position(|(k, &position)| k != position);
    let gap = gap.unwrap_or(stored);
    if gap < len {
        try_reserve(&mut positions, 1)?;
        positions.insert(gap, gap);
    }
    Ok(positions)
}
