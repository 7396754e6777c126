//! Layouts whose strides nest: the digits of an address follow by division.

use super::axis::Pattern;
use super::layout::Layout;
use super::numbers::inverse_modulo;
use super::table::Table;
use crate::error::Result;

/// A layout of which every address has one position on each axis: each |stride| exceeds what all smaller
/// ones reach together.
///
/// Row-major positions are sums over the axes: of `weight * digit`, where the weight of an axis is the
/// number of indexes of the axes after it. Digits of repeated axes are the first ones; [`Self::repeats`]
/// lists the others.
#[derive(Debug, Clone)]
pub(crate) struct Nested {
    /// The lowest address.
    pub(crate) lowest: usize,
    /// The axes with a stride, by falling |stride|.
    pub(crate) levels: Vec<NestedAxis>,
    /// The axes with several digits for one position, outermost first.
    pub(crate) repeats: Vec<Repeat>,
}

/// One axis as addresses see it: position `(address - lowest) / stride`, once the axes of larger strides
/// have been taken off.
#[derive(Debug, Clone)]
pub(crate) struct NestedAxis {
    pub(crate) axis: usize,
    /// Absolute value of the stride.
    pub(crate) stride: usize,
    /// The largest position; the smallest is 0.
    pub(crate) last: usize,
    /// Row-major positions from one digit to the next.
    pub(crate) weight: usize,
    pub(crate) digits: Digits,
}

/// From the position on an axis to its digits.
#[derive(Debug, Clone)]
pub(crate) enum Digits {
    /// The position.
    Same,
    /// The last position less the position.
    Mirrored,
    /// `(position - shift) * inverse mod period`, if that is a digit. Mirrored positions count from the
    /// last one.
    Cyclic { period: usize, shift: usize, inverse: usize, extent: usize, mirrored: bool },
    /// Those that the table lists.
    Listed(Table),
}

/// Digits `d, d + period, ..` of one axis that read the same, in row-major positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Row-major positions of the whole axis.
    pub(crate) block: usize,
    /// From one digit to the next that reads the same.
    pub(crate) step: usize,
}

impl Layout {
    /// The layout as seen from its addresses, if strides nest and it is not empty.
    pub(crate) fn nested(&self) -> Result<Option<Nested>> {
        self.invert()?;
        Ok(self.inverted())
    }

    /// [`Self::nested`], where tables have their inverses.
    fn inverted(&self) -> Option<Nested> {
        let (mut levels, mut repeats) = (Vec::new(), Vec::new());
        let mut weight = 1;
        for axis in (0..self.rank()).rev() {
            let map = self.axis_map(axis);
            if map.extent == 0 {
                return None;
            }
            let block = weight * map.extent;
            if map.extent > 1 && map.stride == 0 {
                repeats.push(Repeat { block, step: weight });
            } else if map.extent > 1 {
                let mirrored = map.stride < 0;
                let digits = match &map.pattern {
                    Pattern::Linear if mirrored => Digits::Mirrored,
                    Pattern::Linear => Digits::Same,
                    Pattern::Listed(table) => Digits::Listed(table.clone()),
                    &Pattern::Cyclic { period, shift, step } => {
                        if map.extent > period {
                            repeats.push(Repeat { block, step: period * weight });
                        }
                        let inverse = inverse_modulo(step, period);
                        match (shift, step, mirrored) {
                            (0, 1, false) if map.extent >= period => Digits::Same,
                            _ => {
                                let extent = map.extent;
                                Digits::Cyclic { period, shift, inverse, extent, mirrored }
                            }
                        }
                    }
                };
                let (stride, last) = (map.stride.unsigned_abs(), map.last_position());
                levels.push(NestedAxis { axis, stride, last, weight, digits });
            }
            weight = block;
        }
        repeats.reverse();
        levels.sort_by_key(|level| std::cmp::Reverse(level.stride));
        let mut reach = 0_usize;
        for level in levels.iter().rev() {
            if level.stride <= reach {
                return None;
            }
            reach += level.stride * level.last;
        }
        Some(Nested { lowest: self.span().start, levels, repeats })
    }
}

impl Nested {
    /// How many indexes show an address at the most, but for those of [`Self::repeats`].
    pub(crate) fn most_ways(&self, address: usize) -> usize {
        let (mut rest, mut ways) = (address.wrapping_sub(self.lowest), 1_usize);
        for level in &self.levels {
            let position = rest / level.stride;
            if position > level.last {
                return 0;
            }
            rest %= level.stride;
            ways = ways.saturating_mul(level.most_digits(position));
        }
        if rest == 0 { ways } else { 0 }
    }
}

impl NestedAxis {
    /// How many digits there are at the most at a position up to the last.
    pub(crate) fn most_digits(&self, position: usize) -> usize {
        match &self.digits {
            Digits::Listed(table) => table.entries(position, position).len(),
            _ => 1,
        }
    }

    /// Whether digits rise with positions, one for each.
    pub(crate) fn ascends(&self) -> bool {
        match &self.digits {
            Digits::Same => true,
            Digits::Mirrored | Digits::Cyclic { .. } => false,
            Digits::Listed(table) => table.ascends(),
        }
    }

    /// Whether some position has several digits that [`Nested::repeats`] does not list.
    pub(crate) fn branches(&self) -> bool {
        match &self.digits {
            Digits::Listed(table) => table.inverse().windows(2).any(|pair| pair[0].0 == pair[1].0),
            _ => false,
        }
    }

    /// Calls `visit` with every digit, ascending, at a position up to the last.
    #[inline]
    pub(crate) fn for_each_digit(&self, position: usize, mut visit: impl FnMut(usize)) {
        match &self.digits {
            Digits::Same => visit(position),
            Digits::Mirrored => visit(self.last - position),
            Digits::Cyclic { period, shift, inverse, extent, mirrored } => {
                let position = if *mirrored { self.last - position } else { position };
                let away =
                    if position >= *shift { position - shift } else { position + (period - shift) };
                let digit = match inverse {
                    1 => away,
                    _ => (away as u128 * *inverse as u128 % *period as u128) as usize,
                };
                if digit < *extent {
                    visit(digit);
                }
            }
            Digits::Listed(table) => {
                for &(_, digit) in &table.inverse()[table.entries(position, position)] {
                    visit(digit);
                }
            }
        }
    }
}
