//! One axis of a layout: an extent, a stride and the pattern of positions along it.

use super::numbers::{gcd, lowest_position};
use super::table::{Table, ends, listed};
use crate::error::Result;
use crate::memory::owned;
use num_traits::Euclid;
use std::borrow::Cow;

/// Longest axis for which a table of positions is made. Beyond it a stage serves.
pub(super) const TABLE_LIMIT: usize = 1 << 20;

/// How the positions along an axis follow its indexes `0..extent`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Position `i` at index `i`.
    Linear,
    /// Position `(shift + i * step) mod period` at index `i`: rotated and repeated axes.
    Cyclic {
        /// Number of positions in the cycle.
        period: usize,
        /// Position of index 0.
        shift: usize,
        /// Positions from one index to the next.
        step: usize,
    },
    /// Position `table[i]` at index `i`.
    Listed(Table),
}

/// One axis: index `i` along it contributes `stride * position(i)` to the address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisMap {
    /// Length of the axis.
    pub extent: usize,
    /// Distance of neighbouring positions, in elements.
    pub stride: isize,
    /// Positions along the axis.
    pub pattern: Pattern,
}

/// An axis in normal form and the constant that normalising split off.
pub(crate) type Normal = (AxisMap, i128);

impl AxisMap {
    /// An axis whose positions are its indexes.
    pub fn linear(extent: usize, stride: isize) -> Self {
        Self { extent, stride, pattern: Pattern::Linear }
    }

    /// Position at `digit`, which lies below the extent.
    #[inline]
    pub(crate) fn position(&self, digit: usize) -> usize {
        self.pattern.position(digit)
    }

    /// Largest position of an axis in normal form; the smallest is 0.
    pub(crate) fn last_position(&self) -> usize {
        match &self.pattern {
            Pattern::Linear => self.extent.saturating_sub(1),
            Pattern::Cyclic { period, shift, step } => {
                let mirrored = (period - 1 - shift, period - step);
                period - 1 - lowest_position(self.extent, *period, mirrored.0, mirrored.1)
            }
            Pattern::Listed(table) => table.last(),
        }
    }

    /// Builds the inverse of a table, so that digits can be looked up.
    pub(crate) fn invert(&self) -> Result<()> {
        match &self.pattern {
            Pattern::Listed(table) => table.invert().map(drop),
            _ => Ok(()),
        }
    }

    /// Whether positions are listed and ascend: they are their own inverse, but for digits.
    pub(super) fn is_rising_list(&self) -> bool {
        matches!(&self.pattern, Pattern::Listed(table) if table.ascends())
    }

    /// Whether the pattern visits some position twice, or there is no memory to find that out.
    pub(crate) fn repeats(&self) -> bool {
        match &self.pattern {
            Pattern::Linear => false,
            Pattern::Cyclic { period, .. } => self.extent > *period,
            Pattern::Listed(_) if self.is_rising_list() => false,
            Pattern::Listed(table) => table
                .invert()
                .map_or(true, |pairs| pairs.windows(2).any(|pair| pair[0].0 == pair[1].0)),
        }
    }

    /// Normal form: the same contributions up to a constant, in the one way of writing them.
    ///
    /// A constant axis has stride 0. Two digits are always linear. A cycle has step and period
    /// coprime, takes the shorter way round (`2 * step < period`, or period 2 and a positive
    /// stride), wraps at least once, and visits position 0. A table has a positive stride, visits
    /// position 0, its positions have no common divisor, and it is neither linear nor a cycle.
    ///
    /// A difference of two visited addresses never needs more than twice the range of `isize`, so
    /// the caller's check of the addresses in `i128` covers all arithmetic here.
    pub(crate) fn into_normal(self) -> Result<Normal> {
        let Self { extent, stride, pattern } = self;
        if extent == 0 {
            return Ok((Self::linear(0, 0), 0));
        }
        Ok(match pattern {
            _ if extent == 1 || stride == 0 => {
                let constant = stride as i128 * pattern.position(0) as i128;
                (Self::linear(extent, 0), constant)
            }
            Pattern::Linear => (Self::linear(extent, stride), 0),
            Pattern::Cyclic { period, shift, step } => {
                normal_cycle(extent, stride as i128, period, shift % period, step % period)
            }
            Pattern::Listed(table) => return normal_table(stride as i128, table),
        })
    }

    /// Digits `start, start + step, ..`, `count` of them, all of which lie inside.
    pub(crate) fn range(&self, start: usize, step: isize, count: usize) -> Result<Normal> {
        let taken = match &self.pattern {
            Pattern::Linear => {
                let constant = self.stride as i128 * start as i128;
                let stride = if count < 2 { 0 } else { self.stride * step };
                return Ok((Self::linear(count, stride), constant));
            }
            Pattern::Cyclic { period, shift, step: old } => {
                let (p, s) = (*period as i128, *old as i128);
                let shift = (*shift as i128 + start as i128 * s).rem_euclid(p) as usize;
                let step = (s * Euclid::rem_euclid(&(step as i128), &p)).rem_euclid(p) as usize;
                Pattern::Cyclic { period: *period, shift, step }
            }
            Pattern::Listed(table) => {
                let digits = (0..count).map(|i| start.wrapping_add_signed(i as isize * step));
                Pattern::Listed(listed(digits.map(|digit| table.positions()[digit]))?)
            }
        };
        Self { extent: count, stride: self.stride, pattern: taken }.into_normal()
    }

    /// The digits in `list`, all of which lie inside.
    pub(super) fn list<'l>(&self, list: impl Into<Cow<'l, [usize]>>) -> Result<Normal> {
        let list = list.into();
        let ends = ends(&list);
        self.list_of_ends(list, ends)
    }

    /// The same, where the smallest and the largest digit are known.
    pub(super) fn list_of_ends(&self, list: Cow<'_, [usize]>, ends: [usize; 2]) -> Result<Normal> {
        let extent = list.len();
        let table = match &self.pattern {
            Pattern::Linear => Table::of_ends(owned(list)?, ends),
            pattern => listed(list.iter().map(|&digit| pattern.position(digit)))?,
        };
        Self { extent, stride: self.stride, pattern: Pattern::Listed(table) }.into_normal()
    }

    /// The digits moved up by `shift < extent`, if the result is linear or a cycle.
    pub(crate) fn rotated(&self, shift: usize) -> Option<Normal> {
        let n = self.extent;
        let pattern = match &self.pattern {
            _ if shift == 0 || self.stride == 0 => return Some((self.clone(), 0)),
            Pattern::Linear => Pattern::Cyclic { period: n, shift: n - shift, step: 1 },
            Pattern::Cyclic { period, shift: old, step } if closes(n, *step, *period) => {
                let back = shift as u128 * *step as u128 % *period as u128;
                let moved = (*old as u128 + *period as u128 - back) % *period as u128;
                Pattern::Cyclic { period: *period, shift: moved as usize, step: *step }
            }
            _ => return None,
        };
        Self { extent: n, stride: self.stride, pattern }.into_normal().ok()
    }

    /// The whole axis `times` over, if the result is linear or a cycle.
    pub(crate) fn repeated(&self, times: usize) -> Option<Normal> {
        let extent = self.extent * times;
        let pattern = match &self.pattern {
            _ if times == 1 => return Some((self.clone(), 0)),
            _ if self.stride == 0 => Pattern::Linear,
            Pattern::Linear => Pattern::Cyclic { period: self.extent, shift: 0, step: 1 },
            Pattern::Cyclic { period, step, .. } if closes(self.extent, *step, *period) => {
                self.pattern.clone()
            }
            _ => return None,
        };
        Self { extent, stride: self.stride, pattern }.into_normal().ok()
    }

    /// An axis of given contributions, which are differences of addresses.
    pub(crate) fn of_contributions(
        contributions: impl ExactSizeIterator<Item = i128> + Clone,
    ) -> Result<Normal> {
        let count = contributions.len();
        let lowest = contributions.clone().min().unwrap_or(0);
        let table = listed(contributions.map(|c| (c - lowest) as usize))?;
        let (axis, constant) =
            Self { extent: count, stride: 1, pattern: Pattern::Listed(table) }.into_normal()?;
        Ok((axis, constant + lowest))
    }
}

impl Pattern {
    #[inline]
    pub(crate) fn position(&self, digit: usize) -> usize {
        // Numbers of 128 bits are divided by a function.
        match self {
            Self::Linear => digit,
            Self::Cyclic { period, shift, step } => {
                match digit.checked_mul(*step).and_then(|steps| steps.checked_add(*shift)) {
                    Some(position) if position < *period => position,
                    Some(position) => position % period,
                    None => {
                        let steps = digit as u128 * *step as u128;
                        ((*shift as u128 + steps) % *period as u128) as usize
                    }
                }
            }
            Self::Listed(table) => table.positions()[digit],
        }
    }

    /// Positions from one digit to the next, and for how many digits from this one on they rise so.
    pub(crate) fn run(&self, digit: usize) -> (usize, usize) {
        match self {
            Self::Linear => (1, usize::MAX),
            Self::Cyclic { period, step, .. } => {
                let left = (period - 1 - self.position(digit)).checked_div(*step);
                (*step, left.map_or(usize::MAX, |left| left + 1))
            }
            Self::Listed(_) => (0, 1),
        }
    }

    /// How many digits lie in such runs, on average.
    pub(crate) fn mean_run(&self, extent: usize) -> usize {
        match self {
            Self::Linear => extent,
            Self::Cyclic { period, step, .. } => (period / (*step).max(1)).min(extent),
            Self::Listed(_) => 1,
        }
    }
}

/// Whether `extent` steps lead back to where a cycle started.
fn closes(extent: usize, step: usize, period: usize) -> bool {
    (extent as u128 * step as u128).is_multiple_of(period as u128)
}

fn normal_cycle(
    extent: usize,
    mut stride: i128,
    period: usize,
    shift: usize,
    step: usize,
) -> Normal {
    let fixed = |stride: i128, constant: i128| (AxisMap::linear(extent, stride as isize), constant);
    let common = gcd(step, period);
    if common == period {
        return fixed(0, stride * shift as i128);
    }
    let mut constant = stride * (shift % common) as i128;
    stride *= common as i128;
    let (period, mut shift, mut step) = (period / common, shift / common, step / common);
    if step > period - step || (period == 2 && stride < 0) {
        constant += stride * (period - 1) as i128;
        stride = -stride;
        (shift, step) = (period - 1 - shift, period - step);
    }
    let last = shift as u128 + step as u128 * (extent - 1) as u128;
    if last < period as u128 {
        return fixed(stride * step as i128, constant + stride * shift as i128);
    }
    if extent == 2 {
        return fixed(stride * (step as i128 - period as i128), constant + stride * shift as i128);
    }
    let lowest = lowest_position(extent, period, shift, step);
    let pattern = Pattern::Cyclic { period, shift: shift - lowest, step };
    (AxisMap { extent, stride: stride as isize, pattern }, constant + stride * lowest as i128)
}

fn normal_table(mut stride: i128, table: Table) -> Result<Normal> {
    let positions = table.positions();
    let extent = positions.len();
    let (lowest, highest) = (table.lowest(), table.last());
    let mut common = 0;
    for position in positions {
        common = gcd(position - lowest, common);
        if common == 1 {
            break;
        }
    }
    if common == 0 {
        return Ok((AxisMap::linear(extent, 0), stride * lowest as i128));
    }
    let mirrored = stride < 0;
    let zero = if mirrored { highest } else { lowest };
    let constant = stride * zero as i128;
    stride = stride.abs() * common as i128;
    let reduced = |position: usize| position.abs_diff(zero) / common;

    let first = reduced(positions[0]) as i128;
    let mut steps = positions.windows(2).map(|w| reduced(w[1]) as i128 - reduced(w[0]) as i128);
    let one = steps.next().unwrap_or(0);
    let Some(other) = steps.find(|&step| step != one) else {
        return Ok((AxisMap::linear(extent, (stride * one) as isize), constant + stride * first));
    };
    let (up, down) = (one.max(other), one.min(other));
    let period = up - down;
    let reach = (highest - lowest) / common;
    let falls_back = up > 0 && down < 0 && (reach as i128) < period;
    if falls_back && steps.all(|step| step == one || step == other) {
        let (axis, extra) =
            normal_cycle(extent, stride, period as usize, first as usize, up as usize);
        return Ok((axis, constant + extra));
    }
    let table = match common {
        1 if !mirrored && lowest == 0 => table,
        // Without a division.
        1 => table.mapped(|position| position.abs_diff(zero))?,
        _ => table.mapped(reduced)?,
    };
    Ok((AxisMap { extent, stride: stride as isize, pattern: Pattern::Listed(table) }, constant))
}
