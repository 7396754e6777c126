//! Work on lanes: the elements along one axis, one lane for every index of the other axes. Lanes are
//! [cores](crate::ops::cores) of one axis.

use super::operand::{Batch, LaneSlices};
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy, check_copies};
use crate::map::AddressMap;
use crate::ops::cores::{Arranged, Arrangement, Calls, Operand, Row, Source, Work};
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::marker::PhantomData;

/// Elements of all lanes for which more than one thread is worth its start.
const PARALLEL: usize = 1 << 15;
/// Fewest elements of a parallel task.
const GRAIN: usize = 1 << 14;

/// Changes every lane of `out` along `axis`, several at a time and one after another: `f` is also told their
/// length, and whether there is but one.
pub(super) fn update_blocks<W, F>(axis: usize, out: &mut Tensor<W>, f: F) -> Result<()>
where
    W: Writer,
    F: Fn(usize, bool, &mut [W::Elem]) -> Result<()> + Sync,
{
    let none = Tensor::new(out.shape().with_extent(axis, 0)?, Vec::<()>::new())?.lazy();
    zip_blocks((&none, &none), axis, out, true, |lanes, out| {
        f(out.len() / lanes.count, lanes.alone, out)
    })
}

/// Computes every lane of `out` along `axis` from the lanes of two operands at the same index of the other axes.
/// Along `axis` the extents may differ. `kept` tells whether lanes of `out` hold their old elements when they are
/// handed out, or whatever.
///
/// `f` is called with some lanes of the operands and the lanes of the output that belong to them, one after another.
pub(super) fn zip_blocks<A, B, W, F>(
    (a, b): (&Lazy<A>, &Lazy<B>),
    axis: usize,
    out: &mut Tensor<W>,
    kept: bool,
    f: F,
) -> Result<()>
where
    A: Expr,
    B: Expr,
    W: Writer,
    F: Fn(Batch<'_, A::Elem, B::Elem>, &mut [W::Elem]) -> Result<()> + Sync,
{
    let shape = out.shape();
    let loops = shape.without(axis)?;
    let operands = (operand(a, axis, &loops)?, operand(b, axis, &loops)?);
    let lengths = [operands.0.source().elements, operands.1.source().elements];
    let arranged = Arrangement::lanes(&shape, axis);
    if kept {
        check_copies(&out.view(), shape.count()?)?;
    }
    let mut out = Arranged::new(out, &arranged, None)?;
    if shape.contains(&0) {
        return Ok(());
    }
    let alone = loops.count()? == 1;
    let work = Lanes { f, lengths, alone, types: PhantomData };
    calls(&loops, &[shape[axis]]).assign::<(A::Elem, B::Elem), [W::Elem; 1]>(
        &operands,
        &mut [&mut out],
        kept,
        &work,
    )
}

/// The lanes of an operand, with these other axes.
#[inline(never)]
fn operand<'e, E: Expr>(
    e: &'e Lazy<E>,
    axis: usize,
    loops: &Shape,
) -> Result<Operand<'e, E::Elem>> {
    let shape = e.shape()?;
    let own = shape.without(axis)?;
    if own != *loops {
        return Err(Error::Destination { expected: loops.to_vec(), found: own.to_vec() });
    }
    Operand::new(&e.0, &Arrangement::lanes(&shape, axis), loops, |_, _, _| false)
}

fn calls<'c>(loops: &'c Shape, results: &'c [usize]) -> Calls<'c> {
    Calls { loops, results, parallel: PARALLEL, grain: GRAIN }
}

/// What is made of lanes.
struct Lanes<F, A, B> {
    f: F,
    /// Of the lanes of both operands.
    lengths: [usize; 2],
    alone: bool,
    types: PhantomData<fn(A, B)>,
}

impl<A, B, U, F> Work<(A, B), [U; 1]> for Lanes<F, A, B>
where
    A: Copy + Send + Sync,
    B: Copy + Send + Sync,
    U: Copy + Send + Sync,
    F: Fn(Batch<'_, A, B>, &mut [U]) -> Result<()> + Sync,
{
    fn run(&self, row: Row<'_, (A, B), [U; 1]>) -> Result<()> {
        let ((a, b), [out]) = (row.inputs, row.outputs);
        let place = |k: usize| [row.offsets[k], row.steps[k]];
        let lanes = LaneSlices::new(a, self.lengths[0], place(0));
        let beside = LaneSlices::new(b, self.lengths[1], place(1));
        (self.f)(Batch { lanes, beside, count: row.count, alone: self.alone }, out)
    }
}

/// How [`zip_blocks`] would go about it, in words: to new memory of this shape. `each` says what becomes of a lane.
pub(super) fn explain_lanes<A: Expr, B: Expr>(
    (a, b): (&Lazy<A>, &Lazy<B>),
    axis: usize,
    out: &Shape,
    each: String,
) -> Result<(Vec<String>, usize)> {
    let loops = out.without(axis)?;
    let (a, b) = (operand(a, axis, &loops)?, operand(b, axis, &loops)?);
    let sources = [a.source(), b.source()];
    let in_order = AddressMap::row_major(out)?.move_axis(axis, out.rank() - 1)?.is_contiguous();
    let (mut lines, threads) = sources_in_words(sources, in_order, &loops, out[axis], each)?;
    if !out.contains(&0) {
        let (results, two) = ([out[axis]], sources.iter().all(|source| source.elements > 0));
        let calls = calls(&loops, &results);
        let name = |name: &'static str| two.then_some(name);
        let boxes = || calls.boxes(&sources, in_order);
        lines.extend(a.blocks_in_words(name("operand 1"), &mut boxes())?);
        lines.extend(b.blocks_in_words(name("operand 2"), &mut boxes())?);
    }
    Ok((lines, threads))
}

fn sources_in_words(
    sources: [&Source; 2],
    in_order: bool,
    loops: &Shape,
    results: usize,
    each: String,
) -> Result<(Vec<String>, usize)> {
    let of_lane = [results];
    let calls = calls(loops, &of_lane);
    let cut = calls.cut(&sources);
    let all = loops.count()?;
    if all == 0 || results == 0 {
        return Ok((vec!["there is nothing to compute".into()], 1));
    }
    let longest = sources.iter().map(|source| source.elements).fold(results, usize::max);
    let together = cut.block.min(all);
    let sharing =
        if together == all { "all at once".into() } else { format!("{together} at a time") };
    let mut lines = vec![format!("lanes: {all} of {longest} elements, {sharing}")];
    let there = || sources.iter().filter(|source| source.elements > 0);
    for (number, source) in (1..).zip(there()) {
        let how = match source.direct {
            true => "read where it lies",
            false => "evaluated to scratch memory",
        };
        lines.push(match there().count() {
            1 => format!("operand: {how}"),
            _ => format!("operand {number}: {how}"),
        });
    }
    lines.push(if in_order {
        "results: written where they belong".into()
    } else {
        "results: assigned from scratch memory to their places".into()
    });
    lines.push(format!("each lane: {each}"));
    Ok((lines, calls.threads(cut)))
}
