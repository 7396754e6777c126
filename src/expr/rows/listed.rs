//! Rows of one tensor in memory that are read where they lie, also if they do not follow one another in even steps.

use super::{Block, Data, RowReader, Runs};
use crate::error::Result;
use crate::expr::boxed::Boxed;
use crate::expr::{Access, Expr};
use crate::kernel::Stop;
use crate::kernel::inner;
use crate::map::{AddressMap, Pattern};
use crate::memory::try_reserve_exact;
use crate::shape::Shape;
use std::ops::Range;

/// Where each row begins, as rows that are listed, rotated or repeated do.
pub(super) struct Listed(AddressMap);

impl Listed {
    /// Those of an expression that is one such tensor.
    pub(super) fn of<T: Copy + Send + Sync>(e: &Boxed<'_, T>) -> Option<Self> {
        let mut found = None;
        e.leaves(&mut |leaf| {
            let top = leaf.map.top();
            let along = top.plain_axes().last().is_some_and(|axis| axis.stride == 1)
                && matches!(top.pattern(top.rank() - 1), Pattern::Linear);
            if along && leaf.access == Access::Slice && leaf.map.rest().is_empty() {
                found = Some(Self(leaf.map.clone()));
            }
        });
        found.filter(|_| e.is_leaf())
    }

    /// Adds where some rows of this shape are at a column.
    pub(super) fn append_starts(
        &self,
        shape: &Shape,
        rows: Range<usize>,
        column: usize,
        starts: &mut Vec<usize>,
    ) {
        let top = self.0.top();
        let at = |axis: usize, digit: usize| {
            top.plain_axes()[axis].stride.wrapping_mul(top.pattern(axis).position(digit) as isize)
        };
        let mut runs = Runs::new(shape, rows);
        while let Some((run, index)) = runs.next() {
            let Some((&first, outer)) = index.split_last() else {
                starts.push(top.offset().wrapping_add(column));
                continue;
            };
            let steps = outer.iter().enumerate().map(|(axis, &digit)| at(axis, digit));
            let base = steps.fold(column as isize, isize::wrapping_add);
            let base = top.offset().wrapping_add_signed(base);
            let digits = first..first + run;
            starts.extend(digits.map(|digit| base.wrapping_add_signed(at(outer.len(), digit))));
        }
    }
}

impl<T: Copy + Send + Sync> RowReader<'_, T> {
    /// Some rows and columns where they lie.
    pub(super) fn read_in_place(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Block<'_, T>, Stop> {
        let width = columns.len();
        // Asked for twice, as a reference that is returned would be borrowed on the other way, too.
        if let Some(place) = self.one_run(rows.clone(), &columns)
            && self.worker.slice().is_some_and(|slice| slice.get(place.clone()).is_some())
        {
            let run = self.worker.slice().and_then(|slice| slice.get(place)).unwrap_or_default();
            return Ok(Block { data: Data::Together(run), columns: width });
        }
        self.starts.clear();
        try_reserve_exact(&mut self.starts, rows.len())?;
        self.append_starts(rows, columns.start);
        let slice = self.worker.slice().unwrap_or_default();
        let outside = |start: usize| start.checked_add(width).is_none_or(|end| end > slice.len());
        if let Some(&start) = self.starts.iter().find(|&&start| outside(start)) {
            let low = start as isize as i128;
            return Err(inner::out_of_span(low, low + width as i128 - 1, slice.len()).into());
        }
        Ok(Block { data: Data::Apart(slice, &self.starts), columns: width })
    }

    /// Where some rows and columns are, if strides tell that they follow one another.
    fn one_run(&self, rows: Range<usize>, columns: &Range<usize>) -> Option<Range<usize>> {
        let [leaf] = self.rows.strided.as_deref()? else { return None };
        let (run, index) = Runs::new(&self.rows.shape, rows.clone()).next()?;
        let (base, step) = leaf.place(&index, columns.start);
        let follow = run == rows.len() && (run == 1 || step == columns.len() as isize);
        let start = usize::try_from(base).ok().filter(|_| follow)?;
        Some(start..start.checked_add(run * columns.len())?)
    }

    /// Adds where some rows are at a column.
    fn append_starts(&mut self, rows: Range<usize>, column: usize) {
        let shape = &self.rows.shape;
        if let Some(listed) = &self.rows.listed {
            return listed.append_starts(shape, rows, column, &mut self.starts);
        }
        let Some([leaf]) = self.rows.strided.as_deref() else { return };
        let mut runs = Runs::new(shape, rows);
        while let Some((run, index)) = runs.next() {
            let (base, step) = leaf.place(&index, column);
            let places = (0..run).map(|k| base.wrapping_add(step.wrapping_mul(k as isize)));
            self.starts.extend(places.map(|start| start as usize));
        }
    }
}
