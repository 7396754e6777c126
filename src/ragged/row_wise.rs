//! Operations on rows one by one: their items in memory, and tasks of neighbouring rows.

use super::deferred::RaggedCompute;
use super::eval::{first_error, joined};
use super::expr::{Before, RaggedExpr};
use super::form::{Extent, Form, Joined, content_shape, shape_of};
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
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Range;

/// What is made of every row. Sealed.
pub trait RowOperation<T>: Send + Sync + sealed::Operation {
    /// Type of the results.
    type Elem: Copy + Send + Sync;
    /// Whether there is no result of a row without items.
    #[doc(hidden)]
    const NEEDS_ITEMS: bool = false;

    /// How many results rows have.
    #[doc(hidden)]
    fn results(&self) -> Result<RowResults>;

    /// Refuses to run along an axis.
    #[doc(hidden)]
    fn check(&self, _axis: usize) -> Result<()> {
        Ok(())
    }

    /// Computes the results of some rows, one row after another; tells the first that does not exist by its number.
    #[doc(hidden)]
    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<Self::Elem>]) -> Result<Filled>;

    /// What it does, and what becomes of a row of so many items if there is more to say, in words.
    #[doc(hidden)]
    fn words(&self, items: usize) -> Result<(String, Option<String>)>;
}

/// How many results rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowResults {
    /// As many as items.
    Items,
    /// As many as items, at most so many.
    AtMost(usize),
    /// So many, whatever the row.
    Fixed(usize),
}

impl RowResults {
    /// Results of a row of so many items.
    fn of(self, items: usize) -> usize {
        match self {
            Self::Items => items,
            Self::AtMost(most) => items.min(most),
            Self::Fixed(results) => results,
        }
    }
}

/// An operation on rows.
#[derive(Debug, Clone)]
pub struct RowWise<E, P> {
    pub(super) e: E,
    pub(super) axis: usize,
    pub(super) operation: P,
}

/// Rows of items, or of a fixed axis behind.
enum Along {
    Rows,
    /// The position among the fixed axes behind.
    Fixed(usize),
}

fn along(kinds: &[Extent], axis: usize) -> Result<Along> {
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
        kinds[self.axis] = match (kinds[self.axis], self.operation.results()?) {
            (Extent::Fixed(extent), results) => Extent::Fixed(results.of(extent)),
            (Extent::Var, RowResults::Fixed(results)) => Extent::Fixed(results),
            (Extent::Var, _) => Extent::Var,
        };
        Ok(kinds)
    }

    fn knows_rows(&self) -> bool {
        self.e.before() < Before::Rows
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        let along = along(&self.e.extents()?, self.axis)?;
        let results = self.operation.results()?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        Ok(self.result(&form, &self.lanes(&form, &along, results)?.1))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<P::Elem>>> {
        let kinds = self.e.extents()?;
        let along = along(&kinds, self.axis)?;
        self.operation.check(self.axis)?;
        let results = self.operation.results()?;
        let joint = joined(&self.e, stretch)?;
        let Joint { form, .. } = &joint;
        let content = Lazy(self.e.flat(&joint)?).reshape(content_shape(form))?;
        let last = content.shape()?.rank() - 1;
        let (from, lanes) = self.lanes(form, &along, results)?;
        if P::NEEDS_ITEMS {
            match &lanes.items {
                Lengths::Rows(items) => check_rows(items, form, self.axis)?,
                Lengths::Fixed { length: 0, .. } => {
                    return Err(Error::EmptyReduction { axis: self.axis, shape: shape_of(&kinds) });
                }
                Lengths::Fixed { .. } => {}
            }
        }
        let content = content.move_axis(from, last)?;
        let place = |error| placed(error, form, from);
        let data = expr::elements(&content);
        let data = &data.map_err(|error| first_error(&self.e, &joint, error, place))?[..];
        let others: SmallVec<[usize; 4]> = content.shape()?[..last].into();
        let out = lanes.compute(&self.operation, &others, data).map_err(&place)?;
        let result = self.result(form, &lanes);
        let content = out.move_axis(last, from)?.reshape(content_shape(&result))?;
        Ok(Ragged::of(levels_of(&result), content))
    }

    fn explain(&self) -> Result<Explanation> {
        let along = along(&self.e.extents()?, self.axis)?;
        let Joint { form, .. } = self.e.outline(Stretch::Rows)?;
        let items = self.lanes(&form, &along, self.operation.results()?)?.1.items;
        let mean = items.last().div_ceil(items.rows().max(1));
        let (what, each) = self.operation.words(mean)?;
        let what = format!("{what} along axis {}, row by row, of:", self.axis);
        let each = each.map(|each| format!("rows of {mean} items: {each}"));
        Ok(super::explain::explain(&self.e)?.below([what]).above(each))
    }
}

impl<E: RaggedExpr, P: RowOperation<E::Elem>> RowWise<E, P> {
    /// The axis of the content that rows lie along, and the rows.
    fn lanes(&self, form: &Form, along: &Along, results: RowResults) -> Result<(usize, Lanes)> {
        let skipped = usize::from(!form.blocks.is_empty());
        match (along, form.blocks.last()) {
            (Along::Rows, Some(block)) => {
                Ok((0, Lanes::of(Lengths::Rows(block.rows.clone()), results)?))
            }
            (Along::Rows, None) => Err(Error::Axis { axis: self.axis, rank: form.rank() }),
            (Along::Fixed(axis), _) => {
                let extent = Lengths::Fixed { length: form.trailing[*axis], rows: 1 };
                Ok((axis + skipped, Lanes::of(extent, results)?))
            }
        }
    }

    /// The form with the results of the rows in their place.
    fn result(&self, form: &Form, lanes: &Lanes) -> Form {
        let mut axes: SmallVec<[Joined; 4]> = form.axes().into_iter().map(Joined::from).collect();
        axes[self.axis] = match &lanes.results {
            Lengths::Rows(results) => Joined::Var(results.clone()),
            Lengths::Fixed { length, .. } => Joined::Fixed(*length),
        };
        Form::of(axes)
    }
}

/// Refuses rows without items.
fn check_rows(items: &Offsets, form: &Form, axis: usize) -> Result<()> {
    match (0..items.rows()).find(|&row| items.length(row) == 0) {
        Some(row) => Err(Error::EmptyRow { row: form.path(axis, row), axis }),
        None => Ok(()),
    }
}

/// An error at an index of the content with the axis last, or at the number of a result, as one of the whole.
fn placed(mut error: Error, form: &Form, from: usize) -> Error {
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

/// The lengths of rows along an axis.
#[derive(Debug, Clone)]
pub(super) enum Lengths {
    Rows(Offsets),
    Fixed { length: usize, rows: usize },
}

impl Lengths {
    /// Number of rows.
    fn rows(&self) -> usize {
        match self {
            Self::Rows(offsets) => offsets.rows(),
            Self::Fixed { rows, .. } => *rows,
        }
    }

    /// Elements of all rows.
    fn last(&self) -> usize {
        self.before(self.rows())
    }

    /// Elements in front of a row, where all rows are repeated.
    fn before(&self, row: usize) -> usize {
        match self {
            Self::Rows(offsets) => {
                let rows = offsets.rows().max(1);
                row / rows * offsets.last() + offsets.number(row % rows)
            }
            Self::Fixed { length, .. } => row.saturating_mul(*length),
        }
    }
}

/// Rows that lie along the last axis of the content, as often as there are elements of its other axes, and how many results
/// each has.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) items: Lengths,
    pub(super) results: Lengths,
}

impl Lanes {
    pub(super) fn of(items: Lengths, results: RowResults) -> Result<Self> {
        let results = match (&items, results) {
            (items, RowResults::Items) => items.clone(),
            (&Lengths::Fixed { length, rows }, results) => {
                Lengths::Fixed { length: results.of(length), rows }
            }
            (Lengths::Rows(items), RowResults::Fixed(length)) => {
                Lengths::Fixed { length, rows: items.rows() }
            }
            (Lengths::Rows(items), results) => Lengths::Rows(Offsets::from_lengths(
                (0..items.rows()).map(|row| results.of(items.length(row))),
            )?),
        };
        Ok(Self { items, results })
    }

    /// The results of the rows, at the extents of the other axes of the content.
    pub(super) fn compute<T: Copy + Send + Sync, P: RowOperation<T>>(
        &self,
        operation: &P,
        others: &[usize],
        data: &[T],
    ) -> Result<Tensor<Vec<P::Elem>>> {
        let mut extents: SmallVec<[usize; 4]> = others.into();
        extents.push(self.results.last());
        let results = Shape::count_of(&extents)?;
        // Nothing is visited of very many rows without results.
        let rows = match results {
            0 => 0,
            _ => Shape::count_of(&[Shape::count_of(others)?, self.items.rows()])?,
        };
        let work = Work { operation, lanes: self, data };
        let each = kernel::task_size(data.len(), PARALLEL, GRAIN);
        let out = inner::collect(results, |out| work.fill(0..rows, out, each))?;
        Tensor::new(Shape::from(extents), out)
    }
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
        let length = match &self.lanes.items {
            Lengths::Rows(items) => {
                if self.place == items.rows() {
                    (self.place, self.start) = (0, items.first());
                }
                self.place += 1;
                let start = std::mem::replace(&mut self.start, items.number(self.place));
                self.start.saturating_sub(start)
            }
            Lengths::Fixed { length, .. } => *length,
        };
        let run = Run::new(self.data, length);
        self.data = &self.data[run.elements().len()..];
        Some(run)
    }
}

impl<'w, T> Runs<'w, T> {
    /// What rows are cut from, those that were not yet.
    pub(super) fn elements(&self) -> &'w [T] {
        self.data
    }

    /// Results of each row, if all have as many.
    pub(super) fn results(&self) -> Option<usize> {
        match &self.lanes.results {
            Lengths::Fixed { length, .. } => Some(*length),
            Lengths::Rows(_) => None,
        }
    }
}

/// An operation at work.
struct Work<'w, T, P> {
    operation: &'w P,
    lanes: &'w Lanes,
    data: &'w [T],
}

impl<T: Copy + Send + Sync, P: RowOperation<T>> Work<'_, T, P> {
    /// Computes the results of rows, in tasks of so many elements.
    fn fill(
        &self,
        rows: Range<usize>,
        out: &mut [MaybeUninit<P::Elem>],
        each: usize,
    ) -> Result<Filled> {
        let Lanes { items, results } = self.lanes;
        let (first, end) = (items.before(rows.start), items.before(rows.end));
        if end - first > each && rows.len() > 1 {
            let half = first + (end - first) / 2;
            let (mut low, mut high) = (rows.start + 1, rows.end - 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if items.before(middle) < half { low = middle + 1 } else { high = middle }
            }
            let at = results.before(low) - results.before(rows.start);
            return fill_halves(
                out,
                at,
                |out| self.fill(rows.start..low, out, each),
                |out| self.fill(low..rows.end, out, each),
            );
        }
        let (numbers, data) = (rows.clone(), self.data.get(first..).unwrap_or(&[]));
        let place = rows.start % items.rows().max(1);
        let start = items.before(place);
        let runs = Runs { lanes: self.lanes, place, start, numbers, data };
        let number = results.before(rows.start);
        self.operation.run(runs, out).map_err(|mut error| {
            if let Error::Overflow { index, .. } | Error::NothingLeft { index } = &mut error {
                index.iter_mut().for_each(|k| *k += number);
            }
            error
        })
    }
}
