//! Folds across rows: the last axis is kept, and its results are made side by side.

use super::Reducer;
use super::fold::{Failure, finish, in_tasks, rows};
use super::loops;
use super::tree::{Pairwise, halves};
use crate::error::Result;
use crate::expr::{Expr, Rows, Stop};
use crate::kernel::{GRAIN, PARALLEL, threads};
use crate::memory::{refill, try_reserve};
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// Rows of a leaf.
const LEAF: usize = 64;
/// Most columns of a block, where rows lie in memory and where they are evaluated.
const COLUMNS: usize = 4096;
/// Fewest columns of a block of its own.
const NARROW: usize = 512;

/// A fold across rows, cut into leaves of a fixed number of rows.
pub(super) struct Across<'e, E: Expr + 'e, R> {
    rows: Rows<'e, E::Elem>,
    reducer: &'e R,
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

impl<'e, E: Expr, R: Reducer<E::Elem>> Across<'e, E, R> {
    pub(super) fn new(e: &'e E, shape: &Shape, reduced: &[bool], reducer: &'e R) -> Result<Self> {
        let last = shape.rank() - 1;
        let axes = |wanted: bool| (0..last).filter(move |&axis| reduced[axis] == wanted);
        let order: Vec<usize> = axes(false).chain(axes(true)).chain([last]).collect();
        Ok(Self {
            rows: rows(e, shape, &order, 0)?,
            reducer,
            height: axes(true).map(|axis| shape[axis]).product(),
            groups: axes(false).map(|axis| shape[axis]).product(),
        })
    }

    pub(super) fn results(&self) -> Result<Vec<R::Out>, Failure> {
        let width = self.rows.shape().last().copied().unwrap_or(1);
        let total = self.height.saturating_mul(self.groups).saturating_mul(width);
        let parallel = total >= PARALLEL && threads() > 1;
        let tasks = if parallel { 2 * threads() } else { 1 };
        let fitting = if self.rows.open().crosses() { NARROW / 4 } else { COLUMNS };
        let columns =
            width.div_ceil(tasks.div_ceil(self.groups)).max(NARROW).min(fitting).min(width);
        let per_group = width.div_ceil(columns);
        let items = self.groups * per_group;
        let item = |number: usize| {
            let start = number % per_group * columns;
            Item { group: number / per_group, columns: start..(start + columns).min(width) }
        };
        let leaves = self.height.div_ceil(LEAF);
        let few = parallel && items < tasks && R::ASSOCIATIVE;
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
        in_tasks(0..items, task, &|range| {
            let mut results = Vec::new();
            for item in range.map(item) {
                let first = item.group * width + item.columns.start;
                try_reserve(&mut results, item.columns.len())?;
                for (k, state) in self.item(&item, grain)?.into_iter().enumerate() {
                    results.push(finish(self.reducer, state, first + k)?);
                }
            }
            Ok(results)
        })
    }

    /// What is folded, and how it is read, in words.
    pub(super) fn explain(&self) -> [String; 2] {
        let width = self.rows.shape().last().copied().unwrap_or(1);
        let folds = format!(
            "across rows: {} results of {} rows, in leaves of {} rows",
            self.groups * width,
            self.height,
            LEAF.min(self.height)
        );
        [folds, format!("operand: {}", self.rows.explain())]
    }

    /// The states of some columns.
    fn item(&self, item: &Item, grain: usize) -> Result<Vec<R::State>, Stop> {
        if !R::ASSOCIATIVE {
            return self.in_order(item);
        }
        let combine = |states: &mut Vec<R::State>, later: Vec<R::State>| {
            loops::combine_columns(self.reducer, states, later);
        };
        let part = |leaves: Range<usize>| {
            let mut reader = self.rows.open();
            let mut pairs = Pairwise::default();
            for leaf in leaves {
                let (rows, position) = self.leaf(item, leaf);
                let count = rows.len();
                let block = reader.read(rows, item.columns.clone())?;
                let rows: SmallVec<[&[E::Elem]; LEAF]> = (0..count).map(|k| block.row(k)).collect();
                let mut states = Vec::new();
                loops::fold_columns(self.reducer, &rows, position, &mut states)?;
                pairs.push(states, combine);
            }
            Ok(pairs.finish(combine).unwrap_or_default())
        };
        halves(0..self.height.div_ceil(LEAF), grain, &part, &combine)
    }

    /// Takes rows one after another, for reducers that cannot join states.
    fn in_order(&self, item: &Item) -> Result<Vec<R::State>, Stop> {
        let mut reader = self.rows.open();
        let mut states: Vec<R::State> = Vec::new();
        for leaf in 0..self.height.div_ceil(LEAF) {
            let (rows, position) = self.leaf(item, leaf);
            let count = rows.len();
            let block = reader.read(rows, item.columns.clone())?;
            for (k, position) in (0..count).zip(position..) {
                if position == 0 {
                    let row = block.row(k).iter();
                    refill(&mut states, row.map(|&x| self.reducer.first_at(x, position)))?;
                    continue;
                }
                for (state, &x) in states.iter_mut().zip(block.row(k)) {
                    self.reducer.step_at(state, x, position);
                }
            }
        }
        Ok(states)
    }

    /// The rows of a leaf, and the position of their elements.
    fn leaf(&self, item: &Item, leaf: usize) -> (Range<usize>, usize) {
        let position = leaf * LEAF;
        let first = item.group * self.height + position;
        (first..first + LEAF.min(self.height - position), position)
    }
}
