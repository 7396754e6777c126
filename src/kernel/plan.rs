//! From extents and strides to loop nests. Pure: it sees numbers only.
//!
//! 1. Axes of extent 1 go away.
//! 2. An axis that some operand repeats becomes two loops, repeats and period; a rotated axis is cut
//!    where it wraps. So every operand is affine, or given by a table, in every nest.
//! 3. Loops are ordered by the stride of the output and merged where all operands allow.
//! 4. Where the smallest stride of an operand is not innermost, that loop moves next to the innermost
//!    one and both are blocked, so that the operand can be packed through a small square.
//! 5. Rows that are short are batched to blocks of a useful size.

use super::TILE;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// One number an operand; operand 0 is the output.
pub(crate) type PerOperand<T> = SmallVec<[T; 4]>;

/// How an operand moves along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk<'a> {
    Linear,
    Cyclic { period: usize, shift: usize, step: usize },
    Listed(&'a [usize]),
}

/// Stride and walk of an operand along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AxisWalk<'a> {
    pub(crate) stride: isize,
    pub(crate) walk: Walk<'a>,
}

/// Addresses of one operand: a base and one walk an axis.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'a> {
    pub(crate) base: isize,
    pub(crate) axes: SmallVec<[AxisWalk<'a>; 4]>,
    pub(crate) relocate: Option<&'a dyn Relocate>,
}

/// Maps addresses further, where the strides of an operand lead to positions in another layout.
pub(crate) trait Relocate: Sync + std::fmt::Debug {
    /// Replaces every position by the address it stands for.
    fn relocate(&self, positions: &mut [usize]);
}

/// Steps of one operand along one loop: a stride, times the entries of a table if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) stride: isize,
    pub(crate) table: Option<TableRef>,
}

/// A part of one of the tables of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) index: usize,
    pub(crate) start: usize,
}

/// One loop of a nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) extent: usize,
    pub(crate) steps: PerOperand<Step>,
}

/// Loops, outermost first, in which every operand is affine or follows tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) loops: SmallVec<[Loop; 4]>,
    pub(crate) bases: PerOperand<isize>,
    /// Largest rows and columns of a tile, along the two innermost loops.
    pub(crate) block: [usize; 2],
    /// Whether some operand has its smallest stride along the rows.
    pub(crate) crossed: bool,
    /// Whether tiles follow one another along the rows rather than down the columns.
    pub(crate) row_by_row: bool,
}

/// The nests that together visit every element once.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) nests: Vec<Nest>,
    pub(crate) tables: Vec<Cow<'a, [usize]>>,
}

/// Sides of the blocks, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocking {
    /// Most elements of a tile.
    pub(crate) elements: usize,
    /// Longest row, where rows need not be short enough for a cache.
    pub(crate) columns: usize,
}

/// Side of a block of a crossed nest.
const SIDE: usize = 64;
/// Most cuts of one axis before a table of positions serves instead.
const MOST_CUTS: usize = 8;
/// Most nests of a plan.
const MOST_NESTS: usize = 64;

/// Plans loops over `extents` for `operands`, the output first.
pub(crate) fn plan<'a>(
    extents: &[usize],
    operands: &[Operand<'a>],
    blocking: Blocking,
) -> Plan<'a> {
    let mut plan = Plan { nests: Vec::new(), tables: Vec::new() };
    if extents.contains(&0) {
        return plan;
    }
    let longer: Vec<usize> = (0..extents.len()).filter(|&axis| extents[axis] > 1).collect();
    let mut pieces: Vec<Vec<Piece>> =
        longer.iter().map(|&axis| plan.pieces(axis, extents[axis], operands, MOST_CUTS)).collect();
    while pieces.iter().map(Vec::len).product::<usize>() > MOST_NESTS {
        let most = (0..pieces.len()).max_by_key(|&k| pieces[k].len()).unwrap_or(0);
        pieces[most] = plan.pieces(longer[most], extents[longer[most]], operands, 0);
    }
    let mut choice = vec![0; pieces.len()];
    loop {
        let chosen = choice.iter().zip(&pieces).map(|(&k, list)| &list[k]);
        let nest = Nest::new(operands, chosen, &mut plan.tables, blocking);
        plan.nests.push(nest);
        let Some(axis) =
            (0..choice.len()).rev().find(|&axis| choice[axis] + 1 < pieces[axis].len())
        else {
            return plan;
        };
        choice[axis] += 1;
        choice[axis + 1..].fill(0);
    }
}

impl Plan<'_> {
    /// Lowest and highest address of the output in one nest.
    pub(crate) fn span(&self, nest: &Nest) -> (i128, i128) {
        let (mut low, mut high) = (nest.bases[0] as i128, nest.bases[0] as i128);
        for l in &nest.loops {
            let step = l.steps[0];
            let (first, last) = match step.table {
                None => (0, l.extent - 1),
                Some(t) => {
                    let table = &self.tables[t.index][t.start..t.start + l.extent];
                    table.iter().fold((usize::MAX, 0), |(low, high), &p| (low.min(p), high.max(p)))
                }
            };
            let (a, b) = (step.stride as i128 * first as i128, step.stride as i128 * last as i128);
            low += a.min(b);
            high += a.max(b);
        }
        (low, high)
    }
}

/// A part of an axis in which every operand is affine or follows a table.
struct Piece {
    loops: SmallVec<[Loop; 2]>,
    bases: PerOperand<isize>,
}

impl<'a> Plan<'a> {
    fn pieces(
        &mut self,
        axis: usize,
        extent: usize,
        operands: &[Operand<'a>],
        most_cuts: usize,
    ) -> Vec<Piece> {
        let walks: PerOperand<AxisWalk<'a>> =
            operands.iter().map(|operand| operand.axes[axis]).collect();
        if walks.iter().all(|w| w.walk == Walk::Linear) {
            let steps = walks.iter().map(|w| Step { stride: w.stride, table: None }).collect();
            return vec![Piece {
                loops: smallvec![Loop { extent, steps }],
                bases: smallvec![0; walks.len()],
            }];
        }
        if let Some(period) = common_period(&walks, extent) {
            let whole = extent / period * period;
            let mut pieces = Vec::new();
            for (low, high) in segments(&cuts(&walks, 0, period), 0, period) {
                pieces.push(repeated_piece(&walks, period, extent / period, low, high));
            }
            for (low, high) in segments(&cuts(&walks, whole, extent), whole, extent) {
                pieces.push(self.piece(&walks, low, high));
            }
            if pieces.len() <= most_cuts + 1 {
                return pieces;
            }
        }
        let wraps: usize = walks.iter().map(|w| wraps(w, extent)).fold(0, usize::saturating_add);
        if wraps > most_cuts {
            return vec![self.tabulated(&walks, extent)];
        }
        let cuts = cuts(&walks, 0, extent);
        segments(&cuts, 0, extent).map(|(low, high)| self.piece(&walks, low, high)).collect()
    }

    /// Digits `low..high`, within which no operand wraps.
    fn piece(&mut self, walks: &[AxisWalk<'a>], low: usize, high: usize) -> Piece {
        let mut steps = PerOperand::new();
        let mut bases = PerOperand::new();
        for walk in walks {
            match walk.walk {
                Walk::Linear => {
                    steps.push(Step { stride: walk.stride, table: None });
                    bases.push(walk.stride * low as isize);
                }
                Walk::Cyclic { step, .. } => {
                    steps.push(Step {
                        stride: walk.stride.wrapping_mul(step as isize),
                        table: None,
                    });
                    bases.push(walk.stride * position(walk, low) as isize);
                }
                Walk::Listed(table) => {
                    steps.push(self.listed(walk.stride, Cow::Borrowed(&table[low..high])));
                    bases.push(0);
                }
            }
        }
        Piece { loops: smallvec![Loop { extent: high - low, steps }], bases }
    }

    /// The whole axis, with a table of positions for every operand that wraps.
    fn tabulated(&mut self, walks: &[AxisWalk<'a>], extent: usize) -> Piece {
        let steps = walks
            .iter()
            .map(|walk| match walk.walk {
                Walk::Linear => Step { stride: walk.stride, table: None },
                Walk::Cyclic { .. } => {
                    let table = (0..extent).map(|digit| position(walk, digit)).collect();
                    self.listed(walk.stride, Cow::Owned(table))
                }
                Walk::Listed(table) => self.listed(walk.stride, Cow::Borrowed(table)),
            })
            .collect();
        Piece { loops: smallvec![Loop { extent, steps }], bases: smallvec![0; walks.len()] }
    }

    fn listed(&mut self, stride: isize, table: Cow<'a, [usize]>) -> Step {
        self.tables.push(table);
        Step { stride, table: Some(TableRef { index: self.tables.len() - 1, start: 0 }) }
    }
}

fn position(walk: &AxisWalk<'_>, digit: usize) -> usize {
    match walk.walk {
        Walk::Linear => digit,
        Walk::Cyclic { period, shift, step } => {
            ((shift as u128 + digit as u128 * step as u128) % period as u128) as usize
        }
        Walk::Listed(table) => table[digit],
    }
}

fn wraps(walk: &AxisWalk<'_>, extent: usize) -> usize {
    match walk.walk {
        Walk::Cyclic { period, shift, step } => {
            let last = shift as u128 + step as u128 * (extent - 1) as u128;
            usize::try_from(last / period as u128).unwrap_or(usize::MAX)
        }
        _ => 0,
    }
}

/// The period of all operands that repeat this axis, if they agree and no table is in the way.
fn common_period(walks: &[AxisWalk<'_>], extent: usize) -> Option<usize> {
    let mut common = None;
    for walk in walks {
        match walk.walk {
            Walk::Linear => {}
            Walk::Cyclic { period, step: 1, .. } if common.is_none_or(|p| p == period) => {
                common = Some(period)
            }
            _ => return None,
        }
    }
    common.filter(|&period| extent >= 2 * period)
}

/// Digits in `low..high` at which some operand starts over, ascending.
fn cuts(walks: &[AxisWalk<'_>], low: usize, high: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    for walk in walks {
        let Walk::Cyclic { period, step, .. } = walk.walk else { continue };
        let mut digit = low;
        while digit < high {
            // The first digit beyond the wrap after this one.
            digit += (period - position(walk, digit)).div_ceil(step);
            if digit < high {
                cuts.push(digit);
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn segments(cuts: &[usize], low: usize, high: usize) -> impl Iterator<Item = (usize, usize)> {
    let starts = std::iter::once(low).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(high));
    starts.zip(ends).filter(|(start, end)| start < end)
}

/// Digits `low..high` of every one of `times` periods: a loop over the periods and one within.
fn repeated_piece(
    walks: &[AxisWalk<'_>],
    period: usize,
    times: usize,
    low: usize,
    high: usize,
) -> Piece {
    let straight = |stride| Step { stride, table: None };
    let outer = walks.iter().map(|walk| match walk.walk {
        Walk::Linear => straight(walk.stride * period as isize),
        _ => straight(0),
    });
    let inner = walks.iter().map(|walk| straight(walk.stride));
    Piece {
        loops: smallvec![
            Loop { extent: times, steps: outer.collect() },
            Loop { extent: high - low, steps: inner.collect() }
        ],
        bases: walks.iter().map(|walk| walk.stride * position(walk, low) as isize).collect(),
    }
}

impl Nest {
    fn new<'p>(
        operands: &[Operand<'_>],
        pieces: impl Iterator<Item = &'p Piece>,
        tables: &mut Vec<Cow<'_, [usize]>>,
        blocking: Blocking,
    ) -> Self {
        let mut nest = Self {
            loops: SmallVec::new(),
            bases: operands.iter().map(|operand| operand.base).collect(),
            block: [1, 1],
            crossed: false,
            row_by_row: true,
        };
        for piece in pieces {
            for (base, more) in nest.bases.iter_mut().zip(&piece.bases) {
                *base += more;
            }
            nest.loops.extend(piece.loops.iter().cloned());
        }
        // A loop over one digit of a table still has an entry to add, which a tile does.
        nest.loops.retain(|l| l.extent > 1 || l.steps.iter().any(|step| step.table.is_some()));
        nest.loops.sort_by_key(|l| std::cmp::Reverse(l.cost()));
        nest.coalesce();
        nest.cross();
        nest.lengthen_rows(tables);
        nest.set_block(blocking);
        nest
    }

    /// Merges neighbouring loops that every operand walks as if they were one.
    fn coalesce(&mut self) {
        let mut k = self.loops.len();
        while k >= 2 {
            k -= 1;
            let (outer, inner) = (&self.loops[k - 1], &self.loops[k]);
            let length = inner.extent as isize;
            let merges = outer.steps.iter().zip(&inner.steps).all(|(outer, inner)| {
                let straight = outer.table.is_none() && inner.table.is_none();
                straight && inner.stride.checked_mul(length) == Some(outer.stride)
            });
            if merges {
                let inner = self.loops.remove(k);
                self.loops[k - 1] =
                    Loop { extent: self.loops[k - 1].extent * inner.extent, ..inner };
            }
        }
    }

    /// Moves the loop along which some operand has its smallest stride next to the innermost one.
    fn cross(&mut self) {
        let Some((inner, outer)) = self.loops.split_last() else { return };
        let mut best: Option<usize> = None;
        for operand in 1..self.bases.len() {
            let here = inner.steps[operand].weight();
            let near = outer
                .iter()
                .enumerate()
                .filter(|(_, l)| l.steps[operand].table.is_none() && l.steps[operand].stride != 0)
                .min_by_key(|(_, l)| l.steps[operand].weight());
            if let Some((k, near)) = near {
                let weight = near.steps[operand].weight();
                let longer = best.is_none_or(|b| near.extent > outer[b].extent);
                if inner.steps[operand].table.is_none()
                    && here > 1
                    && weight < here
                    && weight <= 8
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
                outer.sort_by_key(|l| std::cmp::Reverse(l.nearest()));
            }
            self.loops.insert(self.loops.len() - 1, rows);
            self.crossed = true;
            self.row_by_row = self.mostly_along();
        }
    }

    /// Merges a further loop into short rows of a crossed nest, if the operand that lies across walks
    /// both as one; the others follow tables. Tiles of few elements would cost more to set up than to do.
    fn lengthen_rows(&mut self, tables: &mut Vec<Cow<'_, [usize]>>) {
        let depth = self.loops.len();
        if !self.crossed
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
        let across = |k: usize| rows.steps[k].weight() < columns.steps[k].weight();
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
        let mut steps = PerOperand::new();
        for (k, (far, near)) in outer.steps.iter().zip(&rows.steps).enumerate() {
            steps.push(if continues(outer, k) {
                *near
            } else {
                let entry = |i: usize| {
                    i / rows.extent * far.stride as usize + i % rows.extent * near.stride as usize
                };
                tables.push(Cow::Owned((0..outer.extent * rows.extent).map(entry).collect()));
                Step { stride: 1, table: Some(TableRef { index: tables.len() - 1, start: 0 }) }
            });
        }
        self.loops[depth - 2] = Loop { extent: outer.extent * rows.extent, steps };
        self.loops.remove(other);
    }

    /// Whether more operands lie along the columns of a crossed nest than across them.
    ///
    /// Each tile touches a page for every one of its rows in the former and for every one of its columns
    /// in the latter; neighbouring tiles should share the pages of the more.
    fn mostly_along(&self) -> bool {
        let [.., rows, columns] = &self.loops[..] else { return true };
        let weights = rows.steps.iter().zip(&columns.steps).map(|(r, c)| (r.weight(), c.weight()));
        let across = weights.clone().filter(|(row, column)| row < column).count();
        let along = weights.filter(|(row, column)| row > column && *column > 0).count();
        along > across
    }

    fn set_block(&mut self, blocking: Blocking) {
        let extent = |from_end: usize| {
            self.loops.len().checked_sub(from_end).map_or(1, |k| self.loops[k].extent)
        };
        let (columns, rows) = (extent(1), extent(2));
        self.block = if self.crossed {
            let c = columns.min(SIDE.max(SIDE * SIDE / rows.min(SIDE)));
            [rows.min(SIDE * SIDE / c.min(SIDE * SIDE)).max(1), c]
        } else {
            let c = columns.min(blocking.columns);
            [if c < columns { 1 } else { rows.min((blocking.elements / c).max(1)) }, c]
        };
    }

    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        self.loops.iter().map(|l| l.extent).product()
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
        let half = (self.loops[k].extent / 2).next_multiple_of(grain(k));
        let (mut low, mut high) = (self.clone(), self.clone());
        low.loops[k].extent = half;
        high.loops[k].extent -= half;
        for (step, base) in high.loops[k].steps.iter_mut().zip(&mut high.bases) {
            match &mut step.table {
                Some(table) => table.start += half,
                None => *base += step.stride * half as isize,
            }
        }
        Some((low, high))
    }
}

impl Step {
    /// Distance of neighbours; a table jumps about.
    fn weight(&self) -> usize {
        match self.table {
            Some(_) => self.stride.unsigned_abs().saturating_mul(2),
            None => self.stride.unsigned_abs(),
        }
    }
}

impl Loop {
    /// Order of loops: by the distance in the output, then by the distances in the other operands.
    fn cost(&self) -> (usize, usize) {
        let others = self.steps.iter().skip(1).map(Step::weight).fold(0, usize::saturating_add);
        (self.steps.first().map_or(0, Step::weight), others)
    }

    /// Smallest distance in any operand that moves.
    fn nearest(&self) -> usize {
        self.steps.iter().map(Step::weight).filter(|&weight| weight > 0).min().unwrap_or(0)
    }
}
