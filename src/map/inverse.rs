//! The inverse of a layout: which indexes read a given address.

use super::axis::{AxisMap, Table, Walk};
use super::layout::Layout;
use crate::shape::Index;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Indexes of a view that read one address, ascending. See [`AddressMap::to_global`](super::AddressMap::to_global).
#[derive(Debug, Clone)]
pub struct Globals {
    /// One box of indexes for every way to reach the address; keyed by its next index.
    boxes: BinaryHeap<Reverse<(Index, usize)>>,
    rest: Vec<Product>,
}

impl Globals {
    pub(super) fn new(layout: &Layout, addresses: impl IntoIterator<Item = usize>) -> Self {
        let mut rest: Vec<Product> =
            addresses.into_iter().flat_map(|a| layout.preimages(a)).collect();
        let boxes = rest
            .iter_mut()
            .enumerate()
            .filter_map(|(which, product)| Some(Reverse((product.next()?, which))))
            .collect();
        Self { boxes, rest }
    }
}

impl Iterator for Globals {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        let Reverse((index, which)) = self.boxes.pop()?;
        if let Some(next) = self.rest[which].next() {
            self.boxes.push(Reverse((next, which)));
        }
        Some(index)
    }
}

/// Ascending digits of one axis.
#[derive(Debug, Clone)]
enum Digits {
    Progression { first: usize, step: usize, count: usize },
    Entries { table: Table, range: Range<usize> },
}

impl Digits {
    fn count(&self) -> usize {
        match self {
            Self::Progression { count, .. } => *count,
            Self::Entries { range, .. } => range.len(),
        }
    }

    fn get(&self, k: usize) -> usize {
        match self {
            Self::Progression { first, step, .. } => first + k * step,
            Self::Entries { table, range } => table.inverse()[range.start + k].1,
        }
    }
}

/// All indexes with one digit of each set, in row-major order.
#[derive(Debug, Clone)]
struct Product {
    sets: SmallVec<[Digits; 4]>,
    counters: Index,
    done: bool,
}

impl Product {
    fn next(&mut self) -> Option<Index> {
        if self.done {
            return None;
        }
        let index = self.sets.iter().zip(&self.counters).map(|(set, &k)| set.get(k)).collect();
        self.done = true;
        for (counter, set) in self.counters.iter_mut().zip(&self.sets).rev() {
            *counter += 1;
            if *counter < set.count() {
                self.done = false;
                break;
            }
            *counter = 0;
        }
        Some(index)
    }
}

/// Digits of an axis in normal form at one position; `None` if it is not visited.
fn digits_at(axis: &AxisMap, position: usize) -> Option<Digits> {
    match &axis.walk {
        Walk::Linear => (position < axis.extent).then_some(Digits::Progression {
            first: position,
            step: 1,
            count: 1,
        }),
        Walk::Cyclic { period, shift, step } => {
            if position >= *period {
                return None;
            }
            let away = (position + period - shift) % period;
            let first =
                (away as u128 * inverse_modulo(*step, *period) as u128 % *period as u128) as usize;
            let count = axis.extent.checked_sub(first)?.div_ceil(*period);
            (count > 0).then_some(Digits::Progression { first, step: *period, count })
        }
        Walk::Listed(table) => {
            let range = table.entries(position, position);
            (!range.is_empty()).then(|| Digits::Entries { table: table.clone(), range })
        }
    }
}

/// First digit of an axis in normal form at one position.
pub(super) fn digit_at(axis: &AxisMap, position: usize) -> Option<usize> {
    digits_at(axis, position).map(|digits| digits.get(0))
}

/// `x` with `a * x = 1` modulo `period`, for coprime numbers, by the extended Euclidean algorithm.
fn inverse_modulo(a: usize, period: usize) -> usize {
    let (mut r, mut next_r) = (period as i128, a as i128);
    let (mut x, mut next_x) = (0_i128, 1_i128);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (x, next_x) = (next_x, x - quotient * next_x);
    }
    x.rem_euclid(period as i128) as usize
}

impl Layout {
    /// Boxes of indexes whose address is `address`; disjoint, in no particular order.
    ///
    /// Axes of stride 0 contribute all their digits. The others are visited by falling |stride|,
    /// keeping the interval that the remaining ones can still reach: nested strides leave one
    /// candidate a level, overlapping windows become a bounded search.
    fn preimages(&self, address: usize) -> Vec<Product> {
        let mut found = Vec::new();
        if self.axes.iter().any(|axis| axis.extent == 0) {
            return found;
        }
        let mut sets: SmallVec<[Digits; 4]> = self
            .axes
            .iter()
            .map(|axis| Digits::Progression { first: 0, step: 1, count: axis.extent })
            .collect();
        let mut order: Vec<(usize, AxisMap)> =
            self.axes().enumerate().filter(|(_, a)| a.stride != 0).collect();
        order.sort_by_key(|(_, axis)| axis.stride.unsigned_abs());
        let mut reach = vec![(0_i128, 0_i128)];
        for (k, (_, axis)) in order.iter().enumerate() {
            let term = axis.stride as i128 * axis.last_position() as i128;
            reach.push((reach[k].0 + term.min(0), reach[k].1 + term.max(0)));
        }
        descend(&order, &reach, address as i128 - self.offset as i128, &mut sets, &mut found);
        found
    }
}

/// Chooses digits for the axes of `order` from the largest stride on, so that they sum to `rest`.
///
/// The depth is the number of axes longer than 1 with a stride: at most 62, as their extents multiply
/// to at most `isize::MAX`.
fn descend(
    order: &[(usize, AxisMap)],
    reach: &[(i128, i128)],
    rest: i128,
    sets: &mut SmallVec<[Digits; 4]>,
    found: &mut Vec<Product>,
) {
    let Some(((k, axis), below)) = order.split_last() else {
        if rest == 0 {
            let counters = sets.iter().map(|_| 0).collect();
            found.push(Product { sets: sets.clone(), counters, done: false });
        }
        return;
    };
    let (low, high) = reach[below.len()];
    let stride = axis.stride as i128;
    // Positions p with low <= rest - stride * p <= high.
    let (a, b) = if stride > 0 { (rest - high, rest - low) } else { (low - rest, high - rest) };
    let first = a.div_euclid(stride.abs()) + i128::from(a.rem_euclid(stride.abs()) != 0);
    let (first, last) =
        (first.max(0), b.div_euclid(stride.abs()).min(axis.last_position() as i128));
    if first > last {
        return;
    }
    let mut take = |position: usize| {
        if let Some(digits) = digits_at(axis, position) {
            sets[*k] = digits;
            descend(below, reach, rest - stride * position as i128, sets, found);
        }
    };
    if let Walk::Listed(table) = &axis.walk {
        let pairs = &table.inverse()[table.entries(first as usize, last as usize)];
        for (n, pair) in pairs.iter().enumerate() {
            if n == 0 || pairs[n - 1].0 != pair.0 {
                take(pair.0);
            }
        }
    } else {
        (first..=last).for_each(|position| take(position as usize));
    }
}
