//! Positions of an axis that are neither linear nor a cycle, and their inverse.

use crate::error::Result;
use crate::memory::list;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// Positions of a listed axis, shared between views.
///
/// The inverse is built once, when it is first needed, and takes no part in equality or hash.
#[derive(Debug, Clone)]
pub struct Table(Arc<Positions>);

#[derive(Debug)]
struct Positions {
    forward: Box<[usize]>,
    ends: [usize; 2],
    inverse: OnceLock<Vec<(usize, usize)>>,
}

impl Table {
    /// A table of positions.
    pub fn new(positions: impl Into<Box<[usize]>>) -> Self {
        let positions = positions.into();
        let ends = ends(&positions);
        Self::of_ends(positions, ends)
    }

    /// The same, where [`ends`] of the positions are known.
    pub(super) fn of_ends(positions: impl Into<Box<[usize]>>, ends: [usize; 2]) -> Self {
        Self(Arc::new(Positions { forward: positions.into(), ends, inverse: OnceLock::new() }))
    }

    /// The positions, one for each index.
    #[inline]
    pub fn positions(&self) -> &[usize] {
        &self.0.forward
    }

    /// The largest position, 0 if there is none.
    #[inline]
    pub(crate) fn last(&self) -> usize {
        self.0.ends[1]
    }

    /// The smallest position, 0 if there is none.
    #[inline]
    pub(super) fn lowest(&self) -> usize {
        self.0.ends[0]
    }

    /// Whether positions rise from one index to the next.
    pub(crate) fn ascends(&self) -> bool {
        self.positions().is_sorted_by(|a, b| a < b)
    }

    /// The table with a function of its positions: in place, unless it is shared.
    pub(super) fn mapped(mut self, f: impl Fn(usize) -> usize) -> Result<Self> {
        match Arc::get_mut(&mut self.0) {
            Some(Positions { forward, ends, inverse }) => {
                forward.iter_mut().for_each(|position| *position = f(*position));
                (*ends, *inverse) = (self::ends(forward), OnceLock::new());
                Ok(self)
            }
            None => listed(self.positions().iter().map(|&position| f(position))),
        }
    }

    /// Builds the inverse, so that [`Self::inverse`] has it.
    pub(crate) fn invert(&self) -> Result<&[(usize, usize)]> {
        if let Some(pairs) = self.0.inverse.get() {
            return Ok(pairs);
        }
        let digits = self.positions().iter().enumerate();
        let mut pairs = list(digits.map(|(digit, &position)| (position, digit)))?;
        pairs.sort_unstable();
        Ok(self.0.inverse.get_or_init(|| pairs))
    }

    /// Pairs of position and digit, ascending; none if there is no memory for them.
    pub(crate) fn inverse(&self) -> &[(usize, usize)] {
        self.invert().unwrap_or_default()
    }

    /// Where in [`Self::inverse`] the positions `low..=high` stand.
    pub(crate) fn entries(&self, low: usize, high: usize) -> std::ops::Range<usize> {
        let pairs = self.inverse();
        pairs.partition_point(|pair| pair.0 < low)..pairs.partition_point(|pair| pair.0 <= high)
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.positions() == other.positions()
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.positions().hash(state);
    }
}

/// The smallest and the largest of some numbers, 0 if there are none.
pub(super) fn ends(numbers: &[usize]) -> [usize; 2] {
    let first = numbers.first().copied().unwrap_or(0);
    numbers.iter().fold([first; 2], |[low, high], &x| [low.min(x), high.max(x)])
}

/// Collects positions, reporting memory that cannot be had.
pub(crate) fn listed(positions: impl ExactSizeIterator<Item = usize>) -> Result<Table> {
    list(positions).map(Table::new)
}
