//! Derivatives of the elements of an operand, line by line along its last axis.

use super::rule::{By, DerivativeOrder, Rule, Tap, curvature, difference, quotient, weighted};
use super::spacing::Checked;
use crate::dtype::Real;
use crate::error::{Error, Result};
use crate::expr::{Expr, FAR, Lazy, first_error, lies_across, room, row_major, selectors};
use crate::kernel::inner::slots;
use crate::kernel::{COMPONENT_SLOTS, Components, Filled, Slots, fill_slots, inner, threads};
use crate::map::{AddressMap, Select};
use crate::memory::list;
use crate::shape::Shape;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of a block: few enough that all components find them in the cache.
const BLOCK: usize = 1 << 15;

/// Some indexes of the first axis of an operand, in row-major memory.
pub(super) struct Slab<'a, T: Clone> {
    pub(super) data: Cow<'a, [T]>,
    /// The first of these indexes.
    pub(super) first: usize,
}

/// Derivatives of an operand, each along one axis, or their sum.
pub(super) struct Derivatives<'a, T, E> {
    operand: &'a Lazy<E>,
    shape: Shape,
    rules: Vec<(usize, Rule<'a, T>)>,
    sum: bool,
}

impl<'a, T: Real, E: Expr<Elem = T>> Derivatives<'a, T, E> {
    pub(super) fn new(
        operand: &'a Lazy<E>,
        components: &[(usize, DerivativeOrder)],
        spacing: &[&'a Checked<T>],
    ) -> Result<Self> {
        let shape = operand.shape()?;
        let rank = shape.rank();
        if spacing.len() != rank {
            return Err(Error::Rank { what: "spacings", expected: rank, found: spacing.len() });
        }
        let mut rules = Vec::with_capacity(components.len());
        for &(axis, order) in components {
            let extent = shape.extent(axis)?;
            rules.push((axis, Rule::new(axis, extent, order, spacing[axis])?));
        }
        Ok(Self { operand, shape, rules, sum: false })
    }

    /// The sum of all.
    pub(super) fn summed(self) -> Self {
        Self { sum: true, ..self }
    }

    /// One component after another: shape `(components, ..)`.
    pub(super) fn eval(&self) -> Result<Tensor<Vec<T>>> {
        let components = [self.rules.len()];
        let shape: Shape = components.into_iter().chain(self.shape.iter().copied()).collect();
        let map = AddressMap::row_major(&shape)?;
        let data = inner::collect(map.count(), |out| self.fill(out))?;
        Ok(Tensor::from_parts(map, data))
    }

    /// The same, into as many slots.
    pub(super) fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        self.fill_items(self.components()?.items, out)
    }

    /// Some indexes of the first axis, of all components.
    pub(super) fn fill_items(
        &self,
        items: Range<usize>,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        let components = Components { items, ..self.components()? };
        let (operand, shape) = (self.operand, &self.shape);
        let open = |items: Range<usize>| match row_major(operand) {
            Some(data) => Ok(Slab { data: Cow::Borrowed(data), first: 0 }),
            None if shape.rank() < 2 => {
                Ok(Slab { data: Cow::Owned(operand.eval()?.into_storage()), first: 0 })
            }
            None => slab(operand, items, shape[0]),
        };
        let lines: usize = shape.iter().rev().skip(1).rev().skip(1).product();
        let last = self.rules.iter().find(|(axis, _)| axis + 1 == shape.rank());
        let weights = last.map_or_else(|| Ok(Default::default()), |(_, rule)| rule.weights())?;
        let fill = |slab: &Slab<'_, T>,
                    component: usize,
                    items: Range<usize>,
                    slots: &mut Slots<'_, T>| {
            let field = |(axis, rule)| Field { slab, shape, axis, rule, weights: &weights };
            let mut lines = items.start * lines..items.end * lines;
            if self.sum {
                let fields: SmallVec<[Field<'_, T>; 4]> =
                    self.rules.iter().map(|(axis, rule)| field((*axis, rule))).collect();
                return write_sum(&fields, lines, slots);
            }
            let (axis, rule) = &self.rules[component];
            lines.try_for_each(|line| field((*axis, rule)).write(line, slots))
        };
        components.fill(out, &open, &fill)
    }

    /// One component a derivative, in blocks of indexes of the first axis.
    fn components(&self) -> Result<Components> {
        // The last axis runs within a line, so a vector is one item.
        let (items, each) = match &self.shape[..] {
            [] | [_] => (1, self.shape.count()?),
            [items, rest @ ..] => (*items, rest.iter().product()),
        };
        let least = if row_major(self.operand).is_some() { 1 } else { 8 * Rule::<T>::REACH };
        let block = match room(self.operand, FAR) {
            Some(room) => (room / each.max(1)).min(items.div_ceil(threads())),
            None if lies_across(self.operand) => (FAR / each.max(1)).min(items.div_ceil(threads())),
            None => BLOCK / each.max(1),
        };
        let block = block.max(least);
        let count = if self.sum { 1 } else { self.rules.len() };
        Ok(Components { count, items: 0..items, each, block })
    }

    /// The parts of the operand that are evaluated, one after another by one thread.
    pub(super) fn parts(&self) -> Result<impl Iterator<Item = Result<Vec<Select>>> + Clone> {
        let (Components { items, block, .. }, rank) = (self.components()?, self.shape.rank());
        let end = items.end;
        Ok(items.step_by(block).map(move |first| {
            let items = first..end.min(first.saturating_add(block));
            Ok(if rank < 2 { Vec::new() } else { selectors(&[needed::<T>(items, end)]) })
        }))
    }

    /// How [`Self::fill`] would go about it, in words, and by how many threads.
    pub(super) fn explain(&self) -> Result<(Vec<String>, usize)> {
        let components = self.components()?;
        let mut lines = vec![match row_major(self.operand) {
            Some(_) => "operand: read where it lies".into(),
            None if self.shape.rank() < 2 => "operand: evaluated to memory first".into(),
            None => format!(
                "operand: evaluated {} indexes of axis 0 at a time, with {} on either side",
                components.block.min(components.items.len()),
                Rule::<T>::REACH
            ),
        }];
        lines.extend(self.rules.iter().map(|(axis, rule)| format!("along axis {axis}: {rule}")));
        Ok((lines, components.threads()))
    }
}

/// What a block of the first axis needs of an operand, evaluated.
fn slab<'a, T: Real, E: Expr<Elem = T>>(
    operand: &'a Lazy<E>,
    items: Range<usize>,
    extent: usize,
) -> Result<Slab<'a, T>> {
    let needed = needed::<T>(items, extent);
    let part = Lazy(operand.0.by_ref()).slice(0, needed.clone())?.eval();
    let way = |map: AddressMap| map.slice(0, needed.clone());
    let data = part.map_err(|error| first_error(operand, error, &way))?.into_storage();
    Ok(Slab { data: Cow::Owned(data), first: needed.start })
}

/// The indexes of the first axis, of so many, that a block of it needs.
fn needed<T: Real>(items: Range<usize>, extent: usize) -> Range<usize> {
    // At either end, values are those of the nearest three elements.
    let first = items.start.min(extent - 1).saturating_sub(Rule::<T>::REACH);
    first..(items.end + Rule::<T>::REACH).min(extent)
}

/// Writes quotients: products where those have the same bits, decided once a line.
fn divided<T: Real, const N: usize>(
    out: &mut Slots<'_, T>,
    rows: [&[T]; N],
    f: impl Fn([T; N]) -> T + Copy,
    wide: impl Fn([f64; N]) -> f64 + Copy,
    by: By<T>,
) -> Result<()> {
    match by {
        By::Both(_) => out.extend(rows, |x| quotient(x, f, wide, by, |x| by.divide(x))),
        By::One(one) => match one.exact_reciprocal() {
            Some(reciprocal) => {
                out.extend(rows, |x| quotient(x, f, wide, by, |x| x.times(reciprocal)))
            }
            None => out.extend(rows, |x| quotient(x, f, wide, by, |x| x.over(one))),
        },
    }
}

/// Lines of the sum of several derivatives, from zero on.
fn write_sum<T: Real>(
    fields: &[Field<'_, T>],
    lines: Range<usize>,
    out: &mut Slots<'_, T>,
) -> Result<()> {
    let zero = T::one().minus(T::one());
    let columns = fields.first().and_then(|field| field.shape.last()).copied().unwrap_or(1);
    let together = (COMPONENT_SLOTS / columns.max(1)).clamp(1, lines.len().max(1));
    let mut sum = list(std::iter::repeat_n(zero, together * columns))?;
    let mut term = list(sum.iter().copied())?;
    for first in lines.clone().step_by(together) {
        let some = first..lines.end.min(first + together);
        let (sum, term) = (&mut sum[..some.len() * columns], &mut term[..some.len() * columns]);
        sum.fill(zero);
        for field in fields {
            fill_slots(slots(term), |out| {
                some.clone().try_for_each(|line| field.write(line, out))
            })?;
            sum.iter_mut().zip(&*term).for_each(|(sum, term)| *sum = sum.plus(*term));
        }
        out.put(sum);
    }
    Ok(())
}

/// One derivative of a slab.
struct Field<'a, T: Clone> {
    slab: &'a Slab<'a, T>,
    shape: &'a Shape,
    axis: usize,
    rule: &'a Rule<'a, T>,
    /// Of a rule along the last axis, see [`Rule::weights`].
    weights: &'a [Vec<T>; 3],
}

impl<T: Real> Field<'_, T> {
    /// One line.
    fn write(&self, line: usize, out: &mut Slots<'_, T>) -> Result<()> {
        if self.axis + 1 == self.shape.rank() {
            self.along(self.line(line), out)
        } else {
            self.across(line, out)
        }
    }

    /// Line `line` of the operand, in row-major order of all axes but the last.
    fn line(&self, line: usize) -> &[T] {
        let last = self.shape.rank() - 1;
        let lines: usize = self.shape[..last].iter().skip(1).product();
        let columns = self.shape[last];
        &self.slab.data[(line - self.slab.first * lines) * columns..][..columns]
    }

    /// Differences of whole lines.
    fn across(&self, line: usize, out: &mut Slots<'_, T>) -> Result<()> {
        let last = self.shape.rank() - 1;
        let step: usize = self.shape[self.axis + 1..last].iter().product();
        let index = line / step % self.rule.extent();
        let at = |k: usize| self.line(line - index * step + k * step);
        match self.rule.tap(index) {
            Tap::Difference { high, low, by } => {
                divided(out, [at(high), at(low)], difference, difference, by)
            }
            Tap::Curvature { start, by } => {
                divided(out, [0, 1, 2].map(|k| at(start + k)), curvature, curvature, by)
            }
            Tap::Weighted { start, weights } => {
                out.extend([0, 1, 2].map(|k| at(start + k)), |x| weighted(x, weights))
            }
        }
    }

    /// Differences within a line.
    fn along(&self, line: &[T], out: &mut Slots<'_, T>) -> Result<()> {
        let edge = |index: usize| self.rule.tap(index).of(|k| line[k]);
        out.put(&[edge(0)]);
        if let Some(inner) = line.len().checked_sub(2).filter(|&inner| inner > 0) {
            let part = |k: usize| &line[k..][..inner];
            let [u, v, w] = self.weights;
            match self.rule.tap(1) {
                Tap::Difference { by, .. } => {
                    divided(out, [part(2), part(0)], difference, difference, by)?;
                }
                Tap::Curvature { by, .. } => {
                    let parts = [part(0), part(1), part(2)];
                    divided(out, parts, curvature, curvature, by)?;
                }
                Tap::Weighted { .. } => out
                    .extend([part(0), part(1), part(2), u, v, w], |[a, b, c, u, v, w]| {
                        weighted([a, b, c], [u, v, w])
                    })?,
            }
        }
        out.put(&[edge(line.len() - 1)]);
        Ok(())
    }
}
