//! Cutting axes into pieces in which every operand is affine or follows a table.

use super::{AxisPattern, Loop, Operand, Pattern, PerOperand, Plan, Step, TableRef};
use crate::error::Result;
use crate::memory::{list, try_with_capacity};
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
        let patterns: PerOperand<AxisPattern<'a>> =
            operands.iter().map(|operand| operand.axes[axis]).collect();
        if patterns.iter().all(|w| w.pattern == Pattern::Linear) {
            return Ok(vec![self.piece(&patterns, 0, extent, false)?]);
        }
        if let Some(period) = common_period(&patterns, extent) {
            let whole = extent / period * period;
            let mut pieces = Vec::new();
            for (low, high) in segments(&cuts(&patterns, 0, period), 0, period) {
                let mut piece = self.piece(&patterns, low, high, false)?;
                piece.loops.insert(0, repeats(&patterns, period, extent / period));
                pieces.push(piece);
            }
            for (low, high) in segments(&cuts(&patterns, whole, extent), whole, extent) {
                pieces.push(self.piece(&patterns, low, high, false)?);
            }
            if pieces.len() <= most_cuts + 1 {
                return Ok(pieces);
            }
        }
        let wraps: usize = patterns.iter().map(|w| wraps(w, extent)).fold(0, usize::saturating_add);
        if wraps > most_cuts {
            return self.tabulated(&patterns, extent, most_cuts > 0);
        }
        let cuts = cuts(&patterns, 0, extent);
        let pieces = segments(&cuts, 0, extent);
        pieces.map(|(low, high)| self.piece(&patterns, low, high, false)).collect()
    }

    /// The whole axis, with a table of positions for every operand that wraps: one as long as all of them take to start
    /// over together, and one for what is left over, if the axis may be cut, or is very long.
    fn tabulated(
        &mut self,
        patterns: &[AxisPattern<'a>],
        extent: usize,
        may_cut: bool,
    ) -> Result<Vec<Piece>> {
        let period = joint_period(patterns).filter(|_| may_cut || extent > LONGEST);
        let period = period.map(|period| LONG.next_multiple_of(period));
        let Some(period) = period.filter(|period| extent / 4 >= *period) else {
            return Ok(vec![self.piece(patterns, 0, extent, true)?]);
        };
        let (times, whole) = (extent / period, extent / period * period);
        let mut repeated = self.piece(patterns, 0, period, true)?;
        repeated.loops.insert(0, repeats(patterns, period, times));
        let mut pieces = try_with_capacity(2)?;
        pieces.push(repeated);
        if whole < extent {
            pieces.push(self.piece(patterns, whole, extent, true)?);
        }
        Ok(pieces)
    }

    /// Digits `low..high`, with tables for operands that wrap if some may.
    fn piece(
        &mut self,
        patterns: &[AxisPattern<'a>],
        low: usize,
        high: usize,
        wraps: bool,
    ) -> Result<Piece> {
        let (mut steps, mut bases) = (PerOperand::new(), PerOperand::new());
        for pattern in patterns {
            let (base, step) = match pattern.pattern {
                Pattern::Listed(table) => {
                    (0, self.listed(pattern.stride, Cow::Borrowed(&table[low..high])))
                }
                Pattern::Cyclic { period, step, .. } if wraps => {
                    let (mut next, step) = (position(pattern, low), step % period);
                    let table = list((low..high).map(|_| {
                        let position = next;
                        let left = period - next;
                        next = if step < left { next + step } else { step - left };
                        position
                    }))?;
                    (0, self.listed(pattern.stride, Cow::Owned(table)))
                }
                Pattern::Cyclic { step, .. } => {
                    let stride = pattern.stride.wrapping_mul(step as isize);
                    (position(pattern, low), Step { stride, table: None })
                }
                Pattern::Linear => (low, Step { stride: pattern.stride, table: None }),
            };
            bases.push(pattern.stride.wrapping_mul(base as isize));
            steps.push(step);
        }
        Ok(Piece { loops: smallvec![Loop { extent: high - low, steps }], bases })
    }

    fn listed(&mut self, stride: isize, table: Cow<'a, [usize]>) -> Step {
        self.tables.push(table);
        Step { stride, table: Some(TableRef { index: self.tables.len() - 1, start: 0 }) }
    }
}

fn position(pattern: &AxisPattern<'_>, digit: usize) -> usize {
    match pattern.pattern {
        Pattern::Linear => digit,
        Pattern::Cyclic { period, shift, step } => {
            ((shift as u128 + digit as u128 * step as u128) % period as u128) as usize
        }
        Pattern::Listed(table) => table[digit],
    }
}

fn wraps(pattern: &AxisPattern<'_>, extent: usize) -> usize {
    match pattern.pattern {
        Pattern::Cyclic { period, shift, step } => {
            let last = shift as u128 + step as u128 * (extent - 1) as u128;
            usize::try_from(last / period as u128).unwrap_or(usize::MAX)
        }
        _ => 0,
    }
}

/// Digits of the longest table of an axis that is better not cut.
pub(super) const LONGEST: usize = 1 << 20;

/// Digits of a table that is repeated, at least, so that its loop is a long one.
const LONG: usize = 1 << 12;

/// Some number of digits after which all operands that repeat this axis start over together, unless a table is in the way.
fn joint_period(patterns: &[AxisPattern<'_>]) -> Option<usize> {
    patterns.iter().try_fold(1_usize, |joint, pattern| match pattern.pattern {
        Pattern::Linear => Some(joint),
        Pattern::Cyclic { period, .. } if joint % period == 0 => Some(joint),
        Pattern::Cyclic { period, .. } if period % joint == 0 => Some(period),
        Pattern::Cyclic { period, .. } => joint.checked_mul(period),
        Pattern::Listed(_) => None,
    })
}

/// The period of all operands that repeat this axis, if they agree and no table is in the way.
fn common_period(patterns: &[AxisPattern<'_>], extent: usize) -> Option<usize> {
    let mut common = None;
    for pattern in patterns {
        match pattern.pattern {
            Pattern::Linear => {}
            Pattern::Cyclic { period, step: 1, .. } if common.is_none_or(|p| p == period) => {
                common = Some(period)
            }
            _ => return None,
        }
    }
    common.filter(|&period| extent >= 2 * period)
}

/// Digits in `low..high` at which some operand starts over, ascending.
fn cuts(patterns: &[AxisPattern<'_>], low: usize, high: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    for pattern in patterns {
        let Pattern::Cyclic { period, step, .. } = pattern.pattern else { continue };
        let mut digit = low;
        while digit < high {
            // The first digit beyond the wrap after this one.
            digit += (period - position(pattern, digit)).div_ceil(step);
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

/// The loop over periods, in which operands that repeat stay where they are.
fn repeats(patterns: &[AxisPattern<'_>], period: usize, times: usize) -> Loop {
    let strides = patterns.iter().map(|pattern| match pattern.pattern {
        Pattern::Linear => pattern.stride.wrapping_mul(period as isize),
        _ => 0,
    });
    let steps: PerOperand<Step> = strides.map(|stride| Step { stride, table: None }).collect();
    Loop { extent: times, steps }
}
