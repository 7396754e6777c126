//! Lanes side by side: the same scan of each, a row at a time.

use super::running::{Places, Running};
use crate::error::Result;
use crate::kernel::{self, Columns, Kernel, PART, Slots};
use crate::memory::{default_of_fields, try_reserve_exact};
use crate::ops::along::{BLOCK, GROUP, Gap, Job, Panel, States};
use crate::ops::reduce::Reducer;
use std::array::from_fn;
use std::ops::Range;

/// What is known of lanes side by side: a state of each, or none of any.
pub(super) struct Lanes<S> {
    /// Of the blocks before.
    pub(super) blocks: Vec<S>,
    /// Of the groups before in the block.
    pub(super) groups: Vec<S>,
    /// Of all that comes before the group.
    before: Vec<S>,
    /// Of the group, or the first two elements of it.
    pub(super) group: Vec<S>,
    /// Of the other elements of the group.
    pair: Vec<S>,
}

default_of_fields!(Lanes<S> { blocks, groups, before, group, pair });

impl<S> Lanes<S> {
    /// Forgets what is known and makes room for `width` lanes.
    pub(super) fn reset(&mut self, width: usize) -> Result<()> {
        let Self { blocks, groups, before, group, pair } = self;
        [blocks, groups, before, group, pair].into_iter().try_for_each(|states| {
            states.clear();
            try_reserve_exact(states, width)
        })
    }
}

/// The next rows of lanes side by side.
pub(super) struct Cross<'a, 'o, 'r, T: Copy, R: Reducer<T>> {
    pub(super) scan: &'a Running<'r, T, R>,
    pub(super) panel: &'a Panel<'a, T>,
    pub(super) rows: Range<usize>,
    pub(super) job: &'a Job<'a>,
    pub(super) lanes: &'a mut Lanes<R::State>,
    pub(super) results: &'a mut Vec<R::Out>,
    pub(super) out: &'a mut Slots<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Kernel for Cross<'_, '_, '_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { scan, panel, rows, job, lanes, results, out } = self;
        let (extent, reverse) = (scan.extent, scan.reverse);
        let row = |k: usize| panel.row(if reverse { rows.end - 1 - k } else { k - rows.start });
        let mut k = rows.start;
        while k < rows.end {
            let group = || from_fn(|j| row(k + j));
            if k % GROUP == 0 && k + GROUP <= rows.end && scan.takes_groups() {
                let next = (k + 2 * GROUP <= rows.end).then(|| from_fn(|j| row(k + GROUP + j)));
                out.put(results);
                results.clear();
                if scan.group(group(), next, k, job, lanes, out) {
                    k += GROUP;
                    continue;
                }
            }
            let position = Places { extent, reverse, first: k }.position(0);
            let (now, next) = (row(k), row((k + 1).min(rows.end - 1)));
            scan.turn(k, lanes);
            let mut start = 0;
            for part in now.chunks(2 * PART) {
                kernel::prefetch_span(next, start, part.len());
                if let Some((lane, reason)) = scan.row(part, start, k, position, lanes, results) {
                    job.undefined(position, start + lane, reason);
                }
                if !reverse {
                    out.drain(results);
                }
                start += part.len();
            }
            if reverse {
                out.put_back(results);
                results.clear();
            }
            k += 1;
        }
    }
}

/// The rows of a group, taken at once.
struct Group<'a, 'r, T: Copy, R: Reducer<T>> {
    scan: &'a Running<'r, T, R>,
    rows: [&'a [T]; GROUP],
    /// The rows after them, to be fetched into the cache.
    next: Option<[&'a [T]; GROUP]>,
    /// Number of the first row.
    first: usize,
    job: &'a Job<'a>,
    blocks: &'a [R::State],
    groups: &'a mut Vec<R::State>,
}

impl<T: Copy, R: Reducer<T>> Columns<R::Out, GROUP> for Group<'_, '_, T, R> {
    #[inline(always)]
    fn compute(&mut self, start: usize, mut results: [&mut [R::Out]; GROUP]) {
        let reducer = self.scan.reducer;
        let count = results[0].len();
        let at = start..start + count;
        if let Some(next) = self.next {
            for row in next {
                kernel::prefetch_span(row, start, count);
            }
        }
        let rows = self.rows.map(|row| &row[at.clone()]);
        if size_of::<R::State>() <= SMALL_BYTES && self.several(rows, at.clone(), &mut results) {
            return;
        }
        let mut groups = std::mem::take(self.groups);
        let blocks = self.blocks.get(at.clone());
        if let Some(groups) = groups.get_mut(at.clone()) {
            for (k, group) in groups.iter_mut().enumerate() {
                let before = match blocks {
                    Some(blocks) => reducer.joined(&blocks[k], group),
                    None => group.clone(),
                };
                let state = self.take(rows, start, k, before, &mut results);
                reducer.combine(group, state);
            }
        } else if let Some(blocks) = blocks {
            for (k, before) in blocks.iter().enumerate() {
                groups.push(self.take(rows, start, k, before.clone(), &mut results));
            }
        }
        *self.groups = groups;
    }
}

/// Lanes that are taken at once, if their states are numbers.
const SEVERAL: usize = 32;
const SMALL_BYTES: usize = 8;

impl<T: Copy, R: Reducer<T>> Group<'_, '_, T, R> {
    /// Takes [`SEVERAL`] lanes: in arrays of which the compiler knows that they lie apart, so that it finds vectors. Returns
    /// `false` if there are not just so many, or nothing comes before in the block.
    #[inline(always)]
    fn several(
        &mut self,
        rows: [&[T]; GROUP],
        at: Range<usize>,
        results: &mut [&mut [R::Out]; GROUP],
    ) -> bool {
        let reducer = self.scan.reducer;
        let [Some(a), Some(b), Some(c), Some(d)] = rows.map(<[T]>::first_chunk::<SEVERAL>) else {
            return false;
        };
        let [p, q, r, s] = results.each_mut().map(|row| row.first_chunk_mut::<SEVERAL>());
        let (Some(p), Some(q), Some(r), Some(s)) = (p, q, r, s) else { return false };
        let known = self.groups.get(at.clone()).and_then(<[_]>::first_chunk::<SEVERAL>);
        let Some(mut groups) = known.filter(|_| at.len() == SEVERAL).cloned() else { return false };
        let blocks = self.blocks.get(at.clone()).and_then(<[_]>::first_chunk::<SEVERAL>);
        let before = match blocks {
            Some(blocks) => from_fn(|k| reducer.joined(&blocks[k], &groups[k])),
            None => groups.clone(),
        };
        let rows: [&[T]; GROUP] = [a, b, c, d];
        let mut results: [&mut [R::Out]; GROUP] = [p, q, r, s];
        for (k, before) in before.into_iter().enumerate() {
            let state = self.take(rows, at.start, k, before, &mut results);
            reducer.combine(&mut groups[k], state);
        }
        self.groups[at].clone_from_slice(&groups);
        true
    }

    /// Writes the results of one lane, given what comes before, and returns the state of the group.
    #[inline(always)]
    fn take(
        &self,
        rows: [&[T]; GROUP],
        start: usize,
        k: usize,
        before: R::State,
        results: &mut [&mut [R::Out]; GROUP],
    ) -> R::State {
        let reducer = self.scan.reducer;
        let states = reducer.prefixes(&rows.map(|row| row[k]), |row| self.first + row);
        let group = states[GROUP - 1].clone();
        for (row, (state, results)) in states.iter().zip(results).enumerate() {
            let state = reducer.joined(&before, state);
            if let Some(reason) = reducer.undefined(&state) {
                self.job.undefined(self.first + row, start + k, reason);
            }
            results[k] = reducer.finish(state);
        }
        group
    }
}

impl<T: Copy, R: Reducer<T>> Running<'_, T, R> {
    /// Whether groups of rows can be taken at once.
    fn takes_groups(&self) -> bool {
        R::ASSOCIATIVE && !self.exclusive && !self.reverse
    }

    /// Takes the rows of a group at once, of which the first has number `k`, and writes their results. So
    /// states of a group are in registers and those before are loaded once. Returns `false` and takes
    /// nothing if nothing is known yet or rows cannot be written so.
    #[inline(always)]
    fn group(
        &self,
        rows: [&[T]; GROUP],
        next: Option<[&[T]; GROUP]>,
        k: usize,
        job: &Job<'_>,
        lanes: &mut Lanes<R::State>,
        out: &mut Slots<'_, R::Out>,
    ) -> bool {
        let width = rows[0].len();
        let Some(&seed) = rows[0].first() else { return false };
        let before = [&lanes.blocks, &lanes.groups, &lanes.group].map(Vec::len);
        if before == [0; 3] {
            return false;
        }
        self.settle(k, lanes);
        let Lanes { blocks, groups, .. } = lanes;
        let seed = self.reducer.finish(self.reducer.first_at(seed, k));
        let columns = Group { scan: self, rows, next, first: k, job, blocks, groups };
        out.put_rows(width, seed, columns)
    }

    /// Takes the next element of some lanes side by side, the one of number `k`, and adds their results;
    /// returns which is the first that has none.
    #[inline(always)]
    fn row(
        &self,
        row: &[T],
        start: usize,
        k: usize,
        position: usize,
        lanes: &mut Lanes<R::State>,
        results: &mut Vec<R::Out>,
    ) -> Gap {
        let at = start..start + row.len();
        let phase = if R::ASSOCIATIVE { k % GROUP } else { 0 };
        if self.exclusive {
            let gap = self.across(lanes, at.clone(), phase == 3, results);
            self.step(row, at, phase, position, lanes);
            return gap;
        }
        self.step(row, at.clone(), phase, position, lanes);
        self.across(lanes, at, phase == 2, results)
    }

    /// Takes the next element of some lanes side by side.
    #[inline(always)]
    pub(super) fn step(
        &self,
        row: &[T],
        at: Range<usize>,
        phase: usize,
        position: usize,
        lanes: &mut Lanes<R::State>,
    ) {
        let states = if phase < 2 { &mut lanes.group } else { &mut lanes.pair };
        match states.get_mut(at.clone()) {
            Some(states) => {
                for (state, &x) in states.iter_mut().zip(row) {
                    self.reducer.step_at(state, x, position);
                }
            }
            None => states.extend(row.iter().map(|&x| self.reducer.first_at(x, position))),
        }
        if phase == 3 {
            for (state, pair) in lanes.group[at.clone()].iter_mut().zip(&lanes.pair[at]) {
                self.reducer.combine(state, pair.clone());
            }
        }
    }

    /// Begins a group of lanes side by side with the element of number `k`.
    #[inline(always)]
    pub(super) fn turn(&self, k: usize, lanes: &mut Lanes<R::State>) {
        if !R::ASSOCIATIVE || !k.is_multiple_of(GROUP) {
            return;
        }
        self.settle(k, lanes);
        let Lanes { blocks, groups, before, .. } = lanes;
        match (blocks.as_slice(), groups.as_slice()) {
            ([], states) | (states, []) => before.extend_from_slice(states),
            (blocks, groups) => {
                before.extend(
                    blocks
                        .iter()
                        .zip(groups)
                        .map(|(block, group)| self.reducer.joined(block, group)),
                );
            }
        }
    }

    /// Joins the group, and at the end of a block all groups, to what comes before element `k`.
    #[inline(always)]
    fn settle(&self, k: usize, lanes: &mut Lanes<R::State>) {
        let Lanes { blocks, groups, before, group, pair } = lanes;
        self.append(groups, group);
        if k.is_multiple_of(BLOCK) {
            self.append(blocks, groups);
        }
        pair.clear();
        before.clear();
    }

    /// Joins later states, which are forgotten, to earlier ones.
    #[inline(always)]
    pub(super) fn append(&self, earlier: &mut Vec<R::State>, later: &mut Vec<R::State>) {
        if earlier.is_empty() {
            std::mem::swap(earlier, later);
        }
        for (earlier, later) in earlier.iter_mut().zip(later.drain(..)) {
            self.reducer.combine(earlier, later);
        }
    }

    /// The results of some lanes side by side.
    #[inline(always)]
    fn across(
        &self,
        lanes: &Lanes<R::State>,
        at: Range<usize>,
        paired: bool,
        results: &mut Vec<R::Out>,
    ) -> Gap {
        let (before, group) = (lanes.before.get(at.clone()), lanes.group.get(at.clone()));
        let pair = lanes.pair.get(at.clone()).filter(|_| paired);
        match (before, group, pair) {
            (None, None, _) => {
                let empty = self.reducer.empty();
                self.reducer.emit(at.filter_map(|_| empty.clone()), results)
            }
            (Some(states), None, _) | (None, Some(states), None) => {
                self.reducer.emit(states.iter().cloned(), results)
            }
            (Some(before), Some(group), None) => {
                let pairs = before.iter().zip(group);
                self.reducer
                    .emit(pairs.map(|(before, state)| self.reducer.joined(before, state)), results)
            }
            (None, Some(group), Some(pair)) => {
                let pairs = group.iter().zip(pair);
                self.reducer
                    .emit(pairs.map(|(group, pair)| self.reducer.joined(group, pair)), results)
            }
            (Some(before), Some(group), Some(pair)) => {
                let all = before.iter().zip(group.iter().zip(pair));
                let all = all.map(|(before, (group, pair))| {
                    self.reducer.joined(before, &self.reducer.joined(group, pair))
                });
                self.reducer.emit(all, results)
            }
        }
    }
}
