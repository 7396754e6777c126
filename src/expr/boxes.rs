//! Boxes in which results are computed or handed on, one after another.

use crate::map::Select;
use crate::shape::Shape;
use std::ops::Range;

/// Indexes beside a whole axis that are taken at once at least, as neighbours share cache lines, unless they have more
/// elements than this.
const NEIGHBOURS: usize = 16;
const MOST_ELEMENTS: usize = 1 << 24;

/// Boxes of a shape that follow one another in row-major order and hold at most `limit` elements each, or
/// one: a range per axis, up to the last axis that is not whole.
///
/// A box is a range of the first axis whose single items fit, at one index of the axes before it, unless it has whole
/// blocks of storage. The last along that axis may be a little larger where that is said.
#[derive(Debug, Clone)]
pub struct Boxes {
    shape: Shape,
    /// Axes up to the one that is cut, and the extent of a box along that one.
    cut: usize,
    length: usize,
    /// Extent that the last box along that axis has at least, or it is one with the box before it.
    least: usize,
    /// Numbers of the boxes that are left.
    numbers: Range<usize>,
    /// Axes that every box has whole, with their extents; they count as 1 in `shape`.
    whole: Vec<(usize, usize)>,
    /// Where boxes begin along each axis, if they have whole blocks; one after another where there are none.
    starts: Vec<Vec<usize>>,
}

impl Boxes {
    pub(crate) fn new(shape: Shape, limit: usize) -> Self {
        let limit = limit.max(1);
        // Axes that are not whole, and the elements of one item of the last of them.
        let (mut cut, mut item) = (shape.rank(), 1_usize);
        while cut > 0 && item.saturating_mul(shape[cut - 1]) <= limit {
            cut -= 1;
            item *= shape[cut];
        }
        let length = (limit / item.max(1)).max(1);
        let (numbers, whole, starts) = (0..0, Vec::new(), Vec::new());
        Self { cut, length, least: 1, numbers, shape, whole, starts }.numbered()
    }

    /// With all numbers.
    fn numbered(mut self) -> Self {
        let steps = (0..self.cut).map(|axis| self.steps(axis));
        self.numbers.end =
            match self.shape.contains(&0) || self.whole.iter().any(|axis| axis.1 == 0) {
                true => 0,
                false => steps.fold(1, usize::saturating_mul),
            };
        self
    }

    /// The same, of which none has fewer elements side by side than this, if all together do not: for what goes another way
    /// then, and sums in another order.
    pub(crate) fn at_least(self, least: usize) -> Self {
        let is_cut = self.cut > 0 && self.side_by_side() == Some(self.cut - 1);
        let length = if is_cut { self.length.max(least) } else { self.length };
        Self { least, length, ..self }.numbered()
    }

    /// The axis along which elements are side by side.
    fn side_by_side(&self) -> Option<usize> {
        self.shape.iter().rposition(|extent| *extent > 1)
    }

    /// The same of which no two have elements of one block, if parts of axes that begin at `starts` have none: of as many
    /// elements or more. Where whole blocks make that more than `most`, as many elements as these, ending in blocks if they
    /// can.
    pub(crate) fn in_blocks(self, mut starts: Vec<Vec<usize>>, most: usize) -> Self {
        if self.cut == 0 || self.numbers.is_empty() {
            return self;
        }
        starts.truncate(self.shape.rank());
        let whole = self.whole.iter().fold(1, |all: usize, axis| all.saturating_mul(axis.1));
        let item = self.shape[self.cut..].iter().fold(whole, |all, n| all.saturating_mul(*n));
        let wanted = self.length.saturating_mul(item);
        let side_by_side = self.side_by_side();
        let mut size = whole;
        for (axis, (starts, &extent)) in starts.iter_mut().zip(self.shape.iter()).enumerate() {
            let least = if Some(axis) == side_by_side { self.least } else { 1 };
            size = size.saturating_mul(join_parts(starts, extent, least));
        }
        if size > most {
            let length = (most / item.max(1)).max(self.length).min(self.shape[self.cut - 1].max(1));
            return Self { length, ..self }.numbered().ending_in(&starts);
        }
        for (starts, &extent) in starts.iter_mut().zip(self.shape.iter()).rev() {
            let longest = join_parts(starts, extent, 1);
            let longer = longest.saturating_mul(wanted / size);
            size = size / longest * join_parts(starts, extent, longer).max(longest);
        }
        let cut = starts.iter().rposition(|starts| starts.len() > 1).map_or(0, |axis| axis + 1);
        Self { cut, starts, ..self }.numbered()
    }

    /// The same in the same order, of which none ends within parts of the axis that is cut, if these fit.
    pub(crate) fn ending_in(self, starts: &[Vec<usize>]) -> Self {
        let Some(axis) = self.cut.checked_sub(1).filter(|axis| *axis < starts.len()) else {
            return self;
        };
        let (mut ends, extent) = (vec![0], self.shape[axis]);
        let parts = starts[axis].iter().copied().filter(|start| *start < extent);
        let mut parts = parts.chain([extent]).skip(1).peekable();
        while let (Some(end), Some(last)) = (parts.next(), ends.last()) {
            if end - last > self.length {
                return self;
            }
            if parts.peek().is_some_and(|next| next - last > self.length) {
                ends.push(end);
            }
        }
        if self.side_by_side() == Some(axis) {
            join_parts(&mut ends, extent, self.least);
        }
        let mut starts = vec![Vec::new(); axis];
        starts.push(ends);
        Self { starts, ..self }.numbered()
    }

    /// Boxes that have some axes whole, and more than `limit` elements only to have a few of the others.
    pub(crate) fn around(shape: &Shape, limit: usize, is_whole: impl Fn(usize) -> bool) -> Self {
        let axes = || shape.iter().copied().enumerate();
        let each = axes().filter(|(axis, _)| is_whole(*axis)).map(|(_, extent)| extent);
        let each = each.fold(1, usize::saturating_mul).max(1);
        let extents = axes().map(|(axis, extent)| if is_whole(axis) { 1 } else { extent });
        let mut boxes =
            Self::new(extents.collect(), (limit / each).max(NEIGHBOURS.min(MOST_ELEMENTS / each)));
        boxes.whole = axes().filter(|(axis, _)| is_whole(*axis)).collect();
        boxes.numbered()
    }

    fn starts_along(&self, axis: usize) -> Option<&[usize]> {
        self.starts.get(axis).map(Vec::as_slice).filter(|starts| !starts.is_empty())
    }

    /// Boxes along an axis that is not whole.
    fn steps(&self, axis: usize) -> usize {
        if let Some(starts) = self.starts_along(axis) {
            return starts.len();
        }
        let length = if axis + 1 == self.cut { self.length } else { 1 };
        let (full, rest) = (self.shape[axis] / length, self.shape[axis] % length);
        let cuts = self.shape[self.cut..].iter().any(|extent| *extent > 1);
        full + usize::from(rest > 0 && (cuts || rest >= self.least || full == 0))
    }

    /// The box of a number.
    fn at(&self, mut number: usize) -> Vec<Range<usize>> {
        let mut ranges: Vec<_> = (0..self.cut).map(|axis| 0..self.shape[axis]).collect();
        for axis in (0..self.cut).rev() {
            let (steps, extent) = (self.steps(axis), self.shape[axis]);
            let start = |step: usize| match self.starts_along(axis) {
                _ if step == steps => extent,
                Some(starts) => starts[step],
                None if axis + 1 == self.cut => step * self.length,
                None => step,
            };
            let step = number % steps;
            ranges[axis] = start(step)..start(step + 1);
            number /= steps;
        }
        for &(axis, extent) in &self.whole {
            if let Some(range) = ranges.get_mut(axis) {
                *range = 0..extent;
            }
        }
        ranges
    }

    /// Boxes that are left.
    pub(crate) fn count_left(&self) -> usize {
        self.numbers.len()
    }

    /// The first half of the boxes that are left, the others, and the elements of the first half. No axis is whole
    /// in all of them.
    pub(crate) fn halves(self) -> (Self, Self, usize) {
        let middle = self.numbers.start + self.numbers.len() / 2;
        let position = |number: usize| {
            let starts = self.at(number);
            let starts = starts.iter().map(|range| range.start).chain(std::iter::repeat(0));
            let digits = starts.zip(self.shape.iter());
            digits.fold(0, |position, (start, extent)| position * extent + start)
        };
        let elements = position(middle) - position(self.numbers.start);
        let (start, end) = (self.numbers.start, self.numbers.end);
        let later = Self { numbers: middle..end, ..self.clone() };
        (Self { numbers: start..middle, ..self }, later, elements)
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.numbers.next()?;
        Some(self.at(number))
    }
}

/// Joins parts of an axis that begin at `starts` until none is shorter than `least`; returns how long the longest is.
fn join_parts(starts: &mut Vec<usize>, extent: usize, least: usize) -> usize {
    let mut last: Option<usize> = None;
    starts.retain(|&start| {
        let begins = start < extent && last.is_none_or(|last| start - last >= least);
        last = if begins { Some(start) } else { last };
        begins
    });
    if starts.len() > 1 && starts.last().is_some_and(|last| extent - last < least) {
        starts.pop();
    }
    let ends = starts.iter().skip(1).chain([&extent]);
    starts.iter().zip(ends).map(|(start, end)| end - start).max().unwrap_or(1)
}

/// Elements of a tensor whose ranges are these, and whole beyond.
pub(crate) fn box_shape(shape: &Shape, ranges: &[Range<usize>]) -> Shape {
    let cut = ranges.iter().map(Range::len);
    cut.chain(shape.iter().skip(ranges.len()).copied()).collect()
}

/// The box as selectors of a view.
pub(crate) fn selectors(ranges: &[Range<usize>]) -> Vec<Select> {
    // Extents fit in `isize`.
    ranges.iter().map(|range| Select::range(range.start as isize..range.end as isize)).collect()
}

/// As [`selectors`], with all of `axis`, whose extent is another one there.
pub(crate) fn selectors_around(ranges: &[Range<usize>], axis: usize) -> Vec<Select> {
    let mut selectors = selectors(ranges);
    if let Some(selector) = selectors.get_mut(axis) {
        *selector = Select::All;
    }
    selectors
}
