//! Cutting a nest into boxes, where an operand is storage that is not memory.
//!
//! What is read at once should be near in storage: long runs, whole blocks. Boxes are as long along the smallest
//! strides of such operands as scratch memory allows, end where blocks end, and follow one another so that blocks are
//! used again while they are held.

mod edges;
mod groups;
#[cfg(test)]
mod tests;

use super::footprint::table;
use super::grid::{COARSE, Lane};
use super::order::ascending;
use super::{Area, Grid, Loop, Nest, Operand, PerOperand, Step, Supply, TableRef};
use crate::error::Result;
use crate::kernel::threads;
use crate::memory::{list, push};
use edges::Edges;
use groups::{Groups, PerLoop};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Elements of a box that each operand is copied from at most, unless they lie in one block.
pub(crate) const BOX: usize = 1 << 17;
/// Fewest neighbours of an operand in a box, if there are as many.
const FEW: usize = 64;
/// Rows from this length on are read one by one as well as together.
const LONG: usize = 512;

/// The operands that are not memory.
fn far(operands: &[Operand<'_>]) -> impl Iterator<Item = usize> {
    (0..operands.len()).filter(|&k| operands[k].supply != Supply::Memory)
}

/// A nest as boxes.
#[derive(Debug)]
pub(crate) struct Cuts {
    nest: Nest,
    /// Where parts of each loop begin.
    starts: SmallVec<[Vec<usize>; 4]>,
    /// Loops, those first whose parts change last.
    order: SmallVec<[usize; 4]>,
    /// Parts of each loop that belong to one group of boxes, whose blocks are held together.
    group: SmallVec<[usize; 4]>,
}

impl Cuts {
    /// Boxes of the usual size, unless the nest is best walked as it is.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn where_better(
        nest: &Nest,
        operands: &[Operand<'_>],
        tables: &mut Vec<Cow<'_, [usize]>>,
    ) -> Result<Option<Self>> {
        let straight = far(operands).all(|k| is_straight(nest, operands, k));
        if straight { Ok(None) } else { Self::new(nest, operands, tables, BOX).map(Some) }
    }

    /// Boxes from each of which at most `most` elements of an operand are copied.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(
        nest: &Nest,
        operands: &[Operand<'_>],
        tables: &mut Vec<Cow<'_, [usize]>>,
        most: usize,
    ) -> Result<Self> {
        let mut far: PerOperand<usize> = far(operands).collect();
        if matches!(operands[0].supply, Supply::Blocks(_)) {
            // Each block is written once, so boxes are its blocks, whatever the others are.
            far.truncate(1);
        }
        let mut nest = nest.clone();
        let small = nest.count() <= most;
        for l in 0..nest.loops.len() {
            let unsorted = far.iter().copied().find(|&k| {
                let cut = !small || matches!(operands[k].supply, Supply::Blocks(_));
                cut && table(&nest.loops[l], k, tables).is_some_and(|list| !list.is_sorted())
            });
            if let Some(k) = unsorted {
                sort_loop(&mut nest.loops[l], k, tables)?;
            }
        }
        let mut areas: PerOperand<Option<(&Grid, Area)>> = PerOperand::new();
        for (k, operand) in operands.iter().enumerate() {
            areas.push(match operand.supply {
                Supply::Blocks(grid) if operand.relocate.is_none() && far.contains(&k) => {
                    Area::new(grid, &nest, k, tables).map(|area| (grid, area))
                }
                _ => None,
            });
        }
        let bounded: PerOperand<usize> = far
            .iter()
            .copied()
            .filter(|&k| !areas[k].as_ref().is_some_and(|(grid, _)| grid.is_coarse()))
            .collect();
        // Of so many neighbours along a loop, the extent of the box that is copied.
        let span = |l: usize, k: usize, length: usize| match &areas[k] {
            Some((_, area)) => {
                area.lanes[l].map_or(1, |lane| lane.span(nest.loops[l].extent, length))
            }
            None => length,
        };
        // Small blocks that are written are written whole.
        let block = |l: usize| match (&areas[0], nest.loops[l].extent) {
            (Some((grid, area)), extent) if bounded.contains(&0) => area.lanes[l]
                .map_or(1, |lane| {
                    (grid.sides.block[lane.axis] / lane.step.unsigned_abs()).clamp(1, extent)
                }),
            _ => 1,
        };
        let lengths = lengths(&nest, &bounded, &span, (&block, most));
        let mut starts = SmallVec::new();
        for (l, &length) in lengths.iter().enumerate() {
            starts.push(cut(&nest.loops[l], l, &areas, tables, length)?);
        }
        let mut order: SmallVec<[usize; 4]> = (0..nest.loops.len()).collect();
        if let Some(&k) = far.first() {
            order.sort_by_key(|&l| std::cmp::Reverse(nest.loops[l].steps[k].stride.unsigned_abs()));
        }
        let mut cuts = Self { group: SmallVec::from_elem(1, starts.len()), nest, starts, order };
        match &areas[0] {
            Some(output) => cuts.join_blocks(output, operands, tables),
            None => cuts.group_blocks(&areas, most),
        }
        Ok(cuts)
    }

    /// How many boxes there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.iter().map(Vec::len).product()
    }

    /// Elements of a box, on average.
    pub(crate) fn average(&self) -> usize {
        self.nest.count() / self.count()
    }

    /// Box `number` in the order in which boxes are best visited.
    ///
    /// Boxes are numbered group by group. A group is a range of the parts of each loop: `sizes` of them from `lows`
    /// on, fewer at an edge. The loops choose these ranges in `order`; what is left of the number is that of a box
    /// in the group.
    pub(crate) fn box_at(&self, number: usize) -> Nest {
        let mut nest = self.nest.clone();
        let mut rest = number;
        let mut lows: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.starts.len());
        let mut sizes = lows.clone();
        let mut later = self.count();
        for &l in &self.order {
            let parts = self.starts[l].len();
            // Parts of the loops that choose later, times those chosen before, times its own.
            later /= parts;
            let chosen: usize = sizes.iter().filter(|size| **size > 0).product();
            let boxes_per_choice = later * chosen * self.group[l];
            let choice = (rest / boxes_per_choice).min(parts.div_ceil(self.group[l]) - 1);
            rest -= choice * boxes_per_choice;
            lows[l] = choice * self.group[l];
            sizes[l] = self.group[l].min(parts - lows[l]);
        }
        for &l in self.order.iter().rev() {
            let part = lows[l] + rest % sizes[l];
            rest /= sizes[l];
            let start = self.starts[l][part];
            let end = self.starts[l].get(part + 1).copied().unwrap_or(nest.loops[l].extent);
            nest.cut(l, start, end);
        }
        nest.fit_block();
        nest
    }

    /// Chooses groups of boxes whose blocks can be held together, where several operands come in blocks. Boxes that would be
    /// small are one where that is a group, as far as `most` elements go.
    fn group_blocks(&mut self, areas: &[Option<(&Grid, Area)>], most: usize) {
        let grids: PerOperand<_> = areas.iter().flatten().collect();
        if grids.len() < 2 {
            return;
        }
        let groups = self.groups(grids.iter().copied());
        let small = self.average() < COARSE;
        let few = |l: usize| {
            let length = (self.nest.loops[l].extent / self.starts[l].len()).max(1);
            if small { FEW.div_ceil(length) } else { 1 }
        };
        self.group = groups.choose(&(0..self.starts.len()).map(few).collect());
        let follows = |l: &usize| {
            grids.iter().all(|(_, area)| has_no_gaps(area, *l, &self.nest.loops[*l].steps))
        };
        let joined: PerLoop =
            self.order.iter().rev().copied().filter(|_| small).filter(follows).collect();
        for l in joined {
            let room = (most / self.average().max(1)).clamp(1, self.group[l]);
            let times = (1..=room).rev().find(|times| self.group[l].is_multiple_of(*times));
            let times = times.unwrap_or(1);
            self.join(l, times);
            self.group[l] /= times;
        }
    }

    /// Joins boxes of blocks of the output, to no more blocks than a thread may hold of it and no fewer boxes than threads,
    /// where blocks of the other operands would be loaded for several of them.
    fn join_blocks(
        &mut self,
        output: &(&Grid, Area),
        operands: &[Operand<'_>],
        tables: &[Cow<'_, [usize]>],
    ) {
        let read = operands.iter().enumerate().skip(1).filter_map(|(k, operand)| {
            let Supply::Blocks(grid) = operand.supply else { return None };
            let area = Area::new(grid, &self.nest, k, tables)?;
            operand.relocate.is_none().then_some((grid, area))
        });
        let read: PerOperand<_> = read.collect();
        let most = output.0.held_by_each().min(self.count() / threads().max(1));
        if most < 2 || read.is_empty() {
            return;
        }
        let (written, read) = (self.groups([output].into_iter()), self.groups(read.iter()));
        let follows = |l: usize| has_no_gaps(&output.1, l, &self.nest.loops[l].steps[..1]);
        let sizes = read.join(&follows, &|sizes| written.touched(sizes) <= most);
        for (l, &times) in sizes.iter().enumerate() {
            self.join(l, times);
        }
    }

    fn groups<'a>(
        &self,
        operands: impl Iterator<Item = &'a (&'a Grid, Area)> + Clone,
    ) -> Groups<'_> {
        let blocks = operands.clone().map(|(grid, area)| {
            let [first, last] = area.blocks(grid);
            let of_loop =
                |lane: &Option<Lane>| lane.map_or(1, |l| last[l.axis] - first[l.axis] + 1);
            area.lanes.iter().map(of_loop).collect()
        });
        Groups {
            parts: self.starts.iter().map(Vec::len).collect(),
            order: &self.order,
            operands: blocks.collect(),
            held: operands.map(|(grid, _)| grid.held).min().unwrap_or(0),
        }
    }

    /// Makes one part of so many of a loop.
    fn join(&mut self, l: usize, times: usize) {
        let starts = std::mem::take(&mut self.starts[l]);
        self.starts[l] = starts.into_iter().step_by(times).collect();
    }
}

/// Whether parts of a loop follow one another in an operand: those of lists and of steps have gaps, and blocks that are not
/// needed.
fn has_no_gaps(area: &Area, l: usize, steps: &[Step]) -> bool {
    area.lanes[l].is_none_or(|lane| lane.step.unsigned_abs() == 1)
        && steps.iter().all(|step| step.table.is_none())
}

/// Whether an operand is read in order of storage as its tiles are: rows of some length, one after another.
fn is_straight(nest: &Nest, operands: &[Operand<'_>], k: usize) -> bool {
    let plain = operands[k].relocate.is_none() && matches!(operands[k].supply, Supply::Runs);
    let steps = || nest.loops.iter().map(|l| l.steps[k]);
    let falls = steps().zip(steps().skip(1)).all(|(outer, inner)| {
        outer.stride.unsigned_abs() > inner.stride.unsigned_abs() && inner.stride != 0
    });
    let still = steps().all(|step| step.stride == 0);
    let long = nest.loops.len() < 2 || nest.loops.last().is_some_and(|l| l.extent >= LONG);
    plain && (still || (falls && long && steps().all(|step| step.table.is_none())))
}

/// Puts the positions of an operand along a loop in ascending order.
fn sort_loop(l: &mut Loop, k: usize, tables: &mut Vec<Cow<'_, [usize]>>) -> Result<()> {
    let Some(positions) = table(l, k, tables) else { return Ok(()) };
    let order = ascending(positions)?;
    for operand in 0..l.steps.len() {
        let step = l.steps[operand];
        if step.stride == 0 {
            continue;
        }
        let entries = match table(l, operand, tables) {
            Some(table) => list(order.iter().map(|&digit| table[digit]))?,
            None => list(order.iter().copied())?,
        };
        push(tables, Cow::Owned(entries))?;
        let table = TableRef { index: tables.len() - 1, start: 0 };
        l.steps[operand] = Step { stride: step.stride, table: Some(table) };
    }
    Ok(())
}

/// Longest parts of the loops, so that copies of these operands fit in scratch memory, and shortest. `span` returns
/// what has to be copied of an operand for a part of a loop.
fn lengths(
    nest: &Nest,
    copied: &[usize],
    span: &dyn Fn(usize, usize, usize) -> usize,
    (least, most): (&dyn Fn(usize) -> usize, usize),
) -> SmallVec<[usize; 4]> {
    let moves = |l: usize, k: usize| nest.loops[l].steps[k].stride != 0;
    let mut lengths: SmallVec<[usize; 4]> = nest
        .loops
        .iter()
        .enumerate()
        .map(|(l, own)| if copied.iter().any(|&k| moves(l, k)) { least(l) } else { own.extent })
        .collect();
    let nearest = |k: usize, open: &dyn Fn(usize) -> bool| {
        let loops = (0..nest.loops.len()).filter(|&l| moves(l, k) && open(l));
        loops.min_by_key(|&l| nest.loops[l].steps[k].stride.unsigned_abs())
    };
    let size = |lengths: &[usize]| -> usize {
        let of_operand = |&k: &usize| -> usize {
            let moving = (0..lengths.len()).filter(|&l| moves(l, k));
            moving.map(|l| span(l, k, lengths[l])).fold(1, usize::saturating_mul)
        };
        copied.iter().map(of_operand).max().unwrap_or(0)
    };
    // Makes parts of a loop longer, if they fit.
    let grow = |lengths: &mut [usize], l: usize, wanted: usize| {
        let before = std::mem::replace(&mut lengths[l], wanted.min(nest.loops[l].extent));
        let fits = size(lengths) <= most;
        if !fits {
            lengths[l] = before;
        }
        fits
    };
    for k in 0..nest.bases.len() {
        if let Some(l) = nearest(k, &|_| true) {
            let wanted = lengths[l].max(FEW);
            grow(&mut lengths, l, wanted);
        }
    }
    let mut full: SmallVec<[bool; 4]> = SmallVec::from_elem(false, lengths.len());
    loop {
        let open = |l: usize| !full[l] && lengths[l] < nest.loops[l].extent;
        let next = copied.iter().filter_map(|&k| nearest(k, &open)).min_by_key(|&l| lengths[l]);
        let Some(l) = next else { return lengths };
        let before = lengths[l];
        if !grow(&mut lengths, l, before.saturating_mul(2)) {
            let times = (most / size(&lengths).max(1)).max(1);
            grow(&mut lengths, l, before.saturating_mul(times));
            full[l] = true;
        }
    }
}

/// Where parts of a loop begin: where blocks begin, and as often as its longest part demands.
fn cut(
    own: &Loop,
    l: usize,
    areas: &[Option<(&Grid, Area)>],
    tables: &[Cow<'_, [usize]>],
    length: usize,
) -> Result<Vec<usize>> {
    let mut starts = list(std::iter::once(0))?;
    let mut last = 0;
    let edges = Edges::new(own, l, areas, tables);
    while last < own.extent {
        // Small blocks are read together: the last edge within reach. Large ones end a part, and so do gaps: blocks in
        // between of which nothing is needed.
        let mut end = last.saturating_add(length).min(own.extent);
        let mut edge = edges.after(last);
        if edge.ends {
            end = end.min(edge.at);
        } else {
            let mut best = None;
            while edge.at <= end && !edge.ends {
                best = Some(edge.at);
                edge = edges.after(edge.at);
            }
            end = if edge.ends && edge.at <= end { edge.at } else { best.unwrap_or(end) };
        }
        last = end;
        if last < own.extent {
            push(&mut starts, last)?;
        }
    }
    Ok(starts)
}
