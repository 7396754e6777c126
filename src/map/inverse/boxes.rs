//! All ways to reach an address at once: boxes of indexes, merged in row-major order.

use crate::error::Result;
use crate::map::axis::{AxisMap, Pattern};
use crate::map::layout::Layout;
use crate::map::numbers::inverse_modulo;
use crate::map::table::Table;
use crate::shape::Index;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Most boxes that are kept.
pub(super) const KEPT: usize = 1024;
/// Most candidates that are tried to find those of one address, beside [`TRIED_EACH`] for each that is found.
const TRIED: usize = 1 << 16;
const TRIED_EACH: usize = 64;

/// Indexes of a layout that read one of some addresses, ascending.
#[derive(Debug, Clone)]
pub(super) struct Boxes {
    /// The next index of every box that has one, and which box that is.
    next: BinaryHeap<Reverse<(Index, usize)>>,
    rest: Vec<Product>,
}

impl Boxes {
    /// All boxes of all `addresses`; `None` if there are too many or they are hard to find.
    pub(super) fn new(layout: &Layout, addresses: &[usize]) -> Option<Self> {
        // Without inverses the search tries all digits.
        let finder = Finder::new(layout).ok()?;
        let mut rest = Vec::new();
        for &address in addresses {
            finder.boxes(address, &mut |product| {
                rest.push(product.clone());
                (rest.len() <= KEPT).then_some(())
            })?;
        }
        let next = rest
            .iter_mut()
            .enumerate()
            .filter_map(|(which, product)| Some(Reverse((product.next()?, which))))
            .collect();
        Some(Self { next, rest })
    }
}

impl Iterator for Boxes {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        let Reverse((index, which)) = self.next.pop()?;
        if let Some(later) = self.rest[which].next() {
            self.next.push(Reverse((later, which)));
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

/// A box: all indexes with one digit of each set, in row-major order.
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
fn digits_at(Visited { axis, inverse, .. }: &Visited, position: usize) -> Option<Digits> {
    match &axis.pattern {
        Pattern::Linear => (position < axis.extent).then_some(Digits::Progression {
            first: position,
            step: 1,
            count: 1,
        }),
        Pattern::Cyclic { period, shift, .. } => {
            if position >= *period {
                return None;
            }
            let away = (position + period - shift) % period;
            let first = (away as u128 * *inverse as u128 % *period as u128) as usize;
            let count = axis.extent.checked_sub(first)?.div_ceil(*period);
            (count > 0).then_some(Digits::Progression { first, step: *period, count })
        }
        Pattern::Listed(table) => {
            let range = table.entries(position, position);
            (!range.is_empty()).then(|| Digits::Entries { table: table.clone(), range })
        }
    }
}

/// Finds the boxes of a layout.
///
/// Axes of stride 0 contribute all their digits. The others are visited by falling |stride|, keeping
/// the interval that the remaining ones can still reach: nested strides leave one candidate a level,
/// overlapping windows become a bounded search.
pub(crate) struct Finder {
    offset: usize,
    /// Every digit of every axis.
    all: SmallVec<[Digits; 4]>,
    /// The axes with a stride, by rising |stride|.
    axes: Vec<Visited>,
    /// Lowest and highest sum that the first `k` of them reach.
    reach: Vec<(i128, i128)>,
}

/// One axis, and which it is.
struct Visited {
    number: usize,
    axis: AxisMap,
    /// That of the step of a cycle, modulo its period.
    inverse: usize,
}

impl Finder {
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if tables of lists cannot be inverted.
    pub(crate) fn new(layout: &Layout) -> Result<Self> {
        layout.invert()?;
        let all = layout
            .axes
            .iter()
            .map(|axis| Digits::Progression { first: 0, step: 1, count: axis.extent })
            .collect();
        let axes = layout.axes().enumerate().filter(|(_, axis)| axis.stride != 0);
        let mut axes: Vec<_> = axes
            .map(|(number, axis)| {
                let inverse = match axis.pattern {
                    Pattern::Cyclic { period, step, .. } => inverse_modulo(step, period),
                    _ => 1,
                };
                Visited { number, axis, inverse }
            })
            .collect();
        axes.sort_by_key(|Visited { axis, .. }| axis.stride.unsigned_abs());
        let mut reach = vec![(0_i128, 0_i128)];
        for (k, Visited { axis, .. }) in axes.iter().enumerate() {
            let term = axis.stride as i128 * axis.last_position() as i128;
            reach.push((reach[k].0 + term.min(0), reach[k].1 + term.max(0)));
        }
        Ok(Self { offset: layout.offset(), all, axes, reach })
    }

    /// Visits the indexes of `address`, in no order; `None` if the visitor ended that, or the search is long.
    pub(crate) fn visit(
        &self,
        address: usize,
        visitor: &mut dyn FnMut(&[usize]) -> Option<()>,
    ) -> Option<()> {
        self.boxes(address, &mut |product| {
            product.done = false;
            while let Some(index) = product.next() {
                visitor(&index)?;
            }
            Some(())
        })
    }

    /// Visits the boxes of `address`; `None` if the visitor ended that, or the search is long.
    fn boxes(
        &self,
        address: usize,
        visitor: &mut dyn FnMut(&mut Product) -> Option<()>,
    ) -> Option<()> {
        if self.all.iter().any(|digits| digits.count() == 0) {
            return Some(());
        }
        let counters = self.all.iter().map(|_| 0).collect();
        let product = Product { sets: self.all.clone(), counters, done: false };
        let mut search = Descent { finder: self, product, left: TRIED, visitor };
        search.descend(self.axes.len(), address as i128 - self.offset as i128)
    }
}

/// One search for the boxes of one address.
struct Descent<'a> {
    finder: &'a Finder,
    /// The digits chosen so far.
    product: Product,
    /// Candidates that may still be tried.
    left: usize,
    visitor: &'a mut dyn FnMut(&mut Product) -> Option<()>,
}

impl Descent<'_> {
    /// Chooses digits for the first `level` axes, from the largest stride on, so that they sum to
    /// `rest`.
    ///
    /// The depth is the number of axes longer than 1 with a stride: at most 62, as their extents
    /// multiply to at most `isize::MAX`.
    fn descend(&mut self, level: usize, rest: i128) -> Option<()> {
        let Some(below) = level.checked_sub(1) else {
            if rest == 0 {
                self.left += TRIED_EACH;
                (self.visitor)(&mut self.product)?;
            }
            return Some(());
        };
        let axis = &self.finder.axes[below].axis;
        let (low, high) = self.finder.reach[below];
        let Some((first, last)) = fitting(axis, rest, low, high) else {
            return Some(());
        };
        if let Pattern::Listed(table) = &axis.pattern {
            let pairs = &table.inverse()[table.entries(first, last)];
            for (n, pair) in pairs.iter().enumerate() {
                if n == 0 || pairs[n - 1].0 != pair.0 {
                    self.take(below, rest, pair.0)?;
                }
            }
            return Some(());
        }
        (first..=last).try_for_each(|position| self.take(below, rest, position))
    }

    /// Goes on with axis `level` at `position`, if that is visited.
    fn take(&mut self, level: usize, rest: i128, position: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let visited = &self.finder.axes[level];
        if let Some(digits) = digits_at(visited, position) {
            self.product.sets[visited.number] = digits;
            self.descend(level, rest - visited.axis.stride as i128 * position as i128)?;
        }
        Some(())
    }
}

/// First and last position `p` with `low <= rest - stride * p <= high` that the axis could visit.
pub(super) fn fitting(axis: &AxisMap, rest: i128, low: i128, high: i128) -> Option<(usize, usize)> {
    let stride = axis.stride as i128;
    let (a, b) = if stride > 0 { (rest - high, rest - low) } else { (low - rest, high - rest) };
    let first = -(-a).div_euclid(stride.abs());
    let last = b.div_euclid(stride.abs()).min(axis.last_position() as i128);
    (first.max(0) <= last).then_some((first.max(0) as usize, last as usize))
}
