//! Folds along rows: the reduced axes are last.

use super::Reducer;
use super::fold::{Failure, finish, in_tasks, rows};
use super::loops;
use super::tree::{Pairwise, halves};
use crate::error::Result;
use crate::expr::{Expr, RowReader, Rows, Stop};
use crate::kernel::{GRAIN, PARALLEL, threads};
use crate::memory::{resize, try_with_capacity};
use crate::shape::Shape;
use std::ops::Range;

/// Elements of a leaf.
pub(super) const LEAF: usize = 512;
/// Most leaves of neighbouring rows that are kept before they are joined in order.
const KEPT: usize = 4096;

/// A fold along rows, cut into leaves that are numbered in row-major order.
pub(super) struct Along<'e, E: Expr + 'e, R> {
    rows: Rows<'e, E::Elem>,
    reducer: &'e R,
    results: usize,
    /// Elements of a line: what the leaves of one share lie in without a gap.
    line: usize,
    lines_per_result: usize,
    /// Elements of a leaf; the last of a line may have fewer.
    leaf: usize,
    leaves_per_line: usize,
}

impl<'e, E: Expr, R: Reducer<E::Elem>> Along<'e, E, R> {
    /// A leaf is a number of whole steps of one axis, with all axes within it, so that it is a block of
    /// every operand.
    pub(super) fn new(e: &'e E, shape: &Shape, reduced: &[bool], reducer: &'e R) -> Result<Self> {
        let axes = |wanted: bool| (0..shape.rank()).filter(move |&axis| reduced[axis] == wanted);
        let order: Vec<usize> = axes(false).chain(axes(true)).collect();
        let gone: Vec<usize> = axes(true).map(|axis| shape[axis]).collect();
        let mut outer = gone.len().saturating_sub(1);
        let mut inner = 1;
        while outer > 0 && inner * gone[outer] < LEAF {
            inner *= gone[outer];
            outer -= 1;
        }
        let cut = gone.get(outer).copied().unwrap_or(1);
        let steps = (LEAF / inner).max(1);
        Ok(Self {
            rows: rows(e, shape, &order, gone.len() - outer)?,
            reducer,
            results: axes(false).map(|axis| shape[axis]).product(),
            line: cut * inner,
            lines_per_result: gone[..outer].iter().product(),
            leaf: steps.min(cut) * inner,
            leaves_per_line: cut.div_ceil(steps),
        })
    }

    pub(super) fn results(&self) -> Result<Vec<R::Out>, Failure> {
        let leaves = self.leaves_per_line * self.lines_per_result;
        let elements = self.line * self.lines_per_result;
        let (total, threads) = (elements.saturating_mul(self.results), threads());
        if total < PARALLEL || threads < 2 || self.results >= 4 * threads {
            let least = GRAIN.div_ceil(elements);
            let parallel = total >= PARALLEL && threads > 1;
            let task =
                if parallel { (self.results / (4 * threads)).max(least) } else { usize::MAX };
            return in_tasks(0..self.results, task, &|results| self.serial(results));
        }
        let grain = (leaves / (4 * threads)).max(GRAIN / self.leaf);
        let combine = |state: &mut R::State, later| self.reducer.combine(state, later);
        (0..self.results)
            .map(|number| {
                let first = number * leaves;
                if !R::ASSOCIATIVE {
                    return Ok(self.serial(number..number + 1)?.swap_remove(0));
                }
                let part = |part: Range<usize>| -> Result<R::State, Failure> {
                    let mut pairs = Pairwise::default();
                    let part = first + part.start..first + part.end;
                    self.states(part, &mut |state| pairs.push(state, combine))?;
                    pairs.finish(combine).ok_or(Failure::Stop(Stop::Done))
                };
                finish(self.reducer, halves(0..leaves, grain, &part, &combine)?, number)
            })
            .collect()
    }

    /// What is folded, and how it is read, in words.
    pub(super) fn explain(&self) -> [String; 2] {
        let folds = format!(
            "along rows: {} results of {} elements, in leaves of {}",
            self.results,
            self.line * self.lines_per_result,
            self.leaf
        );
        [folds, format!("operand: {}", self.rows.explain())]
    }

    /// Some results, on this thread.
    fn serial(&self, results: Range<usize>) -> Result<Vec<R::Out>, Failure> {
        let leaves = self.leaves_per_line * self.lines_per_result;
        let range = results.start * leaves..results.end * leaves;
        let mut all = try_with_capacity(results.len())?;
        let mut number = results.start;
        let mut failure = None;
        let mut done = |state: R::State| {
            match finish(self.reducer, state, number) {
                Ok(result) => all.push(result),
                Err(first) => {
                    failure.get_or_insert(first);
                }
            }
            number += 1;
        };
        if R::ASSOCIATIVE {
            let combine = |state: &mut R::State, later| self.reducer.combine(state, later);
            let mut pairs = Pairwise::default();
            let mut missing = leaves;
            self.states(range, &mut |state| {
                pairs.push(state, combine);
                missing -= 1;
                if missing == 0
                    && let Some(state) = pairs.finish(combine)
                {
                    done(state);
                    missing = leaves;
                }
            })?;
        } else {
            self.in_order(range, leaves, &mut done)?;
        }
        failure.map_or(Ok(all), Err)
    }

    /// The states of some leaves, in order.
    fn states(&self, leaves: Range<usize>, emit: &mut impl FnMut(R::State)) -> Result<(), Stop> {
        let fold = |run: &[E::Elem], leaf| loops::fold(self.reducer, run, self.position(leaf));
        let mut reader = self.rows.open();
        let mut next = leaves.start;
        let mut kept: Vec<Option<R::State>> = Vec::new();
        while next < leaves.end {
            let within = next % self.leaves_per_line;
            let lines = (leaves.end - next) / self.leaves_per_line;
            let deep = reader.block_size() / self.leaf.max(1);
            let together = lines.min(deep).min(KEPT / self.leaves_per_line);
            let apart = self.leaves_per_line == 1 || !reader.direct;
            if self.is_flat() && within == 0 && together > 1 && apart {
                // Several whole lines at once, a leaf of each in turn.
                let first = next / self.leaves_per_line;
                if self.leaves_per_line == 1 {
                    reader.for_each_row(first..first + together, 0..self.line, |row, run| {
                        emit(fold(run, next + row));
                    })?;
                    next += together;
                    continue;
                }
                kept.clear();
                resize(&mut kept, together * self.leaves_per_line, None)?;
                for k in 0..self.leaves_per_line {
                    let columns = k * self.leaf..((k + 1) * self.leaf).min(self.line);
                    reader.for_each_row(first..first + together, columns, |row, run| {
                        let leaf = row * self.leaves_per_line + k;
                        kept[leaf] = Some(fold(run, next + leaf));
                    })?;
                }
                kept.iter_mut().filter_map(Option::take).for_each(&mut *emit);
                next += together * self.leaves_per_line;
                continue;
            }
            let count = (self.leaves_per_line - within).min(leaves.end - next).min(deep.max(1));
            self.runs(&mut reader, next..next + count, &mut |leaf, run| {
                emit(fold(run, leaf));
            })?;
            next += count;
        }
        Ok(())
    }

    /// The elements of a few leaves of one line, leaf by leaf.
    fn runs(
        &self,
        reader: &mut RowReader<'_, E::Elem>,
        leaves: Range<usize>,
        visit: &mut impl FnMut(usize, &[E::Elem]),
    ) -> Result<(), Stop> {
        let (line, within) =
            (leaves.start / self.leaves_per_line, leaves.start % self.leaves_per_line);
        let start = within * self.leaf;
        let end = (start + leaves.len() * self.leaf).min(self.line);
        let mut all = |run: &[E::Elem]| {
            for (leaf, part) in leaves.clone().zip(run.chunks(self.leaf)) {
                visit(leaf, part);
            }
        };
        if self.is_flat() {
            all(reader.read(line..line + 1, start..end)?.row(0));
            return Ok(());
        }
        let columns = self.columns();
        let rows_per_line = self.line / columns;
        let first = line * rows_per_line + start / columns;
        let rows = (end - start) / columns;
        let block = reader.read(first..first + rows, 0..columns)?;
        match block.flat() {
            Some(run) => all(run),
            None => {
                let mut run = try_with_capacity(end - start)?;
                (0..rows).for_each(|row| run.extend_from_slice(block.row(row)));
                all(&run);
            }
        }
        Ok(())
    }

    /// Takes elements one after another, for reducers that cannot join states.
    fn in_order(
        &self,
        leaves: Range<usize>,
        leaves_per_result: usize,
        done: &mut impl FnMut(R::State),
    ) -> Result<(), Stop> {
        let mut reader = self.rows.open();
        let mut state: Option<R::State> = None;
        for leaf in leaves {
            self.runs(&mut reader, leaf..leaf + 1, &mut |leaf, run| {
                for (position, &x) in (self.position(leaf)..).zip(run) {
                    match &mut state {
                        Some(state) => self.reducer.step_at(state, x, position),
                        None => state = Some(self.reducer.first_at(x, position)),
                    }
                }
            })?;
            if (leaf + 1) % leaves_per_result == 0
                && let Some(state) = state.take()
            {
                done(state);
            }
        }
        Ok(())
    }

    /// Where the first element of a leaf stands among those of its result.
    #[inline]
    fn position(&self, leaf: usize) -> usize {
        if !R::POSITIONS {
            return 0;
        }
        let (line, within) = (leaf / self.leaves_per_line, leaf % self.leaves_per_line);
        line % self.lines_per_result * self.line + within * self.leaf
    }

    fn columns(&self) -> usize {
        self.rows.shape().last().copied().unwrap_or(1)
    }

    /// Whether every line is one row.
    fn is_flat(&self) -> bool {
        self.columns() == self.line
    }
}
