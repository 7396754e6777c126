//! How the work along an axis is shared out.

use std::ops::Range;

/// All tasks of a sweep, numbered by items, then results, then columns.
pub(crate) struct Tasks {
    pub(super) results: usize,
    pub(super) items: usize,
    pub(super) inner: usize,
    pub(super) width: usize,
    /// Items, results and columns of a task.
    pub(super) together: usize,
    pub(super) length: usize,
    pub(super) columns: usize,
    pub(super) parallel: bool,
}

/// Jobs on the same results of neighbouring items, done one after another.
pub(crate) struct Task {
    pub(super) number: usize,
    pub(super) items: Range<usize>,
    pub(super) results: Range<usize>,
    pub(crate) columns: Range<usize>,
}

impl Tasks {
    /// Into how many parts items, results and columns are cut.
    pub(crate) fn cuts(&self) -> [usize; 3] {
        [
            self.items.div_ceil(self.together.max(1)),
            self.results.div_ceil(self.length.max(1)),
            self.width.div_ceil(self.columns.max(1)),
        ]
    }

    pub(crate) fn count(&self) -> usize {
        self.cuts().iter().product()
    }

    pub(crate) fn task(&self, number: usize) -> Task {
        let [_, lengths, columns] = self.cuts();
        let part = |k: usize, size: usize, end: usize| k * size..(k * size + size).min(end);
        Task {
            number,
            items: part(number / columns / lengths, self.together, self.items),
            results: part(number / columns % lengths, self.length, self.results),
            columns: part(number % columns, self.columns, self.width),
        }
    }

    /// Whose the pieces of the output are, and their lengths.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let [_, lengths, columns] = self.cuts();
        let solid = self.inner == 1 && columns == 1;
        let solids = (0..if solid { self.count() } else { 0 }).map(|number| {
            let task = self.task(number);
            (number, task.items.len() * task.results.len() * self.width)
        });
        let outer = if solid { 0 } else { self.items / self.inner.max(1) };
        let rows = (0..outer).flat_map(move |outer| {
            (0..self.results).flat_map(move |result| {
                (0..self.inner * columns).map(move |k| {
                    let item = outer * self.inner + k / columns;
                    let number = (item * lengths + result / self.length) * columns + k % columns;
                    (number, self.task(number).columns.len())
                })
            })
        });
        solids.chain(rows)
    }
}
