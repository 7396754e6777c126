//! The indexes of one address in one layout, one at a time in row-major order.

use super::boxes::fitting;
use crate::error::Result;
use crate::map::axis::{AxisMap, Pattern};
use crate::map::layout::Layout;
use crate::map::numbers::{first_within, gcd, inverse_modulo};
use crate::map::table::Table;
use crate::memory::try_with_capacity;
use crate::shape::Index;
use std::cmp::Reverse;

/// A depth-first search: digits are chosen from the first axis on, each such that the axes after it
/// can still make up the rest.
///
/// What the later axes make up lies in an interval and is a multiple of the common divisor of their
/// strides. That is exact for one axis and nearly so for more, so few choices lead nowhere. On a
/// linear axis the choices are an arithmetic progression, on a cycle those of a walk that fall into an
/// interval; those of a listed axis are collected once.
#[derive(Debug, Clone)]
pub(super) struct Search {
    axes: Vec<AxisMap>,
    /// What the axes from the `k`-th on make up; one entry more than there are axes.
    sums: Vec<Sums>,
    /// The axes with a digit, and the one to choose for next.
    levels: Vec<Frame>,
}

/// Bounds on the sums of some axes: `low..=high`, multiples of `divisor`, just 0 if that is 0.
#[derive(Debug, Clone, Copy)]
struct Sums {
    low: i128,
    high: i128,
    divisor: usize,
}

impl Sums {
    fn allow(&self, sum: i128) -> bool {
        let divides = self.divisor == 0 || sum % self.divisor as i128 == 0;
        (self.low..=self.high).contains(&sum) && divides
    }
}

/// The choice of one digit.
#[derive(Debug, Clone)]
struct Frame {
    /// What this axis and the later ones have to make up.
    rest: i128,
    /// The digit chosen last, if there was one.
    digit: Option<usize>,
    /// Whether some choice led to an index.
    fruitful: bool,
    /// The digits of a listed axis that are left, the next one last.
    listed: Option<Vec<usize>>,
}

impl Frame {
    fn new(rest: i128) -> Self {
        Self { rest, digit: None, fruitful: false, listed: None }
    }
}

impl Search {
    /// `layout` is not empty.
    pub(super) fn new(layout: &Layout, address: usize) -> Self {
        let axes: Vec<AxisMap> = layout.axes().collect();
        let mut after = Sums { low: 0, high: 0, divisor: 0 };
        let mut sums = vec![after];
        for axis in axes.iter().rev() {
            let term = axis.stride as i128 * axis.last_position() as i128;
            after.low += term.min(0);
            after.high += term.max(0);
            after.divisor = gcd(after.divisor, axis.stride.unsigned_abs());
            sums.push(after);
        }
        sums.reverse();
        let rest = address as i128 - layout.offset() as i128;
        let levels = if sums[0].allow(rest) { vec![Frame::new(rest)] } else { Vec::new() };
        Self { axes, sums, levels }
    }

    /// The first digit of axis `k` from `from` on after which the rest can be made up.
    fn digit(&mut self, k: usize, from: usize) -> Option<usize> {
        let (axis, after, frame) = (&self.axes[k], self.sums[k + 1], &mut self.levels[k]);
        if axis.stride == 0 || from >= axis.extent {
            return (from < axis.extent).then_some(from);
        }
        let (stride, rest) = (axis.stride as i128, frame.rest);
        let fits = |position: usize| after.allow(rest - stride * position as i128);
        let (first, last) = fitting(axis, rest, after.low, after.high)?;
        match &axis.pattern {
            Pattern::Linear => {
                let first = first.max(from);
                let digit = first + skipped(stride, rest, after.divisor, first);
                (digit <= last).then_some(digit)
            }
            Pattern::Cyclic { period, step, .. } => {
                // Positions come again after a period.
                let (mut digit, end) = (from, axis.extent.min(from.saturating_add(*period)));
                while digit < end {
                    let steps = first_within(*period, axis.position(digit), *step, [first, last])?;
                    digit = usize::try_from(steps).ok()?.checked_add(digit)?;
                    // From there positions rise evenly for a while.
                    let position = axis.position(digit);
                    let (rise, left) = axis.pattern.run(digit);
                    let left = left.min((last - position) / rise + 1);
                    let each = stride * rise as i128 % after.divisor.max(1) as i128;
                    let skip = skipped(each, rest - stride * position as i128, after.divisor, 0);
                    let found = digit.checked_add(skip).filter(|found| *found < end);
                    if let Some(found) = found.filter(|_| skip < left)
                        && fits(axis.position(found))
                    {
                        return Some(found);
                    }
                    digit = digit.saturating_add(left);
                }
                None
            }
            Pattern::Listed(table) => {
                if frame.listed.is_none() {
                    frame.listed = fitting_digits(table, from, [first, last], fits).ok();
                }
                match &mut frame.listed {
                    Some(digits) => digits.pop(),
                    None => (from..axis.extent).find(|&digit| fits(axis.position(digit))),
                }
            }
        }
    }
}

/// The digits from `from` on at those positions of an interval that fit, descending.
fn fitting_digits(
    table: &Table,
    from: usize,
    [first, last]: [usize; 2],
    fits: impl Fn(usize) -> bool,
) -> Result<Vec<usize>> {
    let pairs = table.invert()?.get(table.entries(first, last)).unwrap_or_default();
    let mut digits = try_with_capacity(pairs.len())?;
    let fitting = pairs.iter().filter(|pair| pair.1 >= from && fits(pair.0));
    digits.extend(fitting.map(|pair| pair.1));
    digits.sort_unstable_by_key(|&digit| Reverse(digit));
    Ok(digits)
}

/// How far after `first` the next `x` with `stride * x = rest` modulo `divisor` stands, where there is
/// one; 0 for divisor 0.
fn skipped(stride: i128, rest: i128, divisor: usize, first: usize) -> usize {
    if divisor <= 1 {
        return 0;
    }
    let common = gcd(divisor, stride.unsigned_abs() as usize);
    let period = divisor / common;
    if period <= 1 {
        return 0;
    }
    let reduced = |x: i128| (x / common as i128).rem_euclid(period as i128);
    let inverse = inverse_modulo(reduced(stride) as usize, period) as i128;
    let digit = reduced(rest) * inverse % period as i128;
    (digit - first as i128).rem_euclid(period as i128) as usize
}

impl Iterator for Search {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        loop {
            let k = self.levels.len().checked_sub(1)?;
            let Some(axis) = self.axes.get(k) else {
                self.levels.pop();
                self.levels.iter_mut().for_each(|level| level.fruitful = true);
                return Some(self.levels.iter().filter_map(|level| level.digit).collect());
            };
            let Frame { rest, digit, fruitful, .. } = self.levels[k];
            // All digits of an axis of stride 0 lead to the same.
            let hopeless = axis.stride == 0 && digit.is_some() && !fruitful;
            let from = digit.map_or(0, |digit| digit + 1);
            match self.digit(k, from).filter(|_| !hopeless) {
                Some(digit) => {
                    let axis = &self.axes[k];
                    let rest = rest - axis.stride as i128 * axis.position(digit) as i128;
                    self.levels[k].digit = Some(digit);
                    self.levels.push(Frame::new(rest));
                }
                None => {
                    self.levels.pop();
                }
            }
        }
    }
}
