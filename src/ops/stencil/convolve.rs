//! Correlation with a kernel: slabs of the operand with a border, and weighted sums of their lines.

use super::border::{Border, Mode};
use super::field::Slab;
use crate::compute::{Compute, Deferred, reads};
use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Boxes, Explanation, Expr, FAR, Lazy, blocks_at_once, blocks_in_words, box_shape, bytes_read,
    erased, first_error, of_view, room, row_major,
};
use crate::kernel::{Components, Filled, Slots, Taps, inner, threads};
use crate::map::{AddressMap, Select};
use crate::memory::{list, try_with_capacity};
use crate::ops::products::{Terms, product};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of a slab, at least.
const SLAB: usize = 1 << 16;
/// Products from which a block is worth a thread of its own.
const WORK: usize = 1 << 22;
/// Products that take as long as an element of a slab takes to be evaluated, or less.
const EVALUATED: usize = 64;

/// Weighted sums of neighbours: a correlation, or a convolution, whose kernel is flipped.
#[derive(Debug, Clone)]
pub struct Correlation<E, K> {
    operand: Lazy<E>,
    kernel: Lazy<K>,
    mode: Mode,
    flipped: bool,
}

impl<E, K> Correlation<E, K>
where
    E: Expr<Elem: Arithmetic>,
    K: Expr<Elem = E::Elem>,
{
    pub(super) fn deferred(operand: E, kernel: K, mode: Mode, flipped: bool) -> Deferred<Self> {
        Deferred::new(Self { operand: Lazy(operand), kernel: Lazy(kernel), mode, flipped })
    }

    /// Without the weights.
    fn sums(&self) -> Result<Sums<E::Ref<'_>>> {
        Sums::new(Lazy(self.operand.0.by_ref()), &self.kernel, self.mode)
    }

    /// The kernel in the order in which it meets the elements.
    fn weights(&self) -> Result<Vec<E::Elem>> {
        let mut kernel = Lazy(self.kernel.0.by_ref());
        let flipped = if self.flipped { kernel.shape()?.rank() } else { 0 };
        for axis in 0..flipped {
            kernel = kernel.flip(axis)?;
        }
        let way = |map| (0..flipped).try_fold(map, AddressMap::flip);
        let weights = kernel.eval().map_err(|error| first_error(&self.kernel, error, &way))?;
        Ok(weights.into_storage())
    }

    /// Computes some indexes of the first axis.
    fn fill_items(
        &self,
        sums: Sums<E::Ref<'_>>,
        items: Range<usize>,
        out: &mut [MaybeUninit<E::Elem>],
    ) -> Result<Filled> {
        if out.is_empty() {
            return Filled::nothing(out);
        }
        let sums = Sums { weights: self.weights()?, ..sums };
        let missing = sums.shape.rank() - sums.result.rank();
        let way = |map| (0..missing).try_fold(map, |map: AddressMap, _| map.insert_axis(0));
        sums.fill(items, out).map_err(|error| first_error(&self.operand, error, &way))
    }
}

impl<E, K> Sealed for Correlation<E, K> {}

impl<E, K> Compute for Correlation<E, K>
where
    E: Expr<Elem: Arithmetic>,
    K: Expr<Elem = E::Elem>,
{
    type Elem = E::Elem;

    fn shape(&self) -> Result<Shape> {
        Ok(self.sums()?.result)
    }

    reads!(operand, kernel);

    fn fill(&self, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled> {
        let sums = self.sums()?;
        let items = 0..sums.extents[0];
        self.fill_items(sums, items, out)
    }

    fn boxes(&self, limit: usize) -> Result<Boxes> {
        let shape = self.shape()?;
        let limit = if shape.rank() < 2 { usize::MAX } else { limit };
        Ok(Boxes::around(&shape, limit, |axis| axis > 0))
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<E::Elem>>> {
        let sums = self.sums()?;
        let shape = box_shape(&sums.result, ranges);
        let items = match (shape.rank(), ranges.first()) {
            (2.., Some(items)) => items.clone(),
            _ => 0..sums.extents[0],
        };
        let data = inner::collect(shape.count()?, |out| self.fill_items(sums, items, out))?;
        Tensor::new(shape, data)
    }

    fn explain(&self) -> Result<Explanation> {
        let (sums, sides) = (self.sums()?, self.kernel.shape()?);
        let (components, weights) = (sums.components(), sides.count()?);
        let how = match sums.in_place() {
            Some(_) => "read where it lies".into(),
            None => format!(
                "evaluated with its border, {} indexes of axis 0 at a time",
                components.block.min(sums.extents[0]) + sums.sides[0] - 1
            ),
        };
        let mut lines = vec![
            format!("operand: {how}"),
            format!(
                "sums: {weights} products each, in lines of {}",
                sums.extents[sums.extents.len() - 1]
            ),
        ];
        if !sums.result.contains(&0) {
            let (name, how) = (Some("operand 1"), "evaluated in many parts");
            let parts = &mut sums.parts();
            lines.extend(blocks_in_words(&erased(&sums.operand.0), name, Some(parts), how)?);
            lines.extend(blocks_at_once(&self.kernel, Some("operand 2"))?);
        }
        let what = if self.flipped { "convolution" } else { "correlation" };
        let element = std::any::type_name::<E::Elem>();
        let (shape, result) = (self.operand.shape()?, &sums.result);
        Ok(Explanation::report(
            format!("{what} of {element} {shape:?} with {sides:?} to {result:?}"),
            lines,
            components.threads(),
            [
                bytes_read(&self.operand.0).saturating_add(bytes_read(&self.kernel.0)),
                result.count()?.saturating_mul(size_of::<E::Elem>()),
            ],
        ))
    }
}

/// An operand, the border that a kernel needs around it, and the kernel; of rank 2 or more, as slabs are cut
/// along the first axis and computed along the last.
struct Sums<E: Expr> {
    operand: Lazy<E>,
    weights: Vec<E::Elem>,
    shape: Shape,
    sides: Shape,
    /// Extents of the result.
    extents: Vec<usize>,
    /// Width of the border before the first element.
    before: Vec<usize>,
    edge: Border,
    /// Shape of the result, at the rank of the operand as given.
    result: Shape,
}

impl<E: Expr> Sums<E>
where
    E::Elem: Arithmetic,
{
    /// Without the weights.
    fn new<K: Expr>(mut operand: Lazy<E>, kernel: &Lazy<K>, mode: Mode) -> Result<Self> {
        let (shape, sides) = (operand.shape()?, kernel.shape()?);
        let rank = shape.rank();
        if sides.rank() != rank {
            let what = "extents of the kernel";
            return Err(Error::Rank { what, expected: rank, found: sides.rank() });
        }
        let missing = 2_usize.saturating_sub(rank);
        let (mut before, mut extents) = (vec![0; missing], vec![1; missing]);
        for axis in 0..rank {
            let [reach, extent] = mode.extent(axis, shape[axis], sides[axis])?;
            before.push(reach);
            extents.push(extent);
        }
        let result = Shape::from(&extents[missing..]);
        result.count()?;
        for _ in 0..missing {
            operand = operand.insert_axis(0)?;
        }
        let longer = |shape: Shape| -> Shape {
            std::iter::repeat_n(1, missing).chain(shape.iter().copied()).collect()
        };
        Ok(Self {
            operand,
            weights: Vec::new(),
            shape: longer(shape),
            sides: longer(sides),
            result,
            extents,
            before,
            edge: mode.edge(),
        })
    }

    /// Computes some indexes of the first axis.
    fn fill(&self, items: Range<usize>, out: &mut [MaybeUninit<E::Elem>]) -> Result<Filled> {
        let components = Components { items, ..self.components() };
        let write =
            |slab: &Slab<'_, _>, _, items, out: &mut Slots<'_, _>| self.write(slab, items, out);
        components.fill(out, &|items| self.slab(items), &write)
    }

    /// One component, in blocks of indexes of the first axis.
    fn components(&self) -> Components {
        let each: usize = self.extents[1..].iter().product();
        // A slab has whole rows of the operand, which the result may have less of.
        let wide = (1..self.shape.rank()).map(|axis| self.bordered(axis));
        let wide = wide.fold(1, usize::saturating_mul).max(1);
        let products = self.sides.iter().fold(each, |all, &side| all.saturating_mul(side));
        let block = match room(&self.operand, FAR) {
            Some(room) => (room / wide).min(self.extents[0].div_ceil(threads())),
            None => (SLAB / wide).min(WORK / products.max(1)),
        };
        // The rows that blocks share are evaluated for each, which is to cost less than the products.
        let shared = self.sides[0].saturating_mul(wide).saturating_mul(EVALUATED) / products.max(1);
        let least = match self.in_place() {
            Some(_) => 1,
            None => shared.clamp(1, self.sides[0].saturating_mul(4)),
        };
        Components { count: 1, items: 0..self.extents[0], each, block: block.max(least) }
    }

    /// Extent of an axis with its border.
    fn bordered(&self, axis: usize) -> usize {
        self.extents[axis].saturating_add(self.sides[axis] - 1)
    }

    /// The elements of the operand, if they lie in memory and need no border.
    fn in_place(&self) -> Option<&[E::Elem]> {
        let bare = (0..self.shape.rank()).all(|axis| self.bordered(axis) == self.shape[axis]);
        row_major(&self.operand).filter(|_| bare)
    }

    /// The parts of the operand that are evaluated, one after another by one thread.
    fn parts(&self) -> impl Iterator<Item = Result<Vec<Select>>> {
        let Components { items, block, .. } = self.components();
        let end = items.end;
        items.step_by(block).filter_map(move |first| {
            let needed = self.needed(&(first..end.min(first.saturating_add(block)))).transpose()?;
            Some(needed.and_then(|(_, rows)| list(std::iter::once(rows))))
        })
    }

    /// The indexes of axis 0 of the operand that some of the result need, and where they are among those with a border. They
    /// may be border alone.
    fn needed(&self, items: &Range<usize>) -> Result<Option<(Range<usize>, Select)>> {
        let rows = items.len() + self.sides[0] - 1;
        let place = |k: usize| (items.start + k) as isize - self.before[0] as isize;
        let source = |k: usize| self.edge.source(place(k), self.shape[0]);
        let known = || (0..rows).filter_map(|k| Some((k, source(k)?)));
        let Some((first, start)) = known().next() else { return Ok(None) };
        let mut sources = try_with_capacity(rows)?;
        sources.extend(known().map(|(_, source)| source));
        let (known, end) = (first..first + sources.len(), start + sources.len());
        let straight = sources.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let rows = if straight { Select::from(start..end) } else { Select::List(sources) };
        Ok(Some((known, rows)))
    }

    /// What some indexes of the result need, with its border.
    fn slab(&self, items: Range<usize>) -> Result<Slab<'_, E::Elem>> {
        let zero = E::Elem::one().minus(E::Elem::one());
        let rows = items.len() + self.sides[0] - 1;
        if let Some(data) = self.in_place() {
            return Ok(Slab { data: Cow::Borrowed(data), first: 0 });
        }
        let width = |axis: usize| if axis == 0 { rows } else { self.bordered(axis) };
        let widths: Shape = (0..self.shape.rank()).map(width).collect();
        let mut slab = Tensor::full(&widths, zero)?;
        // The elements themselves, then the border of one axis after the other.
        if let Some((known, needed)) = self.needed(&items)? {
            let needed = [needed];
            let way = |map: AddressMap| map.select(&needed[..]);
            let part = Lazy(self.operand.0.by_ref()).select(&needed[..])?;
            let mut middle = slab.view_mut().slice(0, known)?;
            for axis in 1..self.shape.rank() {
                let start = self.before[axis];
                middle = middle.slice(axis, start..start + self.shape[axis])?;
            }
            let done = part.assign_to(&mut middle);
            done.map_err(|error| of_view(&self.operand, error, &way))?;
        }
        let mut data = slab.into_storage();
        if self.edge != Border::Zero {
            for axis in 1..self.shape.rank() {
                self.extend(&mut data, &widths, axis)?;
            }
        }
        Ok(Slab { data: Cow::Owned(data), first: items.start })
    }

    /// Copies elements to the border along one axis.
    fn extend(&self, data: &mut [E::Elem], widths: &[usize], axis: usize) -> Result<()> {
        let (before, n) = (self.before[axis], self.shape[axis]);
        let each: usize = widths[axis + 1..].iter().product();
        let border = (0..before).chain(before + n..widths[axis]);
        let mut moves = try_with_capacity(widths[axis] - n)?;
        moves.extend(border.filter_map(|k| {
            let source = self.edge.source(k as isize - before as isize, n)?;
            Some(((before + source) * each, k * each))
        }));
        for part in data.chunks_exact_mut((widths[axis] * each).max(1)) {
            for &(from, to) in &moves {
                part.copy_within(from..from + each, to);
            }
        }
        Ok(())
    }

    /// All lines of some indexes of the first axis of the result.
    fn write(
        &self,
        slab: &Slab<'_, E::Elem>,
        items: Range<usize>,
        out: &mut Slots<'_, E::Elem>,
    ) -> Result<()> {
        let last = self.shape.rank() - 1;
        let (columns, window) = (self.extents[last], self.sides[last]);
        // Where the lines of the kernel start, from the line of its first.
        let offset = |index: &[usize]| {
            let at = |position: usize, (axis, &digit): (usize, &usize)| {
                if axis == 0 { digit } else { position * self.bordered(axis) + digit }
            };
            index.iter().enumerate().fold(0, at) * self.bordered(last)
        };
        let outer = Shape::from(&self.sides[..last]);
        let mut starts = try_with_capacity(outer.count()?)?;
        starts.extend(outer.indexes()?.map(|index| offset(&index)));
        let inner = self.extents[1..last].iter().copied();
        let lines: Shape = std::iter::once(items.len()).chain(inner).collect();
        for mut index in lines.indexes()? {
            index[0] += items.start - slab.first;
            let start = offset(&index);
            let lines = starts.iter().zip(self.weights.chunks_exact(window));
            let taps = list(lines.map(|(&from, weights)| {
                (weights, &slab.data[start + from..][..columns + window - 1])
            }))?;
            let ring = Terms(product::<E::Elem>);
            out.extend_with(columns, |slots| Ok(Taps { taps: &taps, ring }.fill(slots)))?;
        }
        Ok(())
    }
}
