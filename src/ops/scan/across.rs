//! Lanes side by side: the same scan of each, a row at a time.

use super::running::{Places, Running};
use crate::kernel::{self, Loop, PART, Part};
use crate::ops::along::{BLOCK, GROUP, Gap, Job, Panel, States};
use crate::ops::reduce::Reducer;
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

impl<S> Default for Lanes<S> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            groups: Vec::new(),
            before: Vec::new(),
            group: Vec::new(),
            pair: Vec::new(),
        }
    }
}

impl<S> Lanes<S> {
    pub(super) fn clear(&mut self) {
        let Self { blocks, groups, before, group, pair } = self;
        [blocks, groups, before, group, pair].into_iter().for_each(Vec::clear);
    }
}

/// The next rows of lanes side by side.
pub(super) struct Cross<'a, 'o, 'r, T: Copy, R: Reducer<T>> {
    pub(super) scan: &'a Running<'r, R, R::State>,
    pub(super) panel: &'a Panel<'a, T>,
    pub(super) rows: Range<usize>,
    pub(super) job: &'a Job<'a>,
    pub(super) lanes: &'a mut Lanes<R::State>,
    pub(super) results: &'a mut Vec<R::Out>,
    pub(super) out: &'a mut Part<'o, R::Out>,
}

impl<T: Copy, R: Reducer<T>> Loop for Cross<'_, '_, '_, T, R> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { scan, panel, rows, job, lanes, results, out } = self;
        let (extent, reverse) = (scan.extent, scan.reverse);
        let row = |k: usize| panel.row(if reverse { rows.end - 1 - k } else { k - rows.start });
        for k in rows.clone() {
            let position = Places { extent, reverse, first: k }.position(0);
            let (now, next) = (row(k), row((k + 1).min(rows.end - 1)));
            scan.turn(k, lanes);
            let mut start = 0;
            for part in now.chunks(2 * PART) {
                kernel::prefetch(next, start, part.len());
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
        }
    }
}

impl<R, S: Clone> Running<'_, R, S> {
    /// Takes the next element of some lanes side by side, the one of number `k`, and adds their results;
    /// tells which is the first that has none.
    #[inline(always)]
    fn row<T: Copy>(
        &self,
        row: &[T],
        start: usize,
        k: usize,
        position: usize,
        lanes: &mut Lanes<S>,
        results: &mut Vec<R::Out>,
    ) -> Gap
    where
        R: Reducer<T, State = S>,
    {
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
    pub(super) fn step<T: Copy>(
        &self,
        row: &[T],
        at: Range<usize>,
        phase: usize,
        position: usize,
        lanes: &mut Lanes<S>,
    ) where
        R: Reducer<T, State = S>,
    {
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
    pub(super) fn turn<T: Copy>(&self, k: usize, lanes: &mut Lanes<S>)
    where
        R: Reducer<T, State = S>,
    {
        if !R::ASSOCIATIVE || !k.is_multiple_of(GROUP) {
            return;
        }
        let Lanes { blocks, groups, before, group, pair } = lanes;
        self.append(groups, group);
        pair.clear();
        if k.is_multiple_of(BLOCK) {
            self.append(blocks, groups);
        }
        before.clear();
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

    /// Joins later states, which are forgotten, to earlier ones.
    #[inline(always)]
    pub(super) fn append<T: Copy>(&self, earlier: &mut Vec<S>, later: &mut Vec<S>)
    where
        R: Reducer<T, State = S>,
    {
        if earlier.is_empty() {
            std::mem::swap(earlier, later);
        }
        for (earlier, later) in earlier.iter_mut().zip(later.drain(..)) {
            self.reducer.combine(earlier, later);
        }
    }

    /// The results of some lanes side by side.
    #[inline(always)]
    fn across<T: Copy>(
        &self,
        lanes: &Lanes<S>,
        at: Range<usize>,
        paired: bool,
        results: &mut Vec<R::Out>,
    ) -> Gap
    where
        R: Reducer<T, State = S>,
    {
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
