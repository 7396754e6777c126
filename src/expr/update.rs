//! Updates in place: the old elements of the destination are the first operand.

use super::apply::{ApplyRow, Op};
use super::eval::{destination, one_tile, run, whole};
use super::leaf::LeafRow;
use super::node::fill_bound;
use super::operands::Function;
use super::sink::{finish, store};
use super::sparse::StoredCursor;
use super::{
    Apply, Expr, IntoExpr, Lazy, Scalar, boxes_of, erased, eval, locate, moved, prepare, selectors,
    sparse,
};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::inner::{Scratch, slots};
use crate::kernel::{
    self, Blocking, Cursor, Dest, Fault, Local, Output, Row, Source, Stop, TILE, Tile, TileSource,
};
use crate::map::AddressMap;
use crate::memory::{list, refill};
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::ops::Range;

impl<W: Writer> Tensor<W> {
    /// Replaces every element of this view by a function of it. Takes no memory for results, but where the
    /// storage is sparse: then `f` is called for entries, and once for the fill value.
    ///
    /// A panic in the closure reaches the caller; this view may be partly written then, and after an error.
    ///
    /// # Errors
    ///
    /// [`Error::NotInjective`] if two indexes of this view share an address, [`Error::Storage`] if the storage
    /// fails, [`Error::WouldDensify`] if the fill value changes under a part of sparse storage that has entries,
    /// but not for every element, [`Error::OutOfMemory`] if sparse storage cannot keep the new ones.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_nested([[1, -2], [-3, 4]])?;
    /// t.map_in_place(|x: i32| x.abs())?;
    /// t.view_mut().select((0,))?.map_in_place(|x| 10 * x)?;
    /// assert_eq!(t.to_vec()?, [10, 20, 3, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn map_in_place<F>(&mut self, f: F) -> Result<()>
    where
        F: Fn(W::Elem) -> W::Elem + Send + Sync,
    {
        self.zip_in_place(Scalar(()), alone(f))
    }

    /// Replaces every element `a` of this view by `f(a, b)`, where `b` is that of another operand of any
    /// element type, stretched to this shape. `f` takes two arguments, where that of [`zip_with`](super::zip_with)
    /// takes one tuple. As [`Self::map_in_place`] otherwise.
    ///
    /// # Errors
    ///
    /// As [`Self::map_in_place`], [`Error::Destination`] if `other` does not stretch to this shape, what the
    /// evaluation of `other` reports, and [`Error::WouldDensify`], see [`Lazy::densely`], for very many elements
    /// of sparse storage beside an `other` that is not sparse.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let keep = Tensor::from(vec![true, false]);
    /// t.zip_in_place(&keep, |x, keep| if keep { x } else { 0 })?;
    /// assert_eq!(t.to_vec()?, [1, 0, 3, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "putmask")]
    #[doc(alias = "masked_fill")]
    pub fn zip_in_place<X, F>(&mut self, other: X, f: F) -> Result<()>
    where
        X: IntoExpr,
        F: Fn(W::Elem, X::Elem) -> W::Elem + Send + Sync,
    {
        update_with(Function::new(paired(f)), self, other.into_expr(), &|_| None)
    }
}

// Closures made here are of types that do not name the storage: kernels of all storages are the same.

fn alone<T, U>(f: impl Fn(T) -> U + Send + Sync) -> impl Fn(T, ()) -> U + Send + Sync {
    move |x, ()| f(x)
}

fn paired<T, B, U>(f: impl Fn(T, B) -> U + Send + Sync) -> impl Fn((T, B)) -> U + Send + Sync {
    move |(a, b)| f(a, b)
}

/// Replaces every element `a` of `out` by `op(a, b)`, `b` from `e` stretched to the shape of `out`. Only the
/// right operand decides whether an update has a fault, as it is unchanged: `fault` says which.
pub(crate) fn update_with<F, E, W>(
    op: F,
    out: &mut Tensor<W>,
    e: E,
    fault: &dyn Fn(E::Elem) -> Option<Fault>,
) -> Result<()>
where
    W: Writer,
    E: Expr,
    F: Op<(W::Elem, E::Elem), Out = W::Elem>,
{
    let shape = destination(&e, out.address_map())?;
    let sparse = out.storage().as_slice().is_none() && out.storage().stored().is_some();
    let by_entries = sparse && {
        let both = Apply::borrowing(&op, (out.view(), e.by_ref()));
        let all = sparse::all_stored(&both);
        if !all {
            sparse::check_copies(&both, out.len())?;
        }
        all
    };
    if shape.contains(&0) {
        return Ok(());
    }
    let _results = prepare(&e)?;
    if by_entries {
        // Entries of both sides at once; elements that neither stores are one element.
        let both = Apply::borrowing(&op, (out.view(), e.by_ref()));
        let new = sparse::evaluate(&both, &shape, out.len())?;
        let (map, storage) = out.parts_mut();
        return eval::assign(&Tensor::new(shape, new)?, map, storage);
    }
    if sparse {
        // All elements are computed before entries give way to them.
        let ((map, storage), e) = (out.parts_mut(), erased(&e));
        let part = |storage: &W, ranges: &[Range<usize>]| {
            let old = Tensor::from_parts(map.clone(), storage);
            let new =
                Lazy(Apply::borrowing(&op, (old, e.by_ref()))).select(selectors(ranges))?.eval();
            Ok(new.map_err(|error| moved(error, ranges))?.into_storage())
        };
        let boxes = boxes_of(&e, &shape, sparse::AT_ONCE)?;
        if sparse::assign_dense(map, storage, boxes, &part)? {
            return Ok(());
        }
    }
    let (map, storage) = out.parts_mut();
    let source = Update { op: &op, operand: &e, elements: PhantomData };
    let mut finished = Ok(());
    let done = match storage.as_mut_slice() {
        Some(slice) if map.rest().is_empty() => {
            source.without_plan(map, slice).unwrap_or_else(|| {
                run(&source, &e, (&shape, map), false, Output::held(slice), Blocking::SCRATCH)
                    .map(drop)
            })
        }
        _ => {
            let done = store(&source, &e, &shape, map, storage, true);
            finished = finish(map, storage);
            done
        }
    };
    done.map_err(|stop| locate::explain_stop(&e, &shape, map, stop, Some(fault))).and(finished)
}

/// An update in place: the old elements of a tile are its first operand.
struct Update<'e, T, F, E> {
    op: &'e F,
    operand: &'e E,
    elements: PhantomData<fn() -> T>,
}

impl<T, F, E> Update<'_, T, F, E>
where
    T: Copy + Send + Sync,
    E: Expr,
    F: Op<(T, E::Elem), Out = T>,
{
    /// Updates all of a slice whose elements are few, or lie in order as those of the operand do.
    fn without_plan(&self, map: &AddressMap, slice: &mut [T]) -> Option<Result<(), Stop>> {
        let len = slice.len();
        if whole(map) != Some(len) {
            return None;
        }
        if let Some(operand) = self.operand.row_in_order(len) {
            let (mut old, mut parts) = (Vec::new(), slice.chunks_mut(TILE).enumerate());
            return Some(parts.try_for_each(|(k, part)| {
                refill(&mut old, part.iter().copied())?;
                let operand = operand.part(k * TILE, part.len());
                let row = ApplyRow::new(self.op, (LeafRow::new(&old), operand));
                kernel::fill_row(&row, slots(part)).map(drop)
            }));
        }
        let mut done = None;
        one_tile(self.operand, map, false, &mut |tile| {
            done = Some(list(slice.iter().copied()).map_err(Stop::from).and_then(|old| {
                let operand = self.operand.cursor();
                let mut cursor = UpdateCursor { op: self.op, old, operand };
                cursor.bind(tile, &mut 1)?;
                kernel::fill_tile(&cursor, 0, tile.sides(), slots(slice)).map(drop)
            }));
        });
        done
    }
}

impl<T, F, E> Source<T> for Update<'_, T, F, E>
where
    T: Copy + Send + Sync,
    E: Expr,
    F: Op<(T, E::Elem), Out = T>,
{
    fn open(&self) -> Box<dyn TileSource<T> + '_> {
        let operand = self.operand.cursor();
        let cursor = UpdateCursor { op: self.op, old: Vec::new(), operand };
        Box::new(Updater { cursor, scratch: Scratch::default() })
    }
}

struct UpdateCursor<'e, F, T, C> {
    op: &'e F,
    /// Old elements of the tile.
    old: Vec<T>,
    operand: C,
}

impl<F, T, C> Cursor for UpdateCursor<'_, F, T, C>
where
    T: Copy,
    C: Cursor,
    F: Op<(T, C::Elem), Out = T>,
{
    type Elem = T;
    type Row<'r>
        = ApplyRow<'r, F, (LeafRow<'r, T>, C::Row<'r>)>
    where
        Self: 'r;

    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop> {
        self.operand.bind(tile, next)
    }

    #[inline(always)]
    fn row(&self, row: usize, columns: usize) -> Self::Row<'_> {
        let old = LeafRow::new(&self.old[row * columns..][..columns]);
        ApplyRow::new(self.op, (old, self.operand.row(row, columns)))
    }

    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop> {
        self.operand.fault(tile, next)
    }
}

struct Updater<'e, F, T, C> {
    cursor: UpdateCursor<'e, F, T, C>,
    scratch: Scratch<T>,
}

impl<'e, F, T, C> TileSource<T> for Updater<'e, F, T, C>
where
    T: Copy,
    C: StoredCursor<'e>,
    F: Op<(T, C::Elem), Out = T>,
{
    fn load(&mut self, local: &mut Local<'_>) -> Result<(), Stop> {
        let (mut next, mut done) = (1, Ok(()));
        self.cursor.operand.leaves(&mut |leaf| {
            if done.is_ok() {
                done = leaf.load(local, &mut next);
            }
        });
        done
    }

    fn expect(&mut self, next: &mut dyn Iterator<Item = Local<'_>>) {
        let mut ahead = 0;
        self.cursor.operand.leaves(&mut |leaf| ahead = ahead.max(leaf.ahead()));
        if ahead > 0 {
            let (boxes, mut next): (Vec<_>, _) = (next.collect(), 1);
            self.cursor.operand.leaves(&mut |leaf| leaf.expect(&boxes, &mut next));
        }
    }

    fn fill(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, T>) -> Result<(), Stop> {
        if !dest.get(&mut self.cursor.old)? {
            return Err(Stop::Done);
        }
        self.cursor.bind(tile, &mut 1)?;
        fill_bound(&self.cursor, &mut self.scratch, tile, dest)
    }
}
