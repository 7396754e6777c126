//! Cutting axes into pieces in which every operand is affine or follows a table.

use super::{
    AxisPattern, Loop, MOST_NESTS, Nest, Operand, Pattern, PerOperand, Plan, Step, TableRef,
};
use crate::error::{Error, Result};
use crate::kernel::TILE;
use crate::memory::{list, push, try_reserve, try_with_capacity};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::ops::Range;

/// A part of an axis in which every operand is affine or follows a table.
pub(super) struct Piece {
    pub(super) loops: SmallVec<[Loop; 2]>,
    pub(super) bases: PerOperand<isize>,
}

/// Refuses more than `most` pieces or nests, and those that there is no memory for: vectors within them cannot be refused
/// any.
pub(super) fn check_memory(count: usize, operands: usize, most: usize) -> Result<()> {
    let bytes = count.saturating_mul(size_of::<Nest>() + 4 * operands * size_of::<Step>());
    match count {
        _ if count > most => Err(Error::OutOfMemory { bytes }),
        _ if count > MOST_NESTS => try_with_capacity::<u8>(bytes).map(drop),
        _ => Ok(()),
    }
}

impl Operand<'_> {
    /// The same in a box: of a range of each of the first axes, and of all of the others.
    pub(crate) fn within(&self, ranges: &[Range<usize>]) -> Self {
        let mut own = self.clone();
        for (axis, range) in own.axes.iter_mut().zip(ranges) {
            let start = position(axis, range.start);
            match &mut axis.pattern {
                Pattern::Linear => {
                    let away = axis.stride.wrapping_mul(start as isize);
                    own.base = own.base.wrapping_add(away);
                }
                Pattern::Cyclic { shift, .. } => *shift = start,
                Pattern::Listed(table) => *table = &table[range.clone()],
            }
        }
        own
    }
}

impl<'a> Plan<'a> {
    /// The pieces of an axis, which has at most so many cuts before a table is made, and pieces.
    pub(super) fn pieces(
        &mut self,
        axis: usize,
        extent: usize,
        operands: &[Operand<'a>],
        [most_cuts, most_pieces]: [usize; 2],
    ) -> Result<Vec<Piece>> {
        let patterns: PerOperand<AxisPattern<'a>> =
            operands.iter().map(|operand| operand.axes[axis]).collect();
        let limits = Limits { most_cuts, most_pieces, is_long: extent > LONGEST };
        let mut pieces = Vec::new();
        self.add_pieces(&patterns, 0..extent, limits, &mut pieces)?;
        Ok(pieces)
    }

    /// Adds the pieces of some digits. They are cut where an operand wraps if that is seldom; else a period of all that
    /// wrap is repeated, or a table serves, unless cuts where some wrap leave a period of the others.
    fn add_pieces(
        &mut self,
        patterns: &[AxisPattern<'a>],
        digits: Range<usize>,
        limits: Limits,
        pieces: &mut Vec<Piece>,
    ) -> Result<()> {
        if let Some(periods) = self.periods(patterns, digits.clone())?
            && periods.len() <= limits.most_cuts + 1
        {
            try_reserve(pieces, periods.len())?;
            pieces.extend(periods);
            return Ok(());
        }
        let wraps = |pattern: &AxisPattern<'a>| wraps(pattern, &digits);
        if patterns.iter().map(wraps).fold(0, usize::saturating_add) <= limits.most_cuts {
            for segment in segments(&cuts(patterns, digits.clone())?, &digits) {
                push(pieces, self.piece(patterns, segment)?)?;
            }
            return Ok(());
        }
        let period = table_period(patterns, &digits, limits.longest_table(digits.len()));
        let most = limits.most_cuts_beside_tables(digits.len());
        let seldom = patterns.iter().filter(|pattern| (1..=most).contains(&wraps(pattern)));
        let mut seldom: PerOperand<AxisPattern<'a>> = seldom.copied().collect();
        // Operands that are alike are cut at the same places.
        seldom.sort_unstable_by_key(wrapping);
        seldom.dedup_by_key(|own| wrapping(own));
        let cuts_left = seldom.iter().map(wraps).fold(0, usize::saturating_add);
        let cuts_serve =
            period.is_none_or(|period| period > LONGEST && period / INDEXES_PER_CUT > cuts_left);
        if cuts_serve && !seldom.is_empty() {
            let count = cuts_left.saturating_add(pieces.len());
            check_memory(count, patterns.len(), limits.most_pieces)?;
            for segment in segments(&cuts(&seldom, digits.clone())?, &digits) {
                self.add_pieces(patterns, segment, limits, pieces)?;
            }
            return Ok(());
        }
        self.add_tabulated(patterns, digits, period, pieces)
    }

    /// Digits as the repeats of a period of all operands that wrap, if they have one, and what is left over.
    fn periods(
        &mut self,
        patterns: &[AxisPattern<'a>],
        digits: Range<usize>,
    ) -> Result<Option<Vec<Piece>>> {
        let Some(period) = common_period(patterns, &digits) else { return Ok(None) };
        let (first, left) = first_and_left(&digits, period);
        let mut pieces = Vec::new();
        for segment in segments(&cuts(patterns, first.clone())?, &first) {
            let mut piece = self.piece(patterns, segment)?;
            piece.loops.insert(0, repeats(patterns, period, digits.len() / period));
            pieces.push(piece);
        }
        for segment in segments(&cuts(patterns, left.clone())?, &left) {
            pieces.push(self.piece(patterns, segment)?);
        }
        Ok(Some(pieces))
    }

    /// Adds some digits with a table of positions for every operand that wraps: of a period that is repeated, and of
    /// what is left over, or of all digits.
    fn add_tabulated(
        &mut self,
        patterns: &[AxisPattern<'a>],
        digits: Range<usize>,
        period: Option<usize>,
        pieces: &mut Vec<Piece>,
    ) -> Result<()> {
        let Some(period) = period else { return push(pieces, self.piece(patterns, digits)?) };
        let (first, left) = first_and_left(&digits, period);
        let mut repeated = self.piece(patterns, first)?;
        repeated.loops.insert(0, repeats(patterns, period, digits.len() / period));
        push(pieces, repeated)?;
        if !left.is_empty() {
            push(pieces, self.piece(patterns, left)?)?;
        }
        Ok(())
    }

    /// Some digits, with tables for operands that wrap among them.
    fn piece(&mut self, patterns: &[AxisPattern<'a>], digits: Range<usize>) -> Result<Piece> {
        let (mut steps, mut bases) = (PerOperand::new(), PerOperand::new());
        for pattern in patterns {
            let (base, step) = match pattern.pattern {
                Pattern::Listed(table) => {
                    (0, self.listed(pattern.stride, Cow::Borrowed(&table[digits.clone()]))?)
                }
                Pattern::Cyclic { period, step, .. } if wraps(pattern, &digits) > 0 => {
                    let (mut next, step) = (position(pattern, digits.start), step % period);
                    let table = list(digits.clone().map(|_| {
                        let position = next;
                        let left = period - next;
                        next = if step < left { next + step } else { step - left };
                        position
                    }))?;
                    (0, self.listed(pattern.stride, Cow::Owned(table))?)
                }
                Pattern::Cyclic { step, .. } => {
                    let stride = pattern.stride.wrapping_mul(step as isize);
                    (position(pattern, digits.start), Step { stride, table: None })
                }
                Pattern::Linear => (digits.start, Step { stride: pattern.stride, table: None }),
            };
            bases.push(pattern.stride.wrapping_mul(base as isize));
            steps.push(step);
        }
        Ok(Piece { loops: smallvec![Loop { extent: digits.len(), steps }], bases })
    }

    fn listed(&mut self, stride: isize, table: Cow<'a, [usize]>) -> Result<Step> {
        push(&mut self.tables, table)?;
        Ok(Step { stride, table: Some(TableRef { index: self.tables.len() - 1, start: 0 }) })
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

/// What decides where an operand starts over.
fn wrapping(pattern: &AxisPattern<'_>) -> [usize; 3] {
    match pattern.pattern {
        Pattern::Cyclic { period, shift, step } => [period, shift, step],
        _ => [0; 3],
    }
}

/// How often an operand starts over among some digits.
fn wraps(pattern: &AxisPattern<'_>, digits: &Range<usize>) -> usize {
    match pattern.pattern {
        Pattern::Cyclic { period, step, .. } => {
            let far = step as u128 * (digits.len() - 1) as u128;
            let last = position(pattern, digits.start) as u128 + far;
            usize::try_from(last / period as u128).unwrap_or(usize::MAX)
        }
        _ => 0,
    }
}

/// Digits of the longest axis that may stay whole, and of a table if cuts serve as well.
pub(super) const LONGEST: usize = 1 << 20;

/// Digits of a table that is repeated, at least, so that its loop is a long one.
const LONG: usize = 1 << 12;

/// Indexes of a table that take the memory of what is between two cuts.
const INDEXES_PER_CUT: usize = 64;

/// What bounds the pieces of an axis.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Most cuts where operands wrap before a table is made.
    most_cuts: usize,
    /// Most pieces.
    most_pieces: usize,
    /// Whether the axis is longer than [`LONGEST`].
    is_long: bool,
}

impl Limits {
    /// The longest table that is repeated over some digits.
    fn longest_table(self, digits: usize) -> usize {
        if self.most_cuts > 0 || self.is_long { digits / 4 } else { 0 }
    }

    /// Most cuts where one operand wraps, before others follow tables: parts have a tile of elements, or more.
    fn most_cuts_beside_tables(self, digits: usize) -> usize {
        let most = digits / TILE;
        if self.is_long { most } else { most.min(self.most_cuts) }
    }
}

/// Some number of digits, at most so many, after which all operands that wrap start over together, unless a list is in
/// the way.
fn table_period(patterns: &[AxisPattern<'_>], digits: &Range<usize>, most: usize) -> Option<usize> {
    let joint = patterns.iter().try_fold(1, |joint: usize, own| match own.pattern {
        Pattern::Cyclic { period, .. } if wraps(own, digits) > 0 => {
            let (low, high) = (joint.min(period), joint.max(period));
            (high..=most).step_by(high).find(|multiple| multiple.is_multiple_of(low))
        }
        Pattern::Linear | Pattern::Cyclic { .. } => Some(joint),
        Pattern::Listed(_) => None,
    });
    joint.map(|joint| LONG.next_multiple_of(joint)).filter(|&period| period <= most)
}

/// The period of all operands that wrap among some digits, if they agree and no list is in the way.
fn common_period(patterns: &[AxisPattern<'_>], digits: &Range<usize>) -> Option<usize> {
    let mut common = None;
    for pattern in patterns {
        match pattern.pattern {
            Pattern::Linear => {}
            Pattern::Cyclic { .. } if wraps(pattern, digits) == 0 => {}
            Pattern::Cyclic { period, step: 1, .. } if common.is_none_or(|p| p == period) => {
                common = Some(period)
            }
            _ => return None,
        }
    }
    common.filter(|&period| digits.len() >= 2 * period)
}

/// The first period of some digits, and those that are left over behind the last.
fn first_and_left(digits: &Range<usize>, period: usize) -> (Range<usize>, Range<usize>) {
    let left = digits.len() % period;
    (digits.start..digits.start + period, digits.end - left..digits.end)
}

/// Digits among others at which some operand starts over, ascending.
fn cuts(patterns: &[AxisPattern<'_>], digits: Range<usize>) -> Result<Vec<usize>> {
    let mut cuts = Vec::new();
    for pattern in patterns {
        let Pattern::Cyclic { period, step, .. } = pattern.pattern else { continue };
        let mut digit = digits.start;
        while digit < digits.end {
            // The first digit beyond the wrap after this one.
            digit += (period - position(pattern, digit)).div_ceil(step);
            if digit < digits.end {
                push(&mut cuts, digit)?;
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    Ok(cuts)
}

fn segments(cuts: &[usize], digits: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(digits.start).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(digits.end));
    starts.zip(ends).map(|(start, end)| start..end).filter(|digits| !digits.is_empty())
}

/// The loop over periods, in which operands that repeat stay where they are; others do not wrap.
fn repeats(patterns: &[AxisPattern<'_>], period: usize, times: usize) -> Loop {
    let strides = patterns.iter().map(|own| match own.pattern {
        Pattern::Linear => own.stride.wrapping_mul(period as isize),
        Pattern::Cyclic { period: all, step, .. } => {
            let far = step as u128 * period as u128 % all as u128;
            own.stride.wrapping_mul(far as isize)
        }
        Pattern::Listed(_) => 0,
    });
    let steps: PerOperand<Step> = strides.map(|stride| Step { stride, table: None }).collect();
    Loop { extent: times, steps }
}
