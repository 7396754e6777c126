//! Addresses of many positions at once.

use super::divider::Divider;
use super::layout::Axis;
use super::{AddressMap, Layout, Pattern};
use crate::shape::Index;

impl Layout {
    /// Replaces row-major positions that lie inside by their addresses; quick where they ascend.
    pub(crate) fn relocate(&self, positions: &mut [usize]) {
        let (Some(low), Some(high)) = (positions.first(), positions.last()) else { return };
        let reach = high.saturating_sub(*low);
        match &self.axes[..] {
            [] => positions.fill(self.offset()),
            [.., columns] if self.patterns.is_some() => self.relocate_listed(positions, *columns),
            [axis] => positions.iter_mut().for_each(|position| {
                let along = axis.stride.wrapping_mul(*position as isize);
                *position = self.offset.wrapping_add(along) as usize;
            }),
            [.., rows, columns] => {
                let plane = rows.extent * columns.extent;
                let divider = Divider::new(columns.extent, plane);
                // Where rows have several positions it pays to see whether the next one is in the same.
                if reach / columns.extent < positions.len() / 2 {
                    self.relocate_rows(positions, [*rows, *columns], divider);
                } else if let Some(multiplier) = divider.multiplier() {
                    self.relocate_each(positions, [*rows, *columns], |at| multiplier.divide(at).0);
                } else {
                    self.relocate_each(positions, [*rows, *columns], |at| divider.divide(at).0);
                }
            }
        }
    }

    /// As [`Self::relocate`] where axes follow patterns: all of an address but for the last axis is that of the row.
    fn relocate_listed(&self, positions: &mut [usize], columns: Axis) {
        let pattern = self.pattern(self.axes.len() - 1);
        let along = |column| columns.stride.wrapping_mul(pattern.position(column) as isize);
        let (mut row_start, mut row_base, mut width) = (0, 0, 0);
        for position in positions {
            let mut column = position.wrapping_sub(row_start);
            if column >= width {
                column = *position % columns.extent;
                row_start = *position - column;
                row_base = (self.address_at(row_start) as isize).wrapping_sub(along(0));
                width = columns.extent;
            }
            *position = row_base.wrapping_add(along(column)) as usize;
        }
    }

    /// As [`Self::relocate`] for any rows and columns, a division for each position. `row` is that of a place in a plane.
    #[inline(always)]
    fn relocate_each(
        &self,
        positions: &mut [usize],
        [rows, columns]: [Axis; 2],
        row: impl Fn(usize) -> usize,
    ) {
        let plane = rows.extent * columns.extent;
        // From the end of a row to the beginning of the next one.
        let back = rows.stride.wrapping_sub(columns.stride.wrapping_mul(columns.extent as isize));
        // Where the plane of the position before begins, and the address there.
        let (mut start, mut base) = (0, self.offset);
        for position in positions {
            let mut at = position.wrapping_sub(start);
            if at >= plane {
                start = *position - *position % plane;
                base = self.address_at(start) as isize;
                at = position.wrapping_sub(start);
            }
            let along = columns.stride.wrapping_mul(at as isize);
            let across = back.wrapping_mul(row(at) as isize);
            *position = base.wrapping_add(along).wrapping_add(across) as usize;
        }
    }

    /// As [`Self::relocate_each`], a division for each row that positions are in.
    fn relocate_rows(&self, positions: &mut [usize], [rows, columns]: [Axis; 2], divider: Divider) {
        let plane = rows.extent * columns.extent;
        // The plane and the row of the position before: where they begin, and the addresses there.
        let (mut plane_start, mut plane_base) = (0, self.offset);
        let (mut row_start, mut row_base, mut width) = (0, 0, 0);
        for position in positions {
            let mut column = position.wrapping_sub(row_start);
            if column >= width {
                if position.wrapping_sub(plane_start) >= plane {
                    plane_start = *position - *position % plane;
                    plane_base = self.address_at(plane_start) as isize;
                }
                let row;
                (row, column) = divider.divide(position.wrapping_sub(plane_start));
                row_start = position.wrapping_sub(column);
                row_base = plane_base.wrapping_add(rows.stride.wrapping_mul(row as isize));
                width = columns.extent;
            }
            let along = columns.stride.wrapping_mul(column as isize);
            *position = row_base.wrapping_add(along) as usize;
        }
    }
}

/// Digits of a position along the first axes of a layout, and what they add up to with its offset.
struct Digits<'l> {
    layout: &'l Layout,
    digits: Index,
    address: isize,
}

impl<'l> Digits<'l> {
    fn new(layout: &'l Layout, axes: usize, position: usize) -> Self {
        let (mut rest, digits) = (position, Index::from_elem(0, axes));
        let mut own = Self { layout, digits, address: layout.offset };
        for axis in (0..axes).rev() {
            own.digits[axis] = rest % layout.axes[axis].extent;
            rest /= layout.axes[axis].extent;
            own.address = own.address.wrapping_add(own.along(axis));
        }
        own
    }

    /// What the digit of an axis adds.
    fn along(&self, axis: usize) -> isize {
        let position = self.layout.pattern(axis).position(self.digits[axis]);
        self.layout.axes[axis].stride.wrapping_mul(position as isize)
    }

    /// Goes to the next position, after the last to the first.
    fn advance(&mut self) {
        for axis in (0..self.digits.len()).rev() {
            let before = self.along(axis);
            let next = self.digits[axis] + 1;
            self.digits[axis] = if next < self.layout.axes[axis].extent { next } else { 0 };
            self.address = self.address.wrapping_add(self.along(axis).wrapping_sub(before));
            if self.digits[axis] > 0 {
                break;
            }
        }
    }
}

/// Rows below this length are not worth a run.
const SHORT: usize = 8;

impl Layout {
    /// Calls `visit` with runs of addresses that make up those of `count` neighbouring row-major positions, in their order:
    /// the first address, the distance of the next and how many. `false` if there are none that are worth it; then
    /// nothing was visited.
    pub(crate) fn for_each_run(
        &self,
        start: usize,
        count: usize,
        visit: &mut dyn FnMut(usize, isize, usize),
    ) -> bool {
        let Some((&Axis { extent, stride }, outer)) = self.axes.split_last() else { return false };
        // Where a cycle starts over there is one run more.
        let (period, shift) = match self.pattern(outer.len()) {
            Pattern::Linear => (usize::MAX, 0),
            Pattern::Cyclic { period, shift, step: 1 } if *period >= SHORT => (*period, *shift),
            _ => return false,
        };
        if extent < SHORT {
            return false;
        }
        let mut column = start % extent;
        let mut row = Digits::new(self, outer.len(), start / extent);
        let mut left = count;
        while left > 0 {
            let end = extent.min(column.saturating_add(left));
            left -= end - column;
            while column < end {
                let position = (shift + column) % period;
                let len = (end - column).min(period - position);
                let address = row.address.wrapping_add(stride.wrapping_mul(position as isize));
                visit(address as usize, stride, len);
                column += len;
            }
            column = 0;
            row.advance();
        }
        true
    }
}

impl AddressMap {
    /// Appends the addresses of row-major positions that lie inside; quick where they ascend.
    pub(crate) fn addresses_at(&self, positions: &[usize], addresses: &mut Vec<usize>) {
        let first = addresses.len();
        if self.is_contiguous() {
            let offset = self.top.offset();
            return addresses
                .extend(positions.iter().map(|position| offset.wrapping_add(*position)));
        }
        addresses.extend_from_slice(positions);
        let stages = std::iter::once(&self.top).chain(self.rest().iter().rev());
        stages.for_each(|stage| stage.relocate(&mut addresses[first..]));
    }
}
