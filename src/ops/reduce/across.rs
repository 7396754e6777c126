//! Folds across rows: the last axis is kept, and its results are made side by side.

use super::Reducer;
use super::folding::{Columns, FoldingRows, Groups, Needs, append_results};
use super::loops::{self, COLUMNS};
use super::tasks::{Failure, in_tasks};
use super::tree::{Parts, in_parts};
use crate::error::Result;
use crate::expr::{Boxed, COPIED_BYTES, MIN_READ, RowReader, Rows, Stop, room};
use crate::kernel::{GRAIN, PARALLEL, threads};
use crate::memory::list;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// Rows of a leaf.
pub(super) const LEAF: usize = 64;
/// Rows of groups that are folded together.
pub(super) const TOGETHER: usize = 512;
/// Fewest columns of a block of its own.
const NARROW: usize = 512;

/// A fold across rows, cut into leaves of a fixed number of rows.
pub(super) struct Across<'e, T> {
    rows: Rows<'e, T>,
    needs: Needs,
    /// Rows that are folded to one.
    height: usize,
    /// How many groups of such rows there are.
    groups: usize,
}

/// Neighbouring results: those of some columns in one group of rows.
struct Item {
    group: usize,
    columns: Range<usize>,
}

/// Items, and how they are shared out.
struct Shares {
    /// Neighbouring results of a group, and of an item.
    width: usize,
    columns: usize,
    /// Items of a group.
    per_group: usize,
    items: usize,
    /// Most items of a task.
    task: usize,
    /// Items after which blocks of storage end.
    every: usize,
    /// Most leaves of an item that one task folds.
    grain: usize,
}

impl Shares {
    fn item(&self, number: usize) -> Item {
        let start = number % self.per_group * self.columns;
        Item {
            group: number / self.per_group,
            columns: start..(start + self.columns).min(self.width),
        }
    }
}

impl<'e, T: Copy + Send + Sync + 'e> Across<'e, T> {
    #[inline(never)]
    pub(super) fn new(
        e: &Boxed<'e, T>,
        shape: &Shape,
        reduced: &[bool],
        needs: Needs,
    ) -> Result<Self> {
        // As many of the kept axes after all reduced ones as are one without a stage.
        let most = reduced.iter().rev().take_while(|reduced| !**reduced).count();
        let order = |inner: usize| -> SmallVec<[usize; 8]> {
            let first = shape.rank() - inner;
            let axes = |wanted: bool| (0..first).filter(move |&axis| reduced[axis] == wanted);
            axes(false).chain(axes(true)).chain(first..shape.rank()).collect()
        };
        let height = (0..shape.rank()).filter(|&k| reduced[k]).map(|k| shape[k]).product();
        let of = |rows: Rows<'e, T>, inner: usize| {
            let axes = (0..shape.rank() - inner).filter(|&k| !reduced[k]);
            Self { rows, needs, height, groups: axes.map(|k| shape[k]).product() }
        };
        let mut best = None;
        for inner in (2..=most).rev() {
            let own = of(Rows::ordered(e, &order(inner), inner)?, inner);
            if own.rows.columns() * own.groups * own.height == shape.count()? {
                best = Some(own);
                break;
            }
        }
        let is_best = |own: &Self| own.groups == 1 || room(e, 0).is_none();
        if let Some(best) = best.take_if(|own| is_best(own)) {
            return Ok(best);
        }
        let apart = of(Rows::ordered(e, &order(1), 1)?, 1);
        if apart.rows.reloads_blocks() {
            for inner in (2..=most).rev() {
                if let Some(rows) = Rows::across_lines(e, &order(inner), inner)? {
                    return Ok(of(rows, inner));
                }
            }
        }
        Ok(best.unwrap_or(apart))
    }

    /// Whether memory would be read in windows of many groups, each of few elements that lie far apart, or blocks of storage
    /// in no order, and is small enough to be copied first.
    pub(super) fn is_torn(&self) -> bool {
        let elements = self.height.saturating_mul(self.rows.columns());
        let bytes = elements.saturating_mul(self.groups).saturating_mul(size_of::<T>());
        let torn = self.rows.window().is_some() && !self.rows.is_far();
        let torn = torn && self.groups > 1 && elements < MIN_READ;
        (torn && bytes <= COPIED_BYTES) || self.rows.are_mixed()
    }

    pub(super) fn results<R: Reducer<T>>(&self, reducer: &R) -> Result<Vec<R::Out>, Failure> {
        let shares = self.shares();
        let every = self.rows.sides_of_blocks()[0].div_ceil(LEAF);
        let tasks = Parts { every: shares.every, ..Parts::of(shares.task) };
        in_tasks(0..shares.items, tasks.for_threads(shares.items), &|range| {
            let mut results = Vec::new();
            let mut reader = self.rows.open();
            if shares.per_group == 1 && self.height <= LEAF && self.needs.associative {
                let mut groups = Groups::new(reducer, self.height, range.start * shares.width);
                self.feed_groups(&mut reader, range, &mut groups)?;
                return Ok(groups.results);
            }
            // Where items are groups, rows of one follow those of the other.
            let last = shares.item(range.end - 1);
            let end = if shares.per_group == 1 { (last.group + 1) * self.height } else { 0 };
            for number in range {
                let item = shares.item(number);
                let first = item.group * shares.width + item.columns.start;
                let leaves = 0..self.height.div_ceil(LEAF);
                let mut states = if shares.grain >= leaves.len() {
                    let mut columns = Columns::new(reducer);
                    self.feed(&mut reader, &item, leaves, end, &mut columns)?;
                    columns.into_states()
                } else {
                    let part = |leaves: Range<usize>| {
                        let mut columns = Columns::of_part(reducer, leaves.start);
                        self.feed(&mut self.rows.open(), &item, leaves, 0, &mut columns)?;
                        Ok::<_, Failure>(columns.into_pairs())
                    };
                    let combine = |states: &mut Vec<R::State>, later: Vec<R::State>| {
                        loops::combine_columns(reducer, states, later);
                    };
                    let parts = Parts { every, ..Parts::of(shares.grain) };
                    let mut pairs = in_parts(leaves, parts, &part, &combine)?;
                    pairs.finish(combine).ok_or(Failure::Stop(Stop::Done))?
                };
                append_results(reducer, &mut states, first, &mut results)?;
            }
            Ok(results)
        })
    }

    /// How the work is shared out.
    #[inline(never)]
    fn shares(&self) -> Shares {
        let width = self.rows.columns();
        let total = self.height.saturating_mul(self.groups).saturating_mul(width);
        let parallel = total >= PARALLEL && threads() > 1;
        let tasks = if parallel { 2 * threads() } else { 1 };
        let fitting = if self.rows.open().reads_across() { NARROW / 4 } else { COLUMNS };
        // All rows of some columns at once, where storage lies across them.
        let fitting = match self.rows.window() {
            Some(window) if self.rows.is_across() => (window / self.height).max(LEAF),
            _ => fitting,
        };
        // Storage in runs is shared out by rows, as parts of rows are short runs.
        let enough = self.height.div_ceil(LEAF) >= tasks && self.needs.associative;
        let by_rows = self.rows.in_runs() && enough;
        let apart = if by_rows { 1 } else { tasks.div_ceil(self.groups) };
        let columns = width.div_ceil(apart).max(NARROW).min(fitting).min(width);
        let [high, wide] = self.rows.sides_of_blocks();
        let rows = if self.rows.comes_back() { high.min(self.height) } else { self.height };
        // Several groups of a layer of blocks that is read as a whole.
        let window = self.rows.window().unwrap_or(0);
        let is_layer = self.rows.holds_few()
            && self.height < high
            && high.saturating_mul(width) <= window
            && self.needs.associative;
        let columns = match self.rows.block_width() {
            _ if is_layer => width,
            Some(block) => block.min(width),
            // Whole blocks, as far as a window holds their columns.
            None if wide <= COLUMNS.max(window / rows.max(1)) => {
                columns.next_multiple_of(wide).min(width)
            }
            None => columns,
        };
        let per_group = width.div_ceil(columns);
        let items = self.groups * per_group;
        let leaves = self.height.div_ceil(LEAF);
        let few = parallel && items < tasks && self.needs.associative;
        let grain = if few {
            (leaves / (4 * threads())).max(GRAIN / (LEAF * columns)).max(1)
        } else {
            usize::MAX
        };
        let task = if parallel && !few {
            (items / (4 * threads())).max(GRAIN.div_ceil(self.height * columns))
        } else {
            usize::MAX
        };
        let every = if is_layer { high / self.height.max(1) } else { 1 };
        Shares { width, columns, per_group, items, task, every, grain }
    }

    /// What is folded, and how it is read, in words.
    pub(super) fn explain(&self, e: &Boxed<'_, T>) -> Result<Vec<String>> {
        let width = self.rows.columns();
        let folds = format!(
            "across rows: {} results of {} rows, in leaves of {} rows",
            self.groups * width,
            self.height,
            LEAF.min(self.height)
        );
        let mut lines = vec![folds];
        lines.extend(self.rows.operand_in_words(self.is_torn().then_some(e))?);
        Ok(lines)
    }

    /// Hands over some groups of one leaf each, many at a time.
    #[inline(never)]
    fn feed_groups(
        &self,
        reader: &mut RowReader<'_, T>,
        groups: Range<usize>,
        to: &mut dyn FoldingRows<T>,
    ) -> Result<(), Failure> {
        let (width, height) = (self.rows.columns(), self.height);
        let rows = groups.start * height..groups.end * height;
        reader.up_to(rows.end);
        reader.follow(rows.clone(), 0..width, true);
        let together = (TOGETHER.min(reader.block_size() / width) / height).max(1) * height;
        let mut first = rows.start;
        while first < rows.end {
            let end = (first + together).min(rows.end);
            let whole = (self.rows.end_in_blocks(first..end) - first) / height * height;
            let some = first..if whole > 0 { first + whole } else { end };
            first = some.end;
            match reader.read(some.clone(), 0..width) {
                Ok(block) => {
                    to.take(&list((0..some.len()).map(|k| block.row(k)))?, 0)?;
                    continue;
                }
                Err(stop) if some.len() <= height => return Err(stop.into()),
                // A group in front of the element that failed may have no result, however many are read at once.
                Err(_) => {}
            }
            for first in some.step_by(height) {
                let block = reader.read(first..first + height, 0..width)?;
                to.take(&list((0..height).map(|k| block.row(k)))?, 0)?;
            }
        }
        Ok(())
    }

    /// Hands over some leaves of an item, in order. Rows up to `end` may be read after them.
    #[inline(never)]
    fn feed(
        &self,
        reader: &mut RowReader<'_, T>,
        item: &Item,
        leaves: Range<usize>,
        end: usize,
        to: &mut dyn FoldingRows<T>,
    ) -> Result<(), Failure> {
        let last = (leaves.end * LEAF).min(self.height);
        reader.up_to(end.max(item.group * self.height + last));
        let width = self.rows.columns();
        let (first, last) =
            (self.leaf(item, leaves.start).0.start, item.group * self.height + last);
        reader.follow(first..last, item.columns.start..width, true);
        for leaf in leaves {
            let (rows, position) = self.leaf(item, leaf);
            let count = rows.len();
            let block = reader.read(rows, item.columns.clone())?;
            let rows: SmallVec<[&[T]; LEAF]> = (0..count).map(|k| block.row(k)).collect();
            to.take(&rows, position)?;
        }
        Ok(())
    }

    /// The rows of a leaf, and the position of their elements.
    fn leaf(&self, item: &Item, leaf: usize) -> (Range<usize>, usize) {
        let position = leaf * LEAF;
        let first = item.group * self.height + position;
        (first..first + LEAF.min(self.height - position), position)
    }
}
