//! Folds along rows: the reduced axes are last.

use super::Reducer;
use super::folding::{Folding, Needs, Runs};
use super::leaves::{KEPT, Leaves, beside};
use super::tasks::{Failure, finish, in_tasks};
use super::tree::{Parts, in_parts};
use crate::error::Result;
use crate::expr::{Block, Boxed, RowReader, Rows, Stop};
use crate::kernel::{GRAIN, PARALLEL, PART, TILE, threads};
use crate::memory::{list, try_with_capacity};
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// [`KEPT`] where storage is not memory and lies across the rows.
const KEPT_FAR: usize = 1 << 18;
/// Fewest lines that are read at once then, if there are as many.
const WIDE: usize = 256;

/// Lines that are folded side by side.
const BESIDE: usize = 128;

/// Leaves of a row that are listed on the stack.
const FEW: usize = 8;

/// A fold along rows, cut into leaves that are numbered in row-major order.
pub(super) struct Along<'e, T> {
    pub(super) rows: Rows<'e, T>,
    /// The same with lines side by side, where these lie in memory so.
    beside: Option<Rows<'e, T>>,
    needs: Needs,
    results: usize,
    leaves: Leaves,
}

impl<'e, T: Copy + Send + Sync + 'e> Along<'e, T> {
    #[inline(never)]
    pub(super) fn new(
        e: &Boxed<'e, T>,
        shape: &Shape,
        reduced: &[bool],
        needs: Needs,
    ) -> Result<Self> {
        let axes = |wanted: bool| (0..shape.rank()).filter(move |&axis| reduced[axis] == wanted);
        let order: SmallVec<[usize; 8]> = axes(false).chain(axes(true)).collect();
        let gone: SmallVec<[usize; 8]> = axes(true).map(|axis| shape[axis]).collect();
        let leaves = Leaves::new(&gone);
        Ok(Self {
            rows: Rows::ordered(e, &order, gone.len() - leaves.outer)?,
            beside: if needs.beside { beside(e, shape, reduced)? } else { None },
            needs,
            results: axes(false).map(|axis| shape[axis]).product(),
            leaves,
        })
    }

    pub(super) fn results<R: Reducer<T>>(&self, reducer: &R) -> Result<Vec<R::Out>, Failure> {
        let leaves = self.leaves.count();
        if let Some(task) = self.results_of_task() {
            let every = self.lines_of_blocks() / self.leaves.lines.max(1);
            let parts = Parts { every, ..Parts::of(task) }.for_threads(self.results);
            return in_tasks(0..self.results, parts, &|results| {
                let all = results.start * leaves..results.end * leaves;
                let mut runs = Runs::new(reducer, leaves, results)?;
                self.feed(all, &mut runs)?;
                runs.into_results()
            });
        }
        let mut results = try_with_capacity(self.results)?;
        for number in 0..self.results {
            let first = number * leaves;
            let part = |part: Range<usize>| {
                let mut runs = Runs::of_part(reducer, part.start)?;
                self.feed(first + part.start..first + part.end, &mut runs)?;
                Ok::<_, Failure>(runs.into_pairs())
            };
            let combine = |state: &mut R::State, later| reducer.combine(state, later);
            let mut pairs = in_parts(0..leaves, self.parts(number), &part, &combine)?;
            let state = pairs.finish(combine).ok_or(Failure::Stop(Stop::Done))?;
            results.push(finish(reducer, state, number)?);
        }
        Ok(results)
    }

    /// Most results of one task; `None` if tasks share results.
    fn results_of_task(&self) -> Option<usize> {
        let elements = self.leaves.line * self.leaves.lines;
        let (total, threads) = (elements.saturating_mul(self.results), threads());
        if total < PARALLEL || threads < 2 {
            return Some(usize::MAX);
        }
        let one_leaf = self.leaves.count() == 1;
        let whole = self.results >= 4 * threads || !self.needs.associative || one_leaf;
        // Of lines side by side those of a line of the caches.
        let least = if self.beside.is_some() { 64 / size_of::<T>().max(1) } else { 1 };
        let grain = GRAIN.div_ceil(elements).max(least);
        whole.then(|| (self.results / self.shares()).max(grain))
    }

    /// Into how many parts all is shared out: few, where each has to come to all of storage.
    fn shares(&self) -> usize {
        if self.rows.is_across() || self.beside.is_some() { threads() } else { 4 * threads() }
    }

    /// How the leaves of this result are shared out: in whole lines if they are long, and in whole rows of blocks.
    fn parts(&self, number: usize) -> Parts {
        let leaves = self.leaves.count();
        let grain = (leaves / self.shares()).max(GRAIN / self.leaves.leaf);
        let lines = self.lines_of_blocks();
        // Lines of the results before lie in the first row of blocks.
        let first = lines - number * self.leaves.lines % lines;
        let [first, every] = [first, lines].map(|lines| lines.saturating_mul(self.leaves.per_line));
        let every = if lines == 1 && every > grain { 1 } else { every };
        Parts { first, every, grain }.for_threads(leaves)
    }

    /// Lines after which blocks of storage end.
    fn lines_of_blocks(&self) -> usize {
        if self.is_flat() { self.rows.sides_of_blocks()[0] } else { 1 }
    }

    /// What is folded, and how it is read, in words.
    pub(super) fn explain(&self, e: &Boxed<'_, T>) -> Result<Vec<String>> {
        let plural = if self.results == 1 { "" } else { "s" };
        let folds = format!(
            "along rows: {} result{plural} of {} elements, in leaves of {}{}",
            self.results,
            self.leaves.line * self.leaves.lines,
            self.leaves.leaf,
            if self.beside.is_some() { ", side by side" } else { "" }
        );
        let mut lines = vec![folds];
        let rows = self.beside.as_ref().unwrap_or(&self.rows);
        lines.extend(rows.operand_in_words(self.rows.are_mixed().then_some(e))?);
        Ok(lines)
    }

    /// Hands over some leaves, in order.
    #[inline(never)]
    fn feed(&self, leaves: Range<usize>, to: &mut dyn Folding<T>) -> Result<(), Stop> {
        let mut reader = self.rows.open();
        if self.is_flat() {
            let per_line = self.leaves.per_line;
            let lines = leaves.start / per_line..leaves.end.div_ceil(per_line);
            if per_line == 1 && self.rows.is_far() {
                reader.up_to(lines.end);
            }
            reader.follow(lines, 0..self.leaves.line, false);
        }
        let mut beside = self.beside.as_ref().map(Rows::open);
        let mut next = leaves.start;
        while next < leaves.end {
            let within = next % self.leaves.per_line;
            let lines = (leaves.end - next) / self.leaves.per_line;
            if let (Some(reader), 0, 1..) = (&mut beside, within, lines) {
                next = self.feed_beside(reader, next, lines, to)?;
                continue;
            }
            let in_order = self.is_flat() && self.needs.associative;
            let high = self.rows.block_height().filter(|_| in_order);
            let short = self.is_flat() && self.leaves.per_line == 1;
            let in_runs = self.rows.in_runs();
            let window = self.rows.window().or(in_runs.then(|| reader.block_size()));
            if let (Some(window), 0, 1..) = (window, within, lines)
                && high.is_none()
                && !short
                && ((in_order && !in_runs) || self.leaves.line <= window)
            {
                next = self.feed_window(&mut reader, next, lines, window, to)?;
                continue;
            }
            let deep = match high {
                // To where blocks end.
                Some(high) => high - next / self.leaves.per_line % high,
                None => reader.block_size() / self.leaves.leaf.max(1),
            };
            let kept = if high.is_some() { KEPT_FAR } else { KEPT };
            // Where a leaf lies in several blocks, so many lines of it are copied.
            let together = lines.min(deep).min(kept / self.leaves.per_line).min(KEPT);
            let evaluated = !reader.direct && !in_runs;
            // What is evaluated in the order of memory is read in that order: lines that the nearest cache holds are
            // evaluated whole, longer ones leaf by leaf.
            let in_pieces = self.in_pieces(&reader);
            let in_turn = evaluated && self.needs.associative && !in_pieces;
            let (step, first) = (self.leaves.per_line, next / self.leaves.per_line);
            let together = match short {
                true => self.rows.end_in_blocks(first..first + together) - first,
                false => together,
            };
            let lines = first..first + together;
            let several = self.is_flat() && within == 0 && together > 1;
            if several && short && self.leaves.line < PART && !self.rows.is_far() && !in_runs {
                let block = reader.read(lines, 0..self.leaves.line)?;
                self.hand_block(&block, next, together, to)?;
                next += together;
                continue;
            }
            if several && (short || (in_pieces && self.leaves.line < TILE)) {
                reader.for_each_rows(lines, 0..self.leaves.line, &mut |row, runs| {
                    if short {
                        return Ok(to.take(runs, &self.positions(next + row, 1, runs.len())?)?);
                    }
                    let mut each = runs.iter().zip(row..);
                    each.try_for_each(|(run, row)| Ok(self.hand(next + row * step, run, to)?))
                })?;
                next += together * step;
                continue;
            }
            if several && in_turn {
                // A leaf of each line in turn.
                for k in 0..step {
                    let columns =
                        k * self.leaves.leaf..((k + 1) * self.leaves.leaf).min(self.leaves.line);
                    reader.for_each_rows(lines.clone(), columns, &mut |row, runs| {
                        let leaf = row * step + k;
                        let positions = self.positions(next + leaf, step, runs.len())?;
                        Ok(to.keep(leaf, step, runs, &positions)?)
                    })?;
                }
                to.take_kept()?;
                next += together * step;
                continue;
            }
            // A leaf is a line here, or lines are long.
            let most = match step {
                1 => together,
                _ => (step - within).min(reader.block_size() / self.leaves.leaf),
            };
            let count = most.min(leaves.end - next).max(1);
            self.feed_line(&mut reader, next..next + count, to)?;
            next += count;
        }
        Ok(())
    }

    /// Hands over some whole lines from a window of so many elements; returns the next leaf.
    fn feed_window(
        &self,
        reader: &mut RowReader<'_, T>,
        first: usize,
        lines: usize,
        window: usize,
        to: &mut dyn Folding<T>,
    ) -> Result<usize, Stop> {
        let per_line = self.leaves.per_line;
        let line = first / per_line;
        // Those that lie in one block, or enough for long runs of storage.
        let wanted = match self.rows.tile() {
            Some([high, _]) => high.min(lines),
            None if self.rows.is_across() => WIDE.min(lines),
            None => 1,
        };
        if self.leaves.line * wanted <= window || !self.is_flat() || !self.needs.associative {
            let lines = (window / self.leaves.line).clamp(1, lines);
            let rows_per_line = self.leaves.line / self.rows.columns();
            let rows = line * rows_per_line..(line + lines) * rows_per_line;
            let block = reader.read(rows, 0..self.rows.columns())?;
            self.hand_block(&block, first, lines, to)?;
            return Ok(first + lines * per_line);
        }
        // Some leaves of each of several lines, whose states wait for those of the others.
        let lines = lines.min(window / self.leaves.leaf).min(KEPT_FAR / per_line).max(1);
        let step = (window / lines / self.leaves.leaf).max(1);
        for k in (0..per_line).step_by(step) {
            let columns =
                k * self.leaves.leaf..((k + step) * self.leaves.leaf).min(self.leaves.line);
            let block = reader.read(line..line + lines, columns)?;
            for row in 0..lines {
                let leaf = row * per_line + k;
                let runs = list(block.row(row).chunks(self.leaves.leaf))?;
                let positions = self.positions(first + leaf, 1, runs.len())?;
                to.keep(leaf, 1, &runs, &positions)?;
            }
        }
        to.take_kept()?;
        Ok(first + lines * per_line)
    }

    /// Hands over some whole lines that lie side by side; returns the next leaf.
    fn feed_beside(
        &self,
        reader: &mut RowReader<'_, T>,
        first: usize,
        lines: usize,
        to: &mut dyn Folding<T>,
    ) -> Result<usize, Stop> {
        let Leaves { line, leaf, per_line, .. } = self.leaves;
        let start = first / per_line;
        let lines = start..start + lines.div_ceil(lines.div_ceil(BESIDE));
        // From the last on, so that there is room for all at once.
        for k in (0..per_line).rev() {
            let elements = k * leaf..((k + 1) * leaf).min(line);
            let block = reader.read(elements.clone(), lines.clone())?;
            let rows = list((0..elements.len()).map(|row| block.row(row)))?;
            to.keep_beside(k, per_line, &rows)?;
        }
        to.take_kept()?;
        Ok(first + lines.len() * per_line)
    }

    /// Hands over a few leaves of one line, or a few lines of one leaf each.
    fn feed_line(
        &self,
        reader: &mut RowReader<'_, T>,
        leaves: Range<usize>,
        to: &mut dyn Folding<T>,
    ) -> Result<(), Stop> {
        let (line, within) =
            (leaves.start / self.leaves.per_line, leaves.start % self.leaves.per_line);
        let start = within * self.leaves.leaf;
        let end = start + leaves.len() * self.leaves.leaf;
        let end = if self.leaves.per_line == 1 { end } else { end.min(self.leaves.line) };
        if self.in_pieces(reader) {
            let positions = self.positions(leaves.start, 1, leaves.len())?;
            for (k, first) in (start..end).step_by(self.leaves.leaf).enumerate() {
                let run = reader.part(line, first..end.min(first + self.leaves.leaf))?;
                to.take(&[run], positions.get(k..=k).unwrap_or_default())?;
            }
            return Ok(());
        }
        if self.is_flat() {
            let block = reader.read(line..line + 1, start..end)?;
            return Ok(self.hand(leaves.start, block.row(0), to)?);
        }
        let columns = self.rows.columns();
        let rows_per_line = self.leaves.line / columns;
        let first = line * rows_per_line + start / columns;
        let rows = (end - start) / columns;
        let block = reader.read(first..first + rows, 0..columns)?;
        Ok(self.hand(leaves.start, block.run(0..rows, &mut Vec::new())?, to)?)
    }

    /// Hands over so many whole lines, which a block consists of.
    fn hand_block(
        &self,
        block: &Block<'_, T>,
        first: usize,
        lines: usize,
        to: &mut dyn Folding<T>,
    ) -> Result<()> {
        let rows_per_line = self.leaves.line / self.rows.columns();
        // As many lines of one leaf as the nearest cache holds, should they be copied.
        let together = if self.leaves.per_line == 1 { TILE / self.leaves.line } else { 1 };
        let mut room = Vec::new();
        for line in (0..lines).step_by(together.max(1)) {
            let end = lines.min(line + together.max(1));
            let run = block.run(line * rows_per_line..end * rows_per_line, &mut room)?;
            self.hand(first + line * self.leaves.per_line, run, to)?;
        }
        Ok(())
    }

    /// Hands over leaves that lie one after another: of one line, or of several of one leaf each.
    fn hand(&self, first: usize, elements: &[T], to: &mut dyn Folding<T>) -> Result<()> {
        let leaf = self.leaves.leaf;
        if self.leaves.count() == 1 {
            return to.take_whole(elements, leaf);
        }
        let count = elements.len().div_ceil(leaf);
        if count > FEW {
            return to.take(&list(elements.chunks(leaf))?, &self.positions(first, 1, count)?);
        }
        // On the stack, as it takes about as long to fold a short row as to allocate lists.
        let (mut runs, mut positions) = ([elements; FEW], [0; FEW]);
        runs.iter_mut().zip(elements.chunks(leaf)).for_each(|(run, part)| *run = part);
        let positions = &mut positions[..if self.needs.positions { count } else { 0 }];
        positions.iter_mut().zip(first..).for_each(|(at, leaf)| *at = self.position(leaf));
        to.take(&runs[..count], positions)
    }

    /// Where the first elements of leaves stand among those of their results, if that matters: of every `step`-th
    /// leaf from the first on.
    fn positions(&self, first: usize, step: usize, count: usize) -> Result<Vec<usize>> {
        if !self.needs.positions {
            return Ok(Vec::new());
        }
        list((0..count).map(|k| self.position(first + k * step)))
    }

    /// The same of one leaf.
    fn position(&self, leaf: usize) -> usize {
        let (line, within) = (leaf / self.leaves.per_line, leaf % self.leaves.per_line);
        line % self.leaves.lines * self.leaves.line + within * self.leaves.leaf
    }

    /// Whether lines are evaluated from one end to the other.
    fn in_pieces(&self, reader: &RowReader<'_, T>) -> bool {
        self.is_flat() && reader.piece_size() == self.leaves.leaf
    }

    /// Whether every line is one row.
    fn is_flat(&self) -> bool {
        self.rows.columns() == self.leaves.line
    }
}
