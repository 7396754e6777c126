//! Reading at a list of indexes.

use super::{Indexes, PIECE};
use crate::compute::Compute;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Access, Boxed, Boxes, Explanation, Expr, FAR, Lazy, Prepare, box_shape, bytes_read,
    deferred_of, defers, erased, room_of_all, row_major,
};
use crate::kernel::{self, Filled, Slots};
use crate::memory::{owned, push, refill};
use crate::shape::{Index, Shape};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Elements that are gathered before they are written.
const SOME: usize = 512;

/// Positions at which an operand that does not lie in memory in order is evaluated at once: enough for all threads.
const FEW: usize = 1 << 19;

/// Most positions that are held at once.
const MOST: usize = 1 << 22;

/// The elements of an operand at a list of indexes, see [`Indexing::take_at`](super::Indexing::take_at).
#[derive(Debug, Clone)]
pub struct TakeAt<'a, E> {
    pub(super) operand: Lazy<E>,
    pub(super) indexes: Indexes<'a>,
}

impl<E> Sealed for TakeAt<'_, E> {}

impl<E: Expr> Compute for TakeAt<'_, E> {
    type Elem = E::Elem;

    fn shape(&self) -> Result<Shape> {
        self.indexes.shape(self.operand.shape()?.rank())
    }

    fn deferred<'s>(&'s self, visit: &mut dyn FnMut(&'s dyn Prepare)) {
        deferred_of(&self.operand, visit);
        self.indexes.deferred(visit);
    }

    fn depth(&self) -> usize {
        self.operand.depth().max(self.indexes.depth())
    }

    fn fill(&self, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled> {
        let (of, shape) = (self.operand.shape()?, self.shape()?);
        let source = Source::of_list(&self.operand, out.len())?;
        let (size, most) = (task_size(&source, out.len()), source.at_once().max(PIECE));
        let boxes = Boxes::new(shape.clone(), most);
        if out.len() <= size {
            return kernel::fill_slots(out, |slots| {
                self.take(&source, [&of, &shape], (boxes, 0), slots)
            });
        }
        // Whatever the tasks, boxes are the same, and so is the error that is found first.
        let (mut all, mut starts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (each, mut start) = ((size / PIECE).max(1), 0);
        for (number, ranges) in boxes.enumerate() {
            if number.is_multiple_of(each) {
                push(&mut starts, start)?;
            }
            let count: usize = box_shape(&shape, &ranges).iter().product();
            push(&mut lengths, (number / each, count))?;
            push(&mut all, ranges)?;
            start += count;
        }
        kernel::fill_parts(out, starts.len(), lengths.into_iter(), |parts| {
            kernel::in_halves(parts, 0, true, &|number, slots: &mut Slots<'_, _>| {
                let boxes = all.chunks(each).nth(number).unwrap_or_default().iter().cloned();
                slots
                    .task(|slots| self.take(&source, [&of, &shape], (boxes, starts[number]), slots))
            })
        })
    }

    fn explain(&self) -> Result<Explanation> {
        let (of, shape) = (self.operand.shape()?, self.shape()?);
        let element = std::any::type_name::<E::Elem>();
        let (count, source) = (shape.count()?, Source::new(&self.operand)?);
        let written = count.saturating_mul(size_of::<E::Elem>());
        let indexes = count.saturating_mul(of.rank()).saturating_mul(size_of::<usize>());
        let read = written.min(bytes_read(&self.operand.0)).saturating_add(indexes);
        let most = source.at_once().max(PIECE);
        let in_memory = kernel::task_size(count, kernel::PARALLEL, kernel::GRAIN);
        let (how, at_once, most, size) = match &source {
            Source::Evaluated(..) if self.operand.is_leaf() && defers(&self.operand) => {
                ("computed first", of.count()?, PIECE, in_memory)
            }
            Source::Evaluated(..) if is_whole(&self.operand, count)? => {
                ("evaluated first", of.count()?, PIECE, in_memory)
            }
            Source::Evaluated(..) => {
                ("evaluated at each part of the list", count.min(most), most, usize::MAX)
            }
            _ => ("read where it lies", 0, most, in_memory),
        };
        let is_parallel = at_once >= kernel::PARALLEL || count > size;
        let threads = if is_parallel { kernel::threads() } else { 1 };
        let lines = [
            format!("list: {count} indexes, at most {most} of them at once"),
            format!("operand: {how}"),
        ];
        let what = format!("elements of {element} {of:?} at a list of indexes, to {shape:?}");
        Ok(Explanation::report(what, lines, threads, [read, written]))
    }
}

impl<E: Expr> TakeAt<'_, E> {
    /// Reads the elements at boxes of the list, before which there are so many, for an operand and a list of these shapes.
    fn take(
        &self,
        source: &Source<'_, E>,
        [of, shape]: [&Shape; 2],
        (boxes, mut start): (impl Iterator<Item = Vec<Range<usize>>>, usize),
        slots: &mut Slots<'_, E::Elem>,
    ) -> Result<()> {
        self.indexes.for_each_box(boxes, of, |positions| {
            let read = source.read(positions, |elements| {
                slots.put(elements);
                Ok(())
            });
            read.map_err(|error| of_part(error, |place| shape.unravel(start + place)))?;
            start += positions.len();
            Ok(())
        })
    }
}

/// Most indexes that one task takes of a list of so many. What evaluates the operand shares that among threads itself.
fn task_size<E: Expr>(source: &Source<'_, E>, count: usize) -> usize {
    match source {
        Source::InMemory(_) | Source::Held(..) => {
            kernel::task_size(count, kernel::PARALLEL, kernel::GRAIN)
        }
        Source::Evaluated(..) => usize::MAX,
    }
}

/// Elements to be read at positions: where they lie, or of a view of the operand, in which these are a list along one axis.
pub(crate) enum Source<'a, E: Expr + 'a> {
    InMemory(Cow<'a, [E::Elem]>),
    /// A part of the result of a deferred operation.
    Held(Arc<Vec<E::Elem>>, Range<usize>),
    /// As one axis, and how many of its elements are evaluated at once.
    Evaluated(Box<Lazy<Boxed<'a, E::Elem>>>, usize),
}

/// Whether all elements of an operand are computed for a list of so many indexes: where these are as many, and no storage
/// is read.
fn is_whole<E: Expr>(operand: &Lazy<E>, count: usize) -> Result<bool> {
    let mut near = operand.shape()?.count()? <= count;
    operand.leaves(&mut |leaf| near &= leaf.access == Access::Slice);
    Ok(near)
}

impl<'a, E: Expr + 'a> Source<'a, E> {
    pub(crate) fn new(operand: &'a Lazy<E>) -> Result<Self> {
        if let Some(elements) = row_major(operand) {
            return Ok(Self::InMemory(Cow::Borrowed(elements)));
        }
        if let Some((result, map)) = operand.held().filter(|(_, map)| map.is_contiguous()) {
            let start = map.top().offset();
            return Ok(Self::Held(result, start..start + map.count()));
        }
        let count = operand.shape()?.count()?;
        // A block of storage is loaded for each part of a list that needs it.
        let at_once = room_of_all(operand, FAR).map_or(FEW, |room| room.min(MOST));
        let flat = Lazy(erased(&operand.0)).reshape([count])?;
        Ok(Self::Evaluated(Box::new(flat), at_once))
    }

    /// The same for a list of so many indexes, in any order.
    fn of_list(operand: &'a Lazy<E>, count: usize) -> Result<Self> {
        let source = Self::new(operand)?;
        // What cannot be computed may not be in the list.
        if matches!(source, Self::Evaluated(..))
            && is_whole(operand, count)?
            && let Ok(elements) = operand.to_vec()
        {
            return Ok(Self::InMemory(Cow::Owned(elements)));
        }
        Ok(source)
    }

    /// Elements that are best read together.
    pub(crate) fn at_once(&self) -> usize {
        match self {
            Self::InMemory(_) | Self::Held(..) => 0,
            Self::Evaluated(_, at_once) => *at_once,
        }
    }

    /// Calls `visit` with the elements at row-major positions within the operand, one part of them after another.
    pub(crate) fn read(
        &self,
        positions: &[usize],
        mut visit: impl FnMut(&[E::Elem]) -> Result<()>,
    ) -> Result<()> {
        let elements = match self {
            Self::InMemory(elements) => &elements[..],
            Self::Held(result, part) => &result[part.clone()],
            Self::Evaluated(flat, _) => {
                let at = owned(positions.into())?;
                return visit(Lazy(flat.0.by_ref()).select((at,))?.eval()?.storage());
            }
        };
        let mut some = Vec::new();
        positions.chunks(SOME).try_for_each(|positions| {
            refill(&mut some, positions.iter().map(|&position| elements[position]))?;
            visit(&some)
        })
    }
}

/// An error of a part, whose elements have these indexes, as one of the whole.
pub(crate) fn of_part(mut error: Error, index: impl FnOnce(usize) -> Index) -> Error {
    if let Some(found) = error.element_index()
        && let Some(&place) = found.first()
    {
        *found = index(place).to_vec();
    }
    error
}
