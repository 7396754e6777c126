//! Updates in place: the old elements of the destination are the first operand.

use super::apply::{ApplyRow, Op};
use super::eval::{destination, row_addresses, run, visit_blocks};
use super::leaf::LeafRow;
use super::node::{Node, fill_bound};
use super::{Apply, Expr, eval, locate, sparse};
use crate::error::Result;
use crate::kernel::inner::Scratch;
use crate::kernel::{Blocking, Cursor, Dest, Fault, Output, Source, Stop, Tile, TileSource};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;

/// Replaces every element `a` of `out` by `op(a, b)`, `b` from `e` stretched to the shape of `out`.
pub(super) fn update_with<F, E, W>(op: F, out: &mut Tensor<W>, e: E) -> Result<()>
where
    W: Writer<Elem = E::Elem>,
    E: Expr,
    F: Op<(E::Elem, E::Elem), Out = E::Elem>,
{
    let shape = destination(&e, out.address_map())?;
    if out.storage().as_slice().is_none() && out.storage().stored().is_some() {
        // Entries of both sides at once; elements that neither stores are one element.
        let new = {
            let old = out.view();
            let both = Apply::new(&op, (old, e.by_ref()));
            sparse::all_stored(&both).then(|| sparse::evaluate(&both, &shape, out.len()))
        };
        if let Some(new) = new {
            let (map, storage) = out.parts_mut();
            return eval::assign(&Tensor::new(shape, new?)?, map, storage);
        }
    }
    let (map, storage) = out.parts_mut();
    // Only the right operand decides whether an update has a fault, and it is unchanged.
    let fault = |b: E::Elem| op.fault((b, b));
    let done = if map.rest().is_empty()
        && let Some(slice) = storage.as_mut_slice()
    {
        let source = Update { op: &op, operand: &e };
        run(&source, &e, &shape, map, Output::held(slice), Blocking::SCRATCH).map(drop)
    } else {
        update_blocks(&e, &shape, map, storage, &|a, b| {
            if op.is_fault(&(a, b)) { None } else { Some(op.call((a, b))) }
        })
    };
    done.map_err(|stop| locate::explain_stop(&e, &shape, map, stop, &fault))
}

/// [`update_with`] for storage that is read and written block by block; `op` is `None` for a fault.
fn update_blocks<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
    op: &dyn Fn(T, T) -> Option<T>,
) -> Result<(), Stop> {
    let mut old: Vec<T> = Vec::new();
    visit_blocks(e, shape, map, &mut |place, [rows, columns], block| {
        let mut block = block.chunks(columns.max(1));
        for row in 0..rows {
            let failed = |source| Stop::Storage { leaf: 0, source };
            let from = block.next().unwrap_or_default();
            old.clear();
            old.extend_from_slice(from);
            let addresses = row_addresses(place, row, columns);
            storage.read_at(&addresses, &mut old).map_err(failed)?;
            for (a, &b) in old.iter_mut().zip(from) {
                *a = op(*a, b).ok_or(Stop::Fault)?;
            }
            storage.write_at(&addresses, &old).map_err(failed)?;
        }
        Ok(())
    })
}

/// An update in place: the old elements of a tile are its first operand.
struct Update<'e, F, E> {
    op: &'e F,
    operand: &'e E,
}

impl<F, E> Source<E::Elem> for Update<'_, F, E>
where
    E: Expr,
    F: Op<(E::Elem, E::Elem), Out = E::Elem>,
{
    fn open(&self) -> Box<dyn TileSource<E::Elem> + '_> {
        let cursor = UpdateCursor { op: self.op, old: Vec::new(), operand: self.operand.cursor() };
        Box::new(Updater { cursor, scratch: Scratch::default() })
    }
}

struct UpdateCursor<'e, F, C: Cursor> {
    op: &'e F,
    old: Vec<C::Elem>,
    operand: C,
}

impl<F, C> Cursor for UpdateCursor<'_, F, C>
where
    C: Cursor,
    F: Op<(C::Elem, C::Elem), Out = C::Elem>,
{
    type Elem = C::Elem;
    type Row<'r>
        = ApplyRow<'r, F, (LeafRow<'r, C::Elem>, C::Row<'r>)>
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

struct Updater<'e, F, C: Cursor> {
    cursor: UpdateCursor<'e, F, C>,
    scratch: Scratch<C::Elem>,
}

impl<F, C> TileSource<C::Elem> for Updater<'_, F, C>
where
    C: Cursor,
    F: Op<(C::Elem, C::Elem), Out = C::Elem>,
{
    fn fill(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, C::Elem>) -> Result<(), Stop> {
        if !dest.get(&mut self.cursor.old) {
            return Err(Stop::Done);
        }
        self.cursor.bind(tile, &mut 1)?;
        fill_bound(&self.cursor, &mut self.scratch, tile, dest)
    }

    fn block(&mut self, _tile: &Tile<'_>) -> Result<&[C::Elem], Stop> {
        Ok(&[])
    }
}
