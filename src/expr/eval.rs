//! Evaluation: from an expression to operands, a plan and elements.

mod in_order;
mod one_tile;

pub(super) use in_order::whole;
pub(super) use one_tile::one_tile;

use super::node::{Node, Tree};
use super::prepared::Prepared;
use super::sink::{finish, store};
use super::{Access, Expr, locate, prepare, sparse};
use crate::error::{Error, Result};
use crate::kernel::inner::{self, slots};
use crate::kernel::{
    self, Blocking, Filled, LARGE_BYTES, Output, PerOperand, Source, Stop, TileSource,
};
use crate::map::{self, AddressMap};
use crate::shape::{Align, Shape};
use crate::storage::Writer;
use crate::tensor::Tensor;
use in_order::{assign_without_plan, elements_without_plan, in_order, located};
use one_tile::tabled_tile;
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// Elements up to which an evaluation needs no plan where everything is strided; in order, larger ones do without.
pub(crate) const UNPLANNED_ELEMENTS: usize = 4096;

/// All elements in row-major order in a new tensor.
#[inline(never)]
pub(super) fn eval<T: Copy + Send + Sync>(e: &dyn Node<T>) -> Result<Tensor<Vec<T>>> {
    // Both stay where they are made: moving them just after takes longer than reading them.
    let shape = e.shape();
    let shape = shape.as_ref().map_err(Error::copy)?;
    let made = AddressMap::of_shape(shape);
    let map = made.as_ref().map_err(Error::copy)?;
    let data = match elements_without_plan(e, map) {
        Some(data) => data.map_err(|stop| located(e, map, stop))?,
        None => {
            let _results = prepare(e)?;
            match sparse::eval_sparsely(e, shape, map) {
                Some(data) => data?,
                None => inner::collect(map.count(), |out| fill(e, shape, map, out))?,
            }
        }
    };
    Ok(Tensor::from_parts(made?, data))
}

/// All elements of `e` at `shape`, whose row-major map is given.
#[inline(never)]
pub(super) fn elements<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
) -> Result<Vec<T>> {
    match elements_without_plan(e, map) {
        Some(data) => data.map_err(|stop| located(e, map, stop)),
        None => inner::collect(map.count(), |out| fill(e, shape, map, out)),
    }
}

/// All elements of `e` at `shape`, whose row-major map is given, to where there is space for just as many.
#[inline(never)]
pub(super) fn fill<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    out: &mut [MaybeUninit<T>],
) -> Result<Filled> {
    let filled = evaluate_into(e, shape, map, out)?;
    filled.ok_or(Error::OutOfSpan { span: 0..map.count(), len: out.len() })
}

/// The elements of an expression, if `wanted` says so of its shape and whether they lie in order in memory: where they lie
/// then, if they are at most `in_place`, or computed, if they are few and all operands are memory. `None` also where an element
/// does not exist, which an evaluation reports.
#[inline(never)]
pub(crate) fn small_elements<'e, E: Expr>(
    e: &'e E,
    in_place: usize,
    wanted: &mut dyn FnMut(Shape, bool) -> bool,
) -> Option<Cow<'e, [E::Elem]>> {
    match e.in_memory().and_then(|(elements, map)| Some((elements, map, map.consecutive()?))) {
        Some((elements, map, run)) => {
            let few = run.len() <= in_place && wanted(map.shape(), true);
            elements.get(run).filter(|_| few).map(Cow::Borrowed)
        }
        None => small_tile_of(e, &mut |shape| wanted(shape, false)).map(Cow::Owned),
    }
}

/// How [`small_elements`] would have the elements of an expression of this shape, in words, if it has some.
pub(crate) fn small_in_words<E: Expr>(
    e: &E,
    in_place: usize,
    shape: &Shape,
) -> Option<&'static str> {
    if shape.contains(&0) {
        return None;
    }
    if let Some((_, map)) = e.in_memory().filter(|(_, map)| map.is_contiguous()) {
        return (map.count() <= in_place).then_some("read where it lies, without a plan");
    }
    let map = AddressMap::of_shape(shape).ok().filter(|_| is_small(e, shape))?;
    Some(match tile_without_plan(e, &map) {
        Some(_) => "small, computed without a plan",
        None => "small, copied to memory first, in order",
    })
}

/// The only tile of an evaluation that needs no plan, as it is told.
pub(super) struct OneTile {
    /// Rows and columns.
    pub(super) sides: [usize; 2],
    /// Strides along columns, and whether a table is followed there.
    pub(super) along: PerOperand<(isize, bool)>,
}

/// The tile, if an evaluation needs no plan.
pub(super) fn tile_without_plan<T>(e: &dyn Node<T>, map: &AddressMap) -> Option<OneTile> {
    if in_order(e, map, &mut |_| {}) {
        let mut along = PerOperand::from_slice(&[(1, false)]);
        e.leaves(&mut |_| along.push((1, false)));
        return Some(OneTile { sides: [1, map.count()], along });
    }
    let mut found = None;
    one_tile(e, map, false, &mut |tile| {
        let columns = tile.places.iter().map(|place| place.columns);
        let along: PerOperand<_> = columns.map(|own| (own.stride, own.table.is_some())).collect();
        found = Some(OneTile { sides: [tile.rows, tile.columns], along });
    });
    found
}

/// Bytes of few elements.
const SMALL_BYTES: usize = 1 << 16;

/// Whether so many elements are few: to be computed before they are used, or without a plan.
fn are_few<T>(count: usize) -> bool {
    count <= UNPLANNED_ELEMENTS.min(SMALL_BYTES / size_of::<T>().max(1))
}

/// Whether [`small_elements`] may be had of an expression of this shape: it has few elements, all in memory.
pub(crate) fn is_small<T: Copy + Send + Sync>(e: &dyn Node<T>, shape: &Shape) -> bool {
    let mut near = shape.count().is_ok_and(are_few::<T>);
    e.leaves(&mut |leaf| near &= matches!(leaf.access, Access::Slice));
    near
}

/// The elements of [`small_elements`], computed.
#[inline(never)]
fn small_tile_of<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    wanted: &mut dyn FnMut(Shape) -> bool,
) -> Option<Vec<T>> {
    let shape = e.shape();
    let shape = shape.as_ref().ok()?;
    if !is_small(e, shape) || !wanted(shape.clone()) {
        return None;
    }
    let map = AddressMap::of_shape(shape);
    let map = map.as_ref().ok()?;
    if let Some(data) = elements_without_plan(e, map) {
        return data.ok();
    }
    let filled = |out: &mut [MaybeUninit<T>]| evaluate_raw(e, shape, map, out)?.ok_or(Stop::Done);
    inner::collect(map.count(), filled).ok()
}

/// Elements of `e`, stretched to the shape of `map`, into `storage`.
#[inline(never)]
pub(super) fn assign<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Result<()> {
    assign_and(finish, e, map, storage)
}

/// The same of a part of what is assigned: [`finish`] ends the writing of all.
#[inline(never)]
pub(crate) fn assign_part<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Result<()> {
    assign_and(|_, _| Ok(()), e, map, storage)
}

/// Assigns, and does what comes `then` if anything may have been written to storage that is neither memory nor sparse.
fn assign_and<T: Copy + Send + Sync>(
    then: fn(&AddressMap, &mut dyn Writer<Elem = T>) -> Result<()>,
    e: &dyn Node<T>,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Result<()> {
    if let Some(done) = assign_without_plan(e, map, storage) {
        return done.map_err(|stop| located(e, map, stop));
    }
    let shape = destination(e, map)?;
    if shape.contains(&0) {
        return Ok(());
    }
    if storage.stored_mut().is_some() && !sparse::all_stored(e) {
        sparse::check_copies(e, map.count())?;
    }
    let _results = prepare(e)?;
    if let Some(done) = sparse::assign_entries(e, &shape, map, storage) {
        return done;
    }
    let done = sparse::assign_sparsely(e, &shape, map, storage);
    let done = done.unwrap_or_else(|| assign_blocks(e, &shape, map, storage));
    done.and(then(map, storage))
}

/// [`assign_part`] to a destination that can take it, every element of which is computed.
#[inline(never)]
pub(super) fn assign_blocks<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Result<()> {
    if map.rest().is_empty()
        && let Some(slice) = storage.as_mut_slice()
    {
        return evaluate_into(e, shape, map, slots(slice)).map(drop);
    }
    store(&Fused(e), e, shape, map, storage, false)
        .map_err(|stop| locate::explain_stop(e, shape, map, stop, None))
}

/// The shape to evaluate for an assignment, if a destination of map `out` can take it.
pub(super) fn destination(e: &dyn Tree, out: &AddressMap) -> Result<Shape> {
    let expected = out.shape();
    check_stretches(e, &expected)?;
    out.check_injective()?;
    Ok(expected)
}

pub(super) fn check_stretches(e: &dyn Tree, expected: &Shape) -> Result<()> {
    if e.fits(expected) {
        return Ok(());
    }
    let found = e.shape()?;
    if expected.join(&found, Align::Right, 2).is_ok_and(|joint| joint == *expected) {
        return Ok(());
    }
    Err(Error::Destination { expected: expected.to_vec(), found: found.to_vec() })
}

/// Evaluates `e` at `shape` to where `map` says; returns whether that was all of `out`.
#[inline(never)]
pub(super) fn evaluate_into<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    out: &mut [MaybeUninit<T>],
) -> Result<Option<Filled>> {
    evaluate_raw(e, shape, map, out).map_err(|stop| locate::explain_stop(e, shape, map, stop, None))
}

/// As [`evaluate_into`], with the reason of a stop still to be explained.
#[inline(never)]
pub(super) fn evaluate_raw<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    out: &mut [MaybeUninit<T>],
) -> Result<Option<Filled>, Stop> {
    let mut done = Err(Stop::Done);
    let whole = map.consecutive() == Some(0..out.len());
    if whole && one_tile(e, map, false, &mut |tile| done = e.fill_tile(tile, out)) {
        return done.map(Some);
    }
    run(&Fused(e), e, (shape, map), whole, Output::new(out), blocking(e, map))
}

/// The tiles in which `e` is evaluated to where `map` says.
pub(super) fn blocking(e: &dyn Tree, map: &AddressMap) -> Blocking {
    match e.depth() {
        _ if copies_rows(e, map) => Blocking::ROWS,
        0 if !copies_large(e) => Blocking::DIRECT,
        // Boxes, and large elements of storage, go through scratch memory a tile at a time: tiles stay short.
        _ => Blocking::SCRATCH,
    }
}

/// Whether large elements are copied from storage.
fn copies_large(e: &dyn Tree) -> bool {
    let mut large = false;
    e.leaves(&mut |leaf| large |= leaf.access != Access::Slice && leaf.elem_bytes > LARGE_BYTES);
    large
}

/// Whether `e` is a tensor in memory whose rows go to rows of the output without a detour: only then may
/// they be long, as everything else goes through scratch memory a tile at a time.
fn copies_rows(e: &dyn Tree, map: &AddressMap) -> bool {
    let mut direct = e.is_leaf();
    e.leaves(&mut |leaf| {
        let lies = matches!(leaf.access, Access::Slice | Access::Blocks(_));
        direct &= lies && leaf.map.rest().is_empty();
    });
    let top = map.top();
    let last = top.plain_axes().last().map(|axis| (axis.stride, top.pattern(top.rank() - 1)));
    direct
        && last
            .is_some_and(|(stride, pattern)| stride == 1 && matches!(pattern, map::Pattern::Linear))
}

/// Runs `source`, which reads the leaves of `e`, to where `map` says: as one tile, unless that was `tried`, or by a plan.
#[inline(never)]
pub(super) fn run<T: Copy + Send + Sync>(
    source: &dyn Source<T>,
    e: &dyn Tree,
    (shape, map): (&Shape, &AddressMap),
    tried: bool,
    out: Output<'_, T>,
    blocking: Blocking,
) -> Result<Option<Filled>, Stop> {
    let (mut out, mut done) = (Some(out), None);
    if !tried && are_few::<T>(map.count()) {
        tabled_tile(e, map, &mut |tile| {
            done = out.take().map(|out| kernel::evaluate_tile(source, tile, out));
        });
    }
    let Some(out) = out else { return done.unwrap_or(Ok(())).map(|()| None) };
    let prepared = Prepared::new(e, shape, map);
    let stages = prepared.stages();
    kernel::evaluate(source, &prepared.shape, &prepared.operands(&stages), blocking, out)
}

/// An expression as a source of tiles.
struct Fused<'e, T>(&'e dyn Node<T>);

impl<T: Copy> Source<T> for Fused<'_, T> {
    fn open(&self) -> Box<dyn TileSource<T> + '_> {
        Box::new(self.0.open())
    }
}
