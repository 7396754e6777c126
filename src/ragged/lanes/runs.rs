//! Rows one by one: their items in memory, and tasks of neighbouring rows.

use crate::error::{Error, Result};
use crate::kernel::{self, Filled, GRAIN, PARALLEL, fill_halves, inner};
use crate::ops::lanes::Run;
use crate::ragged::offsets::Offsets;
use crate::ragged::places::Lengths;
use crate::ragged::sealed;
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

    /// Computes the results of some rows, one row after another. An error names the first that does not exist, by its
    /// number.
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
    pub(super) fn of(self, items: usize) -> usize {
        match self {
            Self::Items => items,
            Self::AtMost(most) => items.min(most),
            Self::Fixed(results) => results,
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
            (&Lengths::Fixed(rows, length), results) => Lengths::Fixed(rows, results.of(length)),
            (Lengths::Var(items), RowResults::Fixed(length)) => {
                Lengths::Fixed(items.rows(), length)
            }
            (Lengths::Var(items), results) => Lengths::Var(Offsets::from_lengths(
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
        extents.push(self.results.len());
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
            Lengths::Var(items) => {
                if self.place == items.rows() {
                    (self.place, self.start) = (0, items.first());
                }
                self.place += 1;
                let start = std::mem::replace(&mut self.start, items.number(self.place));
                self.start.saturating_sub(start)
            }
            Lengths::Fixed(_, length) => *length,
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
            Lengths::Fixed(_, length) => Some(*length),
            Lengths::Var(_) => None,
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
        if end.saturating_sub(first) > each && rows.len() > 1 {
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
