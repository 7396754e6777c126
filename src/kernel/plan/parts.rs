//! Parts of a nest, in the order of operand 0.

use super::Nest;
use smallvec::{SmallVec, smallvec};

impl Nest {
    /// Parts of so few elements that a list of their boxes fits in memory, whatever the whole has.
    pub(crate) fn parts(self) -> Parts {
        Parts { left: smallvec![self], most: 1 << 32 }
    }

    /// Two nests that share the elements, in the order of operand 0, unless there is only one element.
    pub(crate) fn halves(&self) -> Option<(Self, Self)> {
        let distance = |k: &usize| self.loops[*k].steps[0].distance();
        let long = (0..self.loops.len()).filter(|&k| self.loops[k].extent > 1);
        long.max_by_key(distance).map(|k| self.split_at(k, self.loops[k].extent.div_ceil(2)))
    }
}

/// Parts of a nest, in the order of operand 0.
pub(crate) struct Parts {
    left: SmallVec<[Nest; 2]>,
    most: usize,
}

impl Parts {
    /// Parts that start small and grow, for a search that is likely to end early.
    pub(crate) fn growing(self) -> Self {
        Self { most: 1 << 24, ..self }
    }

    /// The next part; what `wanted` refuses is left out whole.
    pub(crate) fn next_where(&mut self, wanted: impl Fn(&Nest) -> bool) -> Option<Nest> {
        while let Some(nest) = self.left.pop() {
            if !wanted(&nest) {
                continue;
            }
            match nest.halves().filter(|_| nest.count() > self.most) {
                Some((low, high)) => self.left.extend([high, low]),
                _ => {
                    self.most = (2 * self.most).min(1 << 32);
                    return Some(nest);
                }
            }
        }
        None
    }
}

impl Iterator for Parts {
    type Item = Nest;

    fn next(&mut self) -> Option<Nest> {
        self.next_where(|_| true)
    }
}
