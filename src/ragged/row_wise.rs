//! Operations on rows one by one: their items in memory, and tasks of neighbouring rows.

use super::deferred::RaggedCompute;
use super::eval::{first_error, joined};
use super::expr::{Before, RaggedExpr};
use super::form::{Extent, Form, content_shape};
use super::joint::Joint;
use super::levels::levels_of;
use super::offsets::Offsets;
use super::{Ragged, Stretch, sealed};
use crate::error::{Error, Result};
use crate::expr::{self, Explanation, Lazy};
use crate::kernel::{self, Filled, GRAIN, PARALLEL, fill_halves, inner};
use crate::ops::lanes::Run;
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::mem::MaybeUninit;
use std::ops::Range;

/// What is made of every row. Sealed.
pub trait RowOperation<T>: Send + Sync + sealed::Operation {
    /// Type of the results.
    type Elem: Copy + Send + Sync;
    /// What it does, in words.
    #[doc(hidden)]
    const WHAT: &'static str;

    /// Results of a row of so many items.
    #[doc(hidden)]
    fn results(&self, items: usize) -> usize;

    /// Whether all rows have as many results as items.
    #[doc(hidden)]
    fn keeps_rows(&self) -> bool;

    /// Refuses to run along an axis.
    #[doc(hidden)]
    fn check(&self, _axis: usize) -> Result<()> {
        Ok(())
    }

    /// Computes the results of some rows, one row after another; tells the first that does not exist by its number.
    #[doc(hidden)]
    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<Self::Elem>]) -> Result<Filled>;
}

/// An operation on rows.
#[derive(Debug, Clone)]
pub struct RowWise<E, P> {
    pub(super) e: E,
    pub(super) axis: usize,
    pub(super) operation: P,
}

/// Rows of items, or of a fixed axis behind.
pub(super) enum Along {
    Rows,
    /// The position among the fixed axes behind.
    Fixed(usize),
}

pub(super) fn along(kinds: &[Extent], axis: usize) -> Result<Along> {
    let rank = kinds.len();
    let Some(&kind) = kinds.get(axis) else { return Err(Error::Axis { axis, rank }) };
    let last = kinds.iter().rposition(|&kind| kind == Extent::Var);
    match (kind, last) {
        (Extent::Var, Some(last)) if axis == last => Ok(Along::Rows),
        (Extent::Fixed(_), None) => Ok(Along::Fixed(axis)),
        (Extent::Fixed(_), Some(last)) if axis > last => Ok(Along::Fixed(axis - last - 1)),
        (_, last) => {
            let crossed = kinds[axis + 1..].iter().position(|&kind| kind == Extent::Var);
            Err(Error::RaggedAxes {
                axis,
                crossed: crossed.map_or(last.unwrap_or(axis), |k| axis + 1 + k),
            })
        }
    }
}

impl<E, P> sealed::Operation for RowWise<E, P> {}

impl<E: RaggedExpr, P: RowOperation<E::Elem>> RaggedCompute for RowWise<E, P> {
    type Elem = P::Elem;

    fn extents(&self) -> Result<Vec<Extent>> {
        let mut kinds = self.e.extents()?;
        along(&kinds, self.axis)?;
        if let Extent::Fixed(extent) = &mut kinds[self.axis] {
            *extent = self.operation.results(*extent);
        }
        Ok(kinds)
    }

    fn knows_rows(&self) -> bool {
        self.e.before() < Before::Rows
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        let along = along(&self.e.extents()?, self.axis)?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        Ok(self.lanes(&form, &along)?.1.result(&form, &along))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<P::Elem>>> {
        let along = along(&self.e.extents()?, self.axis)?;
        self.operation.check(self.axis)?;
        let joint = joined(&self.e, stretch)?;
        let Joint { form, .. } = &joint;
        let content = Lazy(self.e.flat(&joint)?).reshape(content_shape(form))?;
        let rank = content.shape()?.rank();
        let (from, lanes) = self.lanes(form, &along)?;
        let count = form.count()?;
        let content = content.move_axis(from, rank - 1)?;
        let place = |error| placed(error, form, from);
        let data = expr::elements(&content);
        let data = &data.map_err(|error| first_error(&self.e, &joint, error, place))?[..];
        let rows = lanes.rows(count);
        let results = lanes.output(rows);
        let work = Work { operation: &self.operation, lanes: &lanes, data };
        let each = kernel::task_size(count, PARALLEL, GRAIN);
        let out = inner::collect(results, |out| work.fill(0..rows, out, each)).map_err(&place)?;
        let result = lanes.result(form, &along);
        let mut extents: Vec<usize> = content_shape(&result).to_vec();
        let axis = extents.remove(from);
        extents.push(axis);
        let content = Tensor::new(Shape::from(extents), out)?.move_axis(rank - 1, from)?;
        Ok(Ragged::of(levels_of(&result), content))
    }

    fn explain(&self) -> Result<Explanation> {
        let what = format!("{} along axis {}, row by row, of:", P::WHAT, self.axis);
        Ok(super::explain::explain(&self.e)?.below([what]))
    }
}

impl<E: RaggedExpr, P: RowOperation<E::Elem>> RowWise<E, P> {
    /// The axis of the content that rows lie along, and the rows.
    fn lanes(&self, form: &Form, along: &Along) -> Result<(usize, Lanes)> {
        let skipped = usize::from(!form.blocks.is_empty());
        match (along, form.blocks.last()) {
            (Along::Rows, Some(block)) => Ok((0, Lanes::of(&block.rows, &self.operation)?)),
            (Along::Rows, None) => Err(Error::Axis { axis: self.axis, rank: form.rank() }),
            (Along::Fixed(axis), _) => {
                let extent = form.trailing[*axis];
                let results = self.operation.results(extent);
                Ok((axis + skipped, Lanes::Fixed { extent, results }))
            }
        }
    }
}

/// An error at an index of the content with the axis last, or at the number of a result, as one of the whole.
pub(super) fn placed(mut error: Error, form: &Form, from: usize) -> Error {
    let moved = |mut index: Vec<usize>| {
        if let Some(last) = index.pop() {
            index.insert(from, last);
        }
        form.content_path(&index)
    };
    if let Error::Overflow { index, .. } | Error::NothingLeft { index } = &mut error {
        // Results that may not exist are as many as items.
        let mut shape: Vec<usize> = content_shape(form).to_vec();
        let axis = shape.remove(from);
        shape.push(axis);
        let number = index.first().copied().unwrap_or(0);
        *index = moved(Shape::from(shape).unravel(number).to_vec());
    } else if let Some(index) = error.element_index() {
        *index = moved(std::mem::take(index));
    }
    error
}

/// Rows of the content with the axis last.
#[derive(Debug)]
pub(super) enum Lanes {
    /// Rows of items, as often as there are elements in an item; those of results if they are others.
    Rows {
        items: Offsets,
        results: Offsets,
    },
    Fixed {
        extent: usize,
        results: usize,
    },
}

impl Lanes {
    pub(super) fn of<T, P: RowOperation<T>>(items: &Offsets, operation: &P) -> Result<Self> {
        let results = match operation.keeps_rows() {
            true => items.clone(),
            false => Offsets::from_lengths(
                (0..items.rows()).map(|row| operation.results(items.length(row))),
            )?,
        };
        Ok(Self::Rows { items: items.clone(), results })
    }

    /// Number of rows among so many elements.
    pub(super) fn rows(&self, count: usize) -> usize {
        match self {
            Self::Rows { items, .. } => match items.last() {
                0 => 0,
                all => count / all * items.rows(),
            },
            Self::Fixed { extent, .. } => count / (*extent).max(1),
        }
    }

    /// Elements in front of a row.
    pub(super) fn input(&self, row: usize) -> usize {
        match self {
            Self::Rows { items, .. } => numbered(items, row),
            Self::Fixed { extent, .. } => row * extent,
        }
    }

    /// Results in front of a row.
    pub(super) fn output(&self, row: usize) -> usize {
        match self {
            Self::Rows { results, .. } => numbered(results, row),
            Self::Fixed { results, .. } => row * results,
        }
    }

    /// The place of a row among those that are repeated, and where that begins.
    fn place(&self, row: usize) -> (usize, usize) {
        match self {
            Self::Rows { items, .. } => {
                let place = row % items.rows().max(1);
                (place, items.number(place))
            }
            Self::Fixed { .. } => (0, 0),
        }
    }

    pub(super) fn result(&self, form: &Form, along: &Along) -> Form {
        let mut form = form.clone();
        match (self, along) {
            (Self::Rows { results, .. }, _) => {
                if let Some(block) = form.blocks.last_mut() {
                    block.rows = results.clone();
                }
            }
            (Self::Fixed { results, .. }, Along::Fixed(axis)) => form.trailing[*axis] = *results,
            (Self::Fixed { .. }, Along::Rows) => {}
        }
        form
    }
}

/// The number in front of a row of rows that are repeated.
pub(super) fn numbered(offsets: &Offsets, row: usize) -> usize {
    let rows = offsets.rows().max(1);
    row / rows * offsets.last() + offsets.number(row % rows)
}

/// Neighbouring rows, one after another.
#[derive(Debug)]
pub struct Runs<'w, T> {
    lanes: &'w Lanes,
    numbers: Range<usize>,
    /// The next row among those that are repeated, and where it begins.
    place: usize,
    start: usize,
    /// From the next row on.
    data: &'w [T],
}

impl<'w, T> Iterator for Runs<'w, T> {
    type Item = Run<'w, T>;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<'w, T>> {
        self.numbers.next()?;
        let length = match self.lanes {
            Lanes::Rows { items, .. } => {
                if self.place == items.rows() {
                    (self.place, self.start) = (0, items.first());
                }
                self.place += 1;
                let start = std::mem::replace(&mut self.start, items.number(self.place));
                self.start.saturating_sub(start)
            }
            Lanes::Fixed { extent, .. } => *extent,
        };
        let run = Run::new(self.data, length);
        self.data = &self.data[run.elements().len()..];
        Some(run)
    }
}

/// An operation at work.
pub(super) struct Work<'w, T, P> {
    pub(super) operation: &'w P,
    pub(super) lanes: &'w Lanes,
    pub(super) data: &'w [T],
}

impl<T: Copy + Send + Sync, P: RowOperation<T>> Work<'_, T, P> {
    /// Computes the results of rows, in tasks of so many elements.
    pub(super) fn fill(
        &self,
        rows: Range<usize>,
        out: &mut [MaybeUninit<P::Elem>],
        each: usize,
    ) -> Result<Filled> {
        let (first, end) = (self.lanes.input(rows.start), self.lanes.input(rows.end));
        if end - first > each && rows.len() > 1 {
            let half = first + (end - first) / 2;
            let (mut low, mut high) = (rows.start + 1, rows.end - 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.lanes.input(middle) < half { low = middle + 1 } else { high = middle }
            }
            let at = self.lanes.output(low) - self.lanes.output(rows.start);
            return fill_halves(
                out,
                at,
                |out| self.fill(rows.start..low, out, each),
                |out| self.fill(low..rows.end, out, each),
            );
        }
        let (numbers, data) = (rows.clone(), self.data.get(first..).unwrap_or(&[]));
        let (place, start) = self.lanes.place(rows.start);
        let runs = Runs { lanes: self.lanes, place, start, numbers, data };
        let number = self.lanes.output(rows.start);
        self.operation.run(runs, out).map_err(|mut error| {
            if let Error::Overflow { index, .. } | Error::NothingLeft { index } = &mut error {
                index.iter_mut().for_each(|k| *k += number);
            }
            error
        })
    }
}
