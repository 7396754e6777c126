//! Searching sorted lanes, and what follows from elements that are equal.

use super::SortOrder;
use super::before::Zeros;
use super::operand::Batch;
use super::operation::LaneOperation;
use super::sort::{Keys, SortMethod, argsort_lanes, keys_together, sort_lanes};
use crate::compute::{Compute, reads};
use crate::dtype::{Radix, Sortable};
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, Elementwise, Explanation, Expr, Lazy, blocks_at_once, bytes_read, check_operand,
    elements, moved, row_major, selectors,
};
use crate::kernel::{Filled, inner};
use crate::memory::{list, refill, resize, try_with_capacity, zeros};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::any::type_name;
use std::mem::MaybeUninit;
use std::ops::Range;

/// On which side of equal elements a position lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Side {
    /// Before the first of them.
    #[default]
    Left,
    /// After the last of them.
    Right,
}

/// How many elements of a sorted lane come before `x`.
pub(super) fn position<T: Sortable>(sorted: &[T], x: T, side: Side) -> usize {
    count_before(sorted, |y| y.key(false), x.key(false), side)
}

/// How many items of a sorted list come before a key.
#[inline(always)]
fn count_before<Y: Copy, K: Ord>(
    sorted: &[Y],
    key_of: impl Fn(Y) -> K,
    key: K,
    side: Side,
) -> usize {
    match side {
        Side::Left => sorted.partition_point(|&y| key_of(y) < key),
        Side::Right => sorted.partition_point(|&y| key_of(y) <= key),
    }
}

/// A sorted lane to be searched for so many needles: by its keys, made once, if these are more.
struct Searched<'a, T: Sortable> {
    sorted: &'a [T],
    keys: &'a [T::Key],
}

impl<'a, T: Sortable> Searched<'a, T> {
    fn new(sorted: &'a [T], needles: usize, keys: &'a mut Vec<T::Key>) -> Result<Self> {
        let count = if needles > sorted.len() { sorted.len() } else { 0 };
        refill(keys, sorted[..count].iter().map(|y| y.key(false)))?;
        Ok(Self { sorted, keys })
    }

    #[inline(always)]
    fn position(&self, x: T, side: Side) -> usize {
        match self.keys {
            [] => position(self.sorted, x, side),
            keys => count_before(keys, |key| key, x.key(false), side),
        }
    }
}

/// Where elements would go in sorted lanes, see
/// [`Lanes::search_sorted_along`](super::Lanes::search_sorted_along).
#[derive(Debug, Clone, Copy)]
pub struct SearchSorted(pub(super) Side);

impl Sealed for SearchSorted {}

impl<T: Sortable> LaneOperation<T, T> for SearchSorted {
    type Elem = usize;
    type Before = Zeros;
    type Memory = Vec<T::Key>;

    const BESIDE: &'static str = "for";

    fn compute(
        &self,
        keys: &mut Self::Memory,
        lanes: Batch<'_, T, T>,
        out: &mut [usize],
    ) -> Result<()> {
        lanes.for_each(out, |lane, needles, out| {
            let lane = Searched::new(lane, needles.len(), keys)?;
            for (slot, &x) in out.iter_mut().zip(needles) {
                *slot = lane.position(x, self.0);
            }
            Ok(())
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        Ok(["search".into(), "searched by halves for its needles".into()])
    }
}

/// Where elements would go among all elements of an operand, see
/// [`Lanes::search_sorted`](super::Lanes::search_sorted).
#[derive(Debug, Clone)]
pub struct Search<A, B> {
    pub(super) sorted: Lazy<A>,
    pub(super) needles: Lazy<B>,
    pub(super) side: Side,
}

impl<A, B> Sealed for Search<A, B> {}

impl<A: Expr<Elem: Sortable>, B: Expr<Elem = A::Elem>> Compute for Search<A, B> {
    type Elem = usize;

    fn shape(&self) -> Result<Shape> {
        self.sorted.shape()?;
        self.needles.shape()
    }

    reads!(deferred: sorted, needles);

    fn check_reads(&self) -> Result<()> {
        check_operand(&self.sorted)
    }

    fn fill(&self, out: &mut [MaybeUninit<usize>]) -> Result<Filled> {
        if out.is_empty() {
            return Filled::nothing(out);
        }
        let (sorted, shape, mut keys) =
            (elements(&self.sorted)?, self.needles.shape()?, Vec::new());
        let lane = Searched::new(&sorted, out.len(), &mut keys)?;
        let needles = Lazy(self.needles.0.by_ref()).map(|x| lane.position(x, self.side));
        inner::overwrite(out, Some(0), |out| needles.assign_to(&mut Tensor::new(shape, out)?))
    }

    fn collect(&self, count: usize) -> Result<Vec<usize>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let (sorted, mut keys) = (elements(&self.sorted)?, Vec::new());
        let lane = Searched::new(&sorted, count, &mut keys)?;
        let needles = Lazy(self.needles.0.by_ref());
        let found = needles.map(|x| lane.position(x, self.side)).to_vec()?;
        Ok(found)
    }

    /// Larger ones if what is searched is evaluated for each: as many bytes as that has.
    fn boxes(&self, limit: usize) -> Result<Boxes> {
        let held = match row_major(&self.sorted) {
            Some(_) => 0,
            None => self.sorted.shape()?.count()?.saturating_mul(size_of::<A::Elem>()),
        };
        Ok(Boxes::new(self.needles.shape()?, limit.max(held / size_of::<usize>())))
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<usize>>> {
        let (sorted, mut keys) = (elements(&self.sorted)?, Vec::new());
        let count = ranges.iter().map(Range::len).product();
        let lane = Searched::new(&sorted, count, &mut keys)?;
        let needles = Lazy(self.needles.0.by_ref()).select(selectors(ranges))?;
        let found = needles.map(|x| lane.position(x, self.side)).eval();
        found.map_err(|error| moved(error, ranges))
    }

    fn explain(&self) -> Result<Explanation> {
        let count = self.sorted.shape()?.count()?;
        let all = Lazy(self.needles.0.by_ref()).map(|x| position(&[], x, self.side)).explain()?;
        let mut lines = vec![format!("sorted: {count} elements, {}", place(&self.sorted))];
        lines.extend(all.lines().iter().cloned());
        lines[1].insert_str(0, "positions: ");
        if self.needles.shape()?.count()? > 0 {
            lines.extend(blocks_at_once(&self.sorted, Some("sorted"))?);
        }
        Ok(Explanation::new(lines, all.threads()))
    }
}

/// The different elements of an operand, see [`Lanes::unique`](super::Lanes::unique).
#[derive(Debug, Clone, PartialEq)]
pub struct Unique<T: Copy + Send + Sync> {
    /// One element of each kind, ascending: the one that comes first in row-major order.
    pub values: Tensor<Vec<T>>,
    /// Row-major position of the first element of each kind.
    pub first: Tensor<Vec<usize>>,
    /// Number of elements of each kind.
    pub counts: Tensor<Vec<usize>>,
    /// For every element the position of its kind in `values`; of the shape of the operand.
    pub inverse: Tensor<Vec<usize>>,
}

#[inline(never)]
pub(super) fn unique<E: Expr>(e: &Lazy<E>) -> Result<Unique<E::Elem>>
where
    E::Elem: Sortable,
{
    let elements = elements(e)?;
    if let Some(unique) = unique_in_table(&elements, e)? {
        return Ok(unique);
    }
    let (mut inverse, mut order) = (zeros(elements.len())?, zeros(elements.len())?);
    let lane = Batch { alone: true, ..Batch::one(&elements) };
    argsort_lanes(&mut Default::default(), lane, &mut order, SortOrder::Ascending.keys())?;
    // Whether the next element in order is of another kind than the one before.
    let differs = || {
        let mut last = None;
        move |x: E::Elem| {
            let key = Some(x.key(false));
            std::mem::replace(&mut last, key) != key
        }
    };
    let mut starts_kind = differs();
    let kinds: usize = order.iter().map(|&at| usize::from(starts_kind(elements[at]))).sum();
    let (mut counts, mut values, mut first) =
        (zeros(kinds)?, try_with_capacity(kinds)?, try_with_capacity(kinds)?);
    let mut starts_kind = differs();
    for &position in &order {
        let element = elements[position];
        if starts_kind(element) {
            values.push(element);
            first.push(position);
        }
        let kind = values.len() - 1;
        counts[kind] += 1;
        inverse[position] = kind;
    }
    let inverse = Tensor::new(e.shape()?, inverse)?;
    Ok(Unique { values: values.into(), first: first.into(), counts: counts.into(), inverse })
}

/// Keys from the lowest to the highest that are worth a table, whatever the number of elements.
const CLOSE: usize = 1 << 8;

/// The same in a table of all keys from the lowest to the highest, if these are close.
fn unique_in_table<E: Expr>(elements: &[E::Elem], e: &Lazy<E>) -> Result<Option<Unique<E::Elem>>>
where
    E::Elem: Sortable,
{
    let keys = || elements.iter().map(|x| x.key(false));
    let (Some(low), Some(high)) = (keys().min(), keys().max()) else { return Ok(None) };
    let Some(reach) = high.above(low).filter(|reach| *reach < elements.len().max(CLOSE)) else {
        return Ok(None);
    };
    let place = |x: E::Elem| x.key(false).above(low).unwrap_or(0);
    // Of each key the first position and the number of elements, then the number of its kind.
    let mut table: Vec<[usize; 2]> = zeros(reach + 1)?;
    for (at, &x) in elements.iter().enumerate().rev() {
        let [first, count] = &mut table[place(x)];
        (*first, *count) = (at, *count + 1);
    }
    let kinds = table.iter().filter(|[_, count]| *count > 0).count();
    let (mut values, mut first, mut counts) =
        (try_with_capacity(kinds)?, try_with_capacity(kinds)?, try_with_capacity(kinds)?);
    for kind in table.iter_mut().filter(|[_, count]| *count > 0) {
        let number = values.len();
        values.push(elements[kind[0]]);
        first.push(std::mem::replace(&mut kind[0], number));
        counts.push(kind[1]);
    }
    let inverse = list(elements.iter().map(|&x| table[place(x)][0]))?;
    let inverse = Tensor::new(e.shape()?, inverse)?;
    Ok(Some(Unique { values: values.into(), first: first.into(), counts: counts.into(), inverse }))
}

pub(super) fn explain_unique<E: Expr<Elem: Sortable>>(e: &Lazy<E>) -> Result<Explanation> {
    let shape = e.shape()?;
    let count = shape.count()?;
    let method = SortMethod::by_pairs::<<E::Elem as Sortable>::Key>(count, 1);
    let how = format!("{method}, or counted in a table where keys are close");
    // Which kind every element is of; the kinds are not known.
    let written = count.saturating_mul(size_of::<usize>());
    Ok(Explanation::report(
        format!("unique elements of {} {shape:?}", type_name::<E::Elem>()),
        [format!("operand: {}", place(e)), format!("positions: {how}")]
            .into_iter()
            .chain(blocks_at_once(e, None)?),
        // Keys of two bytes are always close enough.
        if size_of::<E::Elem>() > 2 { method.threads(count, 1) } else { 1 },
        [bytes_read(&e.0), written],
    ))
}

/// How all elements are obtained in row-major order.
fn place<E: Expr>(e: &Lazy<E>) -> &'static str {
    match row_major(e) {
        Some(_) => "read where they lie",
        None => "evaluated to memory first",
    }
}

/// The element of each lane that comes most often, of several the smallest, see [`Lanes::mode`](super::Lanes::mode).
#[derive(Debug, Clone, Copy)]
pub struct Mode;

impl Sealed for Mode {}

impl<T: Sortable> LaneOperation<T> for Mode {
    type Elem = T;
    type Before = Zeros;
    type Memory = (Keys<T::Key>, Vec<T>);

    const NEEDS_ELEMENTS: bool = true;

    fn keeps_axis(&self) -> bool {
        false
    }

    fn results(&self) -> Result<Option<usize>> {
        Ok(Some(1))
    }

    fn compute(&self, memory: &mut Self::Memory, lanes: Batch<'_, T>, out: &mut [T]) -> Result<()> {
        let (keys, sorted) = memory;
        let (length, together) = (lanes.length(), keys_together::<T>(lanes.length(), lanes.count));
        for (lanes, out) in lanes.parts(together).zip(out.chunks_mut(together)) {
            resize(sorted, out.len() * length, T::zeroed())?;
            sort_lanes(keys, lanes, sorted, SortOrder::Ascending)?;
            for (slot, lane) in out.iter_mut().zip(sorted.chunks_exact(length)) {
                let mut most: &[T] = &[];
                for kind in lane.chunk_by(|a, b| a.key(false) == b.key(false)) {
                    if kind.len() > most.len() {
                        most = kind;
                    }
                }
                // Equal elements keep their order, so this is the first to come.
                most.iter().take(1).for_each(|&mode| *slot = mode);
            }
        }
        Ok(())
    }

    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]> {
        let each = format!("{}, and counted", SortMethod::by_keys::<T::Key>(extent, lanes));
        Ok(["mode".into(), each])
    }

    fn threads(&self, extent: usize, lanes: usize) -> usize {
        SortMethod::by_keys::<T::Key>(extent, lanes).threads(extent, lanes)
    }
}
