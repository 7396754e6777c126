//! Ordering, merging, transposing and blocking the loops of a nest, and cutting it for threads.

use super::footprint::{Reach, table};
use super::gather::merged;
use super::{Blocking, Loop, Nest, Operand, PerOperand, Piece, Step, Supply};
use crate::kernel::TILE;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Reverse;

/// Side of a block of a transposed nest.
const SIDE: usize = 64;

impl Nest {
    pub(super) fn new<'p>(
        operands: &[Operand<'_>],
        pieces: impl Iterator<Item = &'p Piece>,
        tables: &mut Vec<Cow<'_, [usize]>>,
        blocking: Blocking,
    ) -> (Self, Option<Self>) {
        let mut nest = Self {
            loops: SmallVec::new(),
            bases: operands.iter().map(|operand| operand.base).collect(),
            block: [1, 1],
            transposed: false,
            row_by_row: true,
        };
        for piece in pieces {
            for (base, more) in nest.bases.iter_mut().zip(&piece.bases) {
                *base += more;
            }
            nest.loops.extend(piece.loops.iter().cloned());
        }
        nest.split_lines(operands);
        // A loop over one digit of a table still has an entry to add, which a tile does.
        nest.loops.retain(|l| l.extent > 1 || l.steps.iter().any(|step| step.table.is_some()));
        nest.loops.sort_by_key(|l| Reverse(l.cost()));
        nest.coalesce(operands);
        let in_order = nest.loops.clone();
        nest.transpose_tiles();
        let mut rest = None;
        if nest.is_small() && operands.iter().all(|own| own.supply == Supply::Memory) {
            rest = nest.merge_columns(in_order, tables);
        }
        // Storage in blocks keeps rows apart, as it is cut along axes.
        if !operands.iter().any(|own| matches!(own.supply, Supply::Blocks(_))) {
            nest.lengthen_rows(tables);
        }
        for nest in rest.iter_mut().chain([&mut nest]) {
            nest.set_block(blocking, operands);
        }
        (nest, rest)
    }

    /// Splits loops that go on from one line of storage in blocks to the next, and are whole lines: blocks are cut along
    /// axes.
    fn split_lines(&mut self, operands: &[Operand<'_>]) {
        for (k, operand) in operands.iter().enumerate() {
            let (Supply::Blocks(grid), None) = (operand.supply, operand.relocate) else { continue };
            let mut l = 0;
            while let Some(own) = self.loops.get(l) {
                let lowest = self.lowest(k);
                let line = match own.steps.iter().all(|step| step.table.is_none()) {
                    true => grid.line(lowest, own.steps[k].stride, own.extent),
                    false => None,
                };
                let Some(line) = line else {
                    l += 1;
                    continue;
                };
                let own = &mut self.loops[l];
                let lines = |step: &Step| Step {
                    stride: step.stride.wrapping_mul(line as isize),
                    table: None,
                };
                let steps: PerOperand<Step> = own.steps.iter().map(lines).collect();
                let rows = Loop { extent: own.extent / line, steps };
                own.extent = line;
                self.loops.insert(l, rows);
            }
        }
    }

    /// The lowest place of an operand, but for tables.
    fn lowest(&self, operand: usize) -> isize {
        let falls = self.loops.iter().filter(|l| l.steps[operand].stride < 0);
        falls.fold(self.bases[operand], |at, l| {
            at.wrapping_add(l.steps[operand].stride.wrapping_mul(l.extent as isize - 1))
        })
    }

    /// Merges neighbouring loops that every operand steps through as if they were one: along one axis, if it is storage in
    /// blocks, which are cut along axes.
    fn coalesce(&mut self, operands: &[Operand<'_>]) {
        let in_blocks = |own: &(usize, &Operand<'_>)| matches!(own.1.supply, Supply::Blocks(_));
        let in_blocks: SmallVec<[_; 4]> = operands.iter().enumerate().filter(in_blocks).collect();
        let mut k = self.loops.len();
        while k >= 2 {
            k -= 1;
            let (outer, inner) = (&self.loops[k - 1], &self.loops[k]);
            let length = inner.extent as isize;
            let merges = outer.steps.iter().zip(&inner.steps).all(|(outer, inner)| {
                let straight = outer.table.is_none() && inner.table.is_none();
                straight && inner.stride.checked_mul(length) == Some(outer.stride)
            });
            let extent = outer.extent.saturating_mul(inner.extent);
            let stays = |&(number, own): &(usize, &Operand<'_>)| match own.supply {
                Supply::Blocks(grid) if own.relocate.is_none() => {
                    grid.is_along(self.lowest(number), inner.steps[number].stride, extent)
                }
                _ => false,
            };
            if merges && in_blocks.iter().all(stays) {
                let inner = self.loops.remove(k);
                self.loops[k - 1] =
                    Loop { extent: self.loops[k - 1].extent * inner.extent, ..inner };
            }
        }
    }

    /// Moves the loop along which some operand has its smallest stride next to the innermost one, so that both are
    /// blocked.
    fn transpose_tiles(&mut self) {
        let Some((inner, outer)) = self.loops.split_last() else { return };
        let mut best: Option<usize> = None;
        for operand in 1..self.bases.len() {
            let here = inner.steps[operand].distance();
            let near = outer
                .iter()
                .enumerate()
                .filter(|(_, l)| l.steps[operand].table.is_none() && l.steps[operand].stride != 0)
                .min_by_key(|(_, l)| l.steps[operand].distance());
            if let Some((k, near)) = near {
                let distance = near.steps[operand].distance();
                let longer = best.is_none_or(|b| near.extent > outer[b].extent);
                if inner.steps[operand].table.is_none()
                    && here > 1
                    && distance < here
                    && distance <= 8
                    && longer
                {
                    best = Some(k);
                }
            }
        }
        if let Some(k) = best {
            let rows = self.loops.remove(k);
            // The remaining loops go by the smallest stride of any operand, so that neighbours in
            // any of them are visited soon after one another.
            if let Some((_, outer)) = self.loops.split_last_mut() {
                outer.sort_by_key(|l| Reverse(l.nearest()));
            }
            self.loops.insert(self.loops.len() - 1, rows);
            self.transposed = true;
            self.row_by_row = self.mostly_along();
        }
    }

    /// Merges a further loop into short rows of a transposed nest, if the operand that lies across steps
    /// through both as one; the others follow tables. Tiles of few elements would cost more to set up than to do.
    fn lengthen_rows(&mut self, tables: &mut Vec<Cow<'_, [usize]>>) {
        let depth = self.loops.len();
        if !self.transposed
            || depth < 3
            || self.loops[depth - 2].extent * self.loops[depth - 1].extent >= TILE
        {
            return;
        }
        let (rows, columns) = (&self.loops[depth - 2], &self.loops[depth - 1]);
        let length = rows.extent as isize;
        let continues = |l: &Loop, k: usize| {
            rows.steps[k].stride.checked_mul(length) == Some(l.steps[k].stride)
        };
        let across = |k: usize| rows.steps[k].distance() < columns.steps[k].distance();
        let Some(other) = (0..depth - 2).rev().find(|&which| {
            let l = &self.loops[which];
            let plain = |k: usize| {
                let steps = [l.steps[k], rows.steps[k]];
                steps.iter().all(|step| step.table.is_none() && step.stride >= 0)
            };
            let whole = l.extent * rows.extent <= TILE;
            whole && (0..self.bases.len()).all(|k| plain(k) && (!across(k) || continues(l, k)))
        }) else {
            return;
        };
        let outer = &self.loops[other];
        let both = [(outer, outer.extent), (rows, rows.extent)];
        let mut steps = PerOperand::new();
        for (k, base) in self.bases.iter_mut().enumerate() {
            let (least, step) = merged(k, &both, tables);
            *base += least;
            steps.push(step);
        }
        self.loops[depth - 2] = Loop { extent: outer.extent * rows.extent, steps };
        self.loops.remove(other);
    }

    /// Whether more operands lie along the columns of a transposed nest than across them.
    ///
    /// Each tile touches a page for every one of its rows in the former and for every one of its columns
    /// in the latter; neighbouring tiles should share the pages of the more.
    fn mostly_along(&self) -> bool {
        let [.., rows, columns] = &self.loops[..] else { return true };
        let both = rows.steps.iter().zip(&columns.steps);
        let distances = both.map(|(row, column)| (row.distance(), column.distance()));
        let across = distances.clone().filter(|(row, column)| row < column).count();
        let along = distances.filter(|(row, column)| row > column && *column > 0).count();
        along > across
    }

    /// Whether rows of all operands lie in memory as they are needed, are one run of storage, or are one element.
    fn is_direct(&self, operands: &[Operand<'_>]) -> bool {
        let as_it_lies = |operand: &Operand<'_>| {
            matches!(operand.supply, Supply::Memory | Supply::Runs) && operand.relocate.is_none()
        };
        let plain = |step: &Step| step.table.is_none() && matches!(step.stride, 0 | 1);
        operands.iter().all(as_it_lies)
            && self.loops.last().is_some_and(|columns| columns.steps.iter().all(plain))
    }

    fn set_block(&mut self, blocking: Blocking, operands: &[Operand<'_>]) {
        let extent = |from_end: usize| {
            self.loops.len().checked_sub(from_end).map_or(1, |k| self.loops[k].extent)
        };
        let (columns, rows) = (extent(1), extent(2));
        self.block = if self.transposed {
            let c = columns.min(SIDE.max(SIDE * SIDE / rows.min(SIDE)));
            [rows.min(SIDE * SIDE / c.min(SIDE * SIDE)).max(1), c]
        } else {
            let direct = columns > blocking.columns && self.is_direct(operands);
            let c = columns.min(if direct { blocking.direct } else { blocking.columns });
            [if c < columns { 1 } else { rows.min((blocking.elements / c).max(1)) }, c]
        };
    }

    /// Blocks of as many elements as before where a cut made rows shorter: of more rows.
    pub(super) fn fit_block(&mut self) {
        let [.., rows, columns] = &self.loops[..] else { return };
        let [block_rows, block_columns] = self.block;
        if !self.transposed && columns.extent < block_columns {
            let fitting = block_rows.saturating_mul(block_columns) / columns.extent.max(1);
            self.block = [rows.extent.min(fitting), columns.extent];
        }
    }

    /// Strides instead of lists whose positions are equally far apart, as parts of rotated axes are.
    pub(crate) fn straighten(&mut self, tables: &[Cow<'_, [usize]>]) {
        for l in &mut self.loops {
            for (step, base) in l.steps.iter_mut().zip(&mut self.bases) {
                let Some(table) = step.table else { continue };
                let list = &tables[table.index][table.start..table.start + l.extent];
                let distance = |pair: &[usize]| pair[1].wrapping_sub(pair[0]) as isize;
                let each = list.get(..2).map_or(0, distance);
                if list.windows(2).all(|pair| distance(pair) == each) {
                    let first = list.first().map_or(0, |&first| first as isize);
                    *base = base.wrapping_add(step.stride.wrapping_mul(first));
                    *step = Step { stride: step.stride.wrapping_mul(each), table: None };
                }
            }
        }
    }

    /// Loops as they are.
    pub(crate) fn of_loops(loops: impl Iterator<Item = Loop>, bases: PerOperand<isize>) -> Self {
        Self { loops: loops.collect(), bases, block: [1, 1], transposed: false, row_by_row: true }
    }

    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        self.loops.iter().map(|l| l.extent).product()
    }

    /// Lowest and highest address of an operand, before they are relocated.
    pub(crate) fn span(&self, operand: usize, tables: &[Cow<'_, [usize]>]) -> (i128, i128) {
        let base = self.bases[operand] as i128;
        self.loops.iter().fold((base, base), |(low, high), own| {
            let reach = Reach::of(own, operand, tables);
            let end = |position| own.steps[operand].stride as i128 * position as i128;
            let (a, b) = (end(reach.low), end(reach.high));
            (low + a.min(b), high + a.max(b))
        })
    }

    /// Whether the steps of an operand nest, so that no two indexes share an address. Steps by
    /// tables nest if these ascend or descend.
    pub(crate) fn is_nested(&self, operand: usize, tables: &[Cow<'_, [usize]>]) -> bool {
        let mut steps: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        for own in self.loops.iter().filter(|own| own.extent > 1) {
            let reach = Reach::of(own, operand, tables);
            let all = table(own, operand, tables);
            let turns = |table: &[usize]| {
                !table.is_sorted_by(|a, b| a < b) && !table.is_sorted_by(|a, b| a > b)
            };
            if all.is_some_and(turns) {
                return false;
            }
            steps.push((own.steps[operand].stride.unsigned_abs(), reach.high - reach.low + 1));
        }
        nested(&mut steps)
    }

    /// Two nests that share the elements, cut along the outermost loop that is long enough.
    pub(crate) fn split(&self) -> Option<(Self, Self)> {
        let depth = self.loops.len();
        let grain = |k: usize| match depth - k {
            1 => self.block[1].min(SIDE),
            2 => self.block[0],
            _ => 1,
        };
        let k = (0..depth).find(|&k| self.loops[k].extent >= 2 * grain(k))?;
        Some(self.split_at(k, (self.loops[k].extent / 2).next_multiple_of(grain(k))))
    }

    pub(super) fn split_at(&self, k: usize, half: usize) -> (Self, Self) {
        let (mut low, mut high) = (self.clone(), self.clone());
        low.loops[k].extent = half;
        high.cut(k, half, self.loops[k].extent);
        (low, high)
    }

    /// Keeps a part of one loop.
    pub(super) fn cut(&mut self, k: usize, start: usize, end: usize) {
        self.loops[k].extent = end - start;
        for (step, base) in self.loops[k].steps.iter_mut().zip(&mut self.bases) {
            match &mut step.table {
                Some(table) => table.start += start,
                None => *base += step.stride * start as isize,
            }
        }
    }
}

impl Step {
    /// Distance of neighbours: the stride, twice for a table, whose entries need not follow one another.
    pub(super) fn distance(&self) -> usize {
        match self.table {
            Some(_) => self.stride.unsigned_abs().saturating_mul(2),
            None => self.stride.unsigned_abs(),
        }
    }
}

impl Loop {
    /// Order of loops: by the distance in the output, then by the distances in the other operands.
    fn cost(&self) -> (usize, usize) {
        let others = self.steps.iter().skip(1).map(Step::distance).fold(0, usize::saturating_add);
        (self.steps.first().map_or(0, Step::distance), others)
    }

    /// Smallest distance in any operand that moves.
    fn nearest(&self) -> usize {
        self.steps.iter().map(Step::distance).filter(|&distance| distance > 0).min().unwrap_or(0)
    }
}

/// Whether sums of these strides, times as many positions each, are all different because each stride is longer than what
/// lies below it.
pub(crate) fn nested(steps: &mut [(usize, usize)]) -> bool {
    steps.sort_unstable();
    let mut reach = 0_usize;
    steps.iter().all(|&(stride, positions)| {
        let is_longer = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(positions - 1));
        is_longer
    })
}
