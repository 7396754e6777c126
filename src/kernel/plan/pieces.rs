//! Cutting axes into pieces in which every operand is affine or follows a table.

use super::{AxisWalk, Loop, Operand, PerOperand, Plan, Step, TableRef, Walk};
use crate::error::Result;
use crate::memory::list;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// A part of an axis in which every operand is affine or follows a table.
pub(super) struct Piece {
    pub(super) loops: SmallVec<[Loop; 2]>,
    pub(super) bases: PerOperand<isize>,
}

impl<'a> Plan<'a> {
    pub(super) fn pieces(
        &mut self,
        axis: usize,
        extent: usize,
        operands: &[Operand<'a>],
        most_cuts: usize,
    ) -> Result<Vec<Piece>> {
        let walks: PerOperand<AxisWalk<'a>> =
            operands.iter().map(|operand| operand.axes[axis]).collect();
        if walks.iter().all(|w| w.walk == Walk::Linear) {
            let steps = walks.iter().map(|w| Step { stride: w.stride, table: None }).collect();
            return Ok(vec![Piece {
                loops: smallvec![Loop { extent, steps }],
                bases: smallvec![0; walks.len()],
            }]);
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
                return Ok(pieces);
            }
        }
        let wraps: usize = walks.iter().map(|w| wraps(w, extent)).fold(0, usize::saturating_add);
        if wraps > most_cuts {
            return Ok(vec![self.tabulated(&walks, extent)?]);
        }
        let cuts = cuts(&walks, 0, extent);
        Ok(segments(&cuts, 0, extent).map(|(low, high)| self.piece(&walks, low, high)).collect())
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
    fn tabulated(&mut self, walks: &[AxisWalk<'a>], extent: usize) -> Result<Piece> {
        let mut steps = PerOperand::new();
        for walk in walks {
            steps.push(match walk.walk {
                Walk::Linear => Step { stride: walk.stride, table: None },
                Walk::Cyclic { .. } => {
                    let table = list((0..extent).map(|digit| position(walk, digit)))?;
                    self.listed(walk.stride, Cow::Owned(table))
                }
                Walk::Listed(table) => self.listed(walk.stride, Cow::Borrowed(table)),
            });
        }
        Ok(Piece { loops: smallvec![Loop { extent, steps }], bases: smallvec![0; walks.len()] })
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
