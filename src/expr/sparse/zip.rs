//! Functions of stored entries alone.

use super::tasks::{self, Where};
use super::{Evaluation, Visit, locate};
use crate::error::{Error, Result};
use crate::expr::deferred::{Kept, SharedResult};
use crate::expr::leaf::LeafCursor;
use crate::expr::node::{StoredOnly, Tree};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Access, Apply, Expr, IntoOperands, Lazy, Leaf, Operands, Prepare, operands::Function, prepare,
    prepare_all,
};
use crate::kernel::Stop;
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::shape::{Align, Shape};
use crate::storage::Sparse;
use crate::tensor::Tensor;
use crate::tensor::stored::LISTED;
use std::sync::Arc;

/// A function of one to six operands where every sparse one of them stores an entry, and `fill` everywhere
/// else: at the intersection of their entries, not the union. Where entries of one operand alone count, as in a sum or a
/// maximum, evaluate operators or [`zip_with`](crate::zip_with) by [`Lazy::eval_sparse`](super::Lazy::eval_sparse).
///
/// This is for operators with an annihilator: where an element of one operand decides the result, the
/// others need not be looked at. A product of zeros in particular, if the others are finite: 0 times NaN
/// is NaN, which [`Lazy::eval_sparse`](super::Lazy::eval_sparse) knows and this function does not. The
/// closure takes one tuple, as that of [`zip_with`](crate::zip_with).
///
/// An operand counts as sparse if all its leaves are; an expression stores an entry where some leaf does.
/// Other operands, such as a dense row, are read at the entries of the sparse ones only. The entries of the
/// result are those that are computed, whatever their values. [`Tensor::constant`] is sparse and stores none, so with one
/// all elements are `fill`: take a scalar, or read it [densely](super::Lazy::densely).
///
/// Nothing is computed before it is asked for: [`Lazy::eval_sparse`] makes a sparse tensor, and a fold takes the entries as
/// they come, so that a sum of products costs the entries, whatever the shape. As an operand of other expressions it
/// is computed first.
///
/// # Errors
///
/// When it is computed: [`Error::WouldDensify`] if no operand is sparse; [`Error::Operands`] if the shapes do not
/// align; [`Error::Cast`], [`Error::Arithmetic`] and [`Error::ElementOverflow`] with the first failing index;
/// [`Error::Storage`] if a storage fails; [`Error::OutOfMemory`] if the result cannot be kept. An index is one of the
/// view that is computed, but of the function itself for views that repeat elements.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::expr::zip_stored;
/// use lensor::storage::Duplicates;
/// let indexes = [[0, 0], [0, 2], [1, 1]];
/// let a = Tensor::from_coordinates([2, 3], 0, &indexes, vec![1, 2, 3], Duplicates::Refuse)?;
/// let b = a.view().flip(1)?;
/// let product = zip_stored((&a, b), 0, |(a, b)| a * b);
/// assert_eq!(product.eval_sparse()?.to_vec()?, [2, 0, 2, 0, 9, 0]);
///
/// let row = Tensor::from_vec([3], vec![10, 20, 30])?; // dense
/// let scaled = zip_stored((&a, &row), 0, |(a, row)| a * row);
/// assert_eq!(scaled.sum(1).eval()?.to_vec()?, [70_i64, 60]);
/// # Ok::<(), Error>(())
/// ```
///
/// A matricised tensor times a Khatri-Rao product, the heart of CP decompositions. All components of an entry are
/// computed together, as the sparse operand is broadcast along the last axis and that is not folded:
///
/// ```
/// # use lensor::prelude::*;
/// # use lensor::expr::zip_stored;
/// # use lensor::storage::Duplicates;
/// # let indexes = [[0, 1, 2], [1, 0, 0], [1, 1, 1]];
/// # let x = Tensor::from_coordinates([2, 2, 3], 0.0, &indexes, vec![1.0, 2.0, 3.0], Duplicates::Refuse)?;
/// # let (b, c) = (Tensor::full([2, 4], 2.0)?, Tensor::full([3, 4], 0.5)?);
/// let (x, b) = (x.view().insert_axis(3)?, b.view().insert_axis(1)?); // (i, j, k, 1) and (j, 1, r), beside (k, r)
/// let terms = zip_stored((x, b, &c), 0.0, |(x, b, c)| x * b * c);
/// let m = terms.sum([1, 2]).eval()?;
/// assert_eq!(m.to_vec()?, [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn zip_stored<A, U, F>(
    operands: A,
    fill: U,
    f: F,
) -> Lazy<ZipStored<Apply<Function<F>, A::Operands>>>
where
    A: IntoOperands,
    U: Copy + Send + Sync,
    F: Fn(A::Elems) -> U + Send + Sync,
{
    let e = Apply::new(Function::new(f), operands.into_operands());
    let counts = e.operands().leaf_counts();
    let (map, result, computed) = (ZipStored::map_of(&e), Arc::default(), None);
    Lazy(ZipStored { e, counts, fill, map, result, computed })
}

/// A function of stored entries, see [`zip_stored`]. To those that look from above it is one sparse leaf.
pub struct ZipStored<E: Expr> {
    e: E,
    counts: Vec<usize>,
    fill: E::Elem,
    /// The view of the result, row-major unless that is computed as a whole and viewed then; or why there is none.
    map: Result<AddressMap>,
    /// The result, where it is an operand of other expressions.
    result: Arc<SharedResult<Sparse<E::Elem>>>,
    /// The result that is viewed: views that a running evaluation makes are views of what it has computed.
    computed: Option<Arc<Sparse<E::Elem>>>,
}

impl<E: Expr> ZipStored<E> {
    /// The same of another form of the expression.
    fn of<F: Expr<Elem = E::Elem>>(&self, e: F) -> ZipStored<F> {
        ZipStored {
            e,
            counts: self.counts.clone(),
            fill: self.fill,
            map: self.map.clone(),
            result: self.result.clone(),
            computed: self.computed.clone(),
        }
    }

    fn map_of(e: &E) -> Result<AddressMap> {
        e.shape().and_then(|shape| AddressMap::row_major(&shape))
    }

    /// Whether this is the result, and no view of it.
    fn is_whole(&self) -> bool {
        self.computed.is_none() && self.map == Self::map_of(&self.e)
    }
}

impl<E: Expr + Clone> Clone for ZipStored<E> {
    fn clone(&self) -> Self {
        self.of(self.e.clone())
    }
}

debug_of_fields!([E: Expr] ZipStored<E> |own| map: own.map);

impl<E: Expr> Sealed for ZipStored<E> {}

impl<E: Expr> Expr for ZipStored<E> {
    const IS_LEAF: bool = true;
    type Elem = E::Elem;
    type Cursor<'a>
        = LeafCursor<'a, E::Elem>
    where
        Self: 'a;
    type Ref<'a>
        = ZipStored<E::Ref<'a>>
    where
        Self: 'a;

    fn by_ref(&self) -> ZipStored<E::Ref<'_>> {
        self.of(self.e.by_ref())
    }

    fn shape(&self) -> Result<Shape> {
        self.map.as_ref().map(AddressMap::shape).map_err(Error::copy)
    }

    fn fits(&self, shape: &Shape) -> bool {
        self.map.as_ref().is_ok_and(|map| map.shape() == *shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        if let Ok(map) = &self.map {
            let len = self.e.shape().and_then(|shape| shape.count()).unwrap_or(usize::MAX);
            // Without a sparse operand there is an error as soon as it is computed.
            let access = match least_stored(&self.e, &self.counts, len) {
                Some(count) => Access::Stored { count },
                None => Access::Read { below: None },
            };
            visit(Leaf { map, elem_bytes: size_of::<E::Elem>(), access });
        }
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        self.computed = self.computed.take().or_else(|| self.result.get());
        let map = self.map.as_ref().map_err(Error::copy)?;
        let (count, view) = (map.count(), change(map.clone())?);
        // What is computed, or would be computed again for each repeat, is viewed; otherwise only the view is computed.
        if view.count() > count || !self.is_whole() {
            self.map = Ok(view);
            return Ok(());
        }
        let joint = self.e.shape()?;
        self.e.rewrite(&mut |map| change(map.stretched(&joint, Align::Right)?))?;
        self.map = Self::map_of(&self.e);
        self.result = Arc::default();
        Ok(())
    }

    fn cursor(&self) -> LeafCursor<'_, E::Elem> {
        let computed = self.computed.clone().or_else(|| self.result.get());
        // What reads no elements has computed none, and may ask for the fill value.
        LeafCursor::of_entries(computed.unwrap_or_else(|| Arc::new(Sparse::new(0, self.fill))))
    }

    fn leaf_count(&self) -> usize {
        self.e.leaf_count()
    }

    fn depth(&self) -> usize {
        self.e.depth()
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        if self.computed.is_none() {
            visit(self);
        }
    }

    fn stored_only(&self) -> Option<StoredOnly<'_, E::Elem>> {
        let whole = StoredOnly { e: &self.e, counts: &self.counts, fill: self.fill };
        Some(whole).filter(|_| self.is_whole())
    }
}

impl<E: Expr> Prepare for ZipStored<E> {
    fn prepare<'a>(&'a self, kept: &mut Kept<'a>) -> Result<()> {
        let computed = StoredOnly { e: &self.e, counts: &self.counts, fill: self.fill };
        let result = self.result.get_or(|| {
            prepare_all(&mut |visit| self.e.deferred(visit), kept)?;
            Ok(computed.evaluate()?.into_storage())
        })?;
        kept.keep(result);
        Ok(())
    }
}

impl<T: Copy + Send + Sync> StoredOnly<'_, T> {
    /// All entries.
    #[inline(never)]
    pub(in crate::expr) fn evaluate(&self) -> Result<Tensor<Sparse<T>>> {
        let map = AddressMap::row_major(&self.e.shape()?)?;
        let _results = prepare(self.e)?;
        let operands = self.operands(map.count())?;
        let opened = Evaluation::open_where(self.e, &map.shape(), Some(&operands));
        let evaluated = opened.and_then(|mut open| {
            tasks::entries(&mut open.worker, &open.lists, Where::All(&operands))
        });
        let (positions, values) = evaluated.map_err(|stop| self.explain(&map, &operands, stop))?;
        let storage = Sparse::of_sorted(map.count(), self.fill, positions, values);
        Ok(Tensor::from_parts(map, storage))
    }

    /// Calls `visit` with the fill value, positions and elements of entries, block by block, and returns the fill value.
    pub(in crate::expr) fn visit(&self, shape: &Shape, visit: Visit<'_, T>) -> Result<T> {
        let map = AddressMap::row_major(shape)?;
        let _results = prepare(self.e)?;
        let operands = self.operands(map.count())?;
        let visited = Evaluation::open_where(self.e, shape, Some(&operands))
            .and_then(|mut open| open.visit(Where::All(&operands), self.fill, visit).map(drop));
        visited.map_err(|stop| self.explain(&map, &operands, stop))?;
        Ok(self.fill)
    }

    pub(super) fn operands(&self, dense: usize) -> Result<Vec<Option<usize>>> {
        sparse_operands(self.e, self.counts).ok_or(Error::WouldDensify { stored: 0, dense })
    }

    /// The error for a stopped evaluation.
    #[cold]
    pub(super) fn explain(
        &self,
        map: &AddressMap,
        operands: &[Option<usize>],
        stop: Stop,
    ) -> Error {
        let (shape, mut positions) = (map.shape(), Vec::new());
        if let (Stop::Fault | Stop::Storage { leaf: 1.., .. }, Ok(evaluation)) =
            (&stop, Evaluation::open_where(self.e, &shape, Some(operands)))
        {
            match evaluation.positions(Where::All(operands)) {
                Ok(found) => positions = found,
                Err(error) if matches!(stop, Stop::Fault) => return error,
                Err(_) => {}
            }
        }
        let mut indexes = positions.iter().map(|&position| shape.unravel(position));
        locate::explain_at(self.e, &mut indexes, map, stop, None)
    }
}

/// Entries of the sparse operand that has the fewest among `len` elements: of expressions, those of one leaf.
fn least_stored(e: &dyn Tree, counts: &[usize], len: usize) -> Option<usize> {
    let mut stored = Vec::new();
    e.leaves(&mut |leaf| {
        stored.push(matches!(leaf.access, Access::Stored { .. }).then(|| leaf.stored_in(len)));
    });
    let mut leaves = &stored[..];
    let operands = counts.iter().filter_map(|&count| {
        let (own, rest) = leaves.split_at(count.min(leaves.len()));
        leaves = rest;
        // Of leaves that are all sparse.
        own.iter().copied().reduce(|most, stored| Some(most?.max(stored?))).flatten()
    });
    operands.min()
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

/// For every leaf whether its entries among `len` elements are looked up where another one has entries, instead of listed as
/// often as they are repeated; and that other one, if there are such leaves: the operand that is one leaf with the fewest.
pub(super) fn looked_up(
    e: &dyn Tree,
    operands: &[Option<usize>],
    len: usize,
) -> (Vec<bool>, Option<usize>) {
    let mut entries = Vec::new();
    e.leaves(&mut |leaf| entries.push((leaf.stored(), leaf.stored_in(len))));
    // Leaves of one operand follow one another.
    let operand = |leaf: Option<usize>| operands.get(leaf?).copied().flatten();
    let alone = (0..entries.len()).filter(|&leaf| {
        let own = operand(Some(leaf));
        own.is_some() && own != operand(leaf.checked_sub(1)) && own != operand(Some(leaf + 1))
    });
    let fewest = alone.min_by_key(|&leaf| entries[leaf].1);
    let most = fewest.map_or(usize::MAX, |leaf| entries[leaf].1.saturating_mul(LISTED));
    // Those of the other one are never too many themselves.
    let is_one = |(&(stored, repeated), own): (&(usize, usize), &Option<usize>)| {
        own.is_some() && repeated > stored && repeated > most
    };
    let looked_up: Vec<bool> = entries.iter().zip(operands).map(is_one).collect();
    let some = looked_up.contains(&true);
    (looked_up, fewest.filter(|_| some))
}
