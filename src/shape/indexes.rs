//! All indexes of a shape, in row-major order.

use super::{Index, Shape};
use crate::error::Result;

/// Iterator over the indexes of a shape, see [`Shape::indexes`].
#[derive(Debug, Clone)]
pub struct Indexes {
    shape: Shape,
    next: Index,
    left: usize,
}

impl Indexes {
    /// Of all indexes of a shape.
    pub(super) fn new(shape: &Shape) -> Result<Self> {
        let next = shape.iter().map(|_| 0).collect();
        Ok(Self { left: shape.count()?, next, shape: shape.clone() })
    }
}

impl Indexes {
    /// Calls `f` with every index that is left, which is stepped in place.
    #[inline]
    pub(crate) fn visit(mut self, mut f: impl FnMut(&[usize])) {
        let (extents, index) = (self.shape.extents(), &mut self.next[..]);
        let Some(last) = index.len().checked_sub(1) else {
            return (0..self.left).for_each(|_| f(index));
        };
        while self.left > 0 {
            let row = index[last]..extents[last];
            self.left -= row.len();
            for digit in row {
                index[last] = digit;
                f(index);
            }
            step(index, extents);
        }
    }
}

/// Goes on to the next index in row-major order; from the last to the first.
#[inline]
fn step(index: &mut [usize], extents: &[usize]) {
    for (digit, &extent) in index.iter_mut().zip(extents).rev() {
        *digit += 1;
        if *digit < extent {
            break;
        }
        *digit = 0;
    }
}

impl Iterator for Indexes {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        self.left = self.left.checked_sub(1)?;
        let current = Index::from_slice(&self.next);
        step(&mut self.next, self.shape.extents());
        Some(current)
    }

    fn nth(&mut self, n: usize) -> Option<Index> {
        self.left = self.left.saturating_sub(n);
        if n > 0 && self.left > 0 {
            let all: usize = self.shape.iter().product();
            self.next = self.shape.unravel(all - self.left);
        }
        self.next()
    }

    fn count(self) -> usize {
        self.left
    }

    fn last(mut self) -> Option<Index> {
        self.nth(self.left.checked_sub(1)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Indexes {}
