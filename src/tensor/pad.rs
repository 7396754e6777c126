//! A view with a border, as storage.

use super::Tensor;
#[cfg(doc)]
use super::concat;
use super::flat::{Flat, check};
use crate::error::{Error, Result, StorageError};
use crate::shape::Shape;
use crate::storage::{Reader, read_each};
use std::ops::Range;

/// A tensor with a border of one value: `widths` holds how many to add before and after each axis.
/// Copies nothing.
///
/// Extent `n` becomes `before + n + after`. Elements are read in runs, and the border is filled in as it is read. The
/// result is not sparse, see [`concat()`]. Follows NumPy's `pad` with mode `constant`.
///
/// # Errors
///
/// [`Error::Rank`] if there is not one pair an axis, [`Error::ShapeOverflow`] if there are too many
/// elements.
///
/// ```
/// use lensor::tensor::pad;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(pad(t, &[(1, 2)], 0)?.to_vec()?, [0, 1, 2, 0, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn pad<S: Reader>(
    tensor: Tensor<S>,
    widths: &[(usize, usize)],
    value: S::Elem,
) -> Result<Tensor<Padded<S>>> {
    let inner = tensor.shape();
    if widths.len() != inner.rank() {
        return Err(Error::Rank {
            what: "pairs of widths",
            expected: inner.rank(),
            found: widths.len(),
        });
    }
    let padded = |(&n, &(before, after)): (&usize, &(usize, usize))| {
        n.saturating_add(before).saturating_add(after)
    };
    // An extent beyond all numbers is too many elements as well.
    let shape: Shape = inner.iter().zip(widths).map(padded).collect();
    let len = shape.count()?;
    let last = widths.iter().rposition(|&width| width != (0, 0)).unwrap_or(0);
    let (within, first): (usize, usize) = match inner.get(last..) {
        Some([extent, behind @ ..]) => {
            let behind: usize = behind.iter().product();
            (extent * behind, widths[last].0 * behind)
        }
        _ => (1, 0),
    };
    let storage = Padded {
        inner: tensor.flat(),
        row: shape.iter().skip(last).product(),
        within: first..first + within,
        inner_shape: inner,
        shape: shape.clone(),
        before: widths.iter().map(|&(before, _)| before).collect(),
        value,
        len,
    };
    Tensor::new(shape, storage)
}

/// A tensor with a border, as storage in row-major order. See [`pad`].
#[derive(Debug, Clone)]
pub struct Padded<S: Reader> {
    inner: Flat<S>,
    inner_shape: Shape,
    shape: Shape,
    before: Vec<usize>,
    /// Elements from the last axis with a border to the end, and those of them within it.
    row: usize,
    within: Range<usize>,
    value: S::Elem,
    len: usize,
}

impl<S: Reader> Padded<S> {
    /// Row-major position within the border, if `address` lies there.
    fn inside(&self, address: usize) -> Option<usize> {
        let mut index = self.shape.unravel(address);
        for ((digit, before), &extent) in
            index.iter_mut().zip(&self.before).zip(self.inner_shape.iter())
        {
            *digit = digit.checked_sub(*before).filter(|&digit| digit < extent)?;
        }
        Some(self.inner_shape.ravel(&index))
    }
}

impl<S: Reader> Reader for Padded<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> S::Elem {
        self.inside(address).map_or(self.value, |position| self.inner.read(position))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check(address, self.len)?;
        match self.inside(address) {
            Some(position) => self.inner.try_read(position).map_err(Flat::<S>::at(address)),
            None => Ok(self.value),
        }
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        if step != 1 {
            return read_each(self, start, step, out);
        }
        let (mut address, mut rest) = (start, out);
        while !rest.is_empty() {
            check(address, self.len)?;
            let (first, along) = (address - address % self.row, address % self.row);
            let inner = || self.inside(first + self.within.start);
            let inside = (!self.within.is_empty()).then(inner).flatten();
            let (end, inner) = match inside {
                Some(_) if along < self.within.start => (self.within.start, None),
                Some(inner) if along < self.within.end => {
                    (self.within.end, Some(inner + (along - self.within.start)))
                }
                _ => (self.row, None),
            };
            let count = rest.len().min(end - along);
            let (now, later) = rest.split_at_mut(count);
            match inner {
                Some(position) => self.inner.read_run(position, 1, now).map_err(|error| {
                    let steps = error.address.wrapping_sub(position);
                    Flat::<S>::at(address.wrapping_add(steps))(error)
                })?,
                None => now.fill(self.value),
            }
            (address, rest) = (address + count, later);
        }
        Ok(())
    }

    fn box_depth(&self) -> usize {
        self.inner.box_depth()
    }
}
