//! Ranges of rows, whose ends may be those of each row.

use super::levels::Run;
use crate::error::{Error, Result};
use crate::map::Select;

/// `start, start + step, ..` before `stop`; a start that is missing is the last item of the row, a stop that is missing
/// its end.
pub(super) struct RowRange {
    start: Option<i128>,
    stop: Option<i128>,
    step: i128,
}

/// The first index, the step, and how many indexes.
type Taken = (usize, isize, usize);

impl RowRange {
    /// A selector that is a range.
    pub(super) fn of(selector: &Select, axis: usize) -> Result<Option<Self>> {
        let (start, stop, step) = match selector {
            Select::Reverse => (None, None, -1),
            Select::Range { start, stop, step } => (Some(*start), *stop, *step),
            Select::FromLast { stop, step } => (None, Some(*stop), *step),
            _ => return Ok(None),
        };
        if step == 0 {
            return Err(Error::ZeroStep { axis });
        }
        let wide = |end: Option<isize>| end.map(|end| end as i128);
        Ok(Some(Self { start: wide(start), stop: wide(stop), step: step as i128 }))
    }

    /// What is taken of a row that has all visited indexes, or is `cut`, where that takes no arithmetic of long numbers:
    /// of a range that goes up one by one, or from the last item down to the first.
    fn plain(&self, run: Run, cut: bool) -> Option<Taken> {
        match (self.start, self.stop, self.step) {
            (None, None, -1) => Some((run.len.saturating_sub(1), -1, run.len)),
            (Some(start), stop, 1) => {
                let start = usize::try_from(start).ok()?;
                let stop = stop.map_or(Ok(run.len), usize::try_from).ok()?;
                let end = if cut { stop.min(run.len) } else { stop };
                let count = end.saturating_sub(start);
                let first = if count == 0 { 0 } else { start };
                (count == 0 || end <= run.len).then_some((first, 1, count))
            }
            _ => None,
        }
    }

    /// The first index that is visited, and how many, whether the row has them or not.
    fn visited(&self, run: Run) -> (i128, i128) {
        let items = run.len as i128;
        let falls = self.step < 0;
        let start = self.start.unwrap_or(items - 1);
        let stop = self.stop.unwrap_or(if falls { -1 } else { items });
        let way = if falls { start - stop } else { stop - start };
        (start, if way <= 0 { 0 } else { self.steps(way - 1) + 1 })
    }

    /// All visited indexes, or the first that the row lacks.
    pub(super) fn held(&self, run: Run) -> Result<Taken, i128> {
        if let Some(taken) = self.plain(run, false) {
            return Ok(taken);
        }
        let (start, count) = self.visited(run);
        let (first, kept) = self.inside(start, count, run);
        if kept == count {
            return Ok(self.taken(start, count));
        }
        Err(if first > 0 || kept == 0 { start } else { start + kept * self.step })
    }

    /// The visited indexes that the row has.
    pub(super) fn cut(&self, run: Run) -> Taken {
        if let Some(taken) = self.plain(run, true) {
            return taken;
        }
        let (start, count) = self.visited(run);
        let (first, kept) = self.inside(start, count, run);
        self.taken(start + first * self.step, kept)
    }

    /// Whole steps in a distance. Mostly steps are of 1, and a division takes long.
    fn steps(&self, distance: i128) -> i128 {
        match self.step.abs() {
            1 => distance,
            by => distance / by,
        }
    }

    fn taken(&self, start: i128, count: i128) -> Taken {
        // A step that is too large is not taken.
        let step = isize::try_from(self.step).unwrap_or(1);
        if count == 0 { (0, step, 0) } else { (start as usize, step, count as usize) }
    }

    /// How many visited indexes lie before those that the row has, and how many those are.
    fn inside(&self, start: i128, count: i128, run: Run) -> (i128, i128) {
        let last = run.len as i128 - 1;
        let (low, high) =
            if self.step > 0 { (-start, last - start) } else { (start - last, start) };
        let first = if low > 0 { self.steps(low - 1) + 1 } else { 0 };
        let end = if high < 0 { 0 } else { self.steps(high) + 1 };
        let (first, end) = (first.min(count), end.min(count));
        (first, (end - first).max(0))
    }
}
