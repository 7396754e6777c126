//! Addresses of many positions at once.

use super::divider::Divider;
use super::{AddressMap, Layout};

impl Layout {
    /// Replaces row-major positions that lie inside by their addresses; quick where they ascend.
    pub(crate) fn relocate(&self, positions: &mut [usize]) {
        let (Some(low), Some(high)) = (positions.first(), positions.last()) else { return };
        let reach = high.saturating_sub(*low);
        match &self.axes[..] {
            _ if self.patterns.is_some() => {
                positions.iter_mut().for_each(|position| *position = self.address_at(*position));
            }
            [] => positions.fill(self.offset()),
            [axis] => positions.iter_mut().for_each(|position| {
                *position = (self.offset + axis.stride * *position as isize) as usize;
            }),
            [.., rows, columns] => {
                let plane = rows.extent * columns.extent;
                let (mut start, mut base) = (0, self.offset);
                let (mut row, mut across) = (0, 0);
                // Where rows have several positions it pays to see whether the next one is in the same.
                let dense = reach / columns.extent < positions.len() / 2;
                let divider = Divider::new(columns.extent, plane);
                for position in positions {
                    if position.wrapping_sub(start) >= plane {
                        start = *position - *position % plane;
                        base = self.address_at(start) as isize;
                        (row, across) = (0, 0);
                    }
                    let away = position.wrapping_sub(start);
                    let mut column = away.wrapping_sub(row);
                    if !dense || column >= columns.extent {
                        let (which, rest) = divider.divide(away);
                        column = rest;
                        (row, across) = (away - rest, rows.stride * which as isize);
                    }
                    *position = (base + across + columns.stride * column as isize) as usize;
                }
            }
        }
    }
}

impl AddressMap {
    /// Appends the addresses of row-major positions that lie inside; quick where they ascend.
    pub(crate) fn addresses_at(&self, positions: &[usize], addresses: &mut Vec<usize>) {
        let first = addresses.len();
        addresses.extend_from_slice(positions);
        let stages = std::iter::once(&self.top).chain(self.rest().iter().rev());
        stages.for_each(|stage| stage.relocate(&mut addresses[first..]));
    }
}
